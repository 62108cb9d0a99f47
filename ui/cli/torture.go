package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"toolscope/providers/torture"
	"toolscope/stream/count"
)

// tortureOptions are the flags of torture, and the values that all scenes share.
type tortureOptions struct {
	app          *app
	scenes, not  []string
	list, strict bool
	verbose      bool
	compare      bool
	seed, repeat int
	jobs         int
	limit        time.Duration
	out, format  string
	provider     string

	client  []string
	routes  []route
	self    string // path of this program, which serves the tools
	version string // of the client
	pace    float64
	written int           // number of results that have been written
	plain   time.Duration // time that the client needed for the control

	// inside runs a client in this process, for tests, and returns its exit code. It is nil if the client is a
	// program.
	inside func(vars map[string]string, end <-chan struct{}) (exit int)
}

func (a *app) tortureCommand() *cobra.Command {
	o := tortureOptions{app: a, pace: 1}
	cmd := &cobra.Command{
		Use: "torture [flags] -- CLIENT [ARG…]", Short: "Test a client with broken and rare responses",
		Example: "toolscope torture -- claude -p \"{prompt}\"\ntoolscope torture --scene 'cut-*' -- ./my-agent\ntoolscope torture --list\ntoolscope torture --compare a.jsonl b.jsonl",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.runTorture(cmd.Context(), args, &o) },
	}
	to := cmd.Flags()
	to.SetInterspersed(false)
	to.StringArrayVar(&o.scenes, "scene", nil, "")
	to.StringArrayVar(&o.not, "not", nil, "")
	to.BoolVar(&o.list, "list", false, "")
	to.BoolVar(&o.compare, "compare", false, "")
	to.BoolVar(&o.strict, "strict", false, "")
	to.BoolVarP(&o.verbose, "verbose", "v", false, "")
	to.IntVar(&o.seed, "seed", 1, "")
	to.IntVar(&o.repeat, "repeat", 1, "")
	to.IntVar(&o.jobs, "jobs", 1, "")
	to.DurationVar(&o.limit, "limit", 0, "")
	to.StringVar(&o.out, "out", "", "")
	to.StringVar(&o.format, "format", "text", "")
	to.StringVar(&o.provider, "provider", "", "")
	return cmd
}

// runTorture tests a client, or lists the scenes, or compares two results.
func (a *app) runTorture(ctx context.Context, args []string, o *tortureOptions) error {
	chosen, err := o.chooseScenes()
	switch {
	case err != nil:
		return err
	case !slices.Contains([]string{"text", "jsonl", "junit", "md"}, o.format):
		return usageErrorf("--format %s: unknown\nuse text, jsonl, junit or md", o.format)
	case o.repeat < 1 || o.jobs < 1:
		return usageErrorf("--repeat and --jobs: use numbers above zero")
	case o.seed < 0 || o.limit < 0:
		return usageErrorf("--seed and --limit: can't be below zero\nwith --limit 0, the limit depends on how long the control takes")
	case !slices.Contains([]string{"", "anthropic", "openai", "gemini"}, o.provider):
		return usageErrorf("--provider %s: unknown\nuse anthropic, openai or gemini", o.provider)
	case o.list:
		return o.listScenes(chosen)
	case o.compare:
		return o.compareResults(args)
	case len(args) == 0:
		return usageErrorf("torture: needs a CLIENT\ne.g. toolscope torture -- claude -p \"{prompt}\"")
	}
	o.client = withAbsolutePaths(args)
	if _, err := exec.LookPath(args[0]); err != nil && !errors.Is(err, exec.ErrDot) {
		a.printError(fmt.Errorf("torture: %s: %w", args[0], withoutExecError(err)))
		a.code = 2
		return nil
	}
	if err := o.prepareRun(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	caught, stop := a.catchEnd()
	defer stop()
	go func() {
		if sig, ok := <-caught; ok {
			a.endedBy(sig)
			cancel()
		}
	}()
	results, err := o.runAll(ctx, chosen)
	if errors.Is(err, context.Canceled) {
		return nil // the signal sets the exit code
	}
	if err != nil {
		a.printError(err)
		a.code = 2
		return nil
	}
	if err := o.printResults(results); err != nil {
		return err
	}
	a.code = o.exitCode(results)
	return nil
}

// chooseScenes returns the scenes that the flags select. Except with --list, the control is always one of them.
func (o *tortureOptions) chooseScenes() (chosen []*torture.Scene, err error) {
	o.scenes, o.not = splitNames(o.scenes), splitNames(o.not)
	for _, pattern := range slices.Concat(o.scenes, o.not) {
		found := slices.ContainsFunc(torture.Scenes(), func(s torture.Scene) bool { return matchesAny([]string{pattern}, s.Name) })
		if !found {
			return nil, usageErrorf("no scene is named %q\ntoolscope torture --list shows all names", pattern)
		}
	}
	for i := range torture.Scenes() {
		s := &torture.Scenes()[i]
		if i == 0 && !o.list || (len(o.scenes) == 0 || matchesAny(o.scenes, s.Name)) && !matchesAny(o.not, s.Name) {
			chosen = append(chosen, s)
		}
	}
	return chosen, nil
}

// splitNames splits lists of names at commas.
func splitNames(lists []string) (names []string) {
	for _, l := range lists {
		names = append(names, strings.Split(l, ",")...)
	}
	return names
}

// matchesAny reports whether a name matches one of the patterns.
func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		is, err := path.Match(p, name)
		return err == nil && is
	})
}

// prepareRun sets the values that all scenes share.
func (o *tortureOptions) prepareRun() (err error) {
	if o.self, err = os.Executable(); err != nil {
		return err
	}
	if o.routes, err = buildRoutes(nil, func(string) string { return "" }); err != nil {
		return err
	}
	if o.out == "" {
		folder, err := captureFolder()
		if err != nil {
			return err
		}
		o.out = filepath.Join(folder, time.Now().Format("torture-2006-01-02T15-04-05"))
	}
	if o.out, err = filepath.Abs(o.out); err != nil {
		return err
	}
	if _, err := saveInto(o.out, "about.txt", []byte("Captures of 'toolscope torture'\n")); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if known := newClientLaunch(o.client, os.Getenv); known.point != nil {
		folder, remove, err := makeScratchFolder()
		if err != nil {
			return err
		}
		defer remove()
		if c, err := newSceneClient(o, folder, closedPort, closedPort, folder); err == nil {
			o.version = c.clientVersion(context.Background())
			c.removeFiles()
		}
	}
	return nil
}

// These are limits for the time in which no byte or event arrives.
const (
	maxFirstIdle = 2 * time.Minute // for the control, because its usual time is unknown
	minIdleTime  = 20 * time.Second
	limitFactor  = 10 // the limit, as a multiple of the time of the control
	busyFactor   = 3  // if the second control takes this many times longer, the machine is busy
)

// sceneLimit returns the limit for a scene.
func (o *tortureOptions) sceneLimit(s *torture.Scene) time.Duration {
	limit := o.limit
	if limit == 0 {
		limit = max(minIdleTime, limitFactor*o.plain)
		if o.plain == 0 {
			limit = maxFirstIdle
		}
	}
	return limit + time.Duration(float64(s.WaitTime())/o.pace)
}

// runAll runs the control and, if the client passes it, the other scenes. If a verdict depends on time, it runs the
// control again.
func (o *tortureOptions) runAll(ctx context.Context, chosen []*torture.Scene) (results []sceneResult, err error) {
	control := chosen[0]
	first, err := o.runOne(ctx, control)
	if err != nil {
		return nil, err
	}
	results = make([]sceneResult, len(chosen))
	results[0] = first
	o.writeFinished(results)
	if first.verdict.Kind != torture.Right {
		return results[:1], nil
	}
	o.plain = first.facts.Took
	places := make(chan struct{}, o.jobs)
	var running sync.WaitGroup
	var mu sync.Mutex
	for i, s := range chosen[1:] {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			if o.app.stderrIsTerminal {
				o.app.printNote("%s (scene %d of %d)", s.Name, i+2, len(chosen))
			}
			found, failed := o.runOne(ctx, s)
			mu.Lock()
			defer mu.Unlock()
			if results[i+1], err = found, errors.Join(err, failed); err == nil {
				o.writeFinished(results)
			}
		})
	}
	running.Wait()
	if err != nil || len(chosen) == 1 || !slices.ContainsFunc(results, func(r sceneResult) bool { return r.dependsOnTime() }) {
		return results, err
	}
	again, err := o.runScene(ctx, control, o.sceneLimit(control))
	if err == nil && again.Took > busyFactor*o.plain && again.Took > busyFactor*time.Second {
		for i := range results {
			if r := &results[i]; r.dependsOnTime() {
				r.verdict.Kind, r.verdict.Words = torture.Unknown, "machine busy: "+r.verdict.Words
			}
		}
	}
	return results, err
}

// dependsOnTime reports whether a verdict may be wrong on a busy machine.
func (r *sceneResult) dependsOnTime() bool {
	return r.verdict.Kind == torture.Wrong && (r.scene.Timed || r.verdict.Rule == "must_not:hang")
}

// runOne runs a scene as many times as the flags say. If the verdicts differ, the result is unknown.
func (o *tortureOptions) runOne(ctx context.Context, s *torture.Scene) (found sceneResult, err error) {
	for i := range o.repeat {
		facts, err := o.runScene(ctx, s, o.sceneLimit(s))
		if err == nil && facts.Missing != "" && o.plain > 0 { // the control had the tools, so here they may only be late
			facts, err = o.runScene(ctx, s, o.sceneLimit(s))
		}
		if err != nil {
			return found, err
		}
		verdict := torture.Judge(s, &facts)
		if i == 0 {
			found = sceneResult{scene: s, facts: facts, verdict: verdict}
		} else if first := found.verdict; verdict.Kind != first.Kind || verdict.Rule != first.Rule {
			found.differs = true
			found.verdict = torture.Verdict{Kind: torture.Unknown, OffSpec: first.OffSpec, Words: "differs: " + first.Words + " / " + verdict.Words}
			break
		}
	}
	return found, nil
}

// exitCode returns 2 if the control failed. It returns 1 if the client was wrong or, with --strict, if a result is
// unknown. Otherwise it returns 0.
func (o *tortureOptions) exitCode(results []sceneResult) int {
	sums := sumResults(results)
	switch {
	case results[0].verdict.Kind != torture.Right:
		return 2
	case sums.wrong > 0, o.strict && sums.unknown > 0:
		return 1
	}
	return 0
}

// sceneResult is the result of a scene.
type sceneResult struct {
	scene   *torture.Scene
	facts   torture.Facts
	verdict torture.Verdict
	differs bool // repeated runs have different verdicts
}

// resultSums counts results by verdict.
type resultSums struct{ right, wrong, offSpec, unknown, unfit int }

func sumResults(results []sceneResult) (s resultSums) {
	for _, r := range results {
		switch r.verdict.Kind {
		case torture.Right:
			s.right++
		case torture.Wrong:
			s.wrong++
			s.offSpec += count.If(r.verdict.OffSpec)
		case torture.Unknown:
			s.unknown++
		case torture.Unfit:
			s.unfit++
		}
	}
	return s
}

// sumWords returns the sums in words.
func (s resultSums) sumWords() string {
	wrong := fmt.Sprintf("%d wrong", s.wrong)
	if s.offSpec > 0 {
		wrong += fmt.Sprintf(" (%d off-spec)", s.offSpec)
	}
	words := []string{fmt.Sprintf("%d right", s.right), wrong}
	if s.unknown > 0 {
		words = append(words, fmt.Sprintf("%d unknown", s.unknown))
	}
	if s.unfit > 0 {
		words = append(words, fmt.Sprintf("%d don't fit", s.unfit))
	}
	return strings.Join(words, " · ")
}
