package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/present"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	to, policy   string
	turn, call   int // 0 for all turns or calls
	whole        bool
	conversation bool
	oneByOne     bool
	failOn       string
}

func (a *app) replayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "replay FILE…", Short: "Preview how calls would be sent back",
		Example: "toolscope replay agent.sse\ntoolscope replay agent.sse --to anthropic --call 2\ntoolscope replay agent.sse --policy clients\ntoolscope replay run.tsc --turn 3 --conversation --to gemini --format jsonl\ntoolscope replay run.tsc --fail-on-loss high",
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := a.somePaths(cmd, args, "FILE")
			if err = cmp.Or(err, checkNumbers(cmd, "turn", "call")); err != nil {
				return err
			}
			return a.runReplay(cmd.Context(), paths)
		},
	}
	f, r := cmd.Flags(), &a.replaying
	f.StringVar(&r.to, "to", "all", "")
	f.StringVar(&r.policy, "policy", "preserve", "")
	f.IntVar(&r.turn, "turn", 0, "")
	f.IntVar(&r.call, "call", 0, "")
	f.BoolVar(&r.whole, "whole", false, "")
	f.BoolVar(&r.conversation, "conversation", false, "")
	f.BoolVar(&r.oneByOne, "one-by-one", false, "")
	addFormatFlag(f, &a.format, "text", "text", "jsonl")
	a.colourFlags(cmd)
	f.StringVar(&r.failOn, "fail-on-loss", "", "")
	a.reading.add(f)
	return cmd
}

// replayer writes the previews that the flags select.
type replayer struct {
	replayFlags
	targets  []*protocol.Target
	policies []*replay.Policy
	limit    replay.Severity // severity at which a loss makes the command fail
	out      previewWriter
	shown    int // number of previews
	bad      int // number of previews that make the command fail
}

// previewWriter writes previews.
type previewWriter interface {
	writeHeading(s *previewSubject) // writes the subject of the previews that follow
	writePreview(s *previewSubject, v *replay.Preview)
	flush() error
}

// newReplayer returns a replayer with the settings from the flags.
func (a *app) newReplayer() (*replayer, error) {
	r := &replayer{replayFlags: a.replaying}
	switch {
	case r.call != 0 && (r.whole || r.conversation || r.oneByOne):
		return nil, usageErrorf("--call %d: can't be combined with --whole, --conversation and --one-by-one\nthey preview all calls of a turn", r.call)
	case r.whole && r.conversation:
		return nil, usageErrorf("--whole and --conversation: can't be combined\nuse one of them")
	}
	r.whole = r.whole || r.oneByOne && !r.conversation
	if r.targets = providers.Targets(); r.to != "all" {
		t, err := providers.FindTarget(r.to)
		if err != nil {
			return nil, usageErrorf("--to: %w, all%s", err, suggestCompletion(r.to, targetCompletions()))
		}
		r.targets = []*protocol.Target{t}
	}
	var err error
	if r.policies, err = policiesOf(r.policy); err != nil {
		return nil, err
	}
	if r.failOn != "" {
		limit, ok := replay.FindSeverity(r.failOn)
		if !ok {
			return nil, usageErrorf("--fail-on-loss: unknown severity %q\nuse one of %s", r.failOn, present.JoinWords(mapSlice(replay.Severities, replay.Severity.String)...))
		}
		r.limit = limit
	}
	out, err := a.outputFor(a.format)
	if err != nil {
		return nil, err
	}
	if r.out = (&previewText{lineWriter: out, targets: r.targets, policies: r.policies}); a.format == "jsonl" {
		r.out = previewJSON{out}
	}
	return r, nil
}

// policiesOf returns the policies that --policy names: one policy, a group, or all.
func policiesOf(name string) (chosen []*replay.Policy, err error) {
	if name != "all" && name != "behaviours" && name != "clients" {
		p, err := replay.FindPolicy(name)
		if err != nil {
			return nil, usageErrorf("--policy: %w, all, behaviours, clients%s", err, suggestCompletion(name, policyCompletions()))
		}
		return []*replay.Policy{p}, nil
	}
	for i := range replay.Policies {
		if p := &replay.Policies[i]; name == "all" || (p.Client == nil) == (name == "behaviours") {
			chosen = append(chosen, p)
		}
	}
	return chosen, nil
}

// runReplay writes the previews of every file. Turns are numbered within the file.
func (a *app) runReplay(ctx context.Context, paths []string) error {
	r, err := a.newReplayer()
	if err != nil {
		return err
	}
	err = a.eachSource(ctx, paths, func(src capture.Source, path string, in *providers.Inspector) error {
		defer quitQuietly()()
		err := inspectSource(src, in, func() bool { return true })
		a.printSourceNotes(path, in, false)
		if len(in.Session().Turns) == 0 || a.isOneOfMany() && !slices.ContainsFunc(in.Session().Turns, callsTool) {
			return err // the notes give the reason, and a file that is one of many may have no calls
		}
		return errors.Join(err, r.previewSource(path, in), r.out.flush())
	})
	if err != nil {
		return err
	}
	if r.bad > 0 {
		a.failWith(fmt.Errorf("previews that would be refused or have a loss of severity %s or worse: %d of %d", r.limit, r.bad, r.shown))
	}
	return nil
}

// callsTool reports whether a turn has calls.
func callsTool(t *stream.Turn) bool {
	calls, _ := present.Calls(t)
	return len(calls) > 0
}

// previewSource writes the selected previews of a source.
func (r *replayer) previewSource(path string, in *providers.Inspector) error {
	chosen, err := r.chooseTurns(path, in.Session().Turns)
	if err != nil {
		return err
	}
	shown := r.shown
	var unknown []int // numbers of the turns without a history
	for _, c := range chosen {
		for _, s := range r.subjectsOf(path, in, c) {
			if s.src == nil {
				unknown = append(unknown, int(c.turn.Number)+1)
			} else if replay.NumCalls(s.src.Messages) > 0 {
				r.out.writeHeading(s)
				for _, to := range r.targets {
					for _, p := range r.policies {
						if !p.Knows(s.src.From, to) && len(r.targets)+len(r.policies) > 2 {
							continue
						}
						v := s.src.Preview(to, p)
						r.out.writePreview(s, &v)
						if r.shown++; r.failOn != "" && r.reachesLimit(&v) {
							r.bad++
						}
					}
				}
			}
		}
	}
	switch {
	case len(unknown) > 0:
		return fmt.Errorf("%s: no request body was captured for %s, so the history is unknown\nuse --request FILE with the body that was sent", path, numberRanges("turn", unknown))
	case shown == r.shown:
		return noCalls(path, chosen)
	}
	return nil
}

// reachesLimit reports whether a preview has a loss of the limit's severity or worse. A preview also counts if the
// provider would refuse the request, if the client would fail, or if the outcome is unknown.
func (r *replayer) reachesLimit(v *replay.Preview) bool {
	if v.Refused != "" || v.Outcome >= replay.Throws {
		return true
	}
	return slices.ContainsFunc(v.Losses, func(l replay.Loss) bool { return l.Severity >= r.limit })
}

// previewSubject is the subject of a preview: a call, a turn, or a conversation.
type previewSubject struct {
	file     string
	scope    replay.Scope
	turn     *stream.Turn
	calls    []*stream.Call // previewed calls of the turn
	oneByOne bool
	src      *replay.Source // nil if the source is unknown
}

// callNumber returns the number that is shown for call n of the source. It is the call's number in the turn
// or, for a conversation, in the conversation.
func (s *previewSubject) callNumber(n int) int {
	if s.scope == replay.WholeConversation || n < 1 || n > len(s.calls) {
		return n
	}
	return s.calls[n-1].Number
}

// chosenTurn is a turn with its previewed calls.
type chosenTurn struct {
	turn  *stream.Turn
	calls []*stream.Call
}

// chooseTurns returns the turns that the flags select. In a preview of a conversation, the calls may be in
// earlier turns.
func (r *replayer) chooseTurns(path string, turns []*stream.Turn) (list []chosenTurn, err error) {
	var all []chosenTurn
	var numbers []int
	for _, t := range turns {
		if calls, _ := present.Calls(t); len(calls) > 0 || r.conversation {
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

// chooseCalls keeps only the calls with the number from --call.
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

// subjectsOf returns the subjects for a turn.
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

// conversationOf returns the history in a turn's request, followed by the turn. It returns nil if there is no
// request.
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

// numberRanges formats numbers as ranges, e.g. "turn 1" or "turns 1 to 3, 5".
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
