package replay

import (
	"cmp"
	"slices"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/modes"
	"toolscope/ui/screen"
)

// previewKey identifies one cell in the table of targets and policies. The screen shows one row or one column of
// that table.
type previewKey struct {
	scope    replay.Scope
	to       int  // index in providers.Targets
	policy   int  // index in replay.Policies
	policies bool // the rows are policies for one target
}

// noTarget is the target until the user selects one.
const noTarget = -1

// version identifies the state of a call, turn or conversation. If two versions are equal, the data that
// would be sent back has not changed.
type version struct {
	of       stream.Ref
	scope    replay.Scope
	bytes    int // number of bytes in arguments, text and reasoning
	rewrites int
	parts    int
	words    int // number of bytes in ids, names and signatures
	answers  int // number of calls with a failed result
	request  int64
	returns  int // number of requests that sent the call back
}

// addCall adds a call to the counts.
func (v *version) addCall(c *stream.Call) {
	v.parts++
	v.bytes += len(c.Args())
	v.rewrites += c.Rewrites
	v.words += len(c.ID) + len(c.Name) + len(c.Item) + len(c.Namespace) + len(c.Kind) + len(c.Parent) + len(c.Signature)
	if c.ResultCode == stream.ResultFailed {
		v.answers++
	}
}

// versionOf returns the current version. The call c must not be nil if the scope is replay.OneCall.
func versionOf(t *stream.Turn, c *stream.Call, of stream.Ref, s replay.Scope, x *providers.Exchange) version {
	v := version{of: of, scope: s}
	if x != nil {
		v.request = x.Request.Size()
	}
	if s == replay.OneCall {
		v.addCall(c)
		v.returns = len(c.SentBack)
		for _, other := range t.Calls {
			v.words += len(other.ID)
		}
		return v
	}
	v.bytes = len(t.Text) + len(t.Thinking)
	v.parts = len(t.Parts)
	for _, p := range t.Parts {
		v.words += len(p.ID) + len(p.Signature)
	}
	for _, call := range t.Calls {
		v.addCall(call)
	}
	return v
}

// size returns the number of bytes that a preview must process.
func (v *version) size() int {
	if v.scope == replay.WholeConversation {
		return v.bytes + v.words + int(v.request)
	}
	return v.bytes + v.words
}

// sourceData contains the data for a replay.Source. The data is a copy, so that another goroutine can read it while
// the stream continues.
type sourceData struct {
	scope  replay.Scope
	turn   *stream.Turn
	call   *stream.Call
	names  []replay.UnsentCall // calls in the turn's request
	seen   []replay.Evidence   // responses from providers to requests that contain the call
	before []protocol.Message  // all messages of the turn's request
	from   *protocol.Target    // format of before
}

// materialOf copies the data that may change. The copy shares byte slices, because they only grow.
func materialOf(v *providers.View, t *stream.Turn, c *stream.Call, s replay.Scope, x *providers.Exchange) sourceData {
	turn := *t
	m := sourceData{scope: s, turn: &turn}
	if s != replay.WholeConversation {
		m.names = x.CarriedCalls()
	}
	if c != nil {
		call := *c
		m.call = &call
	}
	if s == replay.OneCall {
		m.seen = v.Witnesses(c)
	}
	turn.Parts = slices.Clone(turn.Parts)
	turn.Calls = make([]*stream.Call, len(t.Calls))
	for i, call := range t.Calls {
		copied := *call
		turn.Calls[i] = &copied
	}
	if s == replay.WholeConversation {
		m.before, m.from = x.History()
	}
	return m
}

// makeSource makes the source. The result own is the position of the selected call in the source, counted from 1, or
// 0 if no call is selected.
func (m *sourceData) makeSource() (src *replay.Source, own int) {
	from := providers.TargetOf(m.turn.Protocol)
	if m.scope == replay.OneCall {
		return replay.SourceOfCalls(m.turn, from, m.call).InHistory(m.names, m.turn, m.call).WithEvidence(m.seen), 1
	}
	own = m.callNumber()
	if m.scope == replay.WholeTurn {
		return replay.SourceOfTurn(m.turn, from).InHistory(m.names, m.turn, nil), own
	}
	if own > 0 {
		own += replay.NumCalls(m.before)
	}
	return replay.SourceOfHistoryAndTurn(m.before, m.from, m.turn, from), own
}

// callNumber returns the position of the selected call among the turn's calls. It does not count discarded calls.
func (m *sourceData) callNumber() (n int) {
	if m.call == nil {
		return 0
	}
	for _, c := range m.turn.Calls[:m.call.Number] {
		if !c.Discarded {
			n++
		}
	}
	return n
}

// tableKey identifies the data from which the rows of the table were made.
type tableKey struct {
	version  version
	policies bool
	fixed    int // index of the policy, or of the target if the rows are policies
}

// canShowFor reports whether the rows for k may be shown for other. Both keys must have the same subject and
// selection, but their versions may differ.
func (k tableKey) canShowFor(other tableKey) bool {
	k.version = version{of: k.version.of, scope: k.version.scope}
	other.version = version{of: other.version.of, scope: other.version.scope}
	return k == other
}

// pageKey identifies the data from which a page was made.
type pageKey struct {
	version            version
	to, policy         int
	sent, wrote, notes int // widths in cells
	raw, codes         bool
}

// canShowFor reports whether the page for k may be shown for other. Like tableKey.canShowFor, it ignores versions. It
// also ignores the layout.
func (k pageKey) canShowFor(other pageKey) bool {
	return k.version.of == other.version.of && k.version.scope == other.version.scope && k.to == other.to && k.policy == other.policy
}

// table contains the short previews for all targets, or for all policies.
type table struct {
	key  tableKey
	rows []verdict
}

// makeTable makes the table for a source and all targets, or all policies.
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

// jobResult is the result of a job. The tables and the page are nil if the job did not make them.
type jobResult struct {
	src   source
	table *table
	other *table
	page  *page
}

// source is a replay.Source with the version from which it was made.
type source struct {
	*replay.Source
	version version
	own     int
}

// makePreviews makes the missing previews. It makes small previews at once, and large ones in another
// goroutine.
func (m *replayMode) makePreviews(t *stream.Turn, c *stream.Call) {
	rows, other, cell := m.rowsWanted, m.otherWanted, m.cellWanted
	if m.other != nil && m.other.key == rows {
		m.table, m.other = m.other, m.table
	}
	lacksTable, lacksPage := m.table == nil || m.table.key != rows, m.page == nil || m.page.key != cell
	lacksOther := (m.other == nil || m.other.key != other) && m.layoutBody().other > 0
	if m.working || !lacksTable && !lacksPage && !lacksOther {
		return
	}
	var from sourceData
	known := m.src
	if known.Source == nil || known.version != cell.version {
		known = source{version: cell.version}
		from = materialOf(m.host.View(), t, c, m.scope, m.exchange)
	}
	targets, draw := m.targets, m.draw
	job := func(wantTable, wantPage, wantOther bool) jobResult {
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
		if wantOther {
			out.other = makeTable(other, out.src.Source, targets)
		}
		return out
	}
	if cell.version.size() < modes.MaxSyncBytes {
		m.keepResult(job(lacksTable, lacksPage, lacksOther))
		return
	}
	// The page and the table alternate, so that both keep up with a stream. The other table is made when both are ready.
	page := lacksPage && (!lacksTable || !m.pageLast)
	m.pageLast, m.working = page, true
	m.host.Do(func() func() {
		out := job(lacksTable && !page, page, !lacksTable && !lacksPage)
		return func() {
			m.working = false
			m.keepResult(out)
		}
	})
}

// keepResult stores a result. It drops a table or a page that no longer matches the selection.
func (m *replayMode) keepResult(p jobResult) {
	if m.src = p.src; p.table != nil && p.table.key.canShowFor(m.rowsWanted) {
		m.table = p.table
	}
	if p.other != nil && p.other.key.canShowFor(m.otherWanted) {
		m.other = p.other
	}
	if p.page != nil && p.page.key.canShowFor(m.cellWanted) {
		m.page = p.page
	}
	m.made++
}

// verdict is the short form of a preview for one row.
type verdict struct {
	mute    bool // the client does not speak the target's protocol
	outcome replay.Outcome
	side    screen.Side
	taken   replay.Acceptance
	worst   rowSeverity
	losses  []lossCount // sorted, worst first
	refused string      // reason why the provider would refuse the request, or why the client would fail
}

// lossCount counts the losses with one code.
type lossCount struct {
	code     string
	what     string // description in a few words
	severity replay.Severity
	times    int
	other    string // the other call involved in the loss
}

// rowSeverity is the severity that a row's gutter shows.
type rowSeverity uint8

const (
	noSeverity rowSeverity = iota
	worthKnowing
	worthCare
	bad
)

func (g rowSeverity) sign() string { return [...]string{"  ", "i ", "! ", "!!"}[g] }

func (g rowSeverity) role() screen.Role {
	return [...]screen.Role{screen.Muted, screen.Muted, screen.Caution, screen.Bad}[g]
}

// lossSeverity maps the severities of losses to the severities of rows.
var lossSeverity = [...]rowSeverity{
	replay.Info: worthKnowing, replay.Low: worthKnowing, replay.Medium: worthCare, replay.High: bad, replay.Critical: bad,
}

// outcomeWord returns the outcome in one to three words.
func (v *verdict) outcomeWord() string {
	if v.mute {
		return "not sent"
	}
	return outcomeSentences[v.outcome].gets
}

// verdictOf returns the short form of a preview. A changed value, e.g. a rounded number, counts as different, even if
// the texts look alike.
func verdictOf(p *replay.Preview) verdict {
	v := verdict{outcome: p.Outcome, side: screen.OutcomeSides[p.Outcome], taken: p.Acceptance, refused: p.Refused}
	at := map[string]int{}
	for _, l := range p.Losses {
		i, seen := at[l.Code]
		if !seen {
			i = len(v.losses)
			at[l.Code] = i
			what := cmp.Or(l.Verdict, l.Description, l.Code)
			if l.Kind == replay.ArgsEmptied && len(p.Calls) == 1 {
				what = "all " + screen.Bytes(len(p.Calls[0].Original)).String()
			}
			v.losses = append(v.losses, lossCount{code: l.Code, what: what, severity: l.Severity, other: l.Other})
		}
		v.losses[i].times++
		v.losses[i].severity = max(v.losses[i].severity, l.Severity)
		v.worst = max(v.worst, lossSeverity[l.Severity])
		if v.side == screen.Alike && slices.Contains(valueChanges, l.Kind) {
			v.side = screen.Differs
		}
	}
	switch {
	case p.Acceptance.Verdict == replay.Refused, p.Outcome == replay.Throws:
		v.worst = bad
	case p.Outcome == replay.Unknown:
		v.worst = max(v.worst, worthCare)
	}
	slices.SortStableFunc(v.losses, func(a, b lossCount) int { return cmp.Compare(b.severity, a.severity) })
	return v
}

// worstOutcome returns a row with the worst outcome, or nil if there are no rows. An unknown outcome is the worst
// only if no outcome is known.
func (t *table) worstOutcome() (worst *verdict) {
	rank := func(v *verdict) int { return (int(v.outcome) + 1) % replay.NumOutcomes }
	for i := range t.rows {
		if v := &t.rows[i]; !v.mute && (worst == nil || rank(v) > rank(worst)) {
			worst = v
		}
	}
	return worst
}

// valueChanges are the kinds of loss that change a value.
var valueChanges = []*replay.Kind{replay.IntPrecision, replay.NumRange, replay.DupKeys}
