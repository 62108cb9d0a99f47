package panes

import (
	"fmt"
	"sort"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Findings is the pane of the diagnoses of the chosen call and its turn, in
// words, each leading to what it points at.
type Findings struct {
	screen.Window
	list  []found
	Total int // list has the first of so many
	Lines []findingLine
	key   findingsKey
}

// found is a finding and the call it is about, if it is about one.
type found struct {
	stream.Finding
	Call *stream.Call
}

// findingLine is one display row: part of a finding's text.
type findingLine struct {
	of    int // in list, or ours
	first bool
	role  screen.Role // of one of ours
	Text  display.Text
	to    *stream.Return // of one of ours: the request it leads to
}

// ours marks a line that is no finding's.
const ours = -1

// findingsKey says what the lines were made from; while it is the same they stand.
type findingsKey struct {
	of     Choice
	counts [3]int
	width  int
	size   int // arguments of the call so far
	back   int // how often it was sent back
	phase  stream.Phase
}

// mostFindings is how many are shown; a broken stream can make one a frame.
const mostFindings = 500

// Extend takes what is new for the choice.
func (f *Findings) Extend(v *providers.View, c Choice, width, height int, p *screen.Pen) {
	s := v.Session()
	key := findingsKey{of: c, width: width, counts: [3]int{2: len(s.Findings)}}
	if c.Turn != nil {
		key.counts[1] = len(c.Turn.Findings)
	}
	if c.Call != nil {
		key.size, key.phase, key.back = len(c.Call.Args()), c.Call.Phase(), len(c.Call.SentBack)
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
		if len(f.Lines) == 0 {
			f.Lines = append(f.Lines, findingLine{of: ours, role: screen.Muted, Text: display.Lit(" nothing unusual")})
		}
		if c.Call != nil {
			f.Lines = append(f.Lines, returnLines(s, c.Call, width, p)...)
			f.Lines = append(f.Lines, executorLines(v, c.Call, p)...)
		}
	}
	f.Resize(len(f.Lines), height)
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
	f.list, f.Total = nil, 0
	add := func(list []stream.Finding, call *stream.Call) {
		for _, x := range list[:min(len(list), mostFindings-len(f.list))] {
			f.list = append(f.list, found{x, call})
		}
		f.Total += len(list)
	}
	for _, call := range calls {
		add(call.Findings, call)
	}
	if c.Turn != nil {
		add(c.Turn.Findings, nil)
	}
	add(s.Findings, nil)
	for kept < min(len(before), len(f.list)) && before[kept] == f.list[kept] {
		kept++
	}
	return kept
}

// wrap makes the lines of the findings from that one on: a head line with code
// and place, then the sentence.
func (f *Findings) wrap(v *providers.View, from int, draw display.Drawer) {
	end := sort.Search(len(f.Lines), func(i int) bool { return f.Lines[i].of >= from || f.Lines[i].of == ours })
	f.Lines = f.Lines[:end]
	for i := from; i < len(f.list); i++ {
		x := f.list[i]
		f.Lines = append(f.Lines, findingLine{of: i, first: true, Text: display.Join(draw.Clean(x.Code), f.place(v, x))})
		for _, line := range display.Wrap(draw.Clean(x.Message), max(f.key.width-4, 8)) {
			f.Lines = append(f.Lines, findingLine{of: i, Text: line})
		}
	}
	if n := f.Total - len(f.list); n > 0 {
		f.Lines = append(f.Lines, findingLine{of: len(f.list), first: true, Text: screen.Count(n).Between("and ", " more")})
	}
}

// place says where a finding points: the frame has the number that the wire
// pane gives it.
func (f *Findings) place(v *providers.View, x found) display.Text {
	where := ""
	switch e := v.Event(x.Event); {
	case e.Kind == stream.SentBack:
		where = "  " + RequestName(v.Session(), stream.PayloadOf[stream.Resent](e).Exchange)
	case e.Turn != stream.NoTurn:
		where = fmt.Sprintf("  #%d", e.Frame+1)
	}
	if x.Call != nil && x.Offset >= 0 {
		where = fmt.Sprintf("  byte %s%s", screen.Count(x.Offset), where)
	}
	if x.Call != nil && f.key.of.Call == nil {
		where = fmt.Sprintf("  call %d%s", x.Call.Number, where)
	}
	return display.Clean(where)
}

// Chosen is the selected finding.
func (f *Findings) Chosen() (found, bool) {
	if f.At >= len(f.Lines) {
		return found{}, false
	}
	if i := f.Lines[f.At].of; i >= 0 && i < len(f.list) {
		return f.list[i], true
	}
	return found{}, false
}

// Request is the one that the selected line leads to, nil if none.
func (f *Findings) Request() *stream.Return {
	if f.At >= len(f.Lines) {
		return nil
	}
	return f.Lines[f.At].to
}

// Draw writes row n of the pane into the field.
func (f *Findings) Draw(p *screen.Pen, n int, focused bool) {
	defer p.Fill(screen.Bare)
	row := f.Top + n
	if row >= len(f.Lines) {
		return
	}
	line := f.Lines[row]
	g := screen.Bare
	if line.of == ours {
		if focused && line.to != nil && line.to == f.Lines[min(f.At, len(f.Lines)-1)].to {
			g = screen.Selected
		}
		p.Put(line.role, g, line.Text)
		p.Fill(g)
		return
	}
	if focused && line.of == f.Lines[min(f.At, len(f.Lines)-1)].of {
		g = screen.Selected
	}
	if !line.first {
		p.Put(screen.Plain, g, line.Text.Between("    ", ""))
		p.Fill(g)
		return
	}
	sev := stream.Info
	if line.of < len(f.list) {
		sev = f.list[line.of].Severity
	}
	r := screen.SeverityRoles[sev]
	p.Put(r, g, p.Format(" %s %s  ", p.Glyph.Severity[sev], sev))
	p.Put(r, g, line.Text)
	p.Fill(g)
}

// Alarms are the gravest severities of lists of findings by whose they are.
// The lists only grow, and a broken stream makes them long: each finding is
// looked at once.
type Alarms map[stream.Ref]grade

type grade struct {
	seen  int
	worst stream.Severity
}

// Of is the gravest severity in the list of a call or turn, and whether it is
// above info.
func (a Alarms) Of(owner stream.Ref, list []stream.Finding) (worst stream.Severity, above bool) {
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

// At reports whether what a Ref names has findings above info.
func (a Alarms) At(s *stream.Session, r stream.Ref) (above bool) {
	switch t, c := s.Find(r); {
	case c != nil:
		_, above = a.Of(r, c.Findings)
	case t != nil:
		_, above = a.Of(r, t.Findings)
	}
	return above
}
