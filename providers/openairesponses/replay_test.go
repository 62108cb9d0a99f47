package openairesponses

import (
	stdjson "encoding/json"
	"reflect"
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/providers/protocol/historytest"
	"toolscope/stream/json"
)

func input(t *testing.T, request []byte) (list any) {
	if err := stdjson.Unmarshal(json.Value(request).Get("input"), &list); err != nil {
		t.Fatalf("%s: %v", request, err)
	}
	return list
}

// TestHistories checks that a history is read correctly and written back unchanged, and that it has the same lines
// after it is written without Raw and read again.
func TestHistories(t *testing.T) {
	for _, test := range histories {
		body := []byte(`{"input":[` + test.input + `]}`)
		messages, err := decodeHistory(body)
		if got := historytest.Lines(messages); err != nil || got != test.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", test.name, err, got, test.want)
			continue
		}
		if got := historytest.Request(&target, encodeHistory(messages)); !reflect.DeepEqual(input(t, got), input(t, body)) {
			t.Errorf("%s: not written as it was:\n%s", test.name, got)
		}
		anew := historytest.Request(&target, encodeHistory(historytest.WithoutRaw(messages)))
		again, err := decodeHistory(anew)
		want := test.want
		if lost, ok := strings.CutPrefix(test.again, "-"); ok {
			want = strings.ReplaceAll(want, lost, "")
		} else if test.again != "" {
			want = test.again
		}
		if got := historytest.Lines(again); err != nil || got != want {
			t.Errorf("%s: written anew: %v\n%s\ngot  %s\nwant %s", test.name, err, anew, got, want)
		}
	}
}

func TestDecode(t *testing.T) {
	for _, test := range []struct{ name, request, want string }{
		{"a text", `{"input":"hi","instructions":"Be brief."}`, "system\n  text \"Be brief.\"\nuser\n  text \"hi\"\n"},
		{"a Responses WebSocket: what names the response before it goes on",
			`{"type":"response.create","input":"a"}` + "\n" + `{"type":"response.create","response":{"previous_response_id":"resp_1","input":"b"}}`,
			"user\n  text \"a\"\nuser\n  text \"b\"\n"},
		{"and what names none begins anew", `{"type":"response.create","input":"a"}{"type":"response.create","previous_response_id":null,"input":"b"}{"type":"response.cancel"}`,
			"user\n  text \"b\"\n"},
		{"arguments as an object", `{"input":[{"type":"function_call","call_id":"c","name":"f","arguments":{"a":1}}]}`,
			"assistant\n  call id=c name=f tool=function object {\"a\":1}\n"},
		{"one id for both", `{"input":[{"type":"function_call","id":"c","call_id":"c","name":"f","arguments":null}]}`, "assistant\n  call id=c name=f tool=function string\n"},
		{"a result without an id", `{"input":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","output":"x"}]}`,
			"assistant\n  call id=c name=f tool=function string {}\nuser\n  result \"x\"\n"},
		{"a call without a name", `{"input":[{"type":"function_call","call_id":"c","arguments":"{}"}]}`, "assistant\n  call id=c tool=function string {}\n"},
		{"a shell that ran too long", `{"input":[{"type":"shell_call_output","call_id":"c","output":[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}},{"stdout":"b","outcome":{"type":"timeout"}}]}]}`,
			"user\n  result id=c failed \"ab\"\n"},
		{"no items", `{"input":[1,{},[]]}`, "assistant\n  other\n  other\n  other\n"},
		{"no input", `{"model":"m"}`, ""},
		{"something behind it", `{"input":"a"} x`, "user\n  text \"a\"\n"},
		{"nothing", ``, ""},
	} {
		messages, _ := decodeHistory([]byte(test.request))
		if got := historytest.Lines(messages); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, test.want)
		}
	}
	messages, _ := decodeHistory([]byte(`{"input":"hi","instructions":"Be brief."}`))
	if got := encodeHistory(messages); len(got) != 1 {
		t.Errorf("the instructions stand beside the input: %s", got)
	}
}

// TestDecodeCut checks that the complete items of a request are read, wherever the request is cut off.
func TestDecodeCut(t *testing.T) {
	for _, test := range histories {
		historytest.CheckCut(t, &target, `{"input":[`+test.input+`]}`)
	}
}

// TestEncode checks that ids from other protocols are omitted, and that arguments that are not JSON don't
// break the JSON around them.
func TestEncode(t *testing.T) {
	for _, test := range []struct {
		name string
		in   protocol.Part
		want string
	}{
		{"an item id of another host", protocol.Part{Kind: protocol.CallPart, ID: "c", Item: "rot_1", Name: "f", ToolKind: "function", Args: []byte(`{}`)},
			`{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`},
		{"one that is too long", protocol.Part{Kind: protocol.CallPart, ID: "c", Item: "fc_" + strings.Repeat("a", 62), Name: "f", ToolKind: "function"},
			`{"type":"function_call","call_id":"c","name":"f","arguments":""}`},
		{"one that fits", protocol.Part{Kind: protocol.CallPart, ID: "c", Item: "fc_1", Name: "f", Namespace: "n", ToolKind: "function", Args: []byte("\x01{")},
			`{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"\u0001{","namespace":"n"}`},
		{"a text of the model", protocol.Part{Kind: protocol.TextPart, Text: []byte("hi")},
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}`},
		{"clicks of a computer", protocol.Part{Kind: protocol.CallPart, ID: "c", Name: "computer_call", ToolKind: "server", Args: []byte(`{"actions":[{"type":"click"}]}`)},
			`{"type":"computer_call","call_id":"c","actions":[{"type":"click"}],"pending_safety_checks":[],"status":"completed"}`},
		{"one click", protocol.Part{Kind: protocol.CallPart, ID: "c", Name: "computer_call", ToolKind: "server", Args: []byte(`{"type":"click"}`)},
			`{"type":"computer_call","call_id":"c","action":{"type":"click"},"pending_safety_checks":[],"status":"completed"}`},
		{"reasoning as a turn has it", protocol.Part{Kind: protocol.ReasoningPart, ID: "rs_1", Signature: "gA", SignatureOnly: true},
			`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA"}`},
		{"a patch that breaks off", protocol.Part{Kind: protocol.CallPart, ID: "c", Name: "apply_patch_call", ToolKind: "server", Args: []byte(`{"type":`)},
			`{"type":"apply_patch_call","call_id":"c","operation":"{\"type\":","status":"completed"}`},
		{"a tool of another provider", protocol.Part{Kind: protocol.CallPart, ID: "c", Name: "web_search", ToolKind: "server", RunByProvider: true, Args: []byte(`{}`)},
			`{"type":"function_call","call_id":"c","name":"web_search","arguments":"{}"}`},
		{"a result without its call", protocol.Part{Kind: protocol.ResultPart, ID: "c", Text: []byte("x")},
			`{"type":"function_call_output","call_id":"c","output":"x"}`},
	} {
		got := encodeHistory([]protocol.Message{{Role: protocol.Assistant, Parts: []protocol.Part{test.in}}})
		if len(got) != 1 || string(got[0]) != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, test.want)
		}
	}
}
