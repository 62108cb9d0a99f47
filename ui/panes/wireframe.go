package panes

import (
	"bytes"
	"encoding/json"
	"slices"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// drawFrame draws row n of the selected frame's own bytes.
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
			p.Text(screen.Muted, p.Format("%s its bytes are not kept", display.Repeat(p.Glyph.Line, 2)))
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

// frameParts returns a frame's own bytes, and the text around them in the log line that holds them.
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
	if len(rows.parts) > 0 && rows.parts[0].ground == screen.Bare { // a frame that ended with a CR left its LF to this one
		for rows.remainingLen() > 0 && (rows.text[0] == '\r' || rows.text[0] == '\n') {
			rows.skipBytes(1)
		}
	}
	return rows
}

// payloadAt returns the place of an event's payload in a frame, as JSON; a size of 0 if the frame doesn't
// contain it literally.
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
	for _, form := range [][]byte{quoted, unescapeHTML(quoted), []byte(text)} {
		if at = bytes.LastIndex(frame, form); at >= 0 && len(form) >= minPayload {
			return at, len(form)
		}
	}
	return 0, 0
}

// minPayload is the minimum size of a payload to search for: shorter ones match anywhere.
const minPayload = 3

// frameLines returns how many rows the open frame takes, up to most.
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

// unescapeHTML undoes Go's HTML escapes in JSON text.
func unescapeHTML(text []byte) []byte {
	for _, c := range [][2]string{{`\u003c`, "<"}, {`\u003e`, ">"}, {`\u0026`, "&"}} {
		text = bytes.ReplaceAll(text, []byte(c[0]), []byte(c[1]))
	}
	return text
}

// wireText is a text in parts with their own styles.
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

// markPayload marks a payload, unless something else is marked there.
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

// draw draws n bytes of the text without the line end.
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

// lineLen returns how many bytes of text make one row: up to a line end, or as much as fits.
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
