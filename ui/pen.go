package ui

import "toolscope/ui/display"

// pen writes one frame, field by field. A field never gets wider than it was
// begun with: what does not fit is cut off, what is missing is filled.
type pen struct {
	b     []byte
	left  int // cells still free in the field
	ink   *paints
	draw  display.Drawer
	glyph *glyphs
}

// field begins a field of so many cells.
func (p *pen) field(cells int) { p.left = max(cells, 0) }

// put writes text that is safe to draw.
func (p *pen) put(r role, g ground, t display.Text) {
	p.paint(paint{p.ink.on[r][g]}, t)
}

// paint writes text in a paint.
func (p *pen) paint(as paint, t display.Text) {
	t = p.draw.Truncate(t, p.left)
	if t.Empty() {
		return
	}
	p.b = append(p.b, as.on...)
	p.b = append(p.b, t.String()...)
	p.off(as.on)
	p.left -= t.Width()
}

// say writes text on no ground.
func (p *pen) say(r role, t display.Text) { p.put(r, bare, t) }

func (p *pen) off(on string) {
	if on != "" {
		p.b = append(p.b, paintOff...)
	}
}

// mostName is how many bytes of a name are looked at when a row shows its
// start: no window is as wide, and a name may be as long as a response.
const mostName = 1 << 10

// short is as much of a name as a row may show.
func short(name string) string { return name[:min(len(name), mostName)] }

func (p *pen) clean(name string) display.Text { return p.draw.Clean(short(name)) }

// outside writes text that came from outside, cleaned.
func (p *pen) outside(r role, g ground, s string) {
	if s != "" {
		p.put(r, g, p.clean(s))
	}
}

// raw writes bytes from outside, cleaned as they are written, and cuts them
// where the field ends.
func (p *pen) raw(r role, g ground, b []byte) {
	on := p.ink.on[r][g]
	p.b = append(p.b, on...)
	for len(b) > 0 && p.left > 0 {
		if n := min(display.PlainLen(b), p.left); n > 0 {
			p.b = append(p.b, b[:n]...)
			p.left -= n
			b = b[n:]
			continue
		}
		n, cells := p.draw.Measure(b)
		if cells > p.left {
			break
		}
		p.b = p.draw.AppendClean(p.b, b[:n])
		p.left -= cells
		b = b[n:]
	}
	p.off(on)
}

// spaces writes up to n blank cells.
func (p *pen) spaces(g ground, n int) {
	n = min(n, p.left)
	if n <= 0 {
		return
	}
	on := p.ink.on[plain][g]
	if g == growing {
		on = ""
	}
	p.left -= n
	p.b = append(p.b, on...)
	for ; n > len(blanks); n -= len(blanks) {
		p.b = append(p.b, blanks...)
	}
	p.b = append(p.b, blanks[:n]...)
	p.off(on)
}

const blanks = "                                                                "

// fill ends the field.
func (p *pen) fill(g ground) { p.spaces(g, p.left) }

// tail writes t flush right, and in front of it spaces; it leaves out what
// does not fit.
func (p *pen) tail(r role, g ground, t display.Text) {
	if w := t.Width(); w <= p.left {
		p.spaces(g, p.left-w)
		p.put(r, g, t)
	}
}

// newline begins the next row of the frame.
func (p *pen) newline() { p.b = append(p.b, '\n') }

// reset begins a new frame.
func (p *pen) reset() { p.b = p.b[:0] }
