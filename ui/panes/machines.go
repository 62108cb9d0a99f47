package panes

import (
	"slices"
	"sort"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// machineRows maps the rows of the list to turns and machines. Turns from other machines are below a row for
// their machine. The machines are sorted by name. If only this computer is known, there are no machine rows.
type machineRows struct {
	machines   []*machineTurns
	rows       prefixSums // number of rows of each machine
	known      int        // number of turns counted, including dropped ones
	dropped    int
	plain      rowSettings
	opened     map[string]bool                                  // by machine: true if it was unfolded, false if it was folded
	lastStates *MachineState                                    // the first element of the slice last passed to updateStates
	up         func(*stream.Turn) (up *stream.Turn, call int32) // returns the call that started the agent of a turn
}

// machineTurns are the turns of one machine. The name of this computer is "".
type machineTurns struct {
	name    string
	agents  []string // names of its captures, sorted; at most maxAgents + 1
	at      int      // index in machineRows.machines
	turns   []*stream.Turn
	dropped int
	count   turnRows
	shut    bool // folded: its turns have no rows
	state   *MachineState
}

// maxAgents is the maximum number of captures whose names are shown for a machine. If there are more, none is
// shown.
const maxAgents = 8

// hasMachines reports whether there are machine rows.
func (r *machineRows) hasMachines() bool {
	return len(r.machines) > 1 || len(r.machines) == 1 && r.machines[0].name != ""
}

// headRows returns the number of rows above the turns of a machine.
func (r *machineRows) headRows() int {
	if r.hasMachines() {
		return 1
	}
	return 0
}

// machineOf returns the machine of a turn, and the name of the turn's capture on that machine.
func machineOf(v *providers.View, t *stream.Turn) (host, agent string) {
	if x := v.Exchange(t.Exchange); x != nil && x.Head.Origin != nil {
		return x.Head.Origin.Host, x.Head.Origin.Agent
	}
	return "", ""
}

// countTurns counts new turns, or all turns again. It returns the number of turns that were counted before.
func (r *machineRows) countTurns(v *providers.View, again bool) (known int) {
	s := v.Session()
	if again || s.TrimmedTurns()+len(s.Turns) < r.known || r.known < s.TrimmedTurns() {
		*r = machineRows{plain: r.plain, opened: r.opened, up: r.up, dropped: s.TrimmedTurns(), known: s.TrimmedTurns()}
		again = true
	}
	known = r.known - s.TrimmedTurns()
	touched := map[*machineTurns]bool{}
	var names []string
	for _, t := range s.Turns[known:] {
		name, _ := machineOf(v, t)
		names = append(names, name)
	}
	r.addMachines(names)
	for _, t := range s.Turns[known:] {
		name, agent := machineOf(v, t)
		h := r.machineNamed(name)
		h.turns = append(h.turns, t)
		if at, told := slices.BinarySearch(h.agents, agent); !told && len(h.agents) <= maxAgents {
			h.agents = slices.Insert(h.agents, at, agent)
		}
		touched[h] = true
	}
	if s.TrimmedTurns() != r.dropped {
		for _, h := range r.machines {
			if h.dropTurns(s) {
				touched[h] = true
			}
		}
	}
	r.dropped, r.known = s.TrimmedTurns(), s.TrimmedTurns()+len(s.Turns)
	for h := range touched {
		h.count.rowSettings = r.plain
		h.count.countTurns(h.turns, h.dropped, again)
		r.updateCounts(h)
	}
	return known
}

// dropTurns removes dropped turns, and reports whether there were any.
func (h *machineTurns) dropTurns(s *stream.Session) bool {
	n := len(h.turns)
	if len(s.Turns) > 0 {
		n = sort.Search(n, func(i int) bool { return h.turns[i].OpenedBy >= s.Turns[0].OpenedBy })
	}
	h.turns, h.dropped = h.turns[n:], h.dropped+n
	return n > 0
}

// rowCount returns the number of rows of a machine. If a filter is set, a machine without matching turns has
// no rows.
func (r *machineRows) rowCount(h *machineTurns) int {
	n := h.count.totalRows()
	switch {
	case n == 0 && r.plain.only.Active():
		return 0
	case h.shut:
		return r.headRows()
	}
	return n + r.headRows()
}

func (r *machineRows) updateCounts(h *machineTurns) {
	r.rows.set(h.at, r.rowCount(h))
}

// setFolded folds or unfolds the turns of a machine.
func (r *machineRows) setFolded(h *machineTurns, shut bool) {
	if r.opened == nil {
		r.opened = map[string]bool{}
	}
	h.shut, r.opened[h.name] = shut, !shut
	r.updateCounts(h)
}

// recountTurn counts a turn again, and reports whether its number of rows changed.
func (r *machineRows) recountTurn(v *providers.View, t *stream.Turn) (changed bool) {
	h, i := r.find(v, t)
	if h == nil || i >= h.count.len() {
		return false
	}
	if r.plain.verdicts != nil {
		r.plain.verdicts.Update(v, t)
	}
	changed = h.count.recountTurn(i, t)
	r.updateCounts(h)
	return changed && !h.shut
}

// find returns the machine of a turn, and the turn's index among that machine's turns. The machine is nil if
// the turn is not counted yet.
func (r *machineRows) find(v *providers.View, t *stream.Turn) (h *machineTurns, i int) {
	if t == nil {
		return nil, -1
	}
	name, _ := machineOf(v, t)
	if h = r.machineNamed(name); h == nil {
		return nil, -1
	}
	if i = indexIn(h.turns, t); i < 0 {
		return nil, -1
	}
	return h, i
}

// totalRows returns the number of rows.
func (r *machineRows) totalRows() int { return r.rows.sumBefore(r.rows.len()) }

// rowOf returns the list row for row n of a turn. If the machine is folded, it returns the machine's row. For
// a turn that is not counted, it returns -1.
func (r *machineRows) rowOf(v *providers.View, t *stream.Turn, n int) int {
	h, i := r.find(v, t)
	switch {
	case h == nil || i >= h.count.len():
		return -1
	case h.shut:
		return r.firstRow(h)
	}
	return r.firstRow(h) + r.headRows() + h.count.rowOf(i, n)
}

// firstRow returns the first row of a machine.
func (r *machineRows) firstRow(h *machineTurns) int { return r.rows.sumBefore(h.at) }

// rowTarget returns the turn in a list row, and the index of the row within that turn. On a machine row, the
// turn is nil and the machine is set. After the last row, both are nil.
func (r *machineRows) rowTarget(row int) (h *machineTurns, t *stream.Turn, n int) {
	i, n := r.rows.elementAt(row)
	if row < 0 || i >= len(r.machines) {
		return nil, nil, 0
	}
	h = r.machines[i]
	if n -= r.headRows(); n < 0 {
		return h, nil, 0
	}
	turn, n := h.count.turnAt(n)
	if turn < 0 || turn >= len(h.turns) {
		return nil, nil, 0
	}
	return h, h.turns[turn], n
}

// indexIn returns the index of t in turns, or -1. The turns are sorted by start time.
func indexIn(turns []*stream.Turn, t *stream.Turn) int {
	if t == nil {
		return -1
	}
	i := sort.Search(len(turns), func(i int) bool { return turns[i].OpenedBy >= t.OpenedBy })
	if i == len(turns) || turns[i].Number != t.Number {
		return -1
	}
	return i
}

// newestTurn returns the machine's newest turn that no setting hides. Folding does not matter. It returns nil if
// there is none among the last maxTurnsScanned turns.
func (h *machineTurns) newestTurn(of *rowSettings) *stream.Turn {
	for i := len(h.turns) - 1; i >= 0 && i >= len(h.turns)-maxTurnsScanned; i-- {
		if !of.isHidden(h.turns[i]) {
			return h.turns[i]
		}
	}
	return nil
}

// MachineState is the state of a machine that publishes traffic.
type MachineState struct {
	Name   string
	Age    time.Duration // time since it last reported that it is alive
	Waits  int64         // bytes that it has not published yet
	Skew   time.Duration // clock difference; positive if the machine's clock is ahead
	Silent bool
	Ended  bool // it announced that it stops publishing
	Read   bool // it has not been alive since the view opened; Age counts from the time when the hub received its latest data
}

// updateStates sets the states of the machines, including machines without turns. It reports whether machines
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
	// Remove machines that have neither turns nor a state.
	n := len(r.machines)
	r.machines = slices.DeleteFunc(r.machines, func(h *machineTurns) bool { return h.state == nil && len(h.turns)+h.dropped == 0 })
	if len(r.machines) == n {
		return false
	}
	r.recountAll()
	return true
}

// Limits for the notes about a machine.
const (
	minTableCells   = 84 // minimum width at which each fact has its own column
	minMachineCells = 12 // cells for a name
	minSkew         = 2 * time.Second
	minAge          = 10 * time.Second // a machine reports every 5 s that it is alive
)

// drawMachine draws the row of a machine: its fold, its name and the names of its captures on the left. Its
// problems, its bad calls and its number of turns are on the right. If there is room, each has its own
// column.
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
	// The notes begin with the most important. If there is too little room, the last ones are left out first.
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
	if n := h.count.bad; n > 0 {
		bad.text = screen.Count(n).Between("", " bad")
	}
	turns.text = screen.Plural(len(h.turns)+h.dropped, "turn")
	told := []machineNote{silent, bad, turns, waits, skew}
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
	cells int // cells of its column
}

// agoText formats an age, rounded down.
func agoText(d time.Duration) display.Text {
	switch {
	case d < 2*time.Minute:
		return display.Format("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return display.Format("%d min", int(d.Minutes()))
	}
	return display.Format("%d h", int(d.Hours()))
}

// machineNamed returns the machine with that name, or nil.
func (r *machineRows) machineNamed(name string) *machineTurns {
	at, there := slices.BinarySearchFunc(r.machines, name, func(h *machineTurns, name string) int { return strings.Compare(h.name, name) })
	if !there {
		return nil
	}
	return r.machines[at]
}

// addMachines adds machines with these names. There may be thousands at once, so their positions are computed
// only once.
func (r *machineRows) addMachines(names []string) {
	slices.Sort(names)
	var more []*machineTurns
	for _, name := range slices.Compact(names) {
		if r.machineNamed(name) != nil {
			continue
		}
		h := &machineTurns{name: name}
		h.count = turnRows{rowSettings: r.plain}
		h.count.under = func(t *stream.Turn) (int, int32) {
			up, call := r.up(t)
			return indexIn(h.turns, up), call
		}
		more = append(more, h)
	}
	if len(more) > 0 {
		r.machines = append(r.machines, more...)
		slices.SortFunc(r.machines, func(a, b *machineTurns) int { return strings.Compare(a.name, b.name) })
		r.recountAll()
	}
}

// recountAll counts the rows of all machines again and sets their positions. If there is more than one
// machine, all machines that the user did not open are folded.
func (r *machineRows) recountAll() {
	r.rows = prefixSums{}
	for i, h := range r.machines {
		h.at = i
		open, said := r.opened[h.name]
		h.shut = len(r.machines) > 1 && !(said && open)
		r.rows.push(r.rowCount(h))
	}
}
