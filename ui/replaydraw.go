package ui

import (
	"fmt"

	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// replayPlan is how the view divides a body of the screen.
type replayPlan struct {
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
	replayHigh = 16  // rows from which the table has a title, and panes below
)

// planReplay divides a body of w × h cells for a table of so many rows.
func planReplay(w, h, rows int) replayPlan {
	p := replayPlan{head: 1, tableW: w}
	if h < replayHigh {
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
	case w < twoColumns:
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
func (p *replayPlan) split(w int) {
	p.sentW = (w - 1) / 2
	p.wroteW = w - 1 - p.sentW
}

func (r *replayView) plan(m *Model) replayPlan { return planReplay(m.w, m.bodyHeight(), r.Rows) }

// want notes which table and which page are to be shown.
func (r *replayView) want(m *Model) {
	v := versionOf(r.of, r.scope, r.exchange)
	r.rowsWanted = tableKey{version: v, policies: r.policies, fixed: r.policy}
	if r.policies {
		r.rowsWanted.fixed = r.to
	}
	r.cellWanted = pageKey{version: v, to: r.to, policy: r.policy, raw: r.raw, sent: m.w - 1, wrote: m.w - 1, notes: m.w - 1}
	if p := r.plan(m); !r.full {
		r.cellWanted.sent, r.cellWanted.wrote, r.cellWanted.notes = max(p.sentW-1, 1), max(p.wroteW-1, 1), p.tableW-1
	}
}

func (r *replayView) body(m *Model, p *screen.Pen, y, h int) bool {
	defer func() { p.Fill(screen.Bare) }()
	if y >= h {
		return true
	}
	if r.full {
		r.drawFull(p, y, h)
		return true
	}
	plan := r.plan(m)
	r.Resize(r.Rows, plan.table)
	switch {
	case y == 0:
		r.drawTitle(p)
		return true
	case y < plan.head:
		r.drawPolicy(p)
		return true
	}
	y -= plan.head
	if plan.side {
		p.Field(plan.tableW)
		r.drawLeft(p, plan, y, 0)
		p.Fill(screen.Bare)
		p.Field(1)
		p.Say(screen.Muted, p.Glyph.Rule)
		p.Field(m.w - plan.tableW - 1)
		r.drawPanes(p, plan, y)
		return true
	}
	r.drawLeft(p, plan, y, plan.panes)
	return true
}

// drawLeft writes row y of the table, of so many rows of panes, and of the notes.
func (r *replayView) drawLeft(p *screen.Pen, plan replayPlan, y, panes int) {
	title := plan.head - 1 // the table has one where the policy has a row
	switch n := y - title - plan.table; {
	case y < title:
		r.drawHeads(p, plan)
	case n < 0:
		r.drawRow(p, r.Top+y-title)
	case n < panes:
		r.drawPanes(p, plan, n)
	default:
		r.drawNote(p, plan, n-panes)
	}
}

// title writes what is replayed, to whom or how, and how much of it.
func (r *replayView) drawTitle(p *screen.Pen) {
	what := [replay.NumScopes]display.Text{replay.WholeTurn: display.Lit("the whole turn"), replay.WholeConversation: display.Lit("the conversation")}[r.scope]
	if r.scope == replay.OneCall {
		if what = p.Name(r.of.Call.Name); what.Empty() {
			what = display.Lit("(no name)")
		}
	}
	name, kind, at, of := r.policyName(), "policy ", r.policy, len(replay.Policies)
	if r.policies {
		name, kind, at, of = r.targets[r.to].Name, "to ", r.to, len(r.targets)
	}
	so := []display.Text{{}}
	if r.growing() {
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

// growing reports whether more may come of what is sent back.
func (r *replayView) growing() bool {
	if r.scope == replay.OneCall {
		return r.of.Call.Arriving()
	}
	return !r.of.Turn.Closed()
}

// drawPolicy writes what clients of the policy do, and which have been seen to.
func (r *replayView) drawPolicy(p *screen.Pen) {
	policy := &replay.Policies[r.policy]
	if r.policies {
		p.Put(screen.Accent, screen.Bare, p.Clean(policy.Name).Between(" ", ": "))
	} else {
		p.Spaces(screen.Bare, 1)
	}
	does := p.Clean(policy.Does)
	p.Put(screen.Plain, screen.Bare, p.Truncate(does, p.Left-1))
	if seen := p.Clean(policy.Seen).Between("   seen in ", ""); seen.Width() < p.Left {
		p.Put(screen.Muted, screen.Bare, seen)
	}
}
