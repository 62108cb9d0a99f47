package panes

import (
	"sort"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Findings is the pane of findings: about the selected call and its turn, and about the source. If a turn is
// selected, the findings about its calls are included. Each finding leads to its evidence.
type Findings struct {
	PaneRows
	bad   bool // a call or turn in the list is bad
	lead  func(Found)
	again func(*stream.SentBackCall)
	list  []Found
	total int // number of all findings; list has only the first ones
	lines []findingLine
	grid  findingGrid
	heads int // rows for the column heads
	key   findingsKey
	state findingsState
}

// findingGrid has the widths of the columns for parties and places. The message follows them in the same row
// if there is room. Otherwise it has its own rows.
type findingGrid struct{ by, where int }

// Columns of the list.
const (
	findingLeft   = 4  // cursor and sign
	minMessage    = 24 // with less room, messages have their own rows
	minByCells    = len("provider")
	minWhereCells = len("WHERE")
	maxPlaceCells = 20
)

// wordsColumn returns the column of the message.
func (g findingGrid) wordsColumn(width int) int {
	if at := findingLeft + g.by + 1 + g.where + 1; width-at >= minMessage {
		return at
	}
	return findingLeft
}

// NewFindings returns the pane. The function lead goes to the evidence of a finding. The function again goes to
// the request that sent a call back.
func NewFindings(h Host, lead func(Found), again func(*stream.SentBackCall)) *Findings {
	f := &Findings{lead: lead, again: again}
	f.PaneRows = NewRows(h, func(row int) string {
		line := f.lines[row]
		code := ""
		if line.first {
			code = f.list[line.of].Code
		}
		return code + "\n" + line.by.String() + "\n" + line.where.String() + "\n" + line.text.String()
	})
	return f
}

// Keys returns the keys that move the selection and go to the evidence of the selected finding.
func (f *Findings) Keys() []screen.Binding {
	open := screen.Key("enter", "go there", "open the selection", f.openSelected)
	hints := []string{"next-finding", "copy", "search", "next"}
	if !f.bad {
		hints = hints[1:]
	}
	return f.keys([]screen.Binding{open}, f.CursorKeys("", f.MoveTo), f.End, hints...)
}

// openSelected goes to the evidence or request of the selected line.
func (f *Findings) openSelected() {
	if r := f.Request(); r != nil {
		f.again(r)
	} else if x, ok := f.Chosen(); ok {
		f.lead(x)
	}
}

// Spot returns the selected finding as a line for a report.
func (f *Findings) Spot() Spot {
	x, ok := f.Chosen()
	if !ok {
		return Spot{}
	}
	return Spot{What: display.Lit("the finding"), Sentence: func() []byte { return []byte(x.Code + ": " + x.Message) }}
}

// WantedRows returns the number of rows, including the column heads.
func (f *Findings) WantedRows() int { return f.Rows + f.heads }

// Label returns the pane's name and the number of findings, in the colour of the worst finding.
func (f *Findings) Label() Label {
	l := Label{Name: display.Lit("Findings"), Count: screen.Count(f.total), Role: screen.Muted, Empty: f.total == 0}
	worst := stream.Info
	for i := range f.list {
		worst = max(worst, f.list[i].Severity)
	}
	l.Role = screen.SeverityRoles[worst]
	return l
}

// Chosen returns the selected finding. It returns false if the selected line is not part of one.
func (f *Findings) Chosen() (Found, bool) {
	if f.At >= len(f.lines) {
		return Found{}, false
	}
	if i := f.lines[f.At].of; i >= 0 && i < len(f.list) {
		return f.list[i], true
	}
	return Found{}, false
}

// Request returns the request that the selected line leads to, or nil.
func (f *Findings) Request() *stream.SentBackCall {
	if f.At >= len(f.lines) {
		return nil
	}
	return f.lines[f.At].to
}

// Draw draws row y of the pane.
func (f *Findings) Draw(p *screen.Pen, y int, focused bool) {
	if y == 0 {
		return
	}
	defer p.Fill(screen.Bare)
	if f.heads > 0 && y == titleRow {
		p.Spaces(screen.Bare, findingLeft)
		p.TextOn(screen.Muted, screen.Bare, display.Join(p.Pad(display.Lit("BY"), f.grid.by+1), p.Pad(display.Lit("WHERE"), f.grid.where+1), display.Lit("WHAT")))
		return
	}
	row := f.Top + y - titleRow - f.heads
	if row >= len(f.lines) {
		return
	}
	line, at := f.lines[row], f.lines[min(f.At, len(f.lines)-1)]
	g := screen.Bare
	if focused && (line.of != ours && line.of == at.of || line.of == ours && line.to != nil && line.to == at.to) {
		g = screen.Selected
	}
	if line.of == ours {
		p.TextOn(line.role, g, line.text)
		p.Fill(g)
		return
	}
	mark := display.Lit(" ")
	if line.of == at.of && line.first {
		mark = p.Glyph.Mark
	}
	p.TextOn(screen.Accent, g, mark)
	left := f.grid.wordsColumn(f.key.width)
	switch {
	case line.of >= len(f.list):
		p.Spaces(g, findingLeft-1)
	case !line.first:
		p.Spaces(g, left-1)
	default:
		sev := f.list[line.of].Severity
		p.TextOn(screen.SeverityRoles[sev], g, p.Glyph.Severity[sev].Between("", " "))
		p.TextOn(screen.Plain, g, p.Pad(line.by, f.grid.by).Between("", " "))
		p.TextOn(screen.Muted, g, p.Pad(line.where, f.grid.where).Between("", " "))
	}
	p.TextOn(screen.Plain, g, line.text)
	p.Fill(g)
}

// Found is a finding and the Ref of its call or turn. The Ref is NoRef for a finding about the source.
type Found struct {
	stream.Finding
	Of stream.Ref
}

// findingLine is one display row. It is part of a finding's text, or of the pane's own text.
type findingLine struct {
	of        int          // index in list; the constant ours for the pane's own text
	first     bool         // the first row of a finding
	by, where display.Text // party and place, only in the first row
	role      screen.Role  // role of the pane's own text
	text      display.Text
	to        *stream.SentBackCall // only in the pane's own text: the request that the line leads to
}

// ours marks a line that is not part of a finding.
const ours = -1

// findingsKey identifies the inputs for the lines. The lines are valid until the key changes.
type findingsKey struct {
	of     stream.Ref
	counts [3]int
	width  int
	size   int // number of argument bytes of the call so far
	back   int // how often the call was sent back
	got    int // key of the tool runs that are matched to the call
	phase  stream.Phase
	closed bool // the turn has ended
}

// findingsState has the values that findingsKey depends on. It is compared first, because making the key is slow for
// a turn with many calls.
type findingsState struct {
	of             stream.Ref
	events, source int // number of events of the turn, and of findings that belong to no turn
	kept           stream.Retention
	width, got     int
}

// maxFindings is the maximum number of findings that are shown. A broken stream can have one per frame.
const maxFindings = 500

// Extend updates the pane for the selection.
func (f *Findings) Extend(scene *Context, width, height int) {
	f.bad = scene.Verdicts.Counts.Bad() > 0
	c := scene.Of()
	state := findingsState{of: c.asRef(), source: len(scene.View.Session().Findings), width: width}
	if c.Turn != nil {
		state.events, state.kept = c.Turn.Events, c.Turn.Retention
	}
	if c.Call != nil {
		state.got = toolRunsKey(scene.View, c.Call)
	}
	if state != f.state || f.lines == nil {
		f.state = state
		f.updateLines(scene, c, width)
	}
	if f.heads = 0; scene.Rows >= headFrom && len(f.list) > 0 && f.grid.wordsColumn(width) > findingLeft {
		f.heads = 1
	}
	f.Fit(len(f.lines), titleRow+f.heads, height)
}

// updateLines rebuilds the lines if their inputs have changed.
func (f *Findings) updateLines(scene *Context, c Selection, width int) {
	v, p, s := scene.View, scene.Pen, scene.View.Session()
	key := findingsKey{of: c.asRef(), width: width, counts: [3]int{2: len(s.Findings)}}
	if c.Turn != nil {
		key.counts[1], key.closed = len(c.Turn.Findings), c.Turn.Closed()
	}
	if c.Call != nil {
		key.size, key.phase, key.back = len(c.Call.Args()), c.Call.Phase(), len(c.Call.SentBack)
		key.got = f.state.got
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
	kept := f.collectFindings(s, c, calls)
	if key.of != f.key.of || key.width != f.key.width {
		kept = 0
	}
	f.key = key
	if grid := f.measureColumns(v, p.Drawer); grid != f.grid {
		f.grid, kept = grid, 0
	}
	f.wrapLines(v, kept, p.Drawer)
	var got []findingLine
	if c.Call != nil {
		got = toolFindingLines(v, c.Turn, c.Call, width, p)
	}
	if len(f.lines) == 0 {
		nothing := display.Lit(" nothing unusual")
		if c.Turn != nil && c.Turn.Retention == stream.Dropped {
			nothing = display.Lit(" findings are not kept")
		} else if len(got) > 0 && !c.Turn.Closed() { // a tool run is judged only when the call is complete
			nothing = display.Lit(" none yet")
		}
		f.lines = append(f.lines, findingLine{of: ours, role: screen.Muted, text: nothing})
	}
	if c.Call != nil {
		f.lines = append(f.lines, got...)
		f.lines = append(f.lines, sentBackLines(v, c.Call, width, p)...)
	}
}

// callsOf returns the calls whose findings are shown: one call, or all calls of a turn.
func callsOf(c Selection) []*stream.Call {
	switch {
	case c.Call != nil:
		return []*stream.Call{c.Call}
	case c.Turn != nil:
		return c.Turn.Calls
	}
	return nil
}

// collectFindings builds the list, and returns how many of its first entries are unchanged.
func (f *Findings) collectFindings(s *stream.Session, c Selection, calls []*stream.Call) (kept int) {
	before := f.list
	f.list, f.total = nil, 0
	add := func(list []stream.Finding, of stream.Ref) {
		for _, x := range list[:min(len(list), maxFindings-len(f.list))] {
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

// measureColumns returns the widths of the columns.
func (f *Findings) measureColumns(v *providers.View, draw display.Drawer) (g findingGrid) {
	g.by, g.where = minByCells, minWhereCells
	for _, x := range f.list {
		g.by = max(g.by, len(partyOf(x.Finding)))
		g.where = max(g.where, min(f.placeOf(v, x, draw).Width(), maxPlaceCells))
	}
	return g
}

// headFrom is the minimum number of screen rows for which the columns have heads.
const headFrom = 40

// wrapLines builds the lines of the findings, starting at index from: party, place and message.
func (f *Findings) wrapLines(v *providers.View, from int, draw display.Drawer) {
	end := sort.Search(len(f.lines), func(i int) bool { return f.lines[i].of >= from || f.lines[i].of == ours })
	f.lines = f.lines[:end]
	left := f.grid.wordsColumn(f.key.width)
	for i := from; i < len(f.list); i++ {
		x := f.list[i]
		row := findingLine{of: i, first: true, by: draw.Clean(partyOf(x.Finding)), where: f.placeOf(v, x, draw)}
		if left == findingLeft {
			f.lines = append(f.lines, row)
			row = findingLine{of: i}
		}
		for _, line := range display.Wrap(draw.Clean(x.Message), max(f.key.width-left, 8)) {
			row.text = line
			f.lines = append(f.lines, row)
			row = findingLine{of: i}
		}
	}
	if n := f.total - len(f.list); n > 0 {
		f.lines = append(f.lines, findingLine{of: len(f.list), role: screen.Muted, text: screen.Count(n).Between("and ", " more")})
	}
}

// partyOf names the party at fault. For EARLY_WRONG it names clients in general, because that finding
// predicts what a client would do.
func partyOf(f stream.Finding) string {
	switch {
	case f.Base() == stream.EarlyWrong:
		return "clients"
	case f.By == 0, f.By == stream.UnknownParty:
		return "unknown"
	case f.By == stream.Server:
		return "tool"
	}
	return f.By.String()
}

// placeOf returns the place of a finding: the delta in which its byte arrived, the request that sent the call back,
// or the number of the frame in the wire pane.
func (f *Findings) placeOf(v *providers.View, x Found, draw display.Drawer) display.Text {
	where := display.Text{}
	_, c := v.Find(x.Of)
	switch e := v.EventPrefix(x.Event, 0); {
	case c != nil && x.Offset >= 0 && c.Deltas() > 0:
		where = screen.Count(min(c.DeltaAt(x.Offset), c.Deltas()-1)+1).Between("delta ", "")
	case e.Kind == stream.SentBack:
		where = draw.Clean(strings.TrimPrefix(RequestName(v, stream.PayloadOf[stream.SentBackReport](e).Exchange), "the "))
	case e.Turn != stream.NoTurn:
		where = display.Format("#%d", e.Frame+1)
	}
	if x.Of.Call > 0 && f.key.of.Call == 0 {
		where = display.Join(display.Format("call %d ", x.Of.Call), where)
	}
	return where
}

// deltaName returns the name of a delta of a call, counted from 1.
func deltaName(draw display.Drawer, n int) display.Text {
	glyphs := screen.UnicodeGlyphs
	if draw.ASCII {
		glyphs = screen.ASCIIGlyphs
	}
	return display.Join(glyphs.Change, screen.Count(n+1))
}
