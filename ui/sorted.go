package ui

import (
	"cmp"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// sortedTurns is the mode that lists the shown turns in another order. Later turns are added only when the
// user sorts again.
type sortedTurns struct {
	screen.Window
	m     *Model
	by    sortKey
	turns []stream.Ref
	since int // number of turns at the last sort
}

// sortKey is a sort order of turns, with the greatest first.
type sortKey struct {
	word string
	of   func(*Model, *stream.Turn) float64
}

var orders = []sortKey{
	{"cost", func(m *Model, t *stream.Turn) float64 { return m.bill.CostOf(t).USD }},
	{"took", func(_ *Model, t *stream.Turn) float64 { return float64(screen.Elapsed(t.OpenedAt, t.ClosedAt)) }},
	{"bytes", func(_ *Model, t *stream.Turn) (size float64) {
		for _, c := range t.Calls {
			size += float64(c.ArgsLen())
		}
		return size
	}},
	{"start", func(_ *Model, t *stream.Turn) float64 { return float64(t.OpenedAt) }},
}

// openSorted sorts by arg, or lists the possible orders.
func (m *Model) openSorted(arg string) {
	i := slices.IndexFunc(orders, func(o sortKey) bool { return arg != "" && strings.HasPrefix(o.word, arg) })
	if arg == "" {
		m.showNotice(display.Lit("sort by what? cost, took, bytes or start"))
		return
	}
	if i < 0 {
		m.showNotice(m.draw.Format("sort by %q? cost, took, bytes or start", arg))
		return
	}
	s := &sortedTurns{m: m, by: orders[i]}
	s.sort()
	m.pushMode(s)
}

func (s *sortedTurns) sort() {
	type valued struct {
		of stream.Ref
		is float64
	}
	var all []valued
	turns := s.m.view.Session().Turns
	for _, t := range turns {
		if s.m.turnFilter.Shows(t) {
			all = append(all, valued{t.Ref(), s.by.of(s.m, t)})
		}
	}
	slices.SortStableFunc(all, func(a, b valued) int { return cmp.Compare(b.is, a.is) })
	s.turns, s.since = s.turns[:0], s.m.turnCount()
	for _, v := range all {
		s.turns = append(s.turns, v.of)
	}
}

func (s *sortedTurns) Keys() []screen.Binding {
	return append([]screen.Binding{
		{Keys: []string{"enter"}, Hint: display.Lit("enter go there"), Does: display.Lit("go to the turn"), Do: s.goToSelected},
		{Keys: []string{"s"}, Hint: display.Lit("s sort again"), Does: display.Lit("sort again with new turns"), Do: s.sort},
		{Keys: []string{"esc", "q"}, Hint: display.Lit("esc back"), Does: display.Lit("close"), Do: s.m.closeTop},
	}, s.CursorKeys(display.Lit("j k row"), s.MoveTo)...)
}

func (s *sortedTurns) goToSelected() {
	if s.At < len(s.turns) {
		s.m.closeTop()
		modeHost{s.m}.Choose(s.turns[s.At])
	}
}

func (s *sortedTurns) Extend(_ *providers.View, _, h int) { s.Fit(len(s.turns), 1, h) }

func (s *sortedTurns) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if y == 0 {
		p.Text(screen.Accent, p.Format(" TURNS %s", screen.Count(len(s.turns))))
		p.Text(screen.Plain, p.Format("  by %s", s.by.word))
		if n := s.m.turnCount() - s.since; n > 0 {
			p.Text(screen.Muted, p.Format("  %s new: s", screen.Count(n)))
		}
		p.Right(screen.Muted, screen.Bare, display.Lit("a sorted copy: the list keeps its order "))
		return
	}
	if n := s.Top + y - 1; n < len(s.turns) {
		if t, _ := s.m.view.Find(s.turns[n]); t != nil {
			s.m.list.DrawTurn(p, t, n == s.At)
		}
	}
}
