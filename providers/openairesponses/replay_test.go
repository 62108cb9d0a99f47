package openairesponses

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"toolscope/providers/dialect"
)

// say is a history in lines: a message and its parts.
func say(messages []dialect.Message) string {
	var s strings.Builder
	for _, m := range messages {
		fmt.Fprintln(&s, m.Role)
		for _, p := range m.Parts {
			fmt.Fprintf(&s, "  %s", [...]string{"text", "reasoning", "call", "result", "other"}[p.Kind])
			for _, f := range []struct{ name, value string }{
				{"id", p.ID}, {"item", p.Item}, {"name", p.Name}, {"space", p.Space}, {"tool", p.Tool}, {"parent", p.Parent},
				{"signature", p.Signature}, {"args", string(p.Args)}, {"text", string(p.Text)},
			} {
				if f.value != "" {
					fmt.Fprintf(&s, " %s=%s", f.name, f.value)
				}
			}
			for _, f := range []struct {
				name string
				set  bool
			}{{"object", p.Form == dialect.ObjectForm}, {"server", p.Server}, {"failed", p.Failed}, {"hidden", p.Hidden}, {"media", p.Media > 0}} {
				if f.set {
					fmt.Fprintf(&s, " (%s)", f.name)
				}
			}
			fmt.Fprintln(&s)
		}
	}
	return s.String()
}

// strip takes from the parts what they were read from.
func strip(messages []dialect.Message) []dialect.Message {
	for i := range messages {
		for j := range messages[i].Parts {
			messages[i].Parts[j].Raw = nil
		}
	}
	return messages
}

// request is a request with these items.
func request(items [][]byte) []byte {
	var w dialect.Writer
	w.Open('{').Key("input").Open('[')
	for _, item := range items {
		w.Raw(item)
	}
	return w.Close(']').Close('}').Text
}

func input(t *testing.T, request []byte) (list any) {
	if err := json.Unmarshal(dialect.Raw(request).Get("input"), &list); err != nil {
		t.Fatalf("%s: %v", request, err)
	}
	return list
}

// histories are inputs, what they say, and what that is when it is written anew
// and read again, if that is not the same.
var histories = []struct{ name, input, want, again string }{
	{"functions",
		`{"role":"developer","content":"Be brief."},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"Weather?"}]},
		{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Look "},{"type":"summary_text","text":"it up."}],"encrypted_content":"gA"},
		{"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"One \"moment\".","annotations":[]}]},
		{"type":"function_call","id":"fc_1","call_id":"call_1","name":"get_weather","arguments":"{\"city\": \"Oslo\"","status":"completed"},
		{"type":"function_call","call_id":"call_2","name":"now","namespace":"clock","arguments":""},
		{"type":"function_call_output","call_id":"call_1","output":"4 \"C\""},
		{"type":"function_call_output","call_id":"call_2","output":[{"type":"input_text","text":"noon"}]},
		{"role":"user","content":"Go on."}`,
		`system
  text text=Be brief.
user
  text text=Weather?
assistant
  reasoning item=rs_1 signature=gA text=Look it up.
  text item=msg_1 text=One "moment".
  call id=call_1 item=fc_1 name=get_weather tool=function args={"city": "Oslo"
  call id=call_2 name=now space=clock tool=function
user
  result id=call_1 text=4 "C"
  result id=call_2 text=noon
user
  text text=Go on.
`, ""},
	{"encrypted reasoning, stored reasoning, and one turn after the other",
		`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA"},
		{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"},
		{"type":"function_call_output","call_id":"call_1","output":""},
		{"type":"reasoning","id":"rs_2","summary":[]},
		{"type":"custom_tool_call","id":"ctc_1","call_id":"call_2","name":"run_sql","input":"SELECT\t1"},
		{"type":"custom_tool_call_output","call_id":"call_2","output":"1"}`,
		`assistant
  reasoning item=rs_1 signature=gA (hidden)
  call id=call_1 name=f tool=function args={}
user
  result id=call_1
assistant
  reasoning item=rs_2
  call id=call_2 item=ctc_1 name=run_sql tool=custom args=SELECT	1
user
  result id=call_2 text=1
`, ""},
	{"tools of the protocol that the client runs",
		`{"type":"shell_call","id":"sh_1","call_id":"c1","action":{"commands":["ls"],"timeout_ms":1000},"environment":{"type":"local"}},
		{"type":"local_shell_call","id":"lsh_1","call_id":"c2","action":{"type":"exec","command":["ls"],"env":{}},"status":"completed"},
		{"type":"apply_patch_call","id":"apc_1","call_id":"c3","operation":{"type":"delete_file","path":"a"},"status":"completed"},
		{"type":"computer_call","id":"cu_1","call_id":"c4","action":{"type":"wait"},"pending_safety_checks":[],"status":"completed"},
		{"type":"computer_call","id":"cu_2","call_id":"c5","actions":[{"type":"wait"}],"pending_safety_checks":[],"status":"completed"},
		{"type":"tool_search_call","id":"tsc_1","call_id":"c6","execution":"client","arguments":{"goal":"x"}},
		{"type":"mcp_approval_request","id":"mcpr_1","server_label":"docs","name":"search","arguments":"{}"},
		{"type":"shell_call_output","call_id":"c1","output":[{"stdout":"a","stderr":"b","outcome":{"type":"exit","exit_code":2}}]},
		{"type":"local_shell_call_output","id":"c2","output":"{\"output\":\"a\"}"},
		{"type":"apply_patch_call_output","call_id":"c3","status":"failed","output":"no such file"},
		{"type":"computer_call_output","call_id":"c4","output":{"type":"computer_screenshot","image_url":"data:,"}},
		{"type":"computer_call_output","call_id":"cu_2","output":{"type":"computer_screenshot","image_url":"data:,"}},
		{"type":"tool_search_output","call_id":"c6","execution":"client","tools":[{"type":"function","name":"f"}]},
		{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":false,"reason":"no"}`,
		`assistant
  call id=c1 item=sh_1 name=shell_call tool=server args={"commands":["ls"],"timeout_ms":1000} (object)
  call id=c2 item=lsh_1 name=local_shell_call tool=server args={"type":"exec","command":["ls"],"env":{}} (object)
  call id=c3 item=apc_1 name=apply_patch_call tool=server args={"type":"delete_file","path":"a"} (object)
  call id=c4 item=cu_1 name=computer_call tool=server args={"type":"wait"} (object)
  call id=c5 item=cu_2 name=computer_call tool=server args={"actions":[{"type":"wait"}]} (object)
  call id=c6 item=tsc_1 name=tool_search_call tool=server args={"goal":"x"} (object)
  call id=mcpr_1 name=search space=docs tool=mcp_approval args={}
user
  result id=c1 text=ab (failed)
  result id=c2 text={"output":"a"}
  result id=c3 text=no such file (failed)
  result id=c4 (media)
  result id=c5 (media)
  result id=c6 text=[{"type":"function","name":"f"}]
  result id=mcpr_1 text=no (failed)
`, ""},
	{"what the provider runs",
		`{"type":"program","id":"cm_1","call_id":"call_p","code":"await f({})","fingerprint":"gB"},
		{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{}","caller":{"type":"program","caller_id":"call_p"}},
		{"type":"function_call_output","call_id":"call_1","output":"1"},
		{"type":"program_output","id":"cmo_1","call_id":"call_p","result":"1","status":"completed"},
		{"type":"tool_search_call","id":"tsc_1","call_id":null,"execution":"server","arguments":{"paths":["a"]},"status":"completed"},
		{"type":"tool_search_output","id":"tso_1","call_id":null,"execution":"server","tools":[],"status":"completed"},
		{"type":"mcp_call","id":"mcp_1","server_label":"docs","name":"search","arguments":"{\"q\":1}","output":"found"},
		{"type":"web_search_call","id":"ws_1","action":{"type":"search","query":"x"},"status":"completed"},
		{"type":"file_search_call","id":"fs_1","queries":["a"],"status":"completed"},
		{"type":"code_interpreter_call","id":"ci_1","code":"1+1","container_id":"cntr_1","status":"completed"},
		{"type":"image_generation_call","id":"ig_1","result":"AAAA","status":"completed"},
		{"type":"brand_new_call","id":"bn_1","call_id":"c9","action":{"a":1}}`,
		`assistant
  call id=call_p item=cm_1 name=program tool=server signature=gB args=await f({}) (server)
  call id=call_1 item=fc_1 name=f tool=function parent=call_p args={}
user
  result id=call_1 text=1
assistant
  result id=call_p item=cmo_1 text=1 (server)
  call id=tsc_1 name=tool_search_call tool=server args={"paths":["a"]} (object) (server)
  result id=tsc_1 item=tso_1 text=[] (server)
  call id=mcp_1 name=search space=docs tool=mcp args={"q":1} (server)
  call id=ws_1 name=web_search_call tool=server args={"type":"search","query":"x"} (object) (server)
  call id=fs_1 name=file_search_call tool=server args={"queries":["a"]} (object) (server)
  call id=ci_1 name=code_interpreter_call tool=server args=1+1 (server)
  call id=ig_1 name=image_generation_call tool=server (server)
  call id=c9 item=bn_1 name=brand_new_call tool=server args={"a":1} (object)
`, "-item=tso_1 "},
	{"messages of several blocks, and items that are no messages",
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"Look:"},{"type":"input_image","image_url":"data:,"}]},
		{"type":"message","role":"user","content":[{"type":"brand_new","x":1},{"type":"input_text","text":"?"}]},
		{"role":"user","content":""},
		{"type":"mcp_list_tools","id":"mcpl_1","server_label":"docs","tools":[]},
		{"id":"msg_9","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"b"}]},
		{"id":"msg_8","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"c"}]},
		{"type":"compaction","id":"cmp_1","encrypted_content":"gA"},
		{"id":"rs_1"}`,
		`user
  text text=Look:
  other
user
  other
user
  text
assistant
  other
  text item=msg_9 text=a
  text item=msg_9 text=b
  text item=msg_8 text=c
  other
  other
`, `user
  text text=Look:
user
  text
assistant
  text item=msg_9 text=a
  text item=msg_9 text=b
  text item=msg_8 text=c
`},
}

// TestHistories: a history is read, written as it was, and written anew so that
// it reads the same.
func TestHistories(t *testing.T) {
	for _, test := range histories {
		body := []byte(`{"input":[` + test.input + `]}`)
		messages, err := decode(body)
		if got := say(messages); err != nil || got != test.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", test.name, err, got, test.want)
			continue
		}
		if got := request(encode(messages)); !reflect.DeepEqual(input(t, got), input(t, body)) {
			t.Errorf("%s: not written as it was:\n%s", test.name, got)
		}
		anew := request(encode(strip(messages)))
		again, err := decode(anew)
		want := test.want
		if lost, ok := strings.CutPrefix(test.again, "-"); ok {
			want = strings.ReplaceAll(want, lost, "")
		} else if test.again != "" {
			want = test.again
		}
		if got := say(again); err != nil || got != want {
			t.Errorf("%s: written anew: %v\n%s\ngot  %s\nwant %s", test.name, err, anew, got, want)
		}
	}
}

func TestDecode(t *testing.T) {
	for _, test := range []struct{ name, request, want string }{
		{"a text", `{"input":"hi","instructions":"Be brief."}`, "system\n  text text=Be brief.\nuser\n  text text=hi\n"},
		{"a Responses WebSocket: what names the response before it goes on",
			`{"type":"response.create","input":"a"}` + "\n" + `{"type":"response.create","response":{"previous_response_id":"resp_1","input":"b"}}`,
			"user\n  text text=a\nuser\n  text text=b\n"},
		{"and what names none begins anew", `{"type":"response.create","input":"a"}{"type":"response.create","previous_response_id":null,"input":"b"}{"type":"response.cancel"}`,
			"user\n  text text=b\n"},
		{"arguments as an object", `{"input":[{"type":"function_call","call_id":"c","name":"f","arguments":{"a":1}}]}`,
			"assistant\n  call id=c name=f tool=function args={\"a\":1} (object)\n"},
		{"one id for both", `{"input":[{"type":"function_call","id":"c","call_id":"c","name":"f","arguments":null}]}`, "assistant\n  call id=c name=f tool=function\n"},
		{"a shell that ran too long", `{"input":[{"type":"shell_call_output","call_id":"c","output":[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}},{"stdout":"b","outcome":{"type":"timeout"}}]}]}`,
			"user\n  result id=c text=ab (failed)\n"},
		{"no items", `{"input":[1,{},[]]}`, "assistant\n  other\n  other\n  other\n"},
		{"no input", `{"model":"m"}`, ""},
		{"something behind it", `{"input":"a"} x`, "user\n  text text=a\n"},
		{"nothing", ``, ""},
	} {
		messages, _ := decode([]byte(test.request))
		if got := say(messages); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, test.want)
		}
	}
	messages, _ := decode([]byte(`{"input":"hi","instructions":"Be brief."}`))
	if got := encode(messages); len(got) != 1 {
		t.Errorf("the instructions stand beside the input: %s", got)
	}
}

// TestDecodeCut: of a request that breaks off what is whole is read, wherever it
// does.
func TestDecodeCut(t *testing.T) {
	for _, test := range histories {
		body := `{"input":[` + test.input + `]}`
		for at := 1; at < len(body); at++ {
			messages, err := decode([]byte(body)[:at])
			if err == nil {
				t.Errorf("%s: cut at %d: no error", test.name, at)
			}
			if got := say(messages); !strings.HasPrefix(test.want, got) {
				t.Errorf("%s: cut at %d: %s", test.name, at, got)
			}
		}
	}
}

// TestEncode: ids that are not this protocol's own are left out, and arguments
// that are no JSON stay inside the JSON.
func TestEncode(t *testing.T) {
	for _, test := range []struct {
		name string
		in   dialect.Part
		want string
	}{
		{"an item id of another host", dialect.Part{Kind: dialect.CallPart, ID: "c", Item: "rot_1", Name: "f", Tool: "function", Args: []byte(`{}`)},
			`{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`},
		{"one that is too long", dialect.Part{Kind: dialect.CallPart, ID: "c", Item: "fc_" + strings.Repeat("a", 62), Name: "f", Tool: "function"},
			`{"type":"function_call","call_id":"c","name":"f","arguments":""}`},
		{"one that fits", dialect.Part{Kind: dialect.CallPart, ID: "c", Item: "fc_1", Name: "f", Space: "n", Tool: "function", Args: []byte("\x01{")},
			`{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"\u0001{","namespace":"n"}`},
		{"reasoning as a turn has it", dialect.Part{Kind: dialect.ReasoningPart, ID: "rs_1", Signature: "gA", Hidden: true},
			`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA"}`},
		{"a patch that breaks off", dialect.Part{Kind: dialect.CallPart, ID: "c", Name: "apply_patch_call", Tool: "server", Args: []byte(`{"type":`)},
			`{"type":"apply_patch_call","call_id":"c","operation":"{\"type\":","status":"completed"}`},
		{"a tool of another provider", dialect.Part{Kind: dialect.CallPart, ID: "c", Name: "web_search", Tool: "server", Server: true, Args: []byte(`{}`)},
			`{"type":"function_call","call_id":"c","name":"web_search","arguments":"{}"}`},
		{"a result without its call", dialect.Part{Kind: dialect.ResultPart, ID: "c", Text: []byte("x")},
			`{"type":"function_call_output","call_id":"c","output":"x"}`},
	} {
		got := encode([]dialect.Message{{Role: dialect.Assistant, Parts: []dialect.Part{test.in}}})
		if len(got) != 1 || string(got[0]) != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, test.want)
		}
	}
}
