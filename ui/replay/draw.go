package replay

import (
	"fmt"

	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// plan is how the mode divides a body of the screen.
type plan struct {
	head  int // rows of titles, over the whole width
	table int // rows of the table, its own title not counted
	panes int // rows of what would be sent and what was written, with their captions
	notes int // rows about what is lost, with their caption
	side  bool
	// Widths. The panes have none where they are not shown.
	tableW, sentW, wroteW int
}

const (
	sideBySide = 160 // cells from which the panes are beside the table
	twoPanes   = 72  // cells from which there are panes at all
)

// planFor divides a body of w × h cells for a table of so many rows.
func planFor(w, h, rows int) plan {
	p := plan{head: 1, tableW: w}
	if h < modes.Tall {
		p.notes = max(0, min(2, h-p.head-3))
		p.table = h - p.head - p.notes
		return p
	}
	p.head = 2
	rest := h - p.head - 1
	switch {
	case w >= sideBySide:
		p.side = true
		p.tableW = min(max(w*2/5, 72), 100)
		p.table = min(rows, rest*2/3)
		p.notes = rest - p.table
		p.panes = h - p.head
		p.split(w - p.tableW - 1)
	case w < twoPanes:
		p.table = min(rows, rest/2)
		p.notes = rest - p.table
	default:
		p.notes = min(max(rest/6, panes.NoteCaption), 9)
		p.table = min(rows, max(5, (rest-p.notes)*2/5))
		p.panes = rest - p.notes - p.table
		p.split(w)
	}
	return p
}

// split divides a width into the two panes and the rule between them.
func (p *plan) split(w int) {
	p.sentW = (w - 1) / 2
	p.wroteW = w - 1 - p.sentW
}

func (m *mode) plan() plan { return planFor(m.w, m.h, m.Rows) }

// want notes which table and which page are to be shown.
func (m *mode) want(t *stream.Turn, c *stream.Call) {
	v := versionOf(t, c, m.of, m.scope, m.exchange)
	m.rowsWanted = tableKey{version: v, policies: m.policies, fixed: m.policy}
	if m.policies {
		m.rowsWanted.fixed = m.to
	}
	m.cellWanted = pageKey{version: v, to: m.to, policy: m.policy, raw: m.raw, sent: m.w - 1, wrote: m.w - 1, notes: m.w - 1}
	if p := m.plan(); !m.full {
		m.cellWanted.sent, m.cellWanted.wrote, m.cellWanted.notes = max(p.sentW-1, 1), max(p.wroteW-1, 1), p.tableW-1
	}
}

// Draw writes row y.
func (m *mode) Draw(p *screen.Pen, y int) {
	defer func() { p.Fill(screen.Bare) }()
	plan := m.plan()
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
	p.Say(screen.Muted, p.Glyph.Rule)
	p.Field(m.w - plan.tableW - 1)
	m.drawPanes(p, plan, y)
}

// drawLeft writes row y of the table, of so many rows of panes, and of the notes.
func (m *mode) drawLeft(p *screen.Pen, plan plan, y, panes int) {
	title := plan.head - 1 // the table has one where the policy has a row
	switch n := y - title - plan.table; {
	case y < title:
		m.drawHeads(p, plan)
	case n < 0:
		m.drawRow(p, m.Top+y-title)
	case n < panes:
		m.drawPanes(p, plan, n)
	default:
		m.drawNote(p, plan, n-panes)
	}
}

// drawTitle writes what is replayed, to whom or how, and how much of it.
func (m *mode) drawTitle(p *screen.Pen) {
	what := [replay.NumScopes]display.Text{replay.WholeTurn: display.Lit("the whole turn"), replay.WholeConversation: display.Lit("the conversation")}[m.scope]
	if m.scope == replay.OneCall {
		if what = m.name; what.Empty() {
			what = display.Lit("(no name)")
		}
	}
	name, kind, at, of := m.policyName(), "policy ", m.policy, len(replay.Policies)
	if m.policies {
		name, kind, at, of = m.targets[m.to].Name, "to ", m.to, len(m.targets)
	}
	so := []display.Text{{}}
	if m.growing {
		sign := p.Glyph.Status[stream.Streaming]
		so = []display.Text{sign.Between("", " if the stream stopped now "), sign.Between("", " so far ")}
	}
	lead, how, last := titleFor(p.Left-min(what.Width(), 16), so, kind, name, fmt.Sprintf(" %d/%d", at+1, of))
	p.Say(screen.Muted, p.Clean(lead))
	p.Put(screen.Plain, screen.Bare, p.Truncate(what, max(p.Left-display.Join(how, last).Width(), 4)))
	p.Put(screen.Accent, screen.Bare, p.Truncate(how, max(p.Left-last.Width(), 0)))
	p.Tail(screen.Live, screen.Bare, last)
}

// titleFor are the words around a name, as many as so many cells have room for.
func titleFor(room int, so []display.Text, kind, name, count string) (lead string, how, last display.Text) {
	for _, last = range so {
		for _, form := range [][2]string{{" REPLAY of ", "  " + kind + name + count}, {" REPLAY ", "  " + kind + name}, {" ", "  " + name}} {
			lead, how = form[0], display.Clean(form[1])
			if len(lead)+display.Join(how, last).Width() < room {
				return lead, how, last
			}
		}
	}
	return lead, how, last
}

// drawPolicy writes what clients of the policy do, and which have been seen to.
func (m *mode) drawPolicy(p *screen.Pen) {
	policy := &replay.Policies[m.policy]
	if m.policies {
		p.Put(screen.Accent, screen.Bare, p.Clean(policy.Name).Between(" ", ": "))
	} else {
		p.Spaces(screen.Bare, 1)
	}
	does := p.Clean(policy.Does)
	p.Put(screen.Plain, screen.Bare, p.Truncate(does, p.Left-1))
	seen := p.Clean(policy.Seen).Between("   seen in ", "")
	if policy.Client != nil {
		seen = p.Format("   %s %s: %s", policy.Client.Title, policy.Client.Version, policy.Known)
	}
	if seen.Width() < p.Left {
		p.Put(screen.Muted, screen.Bare, seen)
	}
}
