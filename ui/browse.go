package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/charmbracelet/bubbles/key"

	"toolscope/providers"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// browse is the mode below all others: the panes.
type browse struct{ m *Model }

// Extend has nothing to do: the panes are extended as things arrive.
func (browse) Extend(*providers.View, int, int) {}

// Draw writes row y of the panes.
func (b browse) Draw(p *screen.Pen, y int) { b.m.drawPanes(p, y) }

// Keys are those of the focused pane, of the program, and of what can be opened, those first that
// the pane hints at.
func (b browse) Keys() []screen.Binding {
	m := b.m
	if m.awaits() {
		return reminded(m.awaitKeys(), append([]screen.Binding{m.breakKey()}, m.anywhere()...))
	}
	all := m.programKeys()
	for _, e := range m.entries {
		b := e.Binding
		b.Do = func() { m.enter(e) }
		all = append(all, b)
	}
	return reminded(append([]screen.Binding{{Keys: []string{"?"}, Hint: display.Lit("? help")}}, m.paneKeys()...), append(all, m.anywhere()...))
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
		on(km.Raw, func() { m.scene.Raw = !m.scene.Raw; m.refresh() }),
		on(km.Search, func() { m.open(newSearchBar(m)) }),
		on(km.Filter, m.openFilter),
		on(km.NextFinding, m.nextFinding), on(km.Side, m.hideSide),
		on(km.Clock, func() { m.scene.Clock = !m.scene.Clock; m.refresh() }),
		on(km.Mark, m.markTurn),
		on(km.Follow, func() { m.setFollow(!m.follow) }),
		on(km.Demo, m.playDemo), on(km.Streams, m.openStreams),
		on(km.Quit, func() { m.back(tea.Quit) }),
	}
	for _, p := range m.table {
		b := on(km.Pane, func() { m.turnToKey(p) })
		b.Keys = []string{p.key}
		keys = append(keys, b)
	}
	return append(keys, pair(km.Again, m.hit)...)
}

// anywhere are the keys that work in every mode that does not use them itself, while nothing is
// typed.
func (m *Model) anywhere() []screen.Binding {
	km := m.keys
	keys := []screen.Binding{
		on(km.Pause, m.pause), on(km.Theme, m.toggleTheme), on(km.Help, m.openHelp), on(km.Palette, m.openPalette),
		on(km.Suspend, m.suspend), on(km.Interrupted, func() { m.leave(tea.Interrupt) }),
	}
	return append(keys, pair(km.Speed, func(step int) { m.changeSpeed(step < 0) })...)
}

// reminded is the keys of a pane, then those of the program. Where the pane reminds of a key of the
// program, that stands there instead.
func reminded(pane, program []screen.Binding) (all []screen.Binding) {
	for _, b := range pane {
		if b.Do == nil {
			of := screen.Bound(program, b.Keys[0])
			if of == nil {
				continue
			}
			hint := b.Hint
			b, of.Do = *of, nil
			b.Hint = hint
		}
		all = append(all, b)
	}
	for _, b := range program {
		if b.Do != nil {
			all = append(all, b)
		}
	}
	return all
}
