package aistudio

import (
	"encoding/json"
	"reflect"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/providers/protocol/historytest"
)

const history = `["models/gemini-x",[
[[[null,"Weather in Oslo?"]],"user"],
[[[null,"Hm.",null,null,null,null,null,null,null,null,null,null,1],
  [null,"",null,null,null,null,null,null,null,null,null,null,null,null,"QkI="],
  [null,"I look.",null,null,null,null,null,null,null,null,null,null,null,null,"Q0M="],
  [null,null,null,null,null,null,null,null,null,null,["get_weather",[[["city",[null,null,"Oslo"]],["days",[null,null,null,null,null,[[[null,1.0]]]]]]],"c1"],null,null,null,"REQ="],
  [null,null,null,null,null,null,null,null,null,null,["now",[]]],
  [null,null,null,null,null,null,null,null,[1,"1+1"]],
  [null,null,null,null,null,null,null,null,null,[1,"2"]]],"model"],
[[[null,null,null,null,null,null,null,null,null,null,null,["get_weather",[[["output",[null,null,"4 \"C\""]]]],"c1"]],
  [null,null,null,null,null,null,null,null,null,null,null,["now",[[["error",[null,null,"no clock"]]]]]]],"user"]
],null,[null,["x"]],"!secret",[[[null,"Be brief."]],"user"]]`

const said = `user
  text "Weather in Oslo?"
assistant
  reasoning "Hm."
  reasoning hidden signature=QkI=
  text "I look." signature=Q0M=
  call id=c1 name=get_weather tool=function arrays {"city":"Oslo","days":[1.0]} signature=REQ=
  call name=now tool=function arrays {}
  call name=code_execution tool=server server string 1+1
  result name=code_execution server "2"
user
  result id=c1 name=get_weather "4 \"C\""
  result name=now failed "no clock"
`

// TestHistory checks that a history is read correctly and written back unchanged, and that it has the same lines
// after it is written without Raw and read again.
func TestHistory(t *testing.T) {
	messages, err := decodeHistory([]byte(history))
	if got := historytest.Lines(messages); err != nil || got != "system\n  text \"Be brief.\"\n"+said {
		t.Fatalf("%v\ngot  %s\nwant %s", err, got, said)
	}
	contents := func(request []byte) any {
		var fields []any
		if err := json.Unmarshal(request, &fields); err != nil {
			t.Fatalf("%s: %v", request, err)
		}
		return fields[1]
	}
	kept := historytest.Request(&target, encodeHistory(messages))
	if !reflect.DeepEqual(contents(kept), contents([]byte(history))) {
		t.Errorf("not written as it was:\n%s", kept)
	}
	anew := historytest.Request(&target, encodeHistory(historytest.WithoutRaw(messages)))
	if !reflect.DeepEqual(contents(anew), contents([]byte(history))) { // the history is canonical
		t.Errorf("written anew:\n%s", anew)
	}
	again, err := decodeHistory(anew)
	if got := historytest.Lines(again); err != nil || got != said {
		t.Errorf("written anew: %v\n%s\ngot  %s\nwant %s", err, anew, got, said)
	}
}

// TestDecode checks that omitted nulls, other indexes and unusual content are read correctly.
func TestDecode(t *testing.T) {
	for _, test := range []struct{ name, contents, want string }{
		{"nulls left out", `[[[[,,,,,,,,,,["f",[[["a",[,1]]]]],,,,"QQ=="],[,"x"]],"model"]]`,
			"assistant\n  call name=f tool=function arrays {\"a\":1} signature=QQ==\n  text \"x\"\n"},
		{"older indices", `[[[[null,null,null,["f",[]]]],"model"],[[[null,null,null,null,["f",[[["output",[null,null,"x"]]]]]]]]]`,
			"assistant\n  call name=f tool=function arrays {}\nuser\n  result name=f \"x\"\n"},
		{"arguments as JSON", `[[[[,,,,,,,,,,["f","{\"a\":1}"]],[,,,,,,,,,,["f",{"a":1}]],[,,,,,,,,,,["f"]]],"model"]]`,
			"assistant\n  call name=f tool=function string {\"a\":1}\n  call name=f tool=function object {\"a\":1}\n  call name=f tool=function arrays\n"},
		{"arguments that are no Struct", `[[[[,,,,,,,,,,["f",[[1,2],3]]]],"model"]]`,
			"assistant\n  call name=f tool=function arrays [[1,2],3]\n"},
		{"media", `[[[[,,["image/png","aGk="]],[]],"user"]]`, "user\n  other\n  other\n"},
		{"a signature alone, in a thought, and with media", `[[[[,,,,,,,,,,,,,,"QQ=="],[,,,,,,,,,,,,1,,"Qg=="],[,,["image/png","aGk="],,,,,,,,,,,,"Qw=="]],"model"]]`,
			"assistant\n  reasoning hidden signature=QQ==\n  reasoning hidden signature=Qg==\n  other signature=Qw==\n"},
		{"no parts", `[[null,"model"],[[],"user"]]`, "assistant\nuser\n"},
		{"nothing", ``, ""},
	} {
		request := `["models/gemini-x",` + test.contents + `]`
		messages, err := decodeHistory([]byte(request))
		if got := historytest.Lines(messages); got != test.want || err != nil {
			t.Errorf("%s: %v\ngot  %s\nwant %s", test.name, err, got, test.want)
		}
		for _, content := range encodeHistory(messages) {
			if !json.Valid(content) {
				t.Errorf("%s: written as %s", test.name, content)
			}
		}
	}
	if messages, _ := decodeHistory([]byte(`{"contents":[]}`)); messages != nil {
		t.Errorf("of another protocol: %v", messages)
	}
}

// TestDecodeCut checks that the complete messages of a request are read, wherever the request is cut off.
func TestDecodeCut(t *testing.T) {
	historytest.CheckCut(t, &target, history)
	const want = "system\n  text \"a\"\n"
	messages, err := decodeHistory([]byte(`["models/gemini-x",[],null,null,null,[[[null,"a"],[null,"b`))
	if got := historytest.Lines(messages); got != want || err == nil {
		t.Errorf("a system instruction that is cut off: %v\ngot  %s\nwant %s", err, got, want)
	}
}

// TestEncode checks that histories from other protocols are changed as this protocol requires.
func TestEncode(t *testing.T) {
	call := func(id, args string) protocol.Part {
		return protocol.Part{Kind: protocol.CallPart, ID: id, Name: "f", ToolKind: "function", Args: []byte(args)}
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
			{Role: protocol.Assistant, Parts: []protocol.Part{call("a", `{}`), call("b", `{"x":1}`)}},
			{Role: protocol.User, Parts: []protocol.Part{result("a", "1")}}, {Role: protocol.User, Parts: []protocol.Part{result("b", "2")}},
		}, `[[[[,,,,,,,,,,["f",[],"a"]],[,,,,,,,,,,["f",[[["x",[,1]]]],"b"]]],"model"],` +
			`[[[,,,,,,,,,,,["f",[[["output",[,,"1"]]]],"a"]],[,,,,,,,,,,,["f",[[["output",[,,"2"]]]],"b"]]],"user"]]`},
		{"nothing of what cannot be written", []protocol.Message{
			{Role: protocol.System, Parts: []protocol.Part{{Text: []byte("S")}}},
			{Role: protocol.User, Parts: []protocol.Part{{Kind: protocol.OtherPart}, {Kind: protocol.ReasoningPart, SignatureOnly: true}}},
			{Role: protocol.Assistant, Parts: []protocol.Part{{Text: []byte("x")}}},
		}, `[[[[,"x"]],"model"]]`},
		{"reasoning of one letter", []protocol.Message{{Role: protocol.Assistant, Parts: []protocol.Part{{Kind: protocol.ReasoningPart, Text: []byte("x")}}}},
			`[[[[,"x",,,,,,,,,,,1]],"model"]]`},
		{"arguments that are no object as a string", []protocol.Message{{Role: protocol.Assistant, Parts: []protocol.Part{call("", `{"a":`)}}},
			`[[[[,,,,,,,,,,["f","{\"a\":"]]],"model"]]`},
	} {
		want := exactText(parse(t, test.want))
		if got := historytest.Request(&target, encodeHistory(test.in)); string(got) != `["models/x",`+string(want)+`]` {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, want)
		}
	}
}
