package ui

import (
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// openHelp opens the help: the signs, then the keys. The keys of the current view come first.
func (m *Model) openHelp() {
	keys := m.keysOf(m.activeMode().Mode)
	if _, browsing := m.activeMode().Mode.(browse); browsing {
		m.pushMode(modes.NewHelp(modeHost{m}, &m.pen, m.browsingPlaces(keys)))
		return
	}
	groups, _ := m.groupBindings(m.userGlobalKeys())
	anywhere := modes.KeyGroup{Title: display.Lit("Anywhere")}
	for _, g := range groups {
		anywhere.Keys = append(anywhere.Keys, g.Keys...)
	}
	browsing, _ := m.groupBindings(m.keysOf(browse{m}))
	m.pushMode(modes.NewHelp(modeHost{m}, &m.pen, []modes.KeyContext{
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
