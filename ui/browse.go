package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/charmbracelet/bubbles/key"

	"toolscope/providers"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/screen"
)

// browse is the mode below all others: the panes.
type browse struct{ m *Model }

// Extend has nothing to do: the panes are extended as things arrive.
func (browse) Extend(*providers.View, int, int) {}

// Draw writes row y of the panes.
func (b browse) Draw(p *screen.Pen, y int) { b.m.drawPanes(p, y) }

// Keys are those of the focused pane, of the program, and of what can be opened,
// those first that the pane hints at.
func (b browse) Keys() []screen.Binding {
	m := b.m
	all := append(m.paneKeys(), m.programKeys()...)
	for _, e := range m.entries {
		b := e.Binding
		b.Do = func() { m.enter(e) }
		all = append(all, b)
	}
	return hinted(append(all, m.anywhere()...), m.hints())
}

// on is a binding of the table of keys.
func on(b key.Binding, do func()) screen.Binding {
	return screen.Binding{Keys: b.Keys(), Does: display.Clean(b.Help().Desc), Do: do}
}

// pair is a binding of two keys that do the opposite of each other.
func pair(b key.Binding, do func(step int)) []screen.Binding {
	one, other := on(b, func() { do(1) }), on(b, func() { do(-1) })
	one.Keys, other.Keys = b.Keys()[:1], b.Keys()[1:]
	return []screen.Binding{one, other}
}

// programKeys are the keys of browsing whatever pane has the focus.
func (m *Model) programKeys() []screen.Binding {
	km := m.keys
	keys := []screen.Binding{
		on(km.Next, func() { m.focusNext(1) }), on(km.Back, func() { m.focusNext(-1) }),
		on(km.Zoom, func() { m.zoom = !m.zoom; m.refresh() }),
		on(km.Escape, func() { m.back(nil) }),
		on(km.Raw, func() { m.doc.Raw = !m.doc.Raw; m.refresh() }),
		on(km.Search, func() { m.open(newSearchBar(m)) }),
		on(km.NextFinding, m.nextFinding),
		on(km.Mark, m.markTurn), on(km.Onward, m.goOnward),
		on(km.Follow, func() { m.setFollow(!m.follow) }),
		on(km.Demo, m.playDemo),
		on(km.Quit, func() { m.back(tea.Quit) }),
	}
	for i, name := range km.Pane.Keys() {
		b := on(km.Pane, func() { m.focusOn(listPane + paneID(i)) })
		b.Keys = []string{name}
		keys = append(keys, b)
	}
	return append(keys, pair(km.Again, m.hit)...)
}

// anywhere are the keys that work in every mode that does not use them itself,
// while nothing is typed.
func (m *Model) anywhere() []screen.Binding {
	km := m.keys
	keys := []screen.Binding{
		on(km.Pause, m.pause), on(km.Theme, m.toggleTheme), on(km.Help, m.openHelp),
		on(km.Suspend, m.suspend), on(km.Interrupted, func() { m.do(tea.Interrupt) }),
	}
	return append(keys, pair(km.Speed, func(step int) { m.changeSpeed(step < 0) })...)
}

// paneKeys are the keys of the focused pane.
func (m *Model) paneKeys() []screen.Binding {
	switch m.focus {
	case docPane:
		return m.documentKeys()
	case wirePane:
		return m.wireKeys()
	case findingsPane:
		return m.findingsKeys()
	}
	return m.listKeys()
}

// moves are the keys that move in a pane. Moving ends following; the key of the
// end goes there and follows.
func (m *Model) moves(keys []screen.Binding) []screen.Binding {
	for i := range keys {
		move := keys[i].Do
		keys[i].Do = func() { m.setFollow(false); move() }
	}
	keys[len(keys)-1] = on(m.keys.Bottom, m.toEnd)
	return keys
}

func (m *Model) listKeys() []screen.Binding {
	open := func() {
		if m.turn() != nil {
			m.focusOn(docPane)
		}
	}
	return append(m.moves(m.list.Steps(display.Text{}, func(row int) {
		m.list.MoveTo(row)
		m.choose(m.list.RefAt(m.in.Session(), m.list.At))
	})), on(m.keys.Enter, open), on(m.keys.Right, open))
}

func (m *Model) documentKeys() []screen.Binding {
	km := m.keys
	if m.call() == nil {
		return append(m.moves(m.summary.Scrolls(display.Text{})), on(km.Left, func() { m.focusOn(listPane) }))
	}
	return append(m.moves(m.doc.Steps(display.Text{}, func(row int) {
		m.doc.MoveRow(row)
		m.linkFromDocument()
	})), on(km.Left, func() {
		if m.setFollow(false); !m.doc.MoveToken(-1) {
			m.focusOn(listPane)
		}
		m.linkFromDocument()
	}), on(km.Right, func() {
		m.setFollow(false)
		m.doc.MoveToken(1)
		m.linkFromDocument()
	}), on(km.Enter, m.openString))
}

func (m *Model) wireKeys() []screen.Binding {
	toggle := func() {
		m.wire.Open = !m.wire.Open
		m.refresh()
		m.linkFromWire()
	}
	return append(m.moves(m.wire.Steps(display.Text{}, func(row int) {
		m.wire.MoveTo(row)
		m.linkFromWire()
	})), on(m.keys.Enter, toggle), on(m.keys.Right, toggle), on(m.keys.Left, func() { m.focusOn(listPane); m.linkFromWire() }))
}

func (m *Model) findingsKeys() []screen.Binding {
	return append(m.moves(m.findings.Steps(display.Text{}, m.findings.MoveTo)),
		on(m.keys.Enter, m.goToFinding), on(m.keys.Left, func() { m.focusOn(listPane) }))
}

// hint is a key worth knowing in a pane.
type hint struct {
	key  string
	text display.Text
}

// paneHints are those of each pane, most useful first: as many are shown as fit.
var paneHints = [...][]hint{
	listPane: {
		{"?", display.Lit("? help")}, {"enter", display.Lit("enter open")}, {"p", display.Lit("p replay")}, {"/", display.Lit("/ find")},
		{"tab", display.Lit("tab pane")}, {" ", display.Lit("space pause")}, {"R", display.Lit("R send again")}, {"q", display.Lit("q quit")},
	},
	docPane: {
		{"?", display.Lit("? help")}, {"enter", display.Lit("enter open string")}, {"p", display.Lit("p replay")}, {"r", display.Lit("r raw")},
		{"/", display.Lit("/ find")}, {"h", display.Lit("h l token")}, {"tab", display.Lit("tab pane")}, {"a", display.Lit("a result")},
	},
	wirePane: {
		{"?", display.Lit("? help")}, {"enter", display.Lit("enter frame")}, {"/", display.Lit("/ find")}, {"tab", display.Lit("tab pane")},
		{"z", display.Lit("z zoom")},
	},
	findingsPane: {{"?", display.Lit("? help")}, {"enter", display.Lit("enter go there")}, {"tab", display.Lit("tab pane")}},
}

// turnHints are those of the document pane while it is about a turn.
var turnHints = []hint{{"?", display.Lit("? help")}, {"j", display.Lit("j k scroll")}, {"tab", display.Lit("tab pane")}, {"z", display.Lit("z zoom")}}

func (m *Model) hints() []hint {
	if m.focus == docPane && m.call() == nil {
		return turnHints
	}
	return paneHints[m.focus]
}

// hinted is bindings with those first that are hinted at.
func hinted(all []screen.Binding, hints []hint) []screen.Binding {
	sorted := make([]screen.Binding, 0, len(all))
	for _, h := range hints {
		b := screen.Bound(all, h.key)
		b.Hint = h.text
		sorted = append(sorted, *b)
	}
	for _, b := range all {
		if b.Hint.Empty() {
			sorted = append(sorted, b)
		}
	}
	return sorted
}

// drawHints writes the hints flush right, or what was said.
func (m *Model) drawHints(p *screen.Pen) {
	if !m.notice.Empty() {
		p.Tail(screen.Caution, screen.Bare, m.draw.Truncate(m.notice.Between(" ", " "), p.Left))
		return
	}
	hint := display.Text{}
	for _, b := range m.now {
		if b.Hint.Empty() || hint.Width()+3+b.Hint.Width()+1 > p.Left {
			break
		}
		hint = display.Join(hint, display.Lit("   "), b.Hint)
	}
	p.Tail(screen.Muted, screen.Bare, hint.Between("", " "))
}

// openString opens the selected string.
func (m *Model) openString() {
	of, ok := m.doc.Literal()
	if !ok {
		m.say(display.Lit("no string here: enter opens string values"))
		return
	}
	ink := func() *screen.Paints { return m.pen.Ink }
	m.open(modes.NewReader(asHost{m}, of, m.call().Arriving(), ink, m.draw))
}

// goOnward goes to the turn whose request first had the chosen call, or a call
// of the chosen turn, in its history.
func (m *Model) goOnward() {
	switch t, c := m.view.Find(m.chosen); {
	case c != nil && len(c.SentBack) > 0:
		m.goToRequest(c.SentBack[0].Exchange)
	case c == nil && t != nil && t.Returned:
		m.goToRequest(t.Next)
	default:
		m.say(display.Lit("no request that is known sent it back"))
	}
}
