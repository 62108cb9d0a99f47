package formats

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/capture"
)

// piEntry returns the line of a message in a session of pi. The number is its id and its second.
func piEntry(number, parent int, role, content, rest string) string {
	return fmt.Sprintf(`{"type":"message","id":"e%d","parentId":"e%d","timestamp":"2026-05-04T09:00:0%d.000Z","message":{"role":"%s","content":[%s]%s}}`+"\n",
		number, parent, number, role, content, rest)
}

const piHead = `{"type":"session","version":3,"id":"s","timestamp":"2026-05-04T09:00:00.000Z","cwd":"/home"}` + "\n"

// requestsIn returns the request of each exchange in a session, and whether it is marked as rewound.
func requestsIn(t *testing.T, f capture.Format, text string) (asked []string, rewound []bool) {
	t.Helper()
	for _, r := range readParts(t, f, []byte(text)) {
		if r.Side != capture.Request {
			continue
		}
		if r.Exchange > len(asked) {
			asked, rewound = append(asked, ""), append(rewound, slices.Contains(r.Head.Lacks, capture.Rewound))
		}
		asked[r.Exchange-1] += string(r.Data)
	}
	return asked, rewound
}

// TestPiFailedMessage checks that a message from the model that failed or was aborted is not sent back, as in pi.
func TestPiFailedMessage(t *testing.T) {
	for stop, sent := range map[string]bool{"error": false, "aborted": false, "toolUse": true} {
		asked, _ := requestsIn(t, piSession, piHead+
			piEntry(1, 0, "user", `{"type":"text","text":"count the files"}`, "")+
			piEntry(2, 1, "assistant", `{"type":"toolCall","id":"call_n","name":"bash","arguments":{"command":"ls | wc"}}`, `,"stopReason":"`+stop+`"`)+
			piEntry(3, 2, "assistant", `{"type":"text","text":"12"}`, `,"stopReason":"stop"`))
		if all := strings.Join(asked, ""); strings.Contains(all, "call_n") != sent || !strings.Contains(all, "count the files") {
			t.Errorf("%s: the requests are %s", stop, all)
		}
	}
}

// TestPiBranch checks that a request doesn't contain the entries that the user left, and that it is marked if a
// response is among them.
func TestPiBranch(t *testing.T) {
	user := func(number, parent int, text string) string {
		return piEntry(number, parent, "user", `{"type":"text","text":"`+text+`"}`, "")
	}
	model := func(number, parent int, text string) string {
		return piEntry(number, parent, "assistant", `{"type":"text","text":"`+text+`"}`, `,"stopReason":"stop"`)
	}
	for _, test := range []struct {
		name, session string
		has, lacks    string // texts in the last request, and texts not in it, separated by spaces
		rewound       bool
	}{
		{"no branch", user(1, 0, "one") + model(2, 1, "two") + user(3, 2, "three") + model(4, 3, "four"), "two three", "one", false},
		{"another question", user(1, 0, "one") + model(2, 1, "two") + user(3, 2, "three") + user(4, 2, "four") + model(5, 4, "five"), "two four", "three", false},
		{"another first question", user(1, 0, "one") + user(2, 0, "two") + model(3, 2, "three"), "two", "one", false},
		{"before a response", user(1, 0, "one") + model(2, 1, "two") + user(3, 1, "three") + model(4, 3, "four"), "three", "two", true},
		{"before two responses", user(1, 0, "one") + model(2, 1, "two") + user(3, 2, "three") + model(4, 3, "four") + user(5, 1, "five") + model(6, 5, "six"), "five", "two four", true},
		{"after a branch", user(1, 0, "one") + model(2, 1, "two") + user(3, 1, "three") + model(4, 3, "four") + user(5, 4, "five") + model(6, 5, "six"), "four five", "two", false},
	} {
		asked, rewound := requestsIn(t, piSession, piHead+test.session)
		last := asked[len(asked)-1]
		for _, word := range strings.Fields(test.has) {
			if !strings.Contains(last, word) {
				t.Errorf("%s: %q is not in the last request: %s", test.name, word, last)
			}
		}
		for _, word := range strings.Fields(test.lacks) {
			if strings.Contains(last, word) {
				t.Errorf("%s: %q is in the last request: %s", test.name, word, last)
			}
		}
		if rewound[len(rewound)-1] != test.rewound {
			t.Errorf("%s: marked as rewound: %v", test.name, !test.rewound)
		}
	}
}

// TestExchangesOfSession checks which entries belong to one exchange, and that only results without a response are a
// request at the end.
func TestExchangesOfSession(t *testing.T) {
	item := func(payload string) string {
		return `{"timestamp":"2026-05-13T09:00:00.000Z","type":"response_item","payload":` + payload + "}\n"
	}
	event := func(payload string) string { return strings.Replace(item(payload), "response_item", "event_msg", 1) }
	user, model := item(`{"type":"message","role":"user","content":[{"type":"input_text","text":"one"}]}`), item(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}`)
	call, result := item(`{"type":"function_call","name":"a","arguments":"{}","call_id":"c"}`), item(`{"type":"function_call_output","call_id":"c","output":"a"}`)
	usage := event(`{"type":"token_count","info":{"last_token_usage":{"total_tokens":5},"total_token_usage":{"total_tokens":5}}}`)
	piCall := piEntry(1, 0, "user", `{"type":"text","text":"one"}`, "") + piEntry(2, 1, "assistant", `{"type":"toolCall","id":"c","name":"a","arguments":{}}`, `,"stopReason":"toolUse"`)
	copilot := func(kind, data string) string {
		return `{"type":"` + kind + `","id":"i","timestamp":"2026-05-04T09:00:00.000Z","data":{` + data + "}}\n"
	}
	for _, test := range []struct {
		name   string
		format capture.Format
		text   string
		want   int
	}{
		{"items of one response", codexRollout, user + model + call, 1},
		{"a call after another message", codexRollout, user + model + user + call, 2},
		{"a call after a result", codexRollout, user + call + result + call, 2},
		{"calls after results", codexRollout, user + call + result + call + result + call, 3},
		{"a message after the context of a turn", codexRollout, user + model + strings.Replace(item(`{"model":"m"}`), "response_item", "turn_context", 1) + model, 2},
		{"a message after a summary", codexRollout, user + model + strings.Replace(item(`{"message":"so far"}`), "response_item", "compacted", 1) + model, 2},
		{"a message after a call of an aborted turn", codexRollout, user + call + event(`{"type":"turn_aborted","reason":"interrupted"}`) + model, 2},
		{"a result at the end", codexRollout, user + call + result, 2},
		{"a message after a completed turn", codexRollout, user + model + event(`{"type":"task_complete"}`) + model, 2},
		{"a message after the usage", codexRollout, user + model + usage + model, 2},
		{"a message after the usage in a record", codexRollout, user + model + strings.Replace(item(`{"usage":{"total_tokens":5}}`), "response_item", "token_usage_record", 1) + model, 2},
		{"a message after an error", codexRollout, user + model + event(`{"type":"error"}`) + model, 2},
		{"a message after a rollback", codexRollout, user + model + event(`{"type":"thread_rolled_back"}`) + model, 2},
		{"the same usage twice", codexRollout, user + model + usage + usage, 1},
		{"a result at the end of a session", piSession, piHead + piCall + piEntry(3, 2, "toolResult", `{"type":"text","text":"12"}`, ""), 2},
		{"a result that the user left", piSession, piHead + piCall + piEntry(3, 2, "toolResult", `{"type":"text","text":"12"}`, "") + piEntry(4, 1, "user", `{"type":"text","text":"two"}`, ""), 1},
		{"an agent and its sub-agent that the user stops", copilotSession, copilot("user.message", `"content":"go"`) + copilot("assistant.turn_start", "") +
			copilot("user.message", `"content":"look","parentToolCallId":"c"`) + copilot("assistant.turn_start", `"parentToolCallId":"c"`) + copilot("abort", ""), 2},
		{"a screen that ends with a response", clineScreen, `[{"ts":1,"type":"say","say":"task","text":"go"},{"ts":2,"type":"say","say":"api_req_started","text":"{}"},` +
			`{"ts":3,"type":"say","say":"text","text":"done"}]`, 1},
	} {
		exchanges := map[int]bool{}
		for _, r := range readParts(t, test.format, []byte(test.text)) {
			exchanges[r.Exchange] = true
		}
		if len(exchanges) != test.want {
			t.Errorf("%s: %d exchanges, not %d", test.name, len(exchanges), test.want)
		}
	}
}

// TestSniffCline checks what is known about a file after the beginning of its first message.
func TestSniffCline(t *testing.T) {
	for text, want := range map[string]capture.SniffVerdict{
		`[`: capture.Maybe, `[{"role":"us`: capture.Maybe, `[{"ts":1,"id":"a","content":[{"type":"te`: capture.Maybe, `[{"role":"user","content":[{"type":"te`: capture.Maybe,
		`[{"role":"assistant","content":[{"type":"te`: capture.Maybe, `[{"role":"assistant","ts":1,"content":[{"type":"te`: capture.No, `[{"name":"a`: capture.No,
		`[{"role":"user","content":[],"ts":1}]`: capture.Yes, `[{"role":"user","content":[]}]`: capture.No, `{`: capture.No, ` [ 1`: capture.No,
	} {
		if got := sniffCline([]byte(text), false).Is; got != want {
			t.Errorf("%s: %v, not %v", text, got, want)
		}
	}
}

// TestCodexCut checks that a file that breaks off cuts the open response, and no complete one.
func TestCodexCut(t *testing.T) {
	const model = `{"timestamp":"2026-05-13T09:00:00.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}}` + "\n"
	const done = `{"timestamp":"2026-05-13T09:00:00.000Z","type":"event_msg","payload":{"type":"task_complete"}}` + "\n"
	for _, test := range []struct {
		text      string
		end, want capture.End
	}{
		{model, capture.EndCut, capture.EndCut}, {model, capture.EndEOF, capture.EndEOF}, {model + done, capture.EndCut, capture.EndEOF},
	} {
		r := codexRollout.New(capture.NewInput("f", nil))
		recs, _ := r.Write(nil, []byte(test.text), capture.NoTime)
		recs = r.Close(recs, test.end, "so the file ends", capture.NoTime)
		if got := recs[len(recs)-1].End; got != test.want {
			t.Errorf("%s: the response ends as %q, not %q", test.text, got, test.want)
		}
	}
}

// TestCodexRollback checks that the request after a rollback is marked, and no other one.
func TestCodexRollback(t *testing.T) {
	entry := func(kind, payload string) string {
		return `{"timestamp":"2026-05-13T09:00:00.000Z","type":"` + kind + `","payload":` + payload + "}\n"
	}
	turn := func(text string) string {
		return entry("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"`+text+`"}]}`) +
			entry("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}`)
	}
	text := entry("session_meta", `{"id":"t1","originator":"codex_cli_rs"}`) + turn("one") + turn("two") +
		entry("event_msg", `{"type":"thread_rolled_back","num_turns":1}`) + turn("three") + turn("four")
	if _, rewound := requestsIn(t, codexRollout, text); !slices.Equal(rewound, []bool{false, false, true, false}) {
		t.Errorf("marked as rewound: %v", rewound)
	}
}
