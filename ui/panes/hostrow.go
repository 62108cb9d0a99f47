package panes

import (
	"strings"
	"time"

	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// HostState is how a machine is doing that sends what is shown.
type HostState struct {
	Name   string
	Age    time.Duration // since there was a sign of it
	Waits  int64         // bytes that it has not sent yet
	Skew   time.Duration // by how much its clock is ahead
	Silent bool
	Ended  bool // it said that it ends
	Read   bool // there was no sign of it but what it sent before anybody listened
}

// take has machines be known as they are now, those that sent no turn too. It reports whether some went of
// which nothing is known any more.
func (r *hostRows) take(states []HostState) (gone bool) {
	switch {
	case len(states) == 0 && r.told == nil, len(states) > 0 && r.told == &states[0]:
		return false
	case len(states) == 0:
		r.told = nil
	default:
		r.told = &states[0]
	}
	names := make([]string, len(states))
	for i := range states {
		names[i] = states[i].Name
	}
	r.add(names)
	for _, h := range r.hosts {
		h.state = nil
	}
	for i := range states {
		r.named(states[i].Name).state = &states[i]
	}
	return r.drop()
}

// What of a machine is worth being said.
const (
	leastTable = 84 // cells from which on each fact has a column
	leastHost  = 12 // cells of a name
	leastSkew  = 2 * time.Second
	leastAge   = 10 * time.Second // a sign comes every 5 s
)

// drawHost writes a machine: whether it is folded, its name and what its captures are called there;
// flush right what is wrong with it, how much went wrong of what it sent, and how much that is. Where
// there is room each stands in a column of its own.
func (l *List) drawHost(p *screen.Pen, h *hostTurns, g screen.Ground) {
	sign := p.Glyph.Unfold
	if h.shut {
		sign = p.Glyph.Fold
	}
	p.Put(screen.Muted, g, sign.Between("", " "))
	name := p.Name(h.name)
	if h.name == "" {
		name = display.Lit("this machine")
	}
	told := l.tells(p, h)
	room, columns := p.Left-min(name.Width(), leastHost)-1, p.Left >= leastTable
	for width := 0; ; width = 0 {
		for i := range told {
			if columns {
				told[i].cells = max(told[i].cells, told[i].text.Width())
			} else if told[i].cells = 0; !told[i].text.Empty() {
				told[i].cells = told[i].text.Width() + 2
			}
			width += told[i].cells
		}
		if width <= room || len(told) == 0 {
			room = p.Left - width
			break
		}
		told = told[:len(told)-1]
	}
	if agents := p.Name(strings.Join(h.agents, ", ")); room-name.Width() > leastWords+2 && !agents.Empty() && len(h.agents) <= mostAgents {
		name = display.Join(name, display.Lit("  "), agents)
	}
	p.Put(screen.Plain, g, p.Pad(p.Truncate(name, max(1, room-1)), room))
	for _, of := range told {
		p.Put(of.role, g, flush(p, of.text, of.cells))
	}
	p.Fill(g)
}

// hostTold is something that is said of a machine.
type hostTold struct {
	text  display.Text
	role  screen.Role
	cells int // of its column
}

// tells is what is said of a machine, the most important first: it is the last to go.
func (l *List) tells(p *screen.Pen, h *hostTurns) []hostTold {
	silent, bad, turns, waits, skew := hostTold{cells: 16}, hostTold{cells: 12, role: screen.Bad}, hostTold{cells: 16, role: screen.Muted}, hostTold{cells: 15}, hostTold{cells: 15}
	if s := h.state; s != nil {
		switch {
		case s.Silent:
			silent.text, silent.role = ago(s.Age).Between("SILENT ", ""), screen.Bad
		case s.Ended:
			silent.text, silent.role = ago(s.Age).Between("ended ", " ago"), screen.Muted
		case s.Age >= leastAge && s.Read:
			silent.text, silent.role = ago(s.Age).Between("sent ", " ago"), screen.Muted
		case s.Age >= leastAge:
			silent.text, silent.role = ago(s.Age).Between("heard ", " ago"), screen.Muted
		}
		if s.Waits > 0 {
			waits.text = screen.Bytes(int(s.Waits)).Between("", " wait")
		}
		if s.Skew.Abs() >= leastSkew {
			skew.text = p.Format("clock %+.0f s", s.Skew.Seconds())
		}
	}
	if n := h.count.allBad(); n > 0 {
		bad.text = screen.Count(n).Between("", " bad")
	}
	turns.text = screen.Plural(len(h.turns)+h.gone, "turn")
	return []hostTold{silent, bad, turns, waits, skew}
}

// ago is how long ago something was, as roughly as one wants to know of a machine.
func ago(d time.Duration) display.Text {
	switch {
	case d < 2*time.Minute:
		return display.Format("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return display.Format("%d min", int(d.Minutes()))
	}
	return display.Format("%d h", int(d.Hours()))
}
