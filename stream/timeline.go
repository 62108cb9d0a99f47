package stream

import "time"

// A Timeline is the list of events and its fold. Only what is appended is stored; At derives the
// past by folding again (a 100,000-event session takes about a frame), so no two sessions share
// memory.
type Timeline struct {
	events   list[kept]
	texts    texts
	payloads list[Payload]
	session  Session
}

// kept is an event as it is stored: most have no payload.
type kept struct {
	at                time.Duration
	text              place
	frame, turn, slot int32
	what              int32 // number of its payload, from 1; 0 if it has none
	kind              EventKind
	code              Code
}

// Append adds events and folds them into the current session.
func (t *Timeline) Append(events ...Event) {
	for _, e := range events {
		k := kept{at: e.At, text: t.texts.add(e.Text), frame: e.Frame, turn: e.Turn, slot: e.Slot, kind: e.Kind, code: e.Code}
		if e.What != nil {
			t.payloads.add(e.What)
			k.what = int32(t.payloads.n)
		}
		t.events.add(k)
		t.session.Apply(e)
	}
}

// Len is the number of events.
func (t *Timeline) Len() int { return t.events.n }

// Event is event n, 0 ≤ n < Len().
func (t *Timeline) Event(n int) Event {
	k := t.events.at(n)
	e := Event{At: k.at, Text: t.texts.at(k.text), Frame: k.frame, Turn: k.turn, Slot: k.slot, Kind: k.kind, Code: k.code}
	if k.what > 0 {
		e.What = *t.payloads.at(int(k.what) - 1)
	}
	return e
}

// Session is the fold of all events. It grows with every Append.
func (t *Timeline) Session() *Session { return &t.session }

// At is the fold of the first n events. It shares no memory with other sessions, and nobody changes
// it.
func (t *Timeline) At(n int) *Session {
	s := new(Session)
	for i := range min(max(n, 0), t.Len()) {
		s.Apply(t.Event(i))
	}
	return s
}
