package ui

import (
	"bytes"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// wirePage is the demo's page with the same call in six protocols. It shows the frame with which each
// protocol makes the arguments final.
type wirePage struct {
	screen.Window
	m    *Model
	rows []wireRow

	frames []wireLine // the rows below the list
}

// wireLine is a row of a frame's bytes, or its title.
type wireLine struct {
	text    display.Text
	isTitle bool
}

// wireRow is the call in one protocol.
type wireRow struct {
	turn  *stream.Turn
	call  *stream.Call
	frame []byte // the frame that makes the arguments final; nil if it has not arrived
	event stream.Event
}

// finalMarks are the bytes with which each protocol makes arguments final, and what these bytes mean.
var finalMarks = map[string]struct{ bytes, says string }{
	"anthropic":        {"content_block_stop", "the block stops"},
	"openai-responses": {"response.output_item.done", "the item, whole"},
	"bedrock":          {"contentBlockStop", "in binary"},
	"gemini":           {`"functionCall":{}`, "an empty part"},
	"cohere":           {"tool-call-end", "the call ends"},
	"ollama":           {`"tool_calls"`, "the whole call"},
}

// Extend finds the call in each protocol, and the frame that makes its arguments final.
func (w *wirePage) Extend(v *providers.View, width, h int) {
	w.rows = w.rows[:0]
	for n := 1; n <= sameWires; n++ {
		a, ok := tourCall{"protocols", n, 1}.subjectIn(v)
		if !ok {
			continue
		}
		row := wireRow{turn: a.turn, call: a.call}
		for event := range v.EventsOf(a.turn, 0) {
			if kind, of := v.Subject(event); kind == stream.Seal && of == a.call.Ref() {
				row.event = v.EventPrefix(event, 0)
				if x := v.Exchange(a.turn.Exchange); x != nil && int(row.event.Frame) < x.Response.Frames() {
					row.frame = x.Response.Bytes(x.Response.FrameSpan(row.event.Frame))
				}
			}
		}
		w.rows = append(w.rows, row)
	}
	w.Resize(len(w.rows), max(1, min(len(w.rows), h-wireHead)))
	w.layOutFrames(width, h-wireHead-w.Height-1)
	// Below, as many frames of whole responses as fit. The last row says how many more there are.
	rows := h - wireHead - w.Height - 1
	for i := range w.rows {
		r := w.rows[(w.At+i)%len(w.rows)]
		x := v.Exchange(r.turn.Exchange)
		if x == nil || rows-len(w.frames) < minAllFrames {
			return
		}
		n := x.Response.Frames()
		w.frames = append(w.frames, wireLine{}, wireLine{w.m.draw.Format("all frames of %s: %d", r.turn.Protocol, n), true})
		for at := range n {
			lines := display.Wrap(w.m.draw.CleanBytes(x.Response.Bytes(x.Response.FrameSpan(int32(at)))), max(1, width-2))
			if more := n - at; more > 1 && len(w.frames)+len(lines) >= rows || len(w.frames)+len(lines) > rows {
				if at == 0 {
					w.frames = w.frames[:len(w.frames)-2]
					return
				}
				w.frames = append(w.frames, wireLine{text: w.m.draw.Format("%d more", more)})
				return
			}
			for _, line := range lines {
				w.frames = append(w.frames, wireLine{text: line})
			}
		}
	}
}

// sameWires is the number of protocols in the scenario. wireHead is the number of rows above the list.
const (
	sameWires = 6
	wireHead  = 2
)

// Keys returns the keys of the page.
func (w *wirePage) Keys() []screen.Binding {
	return append([]screen.Binding{
		screen.Key("enter", "its call", "show the call", w.openSelected),
		screen.Key("esc q", "close", "close", w.m.modeStack.closeTop),
	}, w.CursorKeys("protocol", w.MoveTo)...)
}

func (w *wirePage) openSelected() {
	if w.At < len(w.rows) {
		w.m.modeStack.closeTop()
		modeHost{w.m}.Choose(w.rows[w.At].call.Ref())
	}
}

// Draw draws row y: the head, a protocol, or the bytes of the selected frame.
func (w *wirePage) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if len(w.rows) == 0 {
		return
	}
	switch under := y - wireHead - w.Height; {
	case y == 0:
		c := w.rows[w.At].call
		p.HeavyTitle(display.Lit("One call, six protocols"), p.Format("%s %s %s", p.Name(c.Name), p.Glyph.Dot, screen.Bytes(c.ArgsLen())), display.Text{})
	case y == 1:
		wide := p.Left >= wireFull
		if p.Text(screen.Muted, p.Pad(display.Lit(" PROTOCOL"), 1+wireProtocol)); wide {
			p.Text(screen.Muted, p.Pad(display.Lit("DELTAS    FINAL"), wireNumbers))
		}
		p.Text(screen.Muted, display.Lit("MADE FINAL BY"))
	case under < 0:
		if row := w.Top + y - wireHead; row < len(w.rows) {
			w.drawRow(p, w.rows[row], row == w.At)
		}
	case under > 0 && under <= len(w.frames):
		if line := w.frames[under-1]; line.isTitle {
			p.Caption(screen.Plain, line.text)
		} else {
			p.Text(screen.Plain, line.text.Between(" ", ""))
		}
	}
}

// layOutFrames makes the rows below the list: the bytes of the selected frame, then the bytes of as many
// other frames as fit.
func (w *wirePage) layOutFrames(width, rows int) {
	w.frames = w.frames[:0]
	for i := range w.rows {
		r := w.rows[(w.At+i)%len(w.rows)]
		if r.frame == nil {
			continue
		}
		lines := []wireLine{{w.m.draw.Format("frame %d of %s: %s", r.event.Frame+1, r.turn.Protocol, screen.Bytes(len(r.frame))), true}}
		for _, line := range display.Wrap(w.m.draw.CleanBytes(r.frame), max(1, width-2)) {
			lines = append(lines, wireLine{text: line})
		}
		if i > 0 && len(w.frames)+len(lines) > rows {
			return
		}
		w.frames = append(w.frames, lines...)
	}
}

// minAllFrames is the number of blank rows from which all frames of the selected protocol are shown, then those of the
// other protocols.
const minAllFrames = 6

// drawRow draws the call in one protocol.
func (w *wirePage) drawRow(p *screen.Pen, r wireRow, chosen bool) {
	g, mark := screen.Bare, display.Lit(" ")
	if chosen {
		g, mark = screen.Selected, p.Glyph.Mark
	}
	wide := p.Left >= wireFull
	p.TextOn(screen.Accent, g, mark)
	p.TextOn(screen.Plain, g, p.Pad(p.Clean(r.turn.Protocol), wireProtocol))
	if wide {
		at := display.Lit("-")
		if r.frame != nil {
			at = screen.Time(screen.Elapsed(r.turn.OpenedAt, r.event.At)).Between("+", "")
		}
		p.TextOn(screen.Muted, g, p.Pad(p.Format("%6d %8s", r.call.Deltas(), at), wireNumbers))
	}
	if mark, ok := finalMarks[r.turn.Protocol]; ok && bytes.Contains(r.frame, []byte(mark.bytes)) {
		if p.TextOn(screen.Good, g, p.Clean(mark.bytes)); wide {
			p.Spaces(g, max(1, wireMark-len(mark.bytes)))
			p.TextOn(screen.Muted, g, p.Clean(mark.says))
		}
	} else if r.frame != nil {
		p.TextOn(screen.Muted, g, p.Format("frame %d", r.event.Frame+1))
	}
	p.Fill(g)
}

// Widths of the page's columns, and the minimum width for all of them.
const (
	wireProtocol = 17
	wireNumbers  = 17
	wireMark     = 27
	wireFull     = 76
)
