package ui

import (
	"slices"
	"strconv"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/screen"
)

// typedCommands returns the commands that are typed after ":". Actions with a key are not included,
// because the palette lists keys.
func (m *Model) typedCommands() []modes.Command {
	return []modes.Command{
		{Word: "turn", Arg: display.Lit("NUMBER"), Does: display.Lit("go to a turn"), Run: m.goToNumber},
		{Word: "sort", Arg: display.Lit("cost|took|bytes|start"), Does: display.Lit("sort turns"), Run: m.openSorted},
		{Word: "jq", Arg: display.Lit("EXPR"), Does: display.Lit("run jq on arguments of one call or all"), Run: m.openJQ},
		{Word: "at", Arg: display.Lit("TIME"), Does: display.Lit("go to a moment: 1.25s, or delta d14"), Run: m.goAt},
		{Word: "mark", Arg: display.Lit("NAME"), Does: display.Lit("bookmark this place, for this session"), Run: m.toggleBookmark},
		{Word: "log", Does: display.Lit("show toolscope's log"), Run: func(string) { m.openLog() }},
		{Word: "paste", Does: display.Lit("show client setup lines"), Run: func(string) { m.openPaste() }},
		{Word: "hosts", Does: display.Lit("list the proxy's upstreams"), Run: func(string) { m.openRoutes() }},
	}
}

// openPalette opens the palette with the actions of the current view.
func (m *Model) openPalette() {
	here := slices.DeleteFunc(m.keysOf(m.activeMode().Mode), func(b screen.Binding) bool { return b.Do == nil })
	keys := mergeBindings(here, m.userGlobalKeys())
	m.pushMode(modes.NewPalette(modeHost{m}, modes.PaletteActions{Keys: keys, Press: m.pressKey, Commands: m.typedCommands(), Bookmarks: m.paletteBookmarks(), Turn: m.goTo}, m.draw))
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
			activeInput(m.activeMode().Mode).Insert(c.Word + " ")
			return
		}
	}
	if m.hasTourKeys() {
		if b := screen.FindBinding(m.tourKeys(), key); b != nil {
			b.Do()
			return
		}
	}
	if m.isTourShown() {
		m.leaveTour()
	}
	b := screen.FindBinding(m.keysOf(m.activeMode().Mode), key)
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
	r := stream.Ref{Turn: int32(min(number, m.turnCount()+1) - 1)}
	if t, _ := m.view.Find(r); number < 1 || t == nil {
		m.showNotice(m.draw.Format("no turn %d: the last is %s", number, screen.Count(m.turnCount())))
		return
	}
	m.closeAll()
	modeHost{m}.Choose(r)
}
