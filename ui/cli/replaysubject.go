package cli

import (
	"fmt"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/count"
)

// previewSubject is the subject of a preview: a call, a turn, or a conversation.
type previewSubject struct {
	file     string
	scope    replay.Scope
	turn     *stream.Turn
	calls    []*stream.Call // the previewed calls of the turn
	oneByOne bool
	src      *replay.Source // nil if it is unknown
}

// callNumber returns the number to show for call n of the source: its number in the turn or, for a
// conversation, in the conversation.
func (s *previewSubject) callNumber(n int) int {
	if s.scope == replay.WholeConversation || n < 1 || n > len(s.calls) {
		return n
	}
	return s.calls[n-1].Number
}

// sourceProtocol returns the protocol of the subject.
func (s *previewSubject) sourceProtocol() string {
	if s.src.From != nil {
		return s.src.From.Protocol
	}
	return s.turn.Protocol
}

// chosenTurn is a turn with its previewed calls.
type chosenTurn struct {
	turn  *stream.Turn
	calls []*stream.Call
}

// chooseTurns returns the turns of the flags. For a conversation, the calls may be in earlier turns.
func (r *replayer) chooseTurns(path string, turns []*stream.Turn) (list []chosenTurn, err error) {
	var all []chosenTurn
	var numbers []int
	for _, t := range turns {
		if calls, _ := wireCalls(t); len(calls) > 0 || r.conversation {
			all = append(all, chosenTurn{t, calls})
			numbers = append(numbers, int(t.Number)+1)
		}
	}
	if len(all) == 0 {
		return nil, noCalls(path, nil)
	}
	for _, c := range all {
		if r.turn == 0 || r.turn == int(c.turn.Number)+1 {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return nil, usageErrorf("--turn %d: %s has %s", r.turn, path, numberRanges(ifElse(r.conversation, "turn", "calls in turn"), numbers))
	}
	return list, r.chooseCalls(path, list)
}

// chooseCalls keeps only the calls with the number of the flag.
func (r *replayer) chooseCalls(path string, list []chosenTurn) error {
	if r.call == 0 {
		return nil
	}
	found, most := false, list[0]
	for i, c := range list {
		if len(c.calls) > len(most.calls) {
			most = c
		}
		other := func(c *stream.Call) bool { return c.Number != r.call }
		list[i].calls = slices.DeleteFunc(slices.Clone(c.calls), other)
		found = found || len(list[i].calls) > 0
	}
	if found {
		return nil
	}
	numbers := mapSlice(most.calls, func(c *stream.Call) int { return c.Number })
	return usageErrorf("--call %d: turn %d of %s has %s", r.call, most.turn.Number+1, path, numberRanges("call", numbers))
}

// subjectsOf returns the subjects of a turn.
func (r *replayer) subjectsOf(path string, in *providers.Inspector, c chosenTurn) (list []*previewSubject) {
	x, from := in.Exchange(c.turn.Exchange), providers.TargetOf(c.turn.Protocol)
	base := previewSubject{file: fileOf(path, x), scope: replay.WholeTurn, turn: c.turn, calls: c.calls, oneByOne: r.oneByOne}
	switch {
	case r.conversation:
		base.scope = replay.WholeConversation
		base.src = conversationOf(x, c.turn)
	case r.whole:
		base.src = replay.SourceOfTurn(c.turn, from).InHistory(x.CarriedCalls(), c.turn, nil).WithEvidence(in.View().Witnesses(c.calls...))
	default:
		for i, call := range c.calls {
			s := base
			s.scope, s.calls = replay.OneCall, c.calls[i:i+1]
			s.src = replay.SourceOfCalls(c.turn, from, call).InHistory(x.CarriedCalls(), c.turn, call).WithEvidence(in.View().Witnesses(call))
			list = append(list, &s)
		}
		return list
	}
	if r.oneByOne && base.src != nil {
		base.src = base.src.Split()
	}
	return []*previewSubject{&base}
}

// conversationOf returns the history in a turn's request and then the turn; nil without a request.
func conversationOf(x *providers.Exchange, t *stream.Turn) *replay.Source {
	if x == nil {
		return nil
	}
	messages, from := x.History()
	if len(messages) == 0 {
		return nil
	}
	return replay.SourceOfHistoryAndTurn(messages, from, t, providers.TargetOf(t.Protocol))
}

// noCalls returns the error for a source without calls.
func noCalls(path string, of []chosenTurn) error {
	if len(of) == 1 {
		return fmt.Errorf("%s: turn %d calls no tool, and neither does the conversation before it", path, of[0].turn.Number+1)
	}
	return fmt.Errorf("%s: no calls: there is nothing to send back", path)
}

// numberRanges formats numbers as ranges: "turn 1", "turns 1 to 3, 5".
func numberRanges(thing string, numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		part := fmt.Sprint(numbers[i])
		if end > i {
			part += fmt.Sprintf(" to %d", numbers[end])
		}
		parts = append(parts, part)
		i = end + 1
	}
	return count.Noun(len(numbers), thing) + " " + strings.Join(parts, ", ")
}
