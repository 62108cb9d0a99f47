package anthropic

import (
	"testing"

	"toolscope/providers/protocol"
	"toolscope/providers/protocol/historytest"
)

// histories are requests from clients, with the history that each contains.
var histories = []struct{ what, request, want string }{
	{"thinking, a call and its result", `{"model":"m","messages":[
		{"role":"user","content":"Weather?"},
		{"role":"assistant","content":[
			{"type":"thinking","thinking":"Asked.","signature":"c2ln"},
			{"type":"thinking","thinking":"","signature":"c2lnMg=="},
			{"type":"redacted_thinking","data":"b3Bh"},
			{"type":"text","text":"Looking.","citations":null},
			{"type":"tool_use","id":"toolu_1","name":"get_weather","input":{ "city": "Oslo" },"cache_control":{"type":"ephemeral"}}]},
		{"role":"user","content":[
			{"type":"tool_result","tool_use_id":"toolu_1","content":"4 C","cache_control":{"type":"ephemeral","ttl":"1h"}},
			{"type":"text","text":"And Rome?"}]}
	],"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]}`, `system
  text "Be brief."
user
  text "Weather?"
assistant
  reasoning "Asked." signature=c2ln
  reasoning signature=c2lnMg==
  reasoning hidden signature=b3Bh
  text "Looking."
  call id=toolu_1 name=get_weather tool=function object { "city": "Oslo" }
user
  result id=toolu_1 "4 C"
  text "And Rome?"
`},
	{"a failed result, one with an image, one of nothing", `{"system":"Be brief.","messages":[
		{"role":"assistant","content":[
			{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}},{"type":"tool_use","id":"c","name":"f"}]},
		{"role":"user","content":[
			{"type":"tool_result","tool_use_id":"a","content":"no such city","is_error":true},
			{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"a map"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":""}}]},
			{"type":"tool_result","tool_use_id":"c"},
			{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]}
	]}`, `system
  text "Be brief."
assistant
  call id=a name=f tool=function object {}
  call id=b name=f tool=function object {}
  call id=c name=f tool=function object
user
  result id=a failed "no such city"
  result id=b media=1 "a map"
  result id=c
  other
`},
	{"tools of the provider, and code that calls one of the client", `{"messages":[
		{"role":"assistant","content":[
			{"type":"server_tool_use","id":"srvtoolu_1","name":"code_execution","input":{"code":"f()"}},
			{"type":"tool_use","id":"toolu_1","name":"f","input":{"n":1.0},"caller":{"type":"code_execution_20250825","tool_id":"srvtoolu_1"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"1"}]},
		{"role":"assistant","content":[
			{"type":"code_execution_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"code_execution_tool_result_error","error_code":"timeout"}},
			{"type":"mcp_tool_use","id":"mcptoolu_1","name":"echo","server_name":"local","input":{"a":1}},
			{"type":"mcp_tool_result","tool_use_id":"mcptoolu_1","is_error":false,"content":[{"type":"text","text":"1"}]},
			{"type":"fallback","from":{"model":"a"},"to":{"model":"b"}},
			{"type":"compaction","content":"Before.","encrypted_content":"b3Bh"}]}
	]}`, `assistant
  call id=srvtoolu_1 name=code_execution tool=server server object {"code":"f()"}
  call id=toolu_1 name=f tool=function parent=srvtoolu_1 object {"n":1.0}
user
  result id=toolu_1 "1"
assistant
  result id=srvtoolu_1 tool=code_execution_tool_result server failed "{\"type\":\"code_execution_tool_result_error\",\"error_code\":\"timeout\"}"
  call id=mcptoolu_1 name=echo tool=mcp host=local server object {"a":1}
  result id=mcptoolu_1 tool=mcp_tool_result server "1"
  other
  other
`},
	{"a system message among the others, empty content, input that is a text", `{"messages":[
		{"role":"user","content":"a"},
		{"role":"system","content":"Now be long."},
		{"role":"assistant","content":""},
		{"role":"assistant","content":[]},
		{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":"{\"a\":"}]}
	]}`, `user
  text "a"
system
  text "Now be long."
assistant
assistant
assistant
  call id=a name=f tool=function string {"a":
`},
}

func TestHistory(t *testing.T) {
	for _, test := range histories {
		t.Run(test.what, func(t *testing.T) { historytest.Check(t, &target, test.request, test.want) })
	}
}

// TestSystem checks that a system prompt from another protocol's history is not among the messages, but later system
// messages are.
func TestSystem(t *testing.T) {
	text := func(role protocol.Role, text string) protocol.Message {
		return protocol.Message{Role: role, Parts: []protocol.Part{{Kind: protocol.TextPart, Text: []byte(text)}}}
	}
	var got string
	for _, m := range encodeHistory([]protocol.Message{text(protocol.System, "a"), text(protocol.System, "b"), text(protocol.User, "c"), text(protocol.System, "d")}) {
		got += string(m) + "\n"
	}
	const want = `{"role":"user","content":[{"type":"text","text":"c"}]}
{"role":"system","content":[{"type":"text","text":"d"}]}
`
	if got != want {
		t.Errorf("%s", got)
	}
	read := `{"messages":[{"role":"system","content":"a"},{"role":"user","content":"b"}]}`
	messages, err := decodeHistory([]byte(read))
	if got := encodeHistory(messages); err != nil || len(got) != 2 || string(got[0]) != `{"role":"system","content":"a"}` {
		t.Errorf("%s %v", got, err)
	}
}
