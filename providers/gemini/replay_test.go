package gemini

import (
	stdjson "encoding/json"
	"reflect"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/providers/protocol/historytest"
	"toolscope/stream/json"
)

func jsonEqual(a, b []byte) bool {
	var x, y any
	return stdjson.Unmarshal(a, &x) == nil && stdjson.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

const history = `{"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[
{"role":"user","parts":[{"text":"Weather in Oslo and Rome?"}]},
{"role":"model","parts":[
	{"text":"Two places.","thought":true,"thoughtSignature":"QUE="},
	{"text":"","thoughtSignature":"QkI="},
	{"text":"I look.","thoughtSignature":"Q0M="},
	{"functionCall":{"id":"c1","name":"get_weather","args":{"city" : "Oslo","n":1.0}},"thoughtSignature":"REQ="},
	{"functionCall":{"name":"now"}},
	{"executableCode":{"language":"PYTHON","code":"1+1"}},
	{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"2"}},
	{"toolCall":{"id":"s1","toolType":"GOOGLE_SEARCH_WEB","args":{"q":"x"}}},
	{"toolResponse":{"id":"s1","toolType":"GOOGLE_SEARCH_WEB","response":{"hits":[]}}}]},
{"role":"user","parts":[
	{"functionResponse":{"id":"c1","name":"get_weather","response":{"output":"4 \"C\""}}},
	{"functionResponse":{"name":"now","response":{"error":"no clock"}}}]},
{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},
{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"a":1,"error":"e"}}}]}]}`

const said = `user
  text "Weather in Oslo and Rome?"
assistant
  reasoning "Two places." signature=QUE=
  reasoning hidden signature=QkI=
  text "I look." signature=Q0M=
  call id=c1 name=get_weather tool=function object {"city" : "Oslo","n":1.0} signature=REQ=
  call name=now tool=function object
  call name=code_execution tool=server server object {"language":"PYTHON","code":"1+1"}
  result name=code_execution server "2"
  call id=s1 name=GOOGLE_SEARCH_WEB tool=server server object {"q":"x"}
  result id=s1 name=GOOGLE_SEARCH_WEB server "{\"hits\":[]}"
user
  result id=c1 name=get_weather "4 \"C\""
  result name=now failed "no clock"
assistant
  call name=f tool=function object {}
user
  result name=f failed "{\"a\":1,\"error\":\"e\"}"
`

// TestHistory checks that a history is read and written back unchanged. If it is written without Raw and read again,
// it must have the same lines.
func TestHistory(t *testing.T) {
	messages, err := decodeHistory([]byte(history))
	if got := historytest.Lines(messages); err != nil || got != "system\n  text \"Be brief.\"\n"+said {
		t.Fatalf("%v\ngot  %s\nwant %s", err, got, said)
	}
	contents := json.Value(history).Get("contents")
	if got := historytest.Request(&target, encodeHistory(messages)); !jsonEqual(json.Value(got).Get("contents"), contents) {
		t.Errorf("not written as it was:\n%s", got)
	}
	bare := historytest.Request(&target, encodeHistory(historytest.WithoutRaw(messages)))
	again, err := decodeHistory(bare)
	if got := historytest.Lines(again); err != nil || got != said {
		t.Errorf("written anew: %v\n%s\ngot  %s\nwant %s", err, bare, got, said)
	}
}

// TestDecode checks that other spellings and unusual content are read correctly.
func TestDecode(t *testing.T) {
	for _, test := range []struct{ name, request, want string }{
		{"snake case", `{"system_instruction":{"parts":{"text":"S"}},"contents":{"role":"model","parts":[{"thought_signature":"QQ==","function_call":{"name":"f","args":{"a":1}}},{"tool_call":{"tool_type":"URL_CONTEXT"}},{"function_response":{"name":"f","response":{"output":{"a":1}}}}]}}`,
			"system\n  text \"S\"\nassistant\n  call name=f tool=function object {\"a\":1} signature=QQ==\n  call name=URL_CONTEXT tool=server server object\n  result name=f \"{\\\"a\\\":1}\"\n"},
		{"Cloud Code", `{"model":"m","request":{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}}`, "user\n  text \"hi\"\n"},
		{"arguments as a string", `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":"{\"a\":1}"}}]}]}`,
			"assistant\n  call name=f tool=function string {\"a\":1}\n"},
		{"media", `{"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"aGk="}},{"functionResponse":{"name":"f","parts":[{"inlineData":{}}],"response":{"output":null}}},{"brandNew":1},{}]}]}`,
			"user\n  other\n  result name=f media=1 \"{\\\"output\\\":null}\"\n  other\n  other\n"},
		{"no parts", `{"contents":[{"role":"model"},{"role":"function","parts":[]}]}`, "assistant\nuser\n"},
		{"no contents", `{"contents":"hi"}`, ""},
		{"nothing", ``, ""},
	} {
		messages, _ := decodeHistory([]byte(test.request))
		if got := historytest.Lines(messages); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, test.want)
		}
	}
}

// TestDecodeCut checks that the complete messages of a request are read wherever the request is cut off.
func TestDecodeCut(t *testing.T) { historytest.CheckCut(t, &target, history) }

// TestEncode checks that histories from other protocols are changed as this protocol requires.
func TestEncode(t *testing.T) {
	user, model, system := protocol.User, protocol.Assistant, protocol.System
	call := func(id, name, args string) protocol.Part {
		return protocol.Part{Kind: protocol.CallPart, ID: id, Name: name, ToolKind: "function", Args: []byte(args)}
	}
	result := func(id, text string) protocol.Part {
		return protocol.Part{Kind: protocol.ResultPart, ID: id, Text: []byte(text)}
	}
	for _, test := range []struct {
		name string
		in   []protocol.Message
		want string
	}{
		{"results of one turn in one content, with the names of their calls", []protocol.Message{
			{Role: model, Parts: []protocol.Part{call("a", "f", `{}`), call("b", "g", `{"x":1}`)}},
			{Role: user, Parts: []protocol.Part{result("a", "1")}}, {Role: user, Parts: []protocol.Part{result("b", "2")}},
		}, `[{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}}},{"functionCall":{"id":"b","name":"g","args":{"x":1}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{"output":"1"}}},{"functionResponse":{"id":"b","name":"g","response":{"output":"2"}}}]}]`},
		{"but not together with what else the user says", []protocol.Message{
			{Role: user, Parts: []protocol.Part{result("a", "1")}}, {Role: user, Parts: []protocol.Part{{Text: []byte("go on")}}},
		}, `[{"role":"user","parts":[{"functionResponse":{"id":"a","name":"","response":{"output":"1"}}}]},{"role":"user","parts":[{"text":"go on"}]}]`},
		{"nothing of what cannot be written", []protocol.Message{
			{Role: system, Parts: []protocol.Part{{Text: []byte("S")}}},
			{Role: user, Parts: []protocol.Part{{Kind: protocol.OtherPart}}},
			{Role: model, Parts: []protocol.Part{{Kind: protocol.ReasoningPart, SignatureOnly: true}, {Text: []byte("x")}}},
		}, `[{"role":"model","parts":[{"text":"x"}]}]`},
		{"arguments that are no JSON as a string", []protocol.Message{{Role: model, Parts: []protocol.Part{call("", "f", `{"a":`)}}},
			`[{"role":"model","parts":[{"functionCall":{"name":"f","args":"{\"a\":"}}]}]`},
	} {
		if got := json.Value(historytest.Request(&target, encodeHistory(test.in))).Get("contents"); string(got) != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, test.want)
		}
	}
}
