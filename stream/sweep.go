package stream

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

// swept are the calls of one choice, by number. Those that a sweep has still to visit are
// calls[passed:], and of changed[seen:] those that it did not visit since.
type swept struct {
	choice       int32
	calls        []int32
	changed      []int32 // in the order they were touched after some sweep visited them
	passed, seen [numSweeps]int32
}

// enlist adds a new call to those of its choice.
func (t *Turn) enlist(c *Call) {
	of := t.sweptOf(c.Choice)
	if of == nil {
		t.choices = append(t.choices, swept{choice: c.Choice})
		of = &t.choices[len(t.choices)-1]
	}
	of.calls = append(of.calls, int32(c.Number))
}

// sweptOf are the calls of a choice, nil if it has none.
func (t *Turn) sweptOf(choice int32) *swept {
	for i := range t.choices {
		if t.choices[i].choice == choice {
			return &t.choices[i]
		}
	}
	return nil
}

// touch says that a call has changed: all sweeps have to visit it again.
func (t *Turn) touch(c *Call) {
	if c.reached != 0 {
		of := t.sweptOf(c.Choice)
		of.changed = append(of.changed, int32(c.Number))
		c.reached = 0
	}
}

// reach visits the calls of one choice, or of all choices, that the sweep may change.
func (t *Turn) reach(s sweep, choice int32, visit func(*Call)) {
	for i := range t.choices {
		if choice == AllChoices || t.choices[i].choice == choice {
			t.reachIn(&t.choices[i], s, visit)
		}
	}
}

func (t *Turn) reachIn(of *swept, s sweep, visit func(*Call)) {
	fresh, again := of.calls[of.passed[s]:], of.changed[of.seen[s]:]
	of.passed[s], of.seen[s] = int32(len(of.calls)), int32(len(of.changed))
	for _, list := range [2][]int32{fresh, again} {
		for _, number := range list {
			if c := t.call(number); c.reached&(1<<s) == 0 {
				c = t.edit(c)
				c.mind()
				visit(c)
				c.reached |= 1 << s
				t.visited = append(t.visited, c)
			}
		}
	}
}
