package ui

import (
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
)

// openJQ asks the chosen call, or the calls of the chosen turn, and then those of all turns that are
// shown.
func (m *Model) openJQ(expr string) {
	if expr == "" {
		m.say(display.Lit("jq wants an expression, as in :jq .path"))
		return
	}
	all := modes.Scope{Name: display.Lit("all calls"), Calls: func() []modes.Asked {
		return modes.AskedOf(m.view.Session().Turns, m.sieve.Shows)
	}}
	if m.sieve.On() {
		all.Name = display.Lit("all calls of the turns that are shown")
	}
	chosen := m.chosen
	one := modes.Scope{Name: display.Lit("this turn"), Calls: func() []modes.Asked {
		t, c := m.view.Find(chosen)
		switch {
		case t == nil:
			return nil
		case c != nil:
			return []modes.Asked{modes.AskedCall(t, c)}
		}
		return modes.AskedOf([]*stream.Turn{t}, func(*stream.Turn) bool { return true })
	}}
	if chosen.Call != 0 {
		one.Name = display.Lit("this call")
	}
	mode, why := modes.NewJQ(asHost{m}, expr, []modes.Scope{one, all}, m.draw)
	if mode == nil {
		m.say(why)
		return
	}
	m.open(mode)
}
