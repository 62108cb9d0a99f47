package ui

import (
	"path"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/providers/host"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/panes"
	"toolscope/ui/screen"

	tea "github.com/charmbracelet/bubbletea"
)

// compareView is the mode that shows turns side by side, one a column, their
// calls in the same rows, while they arrive.
type compareView struct {
	screen.Window // of the rows below the heads
	columns       []comparison
	col           int // the chosen column
	first         int // the leftmost that is shown
	follow        bool
	raw           bool

	seen   compareVersion
	groups []group
	judged map[callSet]verdictOfCalls
	made   int // how often something was laid out
}

// mostColumns is how many turns are compared at once.
const mostColumns = 4

// callSet is the same call of several turns, nil where a turn has none.
type callSet [mostColumns]*stream.Call

// comparison is one column. Its exchange may have nothing to show yet.
type comparison struct {
	exchange *providers.Exchange
	name     string       // whose answer it is
	turn     *stream.Turn // nil until it opens
	cells    map[*stream.Call]*panes.Document
	text     *layout.Text
	failure  []display.Text
}

// compareVersion says what the rows were made from.
type compareVersion struct {
	w, h, shown, first, turns int
	raw                       bool
	events                    [mostColumns]int
}

// markTurn marks the chosen turn to be compared, or takes the mark away.
func (m *Model) markTurn() {
	t := m.turn()
	if t == nil {
		m.say(display.Lit("no turn to mark"))
		return
	}
	if at := slices.Index(m.marks, t.Ref()); at >= 0 {
		m.marks = slices.Delete(m.marks, at, at+1)
		m.refresh()
		return
	}
	if len(m.marks) == mostColumns {
		m.say(m.draw.Format("%d turns are marked already: m on one takes its mark away", mostColumns))
		return
	}
	m.marks = append(m.marks, t.Ref())
	m.refresh()
	m.say(screen.Plural(len(m.marks), "turn").Between("", " marked: = compares"))
}

// openCompare shows the marked turns side by side, or else those that ask for the
// same as the chosen one.
func (m *Model) openCompare() {
	v := &compareView{follow: m.follow, judged: map[callSet]verdictOfCalls{}}
	var turns []*stream.Turn
	for _, r := range m.marks {
		if t, _ := m.view.Find(r); t != nil {
			turns = append(turns, t)
		}
	}
	if len(turns) == 1 && m.turn() != nil && m.turn() != turns[0] {
		turns = append(turns, m.turn())
	}
	for _, t := range turns {
		v.columns = append(v.columns, comparison{exchange: m.in.Exchange(t.Exchange), turn: t})
	}
	if len(turns) < 2 {
		v.columns = nil
		for _, x := range m.alike() {
			v.columns = append(v.columns, comparison{exchange: x, turn: panes.TurnOf(m.in.Session(), x.Number)})
		}
	}
	if len(v.columns) < 2 {
		m.say(display.Lit("nothing else asks for the same: m marks turns, then = compares"))
		return
	}
	for i := range v.columns {
		if c := &v.columns[i]; c.turn != nil && c.turn == m.turn() {
			v.col = i
		}
		v.columns[i].cells, v.columns[i].name = map[*stream.Call]*panes.Document{}, whose(v.columns[i].exchange)
	}
	m.setFollow(false)
	m.openOld(v)
}

// whose is who answered an exchange, as far as that is known.
func whose(x *providers.Exchange) string {
	label := x.Head.File // as those have that were asked from here
	name, _, _ := strings.Cut(label, "/")
	if _, err := host.Find(name); err == nil {
		return label
	}
	if _, rest, ok := strings.Cut(x.Head.URL, "://"); ok {
		name, _, _ = strings.Cut(rest, "/")
		return name
	}
	return path.Base(label)
}

// mostAlike is how many exchanges before and after the chosen one are looked at.
const mostAlike = 16

// alike are the exchanges that ask for the same as the chosen turn's, it among
// them, in order; without a turn, as the last one's.
func (m *Model) alike() (all []*providers.Exchange) {
	list := m.in.Exchanges()
	at := len(list) - 1
	if t := m.turn(); t != nil {
		at = slices.IndexFunc(list, func(x *providers.Exchange) bool { return x.Number == t.Exchange })
	}
	if at < 0 {
		return nil
	}
	own := list[at].Asks()
	if own == 0 {
		return nil
	}
	from, to := max(0, at-mostAlike), min(len(list), at+mostAlike+1)
	for i := from; i < to; i++ {
		if x := list[i]; i == at || x.MayAsk(list[at]) && x.Asks() == own {
			if all = append(all, x); len(all) > mostColumns && i > at {
				return all[:mostColumns]
			}
		}
	}
	for len(all) > mostColumns && all[0] != list[at] {
		all = all[1:]
	}
	return all[:min(len(all), mostColumns)]
}

func (v *compareView) update(m *Model, k tea.KeyMsg) tea.Cmd {
	km := m.keys
	switch {
	case km.is(k, km.Escape, km.Quit, km.Compare):
		v.close(m)
	case km.is(k, km.Help):
		m.openHelp()
	case km.is(k, km.Left, km.Back):
		v.choose(m, v.col-1)
	case km.is(k, km.Right, km.Next):
		v.choose(m, v.col+1)
	case km.is(k, km.Enter):
		v.enter(m)
	case km.is(k, km.Raw):
		v.raw = !v.raw
	case km.is(k, km.Pause, km.Speed, km.Theme):
		m.elsewhere(k)
	default:
		if row, ok := km.move(k, v.Pages()); ok {
			v.Scroll(row)
			v.Stick = km.is(k, km.Bottom)
		}
	}
	return nil
}

// close goes back to where the view was opened from.
func (v *compareView) close(m *Model) {
	m.closeTop()
	if v.follow {
		m.setFollow(true)
	}
}

// choose makes another column the chosen one, and has it on the screen.
func (v *compareView) choose(m *Model, col int) {
	v.col = max(0, min(col, len(v.columns)-1))
	v.inView(v.shown(m))
}

// inView has the chosen column among so many that are shown.
func (v *compareView) inView(shown int) {
	v.first = min(max(v.first, v.col-shown+1), v.col, len(v.columns)-shown)
}

// enter goes to the turn of the chosen column.
func (v *compareView) enter(m *Model) {
	t := v.columns[v.col].turn
	if t == nil {
		m.say(display.Lit("nothing of it has come yet"))
		return
	}
	m.closeTop()
	m.focus = listPane
	m.choose(t.Ref())
}

func (v *compareView) footer(m *Model, p *screen.Pen) {
	if !m.notice.Empty() {
		p.Put(screen.Caution, screen.Bare, m.draw.Truncate(m.notice.Between(" ", ""), p.Left))
		return
	}
	oldHints(p, []string{"esc close", "h l column", "j k scroll", "enter go there", "r raw", "G follow the end", "? help"})
}
