package panes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Draw draws row y of the pane.
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
	// The text may be as long as all arguments together, so only a part is read.
	e := v.EventPrefix(int(w.Events[row]), max(screen.MaxNameBytes, 64*p.Left))
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
		number = "" // not a frame in this response
	}
	wide := p.Left >= wireWide
	p.TextOn(screen.Muted, g, p.Format("%*s  ", w.numbers, number))
	if at := screen.Time(screen.Elapsed(c.Turn.OpenedAt, e.At)); !at.Empty() && wide {
		since := p.Format("%8s  ", "+"+at.String())
		if clock, ok := v.WallClock(c.Turn.Exchange, e.At); w.scene.Clock && ok {
			since = p.Clean(clock.Format(clockForm)).Between("", "  ")
		}
		p.TextOn(screen.Muted, g, since)
	}
	switch delta := w.deltas[row]; {
	case e.Kind == stream.SentBack:
		drawSentBack(p, v, e, int(w.Events[row]), g, c.Call == nil)
	case delta >= 0:
		cells := len(fmt.Sprint(c.Call.Deltas())) + 1
		if wide {
			p.TextOn(screen.Muted, g, p.Format("%-4s  ", e.Kind))
			cells = max(cells, kindCells-len("args  "))
		}
		p.TextOn(screen.Muted, g, p.Pad(deltaName(p.Drawer, int(delta)), cells).Between("", "  "))
		start, _ := c.Call.DeltaSpan(int(delta))
		drawArgs(p, e, g, wrongFrom(c.Call)-start)
	case e.Kind == stream.Heartbeat:
		w.drawPings(p, v, row, g)
	default:
		drawEvent(p, e, g, wide)
	}
	p.Fill(g)
}

// wrongFrom returns the offset of the first argument byte that is not JSON, or the length of the arguments.
func wrongFrom(c *stream.Call) int {
	if err := c.Lexer().Err(); err != nil {
		return err.Offset
	}
	return len(c.Args())
}

// drawPings draws a row of heartbeats: their number and their frequency.
func (w *Wire) drawPings(p *screen.Pen, v *providers.View, row int, g screen.Surface) {
	p.TextOn(screen.Muted, g, display.Lit("ping"))
	at, ok := slices.BinarySearchFunc(w.pings, row, func(r pingRun, row int) int { return r.row - row })
	if !ok || w.pings[at].count == 1 {
		return
	}
	run := w.pings[at]
	p.TextOn(screen.Muted, g, display.Join(display.Lit(" "), p.Glyph.Times, screen.Count(run.count)))
	took := screen.Elapsed(v.EventPrefix(int(w.Events[row]), 0).At, v.EventPrefix(int(run.last), 0).At)
	if every := screen.Time(took / time.Duration(run.count-1)); took > 0 {
		p.TextOn(screen.Muted, g, every.Between("  every ", ""))
	}
}

// wireWide is the minimum width of a row that shows times and kinds.
const wireWide = 50

// kindCells is the width of the kinds of events in wide rows. It is the same in all rows, so that their
// contents begin in one column.
const kindCells = len("turn close")

// drawEvent draws the kind and content of an event.
func drawEvent(p *screen.Pen, e stream.Event, g screen.Surface, wide bool) {
	r, text, kind, cells := screen.Plain, e.Text, e.Kind.String(), len("args")
	if wide {
		cells = kindCells
	}
	switch e.Kind {
	case stream.Args, stream.Rewrite:
		p.TextOn(screen.Muted, g, p.Format("%-*s  ", cells, e.Kind))
		drawArgs(p, e, g, len(e.Text))
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
	}
	p.TextOn(screen.Muted, g, p.Format("%-*s  ", cells, kind))
	p.CutBytes(r, g, []byte(text), len(text))
}

// drawArgs draws the argument bytes in an event. If they differ from the wire bytes, it draws the wire bytes
// first. The bytes from offset wrong on are not JSON.
func drawArgs(p *screen.Pen, e stream.Event, g screen.Surface, wrong int) {
	if origin := stream.PayloadOf[stream.WireForm](e); origin.Wire != "" {
		p.Untrusted(screen.Plain, g, origin.Wire)
		p.TextOn(screen.Muted, g, p.Glyph.Sep.Between(" ", " "))
	} else if e.Text == "" {
		p.TextOn(screen.Muted, g, display.Lit("(empty)"))
	}
	p.CutBytes(screen.StringToken, g, []byte(e.Text), wrong)
}

// usageText formats token counts with a sign between them. Counts that are included in other counts are in
// parentheses.
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
	cache := slices.Concat(part(u.CacheRead, "cached"), part(u.CacheWrite, "written to the cache"), part(u.InputAudio, "audio"))
	made := slices.Concat(part(u.Reasoning, "reasoning"), part(u.OutputAudio, "audio"))
	if u.SeenInput.Reported { // in this case, the count of processed input includes the cache counts
		add("in", u.Input, true)
		add("out", u.Output, true, made...)
		add("total in", u.SeenInput, false, cache...)
	} else {
		add("in", u.Input, true, cache...)
		add("out", u.Output, true, made...)
	}
	add("total out", u.SeenOutput, false)
	add("web searches", u.WebSearches, false)
	if u.Tier != "" {
		parts = append(parts, "tier "+u.Tier)
	}
	return strings.Join(parts, sign.Between(" ", " ").String())
}

// drawFrame draws row n of the open frame: the bytes of the selected event's frame.
func (w *Wire) drawFrame(p *screen.Pen, v *providers.View, n int) {
	t := w.currentSelection().Turn
	if w.At >= len(w.Events) || t == nil {
		return
	}
	x := v.Exchange(t.Exchange)
	e := v.EventPrefix(int(w.Events[w.At]), 0)
	if e.Kind == stream.SentBack {
		if n == 0 {
			p.Text(screen.Muted, p.Format("%s no frame here: see %s", display.Repeat(p.Glyph.Line, 2), RequestName(v, stream.PayloadOf[stream.SentBackReport](e).Exchange)))
		}
		return
	}
	if e.Kind == stream.Ran {
		if n == 0 {
			p.Text(screen.Muted, p.Format("%s no frame here: seen at the tool's server", display.Repeat(p.Glyph.Line, 2)))
		}
		return
	}
	if x == nil || int(e.Frame) >= x.Response.Frames() {
		if n == 0 {
			p.Text(screen.Muted, p.Format("%s the bytes are not kept", display.Repeat(p.Glyph.Line, 2)))
		}
		return
	}
	start, end := x.Response.FrameSpan(e.Frame)
	if n == 0 {
		record, _ := x.Response.RecordAt(start)
		dot, line := p.Glyph.Dot.Between(" ", " "), display.Repeat(p.Glyph.Line, 2)
		p.Text(screen.Muted, p.Format("%s frame %d%srecord %d%sbytes %s to %s", line, e.Frame+1, dot, record+1, dot,
			screen.Count(int(start)), screen.Count(int(end))))
		return
	}
	rows := w.frameParts(&x.Response, start, min(end, start+maxFrameShown))
	rows.markPayload(payloadAt(rows.text, v.EventPrefix(int(w.Events[w.At]), maxFrameShown)))
	width := max(p.Left-1, 1)
	for i := 1; i < n && rows.remainingLen() > 0; i++ {
		rows.skipBytes(lineLen(p.Drawer, rows.text, width))
	}
	p.Spaces(screen.Bare, 1)
	rows.draw(p, lineLen(p.Drawer, rows.text, width))
}

// frameParts returns the bytes of a frame, and the text around them in the log line that contains the frame.
func (w *Wire) frameParts(of *stream.Wire, start, end int64) (rows wireText) {
	for at := start; at < end; {
		n, _ := of.RecordAt(at)
		next := end
		if from := of.RecordStart(n + 1); from > at && from < end {
			next = from
		}
		data := of.Bytes(at, next)
		before, after := of.Surround(n)
		if len(before)+len(after) == 0 {
			rows.add(screen.Bare, screen.Plain, data)
		} else if data = bytes.Trim(data, "\r\n"); len(data) > 0 {
			rows.add(screen.Bare, screen.Muted, before)
			rows.add(screen.Linked, screen.Plain, data)
			rows.add(screen.Bare, screen.Muted, append(bytes.TrimRight(after, "\r\n"), '\n'))
		}
		at = next
	}
	if len(rows.parts) > 0 && rows.parts[0].ground == screen.Bare { // if the previous frame ended with CR, its LF is the first byte of this frame
		for rows.remainingLen() > 0 && (rows.text[0] == '\r' || rows.text[0] == '\n') {
			rows.skipBytes(1)
		}
	}
	return rows
}

// payloadAt returns the position and size of an event's payload in a frame, as JSON text. The size is 0 if
// the frame doesn't contain that text literally, or if the text is too short.
func payloadAt(frame []byte, e stream.Event) (at, size int) {
	text := e.Text
	if origin := stream.PayloadOf[stream.WireForm](e); origin.Wire != "" {
		text = origin.Wire
	}
	if text == "" {
		return 0, 0
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return 0, 0
	}
	plain := quoted // without Go's HTML escapes
	for _, c := range [][2]string{{`\u003c`, "<"}, {`\u003e`, ">"}, {`\u0026`, "&"}} {
		plain = bytes.ReplaceAll(plain, []byte(c[0]), []byte(c[1]))
	}
	for _, form := range [][]byte{quoted, plain, []byte(text)} {
		if at = bytes.LastIndex(frame, form); at >= 0 && len(form) >= minPayload {
			return at, len(form)
		}
	}
	return 0, 0
}

// minPayload is the minimum size of a payload to search for. A shorter payload could match anywhere.
const minPayload = 3

// frameLines returns the number of rows for the open frame, including its title. The parameter most is the maximum.
// The result is 0 if no event is selected.
func (w *Wire) frameLines(v *providers.View, draw display.Drawer, width, most int) (n int) {
	t := w.currentSelection().Turn
	if t == nil || w.At >= len(w.Events) {
		return 0
	}
	x, e := v.Exchange(t.Exchange), v.EventPrefix(int(w.Events[w.At]), 0)
	n = 1
	if x == nil || e.Kind.IsAfterTurn() || int(e.Frame) >= x.Response.Frames() {
		return n
	}
	start, end := x.Response.FrameSpan(e.Frame)
	for rows := w.frameParts(&x.Response, start, min(end, start+maxFrameShown)); rows.remainingLen() > 0 && n < most; n++ {
		rows.skipBytes(lineLen(draw, rows.text, max(width-1, 1)))
	}
	return n
}

// wireText is text with parts that have their own styles.
type wireText struct {
	text  []byte
	parts []framePart
}

type framePart struct {
	ground screen.Surface
	role   screen.Role
	size   int
}

func (f *wireText) remainingLen() int { return len(f.text) }

func (f *wireText) add(g screen.Surface, r screen.Role, text []byte) {
	f.text = append(f.text, text...)
	f.parts = append(f.parts, framePart{g, r, len(text)})
}

// markPayload marks a payload, unless a part of the text is already marked.
func (f *wireText) markPayload(at, size int) {
	if size == 0 || slices.ContainsFunc(f.parts, func(p framePart) bool { return p.ground != screen.Bare }) {
		return
	}
	f.parts = []framePart{{screen.Bare, screen.Plain, at}, {screen.Linked, screen.Plain, size}, {screen.Bare, screen.Plain, len(f.text) - at - size}}
}

// skipBytes skips bytes without drawing them.
func (f *wireText) skipBytes(n int) {
	f.text = f.text[n:]
	for n > 0 && len(f.parts) > 0 {
		k := min(n, f.parts[0].size)
		f.parts[0].size -= k
		if n -= k; f.parts[0].size == 0 {
			f.parts = f.parts[1:]
		}
	}
}

// draw draws n bytes of the text, without the line break.
func (f *wireText) draw(p *screen.Pen, n int) {
	line := screen.TrimEnd(f.text[:n])
	for _, part := range f.parts {
		k := min(part.size, len(line))
		p.Bytes(part.role, part.ground, line[:k])
		line = line[k:]
	}
}

// maxFrameShown is the maximum number of bytes of a frame that are read for its rows.
const maxFrameShown = 16 << 10

// lineLen returns how many bytes of text make one row: up to a line break, or as many as fit.
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
