package present

import (
	"fmt"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/screen"
)

// A Harm rates how harmful it is to run a call, or to use a turn. The smallest value is the worst.
type Harm uint8

const (
	HarmMalformed Harm = iota + 1 // malformed arguments
	HarmError                     // a finding with severity error
	HarmCut                       // cut short
	HarmAborted                   // ended by the provider or the network
	HarmRejected                  // a call that the provider rejected, or a request that it refused
	HarmNotObject
	HarmLooksDone
	HarmWarn // a finding with severity warn
	HarmUnseen
	HarmOpen    // more bytes may arrive
	HarmStopped // stopped by the client
	Healthy

	NumHarm = iota + 1
)

// IsBad reports whether a call or turn counts as bad.
func (h Harm) IsBad() bool { return h <= HarmRejected }

// IsCaution reports whether a call or turn needs attention but is not bad.
func (h Harm) IsCaution() bool { return h <= HarmUnseen && !h.IsBad() }

// HarmOf returns the harm of a call's state.
func HarmOf(st stream.Status) Harm { return harmOfState[st] }

// A Verdict is the judgement on a call or turn. Either the state or a finding decides it, whichever is worse.
type Verdict struct {
	Harm     Harm
	State    stream.Status   // state whose sign is shown, unless Finding decides the verdict
	Finding  *stream.Finding // finding that decides the verdict; nil if the state decides it
	Words    string          // at most VerdictCells cells wide; "" if healthy
	Role     screen.Role
	Refused  bool // the provider refused the request
	IsOfTurn bool // the verdict is on a turn, not on its calls
}

// VerdictCells is the maximum width of the words in a verdict.
const VerdictCells = 13

// harmOfState maps each state of a call to its harm.
var harmOfState = [stream.NumStatus]Harm{
	stream.Waiting: HarmOpen, stream.Streaming: HarmOpen, stream.LooksDone: HarmLooksDone, stream.Complete: Healthy,
	stream.NoArguments: Healthy, stream.CutShort: HarmCut, stream.Malformed: HarmMalformed, stream.NotObject: HarmNotObject,
	stream.Aborted: HarmAborted, stream.Rejected: HarmRejected, stream.Unseen: HarmUnseen,
}

// VerdictOfCall returns the verdict on a call.
func VerdictOfCall(c *stream.Call) Verdict {
	st := c.Status()
	v := Verdict{Harm: harmOfState[st], State: st, Words: stateWords(st), Role: screen.CallRole(c)}
	switch {
	case c.StoppedByClient() && st == stream.Aborted:
		v.Harm, v.Role = HarmStopped, screen.Muted
	case c.MayGrow() && v.Harm > HarmMalformed && v.Harm != HarmNotObject:
		v.Harm = HarmOpen
	}
	if v.Harm > HarmError && slices.ContainsFunc(c.SentBack, func(s stream.SentBackCall) bool { return s.Outcome == emptied }) {
		v.Harm, v.Words, v.Role = HarmError, "sent back {}", screen.Bad
	}
	if !c.HasOnlyInfos() {
		v.addFindings(c.Findings)
	}
	if v.Harm == Healthy {
		v.Words, v.Role = "", screen.Muted
	}
	return v
}

// VerdictOfTurn returns the verdict on a turn, without its calls.
func VerdictOfTurn(x *providers.Exchange, t *stream.Turn) Verdict {
	st, role, _ := screen.TurnLook(t)
	v := Verdict{Harm: harmOfState[st], State: st, Words: stateWords(st), Role: role, IsOfTurn: true}
	switch {
	case !t.Closed():
		v.Harm = HarmOpen
	case st == stream.Aborted && t.EndedBy == stream.Client:
		v.Harm = HarmStopped
	}
	if x != nil && x.Head.Status >= 400 {
		// With status 429, or from 500 on, the request may be correct, so it failed and was not refused.
		v.Role, v.State, v.Harm, v.Words = screen.Bad, stream.Rejected, HarmRejected, fmt.Sprintf("failed %d", x.Head.Status)
		if v.Refused = x.Head.Status < 500 && x.Head.Status != 429; v.Refused {
			v.Words = fmt.Sprintf("refused %d", x.Head.Status)
		}
	} else if v.Harm == HarmAborted && hasFinding(t.Findings, protocol.GenerationRejected) {
		v.Harm, v.State, v.Words = HarmRejected, stream.Rejected, stateWords(stream.Rejected)
	}
	v.addFindings(t.Findings)
	if v.Harm == Healthy {
		v.Words, v.Role = "", screen.Muted
	}
	return v
}

// TroubledCalls returns the number of a turn's bad and doubtful calls for each verdict, worst first, e.g. "1 call
// malformed". It also returns the worst verdict.
func TroubledCalls(t *stream.Turn) (words []string, worst Verdict) {
	var kinds []Verdict
	counts := map[string]int{}
	for _, c := range t.Calls {
		v := VerdictOfCall(c)
		if !v.Harm.IsBad() && !v.Harm.IsCaution() {
			continue
		}
		if counts[v.Words]++; counts[v.Words] == 1 {
			kinds = append(kinds, v)
		}
	}
	if len(kinds) == 0 {
		return nil, Verdict{Harm: Healthy}
	}
	slices.SortStableFunc(kinds, func(a, b Verdict) int { return int(a.Harm) - int(b.Harm) })
	for _, v := range kinds {
		words = append(words, count.Of(counts[v.Words], "call")+" "+v.Words)
	}
	return words, kinds[0]
}

func hasFinding(list []stream.Finding, d *stream.Diagnosis) bool {
	return slices.ContainsFunc(list, func(f stream.Finding) bool { return f.Base() == d })
}

// WasDenied reports whether the user or the rules of the agent refused a call.
func WasDenied(c *stream.Call) bool { return hasFinding(c.Findings, protocol.CallDenied) }

// stateWords returns the words for a state in a verdict, or "" for Complete and NoArguments.
func stateWords(st stream.Status) string {
	if st == stream.Complete || st == stream.NoArguments {
		return ""
	}
	return strings.TrimPrefix(st.String(), "an ")
}

// emptied is the outcome of a call whose arguments were replaced by {}.
var emptied = replay.Emptied.String()

// addFindings makes the verdict worse if a finding is worse than the verdict.
func (v *Verdict) addFindings(list []stream.Finding) {
	for i := range list {
		f := &list[i]
		harm := Healthy
		switch {
		case f.ExplainsState && v.Harm <= HarmUnseen:
			continue
		case f.Severity == stream.Error:
			harm = HarmError
		case f.Severity == stream.Warn:
			harm = HarmWarn
		}
		if harm < v.Harm {
			v.Harm, v.Finding, v.Words, v.Role = harm, f, f.Verdict, screen.SeverityRoles[f.Severity]
		}
	}
}

// VerdictCounts is the number of verdicts for each harm.
type VerdictCounts [NumHarm]int

// Bad returns the number of bad calls and turns.
func (n *VerdictCounts) Bad() (all int) {
	for h := range n {
		if Harm(h).IsBad() {
			all += n[h]
		}
	}
	return all
}
