package ui

import (
	"slices"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// stageKeys are those of the stage, whatever it has opened. All others are the user's, who takes over
// with them.
func (m *Model) stageKeys() []screen.Binding {
	km := m.keys
	hold := on(km.Pause, m.spaceOnStage)
	if hold.Hint = display.Lit("space hold"); m.stage.waits {
		hold.Hint = display.Lit("space go on")
	}
	claim := m.claimKeys()
	keys := []screen.Binding{
		{Keys: []string{"?"}, Hint: display.Lit("? help")}, hold,
		{Keys: []string{","}, Hint: display.Lit(", . step")},
		claim[0], claim[1], m.restartKey(),
		{Keys: km.Escape.Keys(), Hint: display.Lit("esc end"), Does: display.Lit("leave it to you"), Do: m.leaveStage},
	}
	if m.large {
		next := screen.Binding{Keys: []string{"tab"}, Hint: display.Lit("tab next call")}
		keys = append(append(slices.Clone(keys[1:5]), next, keys[0]), keys[5:]...)
	}
	return m.asUser(append(keys, pair(km.Speed, func(step int) { m.setSpeed(step < 0) })...), false)
}

// claimKeys lead to the claims of the demo.
func (m *Model) claimKeys() []screen.Binding {
	keys := pair(m.keys.Change, func(step int) { m.nextClaim(-step) })
	keys[0].Hint = display.Lit("{ } claim")
	keys[0].Does, keys[1].Does = display.Lit("the claim before"), display.Lit("the next claim of the demo")
	return keys
}

// restartKey plays the demo from its start.
func (m *Model) restartKey() screen.Binding {
	b := on(m.keys.Demo, m.curtain)
	b.Hint, b.Does = display.Lit("d restart"), display.Lit("the demo from its start")
	return b
}

// keyOnStage is a key that is pressed while the demo is shown. What is none of the stage's goes on from
// the opening, and else means that the user takes over: it does what it does where that is.
func (m *Model) keyOnStage(k tea.KeyMsg) {
	km, name := m.keys, k.String()
	if b := screen.FindBinding(m.stageKeys(), name); b != nil {
		b.Do()
		return
	}
	if b := screen.FindBinding(m.everywhere(), name); b != nil && among(name, km.Help, km.Theme, km.Suspend, km.Interrupted) {
		if among(name, km.Help, km.Theme) {
			m.holdStage()
		}
		b.Do()
		return
	}
	if m.opening() && !among(name, km.Quit) {
		m.goOn()
		return
	}
	m.stepOff()
	m.key(k)
	if _, browsing := m.top().Mode.(browse); browsing && m.notice.Empty() {
		m.leaveStage()
	}
}

func among(name string, of ...key.Binding) bool {
	return slices.ContainsFunc(of, func(b key.Binding) bool { return slices.Contains(b.Keys(), name) })
}
