package openaichat

import (
	"testing"

	"toolscope/providers/protocol"
	"toolscope/providers/protocol/historytest"
)

// histories contains requests of clients, with the messages that are read from them.
var histories = []struct {
	what          string
	to            *protocol.Target
	request, want string
}{
	{"parallel calls", &openAI, `{"model":"m","messages":[
		{"role":"developer","content":"Be brief."},
		{"role":"user","name":"ann","content":"Weather in Oslo and Rome?"},
		{"role":"assistant","content":null,"refusal":null,"tool_calls":[
			{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\": \"Oslo\"}"}},
			{"id":"call_2","type":"function","function":{"name":"get_weather","arguments":"{\"city\":"}}]},
		{"role":"tool","tool_call_id":"call_1","content":"4 C"},
		{"role":"tool","tool_call_id":"call_2","content":""},
		{"role":"assistant","content":"Cold.","annotations":[],"audio":{"id":"audio_1"}}
	],"tools":[]}`, `system
  text "Be brief."
user
  text "Weather in Oslo and Rome?"
assistant
  call id=call_1 name=get_weather tool=function string {"city": "Oslo"}
  call id=call_2 name=get_weather tool=function string {"city":
user
  result id=call_1 "4 C"
user
  result id=call_2
assistant
  text "Cold."
`},
	{"free text for a custom tool", &openAI, `{"messages":[
		{"role":"assistant","tool_calls":[{"id":"call_1","type":"custom","custom":{"name":"run","input":"ls \"a\"\n"}}]},
		{"role":"tool","tool_call_id":"call_1","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}
	]}`, `assistant
  call id=call_1 name=run tool=custom string ls "a"

user
  result id=call_1 "ab"
`},
	{"content in lists, and none", &openAI, `{"messages":[
		{"role":"system","content":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]},
		{"role":"user","content":[{"type":"text","text":"What "},{"type":"text","text":"is it?"},{"type":"image_url","image_url":{"url":"data:,"}}]},
		{"role":"assistant","content":[{"type":"refusal","refusal":"No."}],"tool_calls":[]},
		{"role":"user","content":""},
		{"role":"assistant","content":"","tool_calls":null,"function_call":null},
		{"role":"assistant"},
		{"role":"assistant","content":[]}
	]}`, `system
  text "Be brief."
user
  text "What "
  text "is it?"
  other
assistant
  other
user
assistant
assistant
assistant
`},
	{"DeepSeek's reasoning, also when it is empty", &openAI, `{"messages":[
		{"role":"assistant","content":"","reasoning_content":"I need the weather.","tool_calls":[{"index":0,"id":"call_00_a","type":"function","function":{"name":"get_weather","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"call_00_a","content":"4 C"},
		{"role":"assistant","content":"Cold.","reasoning_content":""},
		{"role":"assistant","content":"Cold.","reasoning":"Same.","reasoning_content":"Same."}
	]}`, `assistant
  reasoning "I need the weather."
  call id=call_00_a name=get_weather tool=function string {}
user
  result id=call_00_a "4 C"
assistant
  text "Cold."
assistant
  reasoning "Same."
  text "Cold."
`},
	{"OpenRouter's pieces of reasoning", &openAI, `{"messages":[
		{"role":"assistant","content":null,"reasoning":"Weather. Asked.","reasoning_details":[
			{"type":"reasoning.text","text":"Weather. ","signature":"c2ln","format":"anthropic-claude-v1","index":0},
			{"type":"reasoning.summary","summary":"Asked.","index":1},
			{"type":"reasoning.encrypted","data":"b3Bh","id":"call_1","format":"google-gemini-v1","index":2}],
			"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"call_1","content":"4 C"},
		{"role":"assistant","content":"Cold.","reasoning":"Hm.","reasoning_details":[{"type":"reasoning.encrypted","data":"b3Bh"}]},
		{"role":"assistant","content":"Cold.","reasoning":null,"reasoning_details":[]}
	]}`, `assistant
  reasoning "Weather. " signature=c2ln
  reasoning "Asked."
  reasoning id=call_1 hidden signature=b3Bh
  call id=call_1 name=get_weather tool=function string {}
user
  result id=call_1 "4 C"
assistant
  reasoning "Hm."
  reasoning hidden signature=b3Bh
  text "Cold."
assistant
  text "Cold."
`},
	{"signatures of Gemini's compatible endpoint", &openAI, `{"messages":[
		{"role":"assistant","content":"Looking.","extra_content":{"google":{"thought_signature":"dGV4dA=="}},"tool_calls":[
			{"extra_content":{"google":{"thought_signature":"c2ln"}},"function":{"arguments":"{}","name":"get_weather"},"id":"f-1","type":"function"},
			{"function":{"arguments":"{}","name":"get_time"},"id":"f-2","type":"function"}]},
		{"role":"tool","tool_call_id":"f-1","content":"4 C"}
	]}`, `assistant
  text "Looking." signature=dGV4dA==
  call id=f-1 name=get_weather tool=function string {} signature=c2ln
  call id=f-2 name=get_time tool=function string {}
user
  result id=f-1 "4 C"
`},
	{"a call from before there were tools", &openAI, `{"messages":[
		{"role":"assistant","content":null,"function_call":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}},
		{"role":"function","name":"get_weather","content":"4 C"}
	]}`, `assistant
  call name=get_weather tool=function string {"city":"Oslo"}
user
  result name=get_weather "4 C"
`},
	{"Mistral", &mistral, `{"messages":[
		{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"Weather "},{"type":"text","text":"is asked."}],"closed":true},{"type":"text","text":"Looking."}],"prefix":false,
			"tool_calls":[{"id":"abcDEF123","function":{"name":"get_weather","arguments":{ "city": "Oslo" }},"index":0}]},
		{"role":"tool","name":"get_weather","tool_call_id":"abcDEF123","content":[{"type":"text","text":"4 C"},{"type":"image_url","image_url":"data:,"}]}
	]}`, `assistant
  reasoning "Weather is asked."
  text "Looking."
  call id=abcDEF123 name=get_weather tool=function object { "city": "Oslo" }
user
  result id=abcDEF123 name=get_weather media=1 "4 C"
`},
}

func TestHistory(t *testing.T) {
	for _, test := range histories {
		t.Run(test.what, func(t *testing.T) { historytest.Check(t, test.to, test.request, test.want) })
	}
}

// TestChanged checks that a message that is read and then changed keeps all parts that did not change.
func TestChanged(t *testing.T) {
	const signed = `{"role":"assistant","content":null,"reasoning":"Hm.","reasoning_details":[{"type":"reasoning.text","text":"Hm.","signature":"c2ln"}],"x":1,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	for _, test := range []struct {
		what    string
		to      *protocol.Target
		message string
		change  func(parts []protocol.Part) []protocol.Part
		want    string
	}{
		{"nothing", &openAI, `{"role":"assistant","content":"Cold.","reasoning":"One.","reasoning_text":"Two."}`, nil,
			`{"role":"assistant","content":"Cold.","reasoning":"One.","reasoning_text":"Two."}`},
		{"reasoning left out", &openAI, signed, func(p []protocol.Part) []protocol.Part { return p[1:] },
			`{"role":"assistant","content":null,"x":1,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`},
		{"the call left out", &openAI, signed, func(p []protocol.Part) []protocol.Part { return p[:1] },
			`{"role":"assistant","content":null,"reasoning":"Hm.","reasoning_details":[{"type":"reasoning.text","text":"Hm.","signature":"c2ln"}],"x":1}`},
		{"a function_call beside a list", &openAI, `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}],"function_call":{"name":"f","arguments":"{}"}}`, nil,
			`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}],"function_call":{"name":"f","arguments":"{}"}}`},
		{"another id", &openAI, signed, func(p []protocol.Part) []protocol.Part {
			p[1].ID, p[1].Raw = "b", nil
			return p
		}, `{"role":"assistant","content":null,"reasoning":"Hm.","reasoning_details":[{"type":"reasoning.text","text":"Hm.","signature":"c2ln"}],"x":1,"tool_calls":[{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}`},
		{"an id for a call that had none", &openAI, `{"role":"assistant","content":"","function_call":{"name":"f","arguments":"{}"}}`, func(p []protocol.Part) []protocol.Part {
			p[0].ID, p[0].Raw = "b", nil
			return p
		}, `{"role":"assistant","content":"","tool_calls":[{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}`},
		{"other reasoning", &openAI, `{"role":"assistant","reasoning":"One.","content":"Cold."}`, func(p []protocol.Part) []protocol.Part {
			p[0].Text, p[0].Raw = []byte("Two."), nil
			return p
		}, `{"role":"assistant","reasoning":"Two.","content":"Cold."}`},
		{"the text left out", &openAI, `{"role":"assistant","content":"Cold."}`, func([]protocol.Part) []protocol.Part { return nil },
			`{"role":"assistant","content":null}`},
		{"a text more", &openAI, `{"role":"user","content":"Cold","name":"ann"}`, func(p []protocol.Part) []protocol.Part {
			return append(p, protocol.Part{Kind: protocol.TextPart, Text: []byte("?")})
		}, `{"role":"user","content":[{"type":"text","text":"Cold"},{"type":"text","text":"?"}],"name":"ann"}`},
		{"another host's reasoning", &mistral, signed, nil,
			`{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}],"x":1,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`},
	} {
		messages, err := test.to.Decode([]byte(`{"messages":[` + test.message + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		if test.change != nil {
			messages[0].Parts = test.change(messages[0].Parts)
		}
		if got := string(test.to.Encode(messages)[0]); got != test.want {
			t.Errorf("%s:\n%s, want\n%s", test.what, got, test.want)
		}
	}
}

// TestBroken checks that the complete messages of a request that is cut off are read.
func TestBroken(t *testing.T) {
	messages, err := decodeHistory([]byte(`{"messages":[{"role":"user","content":"a"},7,{"role":"assistant","content":"b`))
	if err == nil || historytest.Lines(messages) != "user\n  text \"a\"\n" {
		t.Errorf("%s%v", historytest.Lines(messages), err)
	}
}
