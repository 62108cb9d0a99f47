package stream

// A broadcast is the effect of an event about a turn on all its calls, or on all of one choice. It
// changes nothing in a call that it visited before and that did not change since. So each broadcast
// visits only new and changed calls, and a turn of n calls and n finish reasons takes n steps, not n².
type broadcast uint8

const (
	broadcastDone broadcast = iota // a Finish, by its code
	broadcastCut
	broadcastRefused
	broadcastFailed
	broadcastTools   // a FinishDone whose word is about tools
	broadcastOther   // a Finish with a code that has no name
	broadcastFailure // a Failure
	broadcastClose   // a TurnClose
	broadcastGap     // a Gap

	numBroadcasts = iota
)

// broadcastOf returns the broadcast of a Finish.
func broadcastOf(e Event) broadcast {
	switch {
	case e.Code == FinishDone && toolWords[e.Text]:
		return broadcastTools
	case e.Code > FinishFailed:
		return broadcastOther
	}
	return broadcast(e.Code)
}

// choiceCalls holds the calls of one choice, by number. A broadcast has still to visit calls[passed:] and
// those of changed[seen:] that it did not visit since.
type choiceCalls struct {
	choice       int32
	calls        []int32
	changed      []int32 // in the order of the first change after a broadcast visited them
	passed, seen [numBroadcasts]int32
}

// addToChoice adds a new call to those of its choice.
func (t *Turn) addToChoice(c *Call) {
	of := t.choiceCallsOf(c.Choice)
	if of == nil {
		t.choices = append(t.choices, choiceCalls{choice: c.Choice})
		of = &t.choices[len(t.choices)-1]
	}
	of.calls = append(of.calls, int32(c.Number))
}

// choiceCallsOf returns the calls of a choice, nil if it has none.
func (t *Turn) choiceCallsOf(choice int32) *choiceCalls {
	for i := range t.choices {
		if t.choices[i].choice == choice {
			return &t.choices[i]
		}
	}
	return nil
}

// markChanged marks a call as changed: all broadcasts have to visit it again.
func (t *Turn) markChanged(c *Call) {
	if c.visitedBy != 0 {
		of := t.choiceCallsOf(c.Choice)
		of.changed = append(of.changed, int32(c.Number))
		c.visitedBy = 0
	}
}

// sendBroadcast visits the calls of one choice, or of all choices, that the broadcast may change.
func (t *Turn) sendBroadcast(s broadcast, choice int32, visit func(*Call)) {
	for i := range t.choices {
		if choice == AllChoices || t.choices[i].choice == choice {
			t.broadcastTo(&t.choices[i], s, visit)
		}
	}
}

func (t *Turn) broadcastTo(of *choiceCalls, s broadcast, visit func(*Call)) {
	fresh, again := of.calls[of.passed[s]:], of.changed[of.seen[s]:]
	of.passed[s], of.seen[s] = int32(len(of.calls)), int32(len(of.changed))
	for _, list := range [2][]int32{fresh, again} {
		for _, number := range list {
			if c := t.callByNumber(number); c.visitedBy&(1<<s) == 0 {
				c = t.editCall(c)
				c.ensureContent()
				visit(c)
				c.visitedBy |= 1 << s
				t.visited = append(t.visited, c)
			}
		}
	}
}
