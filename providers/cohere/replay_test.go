package cohere

import (
	"testing"

	"toolscope/providers/protocol"
	"toolscope/providers/protocol/historytest"
)

// histories are requests from clients, with the messages that are read from each.
var histories = []struct{ what, request, want string }{
	{"a plan, calls and results", `{"model":"m","messages":[
		{"role":"system","content":"Be brief."},
		{"role":"user","content":[{"type":"text","text":"Weather?"},{"type":"image_url","image_url":{"url":"data:,"}}]},
		{"role":"assistant","tool_plan":"I will look.","tool_calls":[
			{"id":"get_weather_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\": \"Oslo\"}"}},
			{"id":"get_time_2","type":"function","function":{"name":"get_time","arguments":"null"}}]},
		{"role":"tool","tool_call_id":"get_weather_1","content":[{"type":"document","document":{"id":"1","data":{"celsius":4}}},{"type":"document","document":{"data":" cold"}},{"type":"text","text":"."}]},
		{"role":"tool","tool_call_id":"get_time_2","content":"noon"},
		{"role":"assistant","content":"Cold.","citations":[{"start":0,"end":4,"text":"Cold"}]}
	]}`, `system
  text "Be brief."
user
  text "Weather?"
  other
assistant
  reasoning "I will look."
  call id=get_weather_1 name=get_weather tool=function string {"city": "Oslo"}
  call id=get_time_2 name=get_time tool=function string null
user
  result id=get_weather_1 "{\"celsius\":4} cold."
user
  result id=get_time_2 "noon"
assistant
  text "Cold."
`},
	{"thinking in the content, and members that say nothing", `{"messages":[
		{"role":"assistant","content":[{"type":"thinking","thinking":"Asked."},{"type":"text","text":"Cold."}],"tool_plan":null,"tool_calls":[],"citations":[]},
		{"role":"assistant","content":[],"tool_plan":"","tool_calls":[{"id":"a","type":"function","function":{"name":"f"}}]},
		{"role":"tool","tool_call_id":"a","content":[{"type":"image_url","image_url":{"url":"data:,"}}]},
		{"role":"user","content":""}
	]}`, `assistant
  reasoning "Asked."
  text "Cold."
assistant
  call id=a name=f tool=function string
user
  result id=a media=1
user
`},
}

func TestHistory(t *testing.T) {
	for _, test := range histories {
		t.Run(test.what, func(t *testing.T) { historytest.Check(t, &target, test.request, test.want) })
	}
}

// TestChanged checks that removed parts are not written and that the other fields stay.
func TestChanged(t *testing.T) {
	messages, err := decodeHistory([]byte(`{"messages":[{"role":"assistant","tool_plan":"I will look.","content":"Hm.","x":1,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	parts := messages[0].Parts
	for _, test := range []struct {
		parts []protocol.Part
		want  string
	}{
		{parts[1:2], `{"role":"assistant","content":"Hm.","x":1}`},
		{parts[2:], `{"role":"assistant","x":1,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`},
		{parts[:1], `{"role":"assistant","tool_plan":"I will look.","x":1}`},
	} {
		messages[0].Parts = test.parts
		if got := string(encodeHistory(messages)[0]); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}
