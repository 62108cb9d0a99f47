package stream

import (
	"slices"
	"strings"
	"testing"
)

// TestNoDetails checks that an event of any kind may lack a payload.
func TestNoDetails(t *testing.T) {
	var s Session
	for kind := EventKind(0); kind <= Heartbeat+1; kind++ {
		for turn := NoTurn; turn < 2; turn++ {
			e := Event{Kind: kind, Turn: turn}
			s.Apply(e)
			if e.String() == "" {
				t.Errorf("event %d has no words", kind)
			}
		}
	}
	if len(s.Turns) != 2 || s.Turns[0].Exchange != 0 || s.Turns[0].Protocol != "" {
		t.Errorf("%d turns, the first %+v", len(s.Turns), s.Turns[0])
	}
}

// TestFinishWords checks that the last finish reason of the first choice counts, unless another finish reason reports
// a bad end.
func TestFinishWords(t *testing.T) {
	for _, c := range []struct {
		events []Event
		word   string
		phase  TurnPhase
	}{
		{[]Event{finish(FinishDone, "stop"), finish(FinishDone, "tool_calls")}, "tool_calls", TurnComplete},
		{[]Event{finish(FinishDone, "stop"), {Kind: Finish, Slot: 1, Code: FinishDone, Text: "tool_calls"}}, "stop", TurnComplete},
		{[]Event{finish(FinishDone, "stop"), finish(FinishCut, "length")}, "length", TurnTruncated},
		{[]Event{finish(FinishCut, "length"), finish(FinishDone, "stop")}, "length", TurnTruncated},
		{[]Event{finish(FinishCut, "length"), finish(FinishRefused, "refusal")}, "refusal", TurnRejected},
		{[]Event{finish(FinishCut, "length"), finish(FinishOther, "eos")}, "length", TurnTruncated},
		{[]Event{finish(FinishOther, "eos"), finish(FinishCut, "length")}, "length", TurnTruncated},
		{[]Event{finish(FinishOther, "eos"), finish(FinishDone, "stop")}, "stop", TurnComplete},
		{[]Event{finish(FinishDone, "stop"), {Kind: Finish, Slot: 1, Code: FinishOther, Text: "eos"}}, "stop", TurnComplete},
	} {
		turn := fold(append(c.events, closed(CloseEnd))...).Turns[0]
		if turn.Finish != c.word || turn.Phase() != c.phase {
			t.Errorf("%v: %q, %s", c.events, turn.Finish, turn.Phase())
		}
	}
}

// TestNextSlotRule checks that a client that waits for the next call runs a call when the stream turns to
// another one, even to one that was open before.
func TestNextSlotRule(t *testing.T) {
	s := fold(opened(0, "1", "f"), opened(1, "2", "f"), args(1, `{}`), args(0, `{}`))
	if got := s.Turns[0].Calls[1].RuleRun(NextSlot); got.Event != 3 || got.Bytes != 2 {
		t.Errorf("the second call runs at event %d with %d bytes", got.Event, got.Bytes)
	}
	s = fold(opened(0, "1", "f"), sealed(0), opened(1, "2", "f"))
	if got := s.Turns[0].Calls[0].RuleRun(NextSlot); got.Outcome != RunSafely {
		t.Errorf("sealed by the second event, run by the third: %s", got.Outcome)
	}
}

// TestSealedAndCut checks that a call that is sealed and then cut keeps its bytes as they are, including half a
// character at their end.
func TestSealedAndCut(t *testing.T) {
	const half = "{\"a\":\"\xed\xa0\xbd"
	c := fold(opened(0, "1", "f"), args(0, half), sealed(0), finish(FinishCut, "length"), closed(CloseEnd)).Turns[0].Calls[0]
	if string(c.Args()) != half || c.Phase() != PhaseTruncated {
		t.Errorf("%q, %s", c.Args(), c.Phase())
	}
}

// TestSealedAtOnce checks that a seal in the first frame counts, even for a call without arguments.
func TestSealedAtOnce(t *testing.T) {
	s := fold(opened(0, "1", "f"), withIt(sealed(0)), opened(1, "2", "f"))
	if got := s.Turns[0].Calls[0].RuleRun(NextSlot); got.Outcome != RunSafely {
		t.Errorf("run by the next call: %s", got.Outcome)
	}
}

// TestRewriteDeltas checks that deltas before a Rewrite have no bytes of the current arguments. It also checks
// that arguments that continue after a Rewrite cause no finding.
func TestRewriteDeltas(t *testing.T) {
	rewrite := func(s string) Event { return Event{Kind: Rewrite, Text: s} }
	c := fold(opened(0, "1", "f"), rewrite(`{"a":`), args(0, `1}`)).Turns[0].Calls[0]
	if len(c.Findings) != 0 || string(c.Args()) != `{"a":1}` {
		t.Errorf("%s, %v", c.Args(), c.Findings)
	}
	c = fold(opened(0, "1", "f"), args(0, `{"a":`), args(0, `1}`), rewrite(`{"b":`), args(0, `2`), rewrite(`{"c":3}`)).Turns[0].Calls[0]
	for n := range 4 {
		if start, end := c.DeltaSpan(n); start != 0 || end != 0 {
			t.Errorf("delta %d brought bytes %d to %d", n, start, end)
		}
	}
	if start, end := c.DeltaSpan(4); start != 0 || end != 7 || c.DeltaAt(0) != 4 {
		t.Errorf("the last brought bytes %d to %d, the first byte came with delta %d", start, end, c.DeltaAt(0))
	}
}

// TestWhoFailed checks that the party in By is at fault for an error, and the provider if By is missing. It also
// checks that the bytes of all gaps are counted.
func TestWhoFailed(t *testing.T) {
	fails := func(by Party) *Turn {
		return fold(Event{Kind: Failure, Text: "no", What: &FailureInfo{By: by}}).Turns[0]
	}
	for by, want := range map[Party]*Diagnosis{0: ProviderError, Provider: ProviderError, Network: NoAnswer, Toolscope: NoAnswer} {
		turn := fails(by)
		if f := turn.Findings[0]; f.Diagnosis != want || by != 0 && f.By != by {
			t.Errorf("by %q: %s by %s", by, f.Code, f.By)
		}
	}
	if turn := fold(opened(0, "1", "f"), gap(3), gap(4)).Turns[0]; turn.Missed != 7 || !turn.HasGap() {
		t.Errorf("%d bytes missed", turn.Missed)
	}
}

// TestUnknownReasonProvesNothing checks that only a documented normal end contradicts arguments that stop early.
func TestUnknownReasonProvesNothing(t *testing.T) {
	for _, code := range []Code{FinishDone, FinishOther} {
		events := []Event{opened(0, "1", "f"), args(0, `{"a`), finish(code, "eos")}
		seal := sealed(0)
		turn := fold(append(events[:2:2], seal, events[2], closed(CloseEnd))...).Turns[0]
		contradicts := slices.ContainsFunc(turn.Calls[0].Findings, func(f Finding) bool {
			return f.Code == FinishContradicts.Code && strings.Contains(f.Message, "eos")
		})
		if contradicts != (code == FinishDone) {
			t.Errorf("code %d: contradicts %v, %v", code, contradicts, turn.Calls[0].Findings)
		}
	}
}
