package ui

import (
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// browse is the bottom mode of the stack, which shows the panes.
type browse struct{ m *Model }

// Extend does nothing, because the panes are extended when records arrive.
func (browse) Extend(*providers.View, int, int) {}

// Draw draws row y of the panes.
func (b browse) Draw(p *screen.Pen, y int) { b.m.frame.drawPanes(p, y) }

// Keys returns the keys for the focused pane, the program and the entries. The pane's hints come first.
func (b browse) Keys() []screen.Binding {
	m := b.m
	if m.setup.isWaitingForClients() {
		e := modes.Breakpoints(m.opt.Break) // works even before there is traffic
		e.Do = func() { m.modeStack.openEntry(e) }
		return screen.MergeHints(m.setup.setupKeys(), append([]screen.Binding{e.Binding}, m.globalKeys()...))
	}
	all := m.programKeys()
	if m.hasOnlyMCP() {
		all = append(all, m.globalKeys()...)
		return screen.MergeHints(append(append(screen.Can("help"), m.quitHint()), m.served.mcpKeys()...), all)
	}
	for _, e := range m.entries {
		b := e.Binding
		b.Do = func() { m.modeStack.openEntry(e) }
		all = append(all, b)
	}
	all = append(all, m.globalKeys()...)
	if m.moment.isPaused() {
		return screen.MergeBindings(m.pausedKeys(all), screen.MergeHints(m.paneKeys(), all))
	}
	hints := append(screen.Can("help"), m.paneKeys()...)
	if quit := m.quitHint(); quit.Hint == "back" {
		hints = slices.Insert(hints, 1, quit)
	} else {
		hints = append(hints, quit)
	}
	keys := screen.MergeHints(hints, all)
	for i := range keys {
		if m.opt.Setup == nil && keys[i].Keys[0] == "L" {
			keys[i] = keys[i].WithoutHint()
		}
		if m.large && keys[i].Keys[0] == "tab" && keys[i].HasHint() {
			keys[i].Hint, keys[i].Does = "next call", display.Lit("next call")
		}
	}
	return keys
}

// quitHint returns the key q, with the hint "quit" or "back".
func (m *Model) quitHint() screen.Binding {
	quit := screen.Can("quit")[0]
	if m.search.query != "" || m.zoom || m.from != nil && m.from.to == m.selected || m.focus != m.last[panes.Left] && m.selectedTurn() != nil || m.filtering.turns.Active() {
		quit.Hint = "back"
	}
	return quit
}

// pausedKeys returns the keys that come first while the screen is paused.
func (m *Model) pausedKeys(all []screen.Binding) []screen.Binding {
	word := "play"
	if m.moment.playing {
		word = "pause"
	}
	keys := screen.Can("help")
	if m.tour != nil {
		keys = append(append(keys, m.quitHint()), append(m.tour.sceneKeys(), m.tour.restartKey())...)
	}
	step, stop, speed := m.stepKeys()
	step[0] = step[0].Hinted("delta").Show(", .")
	stop[0] = stop[0].Hinted("marker").Show("< >")
	speed[0] = speed[0].Hinted("speed").Show("[ ]")
	keys = append(keys, slices.Concat(step, stop, speed)...)
	if m.opt.Cut != nil {
		cut := screen.Do("save", m.moment.saveCut)
		cut.Does = display.Lit("save a capture that ends here")
		if m.moment.view.Ended() {
			cut = cut.Hinted("save it")
		}
		keys = append(keys, cut)
	}
	leave := screen.Do("escape", func() {
		if m.search.query != "" || m.zoom {
			m.stepBack(nil)
		} else {
			m.moment.goNow()
		}
	}).Hinted("close")
	keys = append(keys, screen.Do("end-here", m.moment.endHere).Hinted("end it here"), screen.Do("bottom", m.moment.goNow).Hinted("now"),
		screen.Do("pause", m.moment.togglePlaying).Hinted(word), leave, screen.Do("restart", m.moment.goToTurnStart))
	return screen.MergeHints(keys, all)[:len(keys)]
}

// stepKeys returns the keys that step through time and change the speed.
func (m *Model) stepKeys() (step, stop, speed []screen.Binding) {
	step = screen.DoBoth("step", func(by int) { m.moment.stepDelta(-by) })
	stop = screen.DoBoth("stop", func(by int) { m.moment.stepMarker(-by, true) })
	return step, stop, screen.DoBoth("speed", func(by int) {
		switch p := m.opt.Playback; {
		case m.moment.isPaused():
			m.moment.setSpeed(by < 0)
		case p == nil:
			m.showNotice(display.Lit("live traffic has no speed: space pauses"))
		case by < 0:
			p.SetSpeed(p.Speed() * 2)
		default:
			p.SetSpeed(p.Speed() / 2)
		}
	})
}

// programKeys returns the browsing keys that don't depend on the focused pane.
func (m *Model) programKeys() []screen.Binding {
	keys := []screen.Binding{
		screen.Do("next", func() { m.focusNext(1) }), screen.Do("back", func() { m.focusNext(-1) }),
		screen.Do("turn-panes", m.toggleSplit),
		screen.Do("zoom", func() { m.zoom = !m.zoom; m.refreshPanes() }),
		screen.Do("escape", func() { m.stepBack(nil) }),
		screen.Do("raw", func() { m.context.Raw = !m.context.Raw; m.refreshPanes() }),
		screen.Do("search", func() {
			m.modeStack.pushMode(&searchBar{browse: browse{m}, input: screen.NewInput(display.Lit(" /"), "", 200), before: m.search})
		}),
		screen.Do("filter", m.filtering.openFilter),
		screen.Do("next-finding", func() { m.goToError(1) }), screen.Do("order", m.swapOrder), screen.Do("sort", func() { m.pressKey(":sort") }), screen.Do("side", m.toggleBackground),
		screen.Do("clock", m.toggleClock),
		screen.Do("mark", m.markTurn), screen.Do("bookmark", func() { m.bookmarks.toggleBookmark("") }), screen.Do("marks", m.bookmarks.openBookmarks),
		screen.Do("follow", func() { m.setFollow(!m.follow) }),
		screen.Do("restart", m.moment.goToTurnStart), screen.Do("end-here", m.moment.endHere), screen.Do("demo", m.playDemo), screen.Do("streams", m.openStreams),
		screen.Do("quit", func() { m.stepBack(tea.Quit) }),
	}
	for _, p := range m.table {
		if p.key == "" {
			continue
		}
		action := "pane"
		if p.isTab() {
			action = "tab"
		}
		b := screen.Do(action, func() { m.turnToKey(p) })
		b.Keys = []string{p.key}
		keys = append(keys, b)
	}
	keys = append(keys, screen.DoBoth("size", func(step int) { m.resizePane(-step) })...)
	again := screen.DoBoth("again", m.search.goToHit)
	if m.search.query == "" {
		again[1].Do = func() { m.goToError(-1) }
	}
	return append(keys, again...)
}

// globalKeys returns the keys that work in every mode, unless the mode uses them. While an input is active,
// only ^C and ^Z work.
func (m *Model) globalKeys() []screen.Binding {
	keys := []screen.Binding{
		screen.Do("time", m.moment.toggleTimeline), screen.Do("pause", m.moment.togglePlaying), screen.Do("theme", func() { m.modeStack.openEntry(modes.Themes(m.settings.themeActions(), m.draw)) }),
		screen.Do("help", m.openHelp), screen.Do("palette", m.openPalette), screen.Do("mouse", m.mouse.useMouse),
		screen.Do("suspend", m.suspendProgram), screen.Do("interrupted", func() { m.quitOrAsk(tea.Interrupt) }),
	}
	step, stop, speed := m.stepKeys()
	keys = slices.Concat(keys, speed, step, stop)
	if m.tour != nil {
		return append(keys, m.tour.sceneKeys()...)
	}
	return append(keys, screen.DoBoth("change", func(step int) { m.moment.stepMarker(-step, false) })...)
}

// openHelp opens the help. The keys for the current view come first.
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
		{Name: display.Lit("in this view"), Groups: []modes.KeyGroup{{Title: display.Lit("Here"), Keys: keys}, anywhere}, Press: m.pressKey},
		{Name: display.Lit("while browsing"), Groups: browsing},
	}))
}

// browsingPlaces returns the contexts for the help: the focused pane with the program's keys, the keys that move and
// show panes, every other pane, the commands after ":", and the keys that work only in other views.
func (m *Model) browsingPlaces(keys []screen.Binding) []modes.KeyContext {
	here, elsewhere := m.groupBindings(keys)
	var move []modes.KeyGroup
	here = slices.DeleteFunc(here, func(g modes.KeyGroup) bool {
		isMove := slices.ContainsFunc(moveGroups, func(title string) bool { return g.Title == display.Clean(title) })
		if isMove {
			move = append(move, g)
		}
		return isMove
	})
	places := []modes.KeyContext{
		{Name: placeName(m.focus), Groups: here, Press: m.pressKey},
		{Name: display.Lit("for movement and panes"), Groups: move, Press: m.pressKey},
	}
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
	// If a command needs an argument, running it from the help asks for one.
	commands := modes.KeyGroup{Title: display.Lit("Commands after :")}
	for _, c := range m.typedCommands() {
		commands.Keys = append(commands.Keys, screen.Key(":"+c.Word, "", c.Does.String(), nil))
	}
	places = append(places, modes.KeyContext{Name: commands.Title, Groups: []modes.KeyGroup{commands}, Press: m.pressKey})
	if slices.ContainsFunc(elsewhere, func(g modes.KeyGroup) bool { return len(g.Keys) > 0 }) {
		places = append(places, modes.KeyContext{Name: display.Lit("in other views"), Groups: elsewhere})
	}
	return places
}

// placeName returns a pane's name for the help.
func placeName(of panes.Pane) display.Text {
	if name := of.Label().Name; !name.Empty() {
		return name.Between("in ", "")
	}
	return display.Lit("in a tab")
}

// openPalette opens the palette with the actions that the current view allows.
func (m *Model) openPalette() {
	here := slices.DeleteFunc(m.keysOf(m.modeStack.activeMode().Mode), func(b screen.Binding) bool { return b.Do == nil })
	keys := screen.MergeBindings(here, m.userGlobalKeys())
	m.modeStack.pushMode(modes.NewPalette(modeHost{m}, modes.PaletteActions{Keys: keys, Press: m.pressKey, Commands: m.typedCommands(), Bookmarks: m.bookmarks.paletteBookmarks(), Turn: m.goTo, History: &m.prompt}, m.draw))
}

// pressKey runs a key binding of the current view, or a command. For a command that needs an argument, it
// opens the palette with that command.
func (m *Model) pressKey(key string) {
	for _, c := range m.typedCommands() {
		switch {
		case key != ":"+c.Word:
		case c.Arg.Empty() || c.Alone:
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

// goToNumber goes to the turn with the given number, which the user typed.
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
		m.showNotice(m.draw.Format("no turn %d: the last turn is %s", number, screen.Count(m.pinned.turnCount())))
		return
	}
	m.modeStack.closeAll()
	modeHost{m}.Choose(r)
}
