package replay_test

import (
	"slices"
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/providers/replay"
	"toolscope/stream"
)

// abortedTurn returns the turn of a response whose connection broke. The parameter last is the phase of its last call.
func abortedTurn(t *testing.T, protocol string, last stream.Phase, body string) *stream.Turn {
	in := new(providers.Inspector)
	in.Write(stream.Record{Exchange: 1, Data: []byte(body)})
	in.Write(stream.Record{Exchange: 1, End: true, Why: "reset", By: "network"})
	turns := in.Session().Turns
	if len(turns) != 1 || turns[0].Protocol != protocol || turns[0].Calls[len(turns[0].Calls)-1].Phase() != last {
		t.Fatalf("%s: %+v", protocol, turns)
	}
	return turns[0]
}

// TestAbortedPreview checks the previews of a turn whose second call was cut off, or whose last call was final. The preview for a known client
// shows what this client sends, the preview for any other client is unknown, and a behaviour treats the call like any
// other call.
func TestAbortedPreview(t *testing.T) {
	anthropic := abortedTurn(t, "anthropic", stream.PhaseAborted, sseOf(
		`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I look."}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"Read","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"a\"}"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_2","name":"Bash","input":{}}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"command\": \"ls"}}`,
	))
	responses := abortedTurn(t, "openai-responses", stream.PhaseAborted, sseOf(
		`{"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","model":"gpt-5.4-mini","output":[]}}`,
		`{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"QUJD"}}`,
		`{"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}`,
		`{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"I look."}`,
		`{"type":"response.output_item.done","output_index":1,"item":{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]}}`,
		`{"type":"response.output_item.added","output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"shell","arguments":""}}`,
		`{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":"{\"command\": \"ls"}`,
	))
	whole := abortedTurn(t, "anthropic", stream.PhaseSealed, sseOf(
		`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"Read","input":{}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"a\"}"}}`,
		`{"type":"content_block_stop","index":0}`,
	))
	gemini := abortedTurn(t, "gemini", stream.PhaseSealed, sseOf(
		`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"read_file","args":{"path":"a"}}}]},"index":0}],"modelVersion":"gemini-2.5-pro"}`,
	))
	for _, c := range []struct {
		policy    string
		turn      *stream.Turn
		outcome   replay.Outcome
		has, lack []string
	}{
		{"claude-code", anthropic, replay.Dropped, []string{"I look.", "toolu_1"}, []string{"toolu_2", "__unparsedToolInput"}},
		{"opencode", anthropic, replay.Emptied, []string{"I look.", "toolu_1", "toolu_2", `"input":{}`, "Tool execution aborted"}, []string{`"invalid"`}},
		{"pi", anthropic, replay.Dropped, nil, []string{"I look.", "toolu_1", "toolu_2"}},
		{"pi", whole, replay.Dropped, nil, []string{"toolu_1"}},
		{"claude-code", whole, replay.Reformatted, []string{"toolu_1"}, nil},
		{"gemini-cli", gemini, replay.Dropped, nil, []string{"read_file"}},
		{"codex", responses, replay.Dropped, []string{"I look.", "QUJD"}, []string{"call_1"}},
		{"continue", anthropic, replay.Unknown, nil, []string{"toolu_2"}},
		{"empty", anthropic, replay.Emptied, []string{"I look.", "toolu_1", "toolu_2"}, []string{"Tool execution aborted"}},
	} {
		policy, err := replay.FindPolicy(c.policy)
		if err != nil {
			t.Fatal(err)
		}
		to := providers.TargetOf(c.turn.Protocol)
		p := replay.SourceOfTurn(c.turn, to).Preview(to, policy)
		var all strings.Builder
		for _, part := range append(p.Body, p.Results...) {
			all.Write(part)
			all.WriteByte('\n')
		}
		if p.Outcome != c.outcome {
			t.Errorf("%s: outcome %v, want %v", c.policy, p.Outcome, c.outcome)
		}
		for _, text := range c.has {
			if !strings.Contains(all.String(), text) {
				t.Errorf("%s: %q is not in\n%s", c.policy, text, &all)
			}
		}
		for _, text := range c.lack {
			if strings.Contains(all.String(), text) {
				t.Errorf("%s: %q is in\n%s", c.policy, text, &all)
			}
		}
		for _, l := range p.Losses {
			if l.Code == "ORPHAN_RESULT" || l.Code == "ORPHAN_CALL" {
				t.Errorf("%s: %s", c.policy, l.Code)
			}
		}
		told := slices.ContainsFunc(p.Losses, func(l replay.Loss) bool { return l.Code == "ARGS_UNKNOWN" && l.Call == 2 })
		if unknown := c.outcome == replay.Unknown; told != unknown || unknown && p.Acceptance.Verdict != replay.Unproven {
			t.Errorf("%s: %+v, %+v", c.policy, p.Losses, p.Acceptance)
		}
	}
}

// sseOf returns an event stream with the given data.
func sseOf(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}
