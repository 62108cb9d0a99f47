package panes

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Wire is the pane of the frames behind the chosen call, or behind the whole
// turn. Its rows are events, because one frame may bring several.
type Wire struct {
	screen.Window
	of     Choice
	next   int     // first event of the timeline not looked at
	Events []int32 // events shown, one a row
	deltas []int32 // for each row: the delta it brought, or -1
	Light  Span    // argument bytes the document points at
	Hits   map[int]bool
	Open   bool // the selected frame is shown whole, below its row
}

// Show changes to another call or turn.
func (w *Wire) Show(c Choice) {
	if c.ref() == w.of.ref() {
		w.of = c
		return
	}
	*w = Wire{of: c}
	w.Stick = c.Call != nil && c.Call.Arriving()
	if c.Turn != nil {
		w.next = int(c.Turn.OpenedBy)
	}
}

// Extend takes the events that are new.
func (w *Wire) Extend(v *providers.View, height int) {
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

// Point lights the rows that brought these argument bytes, and brings the
// first of them into view.
func (w *Wire) Point(s Span) {
	w.Light = s
	if w.of.Call == nil || s.End <= s.Start {
		return
	}
	deltas := w.of.Call.Deltas()
	if first := w.of.Call.DeltaAt(s.Start); first < len(deltas) {
		if row, ok := slices.BinarySearch(w.Events, deltas[first].Event); ok {
			w.MoveTo(row)
		}
	}
}

// Lit reports whether a row brought some of the bytes that are pointed at.
func (w *Wire) Lit(row int) bool {
	if row >= len(w.deltas) || w.deltas[row] < 0 || w.Light.End <= w.Light.Start {
		return false
	}
	start, end := w.of.Call.DeltaSpan(int(w.deltas[row]))
	return start < w.Light.End && w.Light.Start < end
}

// Draw writes row n of the pane into the field.
func (w *Wire) Draw(p *screen.Pen, v *providers.View, n int, focused bool) {
	defer p.Fill(screen.Bare)
	if n >= w.Height {
		w.drawFrame(p, v, n-w.Height)
		return
	}
	row := w.Top + n
	if row >= len(w.Events) {
		return
	}
	e := v.Event(int(w.Events[row]))
	g := screen.Bare
	switch {
	case row == w.At && focused:
		g = screen.Selected
	case w.Lit(row), row == w.At && w.Open:
		g = screen.Linked
	}
	mark := display.Lit(" ")
	if g != screen.Bare || w.Hits[row] {
		mark = p.Glyph.Mark
	}
	p.Put(screen.Accent, g, mark)
	number := "#" + fmt.Sprint(e.Frame+1)
	if e.Kind == stream.SentBack {
		number = "" // it is no frame of this response
	}
	p.Put(screen.Muted, g, p.Format("%5s ", number))
	if at := screen.Time(screen.Since(w.of.Turn.OpenedAt, e.At)); !at.Empty() {
		p.Put(screen.Muted, g, p.Format("%8s ", "+"+at.String()))
	}
	if e.Kind == stream.SentBack {
		drawReturn(p, v.Session(), e, g, w.of.Call == nil)
	} else {
		drawEvent(p, e, g)
	}
	p.Fill(g)
}

// drawEvent writes what an event is and what it says.
func drawEvent(p *screen.Pen, e stream.Event, g screen.Ground) {
	r, text := screen.Plain, e.Text
	switch e.Kind {
	case stream.Args, stream.Rewrite:
		r = screen.StringToken
		if origin := stream.PayloadOf[stream.Origin](e); origin.Wire != "" { // then what was made of it
			p.Put(screen.Muted, g, p.Format("%-10s ", e.Kind))
			p.Outside(screen.Plain, g, origin.Wire)
			p.Put(screen.Muted, g, p.Glyph.Sep.Between(" ", " "))
			p.Raw(r, g, []byte(text[:min(len(text), max(screen.MostName, 64*p.Left))]))
			return
		}
		if text == "" {
			text = "(empty)"
			r = screen.Muted
		}
	case stream.TurnOpen, stream.TurnMeta:
		turn := stream.PayloadOf[stream.Opening](e)
		text = strings.TrimSpace(screen.Short(turn.Model) + " " + screen.Short(turn.ID))
	case stream.CallOpen, stream.CallMeta:
		call := stream.PayloadOf[stream.CallInfo](e)
		r, text = screen.Accent, strings.TrimSpace(screen.Short(call.Name)+" "+screen.Short(call.ID))
		if call.Copies > 0 {
			text = fmt.Sprintf("said %d times, the same", call.Copies)
		}
	case stream.Answer:
		of := stream.PayloadOf[stream.Answered](e)
		text = "for " + screen.Short(of.ID+of.Name)
	case stream.UsageEvent:
		text = usageText(stream.PayloadOf[stream.Usage](e), p.Glyph.Dot)
	case stream.Failure, stream.Fault:
		r = screen.Bad
	case stream.Gap:
		r = screen.Caution
	case stream.Heartbeat:
		r = screen.Muted
	}
	p.Put(screen.Muted, g, p.Format("%-10s ", e.Kind))
	p.Raw(r, g, []byte(text[:min(len(text), max(screen.MostName, 64*p.Left))])) // it may be all arguments at once
}

// drawFrame writes row n of the selected frame's own bytes.
func (w *Wire) drawFrame(p *screen.Pen, v *providers.View, n int) {
	if w.At >= len(w.Events) {
		return
	}
	x := v.Exchange(w.of.Turn.Exchange)
	e := v.Event(int(w.Events[w.At]))
	if e.Kind == stream.SentBack {
		if n == 0 {
			p.Say(screen.Muted, p.Format("%s no frame here: %s has it", display.Repeat(p.Glyph.Line, 2), RequestName(v.Session(), stream.PayloadOf[stream.Resent](e).Exchange)))
		}
		return
	}
	start, end := x.Response.FrameSpan(e.Frame)
	if n == 0 {
		record, _ := x.Response.RecordAt(start)
		dot, line := p.Glyph.Dot.Between(" ", " "), display.Repeat(p.Glyph.Line, 2)
		p.Say(screen.Muted, p.Format("%s frame %d%srecord %d%sbytes %s to %s", line, e.Frame+1, dot, record+1, dot,
			screen.Count(int(start)), screen.Count(int(end))))
		return
	}
	// A frame that ended with a CR left its LF to this one.
	text := bytes.TrimLeft(x.Response.Bytes(start, min(end, start+maxFrameShown)), "\r\n")
	width := max(p.Left-1, 1)
	for i := 1; i < n && len(text) > 0; i++ {
		text = text[lineLen(p.Drawer, text, width):]
	}
	p.Spaces(screen.Bare, 1)
	line := text[:lineLen(p.Drawer, text, width)]
	p.Raw(screen.Plain, screen.Bare, screen.TrimEnd(line))
}

// maxFrameShown is how many bytes of a frame are looked at for its few rows.
const maxFrameShown = 16 << 10

// lineLen is how many bytes of text make one line: up to a line end or as
// much as fits.
func lineLen(draw display.Drawer, text []byte, width int) (n int) {
	for cells := 0; n < len(text); {
		if text[n] == '\n' {
			return n + 1
		}
		k, c := draw.Measure(text[n:])
		if cells += c; cells > width {
			break
		}
		n += k
	}
	return n
}

// usageText is token counts in words, with a sign between them.
func usageText(u stream.Usage, sign display.Text) string {
	var parts []string
	for _, f := range []struct {
		word  string
		count stream.Count
	}{{"in", u.Input}, {"cached", u.CacheRead}, {"written", u.CacheWrite}, {"out", u.Output}, {"reasoning", u.Reasoning},
		{"processed in", u.SeenInput}, {"processed out", u.SeenOutput}} {
		if f.count.Told && (f.count.N > 0 || f.word == "in" || f.word == "out") {
			parts = append(parts, f.word+" "+screen.Count(int(f.count.N)).String())
		}
	}
	if u.Tier != "" {
		parts = append(parts, "tier "+u.Tier)
	}
	return strings.Join(parts, sign.Between(" ", " ").String())
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
func (w *Wire) Find(v *providers.View, query string) (rows []int) {
	w.Hits = map[int]bool{}
	for row, n := range w.Events {
		e := v.Event(int(n))
		text := e.Kind.String() + " " + e.Text + " " + payloadText(e)
		if len(FindAll([]byte(text), query)) > 0 {
			rows = append(rows, row)
			w.Hits[row] = true
		}
	}
	return rows
}
