package panes

import (
	"fmt"
	"slices"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Wire is the pane of the frames of the selected call or turn. It has one row for each event, because one
// frame may contain several. Consecutive heartbeats share a row.
type Wire struct {
	PaneRows
	scene  *Context
	of     stream.Ref
	kept   stream.Retention // retention of the turn when its events were read
	next   int              // first event on the timeline that is not yet read
	Events []int32          // the event of each row; for heartbeats, the first one
	deltas []int32          // for each row: the delta in the event, or -1
	pings  []pingRun        // the rows with heartbeats, in order
	light  Span             // highlighted argument bytes
	hits   map[int]bool
	Open   bool // the selected frame is open below its row

	numbers int // width of the frame numbers
}

// pingRun is a row of consecutive heartbeats.
type pingRun struct {
	row   int
	last  int32 // the last event
	count int
}

// NewWire returns the pane.
func NewWire(h Host) *Wire { return &Wire{PaneRows: NewRows(h, nil)} }

// Keys returns the keys that move the cursor and open the selected frame.
func (w *Wire) Keys() []screen.Binding {
	toggle := func() { w.Open = !w.Open }
	return slices.Concat(screen.Can("help"), []screen.Binding{
		screen.Key("enter", "frame", "open the selection", toggle),
	}, screen.Can("search", "next", "zoom"), []screen.Binding{
		screen.Key("right l", "", "open the selection", toggle),
		backKey(w.host),
	}, cursorKeys(w.host, w.CursorKeys("", w.MoveTo), func() {
		w.End()
		if w.host.Moving() {
			w.host.Follow(true)
		}
	}))
}

// Back closes the open frame, and reports whether one was open.
func (w *Wire) Back() (closed bool) {
	closed, w.Open = w.Open, false
	return closed
}

// Label returns the pane's name and the number of rows.
func (w *Wire) Label() Label {
	l := Label{Name: display.Lit("Wire"), Count: screen.Count(len(w.Events)), Role: screen.Muted, Empty: len(w.Events) == 0}
	if t := w.currentSelection().Turn; t != nil && t.Retention == stream.Dropped {
		l.Count, l.Role = display.Lit("not kept"), screen.Muted
	}
	return l
}

// WantedRows returns the number of rows, including those for an open frame.
func (w *Wire) WantedRows() int {
	if w.Open {
		return len(w.Events) + frameRows
	}
	return len(w.Events)
}

// Follow keeps the last event in view, or stops doing so.
func (w *Wire) Follow(on bool) { w.Stick = on }

// OpenAt selects the first row for which found returns true, and opens its frame.
func (w *Wire) OpenAt(found func(event int) bool) {
	w.Open = w.SelectFrom(found) || w.Open
}

// SelectFrom selects the first row for which found returns true, and reports whether there is one.
func (w *Wire) SelectFrom(found func(event int) bool) bool {
	for row, n := range w.Events {
		if found(int(n)) {
			w.MoveTo(row)
			return true
		}
	}
	return false
}

// setSelection switches to another call or turn. If the selection is the same, it only drops the rows of
// events that no longer exist.
func (w *Wire) setSelection(v *providers.View, c Selection) {
	kept := stream.InMemory
	if c.Turn != nil {
		kept = c.Turn.Retention
	}
	if c.asRef() == w.of && kept == w.kept {
		if events := v.ArrivedEvents(); w.next > events {
			k, _ := slices.BinarySearch(w.Events, int32(events))
			w.next = events
			for n := len(w.pings) - 1; n >= 0 && int(w.pings[n].last) >= events; n-- {
				if row := w.pings[n].row; row < k { // some events of this row are gone, so the row is counted again
					k, w.next = row, int(w.Events[row])
				}
				w.pings = w.pings[:n]
			}
			w.Events, w.deltas = w.Events[:k], w.deltas[:k]
		}
		return
	}
	*w = Wire{PaneRows: NewRows(w.host, nil), of: c.asRef(), kept: kept}
	w.Stick = c.Call != nil && c.Call.MayGrow()
	if c.Turn != nil {
		w.next = int(c.Turn.OpenedBy)
	}
}

// Extend reads new events.
func (w *Wire) Extend(s *Context, width, height int) {
	c := s.Of()
	w.setSelection(s.View, c)
	w.scene = s
	height = max(1, height-titleRow)
	if c.Turn != nil {
		for n := range s.View.EventsOf(c.Turn, w.next) {
			w.addEvent(s.View, c, n)
		}
	}
	w.next = s.View.Events()
	if c.Turn != nil {
		w.numbers = max(4, len(fmt.Sprint(c.Turn.LastFrame+1))+1)
	}
	detail, blank := 0, height-len(w.Events)-1
	switch {
	case w.Open && height > 1:
		detail = w.frameLines(s.View, s.Pen.Drawer, width, height/2)
	case blank > minFrameRows && len(w.Events) > 0 && !s.Follow:
		detail = blank // the selected frame fills the remaining rows
	}
	w.Fit(len(w.Events), titleRow, titleRow+height-detail)
}

// minFrameRows is the number of blank rows above which the pane shows the selected frame even if the frame is not
// open.
const minFrameRows = 6

// addEvent adds a row for event n if the event belongs to the selection. Consecutive heartbeats share a row.
func (w *Wire) addEvent(v *providers.View, c Selection, n int) {
	kind, of := v.Subject(n)
	args := kind == stream.Args || kind == stream.Rewrite
	if args && of.Call > 0 && c.Call != nil { // events of arguments are frequent, so the check does not read the event
		if of != c.Call.Ref() {
			return
		}
	} else if !belongsTo(c.Call, v.EventPrefix(n, 0), n) {
		return
	}
	if kind == stream.Heartbeat {
		if at := len(w.pings) - 1; at >= 0 && w.pings[at].row == len(w.Events)-1 {
			w.pings[at].last = int32(n)
			w.pings[at].count++
			return
		}
		w.pings = append(w.pings, pingRun{len(w.Events), int32(n), 1})
	}
	delta := int32(-1)
	if args && c.Call != nil {
		delta = int32(c.Call.DeltaOf(int32(n)))
	}
	w.Events = append(w.Events, int32(n))
	w.deltas = append(w.deltas, delta)
}

// belongsTo reports whether event n of the turn belongs to call c. If c is nil, it reports whether the event
// belongs to the turn.
func belongsTo(c *stream.Call, e stream.Event, n int) bool {
	if c == nil {
		return e.Kind != stream.Found
	}
	switch e.Kind {
	case stream.Heartbeat:
		return n >= int(c.OpenedBy) && (c.ClosedBy == 0 || n < int(c.ClosedBy))
	case stream.CallOpen, stream.CallMeta, stream.Args, stream.Rewrite, stream.Seal:
		return e.Slot == c.Slot && n >= int(c.OpenedBy) && (c.ClosedBy == 0 || n < int(c.ClosedBy))
	case stream.Finish, stream.Failure, stream.TurnClose, stream.Gap:
		return true
	case stream.SentBack, stream.Ran:
		return int(e.Slot) == c.Number
	}
	return false
}

// currentSelection returns the turn and call whose events are shown, as they are in the current view.
func (w *Wire) currentSelection() Selection {
	if w.scene == nil {
		return Selection{}
	}
	return SelectionOf(w.scene.View.Session(), w.of)
}

// frameRows is the number of rows that are wanted for an open frame.
const frameRows = 8

// Spot returns the argument bytes in the selected row's event.
func (w *Wire) Spot() Spot { return Spot{Span: w.broughtBy(w.At)} }

// broughtBy returns the argument bytes that a row's event contains.
func (w *Wire) broughtBy(row int) Span {
	if row >= len(w.deltas) || w.deltas[row] < 0 {
		return Span{}
	}
	c := w.currentSelection().Call
	if c == nil || int(w.deltas[row]) >= c.Deltas() {
		return Span{}
	}
	start, end := c.DeltaSpan(int(w.deltas[row]))
	return Span{start, end}
}

// Point highlights the rows whose events contain these argument bytes, and scrolls to the first.
func (w *Wire) Point(s Span) {
	w.light = s
	if s.End <= s.Start {
		return
	}
	c := w.currentSelection().Call
	if c == nil {
		return
	}
	if first := c.DeltaAt(s.Start); first < c.Deltas() {
		if row, ok := slices.BinarySearch(w.Events, c.DeltaEvent(first)); ok {
			w.MoveTo(row)
		}
	}
}

// IsLit reports whether a row's event contains any of the highlighted bytes.
func (w *Wire) IsLit(row int) bool {
	if w.light.End <= w.light.Start {
		return false
	}
	s := w.broughtBy(row)
	return s.Start < w.light.End && w.light.Start < s.End
}

// Spans returns the first and last frame that contain bytes of the highlighted token, if not all of these
// frames are visible.
func (w *Wire) Spans(p *screen.Pen) display.Text {
	c := w.currentSelection().Call
	if c == nil || w.light.End <= w.light.Start {
		return display.Text{}
	}
	toks := c.Lexer().Tokens()
	s := TokenSpan(toks, tokenAt(toks, w.light.Start))
	if !s.Has(w.light.Start) {
		return display.Text{}
	}
	first, last := c.DeltaAt(s.Start), min(c.DeltaAt(s.End-1), c.Deltas()-1)
	if last-first < w.Height {
		return display.Text{}
	}
	frame := func(delta int) display.Text {
		return screen.Count(int(w.scene.View.EventPrefix(int(c.DeltaEvent(delta)), 0).Frame)+1).Between("#", "")
	}
	return display.Join(frame(first), p.Glyph.Dash, frame(last))
}

// payloadText returns the text in the payload of an event, or "".
func payloadText(e stream.Event) string {
	switch p := e.What.(type) {
	case *stream.Opening:
		return p.Model + " " + p.ID
	case *stream.CallInfo:
		return p.Name + " " + p.ID
	case *stream.ResultFor:
		return p.Name + " " + p.ID
	case *stream.SentBackReport:
		return p.Policies + " " + p.ID
	case *stream.WireForm:
		return p.Wire
	case *stream.Signature:
		return p.Item
	case *stream.FinishMeaning:
		return p.Text
	case *stream.FailureInfo:
		return p.Code
	}
	return ""
}

// Find returns the rows that contain query, and keeps them for drawing.
func (w *Wire) Find(query string, _ int, _ func() bool) (rows []int, next int) {
	if w.hits = nil; query == "" {
		return nil, AllFound
	}
	v, look := w.scene.View, newTextQuery(query)
	w.hits = map[int]bool{}
	var text []byte
	for row, n := range w.Events {
		e := v.Event(int(n))
		text = append(append(text[:0], e.Kind.String()...), ' ')
		text = append(append(append(text, e.Text...), ' '), payloadText(e)...)
		if containsQuery(look, text) {
			rows = append(rows, row)
			w.hits[row] = true
		}
	}
	return rows, AllFound
}
