package panes

import (
	"strings"
	"time"

	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// MachineState is the state of a machine that publishes traffic.
type MachineState struct {
	Name   string
	Age    time.Duration // time since its last sign of life
	Waits  int64         // bytes that it has not published yet
	Skew   time.Duration // difference of its clock; positive if it is ahead
	Silent bool
	Ended  bool // it announced that it stops publishing
	Read   bool // all known data was published before this view began
}

// updateStates sets the states of the machines, also of those without turns. It reports whether machines
// were removed.
func (r *machineRows) updateStates(states []MachineState) (gone bool) {
	switch {
	case len(states) == 0 && r.lastStates == nil, len(states) > 0 && r.lastStates == &states[0]:
		return false
	case len(states) == 0:
		r.lastStates = nil
	default:
		r.lastStates = &states[0]
	}
	names := make([]string, len(states))
	for i := range states {
		names[i] = states[i].Name
	}
	r.addMachines(names)
	for _, h := range r.machines {
		h.state = nil
	}
	for i := range states {
		r.machineNamed(states[i].Name).state = &states[i]
	}
	return r.dropUnknown()
}

// Limits for the notes about a machine.
const (
	minTableCells   = 84 // width from which each fact has a column
	minMachineCells = 12 // cells of a name
	minSkew         = 2 * time.Second
	minAge          = 10 * time.Second // a sign of life comes every 5 s
)

// drawMachine draws the row of a machine: its fold, its name and the names of its captures; on the right
// its trouble, its bad calls, and its number of turns. If there is room, each has its own column.
func (l *List) drawMachine(p *screen.Pen, h *machineTurns, g screen.Surface) {
	sign := p.Glyph.Unfold
	if h.shut {
		sign = p.Glyph.Fold
	}
	p.TextOn(screen.Muted, g, sign.Between("", " "))
	name := p.Name(h.name)
	if h.name == "" {
		name = display.Lit("this machine")
	}
	told := l.machineNotes(p, h)
	room, columns := p.Left-min(name.Width(), minMachineCells)-1, p.Left >= minTableCells
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
	if agents := p.Name(strings.Join(h.agents, ", ")); room-name.Width() > minWords+2 && !agents.Empty() && len(h.agents) <= maxAgents {
		name = display.Join(name, display.Lit("  "), agents)
	}
	p.TextOn(screen.Plain, g, p.Pad(p.Truncate(name, max(1, room-1)), room))
	for _, of := range told {
		p.TextOn(of.role, g, alignRight(p, of.text, of.cells))
	}
	p.Fill(g)
}

// machineNote is a note about a machine.
type machineNote struct {
	text  display.Text
	role  screen.Role
	cells int // of its column
}

// machineNotes returns the notes about a machine, the most important first. The last ones are dropped
// first.
func (l *List) machineNotes(p *screen.Pen, h *machineTurns) []machineNote {
	silent, bad, turns, waits, skew := machineNote{cells: 16}, machineNote{cells: 12, role: screen.Bad}, machineNote{cells: 16, role: screen.Muted}, machineNote{cells: 15}, machineNote{cells: 15}
	if s := h.state; s != nil {
		switch {
		case s.Silent:
			silent.text, silent.role = agoText(s.Age).Between("SILENT ", ""), screen.Bad
		case s.Ended:
			silent.text, silent.role = agoText(s.Age).Between("ended ", " ago"), screen.Muted
		case s.Age >= minAge && s.Read:
			silent.text, silent.role = agoText(s.Age).Between("sent ", " ago"), screen.Muted
		case s.Age >= minAge:
			silent.text, silent.role = agoText(s.Age).Between("heard ", " ago"), screen.Muted
		}
		if s.Waits > 0 {
			waits.text = screen.Bytes(int(s.Waits)).Between("", " wait")
		}
		if s.Skew.Abs() >= minSkew {
			skew.text = p.Format("clock %+.0f s", s.Skew.Seconds())
		}
	}
	if n := h.count.allBad(); n > 0 {
		bad.text = screen.Count(n).Between("", " bad")
	}
	turns.text = screen.Plural(len(h.turns)+h.dropped, "turn")
	return []machineNote{silent, bad, turns, waits, skew}
}

// agoText formats an age as a rough value.
func agoText(d time.Duration) display.Text {
	switch {
	case d < 2*time.Minute:
		return display.Format("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return display.Format("%d min", int(d.Minutes()))
	}
	return display.Format("%d h", int(d.Hours()))
}
