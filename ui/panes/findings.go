package panes

import (
	"fmt"
	"sort"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Findings is the pane of the diagnoses of the chosen call and its turn, in words, each leading to
// what it points at.
type Findings struct {
	screen.Window
	host  Host
	lead  func(Found)
	again func(*stream.Return)
	list  []Found
	total int // list has the first of so many
	lines []findingLine
	key   findingsKey
	state findingsState
}

// NewFindings makes the pane. lead goes where a finding points; again goes to the request in which
// a call was sent back.
func NewFindings(h Host, lead func(Found), again func(*stream.Return)) *Findings {
	return &Findings{host: h, lead: lead, again: again}
}

// Keys are those that move, and lead to what is selected.
func (f *Findings) Keys() []screen.Binding {
	return append([]screen.Binding{
		helpHint,
		{Keys: []string{"enter"}, Hint: display.Lit("enter go there"), Does: display.Lit("open what is selected"), Do: f.enter},
		tabHint, back(f.host),
	}, moves(f.host, f.Steps(display.Text{}, f.MoveTo), f.End)...)
}

// enter leads to what the selected line is about.
func (f *Findings) enter() {
	if r := f.Request(); r != nil {
		f.again(r)
	} else if x, ok := f.Chosen(); ok {
		f.lead(x)
	}
}

// Label is the name, and how many there are, in the colour of the gravest.
func (f *Findings) Label() Label {
	l := Label{Name: display.Lit("FINDINGS"), Count: screen.Count(f.total), Role: screen.Muted}
	worst := stream.Info
	for i := range f.list {
		worst = max(worst, f.list[i].Severity)
	}
	l.Role = screen.SeverityRoles[worst]
	return l
}

// Needs is a row for each line.
func (f *Findings) Needs() int { return len(f.lines) }

// GoTo selects a row.
func (f *Findings) GoTo(row int) { f.MoveTo(row) }

// Find are the rows that hold query.
func (f *Findings) Find(query string) (rows []int, cursor int) {
	if query == "" {
		return nil, f.At
	}
	n := newNeedle(query)
	for row, line := range f.lines {
		if holds(n, line.text.String()) {
			rows = append(rows, row)
		}
	}
	return rows, f.At
}

// Found is a finding and the call or turn it is about, NoRef of one about the source.
type Found struct {
	stream.Finding
	Of stream.Ref
}

// findingLine is one display row: part of a finding's text.
type findingLine struct {
	of    int // in list, or ours
	first bool
	role  screen.Role // of one of ours
	text  display.Text
	to    *stream.Return // of one of ours: the request it leads to
}

// ours marks a line that is no finding's.
const ours = -1

// findingsKey says what the lines were made from; while it is the same they stand.
type findingsKey struct {
	of     stream.Ref
	counts [3]int
	width  int
	size   int // arguments of the call so far
	back   int // how often it was sent back
	phase  stream.Phase
	closed bool // the turn has ended
}

// findingsState says what the key was made from: with a turn of many calls that takes a while.
type findingsState struct {
	of             stream.Ref
	events, source int // of the turn; and findings of no turn
	kept           stream.Keeping
	width          int
}

// mostFindings is how many are shown; a broken stream can make one a frame.
const mostFindings = 500

// Extend takes what is new for the choice.
func (f *Findings) Extend(scene *Scene, width, height int) {
	c := scene.Of()
	state := findingsState{of: c.ref(), source: len(scene.View.Session().Findings), width: width}
	if c.Turn != nil {
		state.events, state.kept = c.Turn.Events, c.Turn.Kept
	}
	if state != f.state || f.lines == nil {
		f.state = state
		f.update(scene, c, width)
	}
	f.Resize(len(f.lines), max(1, height-titleRow))
}

// update makes the lines anew, if something has changed of what they are about.
func (f *Findings) update(scene *Scene, c Choice, width int) {
	v, p, s := scene.View, scene.Pen, scene.View.Session()
	key := findingsKey{of: c.ref(), width: width, counts: [3]int{2: len(s.Findings)}}
	if c.Turn != nil {
		key.counts[1], key.closed = len(c.Turn.Findings), c.Turn.Closed()
	}
	if c.Call != nil {
		key.size, key.phase, key.back = len(c.Call.Args()), c.Call.Phase(), len(c.Call.SentBack)
	}
	calls := callsOf(c)
	for _, call := range calls {
		key.counts[0] += len(call.Findings)
	}
	if key == f.key && f.lines != nil {
		return
	}
	if key.of != f.key.of {
		f.Window = screen.Window{}
	}
	kept := f.collect(s, c, calls)
	if key.of != f.key.of || key.width != f.key.width {
		kept = 0
	}
	f.key = key
	f.wrap(v, kept, p.Drawer)
	if len(f.lines) == 0 {
		nothing := display.Lit(" nothing unusual")
		if c.Turn != nil && c.Turn.Kept == stream.Dropped {
			nothing = display.Lit(" what was found is not kept")
		}
		f.lines = append(f.lines, findingLine{of: ours, role: screen.Muted, text: nothing})
	}
	if c.Call != nil {
		f.lines = append(f.lines, returnLines(v, c.Call, width, p)...)
		f.lines = append(f.lines, executorLines(v, c.Call, width, p)...)
	}
}

// callsOf are the calls whose findings are shown: one, or all of a turn.
func callsOf(c Choice) []*stream.Call {
	switch {
	case c.Call != nil:
		return []*stream.Call{c.Call}
	case c.Turn != nil:
		return c.Turn.Calls
	}
	return nil
}

// collect makes the list and reports how much of it was there before.
func (f *Findings) collect(s *stream.Session, c Choice, calls []*stream.Call) (kept int) {
	before := f.list
	f.list, f.total = nil, 0
	add := func(list []stream.Finding, of stream.Ref) {
		for _, x := range list[:min(len(list), mostFindings-len(f.list))] {
			f.list = append(f.list, Found{x, of})
		}
		f.total += len(list)
	}
	for _, call := range calls {
		add(call.Findings, call.Ref())
	}
	if c.Turn != nil {
		add(c.Turn.Findings, c.Turn.Ref())
	}
	add(s.Findings, stream.NoRef)
	for kept < min(len(before), len(f.list)) && before[kept] == f.list[kept] {
		kept++
	}
	return kept
}

// wrap makes the lines of the findings from that one on: a head line with code and place, then the
// sentence.
func (f *Findings) wrap(v *providers.View, from int, draw display.Drawer) {
	end := sort.Search(len(f.lines), func(i int) bool { return f.lines[i].of >= from || f.lines[i].of == ours })
	f.lines = f.lines[:end]
	for i := from; i < len(f.list); i++ {
		x := f.list[i]
		f.lines = append(f.lines, findingLine{of: i, first: true, text: display.Join(draw.Clean(x.Code), f.place(v, x))})
		for _, line := range display.Wrap(draw.Clean(x.Message), max(f.key.width-4, 8)) {
			f.lines = append(f.lines, findingLine{of: i, text: line})
		}
	}
	if n := f.total - len(f.list); n > 0 {
		f.lines = append(f.lines, findingLine{of: len(f.list), first: true, text: screen.Count(n).Between("and ", " more")})
	}
}

// place says where a finding points: the frame has the number that the wire pane gives it.
func (f *Findings) place(v *providers.View, x Found) display.Text {
	where := ""
	switch e := v.Begin(x.Event, 0); {
	case e.Kind == stream.SentBack:
		where = "  " + RequestName(v, stream.PayloadOf[stream.Resent](e).Exchange)
	case e.Turn != stream.NoTurn:
		where = fmt.Sprintf("  #%d", e.Frame+1)
	}
	if x.Of.Call > 0 && x.Offset >= 0 {
		where = fmt.Sprintf("  byte %s%s", screen.Count(x.Offset), where)
	}
	if x.Of.Call > 0 && f.key.of.Call == 0 {
		where = fmt.Sprintf("  call %d%s", x.Of.Call, where)
	}
	return display.Clean(where)
}

// Chosen is the selected finding.
func (f *Findings) Chosen() (Found, bool) {
	if f.At >= len(f.lines) {
		return Found{}, false
	}
	if i := f.lines[f.At].of; i >= 0 && i < len(f.list) {
		return f.list[i], true
	}
	return Found{}, false
}

// Request is the one that the selected line leads to, nil if none.
func (f *Findings) Request() *stream.Return {
	if f.At >= len(f.lines) {
		return nil
	}
	return f.lines[f.At].to
}

// Draw writes row y of the pane into the field.
func (f *Findings) Draw(p *screen.Pen, y int, focused bool) {
	if y == 0 {
		return
	}
	defer p.Fill(screen.Bare)
	row := f.Top + y - titleRow
	if row >= len(f.lines) {
		return
	}
	line := f.lines[row]
	g := screen.Bare
	if line.of == ours {
		if focused && line.to != nil && line.to == f.lines[min(f.At, len(f.lines)-1)].to {
			g = screen.Selected
		}
		p.Put(line.role, g, line.text)
		p.Fill(g)
		return
	}
	if focused && line.of == f.lines[min(f.At, len(f.lines)-1)].of {
		g = screen.Selected
	}
	if !line.first {
		p.Put(screen.Plain, g, line.text.Between("    ", ""))
		p.Fill(g)
		return
	}
	sev := stream.Info
	if line.of < len(f.list) {
		sev = f.list[line.of].Severity
	}
	r := screen.SeverityRoles[sev]
	p.Put(r, g, p.Format(" %s %s  ", p.Glyph.Severity[sev], sev))
	p.Put(r, g, line.text)
	p.Fill(g)
}
