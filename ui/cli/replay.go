package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/count"
)

const replayHelp = `Preview what a later request would carry of the calls, and what gets lost on the
way: the exact JSON, an outcome in a word, the losses by name, and whether the
provider takes it: accepted or refused, by its rules or as the capture shows,
and unknown where neither says. A target is where the history goes; a policy is
how arguments that are not one JSON object are treated: a behaviour, or what a
client such as Claude Code does.

Each call is previewed by itself, unless --whole or --conversation is given.
That another call of its turn or of the conversation has its id is told all
the same.
With one target and one policy, the body, the results that must follow it and a
diff of the arguments are shown too.

  toolscope replay agent.sse                       every call, to every target
  toolscope replay agent.sse --to anthropic --call 2
  toolscope replay agent.sse --policy clients      as every client that is known
  toolscope replay run.tsc --turn 3 --conversation --to gemini --format jsonl
  toolscope replay run.tsc --fail-on-loss high     for scripts: exit code 1

'toolscope help targets', 'help policies' and 'help losses' list what there is.`

// replayFlags say what is replayed, where to and how.
type replayFlags struct {
	to, policy   string
	turn, call   int // 0 for all
	whole        bool
	conversation bool
	oneByOne     bool
	failOn       string
}

func (a *app) replayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "replay FILE…", Short: "Preview what becomes of calls when they are sent back", Long: replayHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := a.somePaths(cmd, args, "FILE")
			if err != nil {
				return err
			}
			for _, flag := range []string{"turn", "call"} {
				if n, _ := cmd.Flags().GetInt(flag); n < 1 && cmd.Flags().Changed(flag) {
					return usageErrorf("--%s %d: they are counted from 1", flag, n)
				}
			}
			return a.runReplay(cmd.Context(), paths)
		},
	}
	f, r := cmd.Flags(), &a.replaying
	f.StringVar(&r.to, "to", "all", "where the history goes: all, or a name from 'toolscope help targets'")
	f.StringVar(&r.policy, "policy", "preserve", "how arguments are treated: all, behaviours, clients, or a name from 'toolscope help policies'")
	f.IntVar(&r.turn, "turn", 0, "only turn `N`")
	f.IntVar(&r.call, "call", 0, "only call `N` of its turn")
	f.BoolVar(&r.whole, "whole", false, "turns as a whole: text, reasoning and all calls in one message")
	f.BoolVar(&r.conversation, "conversation", false, "the history that a turn's request carried, and then the turn")
	f.BoolVar(&r.oneByOne, "one-by-one", false, "each call in a message of its own, followed by its result; implies --whole")
	addFormatFlag(f, &a.format, "text", "text, or jsonl: one JSON object a line, for each call, target and policy", "text", "jsonl")
	f.StringVar(&r.failOn, "fail-on-loss", "", "exit with 1 when a preview has a loss of this `SEVERITY` or worse, or would be refused: "+lossSeverities())
	markSettings(f, "replay", "to", "policy", "format")
	a.reading.add(f)
	f.Lookup("request").Usage = "the request body in this `FILE` stands in where none was captured: its history, and its tools"
	return cmd
}

func lossSeverities() string {
	return joinCommas(mapSlice(replay.Severities, replay.Severity.String)...)
}

// A replayer previews what the flags choose.
type replayer struct {
	replayFlags
	targets  []*protocol.Target
	policies []*replay.Policy
	limit    replay.Severity // of failOn
	out      previewWriter
	shown    int // previews
	bad      int // those that reach the limit
}

// A previewWriter writes previews.
type previewWriter interface {
	writeHeading(s *previewSubject) // what the previews that follow are of
	writePreview(s *previewSubject, v *replay.Preview)
	flush() error
}

// newReplayer is the flags, understood.
func (a *app) newReplayer() (*replayer, error) {
	r := &replayer{replayFlags: a.replaying}
	switch {
	case r.call != 0 && (r.whole || r.conversation || r.oneByOne):
		return nil, usageErrorf("--call %d: --whole, --conversation and --one-by-one are about all calls of a turn", r.call)
	case r.whole && r.conversation:
		return nil, usageErrorf("--whole and --conversation: only one of them")
	}
	r.whole = r.whole || r.oneByOne && !r.conversation
	if r.targets = providers.Targets(); r.to != "all" {
		t, err := providers.FindTarget(r.to)
		if err != nil {
			return nil, usageErrorf("--to: %w, and all%s", err, suggestCompletion(r.to, targetCompletions()))
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
			return nil, usageErrorf("--fail-on-loss: no severity %q; there are %s", r.failOn, lossSeverities())
		}
		r.limit = limit
	}
	out := a.stdout.withBuffer()
	if r.out = newPreviewText(out, r.targets, r.policies); a.format == "jsonl" {
		r.out = previewJSON{out}
	}
	return r, nil
}

// policiesOf are the policies that a flag names: one, a group of them, or all.
func policiesOf(name string) (chosen []*replay.Policy, err error) {
	if name != "all" && name != "behaviours" && name != "clients" {
		p, err := replay.FindPolicy(name)
		if err != nil {
			return nil, usageErrorf("--policy: %w; or all, all behaviours, all clients%s", err, suggestCompletion(name, policyCompletions()))
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

// runReplay writes the previews of every file.
func (a *app) runReplay(ctx context.Context, paths []string) error {
	r, err := a.newReplayer()
	if err != nil {
		return err
	}
	err = a.eachSource(ctx, paths, func(src capture.Source, path string, in *providers.Inspector) error {
		return a.replaySource(src, path, in, r)
	})
	if err != nil {
		return err
	}
	if r.bad > 0 {
		a.failWith(fmt.Errorf("%d of %s lose something of severity %s or worse, or would be refused", r.bad, count.Of(r.shown, "preview"), r.limit))
	}
	return nil
}

// replaySource reads a whole source and writes the previews of what is chosen from it. Turns are
// numbered within it.
func (a *app) replaySource(src capture.Source, path string, in *providers.Inspector, r *replayer) error {
	defer quitQuietly()()
	err := inspectSource(src, in, func() bool { return true })
	a.printSourceNotes(path, in, false)
	if len(in.Session().Turns) == 0 || a.isOneOfMany() && !slices.ContainsFunc(in.Session().Turns, callsTool) {
		return err // the notes say why, and of many files some have none
	}
	return errors.Join(err, r.previewSource(path, in), r.out.flush())
}

func callsTool(t *stream.Turn) bool {
	calls, _ := wireCalls(t)
	return len(calls) > 0
}

// previewSource previews what is chosen of a source.
func (r *replayer) previewSource(path string, in *providers.Inspector) error {
	chosen, err := r.chooseTurns(path, in.Session().Turns)
	if err != nil {
		return err
	}
	shown := r.shown
	var unknown []int // turns without a history
	for _, c := range chosen {
		for _, s := range r.subjectsOf(path, in, c) {
			if s.src == nil {
				unknown = append(unknown, int(c.turn.Number)+1)
			} else if replay.NumCalls(s.src.Messages) > 0 {
				r.writePreviews(s)
			}
		}
	}
	switch {
	case len(unknown) > 0:
		return fmt.Errorf("%s: no request body was captured of %s: without it there is no history\n--request FILE gives the body that was sent", path, numberRanges("turn", unknown))
	case shown == r.shown:
		return noCalls(path, chosen)
	}
	return nil
}

// writePreviews writes the previews of one subject.
func (r *replayer) writePreviews(s *previewSubject) {
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

// reachesLimit reports whether a preview reaches the limit. To be refused is as bad as can be, and what is
// not known may be that.
func (r *replayer) reachesLimit(v *replay.Preview) bool {
	if v.Refused != "" || v.Outcome >= replay.Throws {
		return true
	}
	return slices.ContainsFunc(v.Losses, func(l replay.Loss) bool { return l.Severity >= r.limit })
}
