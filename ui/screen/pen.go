package screen

import (
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"toolscope/themes"
	"toolscope/ui/display"
)

// Pen writes one frame, field by field. A field has a fixed width: text that does not fit is cut off, and
// Fill writes the free cells.
type Pen struct {
	display.Drawer
	b     []byte
	Left  int // cells still free in the field
	Ink   *Paints
	Glyph *Glyphs
}

// NewPen returns a pen with the colours of a theme at a colour depth, on the background of the terminal
// or, if painted, of the theme.
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

// Text writes text without a background.
func (p *Pen) Text(r Role, t display.Text) { p.TextOn(r, Bare, t) }

func (p *Pen) endPaint(on string) {
	if on != "" {
		p.b = append(p.b, paintOff...)
	}
}

// MaxNameBytes is the maximum number of bytes of a name that a row reads. A name may be as long as a response,
// but no window is that wide.
const MaxNameBytes = 1 << 10

// ShortName cuts a name to the length that a row may show.
func ShortName(name string) string { return name[:min(len(name), MaxNameBytes)] }

// Name cuts and cleans a name for a row.
func (p *Pen) Name(name string) display.Text { return p.Clean(ShortName(name)) }

// Untrusted cleans and writes text from outside.
func (p *Pen) Untrusted(r Role, g Surface, s string) {
	if s != "" {
		p.TextOn(r, g, p.Name(s))
	}
}

// Bytes cleans and writes bytes from outside, and cuts them at the end of the field.
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

// Overlay draws a field in two layers: over draws its first cells, and under the other cells.
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
	p.Field(p.Left + max(0, width-cells-ansi.StringWidth(rest))) // half of a wide character is dropped
	p.Fill(Bare)
	p.b = append(p.b, rest...)
	p.Field(0)
}

// Fill ends the field.
func (p *Pen) Fill(g Surface) { p.Spaces(g, p.Left) }

// Right writes t at the right end of the field, after spaces. It writes nothing if t does not fit.
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

// Frame returns the frame written since Reset.
func (p *Pen) Frame() string { return string(p.b) }

// Caption draws a horizontal line with a title, and with the first note that fits.
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

// Title draws the first row of a pane.
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

// ElideMiddle removes the middle of a text that is longer than MaxNameBytes.
func ElideMiddle(s string) string {
	if len(s) <= MaxNameBytes {
		return s
	}
	return s[:MaxNameBytes/2] + s[len(s)-MaxNameBytes/2:]
}

// ShortID shortens an id to so many cells. It keeps both ends, which matter most.
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

// Hints writes the hints that fit into the field: first the keys, then the word.
func (p *Pen) Hints(of []Binding) {
	cells := p.Left
	for at, b := range fittingHints(of, cells) {
		keys, does := b.splitHint()
		p.Spaces(Bare, at-(cells-p.Left))
		p.Text(Accent, keys)
		p.Text(Muted, does)
	}
}

// TrimEnd removes the line end, because the end of the row shows it.
func TrimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1]
	}
	return line
}
