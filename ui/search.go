package ui

import (
	"bytes"
	"fmt"
	"sort"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/screen"

	"github.com/charmbracelet/bubbles/textinput"

	"toolscope/ui/display"

	tea "github.com/charmbracelet/bubbletea"
)

// search is what was looked for in a pane, and where it was found. The meaning
// of a hit is the pane's: a byte of the arguments, or a row.
type search struct {
	query  string
	pane   paneID
	hits   []int
	at     int        // current hit
	of     stream.Ref // what was shown then
	events int        // how many there were then
}

// searchBar is the mode in which a query is typed; hits show while it is.
type searchBar struct {
	input  textinput.Model
	before search
}

func newSearchBar(m *Model) *searchBar {
	in := textinput.New()
	in.Prompt = "/"
	in.CharLimit = 200
	in.Focus()
	return &searchBar{input: in, before: m.search}
}

func (s *searchBar) update(m *Model, k tea.KeyMsg) tea.Cmd {
	switch {
	case k.Type == tea.KeyEsc:
		m.clearSearch()
		m.search = s.before
		m.look()
		m.mode = browse{}
	case k.Type == tea.KeyEnter:
		m.mode = browse{}
		m.hit(0) // says how many there are
	default:
		before := s.input.Value()
		s.input, _ = s.input.Update(k)
		if s.input.Value() != before {
			m.find(s.input.Value())
		}
	}
	return nil
}

func (*searchBar) body(*Model, *screen.Pen, int, int) bool { return false }

func (s *searchBar) footer(m *Model, p *screen.Pen) {
	p.Say(screen.Accent, display.Lit(" /"))
	drawTyped(p, &s.input, p.Clean(m.search.count()).Between(" ", "   enter keep   esc cancel "))
}

func (s search) count() string {
	switch {
	case s.query == "":
		return ""
	case len(s.hits) == 0:
		return "no hits"
	}
	return fmt.Sprintf("%s/%s", screen.Count(s.at+1), screen.Count(len(s.hits)))
}

// find looks for query in the focused pane and goes to the first hit from the
// cursor on.
func (m *Model) find(query string) {
	m.setFollow(false)
	m.clearSearch()
	m.search = search{query: query, pane: m.focus}
	m.look()
	m.search.at = m.hitFrom()
	m.hit(0)
}

func (m *Model) clearSearch() {
	m.search = search{}
	m.doc.hits, m.wire.hits = hits{}, nil
}

// look finds the query in what its pane shows now.
func (m *Model) look() {
	s := &m.search
	s.hits, s.of, s.events = nil, m.chosen, m.in.Timeline.Len()
	if s.query == "" {
		return
	}
	switch s.pane {
	case listPane:
		s.hits = m.list.find(m.view, s.query)
	case docPane:
		s.hits = m.doc.find(s.query)
	case wirePane:
		s.hits = m.wire.find(m.view, s.query)
	case findingsPane:
		for row, line := range m.findings.lines {
			if len(findAll([]byte(line.text.String()), s.query)) > 0 {
				s.hits = append(s.hits, row)
			}
		}
	}
}

// hitFrom is the number of the first hit from the cursor on, or of the first.
func (m *Model) hitFrom() int {
	from := [...]int{listPane: m.list.At, docPane: m.doc.offset(), wirePane: m.wire.At, findingsPane: m.findings.At}
	n := sort.SearchInts(m.search.hits, from[m.search.pane])
	if n == len(m.search.hits) {
		return 0
	}
	return n
}

// lookAgain looks once more if there is something else to see than then.
func (m *Model) lookAgain(step int) {
	before := m.search
	if before.of == m.chosen && before.events == m.in.Timeline.Len() {
		return
	}
	m.look()
	if len(before.hits) == 0 || before.of != m.chosen && before.pane != listPane {
		m.search.at = m.hitFrom() - max(step, 0)
	}
}

// find are the rows whose name, id, model or arguments hold query.
func (l *turnList) find(v *providers.View, query string) (rows []int) {
	holds := func(texts ...string) bool {
		for _, t := range texts {
			if len(findAll([]byte(t), query)) > 0 {
				return true
			}
		}
		return false
	}
	for i, t := range v.Session().Turns {
		if holds(t.Model, t.ID, turnTitle(v.Exchange(t.Exchange), t)) {
			rows = append(rows, l.starts[i])
		}
		for _, c := range t.Calls {
			if holds(c.Name, c.ID) || len(findAll(c.Args(), query)) > 0 {
				rows = append(rows, l.starts[i]+c.Number)
			}
		}
	}
	return rows
}

// hit goes to the hit so many further on.
func (m *Model) hit(step int) {
	if step != 0 {
		m.lookAgain(step)
	}
	n := len(m.search.hits)
	if n == 0 {
		if m.search.query != "" {
			m.say(m.draw.Clean(m.search.query).Between("no hits for ", ""))
		}
		return
	}
	m.search.at = ((m.search.at+step)%n + n) % n
	target := m.search.hits[m.search.at]
	m.setFollow(false)
	switch m.search.pane {
	case listPane:
		m.list.MoveTo(target)
		m.choose(m.list.refAt(m.in.Session(), target))
	case docPane:
		m.doc.goTo(target)
		m.linkFromDocument()
	case wirePane:
		m.wire.MoveTo(target)
		m.linkFromWire()
	case findingsPane:
		m.findings.MoveTo(target)
	}
	m.say(display.Join(m.draw.Clean(m.search.query), display.Lit("  "), m.draw.Clean(m.search.count())))
}

// nextFinding goes to the next call or turn that has a finding above info.
func (m *Model) nextFinding() {
	s := m.in.Session()
	rows := m.list.Rows
	for i := 1; i <= rows; i++ {
		row := (m.list.At + i) % rows
		at := m.list.refAt(s, row)
		if m.list.alarms.at(s, at) {
			m.setFollow(false)
			m.list.MoveTo(row)
			m.choose(at)
			m.lower = findingsPane
			m.refresh()
			return
		}
	}
	m.say(display.Lit("no findings above info"))
}

// find remembers where query is in the arguments, without regard to case if it
// has none itself.
func (d *document) find(query string) []int {
	d.hits = hits{length: len(query)}
	if d.call == nil || query == "" {
		return nil
	}
	d.hits.at = findAll(d.call.Args(), query)
	return d.hits.at
}

// findAll returns where query is in text. A query without capitals matches
// them too, as far as ASCII goes.
func findAll(text []byte, query string) (at []int) {
	q := []byte(query)
	if low := bytes.ToLower(q); bytes.Equal(low, q) {
		text = asciiLower(text)
	}
	for off := 0; len(q) > 0; {
		i := bytes.Index(text[off:], q)
		if i < 0 {
			break
		}
		at = append(at, off+i)
		off += i + len(q)
	}
	return at
}

// asciiLower is text with A–Z lowered: unlike bytes.ToLower it moves no offset.
func asciiLower(text []byte) []byte {
	low := bytes.Clone(text)
	for i, c := range low {
		if 'A' <= c && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	return low
}
