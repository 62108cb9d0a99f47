package fleet

import (
	"fmt"
	"slices"
	"time"

	"toolscope/capture"
)

// How long state is kept. Afterwards only the last offset of each capture is kept, in case it continues.
const (
	keepOver   = 10 * time.Minute // after the last read of a capture with nothing open
	keepSilent = time.Hour        // after the last read of a machine that gave signs of life and did not end normally
	pruneEvery = time.Minute
)

// lookForSilent ends the open exchanges of captures whose senders gave no sign of life for a while.
func (v *View) lookForSilent(now time.Time, yield func(capture.Record, error) bool) bool {
	if !v.deliverRead(yield, true) {
		return false
	}
	if v.last > 0 {
		return true // the view doesn't wait for more of a host
	}
	var recs []capture.Record
	v.mu.Lock()
	v.looked = now
	if v.couldHear(now) { // else the silence may be ours
		recs = v.cutSilent(now)
	}
	if now.Sub(v.pruned) > pruneEvery {
		v.pruned = now
		v.pruneStale(now)
	}
	v.mu.Unlock()
	return v.deliverEnds(yield, recs)
}

// cutSilent ends the open exchanges of silent captures.
func (v *View) cutSilent(now time.Time) (recs []capture.Record) {
	if v.state.Lag > v.quiet {
		return nil // their data may still be unread
	}
	for _, f := range v.order {
		m := v.machines[f.host]
		if f.silent || m == nil || m.of[f.id] != nil && now.Sub(m.of[f.id].heard) < v.quiet {
			continue
		}
		if f.silent = true; f.feed.CountOpen() > 0 {
			m.owes = true
			recs = f.feed.Cut(recs, v.cutReason(f.subjectParts))
		}
	}
	return v.index.cutSilent(recs, v, now)
}

// cutSilent does the same for the exchanges of an indexReader. Their machines may never have given a sign of
// life.
func (s *indexReader) cutSilent(recs []capture.Record, v *View, now time.Time) []capture.Record {
	if s == nil {
		return recs
	}
	s.open = slices.DeleteFunc(s.open, func(f *foundExchange) bool {
		heard := f.read
		if m := v.machines[f.host]; m != nil && m.of[f.id] != nil && m.of[f.id].heard.After(heard) {
			heard = m.of[f.id].heard
		}
		if now.Sub(heard) < v.quiet {
			return false
		}
		recs = f.feed.Cut(recs, v.cutReason(f.subjectParts))
		return true
	})
	return recs
}

// cutReason returns why the open exchanges of a capture are cut.
func (v *View) cutReason(o subjectParts) string {
	return fmt.Sprintf("no sign of %s/%s for %s", o.host, o.agent, v.quiet)
}

// pruneStale drops captures, machines and reports that were inactive for long.
func (v *View) pruneStale(now time.Time) {
	v.order = slices.DeleteFunc(v.order, func(f *captureState) bool {
		if m := v.machines[f.host]; m != nil && m.of[f.id] != nil && now.Sub(m.of[f.id].read) < keepOver || f.broken || !f.feed.Idle() {
			return false
		}
		v.past.add(f.subject, f.next)
		delete(v.captures, f.subject)
		return true
	})
	for name, m := range v.machines {
		m.Ended = m.hasEnded()
		for id, s := range m.of {
			if now.Sub(s.read) >= keepOver {
				m.Spooled -= s.spooled
				delete(m.of, id)
			}
		}
		if len(m.of) == 0 && (m.Ended || !m.alive || now.Sub(m.read) > keepSilent) {
			delete(v.machines, name)
		}
	}
	for of, t := range v.lastReports {
		if now.Sub(t.pace.LastReport) > keepOver {
			delete(v.lastReports, of)
		}
	}
}

// rateMeter measures a rate per second, over the last few seconds.
type rateMeter struct {
	second int64
	counts [4]int
}

func (m *rateMeter) add(now time.Time, n int) {
	m.advance(now)
	m.counts[m.second%int64(len(m.counts))] += n
}

func (m *rateMeter) advance(now time.Time) {
	second := now.Unix()
	for s := max(m.second+1, second-int64(len(m.counts))+1); s <= second; s++ {
		m.counts[s%int64(len(m.counts))] = 0
	}
	m.second = max(m.second, second)
}

// perSecond returns the rate of the complete seconds.
func (m *rateMeter) perSecond(now time.Time) float64 {
	m.advance(now)
	sum := 0
	for i, n := range m.counts {
		if int64(i) != m.second%int64(len(m.counts)) {
			sum += n
		}
	}
	return float64(sum) / float64(len(m.counts)-1)
}
