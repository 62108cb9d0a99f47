package ui

import (
	"cmp"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers/dialect"
	"toolscope/providers/replay"
)

// atOnce is the size below which previews are made at once: there is nothing to
// wait for. Bigger ones are made beside the screen, one job at a time.
const atOnce = 16 << 10

// tableKey is what the rows of the table were made from.
type tableKey struct {
	version  version
	policies bool
	fixed    int // the policy, or the target when the rows are policies
}

// answers reports whether rows of k may be shown for other: they are about the
// same thing, if perhaps as it was a moment ago.
func (k tableKey) answers(other tableKey) bool {
	k.version = version{of: k.version.of, scope: k.version.scope}
	other.version = version{of: other.version.of, scope: other.version.scope}
	return k == other
}

// pageKey is what the page of one cell was made from.
type pageKey struct {
	version            version
	to, policy         int
	sent, wrote, notes int // widths
	raw                bool
}

// answers is as that of tableKey.
func (k pageKey) answers(other pageKey) bool {
	return k.version.of == other.version.of && k.version.scope == other.version.scope && k.to == other.to && k.policy == other.policy
}

// table is one row or column of all the previews there are, in a few words each.
type table struct {
	key  tableKey
	rows []verdict
}

// verdict is a preview in a few words.
type verdict struct {
	outcome replay.Outcome
	losses  []lost // worst first
	refused string // why the request would be
}

// lost is the losses of one code.
type lost struct {
	code     string
	severity replay.Severity
	times    int
}

// verdictOf is what a row says of a preview.
func verdictOf(p *replay.Preview) verdict {
	v := verdict{outcome: p.Outcome, refused: p.Refused}
	at := map[string]int{}
	for _, l := range p.Losses {
		i, seen := at[l.Code]
		if !seen {
			i = len(v.losses)
			at[l.Code] = i
			v.losses = append(v.losses, lost{code: l.Code, severity: l.Severity})
		}
		v.losses[i].times++
		v.losses[i].severity = max(v.losses[i].severity, l.Severity)
	}
	slices.SortStableFunc(v.losses, func(a, b lost) int { return cmp.Compare(b.severity, a.severity) })
	return v
}

// makeTable previews a source for all targets, or under all policies.
func makeTable(k tableKey, src *replay.Source, targets []*dialect.Target) *table {
	t := &table{key: k}
	add := func(to, policy int) {
		p := src.Preview(targets[to], &replay.Policies[policy])
		t.rows = append(t.rows, verdictOf(&p))
	}
	if k.policies {
		for i := range replay.Policies {
			add(k.fixed, i)
		}
		return t
	}
	for i := range targets {
		add(i, k.fixed)
	}
	return t
}

// prepared is what a job brings.
type prepared struct {
	view  *replayView
	src   source
	table *table
	page  *page
}

// source is one that was made, and of what.
type source struct {
	*replay.Source
	version version
	own     int
}

// work has those previews made that the screen is to show and that are not there
// yet. Small ones are there when it returns.
func (r *replayView) work(m *Model) tea.Cmd {
	r.want(m)
	rows, cell := r.rowsWanted, r.cellWanted
	lacksTable, lacksPage := r.table == nil || r.table.key != rows, r.page == nil || r.page.key != cell
	if m.working || !lacksTable && !lacksPage {
		return nil
	}
	var made material
	known := r.src
	if known.Source == nil || known.version != cell.version {
		known = source{version: cell.version}
		made = materialOf(r.of, r.scope, r.exchange)
	}
	targets, draw := r.targets, m.draw
	job := func(wantTable, wantPage bool) prepared {
		out := prepared{view: r, src: known}
		if known.Source == nil {
			out.src.Source, out.src.own = made.source()
		}
		if wantTable {
			out.table = makeTable(rows, out.src.Source, targets)
		}
		if wantPage {
			out.page = makePage(cell, out.src, targets[cell.to], draw)
		}
		return out
	}
	if cell.version.size() < atOnce {
		r.take(job(lacksTable, lacksPage))
		return nil
	}
	// The page and the table take turns, so that both keep up with a stream.
	page := lacksPage && (!lacksTable || !r.pageLast)
	r.pageLast, m.working = page, true
	return func() tea.Msg { return job(!page, page) }
}

// rehearsed takes what a job brings, if its view is still there.
func (m *Model) rehearsed(p prepared) {
	m.working = false
	if m.isOldOpen(p.view) {
		p.view.take(p)
	}
}

// take keeps what was made, unless something else was asked for meanwhile.
func (r *replayView) take(p prepared) {
	if r.src = p.src; p.table != nil && p.table.key.answers(r.rowsWanted) {
		r.table = p.table
	}
	if p.page != nil && p.page.key.answers(r.cellWanted) {
		r.page = p.page
	}
	r.made++
}
