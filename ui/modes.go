package ui

import (
	"strings"

	"toolscope/ui/screen"

	"github.com/charmbracelet/bubbles/key"

	"toolscope/ui/display"

	tea "github.com/charmbracelet/bubbletea"
)

// A mode owns the keyboard, the footer and, if it wants, the body, while it lasts.
type mode interface {
	update(m *Model, k tea.KeyMsg) tea.Cmd
	// body draws row y of a body of h rows into the field; false leaves the
	// body to the panes.
	body(m *Model, p *screen.Pen, y, h int) bool
	footer(m *Model, p *screen.Pen)
}

// is reports whether k is one of the bindings.
func (km keyMap) is(k tea.KeyMsg, bindings ...key.Binding) bool { return key.Matches(k, bindings...) }

// move is where a movement key takes a window's cursor.
func (km keyMap) move(k tea.KeyMsg, w screen.Window) (row int, ok bool) {
	switch {
	case km.is(k, km.Up):
		return w.At - 1, true
	case km.is(k, km.Down):
		return w.At + 1, true
	case km.is(k, km.PageUp):
		return w.At - max(1, w.Height-1), true
	case km.is(k, km.PageDown):
		return w.At + max(1, w.Height-1), true
	case km.is(k, km.Top):
		return 0, true
	case km.is(k, km.Bottom):
		return w.Rows - 1, true
	}
	return 0, false
}

// browse is the mode the program is in when no other is.
type browse struct{}

func (browse) body(*Model, *screen.Pen, int, int) bool { return false }

func (browse) update(m *Model, k tea.KeyMsg) tea.Cmd {
	km := m.keys
	switch {
	case km.is(k, km.Quit):
		return m.back(tea.Quit)
	case km.is(k, km.Escape):
		return m.back(nil)
	case km.is(k, km.Help):
		m.mode = &help{under: browse{}}
	case km.is(k, km.Search):
		m.mode = newSearchBar(m)
	case km.is(k, km.Again) && k.String() == "N":
		m.hit(-1)
	case km.is(k, km.Again):
		m.hit(1)
	case km.is(k, km.Next):
		m.focusNext(1)
	case km.is(k, km.Back):
		m.focusNext(-1)
	case km.is(k, km.Pane):
		m.focusOn(listPane + paneID(k.String()[0]-'1'))
	case km.is(k, km.Zoom):
		m.zoom = !m.zoom
		m.refresh()
	case km.is(k, km.Raw):
		m.doc.Raw = !m.doc.Raw
		m.refresh()
	case km.is(k, km.Theme):
		m.toggleTheme()
	case km.is(k, km.NextFinding):
		m.nextFinding()
	case km.is(k, km.Demo):
		return m.playDemo()
	case km.is(k, km.Follow):
		m.setFollow(!m.follow)
	case km.is(k, km.Pause):
		return m.pause()
	case km.is(k, km.Speed) && k.String() == "[":
		m.changeSpeed(0.5)
	case km.is(k, km.Speed):
		m.changeSpeed(2)
	default:
		if !m.openMode(k) {
			return m.movePane(k)
		}
	}
	return nil
}

// openMode opens what a key has a mode for, or says why not; it reports false for
// other keys.
func (m *Model) openMode(k tea.KeyMsg) bool {
	km := m.keys
	switch {
	case km.is(k, km.Dialect):
		m.mode = newDialects(m)
	case km.is(k, km.Replay):
		m.openReplay()
	case km.is(k, km.Onward):
		m.goOnward()
	case km.is(k, km.Resend):
		m.openResend()
	case km.is(k, km.Result):
		m.openResult()
	case km.is(k, km.Mark):
		m.markTurn()
	case km.is(k, km.Compare):
		m.openCompare()
	default:
		return false
	}
	return true
}

// hints are the keys worth knowing in each pane, most useful first: as many
// are shown as fit.
var hints = [...][]string{
	listPane:     {"? help", "enter open", "p replay", "/ find", "tab pane", "space pause", "R send again", "q quit"},
	docPane:      {"? help", "enter open string", "p replay", "r raw", "/ find", "h l token", "tab pane", "a result"},
	wirePane:     {"? help", "enter frame", "/ find", "tab pane", "z zoom"},
	findingsPane: {"? help", "enter go there", "tab pane"},
}

// turnHints are those of the document pane while it is about a turn.
var turnHints = []string{"? help", "j k scroll", "tab pane", "z zoom"}

func (browse) footer(m *Model, p *screen.Pen) {
	m.drawCounts(p)
	if !m.notice.Empty() {
		p.Tail(screen.Caution, screen.Bare, m.draw.Truncate(m.notice.Between(" ", " "), p.Left))
		return
	}
	keys := hints[m.focus]
	if m.focus == docPane && m.call() == nil {
		keys = turnHints
	}
	hint := display.Text{}
	for _, h := range keys {
		if hint.Width()+3+len(h)+1 > p.Left {
			break
		}
		hint = display.Join(hint, display.Lit("   "), p.Clean(h))
	}
	p.Tail(screen.Muted, screen.Bare, hint.Between("", " "))
}

// help is the mode that lists every key.
type help struct {
	screen.Window
	under mode
	lines [][]helpPart
	wide  bool // the lines are for two columns
}

func (h *help) update(m *Model, k tea.KeyMsg) tea.Cmd {
	if m.keys.is(k, m.keys.Escape, m.keys.Quit, m.keys.Help) {
		m.mode = h.under
		return nil
	}
	if row, ok := m.keys.move(k, h.Pages()); ok {
		h.Scroll(row)
	}
	return nil
}

func (h *help) body(m *Model, p *screen.Pen, y, height int) bool {
	if wide := m.w >= 80; h.lines == nil || wide != h.wide || height != h.Height {
		h.wide = wide
		if h.lines = helpLines(m.keys, wide, true, m.draw.ASCII); wide && len(h.lines) > height {
			h.lines = helpLines(m.keys, wide, false, m.draw.ASCII)
		}
	}
	h.Rows, h.Height = len(h.lines), height
	h.Scroll(h.Top)
	if n := h.Top + y; n < len(h.lines) {
		for _, part := range h.lines[n] {
			p.Say(part.role, p.Clean(part.text))
		}
	}
	p.Fill(screen.Bare)
	return true
}

func (h *help) footer(m *Model, p *screen.Pen) {
	p.Say(screen.Muted, display.Lit(" esc close   "))
	if h.Rows > h.Height {
		p.Say(screen.Muted, p.Format("up/down scroll, %d of %d", min(h.Rows, h.Top+h.Height), h.Rows))
	}
}

// helpPart is a piece of a help line in one colour.
type helpPart struct {
	role screen.Role
	text string
}

// helpLines are the key groups, in two columns where there is room, with blank
// lines between them if there is room for these too.
func helpLines(km keyMap, wide, blanks, ascii bool) (lines [][]helpPart) {
	var columns [2][][]helpPart
	for _, g := range km.groups() {
		c := &columns[0]
		if wide && g.right {
			c = &columns[1]
		}
		if blanks && len(*c) > 0 {
			*c = append(*c, nil)
		}
		*c = append(*c, groupLines(g, ascii)...)
	}
	for i := range max(len(columns[0]), len(columns[1])) {
		var line []helpPart
		if i < len(columns[0]) {
			line = append(line, columns[0][i]...)
		}
		if i < len(columns[1]) {
			used := 0
			for _, part := range line {
				used += display.Clean(part.text).Width()
			}
			line = append(line, helpPart{screen.Plain, strings.Repeat(" ", max(1, helpColumn-used))})
			line = append(line, columns[1][i]...)
		}
		lines = append(lines, line)
	}
	return lines
}

const (
	helpColumn = 44 // cells before the second column
	keyColumn  = 13 // cells before what a key does
)

// arrowWords are the keys that have a sign, in ASCII.
var arrowWords = strings.NewReplacer("↑", "up", "↓", "down", "←", "left", "→", "right", "⇧", "shift-")

func groupLines(g keyGroup, ascii bool) (lines [][]helpPart) {
	lines = append(lines, []helpPart{{screen.Muted, " " + g.title}})
	for _, b := range g.keys {
		key := "   " + b.Help().Key
		if ascii {
			key = arrowWords.Replace(key)
		}
		pad := max(1, keyColumn-display.Clean(key).Width())
		lines = append(lines, []helpPart{{screen.Accent, key}, {screen.Plain, strings.Repeat(" ", pad) + b.Help().Desc}})
	}
	return lines
}
