package ui

import (
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// browse is the mode below all others: the panes.
type browse struct{ m *Model }

// Extend has no data to read: the panes are extended when records arrive.
func (browse) Extend(*providers.View, int, int) {}

// Draw draws row y of the panes.
func (b browse) Draw(p *screen.Pen, y int) { b.m.frame.drawPanes(p, y) }

// Keys returns the keys of the focused pane, of the program, and of the entries; the pane's hints come first.
func (b browse) Keys() []screen.Binding {
	m := b.m
	if m.setup.isWaitingForClients() {
		return mergeHints(m.setup.setupKeys(), append([]screen.Binding{m.breakKey()}, m.globalKeys()...))
	}
	all, km := m.programKeys(), m.keys
	if m.hasOnlyMCP() {
		all = append(all, m.globalKeys()...)
		return mergeHints(append([]screen.Binding{{Keys: []string{"?"}, Hint: display.Lit("? help")}, m.quitHint()}, m.served.mcpKeys()...), all)
	}
	for _, e := range m.entries {
		b := e.Binding
		b.Do = func() { m.modeStack.openEntry(e) }
		all = append(all, b)
	}
	all = append(all, m.globalKeys()...)
	if m.moment.isPaused() {
		return mergeBindings(m.pausedKeys(all), mergeHints(m.paneKeys(), all))
	}
	keys := mergeHints(append([]screen.Binding{{Keys: []string{"?"}, Hint: display.Lit("? help")}, m.quitHint()}, m.paneKeys()...), all)
	for i := range keys {
		if m.opt.Setup == nil && keys[i].Keys[0] == km.Streams.Keys()[0] {
			keys[i].Hint = display.Text{} // no hints
		}
		if m.large && keys[i].Keys[0] == km.Next.Keys()[0] && !keys[i].Hint.Empty() {
			keys[i].Hint, keys[i].Does = display.Lit("tab next call"), display.Lit("next call")
		}
	}
	return keys
}

// quitHint returns the hint for q: quit, or back.
func (m *Model) quitHint() screen.Binding {
	hint := display.Lit("q quit")
	if m.search.query != "" || m.zoom || m.from != nil && m.from.to == m.selected || m.focus != m.last[panes.Left] && m.selectedTurn() != nil || m.turnFilter.Active() {
		hint = display.Lit("q back")
	}
	return screen.Binding{Keys: m.keys.Quit.Keys(), Hint: hint}
}

// pausedKeys returns the keys that come first while the screen is paused.
func (m *Model) pausedKeys(all []screen.Binding) []screen.Binding {
	km := m.keys
	hinted := func(b key.Binding, hint display.Text, do func()) screen.Binding {
		of := bindAction(b, do)
		of.Hint = hint
		return of
	}
	word := display.Lit("space play")
	if m.moment.playing {
		word = display.Lit("space pause")
	}
	keys := []screen.Binding{{Keys: []string{"?"}, Hint: display.Lit("? help")}}
	for _, of := range []struct {
		b    key.Binding
		hint display.Text
		do   func(step int)
	}{
		{km.Step, display.Lit(", . delta"), func(step int) { m.moment.stepDelta(-step) }}, {km.Stop, display.Lit("< > marker"), func(step int) { m.moment.stepMarker(-step, true) }},
		{km.Speed, display.Lit("[ ] speed"), func(step int) { m.moment.setSpeed(step < 0) }},
	} {
		two := bindPair(of.b, of.do)
		two[0].Hint = of.hint
		keys = append(keys, two...)
	}
	if m.opt.Cut != nil {
		cut := hinted(km.Save, display.Text{}, m.moment.saveCut)
		cut.Does = display.Lit("save a capture that ends here")
		if m.moment.view.Ended() {
			cut.Hint = display.Lit("w save it")
		}
		keys = append(keys, cut)
	}
	keys = append(keys, hinted(km.EndHere, display.Lit("x end it here"), m.moment.endHere), hinted(km.Bottom, display.Lit("G now"), m.moment.goNow),
		hinted(km.Pause, word, m.moment.togglePlaying), hinted(km.Escape, display.Lit("esc"), m.moment.leaveTime), bindAction(km.Restart, m.moment.goToTurnStart))
	if m.tour != nil {
		keys = slices.Insert(keys, 1, append([]screen.Binding{m.quitHint()}, append(m.tour.sceneKeys(), m.tour.restartKey())...)...)
	}
	return mergeHints(keys, all)[:len(keys)]
}

// mergeBindings appends those of others whose keys are not in first.
func mergeBindings(first, others []screen.Binding) []screen.Binding {
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

// bindAction makes a binding from the table of keys.
func bindAction(b key.Binding, do func()) screen.Binding {
	return screen.Binding{Keys: b.Keys(), Does: display.Clean(b.Help().Desc), Do: do}
}

// bindPair makes two bindings from two keys with opposite actions, and completes the description of each:
// "previous, next delta" gives "previous delta" and "next delta".
func bindPair(b key.Binding, do func(step int)) []screen.Binding {
	one, other := bindAction(b, func() { do(1) }), bindAction(b, func() { do(-1) })
	one.Keys, other.Keys = b.Keys()[:1], b.Keys()[1:]
	does := b.Help().Desc
	first, second, two := strings.Cut(does, ", ")
	switch {
	case !two:
		first, second = "previous: "+does, "next: "+does
	case !strings.Contains(second, " "):
		second = first[:strings.LastIndexByte(first, ' ')+1] + second
	case !strings.Contains(first, " "):
		first += second[strings.IndexByte(second, ' '):]
	}
	one.Does, other.Does = display.Clean(first), display.Clean(second)
	return []screen.Binding{one, other}
}

// programKeys returns the browsing keys that don't depend on the focused pane.
func (m *Model) programKeys() []screen.Binding {
	km := m.keys
	keys := []screen.Binding{
		bindAction(km.Next, func() { m.focusNext(1) }), bindAction(km.Back, func() { m.focusNext(-1) }),
		bindAction(km.TurnPanes, m.toggleSplit),
		bindAction(km.Zoom, func() { m.zoom = !m.zoom; m.refreshPanes() }),
		bindAction(km.Escape, func() { m.stepBack(nil) }),
		bindAction(km.Raw, func() { m.context.Raw = !m.context.Raw; m.refreshPanes() }),
		bindAction(km.Search, func() { m.modeStack.pushMode(newSearchBar(m)) }),
		bindAction(km.Filter, m.openFilter),
		bindAction(km.NextFinding, m.goToNextFinding), bindAction(km.Side, m.toggleBackground),
		bindAction(km.Clock, m.toggleClock),
		bindAction(km.Mark, m.markTurn), bindAction(km.Bookmark, func() { m.bookmarks.toggleBookmark("") }), bindAction(km.Marks, m.bookmarks.openBookmarks),
		bindAction(km.Follow, func() { m.setFollow(!m.follow) }),
		bindAction(km.Restart, m.moment.goToTurnStart), bindAction(km.EndHere, m.moment.endHere), bindAction(km.Demo, m.playDemo), bindAction(km.Streams, m.openStreams),
		bindAction(km.Quit, func() { m.stepBack(tea.Quit) }),
	}
	for _, p := range m.table {
		b := bindAction(km.Pane, func() { m.turnToKey(p) })
		if _, ok := p.Pane.(panes.Tab); ok {
			b.Does = display.Clean(km.Tab.Help().Desc)
		}
		b.Keys = []string{p.key}
		keys = append(keys, b)
	}
	keys = append(keys, bindPair(km.Size, func(step int) { m.resizePane(-step) })...)
	return append(keys, bindPair(km.Again, m.search.goToHit)...)
}

// globalKeys returns the keys that work in every mode, unless the mode uses them or an input is active.
func (m *Model) globalKeys() []screen.Binding {
	km := m.keys
	keys := []screen.Binding{
		bindAction(km.Pause, m.moment.togglePlaying), bindAction(km.Theme, func() { m.modeStack.openEntry(modes.Themes(m.themeActions(), m.draw)) }), bindAction(km.Help, m.openHelp), bindAction(km.Palette, m.openPalette), bindAction(km.Mouse, m.mouse.useMouse),
		bindAction(km.Suspend, m.suspendProgram), bindAction(km.Interrupted, func() { m.quitOrAsk(tea.Interrupt) }),
	}
	keys = append(keys, bindPair(km.Speed, func(step int) { m.changeSpeed(step < 0) })...)
	keys = append(keys, bindPair(km.Step, func(step int) { m.moment.stepDelta(-step) })...)
	keys = append(keys, bindPair(km.Stop, func(step int) { m.moment.stepMarker(-step, true) })...)
	if m.tour != nil {
		return append(keys, m.tour.sceneKeys()...)
	}
	return append(keys, bindPair(km.Change, func(step int) { m.moment.stepMarker(-step, false) })...)
}

// mergeHints returns the keys of a pane, then those of the program. A hint of the pane for a program key
// is replaced by that key.
func mergeHints(pane, program []screen.Binding) (all []screen.Binding) {
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

// openHelp opens the help: the signs, then the keys. The keys of the current view come first.
func (m *Model) openHelp() {
	keys := m.keysOf(m.modeStack.activeMode().Mode)
	if _, browsing := m.modeStack.activeMode().Mode.(browse); browsing {
		m.modeStack.pushMode(modes.NewHelp(modeHost{m}, &m.pen, m.browsingPlaces(keys)))
		return
	}
	groups, _ := m.groupBindings(m.userGlobalKeys())
	anywhere := modes.KeyGroup{Title: display.Lit("Anywhere")}
	for _, g := range groups {
		anywhere.Keys = append(anywhere.Keys, g.Keys...)
	}
	browsing, _ := m.groupBindings(m.keysOf(browse{m}))
	m.modeStack.pushMode(modes.NewHelp(modeHost{m}, &m.pen, []modes.KeyContext{
		{Name: display.Lit("here"), Groups: []modes.KeyGroup{{Title: display.Lit("Here"), Keys: keys}, anywhere}, Press: m.pressKey},
		{Name: display.Lit("while browsing"), Groups: browsing},
	}))
}

// browsingPlaces returns the views for the help: the focused pane with the program's keys, each other
// pane, and the modes that these keys open.
func (m *Model) browsingPlaces(keys []screen.Binding) []modes.KeyContext {
	here, elsewhere := m.groupBindings(keys)
	places := []modes.KeyContext{{Name: placeName(m.focus), Groups: append(here, m.commandKeys()), Press: m.pressKey}}
	for _, p := range m.table {
		if p.Pane == m.focus {
			continue
		}
		name := placeName(p.Pane)
		places = append(places, modes.KeyContext{Name: name, Groups: []modes.KeyGroup{{Title: name, Keys: m.asUser(p.Keys(), false)}}, Press: func(key string) {
			m.focusOn(p.Pane)
			m.pressKey(key)
		}})
	}
	return append(places, modes.KeyContext{Name: display.Lit("in other views"), Groups: elsewhere})
}

// commandKeys returns the commands after ":" for the help. Running one from the help asks for its
// argument.
func (m *Model) commandKeys() modes.KeyGroup {
	g := modes.KeyGroup{Title: display.Lit("Commands after :")}
	for _, c := range m.typedCommands() {
		g.Keys = append(g.Keys, screen.Binding{Keys: []string{":" + c.Word}, Does: c.Does})
	}
	return g
}

// placeName returns the name of a pane for the help.
func placeName(of panes.Pane) display.Text {
	switch of := of.(type) {
	case *panes.List:
		return display.Lit("in the list")
	case *panes.Subject:
		return display.Lit("in the document")
	case panes.Tab:
		if name := of.Label().Name; !name.Empty() {
			return name.Between("in ", "")
		}
	}
	return display.Lit("in a tab")
}

// typedCommands returns the commands that are typed after ":". Actions with a key are not included,
// because the palette lists keys.
func (m *Model) typedCommands() []modes.Command {
	return []modes.Command{
		{Word: "turn", Arg: display.Lit("NUMBER"), Does: display.Lit("go to a turn"), Run: m.goToNumber},
		{Word: "sort", Arg: display.Lit("cost|took|bytes|start"), Does: display.Lit("sort turns"), Run: m.openSorted},
		{Word: "jq", Arg: display.Lit("EXPR"), Does: display.Lit("run jq on arguments of one call or all"), Run: m.openJQ},
		{Word: "at", Arg: display.Lit("TIME"), Does: display.Lit("go to a moment: 1.25s, or delta d14"), Run: m.moment.goAt},
		{Word: "mark", Arg: display.Lit("NAME"), Does: display.Lit("bookmark this place, for this session"), Run: m.bookmarks.toggleBookmark},
		{Word: "log", Does: display.Lit("show toolscope's log"), Run: func(string) { m.openLog() }},
		{Word: "paste", Does: display.Lit("show client setup lines"), Run: func(string) { m.setup.openPaste() }},
		{Word: "hosts", Does: display.Lit("list the proxy's upstreams"), Run: func(string) { m.setup.openRoutes() }},
	}
}

// openPalette opens the palette with the actions of the current view.
func (m *Model) openPalette() {
	here := slices.DeleteFunc(m.keysOf(m.modeStack.activeMode().Mode), func(b screen.Binding) bool { return b.Do == nil })
	keys := mergeBindings(here, m.userGlobalKeys())
	m.modeStack.pushMode(modes.NewPalette(modeHost{m}, modes.PaletteActions{Keys: keys, Press: m.pressKey, Commands: m.typedCommands(), Bookmarks: m.bookmarks.paletteBookmarks(), Turn: m.goTo}, m.draw))
}

// pressKey runs a key of the current view, or a command. For a command that needs an argument, it opens
// the palette with that command.
func (m *Model) pressKey(key string) {
	for _, c := range m.typedCommands() {
		switch {
		case key != ":"+c.Word:
		case c.Arg.Empty():
			c.Run("")
			return
		default:
			m.openPalette()
			activeInput(m.modeStack.activeMode().Mode).Insert(c.Word + " ")
			return
		}
	}
	if m.tour.hasTourKeys() {
		if b := screen.FindBinding(m.tour.tourKeys(), key); b != nil {
			b.Do()
			return
		}
	}
	if m.tour.isTourShown() {
		m.tour.leaveTour()
	}
	b := screen.FindBinding(m.keysOf(m.modeStack.activeMode().Mode), key)
	if b == nil {
		b = screen.FindBinding(m.userGlobalKeys(), key)
	}
	if b == nil {
		m.showNotice(display.Lit("no longer possible: the view has changed"))
		return
	}
	m.runBinding(b)
}

// goToNumber goes to the turn of that number.
func (m *Model) goToNumber(arg string) {
	n, err := strconv.Atoi(arg)
	if err != nil {
		m.showNotice(m.draw.Format("%q: use a turn number, e.g. :turn 12", arg))
		return
	}
	m.goTo(n)
}

// goTo goes to a turn by its number in the list.
func (m *Model) goTo(number int) {
	r := stream.Ref{Turn: int32(min(number, m.pinned.turnCount()+1) - 1)}
	if t, _ := m.view.Find(r); number < 1 || t == nil {
		m.showNotice(m.draw.Format("no turn %d: the last is %s", number, screen.Count(m.pinned.turnCount())))
		return
	}
	m.modeStack.closeAll()
	modeHost{m}.Choose(r)
}
