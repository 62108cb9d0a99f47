package modes

import (
	"strings"

	"toolscope/providers"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// Reader shows one string of the arguments as what it holds: code, a diff, shell, Markdown, or just
// lines. It is decoded first and drawn at once; colours follow when chroma has made them beside the
// screen.
type Reader struct {
	screen.Window
	host   Host
	of     panes.Literal
	ink    func() *screen.Paints
	inked  *screen.Paints // what it was highlighted with, or is
	draw   display.Drawer
	title  display.Text
	kind   string
	lines  []codeLine
	left   int    // cells scrolled to the right
	note   string // what else is to say of it
	colour bool   // it is to be highlighted
}

// codeLine is a line in pieces of one colour.
type codeLine []codeSpan

type codeSpan struct {
	on   screen.Paint
	text display.Text
}

// maxHighlight is how many bytes chroma is asked to read: it does about 2 MB/s.
const maxHighlight = 256 << 10

// NewReader opens a string. More of it may come if its call is arriving; ink is what there is to
// paint it with now.
func NewReader(h Host, of panes.Literal, arriving bool, ink func() *screen.Paints, draw display.Drawer) *Reader {
	r := &Reader{
		host: h, of: of, ink: ink, draw: draw, title: draw.Clean(of.Path), kind: "text",
		lines: plainLines(of.Text, draw), colour: !of.Growing && len(of.Text) <= maxHighlight,
	}
	switch {
	case of.Growing && arriving:
		r.note = ", as far as it had come"
	case of.Growing:
		r.note = ", the end is missing"
	}
	return r
}

// plainLines cuts content into lines without colours.
func plainLines(content string, draw display.Drawer) (lines []codeLine) {
	for line := range strings.SplitSeq(strings.ReplaceAll(content, "\t", "    "), "\n") {
		lines = append(lines, codeLine{{text: draw.Clean(line)}})
	}
	return lines
}

// Keys are those that close it and move it.
func (r *Reader) Keys() []screen.Binding {
	keys := []screen.Binding{{Keys: []string{"esc", "q"}, Hint: display.Lit("esc close"), Does: display.Lit("close"), Do: r.host.Close}}
	keys = append(keys, r.Steps(display.Lit("j k scroll"), r.MoveTo)...)
	return append(keys,
		screen.Binding{Keys: []string{"left", "h"}, Hint: display.Lit("h l sideways"), Does: display.Lit("to the left"), Do: func() { r.left = max(0, r.left-sideways) }},
		screen.Binding{Keys: []string{"right", "l"}, Does: display.Lit("to the right"), Do: func() {
			if r.wider(r.left + sideways) {
				r.left += sideways
			}
		}})
}

const sideways = 8 // cells that a key scrolls to the side

// wider reports whether a visible line has more than so many cells.
func (r *Reader) wider(cells int) bool {
	for _, line := range r.lines[min(r.Top, len(r.lines)):min(r.Top+r.Height, len(r.lines))] {
		if line.text().Width() > cells {
			return true
		}
	}
	return false
}

// Extend has it highlighted, at first and in another theme.
func (r *Reader) Extend(_ *providers.View, _, h int) {
	r.Resize(len(r.lines), h-1)
	ink := r.ink()
	if !r.colour || ink == r.inked {
		return
	}
	r.inked = ink
	of, draw := r.of, r.draw
	r.host.Do(func() func() {
		kind, lines := highlight(of.Text, of.Hint, ink, draw)
		return func() { r.kind, r.lines = kind, lines }
	})
}

// Draw writes row y: the first is about the string.
func (r *Reader) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if y == 0 {
		p.Say(screen.Muted, display.Lit(" OPENED  "))
		p.Put(screen.Accent, screen.Bare, r.title)
		p.Tail(screen.Muted, screen.Bare, p.Format(" %s, %s%s ", r.kind, screen.Plural(len(r.lines), "line"), r.note))
		return
	}
	row := r.Top + y - 1
	if row >= len(r.lines) {
		return
	}
	mark := display.Lit(" ")
	if row == r.At {
		mark = p.Glyph.Mark
	}
	p.Say(screen.Accent, mark)
	p.Say(screen.Muted, p.Format("%4d ", row+1))
	r.lines[row].draw(p, r.left)
}

// draw writes the line without its first skip cells.
func (l codeLine) draw(p *screen.Pen, skip int) {
	for _, s := range l {
		w := s.text.Width()
		if skip >= w {
			skip -= w
			continue
		}
		p.Paint(s.on, display.Skip(s.text, skip))
		skip = 0
	}
}
