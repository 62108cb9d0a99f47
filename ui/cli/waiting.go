package cli

import (
	"net/http"
	"slices"

	"toolscope/stream"
)

// This file has turns wait to be printed, until what the tools of their calls gave is known.

// endedTurn is a turn that has ended, and what its exchange holds.
type endedTurn struct {
	turn  int32
	bytes int64
}

// How much may wait to be printed, together with what it waits for.
const (
	maxWaitingTurns = 1 << 7
	maxWaitingBytes = 16 << 20
)

// addWaiting has a turn wait to be printed.
func (q *turnPrinter) addWaiting(number int32) {
	t := q.in.Session().Turn(number)
	e := endedTurn{number, int64(t.Memory())}
	if x := q.in.Exchange(t.Exchange); x != nil {
		e.bytes += x.Request.Size()
	}
	q.weight += e.bytes
	q.ended = append(q.ended, e)
}

// readyCount is how many of the turns that wait are to be printed now.
func (q *turnPrinter) readyCount(all bool) (n int) {
	for n < len(q.ended) && (all || q.isFull(len(q.ended)-n) || !q.hasActiveFault(q.ended[n].turn) && !(q.patient && q.awaitsResult(q.ended[n].turn))) {
		q.weight -= q.ended[n].bytes
		n++
	}
	return n
}

// isFull reports whether more turns wait than may.
func (q *turnPrinter) isFull(waiting int) bool {
	return waiting > maxWaitingTurns || q.weight > maxWaitingBytes
}

// hasActiveFault reports whether toolscope still gives the client something else than the turn's bytes: what
// it gave is told at the end of the exchange, soon after that of the turn.
func (q *turnPrinter) hasActiveFault(turn int32) bool {
	t := q.in.Session().Turn(turn)
	x := q.in.Exchange(t.Exchange)
	return x != nil && !x.Ended && x.Head.Status != http.StatusSwitchingProtocols &&
		slices.ContainsFunc(t.Findings, func(f stream.Finding) bool { return f.Code == "BENT" })
}

// awaitsResult reports whether what the tool of one of its calls gave is not known yet, and may come.
func (q *turnPrinter) awaitsResult(turn int32) bool {
	t := q.in.Session().Turn(turn)
	return t.Phase() != stream.TurnAborted && slices.ContainsFunc(t.Calls, func(c *stream.Call) bool {
		return !c.RunByProvider && !c.Discarded && c.LatestResult() == nil
	})
}
