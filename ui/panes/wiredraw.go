package panes

import (
	"fmt"
	"slices"
	"strings"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Draw draws row y of the pane into the field.
func (w *Wire) Draw(p *screen.Pen, y int, focused bool) {
	if y == 0 {
		return
	}
	defer p.Fill(screen.Bare)
	v, n := w.scene.View, y-titleRow
	if n >= w.Height {
		w.drawFrame(p, v, n-w.Height)
		return
	}
	row, c := w.Top+n, w.currentSelection()
	if row >= len(w.Events) || c.Turn == nil {
		return
	}
	e := v.EventPrefix(int(w.Events[row]), maxTextBytes(p))
	if e.Text == "" && c.Turn.Retention != stream.InMemory {
		e.Text = "(not kept)"
	}
	g := screen.Bare
	switch {
	case row == w.At && focused:
		g = screen.Selected
	case w.IsLit(row), row == w.At && w.Open:
		g = screen.Linked
	}
	mark := display.Lit(" ")
	if g != screen.Bare || w.hits[row] || row == w.At {
		mark = p.Glyph.Mark
	}
	p.TextOn(screen.Accent, g, mark)
	number := "#" + fmt.Sprint(e.Frame+1)
	if e.Kind.IsAfterTurn() {
		number = "" // not a frame of this response
	}
	wide := p.Left >= wireWide
	p.TextOn(screen.Muted, g, p.Format("%*s  ", w.numbers, number))
	if at := screen.Time(screen.Elapsed(c.Turn.OpenedAt, e.At)); !at.Empty() && wide {
		p.TextOn(screen.Muted, g, p.Format("%8s  ", "+"+at.String()))
	}
	switch delta := w.deltas[row]; {
	case e.Kind == stream.SentBack:
		drawSentBack(p, v, e, int(w.Events[row]), g, c.Call == nil)
	case delta >= 0:
		if wide {
			p.TextOn(screen.Muted, g, p.Format("%-4s  ", e.Kind))
		}
		p.TextOn(screen.Muted, g, p.Pad(deltaName(p.Drawer, int(delta)), len(fmt.Sprint(c.Call.Deltas()))+1).Between("", "  "))
		drawArgs(p, e, g)
	default:
		drawEvent(p, e, g)
	}
	p.Fill(g)
}

// wireWide is the minimum width of a row with times and kinds.
const wireWide = 50

// drawEvent draws the kind and content of an event.
func drawEvent(p *screen.Pen, e stream.Event, g screen.Surface) {
	r, text, kind := screen.Plain, e.Text, e.Kind.String()
	switch e.Kind {
	case stream.Args, stream.Rewrite:
		p.TextOn(screen.Muted, g, p.Format("%-4s  ", e.Kind))
		drawArgs(p, e, g)
		return
	case stream.TurnOpen, stream.TurnMeta:
		turn := stream.PayloadOf[stream.Opening](e)
		text = strings.TrimSpace(screen.ShortName(turn.Model) + " " + screen.ShortName(turn.ID))
	case stream.CallOpen, stream.CallMeta:
		call := stream.PayloadOf[stream.CallInfo](e)
		r, text = screen.Accent, strings.TrimSpace(screen.ShortName(call.Name)+" "+screen.ShortName(call.ID))
		if call.Copies > 0 {
			text = fmt.Sprintf("%d identical copies", call.Copies)
		}
	case stream.CallResult:
		of := stream.PayloadOf[stream.ResultFor](e)
		text = "for " + screen.ShortName(of.ID+of.Name)
	case stream.UsageEvent:
		text = usageText(stream.PayloadOf[stream.Usage](e), p.Glyph.Dot)
	case stream.Ran:
		if stream.PayloadOf[stream.ToolExecution](e).Finding.Diagnosis != nil {
			kind = "found"
		}
	case stream.Failure, stream.Fault:
		r = screen.Bad
	case stream.Gap:
		r = screen.Caution
	case stream.Heartbeat:
		r = screen.Muted
	}
	p.TextOn(screen.Muted, g, p.Format("%-4s  ", kind))
	p.Bytes(r, g, []byte(text))
}

// drawArgs draws the argument bytes that an event brought, after the wire bytes if these differ.
func drawArgs(p *screen.Pen, e stream.Event, g screen.Surface) {
	if origin := stream.PayloadOf[stream.WireForm](e); origin.Wire != "" {
		p.Untrusted(screen.Plain, g, origin.Wire)
		p.TextOn(screen.Muted, g, p.Glyph.Sep.Between(" ", " "))
	} else if e.Text == "" {
		p.TextOn(screen.Muted, g, display.Lit("(empty)"))
	}
	p.Bytes(screen.StringToken, g, []byte(e.Text))
}

// maxTextBytes returns the number of bytes of a text to read for the remaining cells of a row. The text
// may be as long as all arguments.
func maxTextBytes(p *screen.Pen) int { return max(screen.MaxNameBytes, 64*p.Left) }

// usageText formats token counts, with a sign between them. Counts included in others are in parentheses.
func usageText(u stream.Usage, sign display.Text) string {
	var parts []string
	add := func(word string, n stream.Count, always bool, of ...string) {
		if n.Reported && (n.N > 0 || always) {
			text := word + " " + screen.Count(int(n.N)).String()
			if len(of) > 0 {
				text += " (" + strings.Join(of, " and ") + ")"
			}
			parts = append(parts, text)
		}
	}
	part := func(n stream.Count, word string) []string {
		if !n.Reported || n.N <= 0 {
			return nil
		}
		return []string{screen.Count(int(n.N)).String() + " " + word}
	}
	cache := slices.Concat(part(u.CacheRead, "cached"), part(u.CacheWrite, "written to the cache"))
	if u.SeenInput.Reported { // the cache counts are then part of the input count
		add("in", u.Input, true)
		add("out", u.Output, true, part(u.Reasoning, "reasoning")...)
		add("processed in", u.SeenInput, false, cache...)
	} else {
		add("in", u.Input, true, cache...)
		add("out", u.Output, true, part(u.Reasoning, "reasoning")...)
	}
	add("processed out", u.SeenOutput, false)
	if u.Tier != "" {
		parts = append(parts, "tier "+u.Tier)
	}
	return strings.Join(parts, sign.Between(" ", " ").String())
}
