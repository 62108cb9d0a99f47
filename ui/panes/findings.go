package panes

import (
	"sort"
	"strings"

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
	grid  findingGrid
	key   findingsKey
	state findingsState
}

// findingGrid is how wide the columns of the list are: codes, and the places that they point at. The
// words stand behind them where that leaves room enough, and else in rows of their own.
type findingGrid struct{ code, where int }

// Columns of the list.
const (
	findingLeft  = 4  // the cursor, the sign
	leastSaid    = 24 // or they have rows of their own
	mostFindCode = 24
	mostWhere    = 20
)

// words is the column of the words.
func (g findingGrid) words(width int) int {
	if at := findingLeft + g.code + 2 + g.where + 2; width-at >= leastSaid {
		return at
	}
	return findingLeft
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
		nextHint,
		copyHint, findHint, tabHint, back(f.host),
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

// Told is the selected finding as a line of a report.
func (f *Findings) Told() (what display.Text, line []byte) {
	x, ok := f.Chosen()
	if !ok {
		return what, nil
	}
	return display.Lit("the finding"), []byte(x.Code + ": " + x.Message)
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
		if holds(n, line.code.String()) || holds(n, line.where.String()) || holds(n, line.text.String()) {
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
	of          int          // in list, or ours
	code, where display.Text // of the first row of a finding
	role        screen.Role  // of one of ours
	text        display.Text
	to          *stream.Return // of one of ours: the request it leads to
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
	f.Fit(len(f.lines), titleRow, height)
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
	if grid := f.measure(v, p.Drawer); grid != f.grid {
		f.grid, kept = grid, 0
	}
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

// measure finds the columns.
func (f *Findings) measure(v *providers.View, draw display.Drawer) (g findingGrid) {
	for _, x := range f.list {
		g.code = max(g.code, min(len(x.Code), mostFindCode))
		g.where = max(g.where, min(f.place(v, x, draw).Width(), mostWhere))
	}
	return g
}

// wrap makes the lines of the findings from that one on: code, place, and its words.
func (f *Findings) wrap(v *providers.View, from int, draw display.Drawer) {
	end := sort.Search(len(f.lines), func(i int) bool { return f.lines[i].of >= from || f.lines[i].of == ours })
	f.lines = f.lines[:end]
	left := f.grid.words(f.key.width)
	for i := from; i < len(f.list); i++ {
		x := f.list[i]
		first := findingLine{of: i, code: draw.Clean(x.Code), where: f.place(v, x, draw)}
		if left == findingLeft {
			f.lines = append(f.lines, first)
			first = findingLine{of: i}
		}
		for _, line := range display.Wrap(draw.Clean(x.Message), max(f.key.width-left, 8)) {
			first.text = line
			f.lines = append(f.lines, first)
			first = findingLine{of: i}
		}
	}
	if n := f.total - len(f.list); n > 0 {
		f.lines = append(f.lines, findingLine{of: len(f.list), code: screen.Count(n).Between("and ", " more")})
	}
}

// place says where a finding points: the delta that brought the byte, or the frame that showed it,
// with the number that the wire pane gives it.
func (f *Findings) place(v *providers.View, x Found, draw display.Drawer) display.Text {
	where := display.Text{}
	_, c := v.Find(x.Of)
	switch e := v.Begin(x.Event, 0); {
	case c != nil && x.Offset >= 0 && c.Deltas() > 0:
		where = deltaName(draw, min(c.DeltaAt(x.Offset), c.Deltas()-1))
	case e.Kind == stream.SentBack:
		where = draw.Clean(strings.TrimPrefix(RequestName(v, stream.PayloadOf[stream.Resent](e).Exchange), "the "))
	case e.Turn != stream.NoTurn:
		where = display.Format("#%d", e.Frame+1)
	}
	if x.Of.Call > 0 && f.key.of.Call == 0 {
		where = display.Join(display.Format("call %d ", x.Of.Call), where)
	}
	return where
}

// deltaName is a delta of a call, counted from 1.
func deltaName(draw display.Drawer, n int) display.Text {
	glyphs := screen.UnicodeGlyphs
	if draw.ASCII {
		glyphs = screen.ASCIIGlyphs
	}
	return display.Join(glyphs.Change, screen.Count(n+1))
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
	line, at := f.lines[row], f.lines[min(f.At, len(f.lines)-1)]
	g := screen.Bare
	if focused && (line.of != ours && line.of == at.of || line.of == ours && line.to != nil && line.to == at.to) {
		g = screen.Selected
	}
	if line.of == ours {
		p.Put(line.role, g, line.text)
		p.Fill(g)
		return
	}
	mark := display.Lit(" ")
	if line.of == at.of && !line.code.Empty() {
		mark = p.Glyph.Mark
	}
	p.Put(screen.Accent, g, mark)
	f.drawFinding(p, line, g)
	p.Fill(g)
}

// drawFinding writes a row of a finding.
func (f *Findings) drawFinding(p *screen.Pen, line findingLine, g screen.Ground) {
	left := f.grid.words(f.key.width)
	switch {
	case line.of >= len(f.list):
		p.Put(screen.Muted, g, line.code.Between("   ", ""))
	case line.code.Empty():
		p.Spaces(g, left-1)
	default:
		sev := f.list[line.of].Severity
		p.Put(screen.SeverityRoles[sev], g, p.Glyph.Severity[sev].Between("", " "))
		p.Put(screen.SeverityRoles[sev], g, p.Pad(line.code, f.grid.code).Between("", "  "))
		p.Put(screen.Muted, g, p.Pad(line.where, f.grid.where).Between("", "  "))
	}
	p.Put(screen.Plain, g, line.text)
}
