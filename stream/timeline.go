package stream

// A Timeline is the list of events and its fold, now and as it was after any of them. What the fold
// keeps anyway the list does not keep again.
type Timeline struct {
	Every int // events between checkpoints; 0 for as many as pay

	blocks      []factBlock
	checkpoints []checkpoint
	texts       Arena // of what Event returns
	letGone     int32 // how often turns were let go of, or came back
	session     Session
}

// Append adds events and folds them into the current session.
func (t *Timeline) Append(events ...Event) {
	for i := range events {
		t.session.apply(&events[i])
		t.keep(&events[i])
		t.check()
	}
}

// Len is the number of events.
func (t *Timeline) Len() int { return t.session.events }

// Event is event n, 0 ≤ n < Len(). It is not kept when its turn was dropped; then only some of it
// is there.
func (t *Timeline) Event(n int) (e Event, kept bool) {
	e, _, kept = t.event(n, nil)
	return e, kept
}

// event is event n, and the call that had the id of its call before. again is the session that has
// just been folded up to there again, if one is: to fold it needs no Origin.
func (t *Timeline) event(n int, again *Session) (e Event, reused Ref, kept bool) {
	e, text, reused, kept := t.told(n, again)
	if again == nil {
		t.origin(&e, n, text)
	}
	if text != nil {
		e.Text = t.texts.Hold(text)
	}
	return e, reused, kept
}

// told is the same, but for a text that the fold keeps: that is as it is there.
func (t *Timeline) told(n int, again *Session) (e Event, text []byte, reused Ref, kept bool) {
	b := &t.blocks[n/blockFacts]
	if b.facts.n == 0 {
		return Event{Turn: NoTurn, At: NoTime}, nil, NoRef, false
	}
	f := b.facts.at(n % blockFacts)
	e = Event{Kind: f.says(), Code: f.code, Turn: f.turn, Frame: f.frame, At: b.time(f.at)}
	on, c := t.session.Find(Ref{f.turn, int32(f.call)})
	if c != nil {
		e.Slot = c.Slot
	}
	x := &extra{reused: NoRef}
	if f.kind&hasExtra != 0 {
		switch beside := b.extraOf(n); {
		case beside != nil:
			x = beside
			e.What, e.Slot = x.what, x.slot
			if x.timed {
				e.At = x.at
			}
		case on != nil && on.Kept == Cold && e.Kind == Finish:
			e.Slot, e.Text = AllChoices, on.Finish
			return e, nil, NoRef, true
		case on != nil && on.Kept == Cold:
			e.What = on.rowSays(e.Kind, c)
		}
	}
	if e.Text = x.text; !x.worded {
		text, _ = textOf(e.Kind, on, c, int32(n), again)
	}
	return e, text, x.reused, f.turn == NoTurn || on != nil && on.Kept != Dropped
}

// origin gives event n the wire's own form of its text, if it has one and the text is kept.
func (t *Timeline) origin(e *Event, n int, text []byte) {
	b := &t.blocks[n/blockFacts]
	if b.facts.n == 0 || b.facts.at(n%blockFacts).kind&hasOrigin == 0 {
		return
	}
	if on := t.session.Turn(e.Turn); on != nil && on.Kept != Whole {
		return
	}
	if text == nil {
		text = []byte(e.Text)
	}
	e.What = &Origin{Wire: b.forms.of(&b.facts, n%blockFacts, text)}
}

// Session is the fold of all events. It grows with every Append.
func (t *Timeline) Session() *Session { return &t.session }
