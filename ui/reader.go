package ui

import (
	"strings"

	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"

	tea "github.com/charmbracelet/bubbletea"
)

// reader is the mode in which one string of the arguments is read as what it
// holds: code, a diff, shell, Markdown, or just lines. It is decoded first and
// drawn at once; colours follow when chroma has made them elsewhere.
type reader struct {
	screen.Window
	title display.Text
	kind  string
	lines []codeLine
	left  int    // cells scrolled to the right
	id    int    // of the highlighting that is awaited
	note  string // what else is to say of it
}

// codeLine is a line in pieces of one colour.
type codeLine []codeSpan

type codeSpan struct {
	on   screen.Paint
	text display.Text
}

// maxHighlight is how many bytes chroma is asked to read: it does about 2 MB/s.
const maxHighlight = 256 << 10

// highlighted brings the colours of an opened string.
type highlighted struct {
	id    int
	kind  string
	lines []codeLine
}

// openString makes a reader for the selected string, or for the value of the
// selected key; it reports false when that is no string.
func (m *Model) openString() (cmd tea.Cmd, ok bool) {
	d := &m.doc
	n := d.StringAt(d.Tok)
	if n < 0 {
		return nil, false
	}
	toks := d.Tokens()
	content := panes.Unquoted(d.Call.Args(), panes.TokenSpan(toks, n))
	growing := n == len(toks)-1 && d.Call.Lexer().Open()
	m.opened++
	r := &reader{title: m.draw.Clean(d.Path()), kind: "text", id: m.opened}
	switch {
	case growing && d.Call.Arriving():
		r.note = ", as far as it had come"
	case growing:
		r.note = ", the end is missing"
	}
	r.lines = plainLines(content, m.draw)
	m.mode = r
	if growing || len(content) > maxHighlight {
		return nil, true
	}
	hint, theme, paint, draw := d.HintFor(n), m.pen.Ink.Theme, m.pen.Ink, m.draw
	return func() tea.Msg {
		kind, lines := highlight(content, hint, theme, paint, draw)
		return highlighted{r.id, kind, lines}
	}, true
}

// plainLines cuts content into lines without colours.
func plainLines(content string, draw display.Drawer) (lines []codeLine) {
	for line := range strings.SplitSeq(strings.ReplaceAll(content, "\t", "    "), "\n") {
		lines = append(lines, codeLine{{text: draw.Clean(line)}})
	}
	return lines
}

func (r *reader) update(m *Model, k tea.KeyMsg) tea.Cmd {
	switch {
	case m.keys.is(k, m.keys.Escape, m.keys.Quit):
		m.mode = browse{}
	case m.keys.is(k, m.keys.Left):
		r.left = max(0, r.left-sideways)
	case m.keys.is(k, m.keys.Right):
		if r.wider(r.left + sideways) {
			r.left += sideways
		}
	case m.keys.is(k, m.keys.Help):
		m.mode = &help{under: r}
	default:
		if row, ok := m.keys.move(k, r.Window); ok {
			r.MoveTo(row)
		}
	}
	return nil
}

const sideways = 8 // cells that a key scrolls to the side

// wider reports whether a visible line has more than so many cells.
func (r *reader) wider(cells int) bool {
	for _, line := range r.lines[min(r.Top, len(r.lines)):min(r.Top+r.Height, len(r.lines))] {
		if line.text().Width() > cells {
			return true
		}
	}
	return false
}

func (r *reader) body(m *Model, p *screen.Pen, y, h int) bool {
	if y == 0 {
		p.Say(screen.Muted, display.Lit(" OPENED  "))
		p.Put(screen.Accent, screen.Bare, r.title)
		p.Tail(screen.Muted, screen.Bare, p.Format(" %s, %s%s ", r.kind, screen.Plural(len(r.lines), "line"), r.note))
		p.Fill(screen.Bare)
		return true
	}
	r.Resize(len(r.lines), h-1)
	row := r.Top + y - 1
	if row >= len(r.lines) {
		p.Fill(screen.Bare)
		return true
	}
	mark := display.Lit(" ")
	if row == r.At {
		mark = p.Glyph.Mark
	}
	p.Say(screen.Accent, mark)
	p.Say(screen.Muted, p.Format("%4d ", row+1))
	r.lines[row].draw(p, r.left)
	p.Fill(screen.Bare)
	return true
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

func (r *reader) footer(m *Model, p *screen.Pen) {
	p.Say(screen.Muted, display.Lit(" esc close   j k scroll   h l sideways"))
}
