package ui

import (
	"fmt"
	"sort"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// findings is the pane of the diagnoses of the chosen call and its turn, in
// words, each leading to what it points at.
type findings struct {
	screen.Window
	list  []found
	total int // list has the first of so many
	lines []findingLine
	key   findingsKey
}

// found is a finding and the call it is about, if it is about one.
type found struct {
	stream.Finding
	call *stream.Call
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
	of     choice
	counts [3]int
	width  int
	size   int // arguments of the call so far
	back   int // how often it was sent back
	phase  stream.Phase
}

// mostFindings is how many are shown; a broken stream can make one a frame.
const mostFindings = 500

// extend takes what is new for the choice.
func (f *findings) extend(v *providers.View, c choice, width, height int, p *screen.Pen) {
	s := v.Session()
	key := findingsKey{of: c, width: width, counts: [3]int{2: len(s.Findings)}}
	if c.turn != nil {
		key.counts[1] = len(c.turn.Findings)
	}
	if c.call != nil {
		key.size, key.phase, key.back = len(c.call.Args()), c.call.Phase(), len(c.call.SentBack)
	}
	calls := callsOf(c)
	for _, call := range calls {
		key.counts[0] += len(call.Findings)
	}
	if key != f.key {
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
			f.lines = append(f.lines, findingLine{of: ours, role: screen.Muted, text: display.Lit(" nothing unusual")})
		}
		if c.call != nil {
			f.lines = append(f.lines, returnLines(s, c.call, width, p)...)
			f.lines = append(f.lines, executorLines(v, c.call, p)...)
		}
	}
	f.Resize(len(f.lines), height)
}

// callsOf are the calls whose findings are shown: one, or all of a turn.
func callsOf(c choice) []*stream.Call {
	switch {
	case c.call != nil:
		return []*stream.Call{c.call}
	case c.turn != nil:
		return c.turn.Calls
	}
	return nil
}

// collect makes the list and reports how much of it was there before.
func (f *findings) collect(s *stream.Session, c choice, calls []*stream.Call) (kept int) {
	before := f.list
	f.list, f.total = nil, 0
	add := func(list []stream.Finding, call *stream.Call) {
		for _, x := range list[:min(len(list), mostFindings-len(f.list))] {
			f.list = append(f.list, found{x, call})
		}
		f.total += len(list)
	}
	for _, call := range calls {
		add(call.Findings, call)
	}
	if c.turn != nil {
		add(c.turn.Findings, nil)
	}
	add(s.Findings, nil)
	for kept < min(len(before), len(f.list)) && before[kept] == f.list[kept] {
		kept++
	}
	return kept
}

// wrap makes the lines of the findings from that one on: a head line with code
// and place, then the sentence.
func (f *findings) wrap(v *providers.View, from int, draw display.Drawer) {
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

// place says where a finding points: the frame has the number that the wire
// pane gives it.
func (f *findings) place(v *providers.View, x found) display.Text {
	where := ""
	switch e := v.Event(x.Event); {
	case e.Kind == stream.SentBack:
		where = "  " + requestName(v.Session(), e.More.Exchange)
	case e.Turn != stream.NoTurn:
		where = fmt.Sprintf("  #%d", e.Frame+1)
	}
	if x.call != nil && x.Offset >= 0 {
		where = fmt.Sprintf("  byte %s%s", screen.Count(x.Offset), where)
	}
	if x.call != nil && f.key.of.call == nil {
		where = fmt.Sprintf("  call %d%s", x.call.Number, where)
	}
	return display.Clean(where)
}

// chosen is the selected finding.
func (f *findings) chosen() (found, bool) {
	if f.At >= len(f.lines) {
		return found{}, false
	}
	if i := f.lines[f.At].of; i >= 0 && i < len(f.list) {
		return f.list[i], true
	}
	return found{}, false
}

// request is the one that the selected line leads to, nil if none.
func (f *findings) request() *stream.Return {
	if f.At >= len(f.lines) {
		return nil
	}
	return f.lines[f.At].to
}

// draw writes row n of the pane into the field.
func (f *findings) draw(p *screen.Pen, n int, focused bool) {
	defer p.Fill(screen.Bare)
	row := f.Top + n
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

// alarms are the gravest severities of lists of findings by whose they are.
// The lists only grow, and a broken stream makes them long: each finding is
// looked at once.
type alarms map[stream.Ref]grade

type grade struct {
	seen  int
	worst stream.Severity
}

// of is the gravest severity in the list of a call or turn, and whether it is
// above info.
func (a alarms) of(owner stream.Ref, list []stream.Finding) (worst stream.Severity, above bool) {
	if len(list) == 0 {
		return stream.Info, false
	}
	g := a[owner]
	for _, f := range list[g.seen:] {
		g.worst = max(g.worst, f.Severity)
	}
	g.seen = len(list)
	a[owner] = g
	return g.worst, g.worst > stream.Info
}

// at reports whether what a Ref names has findings above info.
func (a alarms) at(s *stream.Session, r stream.Ref) (above bool) {
	switch t, c := s.Find(r); {
	case c != nil:
		_, above = a.of(r, c.Findings)
	case t != nil:
		_, above = a.of(r, t.Findings)
	}
	return above
}
