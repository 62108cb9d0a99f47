package replay

import (
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Keys returns the key bindings of the table, or of the section that fills the screen.
func (m *replayMode) Keys() []screen.Binding {
	if m.full {
		return m.sectionKeys()
	}
	return m.tableKeys()
}

func (m *replayMode) tableKeys() []screen.Binding {
	if m.picking {
		return m.pickKeys()
	}
	across, other := [2]display.Text{display.Lit("previous client"), display.Lit("next client")}, display.Lit("tab all clients")
	if m.policies {
		across, other = [2]display.Text{display.Lit("previous target"), display.Lit("next target")}, display.Lit("tab all targets")
	}
	keys := []screen.Binding{
		m.pickPolicyKey(),
		{Keys: []string{"tab", "shift+tab"}, Hint: other, Does: display.Lit("list targets or clients"), Do: func() {
			m.policies = !m.policies
			m.placeCursor()
		}},
		m.scopeKey(),
		{Keys: []string{"enter"}, Hint: display.Lit("enter body"), Does: display.Lit("show the body alone"), Do: func() { m.full = true }},
	}
	keys = append(keys, m.outlet.Keys(m.host, m.draw, m.shownBody)...)
	keys = append(keys,
		screen.Binding{Keys: []string{"esc", "q"}, Hint: display.Lit("esc close"), Does: display.Lit("close"), Do: m.host.Close},
		screen.Binding{Keys: []string{"left", "h"}, Does: across[0], Do: func() { m.stepSelection(!m.policies, -1) }},
		screen.Binding{Keys: []string{"right", "l"}, Does: across[1], Do: func() { m.stepSelection(!m.policies, 1) }},
		m.previousPolicyKey(), withoutHint(m.rawKey()),
	)
	return append(keys, m.CursorKeys(display.Text{}, m.moveTo)...)
}

// pickKeys returns the key bindings of the list from which the user picks a client.
func (m *replayMode) pickKeys() []screen.Binding {
	pick := func(policy int) func() {
		return func() {
			m.policy, m.policies, m.picking = policy, false, false
			m.placeCursor()
		}
	}
	keys := []screen.Binding{
		{Keys: []string{"enter", "p"}, Hint: display.Lit("enter pick"), Does: display.Lit("replay as this client"), Do: pick(m.policy)},
		{Keys: []string{"esc", "q"}, Hint: display.Lit("esc cancel"), Does: display.Lit("cancel"), Do: pick(m.picked)},
	}
	return append(keys, m.CursorKeys(display.Lit("j k client"), m.moveTo)...)
}

// pickPolicyKey opens the list of clients, which shows each client's outcome.
func (m *replayMode) pickPolicyKey() screen.Binding {
	return screen.Binding{Keys: []string{"p"}, Hint: display.Lit("p other client"), Does: display.Lit("pick a client"), Do: func() {
		if m.policies {
			m.stepSelection(true, 1)
			return
		}
		m.picking, m.picked, m.policies = true, m.policy, true
		m.placeCursor()
	}}
}

func (m *replayMode) sectionKeys() []screen.Binding {
	turn := func(by pageSection) func() { return func() { m.section = (m.section + by) % numSections } }
	keys := []screen.Binding{
		{Keys: []string{"esc", "q"}, Hint: display.Lit("esc back"), Does: display.Lit("back to the table"), Do: func() { m.full = false }},
	}
	keys = append(keys, m.sections[m.section].ScrollKeys(display.Lit("j k scroll"))...)
	keys = append(keys,
		screen.Binding{Keys: []string{"right", "l", "tab"}, Hint: display.Lit("h l next"), Does: display.Lit("next: sent, wrote, lost"), Do: turn(1)},
		screen.Binding{Keys: []string{"left", "h", "shift+tab"}, Does: display.Lit("previous: lost, wrote, sent"), Do: turn(numSections - 1)},
		m.nextPolicyKey(), m.rawKey(),
	)
	keys = append(keys, m.outlet.Keys(m.host, m.draw, m.shownBody)...)
	return append(keys, m.previousPolicyKey(), withoutHint(m.scopeKey()))
}

func (m *replayMode) nextPolicyKey() screen.Binding {
	return screen.Binding{Keys: []string{"p"}, Hint: display.Lit("p client"), Does: display.Lit("next client"), Do: func() { m.stepSelection(true, 1) }}
}

func (m *replayMode) previousPolicyKey() screen.Binding {
	return screen.Binding{Keys: []string{"P"}, Does: display.Lit("previous client"), Do: func() { m.stepSelection(true, -1) }}
}

func (m *replayMode) scopeKey() screen.Binding {
	return screen.Binding{Keys: []string{"s"}, Hint: display.Lit("s scope"), Does: display.Lit("change the scope"), Do: m.switchScope}
}

func (m *replayMode) rawKey() screen.Binding {
	return screen.Binding{Keys: []string{"r"}, Hint: display.Lit("r raw"), Does: display.Lit("toggle raw text"), Do: func() { m.raw = !m.raw }}
}

// withoutHint returns a binding that only the help lists.
func withoutHint(b screen.Binding) screen.Binding {
	b.Hint = display.Text{}
	return b
}
