package stream

// A Timeline is the list of events and its fold. Only what is appended is
// stored; At derives the past by folding again (a 100,000-event session takes
// about a frame), so no two sessions ever share memory that grows.
type Timeline struct {
	events  list[Event]
	session Session
}

// Append adds events and folds them into the current session.
func (t *Timeline) Append(events ...Event) {
	for _, e := range events {
		t.events.add(e)
		t.session.Apply(e)
	}
}

// Len is the number of events.
func (t *Timeline) Len() int { return t.events.n }

// Event is event n, 0 ≤ n < Len().
func (t *Timeline) Event(n int) Event { return *t.events.at(n) }

// Session is the fold of all events. It grows with every Append.
func (t *Timeline) Session() *Session { return &t.session }

// At is the fold of the first n events, which nobody changes any more.
func (t *Timeline) At(n int) *Session {
	s := new(Session)
	for i := range min(max(n, 0), t.Len()) {
		s.Apply(t.Event(i))
	}
	return s
}
