package stream

import "math/bits"

// A sweep is what an event about a turn says to all its calls, or to all of one choice. It changes
// nothing in a call that it visited before and that did not change since. So each sweep visits only
// new and changed calls, and a turn of n calls and n finish words costs n steps, not n².
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

// swept are the calls of one choice. Those that a sweep has still to visit are calls[passed:], and
// of the others those that were touched since it visited them.
type swept struct {
	calls   []*Call
	passed  [numSweeps]int
	touched [numSweeps][]*Call
}

// enlist adds a new call to those of its choice.
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

// touch says that a call has changed: all sweeps have to visit it again.
func (t *Turn) touch(c *Call) {
	for left := c.reached; left != 0; left &= left - 1 {
		s := bits.TrailingZeros16(left)
		of := t.choices[c.Choice]
		of.touched[s] = append(of.touched[s], c)
	}
	c.reached = 0
}

// reach visits the calls of one choice, or of all choices, that the sweep may change.
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
