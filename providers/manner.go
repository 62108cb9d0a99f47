package providers

import (
	"sort"
	"time"

	"toolscope/stream"
)

// Manner is how the arguments of a call arrive. Who streams them as the model writes them is told from
// who holds them back: that is a setting of some providers, and a habit of others.
type Manner uint8

const (
	Untold   Manner = iota // nothing that tells it came, or the source has no times
	AtOnce                 // all of them in one delta
	ByValue                // in whole values: no delta ends within one
	InBursts               // held back, and then many deltas together
	Eager                  // as they are written
	NumManners
)

var mannerWords = [NumManners]string{Untold: "", AtOnce: "at once", ByValue: "by value", InBursts: "in bursts", Eager: "eager"}

func (m Manner) String() string { return mannerWords[m] }

// What is a burst: deltas that come within togetherIn of one another, behind a silence of heldFor. A
// value of valueBytes is more than one token of a model.
const (
	togetherIn = 10 * time.Millisecond
	heldFor    = 250 * time.Millisecond
	valueBytes = 16
)

// pauses finds the silences between the deltas of a call, and how they came.
func (l *Latency) pauses(v *View, c *stream.Call) {
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
		at := v.at(int(c.DeltaEvent(n)))
		silent := at - last
		if l.Deltas > 1 && last >= 0 && at >= last {
			l.pause(silent, n)
		}
		switch {
		case last < 0 || silent > togetherIn:
			burst, held = end-start, last >= 0 && silent >= heldFor
		case held:
			many += burst + end - start
			burst = 0
		}
		last = at
	}
	l.Manner = l.manner(c, many, all)
}

// pause takes in a silence before delta n.
func (l *Latency) pause(silent time.Duration, n int) {
	if silent > l.Gap {
		l.Gap, l.GapAt = silent, n
	}
	if silent >= StallAfter {
		l.Stalls++
		l.Stalled += silent
	}
}

// manner is how bytes came of which so many came in bursts. A few deltas tell nothing but that they
// were several.
func (l *Latency) manner(c *stream.Call, many, all int) Manner {
	switch {
	case l.Deltas == 0:
		return Untold
	case l.Deltas == 1 && !c.MayGrow():
		return AtOnce
	case l.Deltas == 1:
		return Untold
	case all >= valueBytes*l.Deltas && byValue(c):
		return ByValue
	case l.FirstByte < 0 || l.LastByte < 0:
		return Untold
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
