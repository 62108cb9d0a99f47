package ui

import (
	"slices"
	"strconv"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/screen"
)

// commands are the words that can be typed behind ":", a line for each. What has a key is in the
// palette by its key, and needs no line.
func (m *Model) commands() []modes.Command {
	return []modes.Command{
		{Word: "turn", Arg: display.Lit("NUMBER"), Does: display.Lit("go to a turn"), Run: m.goToNumber},
		{Word: "sort", Arg: display.Lit("cost|took|bytes|start"), Does: display.Lit("the turns in another order"), Run: m.openSorted},
		{Word: "jq", Arg: display.Lit("EXPR"), Does: display.Lit("ask the arguments, of one call or all"), Run: m.openJQ},
		{Word: "at", Arg: display.Lit("TIME"), Does: display.Lit("to a moment: 1.25s, or delta d14"), Run: m.goAt},
		{Word: "mark", Arg: display.Lit("NAME"), Does: display.Lit("bookmark this place, for this session"), Run: m.bookmark},
		{Word: "log", Does: display.Lit("what toolscope noted and said"), Run: func(string) { m.openLog() }},
		{Word: "paste", Does: display.Lit("what sends clients to the proxy"), Run: func(string) { m.openPaste() }},
		{Word: "hosts", Does: display.Lit("where the proxy's address leads"), Run: func(string) { m.openHosts() }},
	}
}

// openPalette offers what can be done where one is.
func (m *Model) openPalette() {
	here := slices.DeleteFunc(m.keysOf(m.top().Mode), func(b screen.Binding) bool { return b.Do == nil })
	keys := instead(here, m.everywhere())
	m.open(modes.NewPalette(asHost{m}, modes.PaletteActions{Keys: keys, Press: m.press, Commands: m.commands(), Bookmarks: m.bookmarks(), Turn: m.goTo}, m.draw))
}

// press does what a key does where one is, or what the word behind ":" does, which is begun if more
// belongs to it.
func (m *Model) press(key string) {
	for _, c := range m.commands() {
		switch {
		case key != ":"+c.Word:
		case c.Arg.Empty():
			c.Run("")
			return
		default:
			m.openPalette()
			typing(m.top().Mode).Insert(c.Word + " ")
			return
		}
	}
	if m.atStage() {
		if b := screen.FindBinding(m.stageKeys(), key); b != nil {
			b.Do()
			return
		}
	}
	if m.onStage() {
		m.stepOff()
	}
	b := screen.FindBinding(m.keysOf(m.top().Mode), key)
	if b == nil {
		b = screen.FindBinding(m.everywhere(), key)
	}
	if b == nil {
		m.say(display.Lit("not any more: something else has come"))
		return
	}
	m.act(b)
}

// goToNumber goes to the turn of that number.
func (m *Model) goToNumber(arg string) {
	n, err := strconv.Atoi(arg)
	if err != nil {
		m.say(m.draw.Format("%q: a turn has a number, as in :turn 12", arg))
		return
	}
	m.goTo(n)
}

// goTo goes to a turn by the number that the list shows.
func (m *Model) goTo(number int) {
	r := stream.Ref{Turn: int32(min(number, m.turns()+1) - 1)}
	if t, _ := m.view.Find(r); number < 1 || t == nil {
		m.say(m.draw.Format("there is no turn %d: they go up to %s", number, screen.Count(m.turns())))
		return
	}
	m.closeAll()
	asHost{m}.Choose(r)
}
