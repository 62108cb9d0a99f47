package stream

// A Timeline is the list of events and its fold. Only what is appended is
// stored; At derives the past by folding again (a 100,000-event session takes
// about a frame), so no two sessions ever share memory that grows.
type Timeline struct {
	blocks  [][]Event
	n       int
	session Session
}

const timelineBlock = 1024 // events of a block: no copying, little slack

// Append adds events and folds them into the current session.
func (t *Timeline) Append(events ...Event) {
	for _, e := range events {
		b := len(t.blocks) - 1
		if t.n%timelineBlock == 0 {
			t.blocks = append(t.blocks, make([]Event, 0, min(max(t.n, 32), timelineBlock))) // the first one grows
			b++
		}
		t.blocks[b] = append(t.blocks[b], e)
		t.n++
		t.session.Apply(e)
	}
}

// Len is the number of events.
func (t *Timeline) Len() int { return t.n }

// Event is event n, 0 ≤ n < Len().
func (t *Timeline) Event(n int) Event { return t.blocks[n/timelineBlock][n%timelineBlock] }

// Session is the fold of all events. It grows with every Append.
func (t *Timeline) Session() *Session { return &t.session }

// At is the fold of the first n events, which nobody changes any more.
func (t *Timeline) At(n int) *Session {
	s := new(Session)
	for i := range min(max(n, 0), t.n) {
		s.Apply(t.Event(i))
	}
	return s
}
