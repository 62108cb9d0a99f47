package replay

import (
	"slices"
	"strings"

	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// bodyLayout is how the mode divides a body of the screen.
type bodyLayout struct {
	head   int // rows of titles, over the whole width
	heads  int // of the table's own title: none where there is no room
	table  int // rows of the table
	counts int // the row that counts them
	panes  int // rows of what would be sent and what was written, with their captions
	notes  int // rows about what is lost
	side   bool
	// Widths. The panes have none where they are not shown.
	tableW, sentW, wroteW int
}

const (
	sideBySide = 160 // cells from which the panes are beside the table
	twoPanes   = 60  // cells from which there are panes at all
)

// newBodyLayout divides a body of w × h cells for a table of so many rows.
func newBodyLayout(w, h, rows int) bodyLayout {
	p := bodyLayout{head: 1, counts: 1, tableW: w}
	if h < modes.Tall {
		p.notes = max(0, min(2, h-p.head-p.counts-4))
		if rest := h - p.head - p.counts - p.notes; rest > 3 {
			p.heads = 1
		}
		p.table = h - p.head - p.heads - p.counts - p.notes
		return p
	}
	p.head, p.heads = 2, 1
	rest := h - p.head - p.heads - p.counts
	switch {
	case w >= sideBySide:
		p.side = true
		p.tableW = min(max(w*2/5, 80), 100)
		p.table = min(rows, rest*2/3)
		p.notes = rest - p.table
		p.panes = h - p.head
		p.splitPanes(w - p.tableW - 1)
	case w < twoPanes:
		p.table = min(rows, rest/2)
		p.notes = rest - p.table
	default:
		p.notes = min(max(rest/6, 2), 9)
		p.table = min(rows, max(5, (rest-p.notes)*2/5))
		p.panes = rest - p.notes - p.table
		p.splitPanes(w)
	}
	return p
}

// splitPanes divides a width into the two panes and the rule between them.
func (p *bodyLayout) splitPanes(w int) {
	p.sentW = (w + 4) / 2
	p.wroteW = w - 1 - p.sentW
}

// largeRows is how many rows of the table there are where much room is wanted: what goes is the more.
const largeRows = 3

func (m *replayMode) layoutBody() bodyLayout {
	if m.large && m.h >= modes.Tall {
		return newBodyLayout(m.w, m.h, min(m.Rows, largeRows))
	}
	return newBodyLayout(m.w, m.h, m.Rows)
}

// setWantedPreviews notes which table and which page are to be shown.
func (m *replayMode) setWantedPreviews(t *stream.Turn, c *stream.Call) {
	v := versionOf(t, c, m.of, m.scope, m.exchange)
	m.rowsWanted = tableKey{version: v, policies: m.policies, fixed: m.policy}
	if m.policies {
		m.rowsWanted.fixed = m.to
	}
	m.cellWanted = pageKey{version: v, to: m.to, policy: m.policy, raw: m.raw, sent: m.w - 1, wrote: m.w - 1, notes: m.w - 1}
	if p := m.layoutBody(); !m.full {
		m.cellWanted.sent, m.cellWanted.wrote, m.cellWanted.notes = max(p.sentW-1, 1), max(p.wroteW-1, 1), p.tableW-1
	}
}

// Draw writes row y.
func (m *replayMode) Draw(p *screen.Pen, y int) {
	defer func() { p.Fill(screen.Bare) }()
	plan := m.layoutBody()
	switch {
	case m.full:
		m.drawFull(p, y)
		return
	case y == 0:
		m.drawTitle(p)
		return
	case y < plan.head:
		m.drawPolicy(p)
		return
	}
	y -= plan.head
	if !plan.side {
		m.drawLeft(p, plan, y, plan.panes)
		return
	}
	p.Field(plan.tableW)
	m.drawLeft(p, plan, y, 0)
	p.Fill(screen.Bare)
	p.Field(1)
	p.Text(screen.Muted, p.Glyph.Rule)
	p.Field(m.w - plan.tableW - 1)
	m.drawPanes(p, plan, y)
}

// drawLeft writes row y of the table, of so many rows of panes, and of the notes.
func (m *replayMode) drawLeft(p *screen.Pen, plan bodyLayout, y, panes int) {
	switch n := y - plan.heads - plan.table - plan.counts; {
	case y < plan.heads:
		m.drawHeads(p, plan)
	case n < -plan.counts:
		m.drawRow(p, m.Top+y-plan.heads)
	case n < 0:
		m.drawCounts(p, plan)
	case n < panes:
		m.drawPanes(p, plan, n)
	default:
		m.drawNote(p, plan, n-panes)
	}
}

// drawTitle writes what is replayed, and how much of it is looked at.
func (m *replayMode) drawTitle(p *screen.Pen) {
	tail := m.scopeWords(p)
	p.Text(screen.Muted, display.Lit(" REPLAY "))
	t, c := m.host.View().Find(m.of)
	var what display.Text
	switch {
	case m.scope == replay.WholeTurn:
		what = display.Lit("the whole turn")
	case m.scope == replay.WholeConversation:
		what = display.Lit("the conversation")
	case m.name.Empty():
		what = display.Lit("(no name)")
	default:
		what = m.name
	}
	p.TextOn(screen.Plain, screen.Bare, p.Truncate(what, max(p.Left-18, 6)))
	if t != nil && c != nil && m.scope == replay.OneCall {
		st := c.Status()
		p.Text(screen.CallRole(c), display.Join(display.Lit("  "), p.Glyph.Status[st], display.Lit(" "), p.Clean(st.String())))
		if size := screen.Bytes(len(c.Args())); p.Left > size.Width()+2 {
			p.Text(screen.Muted, size.Between("  ", ""))
		}
	}
	if so := display.Lit(", if the stream stopped now"); m.growing && p.Left > so.Width() {
		p.Text(screen.Live, so)
	}
	for _, words := range tail {
		if words.Width() < p.Left {
			p.Right(screen.Muted, screen.Bare, words)
			return
		}
	}
}

// scopeWords say how much is sent, and how far it was looked for calls that have the same id; in
// fewer words where there is less room.
func (m *replayMode) scopeWords(p *screen.Pen) []display.Text {
	scope := p.Format("scope %s", m.scope)
	looked := p.Format("%s, looked through turn %d ", scope, m.of.Turn+1)
	if m.of.Turn > 0 && len(m.exchange.CarriedCalls()) == 0 && m.scope != replay.WholeConversation {
		looked = p.Format("%s, looked at turn %d alone ", scope, m.of.Turn+1)
	}
	return []display.Text{looked, scope.Between("", " "), p.Clean(m.scope.String())}
}

// drawPolicy writes which client it is or, of a list of them, to whom it sends.
func (m *replayMode) drawPolicy(p *screen.Pen) {
	policy := &replay.Policies[m.policy]
	who, kind, of := "", "behaviour", replay.Behaviours
	at := m.policy
	if policy.Client != nil {
		who, kind, of, at = policy.Client.Title, "client", replay.Clients, m.policy-len(replay.Behaviours)
		if policy.Client.Version != "" {
			who += " " + policy.Client.Version
		}
	} else {
		who, _, _ = strings.Cut(policy.Seen, ",")
	}
	count, name := p.Format("  %s %d of %d", p.Clean(kind), at+1, len(of)), p.Clean(policy.Name)
	if lead := p.Clean(who).Between(" as ", ": "); lead.Width()+name.Width()+count.Width() < p.Left {
		p.Text(screen.Muted, lead)
	} else {
		p.Text(screen.Muted, display.Lit(" as "))
	}
	p.TextOn(screen.Accent, screen.Bare, name)
	p.Text(screen.Muted, count)
	if m.policies {
		p.Text(screen.Muted, p.Clean(m.targets[m.to].Name).Between("  to ", ""))
	}
	if p.Left > 24 {
		p.TextOn(screen.Muted, screen.Bare, p.Truncate(p.Clean(policy.Description).Between("  ", ""), p.Left-1))
	}
}

// wideCounts is from how many cells on it is said of what sorts of ways there are how many.
const wideCounts = 100

// drawCounts counts the rows of the table: how many of each sort, however few of them are seen.
func (m *replayMode) drawCounts(p *screen.Pen, plan bodyLayout) {
	what := screen.Plural(m.Rows, "target")
	if m.policies {
		what = screen.Plural(m.Rows, "way")
		if p.Left >= wideCounts {
			what = display.Join(screen.Plural(len(replay.Behaviours), "behaviour"), screen.Plural(len(replay.Clients), "client").Between(", ", ""))
		}
	}
	p.Text(screen.Muted, what.Between(" ", ""))
	first, last := m.Top+1, min(m.Rows, m.Top+plan.table)
	place := p.ScrollInfo(first, last, m.Rows).Between(" ", "")
	if m.table != nil && m.table.key.canShowFor(m.rowsWanted) {
		all := m.labelledCounts(p)
		if !place.Empty() && screen.Width(nonZero(all)) > p.Left-place.Width() {
			place = p.Format(" %d%s%d", first, p.Glyph.Dash, last) // how many there are is said already
		}
		drawLabelledCounts(p, all, p.Left-place.Width())
	}
	p.Right(screen.Muted, screen.Bare, place)
}

// labelledCount is a sort of rows, and how many there are.
type labelledCount struct {
	screen.StyledText
	n    int
	rank int // how soon it goes where there is no room
}

// nonZero are those of which there are rows.
func nonZero(all []labelledCount) []labelledCount {
	return slices.DeleteFunc(slices.Clone(all), func(s labelledCount) bool { return s.n == 0 })
}

// drawLabelledCounts writes how many rows of each sort there are, in so many cells. Where there is less room
// those go of which there are none, then the ways that do not ask the provider, then what is known of
// providers but for refusals, then what is least bad.
func drawLabelledCounts(p *screen.Pen, all []labelledCount, room int) {
	if screen.Width(all) > room {
		all = nonZero(all)
	}
	for rank := 0; screen.Width(all) > room && len(all) > 0; rank++ {
		all = slices.DeleteFunc(all, func(s labelledCount) bool { return s.rank == rank })
	}
	for _, s := range all {
		role := s.Role
		if s.n == 0 {
			role = screen.Muted
		}
		p.Text(role, s.Text)
	}
}

func (m *replayMode) labelledCounts(p *screen.Pen) (all []labelledCount) {
	c := m.table.countRows()
	for rank, side := range []screen.Side{screen.Same, screen.Alike, screen.Differs, screen.Nothing, screen.Absent} {
		if n := c.sides[side]; n > 0 || side != screen.Absent {
			text := p.Format("  %s %d", strings.TrimSpace(p.Glyph.Side[side].String()), n)
			all = append(all, labelledCount{screen.StyledText{Role: screen.SideRoles[side], Text: text}, n, rank + 2})
		}
	}
	for _, v := range []replay.Verdict{replay.Accepted, replay.Refused, replay.Unproven} {
		s := labelledCount{StyledText: screen.StyledText{Role: screen.VerdictRoles[v], Text: p.Format("  %s %d", v, c.verdicts[v])}, n: c.verdicts[v], rank: 1}
		if v == replay.Refused {
			s.rank = int(screen.NumSides) + 2
		}
		all = append(all, s)
	}
	if c.mute > 0 {
		all = append(all, labelledCount{StyledText: screen.StyledText{Role: screen.Muted, Text: p.Format("  not asked %d", c.mute)}, n: c.mute})
	}
	return all
}

// drawNote writes row y of what is known to be lost.
func (m *replayMode) drawNote(p *screen.Pen, plan bodyLayout, y int) {
	var notes []panes.LossNote
	if page := m.currentPage(); page != nil {
		notes = page.notes
	}
	panes.DrawLossNotes(p, notes, y, plan.notes, display.Lit(": enter, then h"))
}
