package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/providers/mcp"
	"toolscope/providers/price"
	"toolscope/providers/toolrun"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/panes"
	"toolscope/ui/report"
)

// Exit codes of check, like grep's.
const (
	exitFound   = 1
	exitTrouble = 2
)

// checkFlags say what a check demands.
type checkFlags struct {
	failOn         string
	expect, forbid []string
	maxCost        float64
	format         string
	baseline       string
}

func (a *app) checkCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use: "check FILE…", Short: "Fail on findings, for CI",
		Long: `Reads captures, logs and saved bodies, and fails on what is found in them: for
the CI of agents. The exit code is like grep's: 0 nothing was found, 1 something
was, 2 there was trouble: a file that cannot be read, is damaged, or holds
nothing that is recognised.

  toolscope check runs/*.tsc
  toolscope check --fail-on error,ARGS_DOUBLE run.tsc
  toolscope check --expect-tool run_tests --forbid-tool shell run.tsc
  toolscope check --max-cost 0.50 --format junit run.tsc > check.xml
  toolscope check --baseline known.sarif run.tsc          only what is new fails

A baseline is the jsonl or sarif of an earlier check. Findings are known again
by code, file, tool and message, without numbers, ids and quotations; what is
not found any more is told. Codes are stable: 'toolscope explain CODE'.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := a.somePaths(cmd, args, "FILE")
			if err == nil {
				err = a.runCheck(cmd.Context(), paths, &f, cmd.Flags().Changed("max-cost"))
			}
			if err != nil {
				a.code = exitTrouble
			}
			return err
		},
	}
	to := cmd.Flags()
	to.StringVar(&f.failOn, "fail-on", "warn", "what fails: `WHAT` is info, warn or error and worse, or codes, with commas between")
	to.StringArrayVar(&f.expect, "expect-tool", nil, "fail unless the tool `NAME` is called; may be given several times")
	to.StringArrayVar(&f.forbid, "forbid-tool", nil, "fail where the tool `NAME` is called; may be given several times")
	to.Float64Var(&f.maxCost, "max-cost", 0, "fail when all turns together cost more than so many US dollars, or nobody knows")
	addFormatFlag(to, &f.format, "text", "text, jsonl, junit or sarif", "text", "jsonl", "junit", "sarif")
	to.StringVar(&f.baseline, "baseline", "", "findings in this `FILE` are known and do not fail: jsonl or sarif of an earlier check")
	asPaths(to, "baseline")
	markSettings(to, "check", "fail-on", "format", "baseline")
	a.addFilterFlag(to, "check only the turns that")
	a.pricesFlag(cmd)
	a.reading.add(to)
	a.hubFlags(cmd)
	a.callFlags(cmd)
	return cmd
}

// A checker collects what is found in sources.
type checker struct {
	*checkFlags
	report.Check
	limit    stream.Severity // findings of it and worse fail; above them all if none does
	codes    []string        // these fail, whatever they are
	known    *report.Baseline
	prices   *price.Table
	cost     price.Sum
	capped   bool           // --max-cost was given
	called   map[string]int // calls that came whole, by tool
	broken   map[string]int // the others
	calls    int
	in       *providers.Inspector // of the source that is being read
	places   *locator             // of the same
	starting int                  // index of the first finding of it
	part     bool                 // only some turns are looked at: of the others nothing is gone
}

// noSeverity is worse than all there are.
const noSeverity = stream.Error + 1

// newChecker is the flags, understood.
func (a *app) newChecker(f *checkFlags) (*checker, error) {
	c := &checker{checkFlags: f, limit: noSeverity, called: map[string]int{}, broken: map[string]int{}}
	c.Version, c.Time = versionText(), time.Now().Format("2006-01-02T15:04:05")
	if f.maxCost < 0 {
		return nil, usageErrorf("--max-cost %g: US dollars, as in 0.50", f.maxCost)
	}
	all := providers.Findings()
	for word := range strings.SplitSeq(f.failOn, ",") {
		word = strings.TrimSpace(word)
		if i := slices.Index(severityWords, strings.ToLower(word)); i >= 0 {
			c.limit = min(c.limit, stream.Severity(i))
			continue
		}
		code := strings.ToUpper(word)
		if !slices.ContainsFunc(all, func(d *stream.Diagnosis) bool { return d.Code == code }) {
			return nil, usageErrorf("--fail-on %q: no severity and no code%s\nseverities are %s; 'toolscope help findings' lists the codes", word, similarCodes(all, code), joinCommas(severityWords...))
		}
		c.codes = append(c.codes, code)
	}
	if f.baseline == "" {
		return c, nil
	}
	text, err := readFile(f.baseline)
	if err == nil {
		c.known, err = report.ReadBaseline(text)
	}
	if err != nil {
		return nil, fmt.Errorf("--baseline %s: %w", f.baseline, err)
	}
	return c, nil
}

// severityWords are those of findings, by their severity.
var severityWords = []string{stream.Info.String(), stream.Warn.String(), stream.Error.String()}

// runCheck reads every file and writes what was found.
func (a *app) runCheck(ctx context.Context, paths []string, f *checkFlags, capped bool) error {
	c, err := a.newChecker(f)
	if err == nil {
		err = a.checkHubFlags(paths)
	}
	if err != nil {
		return err
	}
	c.capped, a.reading.places = capped, true
	if c.prices, err = a.loadPrices(); err == nil {
		err = a.parseFilter(c.prices)
		c.part = a.turnFilter != nil
	}
	if err != nil {
		return err
	}
	a.joins = true
	err = a.eachSource(ctx, paths, func(src capture.Source, path string, in *providers.Inspector) error {
		return a.checkSource(src, path, in, c)
	})
	if err != nil {
		return err
	}
	if len(c.Files) == 0 && a.code == 0 {
		a.code = exitTrouble
	}
	if a.code != 0 {
		c.Trouble = append(c.Trouble, "not all could be read: see standard error")
	}
	c.checkDemands()
	c.decideFailures()
	to := a.stdout.withBuffer()
	c.write(to)
	if err := to.flush(); err != nil {
		return err
	}
	switch fails := c.failCount(); {
	case a.code != 0:
		a.code = exitTrouble
	case fails > 0:
		a.code = exitFound
	}
	return nil
}

// checkSource takes what is found in one source.
func (a *app) checkSource(src capture.Source, path string, in *providers.Inspector, c *checker) error {
	before := a.code
	a.code = 0
	defer func() { a.code = max(a.code, before) }()
	file := path
	if path == "-" {
		file = "stdin"
	}
	c.Files = append(c.Files, report.File{Name: file})
	c.in, c.places, c.starting = in, &locator{path: path, of: map[int]*byteMap{}, several: a.isRun}, len(c.Findings)
	err := a.printSource(mapSource(src, c.places.addRecord), path, in, c)
	for _, f := range in.Session().Findings {
		c.addFinding(report.Finding{Finding: f, File: file})
	}
	c.places.resolveLines(c.Findings[c.starting:])
	if of := &c.Files[len(c.Files)-1]; err != nil {
		of.Why = err.Error()
	} else if c.places.damaged != "" {
		of.Why = "it is damaged: " + c.places.damaged
	} else if a.code == exitGaps {
		of.Why = "parts of it never came"
	} else if a.code != 0 {
		of.Why = "nothing in it is recognised as a model's"
	}
	return err
}

func (c *checker) addFinding(f report.Finding) {
	if f.Turn > 0 {
		f.Machine = c.machineOf(f.Turn)
	}
	c.Findings = append(c.Findings, f)
}

// machineOf is the one that a turn is of, if that is another than this.
func (c *checker) machineOf(turn int) string {
	turns := c.in.Session().Turns
	if turn > len(turns) {
		return ""
	}
	x := c.in.Exchange(turns[turn-1].Exchange)
	if x == nil || x.Head.Origin == nil {
		return ""
	}
	return x.Head.Origin.Host + "/" + x.Head.Origin.Agent
}

// currentFile is that being read, as its findings name it.
func (c *checker) currentFile() string { return c.Files[len(c.Files)-1].Name }

// addTurn takes the findings of a turn that has ended, and of its calls.
func (c *checker) addTurn(v *providers.View, _ string, t *stream.Turn) {
	x := v.Exchange(t.Exchange)
	of := &c.Files[len(c.Files)-1]
	of.Turns = append(of.Turns, report.Turn{Number: int(t.Number) + 1, Title: joinDots(t.Protocol, t.Model)})
	if x == nil || !panes.IsPlain(t) {
		c.cost.Add(costOf(c.prices, x, t))
	}
	c.addFindings(t, nil, t.Findings)
	calls, _ := wireCalls(t)
	for _, call := range calls {
		c.calls++
		switch call.Status() {
		case stream.Complete, stream.NoArguments:
			c.called[call.Name]++
		default:
			c.broken[call.Name]++
		}
		if slices.Contains(c.forbid, call.Name) {
			f := providers.ToolForbidden.Finding("the tool %s was called", call.Name)
			f.Event = int(call.OpenedBy)
			c.addFindings(t, call, []stream.Finding{f})
		}
		c.addFindings(t, call, ownFindings(call))
	}
	c.places.forgetExchange(x)
}

// addFindings takes findings of a turn, or of a call of it.
func (c *checker) addFindings(t *stream.Turn, call *stream.Call, found []stream.Finding) {
	for _, f := range found {
		r := report.Finding{Finding: f, File: c.currentFile(), Turn: int(t.Number) + 1, Place: c.places.find(c.in, f.Event)}
		if call != nil {
			r.Call, r.Tool, r.ID = call.Number, call.Name, call.ID
		}
		c.addFinding(r)
	}
}

// sentBack takes what later requests made known of calls.
func (c *checker) sentBack(calls []sentBackCall) {
	for _, r := range calls {
		for _, f := range r.findings {
			c.addFinding(report.Finding{Finding: f, File: c.currentFile(), Turn: int(r.of.Turn) + 1, Call: int(r.of.Call), Tool: r.name, ID: r.id})
		}
	}
}

// addRequest takes what was found of a tool that was run.
func (c *checker) addRequest(_ string, r *mcp.Request, a *toolrun.ToolRequest) {
	if a == nil {
		return
	}
	for _, f := range a.Findings {
		c.addFinding(report.Finding{Finding: f, File: c.currentFile(), Turn: int(a.Call.Ref.Turn) + 1, Call: int(a.Call.Ref.Call), Tool: a.Call.Name, ID: a.Call.ID})
	}
}

func (c *checker) notRun(_ string, n *toolrun.CallWithoutRun) {
	c.addFinding(report.Finding{Finding: n.Finding, File: c.currentFile(), Turn: int(n.Ref.Turn) + 1, Call: int(n.Ref.Call), Tool: n.Name, ID: n.ID})
}

// addServer takes what was found of a server of MCP.
func (c *checker) addServer(_ string, s *mcp.Server) {
	for _, f := range s.Findings() {
		c.addFinding(report.Finding{Finding: f, File: c.currentFile()})
	}
}

func (c *checker) flush() error { return nil }

// checkDemands finds what was demanded of all files together and is not so.
func (c *checker) checkDemands() {
	for _, name := range c.expect {
		if c.called[name] == 0 {
			words := ""
			if n := c.broken[name]; n > 0 {
				words = fmt.Sprintf(": %s did not come whole", count.Of(n, "call"))
			}
			c.addFinding(report.Finding{Finding: providers.ToolNotCalled.Finding("the tool %s was not called%s", name, words), Tool: name})
		}
	}
	switch {
	case !c.capped:
	case c.cost.USD > c.maxCost:
		c.addFinding(report.Finding{Finding: providers.CostExceeded.Finding("the turns cost %s, more than %s", c.cost, price.USD(c.maxCost))})
	case c.cost.Unknown > 0:
		c.addFinding(report.Finding{Finding: providers.CostUnknown.Finding("of %s the cost is not known, the others cost %s", count.Of(c.cost.Unknown, "turn"), price.USD(c.cost.USD))})
	}
}

// demanded are what fails whatever --fail-on says.
var demanded = []*stream.Diagnosis{providers.ToolForbidden, providers.ToolNotCalled, providers.CostExceeded, providers.CostUnknown}

// decideFailures says what of it is known, and what fails. What could not all be read tells of nothing that
// it is gone.
func (c *checker) decideFailures() {
	for i := range c.Findings {
		f := &c.Findings[i]
		f.Known = c.known.Knows(f)
		f.Fails = !f.Known && (f.Severity >= c.limit || slices.Contains(c.codes, f.Code) || slices.Contains(demanded, f.Diagnosis))
	}
	if len(c.Trouble) == 0 && !c.part {
		c.Absent = c.known.Absent()
	}
}
