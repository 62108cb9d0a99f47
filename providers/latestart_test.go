package providers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/stream"
)

// lateStarts are complete streams with one call, a frame on each line.
var lateStarts = map[string]string{
	"anthropic": `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"c","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}
{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}
{"type":"content_block_stop","index":0}
{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}}
{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}
{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"[1]}"}}
{"type":"content_block_stop","index":1}
{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}
{"type":"message_stop"}`,
	"openai-chat": `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}
{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]},"finish_reason":null}]}
{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]},"finish_reason":null}]}
{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"[1]}"}}]},"finish_reason":null}]}
{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
	"openai-responses": `{"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","model":"m","status":"in_progress","output":[]}}
{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"function_call","id":"fc","call_id":"call_1","name":"f","arguments":"","status":"in_progress"}}
{"type":"response.function_call_arguments.delta","sequence_number":2,"item_id":"fc","output_index":0,"delta":"{\"a\":"}
{"type":"response.function_call_arguments.delta","sequence_number":3,"item_id":"fc","output_index":0,"delta":"[1]}"}
{"type":"response.function_call_arguments.done","sequence_number":4,"item_id":"fc","output_index":0,"arguments":"{\"a\":[1]}"}
{"type":"response.output_item.done","sequence_number":5,"output_index":0,"item":{"type":"function_call","id":"fc","call_id":"call_1","name":"f","arguments":"{\"a\":[1]}","status":"completed"}}
{"type":"response.completed","sequence_number":6,"response":{"id":"r","object":"response","model":"m","status":"completed","output":[{"type":"function_call","id":"fc","call_id":"call_1","name":"f","arguments":"{\"a\":[1]}","status":"completed"}]}}`,
}

// inspectLines inspects the frames of a response. The head says that they were found in a log, unless wrappers is "".
func inspectLines(wrappers string, frames []string) (codes []string, turn *stream.Turn) {
	var in Inspector
	var body strings.Builder
	for _, f := range frames {
		if strings.HasPrefix(f, `{"object":`) { // a complete body
			body.WriteString(f)
			continue
		}
		fmt.Fprintf(&body, "data: %s\n\n", f)
	}
	in.Write(stream.Record{Exchange: 1, Head: &stream.Head{Wrappers: wrappers}, Data: []byte(body.String()), At: stream.NoTime})
	in.Write(stream.Record{Exchange: 1, End: true, At: stream.NoTime})
	in.Close()
	for _, t := range in.Session().Turns {
		all := slices.Clone(t.Findings)
		for _, c := range t.Calls {
			all = append(all, c.Findings...)
		}
		for _, f := range all {
			if f.Severity != stream.Info {
				codes = append(codes, f.Code+" by "+f.By.String())
			}
		}
	}
	return codes, in.Session().Turns[0]
}

// TestLogBeginsInside checks logs that begin anywhere in a response. No party is at fault for the missing lines. A
// call whose beginning was seen keeps its state; the state of a call without its beginning is unknown.
func TestLogBeginsInside(t *testing.T) {
	for name, text := range lateStarts {
		frames := strings.Split(text, "\n")
		whole, turn := inspectLines("line", frames)
		if len(whole) > 0 || turn.Calls[0].Status() != stream.Complete {
			t.Errorf("%s, complete: %s", name, whole)
		}
		for n := 1; n < len(frames)-1; n++ {
			codes, turn := inspectLines("line", frames[n:])
			codes = slices.DeleteFunc(codes, func(c string) bool { return c == "RECORD_GAP by unknown" })
			if len(codes) > 0 {
				t.Errorf("%s without %d frames: %s", name, n, codes)
			}
			for _, c := range turn.Calls {
				// The final events of Responses contain the complete call.
				if seen := name == "openai-responses" || strings.Contains(strings.Join(frames[n:], "\n"), `"name":"f"`); seen != (c.Status() == stream.Complete) {
					t.Errorf("%s without %d frames: the call is %s", name, n, c.Status())
				}
			}
		}
	}
}

// TestLateStartOfOneCall checks parallel calls in a log that begins in the middle of the first one. Only that call is
// unseen; the other one keeps its state, its deltas and its findings.
func TestLateStartOfOneCall(t *testing.T) {
	const chunk = `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`
	for _, second := range []struct {
		args string
		want stream.Status
	}{{`{\"a\":1}`, stream.Complete}, {`{\"a\":x}`, stream.Malformed}} {
		_, turn := inspectLines("line", []string{
			fmt.Sprintf(chunk, `{"tool_calls":[{"index":0,"function":{"arguments":"lo\"}"}}]}`, "null"),
			fmt.Sprintf(chunk, `{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"g","arguments":"`+second.args+`"}}]}`, "null"),
			fmt.Sprintf(chunk, `{}`, `"tool_calls"`),
		})
		if len(turn.Calls) != 2 || turn.HasGap() {
			t.Fatalf("%d calls, gap %v", len(turn.Calls), turn.HasGap())
		}
		late, whole := turn.Calls[0], turn.Calls[1]
		if late.Status() != stream.Unseen || string(late.Args()) != `lo"}` || len(late.Findings) != 1 || late.Findings[0].By != stream.UnknownParty {
			t.Errorf("the late call is %s, %q: %v", late.Status(), late.Args(), late.Findings)
		}
		if whole.Status() != second.want || whole.Deltas() != 1 {
			t.Errorf("%s: the second call is %s", second.args, whole.Status())
		}
	}
}

// TestStreamWithoutItsBeginning checks cases in which no beginning is missing: a response that was captured
// completely, and a later fault in a log.
func TestStreamWithoutItsBeginning(t *testing.T) {
	frames := strings.Split(lateStarts["anthropic"], "\n")
	if codes, _ := inspectLines("", frames[1:]); !slices.Contains(codes, "PROTOCOL_VIOLATION by gateway") {
		t.Errorf("captured: %s", codes)
	}
	twice := append(slices.Clone(frames[:8]), frames[7:]...)
	if codes, _ := inspectLines("line", twice); !slices.Contains(codes, "PROTOCOL_VIOLATION by gateway") {
		t.Errorf("two stops in a log: %s", codes)
	}
}

// TestLateStartBetweenCalls checks logs that begin between parallel calls, and after all calls. No party is at fault.
func TestLateStartBetweenCalls(t *testing.T) {
	const chunk = `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`
	second := fmt.Sprintf(chunk, `{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"g","arguments":"{}"}}]}`, "null")
	finish := fmt.Sprintf(chunk, `{}`, `"tool_calls"`)
	text := fmt.Sprintf(chunk, `{"role":"assistant","content":"hi"}`, "null")
	body := `{"object":"chat.completion","id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null},"finish_reason":"tool_calls"}]}`
	for _, test := range []struct {
		name, wrappers string
		frames         []string
		want           string
	}{
		{"the first call is missing", "line", []string{second, finish}, ""},
		{"all calls are missing", "line", []string{finish}, ""},
		{"the patch begins late", "line", []string{
			`{"type":"response.apply_patch_call_operation_diff.delta","sequence_number":9,"output_index":0,"item_id":"p","delta":"b"}`,
			`{"type":"response.apply_patch_call_operation_diff.done","sequence_number":10,"output_index":0,"item_id":"p","diff":"ab"}`,
			`{"type":"response.completed","sequence_number":11,"response":{"id":"r","object":"response","model":"m","status":"completed"}}`,
		}, ""},
		{"the last event of a call is first", "line", []string{`{"type":"tool-call-end","index":0}`, `{"type":"message-end","delta":{"finish_reason":"TOOL_CALL"}}`}, ""},
		// Near misses: the beginning is there, or the source has complete responses.
		{"a captured response", "", []string{second, finish}, "IDX_SPARSE by gateway"},
		{"a captured end", "", []string{finish}, "FIN_TOOLCALLS_NO_CALL by gateway"},
		{"text before", "line", []string{text, second, finish}, "IDX_SPARSE by gateway"},
		{"text, but no call", "line", []string{text, finish}, "FIN_TOOLCALLS_NO_CALL by gateway"},
		{"a complete body", "line", []string{body}, "FIN_TOOLCALLS_NO_CALL by gateway"},
	} {
		codes, _ := inspectLines(test.wrappers, test.frames)
		codes = slices.DeleteFunc(codes, func(c string) bool { return c == "RECORD_GAP by unknown" })
		if got := strings.Join(codes, ", "); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestStatusSeen checks that a source that has the status of a response has its beginning as well: faults in the first
// frames are faults of the response. A call that Google discarded has no name, and no log is to blame for that.
func TestStatusSeen(t *testing.T) {
	const (
		nameless  = `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`
		discarded = `{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","index":0}],"modelVersion":"m","responseId":"r"}`
	)
	for _, test := range []struct {
		name, frame string
		status      int
		want        string
	}{
		{"a log", nameless, 0, "RECORD_GAP"},
		{"a HAR file", nameless, 200, "ID_MISSING NAME_MISSING"},
		{"a discarded call in a log", discarded, 0, "GENERATION_REJECTED"},
		{"a discarded call in a HAR file", discarded, 200, "GENERATION_REJECTED"},
	} {
		var in Inspector
		in.Write(stream.Record{Exchange: 1, Head: &stream.Head{Wrappers: "har", Status: test.status}, Data: []byte("data: " + test.frame + "\n\n"), At: stream.NoTime})
		in.Write(stream.Record{Exchange: 1, End: true, At: stream.NoTime})
		in.Close()
		var codes []string
		for _, turn := range in.Session().Turns {
			for _, f := range append(slices.Clone(turn.Findings), turn.Calls[0].Findings...) {
				if f.Severity != stream.Info && f.Code != "NO_TERMINATOR" {
					codes = append(codes, f.Code)
				}
			}
		}
		slices.Sort(codes)
		if got := strings.Join(codes, " "); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestDataTwice checks that an event with "data:" twice is a gateway's fault, and that other events that are not JSON are
// the provider's.
func TestDataTwice(t *testing.T) {
	for data, want := range map[string]string{`data: {"id":"c","choices":[]}`: "gateway", `date: {"id":"c","choices":[]}`: "provider"} {
		_, found := play("https://models.example/v1/chat/completions", asked{`{"model":"m","stream":true,"messages":[` + portsAsk + `]}`,
			"data: " + data + "\n\ndata: " + `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"22"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n", 200})
		if got := strings.Join(found, ", "); got != "1 FRAME_UNDECODABLE error "+want {
			t.Errorf("%s: %q, want %s", data, got, want)
		}
	}
}
