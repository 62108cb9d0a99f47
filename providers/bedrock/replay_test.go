package bedrock

import (
	"testing"

	"toolscope/providers/protocol"
	"toolscope/providers/protocol/historytest"
)

// histories are requests from clients, with the messages that are read from each.
var histories = []struct{ what, request, want string }{
	{"reasoning, calls and results", `{"messages":[
		{"role":"user","content":[{"text":"Weather?"},{"cachePoint":{"type":"default"}}]},
		{"role":"assistant","content":[
			{"reasoningContent":{"reasoningText":{"text":"Asked.","signature":"c2ln"}}},
			{"reasoningContent":{"redactedContent":"b3Bh"}},
			{"reasoningContent":{"reasoningText":{"text":"Unsigned."}}},
			{"text":"Looking."},
			{"toolUse":{"toolUseId":"tooluse_1","name":"get_weather","input":{ "city": "Oslo", "n": 1.0 }}},
			{"toolUse":{"toolUseId":"tooluse_2","name":"get_map","input":{}}},
			{"toolUse":{"toolUseId":"tooluse_3","name":"get_map","input":"{}"}}]},
		{"role":"user","content":[
			{"toolResult":{"toolUseId":"tooluse_1","content":[{"text":"It is "},{"json":{"celsius":4}}],"status":"success"}},
			{"toolResult":{"toolUseId":"tooluse_2","content":[{"image":{"format":"png","source":{"bytes":""}}},{"text":"a map"}]}},
			{"toolResult":{"toolUseId":"tooluse_3","content":[{"text":"no such city"}],"status":"error"}}]}
	],"system":[{"text":"Be brief."},{"cachePoint":{"type":"default"}}]}`, `system
  text "Be brief."
  other
user
  text "Weather?"
  other
assistant
  reasoning "Asked." signature=c2ln
  reasoning hidden signature=b3Bh
  reasoning "Unsigned."
  text "Looking."
  call id=tooluse_1 name=get_weather tool=function object { "city": "Oslo", "n": 1.0 }
  call id=tooluse_2 name=get_map tool=function object {}
  call id=tooluse_3 name=get_map tool=function string {}
user
  result id=tooluse_1 "It is {\"celsius\":4}"
  result id=tooluse_2 media=1 "a map"
  result id=tooluse_3 failed "no such city"
`},
	{"a tool of the provider, and text that says where it is from", `{"messages":[
		{"role":"assistant","content":[
			{"toolUse":{"toolUseId":"tooluse_1","name":"nova_grounding","input":{},"type":"server_tool_use"}},
			{"toolResult":{"toolUseId":"tooluse_1","content":[{"text":"found"}],"type":"nova_grounding_result"}},
			{"citationsContent":{"content":[{"text":"Cold"},{"text":"."}],"citations":[{"location":{"web":{"url":"https://example.com"}}}]}}]}
	]}`, `assistant
  call id=tooluse_1 name=nova_grounding tool=server server object {}
  result id=tooluse_1 tool=nova_grounding_result server "found"
  text "Cold."
`},
}

func TestHistory(t *testing.T) {
	for _, test := range histories {
		t.Run(test.what, func(t *testing.T) { historytest.Check(t, &target, test.request, test.want) })
	}
}

// TestTurns checks that separate results in another protocol's messages become one message, and that two messages
// that were read as separate stay separate.
func TestTurns(t *testing.T) {
	result := func(id string) protocol.Message {
		return protocol.Message{Role: protocol.User, Parts: []protocol.Part{{Kind: protocol.ResultPart, ID: id, Text: []byte("4 C")}}}
	}
	call := protocol.Message{Role: protocol.Assistant, Parts: []protocol.Part{{Kind: protocol.CallPart, ID: "a", Name: "f", Form: protocol.ObjectForm}}}
	got := encodeHistory([]protocol.Message{{Role: protocol.System}, call, result("a"), result("b"), call})
	want := []string{
		`{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]}`,
		`{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"4 C"}]}},{"toolResult":{"toolUseId":"b","content":[{"text":"4 C"}]}}]}`,
		`{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]}`,
	}
	if len(got) != len(want) {
		t.Fatalf("%s", got)
	}
	for i := range want {
		if string(got[i]) != want[i] {
			t.Errorf("%s, want %s", got[i], want[i])
		}
	}
	messages, err := decodeHistory([]byte(`{"messages":[{"role":"user","content":[{"text":"a"}]},{"role":"user","content":[{"text":"b"}]}]}`))
	if got := encodeHistory(messages); err != nil || len(got) != 2 {
		t.Errorf("%s %v", got, err)
	}
}
