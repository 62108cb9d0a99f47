package panes

import (
	"slices"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Wire is the pane of the frames behind the chosen call, or behind the whole turn. Its rows are
// events, because one frame may bring several.
type Wire struct {
	screen.Window
	host   Host
	scene  *Scene
	of     Choice
	next   int     // first event of the timeline not looked at
	Events []int32 // events shown, one a row
	deltas []int32 // for each row: the delta it brought, or -1
	light  Span    // argument bytes that are pointed at
	hits   map[int]bool
	Open   bool // the selected frame is shown whole, below its row
}

func NewWire(h Host) *Wire { return &Wire{host: h} }

// Keys are those that move, and show the selected frame whole.
func (w *Wire) Keys() []screen.Binding {
	toggle := func() { w.Open = !w.Open }
	return append([]screen.Binding{
		helpHint,
		{Keys: []string{"enter"}, Hint: display.Lit("enter frame"), Does: display.Lit("open what is selected"), Do: toggle},
		findHint, tabHint, zoomHint,
		{Keys: []string{"right", "l"}, Does: display.Lit("open what is selected"), Do: toggle},
		back(w.host),
	}, moves(w.host, w.Steps(display.Text{}, w.MoveTo), func() {
		w.End()
		if w.host.Moving() {
			w.host.Follow(true)
		}
	})...)
}

// Back closes the frame that is shown whole.
func (w *Wire) Back() (closed bool) {
	closed, w.Open = w.Open, false
	return closed
}

// Follow keeps the last event in view, or no longer does.
func (w *Wire) Follow(on bool) { w.Stick = on }

// GoTo selects a row.
func (w *Wire) GoTo(row int) { w.MoveTo(row) }

// OpenAt shows the frame of the first row from which on found, whole.
func (w *Wire) OpenAt(found func(event int) bool) {
	for row, n := range w.Events {
		if found(int(n)) {
			w.MoveTo(row)
			w.Open = true
			return
		}
	}
}

// show changes to another call or turn.
func (w *Wire) show(c Choice) {
	if c.ref() == w.of.ref() {
		w.of = c
		return
	}
	*w = Wire{host: w.host, of: c}
	w.Stick = c.Call != nil && c.Call.Arriving()
	if c.Turn != nil {
		w.next = int(c.Turn.OpenedBy)
	}
}

// Extend takes the events that are new.
func (w *Wire) Extend(s *Scene, _, height int) {
	w.show(s.Of())
	w.scene = s
	v := s.View
	height = max(1, height-titleRow)
	for ; w.of.Turn != nil && w.next < v.Events(); w.next++ {
		e := v.Event(w.next)
		if e.Turn != w.of.Turn.Number || !w.wants(e) {
			continue
		}
		delta := int32(-1)
		if (e.Kind == stream.Args || e.Kind == stream.Rewrite) && w.of.Call != nil {
			delta = int32(w.of.Call.DeltaOf(int32(w.next)))
		}
		w.Events = append(w.Events, int32(w.next))
		w.deltas = append(w.deltas, delta)
	}
	w.Resize(len(w.Events), max(1, height-w.detailRows(height)))
}

// wants reports whether an event of the turn belongs to what is shown.
func (w *Wire) wants(e stream.Event) bool {
	c := w.of.Call
	if c == nil {
		return e.Kind != stream.Found
	}
	switch e.Kind {
	case stream.CallOpen, stream.CallMeta, stream.Args, stream.Rewrite, stream.Seal:
		return e.Slot == c.Slot && w.next >= int(c.OpenedBy) && (c.ClosedBy == 0 || w.next < int(c.ClosedBy))
	case stream.Finish, stream.Failure, stream.TurnClose, stream.Gap:
		return true
	case stream.SentBack:
		return int(e.Slot) == c.Number
	}
	return false
}

// frameRows is the most rows the selected frame takes when shown whole.
const frameRows = 8

func (w *Wire) detailRows(height int) int {
	if !w.Open {
		return 0
	}
	return min(frameRows, height/2)
}

// Chosen is the bytes of the arguments that the selected row brought.
func (w *Wire) Chosen() Span {
	if w.At >= len(w.deltas) || w.of.Call == nil || w.deltas[w.At] < 0 {
		return Span{}
	}
	start, end := w.of.Call.DeltaSpan(int(w.deltas[w.At]))
	return Span{start, end}
}

// Point lights the rows that brought these argument bytes, and brings the first of them into view.
func (w *Wire) Point(s Span) {
	w.light = s
	if w.of.Call == nil || s.End <= s.Start {
		return
	}
	if first := w.of.Call.DeltaAt(s.Start); first < w.of.Call.Deltas() {
		if row, ok := slices.BinarySearch(w.Events, w.of.Call.DeltaEvent(first)); ok {
			w.MoveTo(row)
		}
	}
}

// Lit reports whether a row brought some of the bytes that are pointed at.
func (w *Wire) Lit(row int) bool {
	if row >= len(w.deltas) || w.deltas[row] < 0 || w.light.End <= w.light.Start {
		return false
	}
	start, end := w.of.Call.DeltaSpan(int(w.deltas[row]))
	return start < w.light.End && w.light.Start < end
}

// payloadText is the wire's own words in the payload of an event.
func payloadText(e stream.Event) string {
	switch p := e.What.(type) {
	case *stream.Opening:
		return p.Model + " " + p.ID
	case *stream.CallInfo:
		return p.Name + " " + p.ID
	case *stream.Answered:
		return p.Name + " " + p.ID
	case *stream.Resent:
		return p.Policies + " " + p.ID
	case *stream.Origin:
		return p.Wire
	case *stream.Signature:
		return p.Item
	case *stream.Reason:
		return p.Means
	case *stream.Failed:
		return p.Code
	}
	return ""
}

// Find remembers which rows hold query.
func (w *Wire) Find(query string) (rows []int, cursor int) {
	if w.hits = nil; query == "" {
		return nil, w.At
	}
	v := w.scene.View
	w.hits = map[int]bool{}
	for row, n := range w.Events {
		e := v.Event(int(n))
		text := e.Kind.String() + " " + e.Text + " " + payloadText(e)
		if len(FindAll([]byte(text), query)) > 0 {
			rows = append(rows, row)
			w.hits[row] = true
		}
	}
	return rows, w.At
}
