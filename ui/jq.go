package ui

import (
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
)

// openJQ runs jq on the selected call, or the calls of the selected turn; the other scope is all shown turns.
func (m *Model) openJQ(expr string) {
	if expr == "" {
		m.showNotice(display.Lit("jq needs an expression, e.g. :jq .path"))
		return
	}
	all := modes.Scope{Name: display.Lit("all calls"), Calls: func() []modes.JQCall {
		return modes.JQCalls(m.view.Session().Turns, m.turnFilter.Shows)
	}}
	if m.turnFilter.Active() {
		all.Name = display.Lit("all calls of the shown turns")
	}
	chosen := m.selected
	one := modes.Scope{Name: display.Lit("this turn"), Calls: func() []modes.JQCall {
		t, c := m.view.Find(chosen)
		switch {
		case t == nil:
			return nil
		case c != nil:
			return []modes.JQCall{modes.NewJQCall(t, c)}
		}
		return modes.JQCalls([]*stream.Turn{t}, func(*stream.Turn) bool { return true })
	}}
	if chosen.Call != 0 {
		one.Name = display.Lit("this call")
	}
	mode, why := modes.NewJQ(modeHost{m}, expr, []modes.Scope{one, all}, m.draw)
	if mode == nil {
		m.showNotice(why)
		return
	}
	m.pushMode(mode)
}
