package providers

import (
	"sort"
	"time"

	"toolscope/stream"
)

// Arrival is how the arguments of a call arrive. Who streams them as the model writes them is told from
// who holds them back: that is a setting of some providers, and a habit of others.
type Arrival uint8

const (
	ArrivalUnknown Arrival = iota // nothing that tells it came, or the source has no times
	AtOnce                        // all of them in one delta
	ByValue                       // in whole values: no delta ends within one
	InBursts                      // held back, and then many deltas together
	Eager                         // as they are written
	NumArrivals
)

var arrivalWords = [NumArrivals]string{ArrivalUnknown: "", AtOnce: "at once", ByValue: "by value", InBursts: "in bursts", Eager: "eager"}

func (m Arrival) String() string { return arrivalWords[m] }

// What is a burst: deltas that come within togetherIn of one another, behind a silence of heldFor. A
// value of valueBytes is more than one token of a model.
const (
	burstGap   = 10 * time.Millisecond
	burstPause = 250 * time.Millisecond
	valueBytes = 16
)

// findPauses finds the silences between the deltas of a call, and how they came.
func (l *Latency) findPauses(v *View, c *stream.Call) {
	last, held := l.Named, false // whether what comes now was held back
	if last >= 0 {
		last += l.From
	}
	burst, many, all := 0, 0, 0 // bytes of the burst that comes, of all that had several deltas, of all
	for n := range c.Deltas() {
		start, end := c.DeltaSpan(n)
		if start == end {
			continue
		}
		l.Deltas++
		all += end - start
		at := v.eventTime(int(c.DeltaEvent(n)))
		silent := at - last
		if l.Deltas > 1 && last >= 0 && at >= last {
			l.addPause(silent, n)
		}
		switch {
		case last < 0 || silent > burstGap:
			burst, held = end-start, last >= 0 && silent >= burstPause
		case held:
			many += burst + end - start
			burst = 0
		}
		last = at
	}
	l.Arrival = l.arrival(c, many, all)
}

// addPause takes in a silence before delta n.
func (l *Latency) addPause(silent time.Duration, n int) {
	if silent > l.Gap {
		l.Gap, l.GapAt = silent, n
	}
	if silent >= StallAfter {
		l.Stalls++
		l.Stalled += silent
	}
}

// arrival is how bytes came of which so many came in bursts. A few deltas tell nothing but that they
// were several.
func (l *Latency) arrival(c *stream.Call, many, all int) Arrival {
	switch {
	case l.Deltas == 0:
		return ArrivalUnknown
	case l.Deltas == 1 && !c.MayGrow():
		return AtOnce
	case l.Deltas == 1:
		return ArrivalUnknown
	case all >= valueBytes*l.Deltas && byValue(c):
		return ByValue
	case l.FirstByte < 0 || l.LastByte < 0:
		return ArrivalUnknown
	case 2*many >= all:
		return InBursts
	}
	return Eager
}

// byValue reports whether no delta of a call ends within a key or a value.
func byValue(c *stream.Call) bool {
	toks := c.Lexer().Tokens()
	if c.Freeform() || toks.Len() == 0 {
		return false
	}
	for n := range c.Deltas() {
		_, end := c.DeltaSpan(n)
		i := sort.Search(toks.Len(), func(i int) bool { return int(toks.At(i).End) >= end })
		if end > 0 && (i == toks.Len() || int(toks.At(i).End) != end) {
			return false
		}
	}
	return true
}
