package toolrun

import (
	"fmt"
	"slices"
	"time"

	"toolscope/providers/mcp"
	"toolscope/stream"
)

// find finds the call of a new request.
func (m *Matcher) find(a *ToolRequest) {
	if a.Request.CallID != "" {
		m.findByID(a)
		return
	}
	var free, taken []*Call
	for _, of := range m.within(a) {
		if !of.settled {
			m.learn(of)
		}
		if m.isOf(of, a) && !of.exclusive && of.settledOr(a) {
			if len(of.asks) == 0 {
				free = append(free, of)
			} else {
				taken = append(taken, of)
			}
		}
	}
	if len(free) == 0 {
		return
	}
	equals := len(free)
	for _, of := range taken { // the request may be theirs if their requests may be this call's
		if of.Ref.Turn == free[0].Ref.Turn || of.asks[0].EqualCalls > 1 {
			equals++
		}
	}
	m.join(a, free[0], stream.ByArgs, equals)
}

// settledOr reports whether the arguments of a call equal those of a request.
func (of *Call) settledOr(a *ToolRequest) bool {
	return !of.unseen && (of.Args != nil || of.Size == 0) && a.ArgsSize == len(a.Request.Args) && (of.syntax == stream.SyntaxObject || of.syntax == stream.SyntaxEmpty) && sameArgs(of.writtenArgs(a), a.Request.Args)
}

// findByID finds the call of a request that contains the call's id: the latest with that id.
func (m *Matcher) findByID(a *ToolRequest) {
	for _, of := range slices.Backward(m.calls) {
		if of.ID == a.Request.CallID && of.Run == a.Server.Run {
			m.join(a, of, stream.ByID, 1)
			return
		}
	}
}

// within returns the calls that a request may belong to by their times: they had begun, and the model had
// not got a result. They are in the order in which they were opened.
func (m *Matcher) within(a *ToolRequest) (all []*Call) {
	for _, of := range m.calls {
		if m.inWindow(of, a) {
			all = append(all, of)
		}
	}
	slices.SortStableFunc(all, func(x, y *Call) int { return int(x.opened - y.opened) })
	return all
}

func (m *Matcher) inWindow(of *Call, a *ToolRequest) bool {
	if of.Run != a.Server.Run {
		return false
	}
	began := of.FirstAt
	if began < 0 {
		began = of.OpenedAt
	}
	late := of.given && of.givenAt >= 0 && a.AskedAt > of.givenAt+m.skew(of, a)
	return began <= a.AskedAt+m.skew(of, a) && !late
}

// skew returns how far the clocks of a call and of a request may differ.
func (m *Matcher) skew(of *Call, a *ToolRequest) (d time.Duration) {
	if m.source.ClocksApart(of.Exchange, a.Exchange) {
		return skew
	}
	return 0
}

// isOf reports whether the name of a call means the requested tool, and no other tool more surely.
func (m *Matcher) isOf(of *Call, a *ToolRequest) bool {
	sure := nameMatch(of.Name, a.Server, a.Tool)
	if sure == noName {
		return false
	}
	for _, s := range m.log.Servers {
		if s.Name == a.Server.Name || s.Run != of.Run {
			continue
		}
		for _, t := range s.Tools {
			switch other := nameMatch(of.Name, s, t.Name); {
			case other > sure:
				return false
			case other == sure:
				of.exclusive = true
			}
		}
	}
	return !slices.ContainsFunc(m.declared, func(d declaration) bool {
		return d.run == of.Run && d.name != of.Name && nameMatch(d.name, a.Server, a.Tool) > sure
	})
}

// tryAgain looks for requests of a call about which more is known now.
func (m *Matcher) tryAgain(of *Call) {
	for _, a := range m.asks {
		switch {
		case a.Call != nil || of.Run != a.Server.Run:
		case a.Request.CallID != "" && a.Request.CallID == of.ID:
			m.join(a, of, stream.ByID, 1)
		case a.Request.CallID == "" && len(of.asks) == 0:
			if m.inWindow(of, a) {
				m.find(a)
			}
		}
	}
}

// resolve matches a call for which no more facts come to one of the remaining requests: by equal
// arguments, or by the name alone if just one request is possible and that can't belong to another call.
func (m *Matcher) resolve(of *Call) {
	if len(of.asks) > 0 || of.Name == "" || of.unseen {
		return
	}
	var equal, named []*ToolRequest
	for _, a := range m.asks {
		if a.Call != nil || a.Request.CallID != "" || !m.inWindow(of, a) || !m.isOf(of, a) {
			continue
		}
		named = append(named, a)
		if of.settledOr(a) {
			equal = append(equal, a)
		}
	}
	may := func(list []*ToolRequest) {
		for _, a := range list {
			if !slices.Contains(a.Candidates, of) {
				a.Candidates = append(a.Candidates, of)
			}
		}
	}
	switch {
	case len(equal) == 1:
		m.join(equal[0], of, stream.ByArgs, 1)
	case len(equal) > 1:
		may(equal)
	case len(named) == 1 && m.rivals(of, named[0]) == 0:
		m.join(named[0], of, stream.ByName, 1)
	default:
		may(named)
	}
}

// rivals returns how many other calls a request may belong to.
func (m *Matcher) rivals(of *Call, a *ToolRequest) (n int) {
	for _, other := range m.calls {
		if other != of && len(other.asks) == 0 && m.inWindow(other, a) && m.isOf(other, a) {
			n++
		}
	}
	return n
}

// join matches a request to a call.
func (m *Matcher) join(a *ToolRequest, of *Call, by stream.MatchBasis, equals int) {
	a.Call, a.Basis, a.EqualCalls, a.Candidates = of, by, equals, nil
	before := of.asks
	of.asks = append(of.asks, a)
	m.learn(of)
	m.source.AddToolRun(Match{Call: of.Ref, At: a.AskedAt, Text: fmt.Sprintf("%s of %s, %s", a.Tool, a.Server.Name, a.Explain()), ToolExecution: stream.ToolExecution{Request: a.Number, Join: by, Of: equals}})
	if len(before) > 0 && by == stream.ByID {
		m.ranTwice(of, a, before)
	}
	m.ranBefore(of, a)
	if m.judge(of); of.result != nil { // the request came after the result, at least in the captures
		m.compare(of, a, of.resultEvent, *of.result)
	}
}

// Explain says how the request was matched to its call.
func (a *ToolRequest) Explain() string {
	switch {
	case a.Basis == stream.ByID:
		return "by the call's id"
	case a.Basis == stream.ByName:
		return "by its name alone (~)"
	case a.EqualCalls > 1:
		return fmt.Sprintf("by its arguments, one of %d that are equal", a.EqualCalls)
	}
	return "by its arguments"
}

// mayBeServed reports whether a call may be for some server's tool.
func (m *Matcher) mayBeServed(of *Call) bool {
	for _, s := range m.log.Servers {
		for _, t := range s.Tools {
			if s.Run == of.Run && nameMatch(of.Name, s, t.Name) != noName {
				return true
			}
		}
	}
	return false
}

// offered returns the server that a call names, and its tool, if the server exists at that time.
func (m *Matcher) offered(of *Call) (s *mcp.Server, tool string) {
	for _, s := range m.log.Servers {
		for _, t := range s.Tools {
			if s.Run == of.Run && nameMatch(of.Name, s, t.Name) >= someServer && s.FirstSeenAt <= of.OpenedAt && (s.EndedAt < 0 || s.EndedAt > of.givenAt) {
				return s, t.Name
			}
		}
	}
	return nil, ""
}
