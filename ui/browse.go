package ui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/charmbracelet/bubbles/key"

	"toolscope/providers"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
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
	all, km := m.programKeys(), m.keys
	if m.isServed() {
		all = append(all, m.anywhere()...)
		return reminded(append([]screen.Binding{{Keys: []string{"?"}, Hint: display.Lit("? help")}, m.quitHint()}, m.servedKeys()...), all)
	}
	for _, e := range m.entries {
		b := e.Binding
		b.Do = func() { m.enter(e) }
		all = append(all, b)
	}
	all = append(all, m.anywhere()...)
	if m.held() {
		return instead(m.heldKeys(all), reminded(m.paneKeys(), all))
	}
	keys := reminded(append([]screen.Binding{{Keys: []string{"?"}, Hint: display.Lit("? help")}, m.quitHint()}, m.paneKeys()...), all)
	for i := range keys {
		if m.opt.Await == nil && keys[i].Keys[0] == km.Streams.Keys()[0] {
			keys[i].Hint = display.Text{} // there are none
		}
		if m.large && keys[i].Keys[0] == km.Next.Keys()[0] && !keys[i].Hint.Empty() {
			keys[i].Hint, keys[i].Does = display.Lit("tab next call"), display.Lit("next call")
		}
	}
	return keys
}

// quitHint says that q leaves the program, or that it leads back first.
func (m *Model) quitHint() screen.Binding {
	hint := display.Lit("q quit")
	if m.search.query != "" || m.zoom || m.from != nil && m.from.to == m.chosen || m.focus != m.last[panes.Left] && m.turn() != nil || m.sieve.Active() {
		hint = display.Lit("q back")
	}
	return screen.Binding{Keys: m.keys.Quit.Keys(), Hint: hint}
}

// heldKeys are those that come first while the screen shows a moment.
func (m *Model) heldKeys(all []screen.Binding) []screen.Binding {
	km := m.keys
	hinted := func(b key.Binding, hint display.Text, do func()) screen.Binding {
		of := on(b, do)
		of.Hint = hint
		return of
	}
	word := display.Lit("space play")
	if m.walk.playing {
		word = display.Lit("space hold")
	}
	keys := []screen.Binding{{Keys: []string{"?"}, Hint: display.Lit("? help")}}
	for _, of := range []struct {
		b    key.Binding
		hint display.Text
		do   func(step int)
	}{
		{km.Step, display.Lit(", . delta"), func(step int) { m.step(-step) }}, {km.Stop, display.Lit("< > mark"), func(step int) { m.stop(-step, true) }},
		{km.Speed, display.Lit("[ ] speed"), func(step int) { m.setSpeed(step < 0) }},
	} {
		two := pair(of.b, of.do)
		two[0].Hint = of.hint
		keys = append(keys, two...)
	}
	if m.opt.Cut != nil {
		cut := hinted(km.Save, display.Text{}, m.saveCut)
		cut.Does = display.Lit("save a capture that ends here")
		if m.walk.view.Ended() {
			cut.Hint = display.Lit("w save it so")
		}
		keys = append(keys, cut)
	}
	keys = append(keys, hinted(km.EndHere, display.Lit("x end it here"), m.endHere), hinted(km.Bottom, display.Lit("G now"), m.goNow),
		hinted(km.Pause, word, m.space), hinted(km.Escape, display.Lit("esc"), m.leaveTime), on(km.Restart, m.restart))
	if m.stage != nil {
		keys = slices.Insert(keys, 1, append([]screen.Binding{m.quitHint()}, append(m.claimKeys(), m.restartKey())...)...)
	}
	return reminded(keys, all)[:len(keys)]
}

// instead is bindings, and behind them those others that have none of their keys.
func instead(first, others []screen.Binding) []screen.Binding {
	all := first
	for _, b := range others {
		b.Keys = slices.DeleteFunc(slices.Clone(b.Keys), func(k string) bool {
			return slices.ContainsFunc(first, func(f screen.Binding) bool { return slices.Contains(f.Keys, k) })
		})
		if len(b.Keys) > 0 {
			all = append(all, b)
		}
	}
	return all
}

// on is a binding of the table of keys.
func on(b key.Binding, do func()) screen.Binding {
	return screen.Binding{Keys: b.Keys(), Does: display.Clean(b.Help().Desc), Do: do}
}

// pair is a binding of two keys that do the opposite of each other, each with its half of the words:
// of "a delta back, forward" the other is "a delta forward".
func pair(b key.Binding, do func(step int)) []screen.Binding {
	one, other := on(b, func() { do(1) }), on(b, func() { do(-1) })
	one.Keys, other.Keys = b.Keys()[:1], b.Keys()[1:]
	does := b.Help().Desc
	first, second, two := strings.Cut(does, ", ")
	switch {
	case !two:
		first, second = does+", before", does+", after"
	case !strings.Contains(second, " "):
		second = first[:strings.LastIndexByte(first, ' ')+1] + second
	}
	one.Does, other.Does = display.Clean(first), display.Clean(second)
	return []screen.Binding{one, other}
}

// programKeys are the keys of browsing whatever pane has the focus.
func (m *Model) programKeys() []screen.Binding {
	km := m.keys
	keys := []screen.Binding{
		on(km.Next, func() { m.focusNext(1) }), on(km.Back, func() { m.focusNext(-1) }),
		on(km.TurnPanes, m.turnPanes),
		on(km.Zoom, func() { m.zoom = !m.zoom; m.refresh() }),
		on(km.Escape, func() { m.back(nil) }),
		on(km.Raw, func() { m.scene.Raw = !m.scene.Raw; m.refresh() }),
		on(km.Search, func() { m.open(newSearchBar(m)) }),
		on(km.Filter, m.openFilter),
		on(km.NextFinding, m.nextFinding), on(km.Side, m.hideSide),
		on(km.Clock, m.turnClock),
		on(km.Mark, m.markTurn), on(km.Bookmark, func() { m.bookmark("") }), on(km.Marks, m.openBookmarks),
		on(km.Follow, func() { m.setFollow(!m.follow) }),
		on(km.Restart, m.restart), on(km.EndHere, m.endHere), on(km.Demo, m.playDemo), on(km.Streams, m.openStreams),
		on(km.Quit, func() { m.back(tea.Quit) }),
	}
	for _, p := range m.table {
		b := on(km.Pane, func() { m.turnToKey(p) })
		if _, ok := p.Pane.(panes.Tab); ok {
			b.Does = display.Clean(km.Tab.Help().Desc)
		}
		b.Keys = []string{p.key}
		keys = append(keys, b)
	}
	keys = append(keys, pair(km.Size, func(step int) { m.grow(-step) })...)
	return append(keys, pair(km.Again, m.hit)...)
}

// anywhere are the keys that work in every mode that does not use them itself, while nothing is
// typed.
func (m *Model) anywhere() []screen.Binding {
	km := m.keys
	keys := []screen.Binding{
		on(km.Pause, m.space), on(km.Theme, func() { m.enter(modes.Themes(m.themes(), m.draw)) }), on(km.Help, m.openHelp), on(km.Palette, m.openPalette), on(km.Mouse, m.useMouse),
		on(km.Suspend, m.suspend), on(km.Interrupted, func() { m.leave(tea.Interrupt) }),
	}
	keys = append(keys, pair(km.Speed, func(step int) { m.changeSpeed(step < 0) })...)
	keys = append(keys, pair(km.Step, func(step int) { m.step(-step) })...)
	keys = append(keys, pair(km.Stop, func(step int) { m.stop(-step, true) })...)
	if m.stage != nil {
		return append(keys, m.claimKeys()...)
	}
	return append(keys, pair(km.Change, func(step int) { m.stop(-step, false) })...)
}

// reminded is the keys of a pane, then those of the program. Where the pane reminds of a key of the
// program, that stands there instead.
func reminded(pane, program []screen.Binding) (all []screen.Binding) {
	for _, b := range pane {
		if b.Do == nil {
			of := screen.FindBinding(program, b.Keys[0])
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
