package panes

import (
	"sort"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Found is a finding and its call or turn; NoRef for a finding about the source.
type Found struct {
	stream.Finding
	Of stream.Ref
}

// findingLine is one display row: part of a finding's text.
type findingLine struct {
	of          int          // index in list, or ours
	code, where display.Text // of the first row of a finding
	role        screen.Role  // of one of ours
	text        display.Text
	to          *stream.SentBackCall // of one of ours: the request it leads to
}

// ours marks a line that belongs to no finding.
const ours = -1

// findingsKey identifies the inputs of the lines. While it is equal, they are valid.
type findingsKey struct {
	of     stream.Ref
	counts [3]int
	width  int
	size   int // arguments of the call so far
	back   int // times it was sent back
	got    int // of its tool runs
	phase  stream.Phase
	closed bool // the turn has ended
}

// findingsState has the data from which findingsKey is made. Making the key is slow for a turn with many
// calls.
type findingsState struct {
	of             stream.Ref
	events, source int // of the turn; and findings of no turn
	kept           stream.Retention
	width, got     int
}

// maxFindings is the maximum number of findings that are shown. A broken stream can have one per frame.
const maxFindings = 500

// Extend updates the pane for the selection.
func (f *Findings) Extend(scene *Context, width, height int) {
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
	f.Fit(len(f.lines), titleRow, height)
}

// updateLines rebuilds the lines if their inputs changed.
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
		} else if len(got) > 0 && !c.Turn.Closed() { // it is judged when the call is complete
			nothing = display.Lit(" none yet")
		}
		f.lines = append(f.lines, findingLine{of: ours, role: screen.Muted, text: nothing})
	}
	if c.Call != nil {
		f.lines = append(f.lines, got...)
		f.lines = append(f.lines, sentBackLines(v, c.Call, width, p)...)
	}
}

// callsOf returns the calls whose findings are shown: one, or all of a turn.
func callsOf(c Selection) []*stream.Call {
	switch {
	case c.Call != nil:
		return []*stream.Call{c.Call}
	case c.Turn != nil:
		return c.Turn.Calls
	}
	return nil
}

// collectFindings builds the list and returns how many entries it keeps.
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
	for _, x := range f.list {
		g.code = max(g.code, min(len(x.Code), maxCodeCells))
		g.where = max(g.where, min(f.placeOf(v, x, draw).Width(), maxPlaceCells))
	}
	return g
}

// wrapLines builds the lines of the findings from one on: code, place, and message.
func (f *Findings) wrapLines(v *providers.View, from int, draw display.Drawer) {
	end := sort.Search(len(f.lines), func(i int) bool { return f.lines[i].of >= from || f.lines[i].of == ours })
	f.lines = f.lines[:end]
	left := f.grid.wordsColumn(f.key.width)
	for i := from; i < len(f.list); i++ {
		x := f.list[i]
		first := findingLine{of: i, code: draw.Clean(x.Code), where: f.placeOf(v, x, draw)}
		if left == findingLeft {
			f.lines = append(f.lines, first)
			first = findingLine{of: i}
		}
		for _, line := range display.Wrap(draw.Clean(x.Message+partyText(x.Finding)), max(f.key.width-left, 8)) {
			first.text = line
			f.lines = append(f.lines, first)
			first = findingLine{of: i}
		}
	}
	if n := f.total - len(f.list); n > 0 {
		f.lines = append(f.lines, findingLine{of: len(f.list), code: screen.Count(n).Between("and ", " more")})
	}
}

// partyText names the party at fault; "" if it is not set, or if the finding is about what code would do,
// which was not observed.
func partyText(f stream.Finding) string {
	if f.By == 0 || f.Base() == stream.EarlyWrong {
		return ""
	}
	switch f.By {
	case stream.Toolscope:
		return "; by toolscope"
	case stream.UnknownParty:
		return "; by an unknown party"
	}
	return "; by the " + f.By.String()
}

// placeOf returns the place of a finding: the delta that brought its byte, or the frame, with the number
// from the wire pane.
func (f *Findings) placeOf(v *providers.View, x Found, draw display.Drawer) display.Text {
	where := display.Text{}
	_, c := v.Find(x.Of)
	switch e := v.EventPrefix(x.Event, 0); {
	case c != nil && x.Offset >= 0 && c.Deltas() > 0:
		where = deltaName(draw, min(c.DeltaAt(x.Offset), c.Deltas()-1))
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
