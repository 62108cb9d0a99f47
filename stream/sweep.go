package stream

import "math/bits"

// A sweep is what an event about a turn says to all its calls, or to all of one choice. Said twice
// to a call that nothing touched in between it changes nothing. So each goes only to the calls it
// has not reached, and a turn of many calls and as many finish words costs no more than both
// together.
type sweep uint8

const (
	sweepDone sweep = iota // a Finish, by its code
	sweepCut
	sweepRefused
	sweepFailed
	sweepTools   // a FinishDone whose word speaks of tools
	sweepOther   // a Finish with a code that has no name
	sweepFailure // a Failure
	sweepClose   // a TurnClose
	sweepGap     // a Gap

	numSweeps = iota
)

// sweepOf is the sweep of a Finish.
func sweepOf(e Event) sweep {
	switch {
	case e.Code == FinishDone && toolWords[e.Text]:
		return sweepTools
	case e.Code > FinishFailed:
		return sweepOther
	}
	return sweep(e.Code)
}

// swept are the calls of one choice, and those that each sweep has still to reach: calls[passed:]
// and those of the others that were touched since.
type swept struct {
	calls   []*Call
	passed  [numSweeps]int
	touched [numSweeps][]*Call
}

// enlist adds a new call.
func (t *Turn) enlist(c *Call) {
	choice := t.choices[c.Choice]
	if choice == nil {
		choice = new(swept)
		if t.choices == nil {
			t.choices = map[int32]*swept{}
		}
		t.choices[c.Choice] = choice
		t.inOrder = append(t.inOrder, choice)
	}
	choice.calls = append(choice.calls, c)
}

// touch says that a call is not any more what the sweeps found.
func (t *Turn) touch(c *Call) {
	for left := c.reached; left != 0; left &= left - 1 {
		s := bits.TrailingZeros16(left)
		of := t.choices[c.Choice]
		of.touched[s] = append(of.touched[s], c)
	}
	c.reached = 0
}

// reach visits the calls of a choice, or of all, that a sweep changes.
func (t *Turn) reach(s sweep, choice int32, visit func(*Call)) {
	if choice != AllChoices {
		t.reachIn(t.choices[choice], s, visit)
		return
	}
	for _, of := range t.inOrder {
		t.reachIn(of, s, visit)
	}
}

func (t *Turn) reachIn(of *swept, s sweep, visit func(*Call)) {
	if of == nil {
		return
	}
	fresh, again := of.calls[of.passed[s]:], of.touched[s]
	of.passed[s], of.touched[s] = len(of.calls), nil
	for _, list := range [2][]*Call{fresh, again} {
		for _, c := range list {
			visit(c)
			c.reached |= 1 << s
		}
		t.visited = append(t.visited, list...)
	}
}
