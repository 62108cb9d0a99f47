package screen

import (
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"toolscope/themes"
	"toolscope/ui/display"
)

// Pen writes one frame, field by field. A field never gets wider than it was begun with: what does
// not fit is cut off, what is missing is filled.
type Pen struct {
	display.Drawer
	b     []byte
	Left  int // cells still free in the field
	Ink   *Paints
	Glyph *Glyphs
}

// NewPen makes a pen that writes in the colours of a theme, as many as there are, on the background of
// the terminal or, painted, of the theme.
func NewPen(t themes.Theme, depth termenv.Profile, draw display.Drawer, painted bool) Pen {
	p := Pen{Drawer: draw, Ink: NewPaints(t, depth, painted), Glyph: UnicodeGlyphs}
	if draw.ASCII {
		p.Glyph = ASCIIGlyphs
	}
	return p
}

// Field begins a field of so many cells.
func (p *Pen) Field(cells int) { p.Left = max(cells, 0) }

// TextOn writes text that is safe to draw.
func (p *Pen) TextOn(r Role, g Surface, t display.Text) {
	p.Paint(Paint{p.Ink.on[r][g]}, t)
}

// Paint writes text in a paint.
func (p *Pen) Paint(as Paint, t display.Text) {
	t = p.Truncate(t, p.Left)
	if t.Empty() {
		return
	}
	p.b = append(p.b, as.on...)
	p.b = append(p.b, t.String()...)
	p.endPaint(as.on)
	p.Left -= t.Width()
}

// Text writes text on no ground.
func (p *Pen) Text(r Role, t display.Text) { p.TextOn(r, Bare, t) }

func (p *Pen) endPaint(on string) {
	if on != "" {
		p.b = append(p.b, paintOff...)
	}
}

// MaxNameBytes is how many bytes of a name are looked at when a row shows its start: no window is as
// wide, and a name may be as long as a response.
const MaxNameBytes = 1 << 10

// ShortName is as much of a name as a row may show.
func ShortName(name string) string { return name[:min(len(name), MaxNameBytes)] }

// Name is as much of a name as a row may show, cleaned.
func (p *Pen) Name(name string) display.Text { return p.Clean(ShortName(name)) }

// Untrusted writes text that came from outside, cleaned.
func (p *Pen) Untrusted(r Role, g Surface, s string) {
	if s != "" {
		p.TextOn(r, g, p.Name(s))
	}
}

// Bytes writes bytes from outside, cleaned as they are written, and cuts them where the field ends.
func (p *Pen) Bytes(r Role, g Surface, b []byte) {
	on := p.Ink.on[r][g]
	p.b = append(p.b, on...)
	for len(b) > 0 && p.Left > 0 {
		if n := min(display.PlainLen(b), p.Left); n > 0 {
			p.b = append(p.b, b[:n]...)
			p.Left -= n
			b = b[n:]
			continue
		}
		n, cells := p.Measure(b)
		if cells > p.Left {
			break
		}
		p.b = p.AppendClean(p.b, b[:n])
		p.Left -= cells
		b = b[n:]
	}
	p.endPaint(on)
}

// Spaces writes up to n blank cells.
func (p *Pen) Spaces(g Surface, n int) {
	n = min(n, p.Left)
	if n <= 0 {
		return
	}
	if g == Growing {
		g = Bare
	}
	on := p.Ink.on[Plain][g]
	p.Left -= n
	p.b = append(p.b, on...)
	for ; n > len(blanks); n -= len(blanks) {
		p.b = append(p.b, blanks...)
	}
	p.b = append(p.b, blanks[:n]...)
	p.endPaint(on)
}

const blanks = "                                                                "

// Overlay writes the rest of the field as under has it, and over its first cells what over writes.
func (p *Pen) Overlay(cells int, over, under func()) {
	width, from := p.Left, len(p.b)
	rest := ""
	if cells < width {
		under()
		p.Fill(Bare)
		row := string(p.b[from:])
		for cut := cells; cut == cells || ansi.StringWidth(rest) > width-cells; cut++ {
			rest = ansi.TruncateLeft(row, cut, "")
		}
		p.b = p.b[:from]
	}
	p.Field(min(cells, width))
	over()
	p.Field(p.Left + max(0, width-cells-ansi.StringWidth(rest))) // half of a wide character is none
	p.Fill(Bare)
	p.b = append(p.b, rest...)
	p.Field(0)
}

// Fill ends the field.
func (p *Pen) Fill(g Surface) { p.Spaces(g, p.Left) }

// Right writes t flush right, and in front of it spaces; it leaves out what does not fit.
func (p *Pen) Right(r Role, g Surface, t display.Text) {
	if w := t.Width(); w <= p.Left {
		p.Spaces(g, p.Left-w)
		p.TextOn(r, g, t)
	}
}

// Newline begins the next row of the frame.
func (p *Pen) Newline() { p.b = append(p.b, '\n') }

// Reset begins a new frame.
func (p *Pen) Reset() { p.b = p.b[:0] }

// Frame is what was written since.
func (p *Pen) Frame() string { return string(p.b) }

// Caption writes a line with a title on it, and the first of some notes that there is room for.
func (p *Pen) Caption(r Role, title display.Text, notes ...display.Text) {
	p.Text(Muted, display.Join(p.Glyph.Line, p.Glyph.Line, display.Lit(" ")))
	p.TextOn(r, Bare, p.Truncate(title, p.Left-1))
	for _, note := range notes {
		if note.Width()+3 <= p.Left {
			p.TextOn(Muted, Bare, note.Between("  ", ""))
			break
		}
	}
	p.Spaces(Bare, 1)
	p.Text(Muted, display.Repeat(p.Glyph.Line, max(p.Left, 0)))
}

// Title writes the first row of a pane.
func (p *Pen) Title(title, note display.Text, focused bool) {
	r := Muted
	if focused {
		r = Accent
	}
	p.Text(r, title.Between(" ", ""))
	if !note.Empty() {
		p.Text(Muted, note.Between("  ", ""))
	}
	p.Fill(Bare)
}

// ElideMiddle is a long text without its middle.
func ElideMiddle(s string) string {
	if len(s) <= MaxNameBytes {
		return s
	}
	return s[:MaxNameBytes/2] + s[len(s)-MaxNameBytes/2:]
}

// ShortID is an id that fits into so many cells: its ends matter most.
func ShortID(id display.Text, cells int) display.Text {
	s, w := id.String(), id.Width()
	switch {
	case cells < 8 || w == 0:
		return display.Text{}
	case w <= cells:
		return id
	case w != len(s): // not plain ASCII: cut at the end
		return display.Drawer{}.Truncate(id, cells)
	}
	return display.Clean(s[:cells-6] + ".." + s[w-4:])
}

// Hints writes as many hints of bindings as fit: the keys, then what they do.
func (p *Pen) Hints(of []Binding) {
	cells := p.Left
	for at, b := range fittingHints(of, cells) {
		keys, does := b.splitHint()
		p.Spaces(Bare, at-(cells-p.Left))
		p.Text(Accent, keys)
		p.Text(Muted, does)
	}
}

// TrimEnd drops the line end, which the row shows by ending.
func TrimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1]
	}
	return line
}
