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

// bodyLayout divides the body of the screen.
type bodyLayout struct {
	head   int // rows of titles across the full width
	heads  int // rows of column titles; 0 if there is no room
	table  int // rows of the table
	counts int // rows with the counts
	panes  int // rows of the panes with the sent and the written text, including captions
	notes  int // rows about losses
	other  int // rows of the other table, including a blank row, its caption and its column titles; 0 if there is no room
	side   bool
	// The following fields are widths. The widths of the panes are 0 if there are no panes.
	tableW, sentW, wroteW int
}

const (
	sideBySide = 160 // minimum width at which the panes are next to the table
	twoPanes   = 60  // minimum width for panes
	airyRows   = 20  // minimum height for a blank row above the table
	otherHead  = 3   // rows of the other table above its first row
	minOther   = otherHead + 3
)

// newBodyLayout divides a body of w × h cells for a table with the given number of rows, and for the rows that the
// notes need.
func newBodyLayout(w, h, rows, notes int) bodyLayout {
	notes = max(notes, 1)
	p := bodyLayout{head: 1, counts: 1, tableW: w}
	if h < modes.Tall {
		p.notes = max(0, min(2, notes, h-p.head-p.counts-4))
		if rest := h - p.head - p.counts - p.notes; rest > 3 {
			p.heads = 1
		}
		p.table = h - p.head - p.heads - p.counts - p.notes
		return p
	}
	p.head, p.heads = 3, 1
	if h >= airyRows {
		p.head++
	}
	rest := h - p.head - p.heads - p.counts
	switch {
	case w >= sideBySide:
		p.side = true
		p.tableW = min(max(w*2/5, 80), 100)
		p.notes = min(notes, rest/3)
		p.table = min(rows, rest-p.notes)
		if p.other = rest - p.table - p.notes; p.other < minOther {
			p.notes, p.other = p.notes+p.other, 0
		}
		p.panes = h - p.head
		p.splitPanes(w - p.tableW - 1)
	case w < twoPanes:
		p.table = min(rows, rest-min(notes, rest/2))
		p.notes = rest - p.table
	default:
		p.notes = min(notes, max(rest/6, 2), 9)
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

// largeRows is the maximum number of table rows in large mode, so that the panes have more room.
const largeRows = 3

func (m *replayMode) layoutBody() bodyLayout {
	if !m.large || m.h < modes.Tall {
		return newBodyLayout(m.w, m.h, m.Rows, m.noteRows)
	}
	plan := newBodyLayout(m.w, m.h, min(m.Rows, largeRows), m.noteRows)
	plan.notes, plan.other = plan.notes+plan.other, 0
	return plan
}

// setWantedPreviews sets the keys of the table and the page that should be shown.
func (m *replayMode) setWantedPreviews(t *stream.Turn, c *stream.Call) {
	v := versionOf(t, c, m.of, m.scope, m.exchange)
	m.rowsWanted = tableKey{version: v, policies: m.policies, fixed: m.policy}
	m.otherWanted = tableKey{version: v, policies: !m.policies, fixed: m.to}
	if m.policies {
		m.rowsWanted.fixed, m.otherWanted.fixed = m.to, m.policy
	}
	m.cellWanted = pageKey{version: v, to: m.to, policy: m.policy, raw: m.raw, sent: m.w - 1, wrote: m.w - 1, notes: m.w - 1, codes: m.full}
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
		m.drawAnswer(p, y)
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
	p.Text(screen.Frame, p.Glyph.Rule)
	p.Field(m.w - plan.tableW - 1)
	m.drawPanes(p, plan, y)
}

// drawLeft writes row y of the left side: the table, the given number of rows of panes, and the notes.
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
	case n < panes+plan.notes:
		m.drawNote(p, plan, n-panes)
	default:
		m.drawOther(p, plan, n-panes-plan.notes)
	}
}

// drawOther writes row y of the other table: all clients if the table has providers, or all providers. The selected
// one has a mark.
func (m *replayMode) drawOther(p *screen.Pen, plan bodyLayout, y int) {
	key, o := *m.previewKey, *m
	key.policies = !key.policies
	o.previewKey, o.beside, o.table, o.rowsWanted = &key, true, m.other, m.otherWanted
	o.placeCursor()
	o.Fit(o.Rows, otherHead, plan.other)
	o.Center(o.At)
	switch {
	case y == 0:
	case y == 1 && o.policies:
		p.Caption(screen.Plain, p.Format("all clients, to %s", m.targets[m.to].Name), p.ScrollInfo(o.Visible()))
	case y == 1:
		p.Caption(screen.Plain, p.Format("all targets, as %s", m.policyName()), p.ScrollInfo(o.Visible()))
	case y < otherHead:
		o.drawHeads(p, plan)
	default:
		o.drawRow(p, o.Top+y-otherHead)
	}
}

// drawTitle writes the scope, and the call, turn or conversation that the preview is about.
func (m *replayMode) drawTitle(p *screen.Pen) {
	title := display.Lit("Sent back?")
	t, c := m.host.View().Find(m.of)
	what := m.name
	switch {
	case m.scope == replay.WholeTurn:
		what = display.Lit("the whole turn")
	case m.scope == replay.WholeConversation:
		what = display.Lit("the conversation")
	case m.name.Empty():
		what = display.Lit("(no name)")
	}
	what = p.Truncate(what, max(p.Left/3, 6))
	add := func(text display.Text) {
		if len("== ")+title.Width()+len("  ")+what.Width()+text.Width()+len(" =") <= p.Left {
			what = display.Join(what, text)
		}
	}
	if t != nil && c != nil && m.scope == replay.OneCall {
		add(p.Format("  %s %s %s", c.Status(), p.Glyph.Dot, screen.Bytes(len(c.Args()))))
	}
	if m.growing {
		add(display.Lit(", if the stream ended now"))
	}
	room := p.Left - len("== ") - title.Width() - len("  ") - what.Width() - len(" = ") - len(" ==")
	scope := p.Format("scope: %s", [...]string{"this call", "the turn", "the conversation"}[m.scope])
	looked := p.Format("%s, ids checked up to turn %d", scope, m.of.Turn+1) // for other calls with the same id
	if m.of.Turn > 0 && len(m.exchange.CarriedCalls()) == 0 && m.scope != replay.WholeConversation {
		looked = p.Format("%s, ids checked only in turn %d", scope, m.of.Turn+1)
	}
	for _, words := range []display.Text{looked, scope} {
		if words.Width() <= room {
			p.HeavyTitle(title, what, words)
			return
		}
	}
	p.HeavyTitle(title, what, display.Text{})
}

// drawAnswer writes row y below the title. These rows show the worst outcome, the number of table rows that have it,
// and the policy.
func (m *replayMode) drawAnswer(p *screen.Pen, y int) {
	if y > 2 {
		return
	}
	var worst *verdict
	if m.table != nil && m.table.key.canShowFor(m.rowsWanted) {
		worst = m.table.worstOutcome()
	}
	role, side := screen.Muted, screen.Absent
	if worst != nil {
		side = worst.side
		role = screen.SideRoles[side]
	}
	p.Spaces(screen.Bare, 1)
	p.Text(role, p.Glyph.Bar)
	switch {
	case y == 2:
		m.drawPolicy(p)
	case worst != nil:
		p.Text(role, display.Join(display.Lit(" "), p.Clean(strings.TrimSpace(p.Glyph.Side[side].String())), display.Lit(" ")))
		p.Text(screen.Plain, m.outcomeText(p, worst, p.Left-1))
	}
}

// outcomeText returns the worst outcome, with the number of targets or policies that have it. It adds the effect if
// that fits.
func (m *replayMode) outcomeText(p *screen.Pen, worst *verdict, room int) display.Text {
	n, all := 0, 0
	for i := range m.table.rows {
		if row := &m.table.rows[i]; !row.mute {
			all++
			if row.outcome == worst.outcome {
				n++
			}
		}
	}
	whom := p.Format("to %d of %s", n, screen.Plural(all, "provider"))
	if m.policies {
		whom = p.Format("by %d of %s", n, screen.Plural(all, "policy"))
	}
	of := outcomeSentences[worst.outcome]
	short := p.Format("%s %s", p.Clean(of.lead), whom)
	if long := p.Format("%s: %s.", short, p.Clean(of.then)); of.then != "" && long.Width() <= room {
		return long
	}
	return p.Truncate(display.Join(short, display.Lit(".")), room)
}

// outcomeWords are the words for an outcome: a phrase for the table, and the two parts of a sentence. The
// number of providers or policies is written between these parts.
type outcomeWords struct{ gets, lead, then string }

var outcomeSentences = [replay.NumOutcomes]outcomeWords{
	replay.Verbatim:     {"the same text", "Sent byte for byte", ""},
	replay.AssumedEmpty: {"{} for no text", "Empty arguments sent as {}", ""},
	replay.Parsed:       {"the same object", "Sent as the same object", ""},
	replay.Reformatted:  {"the same value", "Sent in another form", "the value is the same"},
	replay.Unwrapped:    {"the object in it", "Sent as the object in the string", ""},
	replay.Wrapped:      {"wrapped", "Sent inside another value", "the model will see other arguments"},
	replay.Renamed:      {"another name", "Sent under another name", "the model will see another call"},
	replay.AsText:       {"plain text", "Sent as text", "the model will see no call"},
	replay.Repaired:     {"repaired", "Sent repaired", "the model will see arguments that it didn't write"},
	replay.Emptied:      {"{} instead", "Sent as {}", "the model will see an empty call"},
	replay.Dropped:      {"nothing", "Not sent", "the model will not see its call"},
	replay.Throws:       {"the client fails", "Fails before it is sent", ""},
	replay.Unknown:      {"not known", "Sent in an unknown form", ""},
}

// drawPolicy writes the selected policy. If the rows are policies, it also writes the target.
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
	p.Text(screen.Muted, display.Lit("   if sent by  "))
	if lead := p.Clean(who).Between("", ": "); lead.Width()+name.Width()+count.Width() < p.Left {
		p.Text(screen.Plain, lead)
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

// wideCounts is the minimum width for separate counts of behaviours and clients.
const wideCounts = 100

// drawCounts writes the number of rows of each kind. It counts all rows, including those out of view.
func (m *replayMode) drawCounts(p *screen.Pen, plan bodyLayout) {
	what := screen.Plural(m.Rows, "target")
	if m.policies {
		what = screen.Plural(m.Rows, "policy")
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
			place = p.Format(" %d%s%d", first, p.Glyph.Dash, last) // the total is already on the left
		}
		drawLabelledCounts(p, all, p.Left-place.Width())
	}
	p.Right(screen.Muted, screen.Bare, place)
}

// labelledCount is the number of rows of one kind.
type labelledCount struct {
	screen.StyledText
	n    int
	rank int // order of removal if there is no room; the lowest rank is removed first
}

// nonZero returns the counts above 0.
func nonZero(all []labelledCount) []labelledCount {
	return slices.DeleteFunc(slices.Clone(all), func(s labelledCount) bool { return s.n == 0 })
}

// drawLabelledCounts writes the counts in room cells. If they don't fit, it drops counts in this order: zeros,
// policies that don't use the provider, verdicts other than refusals, and the mildest changes.
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
	var sides [screen.NumSides]int
	var verdicts [replay.NumVerdicts]int
	mute := 0 // rows whose client does not speak the target's protocol
	for i := range m.table.rows {
		r := &m.table.rows[i]
		if sides[r.side]++; r.mute {
			mute++
		} else {
			verdicts[r.taken.Verdict]++
		}
	}
	for rank, side := range []screen.Side{screen.Same, screen.Alike, screen.Differs, screen.Nothing, screen.Absent} {
		if n := sides[side]; n > 0 || side != screen.Absent {
			text := p.Format("  %s %d", strings.TrimSpace(p.Glyph.Side[side].String()), n)
			all = append(all, labelledCount{screen.StyledText{Role: screen.SideRoles[side], Text: text}, n, rank + 2})
		}
	}
	for _, v := range []replay.Verdict{replay.Accepted, replay.Refused, replay.Unproven} {
		s := labelledCount{StyledText: screen.StyledText{Role: screen.VerdictRoles[v], Text: p.Format("  %s %d", p.Clean(takesWords[v]), verdicts[v])}, n: verdicts[v], rank: 1}
		if v == replay.Refused {
			s.rank = int(screen.NumSides) + 2
		}
		all = append(all, s)
	}
	if mute > 0 {
		all = append(all, labelledCount{StyledText: screen.StyledText{Role: screen.Muted, Text: p.Format("  not used %d", mute)}, n: mute})
	}
	return all
}

// drawNote writes row y of the notes about losses.
func (m *replayMode) drawNote(p *screen.Pen, plan bodyLayout, y int) {
	var notes []panes.LossNote
	if page := m.currentPage(); page != nil {
		notes = page.notes
	}
	panes.DrawLossNotes(p, notes, y, plan.notes, display.Lit(": enter, then h"))
}

// These constants are the widths of the table's columns, in cells. The gutter is to the left of the columns.
const (
	gutter      = 4
	knownColumn = 12
	minOutcome  = 13 // a sign and "verbatim"
	proofColumn = 17 // "accepts  by rule"
	wordColumn  = 10 // "not known"
	maxName     = 20
	minName     = 15
	minLosses   = 13
)

// tableColumns are the widths of the columns; 0 for a hidden column. The column of losses gets the remaining width.
type tableColumns struct{ name, as, goes, taken, lost int }

// columnWidths returns the widths for a table with the given width. If there is too little room, it first hides the
// source of verdicts and policies, and then the losses. The losses in the selected row are also shown below the
// table.
func (m *replayMode) columnWidths(width int) (c tableColumns) {
	for n := range m.Rows {
		c.name = max(c.name, display.Clean(m.rowName(n)).Width()+2)
		if v := m.rowVerdict(n); v != nil {
			c.goes = max(c.goes, len(v.outcomeWord())+5)
		}
	}
	c.name, c.goes, c.taken = min(c.name, maxName), max(c.goes, minOutcome), proofColumn
	if m.policies {
		c.as = knownColumn
	}
	left := width - gutter - c.name - c.goes - c.taken
	if c.lost = left - c.as; c.lost < minLosses+minLosses/2 {
		c.as, c.lost = 0, left
	}
	if c.lost < minLosses {
		c.taken = wordColumn
		c.lost = width - gutter - c.name - c.goes - c.taken
	}
	if c.lost < minLosses {
		c.name = max(min(c.name, minName), c.name+c.lost-minLosses)
		c.lost = width - gutter - c.name - c.goes - c.taken
	}
	if c.lost < minLosses/2 {
		c.lost, c.taken = 0, wordColumn
		c.name = max(8, min(c.name, width-gutter-c.goes-c.taken))
	}
	return c
}

// rowName returns the name of a row's target or policy. Such names are always ASCII.
func (m *replayMode) rowName(n int) string {
	if m.policies {
		return replay.Policies[n].Name
	}
	return m.targets[n].Name
}

// asWord returns one word for the provenance of a row's policy. The word is "behaviour" for a policy without a
// client.
func (m *replayMode) asWord(n int) string {
	p := &replay.Policies[n]
	switch {
	case p.Client == nil:
		return "behaviour"
	case m.src.Source == nil || !p.Knows(m.src.From, m.targets[m.to]):
		return p.Known.Word()
	}
	return p.KnownFor(m.src.From, m.targets[m.to]).Word()
}

// drawHeads writes the titles of the columns.
func (m *replayMode) drawHeads(p *screen.Pen, plan bodyLayout) {
	c := m.columnWidths(plan.tableW)
	title := "PROVIDER"
	if m.policies {
		title = "CLIENT"
	}
	p.Spaces(screen.Bare, gutter)
	for _, head := range []struct {
		word  string
		cells int
	}{{title, c.name}, {"KNOWN BY", c.as}, {"GETS", c.goes}, {"ACCEPTED?", c.taken}, {"LOST", c.lost}} {
		if head.cells > 0 {
			p.Text(screen.Muted, p.Pad(p.Truncate(display.Clean(head.word), head.cells-1), min(head.cells, p.Left)))
		}
	}
}

// drawRow writes row n of the table.
func (m *replayMode) drawRow(p *screen.Pen, n int) {
	if n >= m.Rows {
		return
	}
	c, g, v := m.columnWidths(p.Left), screen.Bare, m.rowVerdict(n)
	if n == m.At && !m.beside {
		g = screen.Selected
	}
	worst := noSeverity
	if v != nil {
		worst = v.worst
	}
	mark, role := display.Lit(" "), screen.Accent
	if n == m.At {
		mark = p.Glyph.Mark
	}
	if g == screen.Bare {
		role = screen.Muted
	}
	p.TextOn(role, g, mark)
	p.TextOn(worst.role(), g, p.Clean(worst.sign()).Between("", " "))
	p.TextOn(screen.Plain, g, p.Pad(p.Truncate(p.Clean(m.rowName(n)), c.name-1), c.name))
	if c.as > 0 {
		p.TextOn(screen.Muted, g, p.Pad(p.Clean(m.asWord(n)), c.as))
	}
	if v == nil {
		p.TextOn(screen.Muted, g, display.Lit("..."))
		p.Fill(g)
		return
	}
	p.TextOn(screen.SideRoles[v.side], g, p.Pad(display.Join(p.Glyph.Side[v.side], display.Lit(" "), p.Clean(v.outcomeWord())), min(c.goes, p.Left)))
	taken := p.Clean(takesWords[v.taken.Verdict])
	if c.taken >= proofColumn && v.taken.By != replay.NoProof {
		taken = p.Format("%-8s %s", takesWords[v.taken.Verdict], [...]string{"", "by rule", "seen"}[v.taken.By])
	}
	if v.mute {
		taken = display.Lit("not used")
	}
	p.TextOn(screen.VerdictRoles[v.taken.Verdict], g, p.Pad(taken, min(c.taken, p.Left)))
	if c.lost > 0 {
		drawLosses(p, g, v)
	}
	p.Fill(g)
}

// takesWords say whether a provider accepts a request.
var takesWords = [replay.NumVerdicts]string{replay.Unproven: "not known", replay.Accepted: "accepts", replay.Refused: "refuses"}

// drawLosses writes the worst loss and the number of further losses. If the provider refuses the request and no loss
// is high or critical, it writes the reason for the refusal instead.
func drawLosses(p *screen.Pen, g screen.Surface, v *verdict) {
	switch {
	case v.refused != "" && (len(v.losses) == 0 || v.losses[0].severity < replay.High):
		p.TextOn(screen.Bad, g, p.Truncate(p.Name(v.refused).Between(`"`, `"`), p.Left-1))
		return
	case len(v.losses) == 0:
		p.TextOn(screen.Muted, g, display.Lit("nothing"))
		return
	}
	worst, after := v.losses[0], display.Text{}
	text := p.Clean(worst.what)
	if worst.other != "" {
		text = display.Join(text, display.Lit(" "), p.Clean(worst.other))
	}
	if worst.times > 1 {
		text = display.Join(text, p.Format(" x%s", screen.Count(worst.times)))
	}
	if n := len(v.losses) - 1; n > 0 {
		after = p.Format(" +%d", n)
	}
	p.TextOn(screen.LossRoles[worst.severity], g, display.Join(p.Truncate(text, max(p.Left-after.Width(), 0)), after))
}

// rowVerdict returns the preview of row n, or nil until it is ready.
func (m *replayMode) rowVerdict(n int) *verdict {
	if m.table == nil || !m.table.key.canShowFor(m.rowsWanted) || n >= len(m.table.rows) {
		return nil
	}
	return &m.table.rows[n]
}

// currentPage returns the page that should be shown, or nil until it is ready.
func (m *replayMode) currentPage() *page {
	if m.page != nil && m.page.key.canShowFor(m.cellWanted) {
		return m.page
	}
	return nil
}
