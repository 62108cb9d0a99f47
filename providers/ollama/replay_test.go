package ollama

import (
	"testing"

	"toolscope/providers/protocol"
	"toolscope/providers/protocol/historytest"
)

// histories are requests from clients, with the messages that are read from each.
var histories = []struct{ what, request, want string }{
	{"thinking, calls and results", `{"model":"m","messages":[
		{"role":"system","content":"Be brief."},
		{"role":"user","content":"What is it?","images":["iVBORw0="]},
		{"role":"assistant","content":"","thinking":"Asked.","tool_calls":[
			{"id":"call_x","function":{"index":0,"name":"get_weather","arguments":{ "city": "Oslo", "n": 1.0 }}},
			{"id":"call_y","function":{"index":1,"name":"get_map","arguments":{}}}]},
		{"role":"tool","content":"4 C","tool_name":"get_weather","tool_call_id":"call_x"},
		{"role":"tool","content":"a map","tool_name":"get_map","tool_call_id":"call_y","images":["iVBORw0="]},
		{"role":"assistant","content":"Cold."}
	],"stream":true}`, `system
  text "Be brief."
user
  text "What is it?"
  other
assistant
  reasoning "Asked."
  call id=call_x name=get_weather tool=function object { "city": "Oslo", "n": 1.0 }
  call id=call_y name=get_map tool=function object {}
user
  result id=call_x name=get_weather "4 C"
user
  result id=call_y name=get_map media=1 "a map"
assistant
  text "Cold."
`},
	{"as old clients write it, and members that say nothing", `{"messages":[
		{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f","arguments":{"a":1}}}]},
		{"role":"tool","content":"1","name":"f"},
		{"role":"assistant","content":null,"thinking":"","images":null,"tool_calls":[]},
		{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"g"}}]}
	]}`, `assistant
  call name=f tool=function object {"a":1}
user
  result name=f "1"
assistant
assistant
  call name=f tool=function string {}
  call name=g tool=function object
`},
}

func TestHistory(t *testing.T) {
	for _, test := range histories {
		t.Run(test.what, func(t *testing.T) { historytest.Check(t, &target, test.request, test.want) })
	}
}

// TestCalls checks that calls are numbered, and that unchanged content keeps its place when another part is changed.
func TestCalls(t *testing.T) {
	messages, err := decodeHistory([]byte(`{"messages":[{"role":"assistant","x":1,"content":"Hm.","tool_calls":[{"function":{"name":"f","arguments":{}}},{"function":{"name":"g","arguments":{}}}],"thinking":"Asked."}]}`))
	if err != nil {
		t.Fatal(err)
	}
	parts := messages[0].Parts
	parts[3].ID, parts[3].Raw = "b", nil
	messages[0].Parts = []protocol.Part{parts[2], parts[3]}
	const want = `{"role":"assistant","x":1,"content":"","tool_calls":[{"function":{"name":"f","arguments":{}}},{"id":"b","function":{"index":1,"name":"g","arguments":{}}}]}`
	if got := string(encodeHistory(messages)[0]); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
