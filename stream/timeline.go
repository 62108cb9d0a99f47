package stream

// A Timeline is the list of events and its fold, now and after each of them. The list doesn't store again
// what the fold stores anyway.
type Timeline struct {
	Every int // events between checkpoints; 0 chooses the number that pays

	blocks           []eventBlock
	checkpoints      []checkpoint
	texts            Arena // for the texts of returned events
	retentionChanges int32 // how often turns were evicted, dropped or reloaded
	session          Session
}

// Append adds events and folds them into the current session.
func (t *Timeline) Append(events ...Event) {
	for i := range events {
		t.session.applyEvent(&events[i])
		t.storeEvent(&events[i])
		t.checkpointIfDue()
	}
}

// Len returns the number of events.
func (t *Timeline) Len() int { return t.session.events }

// Event returns event n, 0 ≤ n < Len(). If its turn was dropped, it is not kept: then only part of it is
// available.
func (t *Timeline) Event(n int) (e Event, kept bool) {
	e, _, kept = t.eventAt(n, nil)
	return e, kept
}

// eventAt returns event n, and the call that had the id of its call before. again is the session that is
// being folded again and has reached n, or nil: folding needs no WireForm.
func (t *Timeline) eventAt(n int, again *Session) (e Event, reused Ref, kept bool) {
	e, text, reused, kept := t.eventWithKeptText(n, again)
	if again == nil {
		t.wireFormOf(&e, n, text)
	}
	if text != nil {
		e.Text = t.texts.StringOf(text)
	}
	return e, reused, kept
}

// eventWithKeptText is eventAt, but returns a text that the fold keeps without copying it.
func (t *Timeline) eventWithKeptText(n int, again *Session) (e Event, text []byte, reused Ref, kept bool) {
	b := &t.blocks[n/blockEvents]
	if b.events.n == 0 {
		return Event{Turn: NoTurn, At: NoTime}, nil, NoRef, false
	}
	f := b.events.at(n % blockEvents)
	e = Event{Kind: f.kindAndCode(), Code: f.code, Turn: f.turn, Frame: f.frame, At: b.unpackTime(f.at)}
	on, c := t.session.Find(Ref{f.turn, int32(f.call)})
	if c != nil {
		e.Slot = c.Slot
	}
	x := &packedPayload{reused: NoRef}
	if f.kind&hasPayload != 0 {
		switch beside := b.packedPayloadOf(n); {
		case beside != nil:
			x = beside
			e.What, e.Slot = x.what, x.slot
			if x.timed {
				e.At = x.at
			}
		case on != nil && on.Retention == Evicted && e.Kind == Finish:
			e.Slot, e.Text = AllChoices, on.Finish
			return e, nil, NoRef, true
		case on != nil && on.Retention == Evicted:
			e.What = on.payloadFromRow(e.Kind, c)
		}
	}
	if e.Text = x.text; !x.worded {
		text, _ = textOf(e.Kind, on, c, int32(n), again)
	}
	return e, text, x.reused, f.turn == NoTurn || on != nil && on.Retention != Dropped
}

// wireFormOf sets the wire form of event n's text, if it has one and the text is kept.
func (t *Timeline) wireFormOf(e *Event, n int, text []byte) {
	b := &t.blocks[n/blockEvents]
	if b.events.n == 0 || b.events.at(n%blockEvents).kind&hasWireForm == 0 {
		return
	}
	if on := t.session.Turn(e.Turn); on != nil && on.Retention != InMemory {
		return
	}
	if text == nil {
		text = []byte(e.Text)
	}
	e.What = &WireForm{Wire: b.forms.formOf(&b.events, n%blockEvents, text)}
}

// Session returns the fold of all events. It grows with every Append.
func (t *Timeline) Session() *Session { return &t.session }
