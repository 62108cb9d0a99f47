package cli

import (
	"net/http"
	"slices"

	"toolscope/stream"
)

// This file has turns wait to be printed, until what the tools of their calls gave is known.

// ended is a turn that has ended, and what its exchange holds.
type ended struct {
	turn  int32
	bytes int64
}

// How much may wait to be printed, together with what it waits for.
const (
	mostWaiting  = 1 << 7
	waitingBytes = 16 << 20
)

// wait has a turn wait to be printed.
func (q *queue) wait(number int32) {
	t := q.in.Session().Turn(number)
	e := ended{number, int64(t.Memory())}
	if x := q.in.Exchange(t.Exchange); x != nil {
		e.bytes += x.Request.Size()
	}
	q.weight += e.bytes
	q.ended = append(q.ended, e)
}

// ready is how many of the turns that wait are to be printed now.
func (q *queue) ready(all bool) (n int) {
	for n < len(q.ended) && (all || q.full(len(q.ended)-n) || !q.bends(q.ended[n].turn) && !(q.patient && q.awaits(q.ended[n].turn))) {
		q.weight -= q.ended[n].bytes
		n++
	}
	return n
}

// full reports whether more turns wait than may.
func (q *queue) full(waiting int) bool { return waiting > mostWaiting || q.weight > waitingBytes }

// bends reports whether toolscope still gives the client something else than the turn's bytes: what
// it gave is told at the end of the exchange, soon after that of the turn.
func (q *queue) bends(turn int32) bool {
	t := q.in.Session().Turn(turn)
	x := q.in.Exchange(t.Exchange)
	return x != nil && !x.Ended && x.Head.Status != http.StatusSwitchingProtocols &&
		slices.ContainsFunc(t.Findings, func(f stream.Finding) bool { return f.Code == "BENT" })
}

// awaits reports whether what the tool of one of its calls gave is not known yet, and may come.
func (q *queue) awaits(turn int32) bool {
	t := q.in.Session().Turn(turn)
	return t.Phase() != stream.TurnAborted && slices.ContainsFunc(t.Calls, func(c *stream.Call) bool {
		return !c.RunByProvider && !c.Discarded && c.LatestResult() == nil
	})
}
