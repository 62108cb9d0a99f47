package providers

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/stream"
)

// sessionStep is an exchange in a session of Claude Code: the entries of the user and of the model.
type sessionStep struct {
	asks    []string
	answers string
	whole   bool // the request contains a new history, as after a compaction
	back    bool // the user went back to an earlier message
}

// sessionFindings returns the findings of the severity warn or error about the steps of a session, with the
// calls that they are about.
func sessionFindings(steps []sessionStep) string {
	in := new(Inspector)
	for i, s := range steps {
		head := stream.Head{Wrappers: "claude-code session", File: "s.jsonl", Incremental: !s.whole, Reconstructed: true, Rewound: s.back}
		asks := head
		asks.Method, asks.Header = "POST", map[string][]string{"X-Claude-Code-Session-Id": {"s"}}
		in.Write(stream.Record{Exchange: i + 1, Request: true, At: stream.NoTime, Head: &asks, Data: []byte(strings.Join(s.asks, "\n") + "\n")})
		if strings.Contains(s.answers, `"apiErrorStatus":400`) {
			head.Status = 400
		}
		if s.answers != "" {
			in.Write(stream.Record{Exchange: i + 1, At: stream.NoTime, Head: &head, Data: []byte(s.answers + "\n")})
		}
		in.Write(stream.Record{Exchange: i + 1, At: stream.NoTime, End: true})
	}
	var said []string
	for _, t := range in.Session().Turns {
		for _, f := range t.Findings {
			if f.Severity > stream.Info {
				said = append(said, f.Code+" "+f.Severity.String())
			}
		}
		for _, c := range t.Calls {
			for _, f := range c.Findings {
				said = append(said, f.Code+" "+f.Severity.String()+" "+c.ID)
			}
		}
	}
	return strings.Join(said, ", ")
}

// Entries of a session.
func userEntry(content string) string {
	return `{"type":"user","message":{"role":"user","content":` + content + `}}`
}

func resultEntry(id, text string) string {
	return userEntry(fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"content":%q}]`, id, text))
}

func modelEntry(id, stop string, blocks ...string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"model":"claude-sonnet-4-5","role":"assistant","content":[%s],"stop_reason":%q}}`, id, strings.Join(blocks, ","), stop)
}

func callBlock(id string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"ls","input":{"dir":"."}}`, id)
}

const refusedEntry = `{"type":"assistant","isApiErrorMessage":true,"apiErrorStatus":400,"error":"invalid_request","message":{"model":"<synthetic>","content":[{"type":"text","text":"%s"}]}}`

// TestSessionPairs checks that the calls and results in a session file are paired over all requests, as far
// as these have the same history.
func TestSessionPairs(t *testing.T) {
	ask, done := userEntry(`"list it"`), modelEntry("m9", "end_turn", `{"type":"text","text":"Done."}`)
	begin := sessionStep{asks: []string{ask}, answers: modelEntry("m1", "tool_use", callBlock("q1"), callBlock("q2"))}
	for _, test := range []struct {
		name, want string
		steps      []sessionStep
	}{
		{"each call has its result", "", []sessionStep{begin, {asks: []string{resultEntry("q1", "a"), resultEntry("q2", "b")}, answers: done}}},
		{"a call has none", "ORPHAN_CALL warn q2", []sessionStep{begin, {asks: []string{resultEntry("q1", "a"), ask}, answers: done}}},
		{"it is reported once", "ORPHAN_CALL warn q2", []sessionStep{begin, {asks: []string{resultEntry("q1", "a")}, answers: done}, {asks: []string{ask}, answers: done}}},
		{"no response follows", "", []sessionStep{begin, {asks: []string{resultEntry("q1", "a")}}}},
		{"the user went back", "", []sessionStep{begin, {asks: []string{ask}, answers: done, back: true}}},
		{"a compaction removed the calls", "", []sessionStep{begin, {asks: []string{userEntry(`"A summary."`)}, answers: done, whole: true}}},
		{"a result follows the compaction", "ORPHAN_RESULT warn", []sessionStep{begin, {asks: []string{userEntry(`"A summary."`), resultEntry("q1", "a")}, answers: done, whole: true}}},
		{"an id is used again after the compaction", "ID_DUP_ACROSS_TURNS info q1", []sessionStep{begin, {asks: []string{userEntry(`"A summary."`)}, answers: modelEntry("m2", "tool_use", callBlock("q1")), whole: true},
			{asks: []string{resultEntry("q1", "a")}, answers: done}}},
		{"two results", "RESULT_TWICE warn", []sessionStep{begin, {asks: []string{resultEntry("q1", "a"), resultEntry("q2", "b"), resultEntry("q1", "stopped")}, answers: done}}},
		{"a result written twice", "", []sessionStep{begin, {asks: []string{resultEntry("q1", "a"), resultEntry("q2", "b"), resultEntry("q1", "a")}, answers: done}}},
		{"a result without a call", "ORPHAN_RESULT warn", []sessionStep{begin, {asks: []string{resultEntry("q1", "a"), resultEntry("q2", "b"), resultEntry("q7", "c")}, answers: done}}},
		{"the file begins in the middle", "", []sessionStep{{asks: []string{resultEntry("q0", "a")}, answers: done}}},
		{"the provider refuses it", "ORPHAN_CALL error q1, ORPHAN_CALL error q2", []sessionStep{begin, {asks: []string{ask}, answers: fmt.Sprintf(refusedEntry, "API Error: 400 due to tool use concurrency issues.")}}},
		{"the provider refuses another thing", "ORPHAN_CALL warn q1, ORPHAN_CALL warn q2, REQUEST_REFUSED error", []sessionStep{begin, {asks: []string{ask}, answers: fmt.Sprintf(refusedEntry, "API Error: 400 prompt is too long")}}},
	} {
		if got := sessionFindings(test.steps); got != test.want {
			t.Errorf("%s: %q, not %q", test.name, got, test.want)
		}
	}
}

// TestLimitCutsArguments checks that, if a limit ended a message, arguments of {} count as cut off, unless the
// message continues.
func TestLimitCutsArguments(t *testing.T) {
	empty := `{"type":"tool_use","id":"q1","name":"write","input":{}}`
	for _, test := range []struct{ want, answers string }{
		{"ARGS_CUT error q1", modelEntry("m1", "max_tokens", empty)},
		{"", modelEntry("m1", "tool_use", empty)},
		{"", modelEntry("m1", "max_tokens", empty, `{"type":"text","text":"And th"}`)},
	} {
		if got := sessionFindings([]sessionStep{{asks: []string{userEntry(`"go"`)}, answers: test.answers}}); got != test.want {
			t.Errorf("%q, not %q", got, test.want)
		}
	}
}
