package panes

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// TimeStrip is the timeline of a turn. It is shown below the panes while the screen is paused, or else in a
// TimeTab. It has a lane for each party that was active: client, provider and tool. It also has a lane for
// each call, with the bytes in each cell. Events after the paused moment are muted. The lanes are rebuilt
// only when their inputs change.
type TimeStrip struct {
	At    StripSubject
	plan  stripPlan
	axis  axis
	from  int64 // the position of time 0: the start of the request or, if that was not seen, of the response
	key   stripKey
	lanes [numStripRows][]laneCell // lanes of the parties, and the row of findings
	calls []callLane
	notes [numStripRows]laneNote // texts to the right of the parties' lanes
}

// StripSubject has the views, the turn and the selection that the strip shows, and texts about the moment.
type StripSubject struct {
	Live, Then *providers.View // the current view, and the view at the moment
	Turn       int32
	Chosen     stream.Ref
	Ahead      display.Text // how much traffic arrived later, in words
	Word       display.Text // a word that says whether the moment moves
	Moves      bool
	Still      bool // there is no moment: the strip shows the whole turn
	Ended      bool // the strip is shown as if the moment were the end of the turn
	Clock      bool // the moment is shown as clock time, if the source has clock times
}

// stripKey identifies the inputs for the lanes.
type stripKey struct {
	turn   int32
	events int
	kept   stream.Retention
	cells  int
	rows   int
	chosen int32 // number of the selected call, unless all calls have a lane
}

// stripRow is the kind of a row in the strip.
type stripRow uint8

// The kinds of rows, from top to bottom.
const (
	titleStripRow stripRow = iota
	axisRow
	clientRow
	providerRow
	callRow
	toolRow
	findingRow
	momentRow
	frameRow
	numStripRows
)

// stripPlan is the list of a strip's rows, and the inputs from which it was made.
type stripPlan struct {
	rows   []stripRow
	calls  int // number of rows for calls
	boxed  bool
	still  bool
	turn   int32
	events int
	h      int
}

// callLane is the lane of a call.
type callLane struct {
	call   *stream.Call
	number int32
	bytes  []int // bytes in each cell
	cells  []laneCell
}

type laneCell struct {
	sign display.Text
	role screen.Role
}

// laneNote is the text to the right of a lane, in a long and a short form.
type laneNote struct{ long, short display.Text }

// Minimum heights of the screen, in rows, at which a strip has more rows.
const (
	minStripRows = 9  // lanes
	axisFrom     = 16 // the axis and the sentence
	partiesFrom  = 24 // all lanes
	boxFrom      = 30 // a frame and more calls
	maxLanes     = 6  // maximum number of lanes for calls
)

// RowsFor returns the height of a turn's strip on a screen of h rows.
func (s *TimeStrip) RowsFor(v *providers.View, t *stream.Turn, h int) int {
	if t == nil || h < minStripRows {
		return 1
	}
	if s.plan.rows == nil || s.plan.turn != t.Number || s.plan.events != t.Events || s.plan.h != h || s.plan.still != s.At.Still {
		s.plan = planStrip(v, t, h, s.At.Still)
	}
	return len(s.plan.rows)
}

// planStrip returns the rows of a turn's strip. A row that would be empty is left out. A tab has no frame, title
// or moment, and has all rows at any height.
func planStrip(v *providers.View, t *stream.Turn, h int, still bool) stripPlan {
	plan := stripPlan{turn: t.Number, events: t.Events, h: h, boxed: h >= boxFrom && !still, still: still}
	if still {
		h = max(h, boxFrom)
	}
	most := [numStripRows]int{titleStripRow: 1, providerRow: 1, callRow: min(1, len(t.Calls))}
	order := []stripRow{} // rows that are added if there is room, the most important first
	if h >= axisFrom {
		most[axisRow], most[momentRow] = 1, 1
	}
	if h >= partiesFrom {
		order = append(order, callRow)
		if x := v.Exchange(t.Exchange); x != nil && x.Request.Size() > 0 && v.RequestStart(t) >= 0 {
			order = append(order, clientRow)
		}
		loud := func(f stream.Finding) bool { return f.Severity > stream.Info }
		if slices.ContainsFunc(t.Findings, loud) || slices.ContainsFunc(t.Calls, func(c *stream.Call) bool { return !c.HasOnlyInfos() && slices.ContainsFunc(c.Findings, loud) }) {
			order = append(order, findingRow)
		}
		if slices.ContainsFunc(t.Calls, func(c *stream.Call) bool { return len(c.Runs) > 0 }) {
			order = append(order, toolRow)
		}
	}
	if h >= boxFrom {
		most[frameRow] = 1
		order = append(order, callRow, callRow, callRow, callRow)
	}
	room := max(h-16, 5) // the panes must have room for their titles
	switch {
	case still:
		most[titleStripRow], most[momentRow], most[frameRow] = 0, 0, 0
		room = maxLanes + int(numStripRows)
	case plan.boxed:
		room = h / 3
	}
	for _, n := range most {
		room -= n
	}
	for _, row := range order {
		if room > 0 && (row != callRow || most[callRow] < min(maxLanes, len(t.Calls))) {
			most[row]++
			room--
		}
	}
	plan.calls = most[callRow]
	for row, n := range most {
		for range n {
			plan.rows = append(plan.rows, stripRow(row))
		}
	}
	return plan
}

// Widths of the columns next to the lanes, in cells.
const (
	wideStrip, usualStrip, midStrip = 120, 72, 50 // minimum widths
	wideName, usualName             = 18, 13
	wideNote, usualNote, midNote    = 28, 13, 9
	minNameCells, minNoteCells      = 10, 2
)

// sideCells returns the widths to the left and right of the axis.
func (s *TimeStrip) sideCells(w int) (name, note int) {
	switch {
	case w >= wideStrip:
		return wideName, wideNote
	case w >= usualStrip:
		return usualName, usualNote
	case w >= midStrip:
		return usualName, midNote
	}
	return minNameCells, minNoteCells
}

// Extend reads new data, for a strip of w cells on a screen of h rows.
func (s *TimeStrip) Extend(at StripSubject, w, h int, p *screen.Pen) {
	s.At = at
	t := s.liveTurn()
	if s.RowsFor(at.Live, t, h) == 1 {
		s.calls, s.key = nil, stripKey{}
		if t != nil {
			s.axis = axisOf(at.Live, t, max(1, w))
			s.from = s.startOf(t)
		}
		return
	}
	if s.plan.boxed {
		w -= 2
	}
	name, note := s.sideCells(w)
	key := stripKey{t.Number, t.Events, t.Retention, max(1, w-name-note-1), len(s.plan.rows), 0}
	if len(t.Calls) > s.plan.calls {
		key.chosen = at.Chosen.Call
	}
	if key == s.key {
		return
	}
	s.key, s.axis, s.calls = key, axisOf(at.Live, t, key.cells), nil
	s.from = s.startOf(t)
	s.extendToTools(t)
	most := 1
	for _, c := range s.shownCalls(t) {
		lane := callLane{call: c, number: int32(c.Number), bytes: s.bytesOf(c)}
		s.calls = append(s.calls, lane)
		most = max(most, slices.Max(lane.bytes))
	}
	for i := range s.calls {
		s.calls[i].cells = s.callCells(t, &s.calls[i], most, p)
	}
	s.lanes, s.notes = [numStripRows][]laneCell{}, [numStripRows]laneNote{}
	s.addClient(t, p)
	s.addProvider(t, p)
	s.addTools(t, p)
	s.addFindings(t, p)
}

// startOf returns the position of time 0.
func (s *TimeStrip) startOf(t *stream.Turn) int64 {
	if asked := s.At.Live.RequestStart(t); s.axis.timed && asked >= 0 {
		return int64(asked)
	}
	return s.axis.zero
}

// extendToTools extends the axis to the end of the last tool run, but by at most a third of its length.
func (s *TimeStrip) extendToTools(t *stream.Turn) {
	if !s.axis.timed || !slices.Contains(s.plan.rows, toolRow) {
		return
	}
	most, last := s.axis.last+(s.axis.last-s.axis.first)/3, s.axis.last
	for _, c := range s.shownCalls(t) {
		for _, run := range s.At.Live.ToolRuns(c) {
			last = max(last, int64(run.At+max(run.Took, 0)))
		}
	}
	s.axis.last = min(last, most)
}

// Rows returns the height of the strip.
func (s *TimeStrip) Rows() int { return max(1, len(s.plan.rows)) }

// liveTurn returns the turn as it is in the current view, or nil.
func (s *TimeStrip) liveTurn() *stream.Turn {
	t, _ := s.At.Live.Find(stream.Ref{Turn: s.At.Turn})
	return t
}

// maxComparedCalls is the maximum number of calls that are compared to find the worst ones.
const maxComparedCalls = 512

// shownCalls returns the calls with a lane: all calls or, if there is too little room, the selected call and
// the worst ones.
func (s *TimeStrip) shownCalls(t *stream.Turn) []*stream.Call {
	if len(t.Calls) <= s.plan.calls {
		return t.Calls
	}
	calls := slices.Clone(t.Calls[:min(len(t.Calls), maxComparedCalls)])
	rank := func(c *stream.Call) int {
		if c.Ref() == s.At.Chosen {
			return -1
		}
		return int(present.VerdictOfCall(c).Harm)
	}
	if at := int(s.At.Chosen.Call); at > len(calls) && at <= len(t.Calls) {
		calls = append(calls, t.Calls[at-1])
	}
	slices.SortStableFunc(calls, func(a, b *stream.Call) int { return cmp.Compare(rank(a), rank(b)) })
	calls = calls[:s.plan.calls]
	slices.SortFunc(calls, func(a, b *stream.Call) int { return cmp.Compare(a.Number, b.Number) })
	return calls
}

// fillLane sets the cells of a span to one sign.
func fillLane(cells []laneCell, from, to int, sign display.Text, role screen.Role) {
	for i := max(0, from); i < min(to, len(cells)); i++ {
		cells[i] = laneCell{sign, role}
	}
}

// deltasIn returns the deltas of a call that arrived within a cell.
func (s *TimeStrip) deltasIn(c *stream.Call, cell int) (from, to int) {
	at := func(i int) int64 { return s.axis.positionOf(int(c.DeltaEvent(i))) }
	start, end := s.axis.cellStart(cell), s.axis.cellStart(cell+1)
	from = sort.Search(c.Deltas(), func(i int) bool { return at(i) >= start })
	return from, from + sort.Search(c.Deltas()-from, func(i int) bool { return at(from+i) >= end })
}

// maxSharedCells is the maximum number of empty cells before a delta that share the delta's bytes. If there are more
// empty cells, they stay empty.
const maxSharedCells = 2

// bytesOf returns how many bytes of a call arrived in each cell.
func (s *TimeStrip) bytesOf(c *stream.Call) []int {
	bytes, last := make([]int, s.axis.cells), s.axis.cells
	for k := range bytes {
		from, to := s.deltasIn(c, k)
		if from == to {
			continue
		}
		start, _ := c.DeltaSpan(from)
		_, end := c.DeltaSpan(to - 1)
		if end == start {
			continue
		}
		bytes[k] = end - start
		if empty := k - last - 1; empty > 0 && empty <= maxSharedCells {
			for i := last + 1; i <= k; i++ {
				bytes[i] = max(1, (end-start)/(empty+1))
			}
		}
		last = k
	}
	for k := 1; k < len(bytes) && !s.axis.timed; k++ { // one column per event, and a blank before the next event
		if bytes[k] == 0 && s.axis.cellStart(k) == s.axis.cellStart(k+2) {
			bytes[k] = bytes[k-1]
		}
	}
	return bytes
}

// callCells returns the lane of a call. It shows the bytes in each cell; the largest number in the turn has
// full height.
func (s *TimeStrip) callCells(t *stream.Turn, lane *callLane, most int, p *screen.Pen) []laneCell {
	c := lane.call
	cells := make([]laneCell, s.axis.cells)
	opened := s.axis.cellOf(s.axis.positionOf(int(c.OpenedBy)))
	first, last := -1, opened
	for k := opened; k < len(cells); k++ {
		if n := lane.bytes[k]; n > 0 {
			if first < 0 {
				first = k
			}
			last = k
			level := min((n*len(p.Glyph.Levels)+most-1)/most, len(p.Glyph.Levels))
			cells[k] = laneCell{p.Glyph.Levels[level-1], screen.Live}
		}
	}
	if first < 0 {
		first = len(cells)
	}
	end, over := endEventOf(s.At.Live, t, c)
	until := last
	if over {
		until = s.axis.cellOf(s.axis.positionOf(end))
	} else if !t.Closed() {
		until = len(cells) - 1
	}
	fillLane(cells, opened, min(first, until), p.Glyph.Idle, screen.Muted)
	s.markSilences(cells, first, max(last, until), t, c, p)
	if cells[opened].sign.Empty() || first > opened {
		cells[opened] = laneCell{p.Glyph.Status[stream.Waiting], screen.Live}
	}
	if over {
		if until <= last { // the state follows the last byte
			until = min(last+1, len(cells)-1)
		}
		cells[until] = laneCell{p.Glyph.Status[c.Status()], screen.CallRole(c)}
	}
	return cells
}

// markSilences draws the cells without bytes between the first byte and the end. A silence that is much longer than
// usual is drawn in the role of its harm. The length of a long silence is written into its cells.
func (s *TimeStrip) markSilences(cells []laneCell, first, end int, t *stream.Turn, c *stream.Call, p *screen.Pen) {
	for k := first; k <= end && k < len(cells); k++ {
		if !cells[k].sign.Empty() {
			continue
		}
		from, until := k, k
		for until <= end && until < len(cells) && cells[until].sign.Empty() {
			until++
		}
		k = until
		before, _ := s.deltasIn(c, from)
		fillLane(cells, from, until, p.Glyph.Idle, screen.Muted)
		if !s.axis.timed || before == 0 {
			continue
		}
		over := s.axis.last
		if before < c.Deltas() {
			over = s.axis.positionOf(int(c.DeltaEvent(before)))
		}
		lasted := time.Duration(over - s.axis.positionOf(int(c.DeltaEvent(before-1))))
		role := s.silenceRole(t, lasted)
		fillLane(cells, from, until, p.Glyph.Idle, role)
		if long := screen.Time(lasted).Between(" ", " "); lasted >= providers.StallAfter && until-from >= long.Width()+2 {
			at := from + (until-from-long.Width())/2
			for i, r := range []rune(long.String()) {
				cells[at+i] = laneCell{p.Clean(string(r)), role}
			}
		}
	}
}

// silenceRole returns the role of a silence inside a call: bad if a finding reports the silence as a stall, or
// caution if it is much longer than usual for the model and provider.
func (s *TimeStrip) silenceRole(t *stream.Turn, lasted time.Duration) screen.Role {
	for i := range t.Findings {
		if stall, ok := stallOf(&t.Findings[i]); ok && t.Findings[i].Severity > stream.Info && lasted >= stall {
			return screen.Bad
		}
	}
	if usual, known := s.At.Live.UsualGap(t); known && lasted >= providers.StallAfter && lasted > 10*usual {
		return screen.Caution
	}
	return screen.Muted
}

// stallOf returns the length of the silence that a finding is about. The result ok is false if the finding is not
// about a silence.
func stallOf(f *stream.Finding) (lasted time.Duration, ok bool) {
	if f.Detail == nil || f.Detail.Name != "stall" {
		return 0, false
	}
	for _, field := range f.Detail.Fields {
		if ms, is := field.Value.(int); is && field.Key == "ms" {
			return time.Duration(ms) * time.Millisecond, true
		}
	}
	return 0, false
}

// IsStalled reports whether a response stopped for much longer than usual.
func IsStalled(t *stream.Turn) bool {
	return slices.ContainsFunc(t.Findings, func(f stream.Finding) bool {
		_, ok := stallOf(&f)
		return ok && f.Severity > stream.Info
	})
}

// addClient adds the lane of the client: the bytes of the request, at the times when they were sent.
func (s *TimeStrip) addClient(t *stream.Turn, p *screen.Pen) {
	x := s.At.Live.Exchange(t.Exchange)
	if x == nil || s.At.Live.RequestStart(t) < 0 {
		return
	}
	cells, bytes, most, all := make([]laneCell, s.axis.cells), make([]int, s.axis.cells), 1, 0
	one := x.RequestOf(t)
	for n := range min(x.Request.Records(), maxRequestRecords) {
		data, at := x.Request.Record(n)
		if x.HasManyRequests() && (len(one) == 0 || at != s.At.Live.RequestStart(t)) {
			continue
		}
		k := s.axis.cellOf(max(int64(at), s.axis.first))
		bytes[k] += len(data)
		most, all = max(most, bytes[k]), all+len(data)
	}
	for k, n := range bytes {
		if n > 0 {
			cells[k] = laneCell{p.Glyph.Levels[max(1, n*len(p.Glyph.Levels)/most)-1], screen.Plain}
		}
	}
	s.lanes[clientRow] = cells
	if all > 0 {
		s.notes[clientRow] = laneNote{screen.Bytes(all).Between("sent ", ""), screen.Bytes(all).Between("", " up")}
	}
}

// maxRequestRecords limits how many records of a request are drawn.
const maxRequestRecords = 1 << 10

// maxCellEvents limits how many events in a cell are checked.
const maxCellEvents = 8

// addProvider adds the lane of the provider: nothing yet, reasoning, pings, or the bytes of text and calls.
func (s *TimeStrip) addProvider(t *stream.Turn, p *screen.Pen) {
	cells := make([]laneCell, s.axis.cells)
	first, last := int(t.OpenedBy), lastEventOf(s.At.Live, t)
	began, end := s.axis.cellOf(s.axis.positionOf(first)), s.axis.cellOf(s.axis.positionOf(last))
	if !t.Closed() {
		end = len(cells) - 1
	}
	fillLane(cells, s.axis.cellOf(s.from), began, p.Glyph.Idle, screen.Muted)
	carried, since := laneCell{p.Glyph.Idle, screen.Muted}, began
	for k := began; k <= end; k++ {
		sign, quiet := s.providerSign(t, k, first, last, p)
		silent := s.axis.cellStart(k)-s.axis.cellStart(since) >= int64(providers.StallAfter) && k > since+1
		switch {
		case sign.Empty() && silent && s.axis.timed:
			carried = laneCell{p.Glyph.Idle, screen.Muted}
		case sign.Empty():
		case quiet:
			cells[k], since = laneCell{sign, screen.Muted}, k
			carried = laneCell{p.Glyph.Idle, screen.Muted}
			continue
		default:
			carried, since = laneCell{sign, screen.Live}, k
		}
		cells[k] = carried
	}
	if s.from < s.axis.zero {
		cells[began] = laneCell{p.Glyph.Token, screen.Muted}
	}
	s.lanes[providerRow] = cells
	if s.axis.timed {
		wait := screen.Time(time.Duration(s.axis.zero - s.from))
		if s.from < s.axis.zero {
			s.notes[providerRow] = laneNote{wait.Between("first byte +", ""), wait.Between("+", "")}
		}
	}
}

// providerSign returns the sign for the provider's bytes in a cell, or an empty text if there are none. The result
// quiet reports whether only pings arrived.
func (s *TimeStrip) providerSign(t *stream.Turn, cell, first, last int, p *screen.Pen) (sign display.Text, quiet bool) {
	start, end := s.axis.cellStart(cell), s.axis.cellStart(cell+1)
	from := first + sort.Search(last+1-first, func(i int) bool { return s.axis.positionOf(first+i) >= start })
	seen, thinks, pings := 0, false, false
	for n := range s.At.Live.EventsOf(t, from) {
		if seen++; n > last || seen > maxCellEvents || s.axis.positionOf(n) >= end {
			break
		}
		switch kind, _ := s.At.Live.Subject(n); kind {
		case stream.TextDelta, stream.CallOpen, stream.Args, stream.Rewrite:
			return p.Glyph.Coming, false
		case stream.ThinkDelta:
			thinks = true
		case stream.Heartbeat:
			pings = true
		}
	}
	switch {
	case thinks:
		return p.Glyph.Silent, false
	case pings:
		return p.Glyph.Ping, true
	}
	return display.Text{}, false
}

// addTools adds the lane of the tools, which shows when they ran.
func (s *TimeStrip) addTools(t *stream.Turn, p *screen.Pen) {
	cells := make([]laneCell, s.axis.cells)
	for _, lane := range s.calls {
		for _, run := range s.At.Live.ToolRuns(lane.call) {
			if run.At < 0 || !s.axis.timed {
				continue
			}
			until := run.At + run.Took
			if run.Took < 0 {
				until = time.Duration(s.axis.last)
			}
			from := s.axis.cellOf(int64(run.At))
			fillLane(cells, from, max(from, s.axis.cellOf(int64(until)))+1, p.Glyph.Cursor, screen.Plain)
			since := time.Duration(int64(run.At) - s.from)
			if since < 0 {
				continue
			}
			at := screen.Time(since).Between("+", "")
			s.notes[toolRow] = laneNote{display.Join(p.Truncate(p.Name(cmp.Or(run.Tool, lane.call.Name)), 12), at.Between(" from ", "")), at}
		}
	}
	s.lanes[toolRow] = cells
}

// addFindings adds the row of findings above severity info: their signs and short words, at the times when they were
// found.
func (s *TimeStrip) addFindings(t *stream.Turn, p *screen.Pen) {
	cells := make([]laneCell, s.axis.cells)
	var list []*stream.Finding
	add := func(of []stream.Finding) {
		for i := range of[:min(len(of), maxFindings)] {
			if of[i].Severity > stream.Info {
				list = append(list, &of[i])
			}
		}
	}
	add(t.Findings)
	for _, lane := range s.calls {
		add(lane.call.Findings)
	}
	slices.SortStableFunc(list, func(a, b *stream.Finding) int { return cmp.Compare(a.Event, b.Event) })
	free := 0
	for i, f := range list {
		k := s.axis.cellOf(s.axis.positionOf(f.Event))
		sign := p.Clean(strings.TrimSpace(p.Glyph.Severity[f.Severity].String()))
		k = max(0, min(k, len(cells)-sign.Width()))
		if k < free {
			continue
		}
		next := len(cells)
		if i+1 < len(list) {
			next = s.axis.cellOf(s.axis.positionOf(list[i+1].Event))
		}
		text := sign
		if words := p.Clean(f.Verdict).Between(" ", ""); f.Verdict != "" && k+sign.Width()+words.Width() < next {
			text = display.Join(sign, words)
		}
		for at, r := range []rune(text.String()) {
			if k+at == len(cells) { // the sign is wider than the strip
				break
			}
			cells[k+at] = laneCell{p.Clean(string(r)), screen.SeverityRoles[f.Severity]}
		}
		free = k + text.Width() + 1
	}
	s.lanes[findingRow] = cells
}
