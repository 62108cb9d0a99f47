package ui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/ui/display"
	"toolscope/ui/filter"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// typedCommands returns the commands after ":", in the order of the palette.
func (m *Model) typedCommands() []modes.Command {
	before, filtered := m.pen.Ink.Theme, ""
	if m.filtering.turns.Active() {
		filtered = m.filtering.turns.Text()
	}
	return []modes.Command{
		{Word: "quit", Aliases: "q x", Does: display.Lit("quit; ask first if a client is active"), Run: func(string) { m.quitOrAsk(tea.Quit) }},
		{Word: "quit!", Aliases: "q!", Does: display.Lit("quit without asking"), Run: func(string) { m.modeStack.queueCmd(tea.Quit) }},
		{Word: "write", Aliases: "w", Arg: display.Lit("NAME"), Alone: true, Does: display.Lit("write a report or parts of a turn"), Run: func(name string) { m.exports.openWrite(name, nil) }},
		{Word: "wq", Does: display.Lit("write to a file, then quit"), Run: func(string) { m.exports.openWrite("", func() { m.quitOrAsk(tea.Quit) }) }},
		{Word: "export", Arg: display.Lit("FORMAT"), Does: display.Lit("write a report in this format"), Choices: m.exports.exportChoices, Run: m.exports.exportForm},
		{Word: "copy", Does: display.Lit("copy a value, arguments or a report"), Run: func(string) { m.openEntryOf("copy") }},
		{Word: "filter", Aliases: "f", Arg: display.Lit("WORDS"), Alone: true, Does: display.Lit("filter the turns as you type"), Choices: m.filtering.filterChoices,
			Run: m.filtering.runFilter, Show: func(text string) { m.filtering.applyFilter(text) }, Undo: func() { m.filtering.applyFilter(filtered) }},
		{Word: "find", Arg: display.Lit("TEXT"), Does: display.Lit("find in the pane"), Run: m.search.findText},
		{Word: "sort", Aliases: "s", Arg: display.Lit("worst|turn|size|time|cost|tool|model"), Does: display.Lit("sort the calls"), Spread: true, Choices: sortChoices, Run: m.sortBy},
		{Word: "theme", Arg: display.Lit("NAME"), Does: display.Lit("choose a theme, with a preview"), Choices: m.settings.themeChoices,
			Run: m.settings.runTheme, Show: m.settings.showTheme, Undo: func() { m.setTheme(before) }},
		{Word: "set", Arg: display.Lit("wrap|tail|clock|background|mouse|split"), Does: display.Lit("toggle a screen setting"), Spread: true, Choices: m.settings.settingChoices, Run: m.settings.toggleSetting},
		{Word: "open", Aliases: "e edit", Does: display.Lit("open a value or a report in $EDITOR"), Run: func(string) { m.openEntryOf("edit") }},
		{Word: "compare", Does: display.Lit("compare marked turns"), Run: func(string) { m.openEntryOf("compare") }},
		{Word: "replay", Does: display.Lit("preview how calls would be sent back"), Run: func(string) { m.openEntryOf("replay") }},
		{Word: "turn", Arg: display.Lit("NUMBER"), Does: display.Lit("go to a turn"), Run: m.goToNumber},
		{Word: "at", Arg: display.Lit("TIME"), Does: display.Lit("go to a moment: 1.25s, or delta d14"), Run: m.moment.goAt},
		{Word: "jq", Arg: display.Lit("EXPR"), Alone: true, Does: display.Lit("run jq on the arguments of calls"), Run: m.openJQ},
		{Word: "mark", Arg: display.Lit("NAME"), Does: display.Lit("bookmark this place for this session"), Run: m.bookmarks.toggleBookmark},
		{Word: "stats", Does: display.Lit("show failures, latencies and costs"), Run: func(string) { m.openStats() }},
		{Word: "log", Does: display.Lit("show toolscope's log"), Run: func(string) { m.openLog() }},
		{Word: "hosts", Does: display.Lit("list the proxy's upstreams"), Run: func(string) { m.openRoutes() }},
		{Word: "paste", Does: display.Lit("show client setup lines"), Run: func(string) { m.setup.openPaste() }},
		{Word: "mouse", Does: display.Lit("toggle the mouse"), Run: func(string) { m.mouse.useMouse() }},
		{Word: "help", Aliases: "h", Does: display.Lit("list the keys and explain the symbols"), Run: func(string) { m.openHelp() }},
	}
}

// openEntryOf opens the mode for an action, or shows why it can't be opened.
func (m *Model) openEntryOf(action string) {
	key := screen.ActionNamed(action).KeyList()[0]
	for _, e := range m.entries {
		if slices.Contains(e.Keys, key) {
			m.modeStack.openEntry(e)
			return
		}
	}
}

// openStats shows the rates, latencies and costs of the turns that have ended so far.
func (m *Model) openStats() {
	if m.opt.Stats == nil {
		m.showNotice(display.Lit("no statistics here: open a file"))
		return
	}
	m.openOutput(panes.Literal{Path: "stats", Text: m.opt.Stats(m.view, m.w-2)})
}

// openWrite opens the menu of parts and reports that can be written to a file. The parameter name is the
// file's name, or "" for the default name. The function named then is called after the file is written; it
// may be nil.
func (x *exports) openWrite(name string, then func()) {
	outlet := x.newExport()
	outlet.Name, outlet.Saved = name, then
	x.m.modeStack.openEntry(modes.ExportMenu(modes.Save, outlet, x.exportables, x.m.draw))
}

// exportChoices lists the report formats.
func (x *exports) exportChoices(string) (all []modes.Choice) {
	for _, f := range x.m.opt.Forms {
		all = append(all, modes.Choice{Arg: f.What.String(), Does: x.m.draw.Clean(f.File)})
	}
	return all
}

// exportForm writes a report on the selection in the given format.
func (x *exports) exportForm(arg string) {
	for _, f := range x.m.opt.Forms {
		if f.What.String() != arg {
			continue
		}
		data, err := f.Make(x.m.view, x.m.selected)
		if err != nil {
			x.m.showNotice(x.m.draw.Clean(err.Error()))
			return
		}
		x.newExport().SaveBody(modeHost{x.m}, x.m.draw, modes.Body{Data: data, What: f.What, File: f.File})
		return
	}
	x.m.showNotice(x.m.draw.Format("unknown format %q; :export lists the formats", arg))
}

// filterChoices completes the last word of a filter.
func (f *filtering) filterChoices(typed string) []modes.Choice {
	all := []modes.Choice{{Arg: typed, Does: display.Lit("filter the turns as you type")}}
	_, words := filter.Complete(typed, f.fieldWords)
	before := typed[:strings.LastIndexByte(typed, ' ')+1]
	for _, word := range words {
		if arg := before + word; arg != typed {
			all = append(all, modes.Choice{Arg: arg})
		}
	}
	return all
}

// runFilter filters the list. It opens the filter bar if text is empty or has an invalid part.
func (f *filtering) runFilter(text string) {
	if text != "" && len(f.applyFilter(text)) == 0 {
		if !slices.Contains(f.kept, text) {
			f.kept = append(f.kept, text)
		}
		return
	}
	f.openFilter()
}

// sortChoices lists the orders for the list of calls.
func sortChoices(string) (all []modes.Choice) {
	for _, word := range panes.SortWords() {
		by, _ := panes.SortKeyNamed(word)
		choice := modes.Choice{Arg: word, Does: display.Clean(by.String()).Between("sort the calls ", "")}
		if word == "cost" {
			choice.Alias = "cost"
		}
		all = append(all, choice)
	}
	return all
}

// settings changes the theme and the settings of the screen.
type settings struct{ m *Model }

// themeChoices lists all themes.
func (s *settings) themeChoices(string) (all []modes.Choice) {
	for _, name := range s.themeActions().Names() {
		all = append(all, modes.Choice{Arg: name, Does: display.Lit("a theme, with a preview")})
	}
	return all
}

// showTheme draws the screen in a theme. An unknown name changes nothing.
func (s *settings) showTheme(name string) {
	if a := s.themeActions(); slices.Contains(a.Names(), name) {
		s.m.setTheme(a.Named(name, s.m.pen.Ink.Theme.Dark))
	}
}

func (s *settings) runTheme(name string) {
	if !slices.Contains(s.themeActions().Names(), name) {
		s.m.showNotice(s.m.draw.Format("unknown theme %q: t lists all", name))
		return
	}
	s.showTheme(name)
}

// A screenSetting is a setting that ":set" toggles.
type screenSetting struct {
	name, alias, does string
	toggle            func()
	is                func() bool
}

func (s *settings) screenSettings() []screenSetting {
	return []screenSetting{
		{"wrap", "wrap", "toggle indented or raw arguments", func() { s.m.context.Raw = !s.m.context.Raw; s.m.refreshPanes() }, func() bool { return !s.m.context.Raw }},
		{"tail", "tail", "follow new events", func() { s.m.setFollow(!s.m.follow) }, func() bool { return s.m.follow }},
		{"clock", "", "toggle clock or elapsed time", s.m.toggleClock, func() bool { return s.m.context.Clock }},
		{"background", "", "show background requests", s.m.toggleBackground, func() bool { return !s.m.context.Quiet }},
		{"mouse", "", "toggle the mouse", s.m.mouse.useMouse, func() bool { return s.m.mouse.on }},
		{"split", "", "panes side by side or stacked", s.m.toggleSplit, nil},
	}
}

func (s *settings) settingChoices(string) (all []modes.Choice) {
	for _, of := range s.screenSettings() {
		all = append(all, modes.Choice{Arg: of.name, Alias: of.alias, Does: display.Clean(of.does)})
	}
	return all
}

// toggleSetting toggles a setting. It shows the new state, unless the toggle shows a notice itself.
func (s *settings) toggleSetting(name string) {
	for _, of := range s.screenSettings() {
		if of.name != name {
			continue
		}
		if of.toggle(); of.is != nil && s.m.notice.Empty() {
			state := "off"
			if of.is() {
				state = "on"
			}
			s.m.showNotice(s.m.draw.Format("%s is %s", name, state))
		}
		return
	}
	s.m.showNotice(s.m.draw.Format("unknown setting %q: :set lists them", name))
}
