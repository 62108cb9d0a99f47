package panes

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"toolscope/providers"
	"toolscope/providers/client"
	"toolscope/stream"
	"toolscope/ui/screen"
)

// Marker is a moment on the timeline when a turn or call enters a state, a tool run is seen, or a finding is
// reported.
type Marker struct {
	Event  int
	Mark   bool // the marker is drawn in the lanes; true for all kinds except MarkerFinding
	State  stream.Status
	Found  stream.Severity // severity of the finding
	Kind   MarkerKind
	ByCall int32 // number of the call; 0 for the turn itself
}

// MarkerKind is the kind of a Marker.
type MarkerKind uint8

const (
	MarkerState MarkerKind = iota // a state
	MarkerFinding
	MarkerRun   // a tool run
	MarkerStart // the start of the turn
	MarkerEnd
)

// Markers returns the markers of a turn so far, or of one of its calls, in order. Its running time depends on
// the number of calls and findings, not on the number of events.
func Markers(v *providers.View, t *stream.Turn, only int32) (stops []Marker) {
	stops = append(stops, Marker{Event: int(t.OpenedBy), Mark: true, Kind: MarkerStart})
	for _, c := range t.Calls {
		if only == 0 || int(only) == c.Number {
			stops = append(stops, callMarkers(v, t, c)...)
		}
	}
	for _, f := range t.Findings[:min(len(t.Findings), maxFindings)] {
		stops = append(stops, Marker{Event: f.Event, Kind: MarkerFinding, Found: f.Severity})
	}
	if t.Closed() {
		stops = append(stops, Marker{Event: lastEventOf(v, t), Mark: true, Kind: MarkerEnd})
	}
	sort.SliceStable(stops, func(i, j int) bool { return stops[i].Event < stops[j].Event })
	return stops
}

// lastEventOf returns the last event of the turn's own stream. Events about sent-back calls come after it.
func lastEventOf(v *providers.View, t *stream.Turn) int {
	for n := range v.EventsBefore(t, v.Events()) {
		if kind, _ := v.Subject(n); !kind.IsAfterTurn() && kind != stream.Found {
			return n
		}
	}
	return int(t.OpenedBy)
}

// callMarkers returns the markers of a call: where its states begin, its tool runs and its findings.
func callMarkers(v *providers.View, t *stream.Turn, c *stream.Call) (stops []Marker) {
	state := func(event int, st stream.Status) {
		stops = append(stops, Marker{Event: event, Mark: true, State: st, ByCall: int32(c.Number)})
	}
	state(int(c.OpenedBy), stream.Waiting)
	end, over := endEventOf(v, t, c)
	if first, ok := firstByte(c); ok && (!over || first < end) {
		state(first, stream.Streaming)
	}
	if r := c.RuleRun(stream.ParsableObject); r.Event > 0 && !r.Replaced && (!over || r.Event < end) {
		state(r.Event, stream.LooksDone)
	}
	if err := c.Lexer().Err(); err != nil && c.Status() != stream.Unseen {
		if at := c.DeltaAt(err.Offset); at < c.Deltas() && (!over || int(c.DeltaEvent(at)) < end) {
			state(int(c.DeltaEvent(at)), stream.Malformed)
		}
	}
	if over {
		state(end, c.Status())
	}
	for _, g := range c.Runs[:min(len(c.Runs), maxFindings)] {
		stops = append(stops, Marker{Event: g.Event, Mark: true, Kind: MarkerRun, ByCall: int32(c.Number)})
	}
	for _, f := range c.Findings[:min(len(c.Findings), maxFindings)] {
		stops = append(stops, Marker{Event: f.Event, Kind: MarkerFinding, Found: f.Severity, ByCall: int32(c.Number)})
	}
	return stops
}

// firstByte returns the event with the first byte of the arguments. The result ok is false if no byte has
// arrived.
func firstByte(c *stream.Call) (event int, ok bool) {
	if r := c.RuleRun(stream.AnyArgs); r.Event > 0 {
		return r.Event, true
	}
	if n := c.DeltaAt(0); c.ArgsLen() > 0 && n < c.Deltas() {
		return int(c.DeltaEvent(n)), true
	}
	return 0, false
}

// endEventOf returns the event at which a call ended. The result over reports whether the call has ended.
func endEventOf(v *providers.View, t *stream.Turn, c *stream.Call) (event int, over bool) {
	if c.MayGrow() {
		return 0, false
	}
	if r := c.RuleRun(stream.AtSeal); r.Event > 0 && c.Phase() == stream.PhaseSealed {
		return r.Event, true
	}
	for _, f := range c.Findings {
		if f.Diagnosis.Base() == stream.ArgsCut {
			return f.Event, true
		}
	}
	if r := c.RuleRun(stream.AtEnd); r.Event > 0 {
		return r.Event, true
	}
	return lastEventOf(v, t), true
}

// axis maps events to positions on a line of cells: by time or, if the source has no times, by event number.
// Position 0 is the start of the response. Earlier positions are the wait for the response. The beginning of
// a long wait is left out.
type axis struct {
	v                 *providers.View
	timed             bool
	first, zero, last int64
	cells             int
}

// maxWaitShare limits the wait for the response to 1/maxWaitShare of the axis.
const maxWaitShare = 5

// axisOf returns the axis of a turn so far.
func axisOf(v *providers.View, t *stream.Turn, cells int) axis {
	a := axis{v: v, timed: t.OpenedAt >= 0, cells: cells}
	a.zero, a.last = a.positionOf(int(t.OpenedBy)), a.positionOf(lastEventOf(v, t))
	if a.timed && a.last <= a.zero { // all events have the same time
		a.timed = false
		a.zero, a.last = int64(t.OpenedBy), int64(lastEventOf(v, t))
	}
	a.last = max(a.last, a.zero)
	a.first = a.zero
	if asked := v.RequestStart(t); a.timed && asked >= 0 {
		a.first = max(int64(asked), a.zero-(a.last-a.zero)/(maxWaitShare-1))
	}
	return a
}

// positionOf returns the position of an event, in nanoseconds or event numbers. The position of an event without a time
// is that of the last earlier event with a time.
func (a *axis) positionOf(event int) int64 {
	if !a.timed {
		return int64(event)
	}
	for n := event; n >= 0 && n > event-maxUntimedEvents; n-- {
		if at := a.v.EventPrefix(n, 0).At; at >= 0 {
			return max(a.first, int64(at))
		}
	}
	return max(a.first, int64(stream.NoTime))
}

// maxUntimedEvents is the maximum number of events without a time that are skipped in the search for an event with a
// time.
const maxUntimedEvents = 1 << 10

// cellOf returns the cell for a position.
func (a *axis) cellOf(at int64) int {
	if a.last <= a.first || a.cells < 2 {
		return 0
	}
	at = min(max(at, a.first), a.last)
	return int(float64(at-a.first) / float64(a.last-a.first) * float64(a.cells-1))
}

// cellStart returns the first position in a cell.
func (a *axis) cellStart(cell int) int64 {
	return a.first + int64(math.Ceil(float64(cell)/float64(max(1, a.cells-1))*float64(a.last-a.first)))
}

// requestFacts describes the request of a turn: its client, session, agent, purpose, changes and cache use.
func requestFacts(v *providers.View, b *Costs, t *stream.Turn, g *screen.Glyphs) (facts []fact) {
	a := t.Request
	if a == nil {
		return nil
	}
	add := func(word, text string) {
		if text != "" {
			facts = append(facts, fact{word: word, text: text})
		}
	}
	if c, err := client.Find(a.Client); err == nil {
		add("client", c.Title)
	}
	agent := b.costWithOpen(b.shares.conversations[a.Conversation], func(of *stream.RequestInfo) bool { return of.Conversation == a.Conversation })
	session := b.costWithOpen(b.shares.sessions[a.Session], func(of *stream.RequestInfo) bool { return of.Session == a.Session })
	add("session", withCost(a.Session, session, g))
	add("agent", withCost(agentWords(v, a), agent, g))
	add("purpose", a.Purpose)
	switch {
	case a.ResultsOf != "":
		add("asked", "answers: "+strings.TrimSuffix(a.ResultsOf+": "+a.Snippet, ": "))
	case a.Snippet != "":
		add("asked", `"`+a.Snippet+`"`)
	}
	add("changed", changeWords(v, a))
	add("cache", cacheWords(v, t))
	return facts
}

// withCost appends the number of turns and their cost to a name. If there is only one turn, it returns only the name.
func withCost(who string, s turnCosts, g *screen.Glyphs) string {
	if who == "" || s.turns < 2 {
		return who
	}
	who += fmt.Sprintf(" %s %s", g.Dot, screen.Plural(s.turns, "turn"))
	if cost := s.String(); cost != "" {
		who += fmt.Sprintf(" %s %s", g.Dot, cost)
	}
	return who
}

// agentWords describes an agent and the call that started it.
func agentWords(v *providers.View, a *stream.RequestInfo) string {
	words := a.Agent
	if name := agentName(a); name != a.Agent && a.Title != "" {
		words = name + " (" + a.Agent + ")"
	}
	if _, c := v.Find(a.StartedBy); a.StartedBy.Call != 0 && c != nil {
		return words + fmt.Sprintf(", started by %s of turn %d", c.Name, a.StartedBy.Turn+1)
	}
	if a.Parent != "" {
		words += ", started by " + a.Parent
	}
	return words
}

// changeWords describes how a request differs from the previous one in its conversation. It returns "" if they
// can't be compared.
func changeWords(v *providers.View, a *stream.RequestInfo) string {
	c := &a.Change
	if !c.Comparable {
		return ""
	}
	var parts []string
	count := func(n int, does string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", screen.Plural(n, "message"), does))
		}
	}
	for _, part := range []struct {
		is   bool
		word string
	}{{c.Model, "another model"}, {c.Tools, "other tools"}, {c.System, "another system prompt"}} {
		if part.is {
			parts = append(parts, part.word)
		}
	}
	if c.Altered > 0 {
		parts = append(parts, fmt.Sprintf("%s altered (first: %d)", screen.Plural(c.Altered, "message"), c.Same+1))
	}
	count(c.Removed, "removed: the history got shorter")
	count(c.Added, "added")
	if len(parts) == 0 {
		parts = []string{"nothing"}
	}
	words := strings.Join(parts, ", ")
	if t := v.TurnOf(c.PreviousExchange); t != nil {
		words += fmt.Sprintf(" (compared with turn %d)", t.Number+1)
	}
	return words
}

// cacheWords describes how much of the prompt the provider read from its cache, and where the request changed,
// because the cache can't be used from there on.
func cacheWords(v *providers.View, t *stream.Turn) string {
	c, read := &t.Request.Change, t.Usage.CacheRead
	before := v.TurnOf(c.PreviousExchange)
	if !c.Comparable || before == nil || !read.Reported {
		return ""
	}
	had := before.Usage.CacheRead.N + before.Usage.CacheWrite.N
	words := fmt.Sprintf("%s tokens read", screen.Count(int(read.N)))
	if had > 0 {
		words += fmt.Sprintf(" of %s cached after the previous request", screen.Count(int(had)))
	}
	if at := c.BreaksAt(); at != "" {
		words += "; the request changed at " + at
	}
	return words
}

// maxBodyShown is the maximum number of body bytes shown among the facts.
const maxBodyShown = 2 << 10

// plainFacts describes an exchange without a model response.
func plainFacts(v *providers.View, t *stream.Turn) (facts []fact) {
	x := v.Exchange(t.Exchange)
	if x == nil {
		return nil
	}
	add := func(word string, w *stream.Wire) {
		if n := w.Size(); n > 0 {
			facts = append(facts, fact{word: word, text: screen.Bytes(int(n)).String()}, fact{text: string(w.Bytes(0, min(n, maxBodyShown)))})
		}
	}
	if took := screen.Time(screen.Elapsed(t.OpenedAt, t.ClosedAt)); !took.Empty() {
		facts = append(facts, fact{word: "took", text: took.String()})
	}
	if t.Failure != "" {
		facts = append(facts, fact{"error", t.Failure, screen.Bad})
	}
	add("sent", &x.Request)
	add("received", &x.Response)
	return facts
}
