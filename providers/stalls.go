package providers

import (
	"math/bits"
	"time"

	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

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
		in, key := s.x.in, gapsKey{host: hostOf(s.x.Head.URL)}
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
	u := v.in.gaps.get(gapsKey{model: t.Model, host: hostOf(x.Head.URL)})
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
