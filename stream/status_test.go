package stream

import (
	"strings"
	"testing"

	"toolscope/stream/json"
)

// endings are events that move a call with its arguments into each phase.
var endings = []struct {
	phase  string
	name   string // of the call
	events []Event
}{
	{"announced", "", nil},
	{"open", "f", nil},
	{"sealed", "f", []Event{sealed(0)}},
	{"ended", "f", []Event{closed(CloseEnd)}},
	{"truncated", "f", []Event{finish(FinishCut, "length")}},
	{"aborted", "f", []Event{failure("", "overloaded")}},
	{"rejected", "f", []Event{finish(FinishRefused, "refusal")}},
	{"unseen", "f", []Event{gap(12), sealed(0), closed(CloseEnd)}},
}

// statusCases are arguments of each syntax, with the expected status in each of the phases above.
var statusCases = []struct {
	syntax, args string
	verdicts     string
}{
	{"empty", "", "waiting, waiting, no arguments, no arguments, cut short, aborted, rejected, unseen"},
	{"prefix", `{"a`, "streaming, streaming, cut short, cut short, cut short, aborted, rejected, unseen"},
	{"object", `{"a":1}`, "looks done, looks done, complete, looks done, cut short, aborted, rejected, unseen"},
	{"nonobject", `[1]`, "not an object, not an object, not an object, not an object, cut short, aborted, rejected, unseen"},
	{"double-encoded", `"{\"a\":1}"`, "not an object, not an object, not an object, not an object, cut short, aborted, rejected, unseen"},
	{"concat", `{"a":1}{"b":2}`, "malformed, malformed, malformed, malformed, malformed, aborted, rejected, unseen"},
	{"trailing", `{"a":1}}`, "malformed, malformed, malformed, malformed, malformed, aborted, rejected, unseen"},
	{"broken", `{"a":x`, "malformed, malformed, malformed, malformed, malformed, aborted, rejected, unseen"},
	{"freeform", `SELECT 1`, "streaming, streaming, complete, looks done, cut short, aborted, rejected, unseen"},
}

func TestStatus(t *testing.T) {
	seen := map[Status]bool{}
	for _, c := range statusCases {
		verdicts := strings.Split(c.verdicts, ", ")
		for i, end := range endings {
			open := opened(0, "id", end.name)
			if c.syntax == "freeform" {
				open = custom(0, end.name)
			}
			call := fold(append([]Event{open, args(0, c.args)}, end.events...)...).Turn(0).Calls[0]
			got := [3]string{call.Phase().String(), call.Syntax().String(), call.Status().String()}
			if want := [3]string{end.phase, c.syntax, verdicts[i]}; got != want {
				t.Errorf("%s: %q, want %q", c.args, got, want)
			}
			seen[call.Status()] = true
		}
	}
	if len(seen) != NumStatus || len(endings)*len(statusCases) != len(statusOf)*len(statusOf[0]) {
		t.Errorf("%d of %d statuses from %d endings of %d texts", len(seen), NumStatus, len(endings), len(statusCases))
	}
}

// TestOnlySealedIsComplete checks the purpose of the table: only a call with final arguments is complete.
func TestOnlySealedIsComplete(t *testing.T) {
	for p := range statusOf {
		for x := range statusOf[p] {
			phase, syntax, s := Phase(p), json.Syntax(x), statusOf[p][x]
			if s == Complete && (phase != PhaseSealed || syntax != json.SyntaxObject && syntax != json.SyntaxFreeform) {
				t.Errorf("%v and %v is complete", phase, syntax)
			}
			if (s == Waiting || s == Streaming) && phase > PhaseOpen {
				t.Errorf("%v and %v is %v, but nothing can follow", phase, syntax, s)
			}
			if (phase == PhaseAborted) != (s == Aborted) || (phase == PhaseRejected) != (s == Rejected) || (phase == PhaseUnseen) != (s == Unseen) {
				t.Errorf("%v and %v is %v", phase, syntax, s)
			}
		}
	}
}

func TestTurnPhase(t *testing.T) {
	for _, c := range []struct {
		want   string
		events []Event
	}{
		{"open", []Event{{Kind: TurnOpen}}},
		{"open", []Event{finish(FinishDone, "stop")}},
		{"complete", []Event{finish(FinishDone, "stop"), closed(CloseEnd)}},
		{"complete", []Event{closed(CloseEnd)}},
		{"truncated", []Event{finish(FinishCut, "length")}},
		{"truncated", []Event{finish(FinishCut, "length"), closed(CloseCut)}},
		{"truncated", []Event{finish(FinishCut, "length"), finish(FinishDone, "stop"), closed(CloseEnd)}},
		{"aborted", []Event{closed(CloseCut)}},
		{"aborted", []Event{failure("", "overloaded"), closed(CloseEnd)}},
		{"aborted", []Event{finish(FinishFailed, "error"), closed(CloseEnd)}},
		{"rejected", []Event{finish(FinishRefused, "refusal"), closed(CloseEnd)}},
	} {
		if got := fold(c.events...).Turn(0).Phase().String(); got != c.want {
			t.Errorf("%v: %s, want %s", c.events, got, c.want)
		}
	}
}
