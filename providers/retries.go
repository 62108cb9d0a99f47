package providers

import (
	"slices"
	"strconv"
	"time"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// failedTurn is the latest turn of a conversation, if it failed in a way after which clients repeat the request.
type failedTurn struct {
	number int32 // from 1; 0 for none
	requestHashes
}

// requestHashes identify the messages of a request, without the model's messages at its end. A client that repeats
// a request may add the part of the response that it already received, as Codex does.
type requestHashes struct {
	way, last   uint64 // hashes of all the messages and of the last one
	incremental bool   // the request contains only new messages
}

// hashesOf returns the hashes of a request with messages.
func hashesOf(key *requestKey, incremental bool) requestHashes {
	n := len(key.way) - 1
	messages := key.messages[len(key.messages)-n:]
	for n > 0 && messages[n-1].Role == protocol.Assistant {
		n--
	}
	h := requestHashes{way: key.way[n], incremental: incremental}
	if n > 0 {
		h.last = key.shape.Messages[n-1]
	}
	return h
}

// isRepeatOf reports whether two requests may send the same history. After a WebSocket fails, clients send the
// whole history again, so only the last message of an incremental request can be compared.
func (h requestHashes) isRepeatOf(other requestHashes) bool {
	if h.incremental || other.incremental {
		return h.last == other.last && h.last != 0
	}
	return h.way == other.way
}

// repeatable lists the status codes below 500 after which the same request may succeed.
var repeatable = []int{408, 409, 425, 429}

// noteFailure records whether a turn failed in a way after which clients repeat the request. If the client
// disconnected, no request repeats the turn.
func (l *agentConversation) noteFailure(x *Exchange, t *stream.Turn) {
	l.failed.number = 0
	status := x.Head.Status
	switch {
	case t.EndedBy == stream.Client, x.AnsweredHere:
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
func (l *agentConversation) retryOf(request requestHashes) (turn int32) {
	if l.failed.number > 0 && request.isRepeatOf(l.failed.requestHashes) {
		turn = l.failed.number
	}
	l.failed = failedTurn{requestHashes: request}
	return turn
}

// AwaitsRetry reports whether a later request may repeat the request of a failed turn, or whether the response to such
// a request has not ended.
func (in *Inspector) AwaitsRetry(t *stream.Turn) bool {
	x := in.Exchange(t.Exchange)
	if x == nil || t.Request != nil && t.Request.Background {
		return false
	}
	if number, retried := in.retries.peek(t.Number); retried {
		by := in.Session().Turn(number)
		return by != nil && (!by.Closed() || in.AwaitsRetry(by))
	}
	l := x.requests.conversationOf(t.Number)
	return l != nil && l.failed.number == t.Number+1
}

// softenFailures turns the provider's errors into warnings if a complete turn repeats the failed request.
func (in *Inspector) softenFailures(by *stream.Turn) {
	if by.Phase() != stream.TurnComplete || by.Failure != "" {
		return
	}
	for t := by; t.Request != nil && t.Request.RetryOf > 0; {
		if t = in.Session().Turn(t.Request.RetryOf - 1); t == nil {
			return
		}
		for _, f := range t.Findings {
			if t.Failure == "" || f.Base() != stream.ProviderError || f.By != stream.Provider || f.Severity != stream.Error {
				continue
			}
			f.Diagnosis, f.Severity, f.Replaces = f.WithSeverity(stream.Warn), stream.Warn, true
			f.AppendMessage("; turn %d repeated the request and succeeded", by.Number+1)
			in.Timeline.Append(withoutTime(stream.Event{Kind: stream.Found, Turn: t.Number, Slot: stream.NoSlot, Frame: t.LastFrame, What: &f}))
		}
	}
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
