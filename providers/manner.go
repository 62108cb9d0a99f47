package providers

import (
	"sort"
	"time"

	"toolscope/stream"
)

// Arrival is how the arguments of a call arrive. It shows whether the provider streams them as the model
// writes them, or holds them back: some providers have a setting for it, others always do one of them.
type Arrival uint8

// The arrivals.
const (
	ArrivalUnknown Arrival = iota // no evidence arrived, or the source has no times
	AtOnce                        // all of them in one delta
	ByValue                       // in complete values: no delta ends within one
	InBursts                      // held back, and then many deltas together
	Eager                         // as the model writes them
	NumArrivals                   // the number of arrivals
)

var arrivalWords = [NumArrivals]string{ArrivalUnknown: "", AtOnce: "at once", ByValue: "by value", InBursts: "in bursts", Eager: "eager"}

func (m Arrival) String() string { return arrivalWords[m] }

// A burst is deltas within burstGap of one another, after a silence of burstPause. A value of valueBytes is
// longer than one token of a model.
const (
	burstGap   = 10 * time.Millisecond
	burstPause = 250 * time.Millisecond
	valueBytes = 16
)

// findPauses finds the silences between the deltas of a call, and how the deltas arrived.
func (l *Latency) findPauses(v *View, c *stream.Call) {
	last, held := l.Named, false // held: the current deltas were held back
	if last >= 0 {
		last += l.From
	}
	burst, many, all := 0, 0, 0 // bytes of the current burst, of all bursts of several deltas, of all deltas
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

// addPause counts a silence before delta n.
func (l *Latency) addPause(silent time.Duration, n int) {
	if silent > l.Gap {
		l.Gap, l.GapAt = silent, n
	}
	if silent >= StallAfter {
		l.Stalls++
		l.Stalled += silent
	}
}

// arrival returns how the bytes arrived, many of all of them in bursts.
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
