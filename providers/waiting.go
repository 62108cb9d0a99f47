package providers

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolscope/providers/mcp"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// TurnState is the activity in a turn at a moment, according to the bytes.
type TurnState uint8

// The values of TurnState. KeptAlive and Silent are silences: the model's output has stopped arriving.
const (
	SendingRequest   TurnState = iota // the request is not yet complete
	Thinking                          // the provider has the request, but sends only reasoning or no output of the model
	WritingText                       // text arrives
	WritingArguments                  // a call arrives
	KeptAlive                         // only pings arrive
	Silent                            // nothing arrives
	NumTurnStates                     // number of the states above, in which a turn spends its time

	Held = NumTurnStates // toolscope holds the response at a breakpoint
)

var turnStateWords = [...]string{"sending", "thinking", "text", "arguments", "kept alive", "silent", "held"}

func (s TurnState) String() string { return turnStateWords[s] }

const (
	silentAfter = 3 * time.Second  // minimum time without a delta
	pingLasts   = 30 * time.Second // time for which a ping keeps the state KeptAlive
)

// turnProgress follows the events of a turn to determine its state.
type turnProgress struct {
	sent  time.Duration // time at which the request was complete, or NoTime
	kind  TurnState     // kind of the latest delta
	since time.Duration // arrival time of the first delta in the latest run of deltas of this kind; a silence ends a run
	delta time.Duration // arrival time of the latest delta, or NoTime
	ping  time.Duration // arrival time of the latest ping since that delta, or NoTime
}

// stateAt returns the state at a time after the latest event. The result until is the time at which the state
// ends if nothing else arrives, or NoTime if it never ends.
func (p *turnProgress) stateAt(at time.Duration) (s TurnState, until time.Duration) {
	switch {
	case p.delta < 0 && at < p.sent:
		return SendingRequest, p.sent
	case p.delta < 0:
		return Thinking, stream.NoTime
	case at < p.delta+silentAfter:
		return p.kind, p.delta + silentAfter
	case p.ping >= 0 && at < p.ping+pingLasts:
		return KeptAlive, p.ping + pingLasts
	}
	return Silent, stream.NoTime
}

// followEvent updates the progress with an event of the turn.
func (p *turnProgress) followEvent(event stream.EventKind, at time.Duration) {
	kind := Thinking
	switch event {
	case stream.Heartbeat:
		p.ping = at
		return
	case stream.ThinkDelta:
	case stream.TextDelta:
		kind = WritingText
	case stream.CallOpen, stream.Args:
		kind = WritingArguments
	default:
		return
	}
	if p.delta < 0 || kind != p.kind || at >= p.delta+silentAfter {
		p.kind, p.since = kind, at
	}
	p.delta, p.ping = at, stream.NoTime
}

// isArrival reports whether a record only shows that bytes of a response arrived: a ping on a WebSocket, or bytes that
// the search for secrets holds back.
func isArrival(r *stream.Record) bool {
	return !r.Request && r.Head == nil && len(r.Data) == 0 && r.Note == "" && r.Lost == 0 && !r.End && r.At > 0
}

// noteArrival records that bytes arrived after the latest delta. On a WebSocket they are a ping. Otherwise, they are
// held back, and the next delta shows whether they were pings. Until then, they are not silence.
func (in *Inspector) noteArrival(r *stream.Record) {
	x := in.Exchange(r.Exchange)
	switch {
	case x == nil:
	case isWebSocket(x.Head):
		if open := x.openTurns(); len(open) > 0 {
			x.at = r.At
			x.emit(stream.Event{Kind: stream.Heartbeat, Turn: open[len(open)-1]})
		}
	case x.silence.progress.delta >= 0:
		p := &x.silence.progress
		p.ping = max(p.ping, r.At)
	}
}

// Waiting is the state, at a moment, of an open exchange that waits for the provider.
type Waiting struct {
	State   TurnState
	For     time.Duration // time since the state began; in a silence, time since the latest delta
	Stalled bool          // the silence is much longer than usual
	Usual   time.Duration // 95th percentile of the gaps
	Longest time.Duration // the longest gap
	Gaps    int           // number of gaps so far; 0 if there are too few
}

// WaitingAt describes the wait of an open exchange. The parameter now is a time in the exchange. The result
// ok is false if there is no wait, or if it is unknown: for example, the exchange has ended, toolscope
// responded to it, or it has no times.
func (v *View) WaitingAt(x *Exchange, now time.Duration) (w Waiting, ok bool) {
	switch {
	case v.past != nil, x.Ended, x.AnsweredHere, x.Evicted, x.Head.NoDeltas, x.Head.EndUnknown, now < x.at, x.at < 0:
		return w, false
	}
	if x.held {
		return Waiting{State: Held, For: now - max(0, x.heldAt)}, true
	}
	t := v.LatestOf(x.Number)
	p := turnProgress{sent: x.requestEnd(), delta: stream.NoTime, ping: stream.NoTime}
	size, err := strconv.ParseInt(strings.Join(x.RequestHeader["Content-Length"], ""), 10, 64)
	if err == nil && x.Request.Size() < size && x.Response.Size() == 0 {
		w.State, w.For = SendingRequest, now-max(0, x.requests.sentAt)
		return w, true
	}
	switch {
	case t == nil && isWebSocket(x.Head), t != nil && t.Closed():
		asked := x.requests.unansweredAt()
		return Waiting{State: Thinking, For: now - asked}, asked >= 0
	case t != nil:
		p = x.silence.progress
		if p.sent = x.requestEnd(); isWebSocket(x.Head) {
			p.sent = x.RequestStart(t)
		}
	}
	since := max(0, p.sent)
	if w.State, _ = p.stateAt(now); w.State >= KeptAlive {
		since = p.delta
	} else if p.delta >= 0 {
		since = p.since
	}
	w.For = now - since
	if s := &x.silence; t != nil && s.deltas > 0 && s.usual != nil {
		u, gap := &s.usual[s.kind], now-s.last
		w.Stalled = !s.over && gap >= minStall && u.isUnusual(gap, s.kind, s.named)
		if u.total >= minKnownGaps {
			w.Usual, w.Longest, w.Gaps = u.usualGap(), u.longest, u.total
		}
	}
	return w, true
}

// AwaitsApproval reports whether a complete response asks the client to approve a call, and contains no decision.
func AwaitsApproval(t *stream.Turn) bool {
	return t.Closed() && slices.ContainsFunc(t.Calls, func(c *stream.Call) (asks bool) {
		asks = c.Kind == "mcp_approval"
		for _, f := range c.Findings {
			switch f.Code {
			case "APPROVAL_REQUESTED":
				asks = true
			case "WAITS_FOR_YOU": // a tool that the client runs waits for its result
				asks = c.RunByProvider
			case "CALL_APPROVED", "CALL_DENIED":
				return false
			}
		}
		return asks
	})
}

// IsRunning reports whether a request to an MCP server or a shell runs a tool that has not ended. Without the end of its
// exchange, a request has no response yet. Over HTTP+SSE, a request's exchange ends before the tool does, so the result
// is false.
func (v *View) IsRunning(r *mcp.Request) bool {
	stops := v.in.toolTraffic().stops[r.Exchange]
	return r.IsCall() && r.State == mcp.Open && (len(stops) == 0 || !stops[len(stops)-1].Ended)
}

// LastProgressAt returns the time at which the latest bytes from the model arrived. If none have arrived, it
// returns the time at which the request was complete or the head of the response arrived, whichever is later.
// A ping is not progress.
func (x *Exchange) LastProgressAt() time.Duration {
	if x.silence.deltas > 0 && x.silence.last >= 0 {
		return x.silence.last
	}
	if at := max(x.requestEnd(), x.HeadAt); at >= 0 {
		return at
	}
	return x.at
}

// TimeSpent returns the time that a turn spent in each state, from its request to its end or the latest
// bytes. The result known is false if the source has no times or deltas, or if the events were evicted.
func (v *View) TimeSpent(t *stream.Turn) (spent [NumTurnStates]time.Duration, known bool) {
	x := v.Exchange(t.Exchange)
	at, end := v.RequestStart(t), t.ClosedAt
	if at < 0 {
		at = t.OpenedAt
	}
	if x == nil || at < 0 || t.Retention != stream.InMemory || x.Head.NoDeltas {
		return spent, false
	}
	p := turnProgress{sent: x.requestEnd(), delta: stream.NoTime, ping: stream.NoTime}
	passTo := func(to time.Duration) {
		for at < to {
			s, until := p.stateAt(at)
			if until < 0 || until > to {
				until = to
			}
			spent[s] += until - at
			at = until
		}
	}
	for n := range v.EventsOf(t, int(t.OpenedBy)) {
		kind, now := v.kindAndTime(n)
		if kind == stream.TurnClose {
			break
		}
		switch kind {
		case stream.Heartbeat, stream.ThinkDelta, stream.TextDelta, stream.CallOpen, stream.Args:
			passTo(now)
			p.followEvent(kind, now)
		}
	}
	if end < 0 && v.past == nil {
		end = x.LastRecordAt()
	}
	passTo(end)
	return spent, true
}

// requestEnd returns the time at which the last bytes of an HTTP exchange's request were sent, or NoTime.
func (x *Exchange) requestEnd() time.Duration {
	n := x.Request.Records()
	if n == 0 || isWebSocket(x.Head) {
		return stream.NoTime
	}
	_, at := x.Request.Record(n - 1)
	return at
}

var stalled = &stream.Diagnosis{
	Code: "STALLED", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info}, By: stream.Provider,
	Verdict:      "stalled",
	SeverityNote: "info if the response continued and is complete",
	Meaning:      "The response paused for much longer than usual, during or after a call. Pings may have arrived: pings keep the connection open but contain nothing from the model.",
	Advice:       "In your client, limit the time without a delta, and don't let pings reset the timer. Retry the request.",
}

// Limits on silences. maxCallSilence and maxOtherSilence apply while the usual gaps are unknown. A silence shorter
// than minStall is never a stall.
const (
	maxCallSilence  = 30 * time.Second  // inside the arguments of a call, where a model doesn't pause to think
	maxOtherSilence = 120 * time.Second // outside arguments once a call has begun, and always in reasoning
	minStall        = 20 * time.Second
	minKnownGaps    = 30 // minimum number of gaps for the usual gaps to be known
)

// silence finds the longest silence between the deltas of a turn.
type silence struct {
	x       *Exchange
	usual   *[numGapKinds]gapCounts // gaps with the turn's model and host; nil before the first delta
	last    time.Duration           // arrival time of the latest delta
	kind    gapKind                 // kind of the latest delta; gapInText once the arguments are final
	named   bool                    // a call has begun
	pings   int                     // number of pings since the latest delta
	deltas  int
	longest stall
	over    bool // the turn has a finish reason, or its stall was reported

	progress turnProgress
}

// stall is a silence that is longer than usual.
type stall struct {
	lasted time.Duration
	pings  int
	kind   gapKind
	usual  string // the usual gaps, in words
}

// gapKind is the kind of content that a delta belongs to.
type gapKind uint8

const (
	gapInText gapKind = iota
	gapInReasoning
	gapInArgs
	numGapKinds
)

var gapWords = [numGapKinds]string{"no delta", "no delta", "no byte of the arguments"}

// afterEvent updates the silence with an event of the turn.
func (s *silence) afterEvent(e *stream.Event, number int32) {
	s.progress.followEvent(e.Kind, e.At)
	switch e.Kind {
	case stream.TurnOpen:
		*s = silence{x: s.x, progress: turnProgress{delta: stream.NoTime, ping: stream.NoTime}}
	case stream.Heartbeat:
		s.pings++
	case stream.TextDelta:
		s.noteDelta(e, gapInText)
	case stream.ThinkDelta:
		s.noteDelta(e, gapInReasoning)
	case stream.CallOpen, stream.Args:
		s.named = true
		s.noteDelta(e, gapInArgs)
	case stream.Seal:
		s.endGap(e)
		s.kind = gapInText
	case stream.Finish:
		s.endGap(e)
		s.over = true
	case stream.TurnClose:
		if !s.over {
			s.endGap(e)
		}
		s.reportStall(e, number)
	}
}

// noteDelta records a delta, which ends the current gap.
func (s *silence) noteDelta(e *stream.Event, kind gapKind) {
	s.endGap(e)
	if s.usual == nil {
		in, key := s.x.in, gapsKey{host: s.x.Host()}
		if t := in.Session().Turn(e.Turn); t != nil {
			key.model = t.Model
		}
		if s.usual = in.gaps.get(key); s.usual == nil {
			s.usual = new([numGapKinds]gapCounts)
			in.gaps.set(key, s.usual, maxGapKeys)
		}
	}
	s.last, s.kind, s.pings = e.At, kind, 0
	s.deltas++
}

// endGap ends the gap that began after the latest delta.
func (s *silence) endGap(e *stream.Event) {
	gap := e.At - s.last
	if s.deltas == 0 || s.last < 0 || gap <= 0 {
		return
	}
	u := &s.usual[s.kind]
	if gap >= minStall && gap > s.longest.lasted && u.isUnusual(gap, s.kind, s.named) {
		s.longest = stall{gap, s.pings, s.kind, u.usualWords()}
	}
	u.buckets[bucketOf(gap)]++
	u.total++
	u.longest = max(u.longest, gap)
}

// reportStall reports the longest silence in a turn if the silence was a stall.
func (s *silence) reportStall(e *stream.Event, number int32) {
	x, t := s.x, s.x.in.Session().Turn(e.Turn)
	if s.longest.lasted == 0 || t == nil || t.HasGap() || x.AnsweredHere || x.Head.NoDeltas || x.Head.EndUnknown || x.Head.Reconstructed || sessionOf(x.Head) != nil {
		return
	}
	if t.Request != nil && t.Request.Background || json.Value(x.RequestBody()).Get("background").IsTrue() {
		return
	}
	d := stalled
	if t.Phase() == stream.TurnComplete {
		d = d.WithSeverity(stream.Info)
	}
	l := &s.longest
	lasted := l.lasted.Round(100 * time.Millisecond).String()
	f := d.Finding("%s for %s, with %s; %s", stream.Own(gapWords[l.kind]), stream.Own(lasted), stream.Own(count.Of(l.pings, "ping")), stream.Own(l.usual)).
		WithDetail("stall", "ms", int(l.lasted.Milliseconds()), "pings", l.pings)
	*s = silence{x: x, over: true}
	x.emit(stream.Event{Kind: stream.Found, Turn: number, Slot: stream.NoSlot, What: &f})
}

// gapsKey identifies the model and the host, on which the usual gaps depend.
type gapsKey struct{ model, host string }

// maxGapKeys is the maximum number of combinations of model and host for which gaps are counted.
const maxGapKeys = 256

// UsualGap returns the usual gap between deltas of arguments, for the model and host of a turn. It is the 95th
// percentile of the gaps seen so far. The result known is false until enough gaps have been seen.
func (v *View) UsualGap(t *stream.Turn) (usual time.Duration, known bool) {
	x := v.Exchange(t.Exchange)
	if x == nil {
		return 0, false
	}
	u := v.in.gaps.get(gapsKey{model: t.Model, host: x.Host()})
	if u == nil || u[gapInArgs].total < minKnownGaps {
		return 0, false
	}
	return u[gapInArgs].usualGap(), true
}

// gapCounts counts gaps by their length. There is a bucket for each quarter of a power of two, beginning at one
// millisecond.
type gapCounts struct {
	buckets [64]uint32
	total   int
	longest time.Duration
}

// bucketOf returns the bucket of a gap.
func bucketOf(gap time.Duration) int {
	ms := uint64(gap / time.Millisecond)
	if ms < 4 {
		return int(ms)
	}
	n := bits.Len64(ms)
	return min(4*(n-2)+int(ms>>(n-3)&3), 63)
}

// bucketEnd returns the upper limit of a bucket.
func bucketEnd(b int) time.Duration {
	if b < 4 {
		return time.Duration(b+1) * time.Millisecond
	}
	n := b/4 + 2
	return time.Duration(uint64(4+b%4+1)<<(n-3)) * time.Millisecond
}

// usualGap returns the 95th percentile of the gaps.
func (u *gapCounts) usualGap() time.Duration {
	above := u.total / 20
	for b := len(u.buckets) - 1; b >= 0; b-- {
		if above -= int(u.buckets[b]); above < 0 {
			return bucketEnd(b)
		}
	}
	return 0
}

// isUnusual reports whether a gap is much longer than earlier gaps or, while these are too few, longer than a
// fixed limit.
func (u *gapCounts) isUnusual(gap time.Duration, kind gapKind, named bool) bool {
	if kind == gapInReasoning && gap <= maxOtherSilence { // providers send reasoning, or its summary, in bursts
		return false
	}
	if u.total >= minKnownGaps {
		return gap > max(minStall, 10*u.usualGap(), 2*u.longest)
	}
	return kind == gapInArgs && gap > maxCallSilence || named && gap > maxOtherSilence
}

// usualWords describes the earlier gaps.
func (u *gapCounts) usualWords() string {
	if u.total < minKnownGaps {
		return "the usual gaps are unknown"
	}
	return "usual gaps are up to " + u.usualGap().String() + "; the longest of " + count.Of(u.total, "gap") + " was " + u.longest.Round(time.Millisecond).String()
}
