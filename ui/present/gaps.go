package present

import (
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/stream/count"
)

// Gaps are the places at which toolscope missed bytes of requests and responses.
type Gaps struct {
	Places int
	Bytes  int64 // number of missed bytes, as far as it is known
}

// AddTurn adds the gaps in a turn and in its request. The gaps in the requests on a WebSocket aren't added.
func (g *Gaps) AddTurn(x *providers.Exchange, t *stream.Turn) {
	g.Places += t.Gaps()
	g.Bytes += t.Missed
	if x != nil && !x.HasManyRequests() && x.MissedRequestBytes() > 0 && x.TurnIndex(t) == 0 {
		g.Places++
		g.Bytes += x.MissedRequestBytes()
	}
}

// Text describes the gaps. It returns "" if there are none.
func (g Gaps) Text() string {
	switch {
	case g.Places == 0:
		return ""
	case g.Bytes == 0:
		return count.Of(g.Places, "gap") + " in the traffic"
	}
	return count.Of(g.Bytes, "byte") + " missed in " + count.Of(g.Places, "gap")
}
