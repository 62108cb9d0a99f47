package providers

import (
	"time"

	"toolscope/stream"
)

// TurnState is what happens in a turn at a moment, as the bytes show it.
type TurnState uint8

// The states of a turn. The last two are silences: nothing of the model arrives any more.
const (
	SendingRequest   TurnState = iota // the request is not complete
	Thinking                          // the provider has the request, and sends nothing of the model, or reasoning
	WritingText                       // text arrives
	WritingArguments                  // a call arrives
	KeptAlive                         // only pings arrive
	Silent                            // nothing arrives
	NumTurnStates                     // the number of states
)

var turnStateWords = [NumTurnStates]string{"sending", "thinking", "text", "arguments", "kept alive", "silent"}

func (s TurnState) String() string { return turnStateWords[s] }

const (
	silentAfter = 3 * time.Second  // without a delta
	pingLasts   = 30 * time.Second // after a ping, the turn is kept alive for so long
)

// turnProgress follows a turn, and knows its state.
type turnProgress struct {
	sent  time.Duration // when the request was complete, or NoTime
	kind  TurnState     // of the latest delta
	delta time.Duration // when it arrived, or NoTime
	ping  time.Duration // when the latest ping since then arrived, or NoTime
}

// state returns the state at a time after the latest event, and until when it lasts if nothing else arrives; NoTime is
// for ever.
func (p *turnProgress) state(at time.Duration) (s TurnState, until time.Duration) {
	switch {
	case p.delta < 0 && at < p.sent:
		return SendingRequest, p.sent
	case p.delta < 0:
		return Thinking, stream.NoTime
	case at < p.delta+silentAfter:
		return p.kind, p.delta + silentAfter
	case p.ping >= 0 && at < p.ping+pingLasts:
		return KeptAlive, p.ping + pingLasts
	}
	return Silent, stream.NoTime
}

// follow notes an event of the turn.
func (p *turnProgress) follow(kind stream.EventKind, at time.Duration) {
	switch kind {
	case stream.Heartbeat:
		p.ping = at
		return
	case stream.ThinkDelta:
		p.kind = Thinking
	case stream.TextDelta:
		p.kind = WritingText
	case stream.CallOpen, stream.Args:
		p.kind = WritingArguments
	default:
		return
	}
	p.delta, p.ping = at, stream.NoTime
}

// TimeSpent returns how long a turn was in each state, from its request to its end or the latest bytes. It is not known
// if the source has no times, or the events were evicted.
func (v *View) TimeSpent(t *stream.Turn) (spent [NumTurnStates]time.Duration, known bool) {
	x := v.Exchange(t.Exchange)
	at, end := v.RequestStart(t), t.ClosedAt
	if at < 0 {
		at = t.OpenedAt
	}
	if x == nil || at < 0 || t.Retention != stream.InMemory || x.Head.NoDeltas {
		return spent, false
	}
	p := turnProgress{sent: x.requestEnd(), delta: stream.NoTime, ping: stream.NoTime}
	passTo := func(to time.Duration) {
		for at < to {
			s, until := p.state(at)
			if until < 0 || until > to {
				until = to
			}
			spent[s] += until - at
			at = until
		}
	}
	for n := range v.EventsOf(t, int(t.OpenedBy)) {
		kind, _ := v.Subject(n)
		switch kind {
		case stream.Heartbeat, stream.ThinkDelta, stream.TextDelta, stream.CallOpen, stream.Args:
			now := v.eventTime(n)
			passTo(now)
			p.follow(kind, now)
		}
	}
	if end < 0 && v.past == nil {
		end = x.LastRecordAt()
	}
	passTo(end)
	return spent, true
}

// requestEnd returns when the last bytes of the request of an HTTP exchange were sent, or NoTime.
func (x *Exchange) requestEnd() time.Duration {
	n := x.Request.Records()
	if n == 0 || isWebSocket(x.Head) {
		return stream.NoTime
	}
	_, at := x.Request.Record(n - 1)
	return at
}
