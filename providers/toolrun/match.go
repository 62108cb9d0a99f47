package toolrun

import (
	"fmt"
	"slices"
	"time"

	"toolscope/providers/mcp"
	"toolscope/stream"
)

// find finds the call of a new request.
func (j *Join) find(a *ToolRequest) {
	if a.Request.CallID != "" {
		j.findByID(a)
		return
	}
	var free, taken []*Call
	for _, of := range j.within(a) {
		if !of.settled {
			j.learn(of)
		}
		if j.isOf(of, a) && !of.exclusive && of.settledOr(a) {
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
	j.join(a, free[0], stream.ByArgs, equals)
}

// settledOr reports whether the arguments of a call equal those of a request.
func (of *Call) settledOr(a *ToolRequest) bool {
	return !of.unseen && (of.Args != nil || of.Size == 0) && a.ArgsSize == len(a.Request.Args) && (of.syntax == stream.SyntaxObject || of.syntax == stream.SyntaxEmpty) && sameArgs(of.writtenArgs(a), a.Request.Args)
}

// findByID finds the call of a request that contains the call's id: the latest with that id.
func (j *Join) findByID(a *ToolRequest) {
	for _, of := range slices.Backward(j.calls) {
		if of.ID == a.Request.CallID && of.Run == a.Server.Run {
			j.join(a, of, stream.ByID, 1)
			return
		}
	}
}

// within returns the calls that a request may belong to by their times: they had begun, and the model had
// not got a result. They are in the order in which they were opened.
func (j *Join) within(a *ToolRequest) (all []*Call) {
	for _, of := range j.calls {
		if j.inWindow(of, a) {
			all = append(all, of)
		}
	}
	slices.SortStableFunc(all, func(x, y *Call) int { return int(x.opened - y.opened) })
	return all
}

func (j *Join) inWindow(of *Call, a *ToolRequest) bool {
	if of.Run != a.Server.Run {
		return false
	}
	began := of.FirstAt
	if began < 0 {
		began = of.OpenedAt
	}
	late := of.given && of.givenAt >= 0 && a.AskedAt > of.givenAt+j.skew(of, a)
	return began <= a.AskedAt+j.skew(of, a) && !late
}

// skew returns how far the clocks of a call and of a request may differ.
func (j *Join) skew(of *Call, a *ToolRequest) (d time.Duration) {
	if j.Apart(of.Exchange, a.Exchange) {
		return skew
	}
	return 0
}

// isOf reports whether the name of a call means the requested tool, and no other tool more surely.
func (j *Join) isOf(of *Call, a *ToolRequest) bool {
	sure := nameMatch(of.Name, a.Server, a.Tool)
	if sure == noName {
		return false
	}
	for _, s := range j.Log.Servers {
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
	return !slices.ContainsFunc(j.declared, func(d declaration) bool {
		return d.run == of.Run && d.name != of.Name && nameMatch(d.name, a.Server, a.Tool) > sure
	})
}

// tryAgain looks for requests of a call about which more is known now.
func (j *Join) tryAgain(of *Call) {
	for _, a := range j.asks {
		switch {
		case a.Call != nil || of.Run != a.Server.Run:
		case a.Request.CallID != "" && a.Request.CallID == of.ID:
			j.join(a, of, stream.ByID, 1)
		case a.Request.CallID == "" && len(of.asks) == 0:
			if j.inWindow(of, a) {
				j.find(a)
			}
		}
	}
}

// resolve matches a call for which no more facts come to one of the remaining requests: by equal
// arguments, or by the name alone if just one request is possible and that can't belong to another call.
func (j *Join) resolve(of *Call) {
	if len(of.asks) > 0 || of.Name == "" || of.unseen {
		return
	}
	var equal, named []*ToolRequest
	for _, a := range j.asks {
		if a.Call != nil || a.Request.CallID != "" || !j.inWindow(of, a) || !j.isOf(of, a) {
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
		j.join(equal[0], of, stream.ByArgs, 1)
	case len(equal) > 1:
		may(equal)
	case len(named) == 1 && j.rivals(of, named[0]) == 0:
		j.join(named[0], of, stream.ByName, 1)
	default:
		may(named)
	}
}

// rivals returns how many other calls a request may belong to.
func (j *Join) rivals(of *Call, a *ToolRequest) (n int) {
	for _, other := range j.calls {
		if other != of && len(other.asks) == 0 && j.inWindow(other, a) && j.isOf(other, a) {
			n++
		}
	}
	return n
}

// join matches a request to a call.
func (j *Join) join(a *ToolRequest, of *Call, by stream.MatchBasis, equals int) {
	a.Call, a.Basis, a.EqualCalls, a.Candidates = of, by, equals, nil
	before := of.asks
	of.asks = append(of.asks, a)
	j.learn(of)
	j.Tell(Match{Call: of.Ref, At: a.AskedAt, Text: fmt.Sprintf("%s of %s, %s", a.Tool, a.Server.Name, a.Explain()), ToolExecution: stream.ToolExecution{Request: a.Number, Join: by, Of: equals}})
	if len(before) > 0 && by == stream.ByID {
		j.ranTwice(of, a, before)
	}
	j.ranBefore(of, a)
	if j.judge(of); of.result != nil { // the request came after the result, at least in the captures
		j.compare(of, a, of.resultEvent, *of.result)
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
func (j *Join) mayBeServed(of *Call) bool {
	for _, s := range j.Log.Servers {
		for _, t := range s.Tools {
			if s.Run == of.Run && nameMatch(of.Name, s, t.Name) != noName {
				return true
			}
		}
	}
	return false
}

// offered returns the server that a call names, and its tool, if the server exists at that time.
func (j *Join) offered(of *Call) (s *mcp.Server, tool string) {
	for _, s := range j.Log.Servers {
		for _, t := range s.Tools {
			if s.Run == of.Run && nameMatch(of.Name, s, t.Name) >= someServer && s.FirstSeenAt <= of.OpenedAt && (s.EndedAt < 0 || s.EndedAt > of.givenAt) {
				return s, t.Name
			}
		}
	}
	return nil, ""
}
