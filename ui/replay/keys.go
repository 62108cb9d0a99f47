package replay

import (
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Keys are those of the table, or of the face that is shown alone.
func (m *mode) Keys() []screen.Binding {
	if m.full {
		return m.faceKeys()
	}
	return m.tableKeys()
}

func (m *mode) tableKeys() []screen.Binding {
	if m.picking {
		return m.pickKeys()
	}
	across, other := [2]display.Text{display.Lit("client before"), display.Lit("next client")}, display.Lit("tab all clients")
	if m.policies {
		across, other = [2]display.Text{display.Lit("target before"), display.Lit("next target")}, display.Lit("tab all targets")
	}
	keys := []screen.Binding{
		m.otherPolicy(),
		{Keys: []string{"tab", "shift+tab"}, Hint: other, Does: display.Lit("rows: targets or clients"), Do: func() {
			m.policies = !m.policies
			m.point()
		}},
		m.nextScope(),
		{Keys: []string{"enter"}, Hint: display.Lit("enter body"), Does: display.Lit("what would be sent, alone"), Do: func() { m.full = true }},
	}
	keys = append(keys, m.outlet.Keys(m.host, m.draw, m.body)...)
	keys = append(keys,
		screen.Binding{Keys: []string{"esc", "q"}, Hint: display.Lit("esc close"), Does: display.Lit("close"), Do: m.host.Close},
		screen.Binding{Keys: []string{"left", "h"}, Does: across[0], Do: func() { m.step(!m.policies, -1) }},
		screen.Binding{Keys: []string{"right", "l"}, Does: across[1], Do: func() { m.step(!m.policies, 1) }},
		m.policyBefore(), silent(m.asRaw()),
	)
	return append(keys, m.Steps(display.Text{}, m.moveTo)...)
}

// pickKeys are those of the list of clients, from which one is picked.
func (m *mode) pickKeys() []screen.Binding {
	pick := func(policy int) func() {
		return func() {
			m.policy, m.policies, m.picking = policy, false, false
			m.point()
		}
	}
	keys := []screen.Binding{
		{Keys: []string{"enter", "p"}, Hint: display.Lit("enter as this one"), Does: display.Lit("replay as this client"), Do: pick(m.policy)},
		{Keys: []string{"esc", "q"}, Hint: display.Lit("esc as before"), Does: display.Lit("as before"), Do: pick(m.picked)},
	}
	return append(keys, m.Steps(display.Lit("j k client"), m.moveTo)...)
}

// otherPolicy opens the list of clients, each with what becomes of the call.
func (m *mode) otherPolicy() screen.Binding {
	return screen.Binding{Keys: []string{"p"}, Hint: display.Lit("p other client"), Does: display.Lit("pick a client"), Do: func() {
		if m.policies {
			m.step(true, 1)
			return
		}
		m.picking, m.picked, m.policies = true, m.policy, true
		m.point()
	}}
}

func (m *mode) faceKeys() []screen.Binding {
	turn := func(by face) func() { return func() { m.face = (m.face + by) % numFaces } }
	keys := []screen.Binding{
		{Keys: []string{"esc", "q"}, Hint: display.Lit("esc back"), Does: display.Lit("back to the table"), Do: func() { m.full = false }},
	}
	keys = append(keys, m.faces[m.face].Scrolls(display.Lit("j k scroll"))...)
	keys = append(keys,
		screen.Binding{Keys: []string{"right", "l", "tab"}, Hint: display.Lit("h l next"), Does: display.Lit("next: sent, wrote, lost"), Do: turn(1)},
		screen.Binding{Keys: []string{"left", "h", "shift+tab"}, Does: display.Lit("the one before"), Do: turn(numFaces - 1)},
		m.nextPolicy(), m.asRaw(),
	)
	keys = append(keys, m.outlet.Keys(m.host, m.draw, m.body)...)
	return append(keys, m.policyBefore(), silent(m.nextScope()))
}

func (m *mode) nextPolicy() screen.Binding {
	return screen.Binding{Keys: []string{"p"}, Hint: display.Lit("p client"), Does: display.Lit("next client"), Do: func() { m.step(true, 1) }}
}

func (m *mode) policyBefore() screen.Binding {
	return screen.Binding{Keys: []string{"P"}, Does: display.Lit("client before"), Do: func() { m.step(true, -1) }}
}

func (m *mode) nextScope() screen.Binding {
	return screen.Binding{Keys: []string{"s"}, Hint: display.Lit("s scope"), Does: display.Lit("call, turn or all of it"), Do: m.widen}
}

func (m *mode) asRaw() screen.Binding {
	return screen.Binding{Keys: []string{"r"}, Hint: display.Lit("r raw"), Does: display.Lit("indented, or byte by byte"), Do: func() { m.raw = !m.raw }}
}

// silent is a binding that only the help lists.
func silent(b screen.Binding) screen.Binding {
	b.Hint = display.Text{}
	return b
}
