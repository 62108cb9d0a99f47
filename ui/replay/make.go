package replay

import (
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/modes"
	"toolscope/ui/screen"
)

// tableKey identifies the data from which the rows of the table were made.
type tableKey struct {
	version  version
	policies bool
	fixed    int // the policy, or the target when the rows are policies
}

// canShowFor reports whether rows of k may be shown for other. They may if both are about the same things,
// even if their versions differ.
func (k tableKey) canShowFor(other tableKey) bool {
	k.version = version{of: k.version.of, scope: k.version.scope}
	other.version = version{of: other.version.of, scope: other.version.scope}
	return k == other
}

// pageKey identifies the data from which a page was made.
type pageKey struct {
	version            version
	to, policy         int
	sent, wrote, notes int // widths
	raw                bool
}

// canShowFor reports whether a page of k may be shown for other, like tableKey.canShowFor.
func (k pageKey) canShowFor(other pageKey) bool {
	return k.version.of == other.version.of && k.version.scope == other.version.scope && k.to == other.to && k.policy == other.policy
}

// table has short previews for all targets, or for all policies.
type table struct {
	key  tableKey
	rows []verdict
}

// makeTable previews a source for all targets, or for all policies.
func makeTable(k tableKey, src *replay.Source, targets []*protocol.Target) *table {
	t := &table{key: k}
	add := func(to, policy int) {
		if !replay.Policies[policy].Speaks(targets[to]) {
			t.rows = append(t.rows, verdict{mute: true, side: screen.Absent})
			return
		}
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

// jobResult is the result of a job. Fields that it did not make are nil.
type jobResult struct {
	src   source
	table *table
	page  *page
}

// source is a replay.Source, with the version from which it was made.
type source struct {
	*replay.Source
	version version
	own     int
}

// makePreviews makes the missing previews: small ones at once, large ones in another goroutine.
func (m *replayMode) makePreviews(t *stream.Turn, c *stream.Call) {
	rows, cell := m.rowsWanted, m.cellWanted
	lacksTable, lacksPage := m.table == nil || m.table.key != rows, m.page == nil || m.page.key != cell
	if m.working || !lacksTable && !lacksPage {
		return
	}
	var from sourceData
	known := m.src
	if known.Source == nil || known.version != cell.version {
		known = source{version: cell.version}
		from = materialOf(m.host.View(), t, c, m.scope, m.exchange)
	}
	targets, draw := m.targets, m.draw
	job := func(wantTable, wantPage bool) jobResult {
		out := jobResult{src: known}
		if known.Source == nil {
			out.src.Source, out.src.own = from.makeSource()
		}
		if wantTable {
			out.table = makeTable(rows, out.src.Source, targets)
		}
		if wantPage {
			out.page = makePage(cell, out.src, targets[cell.to], draw)
		}
		return out
	}
	if cell.version.size() < modes.MaxSyncBytes {
		m.keepResult(job(lacksTable, lacksPage))
		return
	}
	// The page and the table take turns, so that both keep up with a stream.
	page := lacksPage && (!lacksTable || !m.pageLast)
	m.pageLast, m.working = page, true
	m.host.Do(func() func() {
		out := job(!page, page)
		return func() {
			m.working = false
			m.keepResult(out)
		}
	})
}

// keepResult stores a result, unless the user has selected something else since.
func (m *replayMode) keepResult(p jobResult) {
	if m.src = p.src; p.table != nil && p.table.key.canShowFor(m.rowsWanted) {
		m.table = p.table
	}
	if p.page != nil && p.page.key.canShowFor(m.cellWanted) {
		m.page = p.page
	}
	m.made++
}
