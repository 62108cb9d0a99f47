package stream

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// checkSweeps checks that a broadcast has the same effect as one that visits all calls of a turn, and that the
// counts match the calls.
func checkSweeps(t testing.TB, events []Event) {
	t.Helper()
	var sparing, thorough Session
	for _, e := range events {
		for _, turn := range thorough.Turns {
			for _, c := range turn.Calls {
				turn.markChanged(c)
			}
		}
		sparing.Apply(e)
		thorough.Apply(e)
	}
	if diff := diffViews(view(&thorough), view(&sparing)); diff != "" {
		t.Fatalf("%v (-all +sparing):\n%s", events, diff)
	}
	var counts [NumStatus]int
	for _, turn := range sparing.Turns {
		for _, c := range turn.Calls {
			counts[c.Status()]++
		}
	}
	if counts != sparing.Counts || counts != thorough.Counts {
		t.Fatalf("%v: counted %v and %v, there are %v", events, sparing.Counts, thorough.Counts, counts)
	}
}

func TestSweeps(t *testing.T) {
	for _, c := range callCases {
		checkSweeps(t, stamped(c.events))
	}
	for _, c := range findingCases {
		checkSweeps(t, stamped(c.events))
	}
	// Many endings, between which calls of several choices continue.
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{`{"a":`, `1}`, `{}`, "", "x"}
	words := []string{"stop", "tool_calls", "length", "error"}
	endings := []Event{
		failure("x", "y"), closed(CloseEnd), closed(CloseCut), closed(CloseUnseen), closed(CloseUnknown),
		{Kind: TurnClose, Code: CloseCut, Text: "cut", What: &Ending{By: Client}}, {Kind: Gap, What: &BytesMissed{Bytes: 3}, Text: "gap"},
	}
	rounds := 100
	if os.Getenv("TOOLSCOPE_LONG") != "" {
		rounds = 600
	}
	for range rounds {
		var events []Event
		for range 25 {
			slot, choice := r.Int32N(4), r.Int32N(3)-1
			switch r.IntN(9) {
			case 0, 1:
				events = append(events, inChoice(max(choice, 0), opened(slot, fmt.Sprint("id", slot), texts[3+r.IntN(2)])))
			case 2, 3:
				events = append(events, args(slot, texts[r.IntN(len(texts))]))
			case 4:
				events = append(events, sealed(slot))
			case 5:
				events = append(events, named(slot, "", "f"))
			case 6, 7:
				e := finish(Code(r.IntN(int(FinishCancelled)+1)), words[r.IntN(len(words))])
				e.Slot = choice
				events = append(events, e)
			case 8:
				events = append(events, endings[r.IntN(len(endings))])
			}
		}
		checkSweeps(t, stamped(events))
	}
}

// TestManyCalls checks that the cost of an event doesn't depend on the number of earlier calls, because an event
// doesn't read calls that it doesn't change.
func TestManyCalls(t *testing.T) {
	var s Session
	n := int32(0)
	call := func() {
		s.Apply(inTurn(0, opened(n, fmt.Sprint("id", n), "f")))
		s.Apply(args(n, `{}`))
		s.Apply(sealed(n))
		n++
	}
	endings := []Event{
		finish(FinishDone, "stop"), finish(FinishDone, "tool_calls"), finish(FinishCut, "length"), finish(FinishRefused, "no"),
		finish(FinishFailed, "error"), finish(99, "?"), failure("", "x"), closed(CloseEnd),
	}
	for range 5 {
		call()
	}
	for _, e := range endings {
		s.Apply(e)
	}
	turn := s.Turns[0]
	for i := range turn.Calls { // reading one of them now panics
		turn.Calls[i] = nil
		for k := range turn.choices {
			turn.choices[k].calls[i] = 0
		}
	}
	turn.slots = nil
	for range 5 {
		call()
		for _, e := range endings {
			s.Apply(e)
		}
	}
	if s.Counts[Rejected] != 10 {
		t.Errorf("%v: not all were refused", s.Counts)
	}
}

// TestManyAnswers checks that the call for a result that names only its tool is found without reading the calls that
// already have a result.
func TestManyAnswers(t *testing.T) {
	var s Session
	const n = 50
	for i := range int32(n) {
		s.Apply(opened(i, "", "f"))
	}
	answer := Event{Kind: CallResult, Code: ResultOK, What: &ResultFor{Name: "f"}}
	for i := range n {
		if s.Apply(answer); s.Turns[0].Calls[i].ResultCode != ResultOK {
			t.Fatalf("result %d went elsewhere", i)
		}
		if i > 0 {
			s.Turns[0].Calls[i-1] = nil // reading it now panics
		}
	}
	s.Apply(answer) // for no call
	s.Apply(opened(n, "", "f"))
	s.Apply(opened(n+1, "", ""))
	s.Apply(answer)
	s.Apply(answer)
	s.Apply(named(n+1, "", "f"))
	s.Apply(answer)
	for i, c := range s.Turns[0].Calls[n:] {
		if c.ResultCode != ResultOK {
			t.Errorf("call %d, opened late, has no result", i)
		}
	}
}

// TestReportedOnce checks that a finding that is reported once for each call is not repeated, however many other
// findings the call has.
func TestReportedOnce(t *testing.T) {
	odd := &Diagnosis{Code: "ODD", By: Gateway}
	var s Session
	s.Apply(opened(0, "a", "f"))
	s.Apply(args(0, `{}`))
	s.Apply(sealed(0))
	for range 100 {
		s.Apply(found(0, odd.Finding("so")))
		s.Apply(args(0, ` `))
	}
	c := s.Turns[0].Calls[0]
	if len(c.Findings) != 101 || len(c.diagnoses) != 2 {
		t.Errorf("%d findings of %d kinds", len(c.Findings), len(c.diagnoses))
	}
}
