package record

import (
	"fmt"
	"time"

	"toolscope/capture"
)

// The limits of a gap's memory.
const (
	maxKeptBytes = 4 << 20 // bytes of heads, ends and notes
	maxLossSides = 1 << 16 // sides of exchanges
)

// gap holds the records that could not be written. The zero value is empty.
type gap struct {
	why   string
	at    time.Duration
	lost  []loss                 // one per side that lost bytes
	sides map[capture.Stream]int // index in lost
	kept  []capture.Record       // records without their data: heads, ends and notes, up to maxKeptBytes
	size  int                    // of kept
}

type loss struct {
	of    capture.Stream
	bytes int64
	told  bool // a record reports it already
}

func (g *gap) isOpen() bool { return g.why != "" }

// add adds a record to the gap, and returns how many bytes are missing with it.
func (g *gap) add(rec capture.Record, why string) int64 {
	if !g.isOpen() {
		g.at, g.sides = rec.At, map[capture.Stream]int{}
	}
	g.why = why
	n := lostWith(rec)
	if n > 0 {
		g.countLost(rec.Stream(), n)
	}
	if kept, worth := withoutBytes(rec); worth && g.size+RecordCost(kept) <= maxKeptBytes {
		g.kept = append(g.kept, kept)
		g.size += RecordCost(kept)
	}
	return n
}

func (g *gap) countLost(s capture.Stream, n int64) {
	i, known := g.sides[s]
	switch {
	case known:
		g.lost[i].bytes += n
	case len(g.lost) < maxLossSides:
		g.sides[s] = len(g.lost)
		g.lost = append(g.lost, loss{of: s, bytes: n})
	}
}

// gapRecords returns the records that report the gap: the kept ones, and for each side, before its
// exchange ends, how many bytes are missing.
func (g *gap) gapRecords() (recs []capture.Record) {
	for i := range g.lost {
		g.lost[i].told = false
	}
	tell := func(l *loss) {
		if l.told {
			return
		}
		l.told = true
		recs = append(recs, capture.Record{
			Exchange: l.of.Exchange, Side: l.of.Side, At: g.at, Lost: l.bytes,
			Note: fmt.Sprintf("gap: %d bytes of exchange %d were not recorded: %s", l.bytes, l.of.Exchange, g.why),
		})
	}
	for _, rec := range g.kept {
		for _, s := range []capture.Side{capture.Request, capture.Response} {
			if i, known := g.sides[capture.Stream{Exchange: rec.Exchange, Side: s}]; known && rec.End != "" {
				tell(&g.lost[i])
			}
		}
		recs = append(recs, rec)
	}
	for i := range g.lost {
		tell(&g.lost[i])
	}
	return recs
}
