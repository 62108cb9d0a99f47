package providers

import (
	"slices"
	"strconv"
	"time"

	"toolscope/stream"
)

// failedTurn is the latest turn of a conversation, if it failed in such a way that clients repeat the
// request.
type failedTurn struct {
	number int32  // from 1; 0 for none
	way    uint64 // hash of the messages in its request
}

// repeatable lists the status codes below 500 after which the same request may succeed.
var repeatable = []int{408, 409, 425, 429}

// noteFailure records whether a turn failed in such a way that clients repeat the request. If the client
// disconnected, no request repeats the turn.
func (l *agentConversation) noteFailure(x *Exchange, t *stream.Turn) {
	l.failed.number = 0
	status := x.Head.Status
	switch {
	case t.EndedBy == stream.Client, x.own:
	case status >= 500, slices.Contains(repeatable, status), status < 300 && t.Phase() == stream.TurnAborted:
		l.failed.number = t.Number + 1
	}
}

// noteOpenFailures records the failures of turns that the protocol didn't end.
func (x *Exchange) noteOpenFailures() {
	for _, turn := range x.openTurns() {
		number := x.turns[turn]
		l, t := x.requests.conversationOf(number), x.in.Session().Turn(number)
		if l != nil && (t.Request == nil || !t.Request.Background) {
			l.noteFailure(x, t)
		}
	}
}

// retryOf returns the number, from 1, of the failed turn if the next request of the conversation repeats the
// turn's request. Otherwise it returns 0. Only the first request after a failure can be a repetition, so
// retryOf forgets the failed turn.
func (l *agentConversation) retryOf(way uint64) (turn int32) {
	if l.failed.number > 0 && l.failed.way == way {
		turn = l.failed.number
	}
	l.failed = failedTurn{way: way}
	return turn
}

// Retry describes the repetition of a failed turn's request.
type Retry struct {
	By     *stream.Turn  // the turn of the repeated request
	After  time.Duration // time since the failure, or NoTime
	Wanted time.Duration // time that the server told the client to wait, or NoTime
}

// Retry returns the repetition of a turn's request. The result ok is false if there is none so far, or if it is
// no longer kept.
func (v *View) Retry(t *stream.Turn) (r Retry, ok bool) {
	number, ok := v.in.retries.peek(t.Number)
	if !ok {
		return r, false
	}
	r = Retry{By: v.Session().Turn(number), After: stream.NoTime, Wanted: stream.NoTime}
	x, y := v.Exchange(t.Exchange), (*Exchange)(nil)
	if r.By != nil {
		y = v.Exchange(r.By.Exchange)
	}
	if x == nil || y == nil {
		return r, false
	}
	r.Wanted = retryAfter(x.Head.Header)
	if from, to := t.ClosedAt, y.RequestStart(r.By); from >= 0 && to >= 0 {
		if wait := to + y.ahead - from - x.ahead; x.timed == y.timed && wait >= 0 {
			r.After = wait
		}
	}
	return r, true
}

// maxRetries is the maximum number of retries that are kept.
const maxRetries = 1 << 14

// retryAfter returns the time that a server told the client to wait, or NoTime.
func retryAfter(header map[string][]string) time.Duration {
	for _, h := range []struct {
		name string
		unit time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		for _, value := range header[h.name] {
			if n, err := strconv.ParseFloat(value, 64); err == nil && n >= 0 && n < 1e9 {
				return time.Duration(n * float64(h.unit))
			}
		}
	}
	return stream.NoTime
}
