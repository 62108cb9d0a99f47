package cli

import (
	"net/http"
	"slices"

	"toolscope/stream"
)

// In this file, turns wait to be printed until the results of their calls are known.

// endedTurn is a turn that has ended, with its size in memory.
type endedTurn struct {
	turn  int32
	bytes int64
}

// Limits of the turns that wait to be printed, with the turns after them.
const (
	maxWaitingTurns = 1 << 7
	maxWaitingBytes = 16 << 20
)

// addWaiting adds a turn to those that wait to be printed.
func (q *turnPrinter) addWaiting(number int32) {
	t := q.in.Session().Turn(number)
	e := endedTurn{number, int64(t.Memory())}
	if x := q.in.Exchange(t.Exchange); x != nil {
		e.bytes += x.Request.Size()
	}
	q.weight += e.bytes
	q.ended = append(q.ended, e)
}

// readyCount returns how many of the waiting turns can be printed now.
func (q *turnPrinter) readyCount(all bool) (n int) {
	for n < len(q.ended) && (all || q.isFull(len(q.ended)-n) || !q.hasActiveFault(q.ended[n].turn) && !(q.patient && q.awaitsResult(q.ended[n].turn))) {
		q.weight -= q.ended[n].bytes
		n++
	}
	return n
}

// isFull reports whether too many turns wait.
func (q *turnPrinter) isFull(waiting int) bool {
	return waiting > maxWaitingTurns || q.weight > maxWaitingBytes
}

// hasActiveFault reports whether toolscope still injects a fault into the exchange of the turn: the note
// about what the client got arrives at the end of the exchange, shortly after that of the turn.
func (q *turnPrinter) hasActiveFault(turn int32) bool {
	t := q.in.Session().Turn(turn)
	x := q.in.Exchange(t.Exchange)
	return x != nil && !x.Ended && x.Head.Status != http.StatusSwitchingProtocols &&
		slices.ContainsFunc(t.Findings, func(f stream.Finding) bool { return f.Code == "BENT" })
}

// awaitsResult reports whether the result of one of the turn's calls is missing and may still arrive.
func (q *turnPrinter) awaitsResult(turn int32) bool {
	t := q.in.Session().Turn(turn)
	return t.Phase() != stream.TurnAborted && slices.ContainsFunc(t.Calls, func(c *stream.Call) bool {
		return !c.RunByProvider && !c.Discarded && c.LatestResult() == nil
	})
}
