package fleet

import (
	"fmt"
	"slices"
	"time"

	"toolscope/capture"
)

// Of what is over nothing is kept for long but where each capture goes on, should it.
const (
	keepOver   = 10 * time.Minute // since something was read of a capture of which nothing is open
	keepSilent = time.Hour        // and of a machine that was heard and did not end as it should
	pruneEvery = time.Minute
)

// lookForSilent ends what is open of captures of whose senders there was no sign for a while.
func (v *View) lookForSilent(now time.Time, yield func(capture.Record, error) bool) bool {
	if !v.deliverRead(yield, true) {
		return false
	}
	if v.last > 0 {
		return true // nobody waits for more of a host
	}
	var recs []capture.Record
	v.mu.Lock()
	v.looked = now
	if v.couldHear(now) { // else it is not the host's silence
		recs = v.cutSilent(now)
	}
	if now.Sub(v.pruned) > pruneEvery {
		v.pruned = now
		v.pruneStale(now)
	}
	v.mu.Unlock()
	return v.deliverEnds(yield, recs)
}

// cutSilent ends what is open of captures that are silent.
func (v *View) cutSilent(now time.Time) (recs []capture.Record) {
	if v.state.Lag > v.quiet {
		return nil // what tells of them is still to be read
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

// cutSilent is the same of the exchanges that are read because of their calls. Their machines need not have been heard
// at all.
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

// cutReason is why something is cut that had something open.
func (v *View) cutReason(o subjectParts) string {
	return fmt.Sprintf("nothing was heard of %s/%s for %s", o.host, o.agent, v.quiet)
}

// pruneStale forgets what was not heard of for long.
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

// rateMeter measures how many come in a second, over the last few.
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

// perSecond is that of the seconds that are over.
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
