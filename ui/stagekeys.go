package ui

import (
	"slices"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// tourKeys returns the keys of the tour, whatever evidence is open. After any other key, the user has
// control.
func (m *Model) tourKeys() []screen.Binding {
	km := m.keys
	hold := bindAction(km.Pause, m.toggleTour)
	if hold.Hint = display.Lit("space pause"); m.tour.waits {
		hold.Hint = display.Lit("space next")
	}
	claim := m.sceneKeys()
	keys := []screen.Binding{
		{Keys: []string{"?"}, Hint: display.Lit("? help")}, hold,
		{Keys: []string{","}, Hint: display.Lit(", . step")},
		claim[0], claim[1], m.restartKey(),
		{Keys: km.Escape.Keys(), Hint: display.Lit("esc end"), Does: display.Lit("end the tour and explore"), Do: m.leaveTourWithNote},
	}
	if m.large {
		next := screen.Binding{Keys: []string{"tab"}, Hint: display.Lit("tab next call")}
		keys = append(append(slices.Clone(keys[1:5]), next, keys[0]), keys[5:]...)
	}
	return m.asUser(append(keys, bindPair(km.Speed, func(step int) { m.setSpeed(step < 0) })...), false)
}

// sceneKeys returns the keys that go to other scenes.
func (m *Model) sceneKeys() []screen.Binding {
	keys := bindPair(m.keys.Change, func(step int) { m.nextScene(-step) })
	keys[0].Hint = display.Lit("{ } scene")
	keys[0].Does, keys[1].Does = display.Lit("previous scene"), display.Lit("next scene of the demo")
	return keys
}

// restartKey returns the key that restarts the demo.
func (m *Model) restartKey() screen.Binding {
	b := bindAction(m.keys.Demo, m.startTour)
	b.Hint, b.Does = display.Lit("d restart"), display.Lit("restart the demo")
	return b
}

// handleTourKey handles a key during the tour. During the opening, any key that the tour doesn't use
// continues. Later, such a key ends the tour and has its usual effect.
func (m *Model) handleTourKey(k tea.KeyMsg) {
	km, name := m.keys, k.String()
	if b := screen.FindBinding(m.tourKeys(), name); b != nil {
		b.Do()
		return
	}
	if b := screen.FindBinding(m.userGlobalKeys(), name); b != nil && containsKey(name, km.Help, km.Theme, km.Suspend, km.Interrupted) {
		if containsKey(name, km.Help, km.Theme) {
			m.pauseTour()
		}
		b.Do()
		return
	}
	if m.isTourOpening() && !containsKey(name, km.Quit) {
		m.playToNextScene()
		return
	}
	m.leaveTour()
	m.handleKey(k)
	if _, browsing := m.activeMode().Mode.(browse); browsing && m.notice.Empty() {
		m.leaveTourWithNote()
	}
}

func containsKey(name string, of ...key.Binding) bool {
	return slices.ContainsFunc(of, func(b key.Binding) bool { return slices.Contains(b.Keys(), name) })
}
