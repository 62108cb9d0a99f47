package capture

import (
	"fmt"
	"time"
)

// gap is what could not be recorded. The zero value is none.
type gap struct {
	why   string
	at    time.Duration
	lost  []loss   // of each side that lost something
	kept  []Record // records without their data: heads, ends and notes, as many as there is room for
	added bool
}

type loss struct {
	exchange int
	side     Side
	bytes    int64
}

func (g *gap) open() bool { return g.added }

func (g *gap) add(rec Record, why string) {
	if !g.added {
		g.added, g.at = true, rec.At
	}
	g.why = why
	if n := int64(len(rec.Data)); n > 0 {
		g.count(rec, n)
	}
	rec.Data = nil
	if (rec.Head != nil || rec.End != "" || rec.Note != "") && len(g.kept) < keptRecords {
		g.kept = append(g.kept, rec)
	}
}

func (g *gap) count(rec Record, n int64) {
	for i := range g.lost {
		if l := &g.lost[i]; l.exchange == rec.Exchange && l.side == rec.Side {
			l.bytes += n
			return
		}
	}
	g.lost = append(g.lost, loss{rec.Exchange, rec.Side, n})
}

// records tell of the gap: what was kept, and on each side, before its end, how much was lost.
func (g *gap) records() []Record {
	var recs []Record
	told := make([]bool, len(g.lost))
	tell := func(i int) {
		if l := g.lost[i]; !told[i] {
			told[i] = true
			recs = append(recs, Record{
				Exchange: l.exchange, Side: l.side, At: g.at,
				Note: fmt.Sprintf("gap: %d bytes were not recorded: %s", l.bytes, g.why),
			})
		}
	}
	for _, rec := range g.kept {
		for i, l := range g.lost {
			if rec.End != "" && l.exchange == rec.Exchange {
				tell(i)
			}
		}
		recs = append(recs, rec)
	}
	for i := range g.lost {
		tell(i)
	}
	return recs
}

// close ends the gap and returns what tells of it.
func (g *gap) close() []Record {
	recs := g.records()
	*g = gap{}
	return recs
}
