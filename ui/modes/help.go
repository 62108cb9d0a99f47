package modes

import (
	"toolscope/providers"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Help lists keys.
type Help struct {
	screen.Window
	host   Host
	groups []Group
	lines  [][]helpPart
	w      int
}

// Group is keys that are listed together.
type Group struct {
	Title display.Text
	Right bool // in the second column, where there are two
	Keys  []screen.Binding
}

// NewHelp lists these.
func NewHelp(h Host, groups []Group) *Help { return &Help{host: h, groups: groups} }

// Keys are those that close it and move it.
func (h *Help) Keys() []screen.Binding {
	moves := h.Scrolls(display.Text{})
	if h.Rows > h.Height {
		moves[1].Hint = display.Format("up/down scroll, %d of %d", min(h.Rows, h.Top+h.Height), h.Rows)
	}
	return append([]screen.Binding{
		{Keys: []string{"esc", "q", "?"}, Hint: display.Lit("esc close"), Does: display.Lit("close"), Do: h.host.Close},
	}, moves...)
}

// Extend lays it out anew for another size, with blank lines between the groups where there is room
// for these too.
func (h *Help) Extend(_ *providers.View, w, height int) {
	if w != h.w || height != h.Height {
		h.w = w
		if h.lines = h.layOut(true); w >= helpWide && len(h.lines) > height {
			h.lines = h.layOut(false)
		}
	}
	h.Rows, h.Height = len(h.lines), height
	h.Scroll(h.Top)
}

// Draw writes row y.
func (h *Help) Draw(p *screen.Pen, y int) {
	if n := h.Top + y; n < len(h.lines) {
		used := 0
		for _, part := range h.lines[n] {
			p.Spaces(screen.Bare, max(part.column-used, min(used, 1)))
			text := part.text
			if part.keys != nil {
				text = screen.Binding{Keys: part.keys}.Name(p.Drawer)
			}
			p.Say(part.role, text)
			used = max(part.column, used+min(used, 1)) + text.Width()
		}
	}
	p.Fill(screen.Bare)
}

// helpPart is a piece of a help line: a text, or the names of keys.
type helpPart struct {
	column int
	role   screen.Role
	text   display.Text
	keys   []string
}

// Columns of the help, in cells.
const (
	helpWide   = 80 // for two columns of groups
	helpColumn = 44 // before the second
	keyColumn  = 3  // before a key
	doesColumn = 13 // before what it does
)

func (h *Help) layOut(blanks bool) (lines [][]helpPart) {
	var columns [2][][]helpPart
	for _, g := range h.groups {
		at := 0
		if g.Right && h.w >= helpWide {
			at = 1
		}
		if blanks && len(columns[at]) > 0 {
			columns[at] = append(columns[at], nil)
		}
		columns[at] = append(columns[at], g.lines(at*helpColumn)...)
	}
	for i := range max(len(columns[0]), len(columns[1])) {
		var line []helpPart
		for _, column := range columns {
			if i < len(column) {
				line = append(line, column[i]...)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// lines are a title and a line for each key that does something.
func (g *Group) lines(left int) (lines [][]helpPart) {
	lines = append(lines, []helpPart{{column: left + 1, role: screen.Muted, text: g.Title}})
	for _, b := range g.Keys {
		if b.Does.Empty() {
			continue
		}
		lines = append(lines, []helpPart{
			{column: left + keyColumn, role: screen.Accent, keys: b.Keys}, {column: left + doesColumn, role: screen.Plain, text: b.Does},
		})
	}
	return lines
}
