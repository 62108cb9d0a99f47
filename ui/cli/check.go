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
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/report"
)

// These constants are the exit codes of check. They have the same meanings as grep's exit codes.
const (
	exitFound   = 1
	exitTrouble = 2
)

// checkFlags are the flags of check.
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
		Example: "toolscope check runs/*.tsc\ntoolscope check --fail-on error,ARGS_DOUBLE run.tsc\ntoolscope check --expect-tool run_tests --forbid-tool shell run.tsc\ntoolscope check --max-cost 0.50 --format junit run.tsc > check.xml\ntoolscope check --baseline known.sarif run.tsc",

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
	to.StringVar(&f.failOn, "fail-on", "warn", "")
	to.StringArrayVar(&f.expect, "expect-tool", nil, "")
	to.StringArrayVar(&f.forbid, "forbid-tool", nil, "")
	to.Float64Var(&f.maxCost, "max-cost", 0, "")
	addFormatFlag(to, &f.format, "text", "text", "jsonl", "junit", "sarif")
	a.colourFlags(cmd)
	to.StringVar(&f.baseline, "baseline", "", "")
	asPaths(to, "baseline")
	a.addFilterFlag(to)
	a.pricesFlag(cmd)
	a.reading.add(to)
	a.hubFlags(cmd)
	a.callFlags(cmd)
	return cmd
}

// checker collects the findings of sources.
type checker struct {
	*checkFlags
	report.Check
	limit    stream.Severity // minimum severity of findings that make the check fail; noSeverity if none do
	codes    []string        // codes of findings that make the check fail at any severity
	known    *report.Baseline
	prices   *price.Table
	cost     price.Sum
	capped   bool           // --max-cost was given
	called   map[string]int // number of calls that are complete or have no arguments, by tool
	broken   map[string]int // number of all other calls, by tool
	calls    int
	in       *providers.Inspector // inspector of the current source
	places   *locator             // locator of the current source
	starting int                  // index of the current source's first finding
	part     bool                 // a filter is set, so known findings that are not found may be in other turns
}

// noSeverity is above all severities, so no finding reaches it.
const noSeverity = stream.Error + 1

// newChecker returns a checker with the settings from the flags.
func (a *app) newChecker(f *checkFlags) (*checker, error) {
	c := &checker{checkFlags: f, limit: noSeverity, called: map[string]int{}, broken: map[string]int{}}
	c.Version, c.Time = versionText(), time.Now().Format("2006-01-02T15:04:05")
	if f.maxCost < 0 {
		return nil, usageErrorf("--max-cost %g: below zero\nuse US dollars, e.g. 0.50", f.maxCost)
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
			return nil, usageErrorf("--fail-on: unknown severity or code %q%s\nseverities: %s; 'toolscope help findings' lists the codes", word, similarCodes(all, code), present.JoinWords(severityWords...))
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

// severityWords are the names of severities, indexed by severity.
var severityWords = []string{stream.Info.String(), stream.Warn.String(), stream.Error.String()}

// runCheck reads every file and writes the findings.
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
		c.Trouble = append(c.Trouble, c.troubleText(a.failed))
	}
	c.checkDemands()
	c.decideFailures()
	to, err := a.outputFor(c.format)
	if err != nil {
		return err
	}
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

// noTraffic describes the problem with a file that was read but has no turns.
const noTraffic = "no model traffic was recognised"

// troubleText describes the problem with the input. The parameter failed is true if an error was reported.
func (c *checker) troubleText(failed bool) string {
	unread := func(f report.File) bool { return f.Why != "" && f.Why != noTraffic }
	if failed || len(c.Files) == 0 || slices.ContainsFunc(c.Files, unread) {
		return "some input was not read: see standard error"
	}
	return "some input has no model traffic: see standard error"
}

// checkSource collects the findings of one source.
func (a *app) checkSource(src capture.Source, path string, in *providers.Inspector, c *checker) error {
	before := a.code
	a.code = 0
	defer func() { a.code = max(a.code, before) }()
	file := fileTitle(path)
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
		of.Why = "the file is damaged: " + c.places.damaged
	} else if a.code == exitGaps {
		of.Why = "some data is missing"
	} else if a.code != 0 {
		of.Why = noTraffic
	}
	return err
}

// addFinding adds a finding and sets its machine to HOST/AGENT, unless the turn comes from this machine or the machine
// is unknown.
func (c *checker) addFinding(f report.Finding) {
	if turns := c.in.Session().Turns; f.Turn > 0 && f.Turn <= len(turns) {
		if x := c.in.Exchange(turns[f.Turn-1].Exchange); x != nil && x.Head.Origin != nil {
			f.Machine = x.Head.Origin.Host + "/" + x.Head.Origin.Agent
		}
	}
	c.Findings = append(c.Findings, f)
}

// currentFile returns the name of the current file, as findings show it.
func (c *checker) currentFile() string { return c.Files[len(c.Files)-1].Name }

// addTurn adds the findings in an ended turn and in its calls.
func (c *checker) addTurn(v *providers.View, _ string, t *stream.Turn) {
	x := v.Exchange(t.Exchange)
	of := &c.Files[len(c.Files)-1]
	of.Turns = append(of.Turns, report.Turn{Number: int(t.Number) + 1, Title: joinDots(t.Protocol, t.Model)})
	if x == nil || !present.IsPlain(t) {
		c.cost.Add(present.CostOf(c.prices, x, t))
	}
	c.addFindings(t, nil, present.WithCosts(v, c.prices, t, t.Findings))
	calls, _ := present.Calls(t)
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
		c.addFindings(t, call, present.WithCosts(v, c.prices, t, present.OwnFindings(call)))
	}
	if x != nil && x.Ended {
		delete(c.places.of, x.Number)
	}
}

// addFindings adds the findings in a turn, or in one of its calls.
func (c *checker) addFindings(t *stream.Turn, call *stream.Call, found []stream.Finding) {
	for _, f := range found {
		r := report.Finding{Finding: f, File: c.currentFile(), Turn: int(t.Number) + 1, Place: c.places.find(c.in, f.Event)}
		if call != nil {
			r.Call, r.Tool, r.ID = call.Number, call.Name, call.ID
		}
		c.addFinding(r)
	}
}

// sentBack adds the findings about calls that later requests sent back.
func (c *checker) sentBack(calls []sentBackCall) {
	for _, r := range calls {
		for _, f := range r.findings {
			c.addFinding(report.Finding{Finding: f, File: c.currentFile(), Turn: int(r.of.Turn) + 1, Call: int(r.of.Call), Tool: r.name, ID: r.id})
		}
	}
}

// addRequest adds the findings about a request to an MCP server, if the request is a tool run.
func (c *checker) addRequest(_ string, r *mcp.Request, a *toolrun.ToolRequest) {
	if a == nil {
		return
	}
	for _, f := range a.Findings {
		c.addFinding(report.Finding{Finding: f, File: c.currentFile(), Turn: int(a.Call.Ref.Turn) + 1, Call: int(a.Call.Ref.Call), Tool: a.Call.Name, ID: a.Call.ID})
	}
}

// notRun adds the finding about a call without a tool run.
func (c *checker) notRun(_ string, n *toolrun.CallWithoutRun) {
	c.addFinding(report.Finding{Finding: n.Finding, File: c.currentFile(), Turn: int(n.Ref.Turn) + 1, Call: int(n.Ref.Call), Tool: n.Name, ID: n.ID})
}

// addServer adds the findings about an MCP server.
func (c *checker) addServer(_ string, s *mcp.Server) {
	for _, f := range s.Findings() {
		c.addFinding(report.Finding{Finding: f, File: c.currentFile()})
	}
}

// flush does nothing, because the checker writes its output at the end.
func (c *checker) flush() error { return nil }

// checkDemands adds a finding for each demand in --expect-tool and --max-cost that is not met by the files as a
// whole.
func (c *checker) checkDemands() {
	for _, name := range c.expect {
		if c.called[name] == 0 {
			words := ""
			if n := c.broken[name]; n > 0 {
				words = fmt.Sprintf(": %s not complete", count.Of(n, "call"))
			}
			c.addFinding(report.Finding{Finding: providers.ToolNotCalled.Finding("the tool %s was not called%s", name, stream.Own(words)), Tool: name})
		}
	}
	switch {
	case !c.capped:
	case c.cost.USD > c.maxCost:
		c.addFinding(report.Finding{Finding: providers.CostExceeded.Finding("the turns cost %s, which is more than %s", c.cost, stream.Own(price.USD(c.maxCost)))})
	case c.cost.Unknown > 0:
		c.addFinding(report.Finding{Finding: providers.CostUnknown.Finding("the cost of %s is unknown; the other turns cost %s", stream.Own(count.Of(c.cost.Unknown, "turn")), stream.Own(price.USD(c.cost.USD)))})
	}
}

// demanded are the findings that --forbid-tool, --expect-tool and --max-cost produce. They make the check fail
// regardless of --fail-on.
var demanded = []*stream.Diagnosis{providers.ToolForbidden, providers.ToolNotCalled, providers.CostExceeded, providers.CostUnknown}

// decideFailures marks the findings that are in the baseline, and the findings that make the check fail. A finding
// that is only in the baseline counts as gone if everything was read and no filter is set.
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

// countFindings returns the number of findings that satisfy a condition.
func (c *checker) countFindings(of func(*report.Finding) bool) (n int) {
	for i := range c.Findings {
		if of(&c.Findings[i]) {
			n++
		}
	}
	return n
}

// failCount returns the number of findings that make the check fail.
func (c *checker) failCount() int {
	return c.countFindings(func(f *report.Finding) bool { return f.Fails })
}

// write writes the findings in the format that the flag selects.
func (c *checker) write(to lineWriter) {
	switch c.format {
	case "text":
		c.writeText(to)
	case "jsonl":
		c.writeJSONL(to)
	case "junit":
		_, _ = to.to.Write(c.JUnit())
	case "sarif":
		_, _ = to.to.Write(c.SARIF(byCode(providers.Findings())))
	}
}

// writeText writes a line for each finding that makes the check fail and for each finding that is gone. It then
// writes the problems and the totals.
func (c *checker) writeText(to lineWriter) {
	var codes []string
	worst := stream.Info
	for i := range c.Findings {
		f := &c.Findings[i]
		if f.Fails {
			worst = max(worst, f.Severity)
			to.printLine("%s%s %s: %s %s", f.Where(), ofSeverity(f.Severity, f.Severity), ofCode(f.Severity, f.Code), display.Clean(f.Message), inMuted(display.Format("(by %s)", f.CausedBy())))
			if !slices.Contains(codes, f.Code) {
				codes = append(codes, f.Code)
			}
		}
	}
	for i := range c.Absent {
		to.printLine("%s", inMuted(c.Absent[i].Text()))
	}
	for _, words := range c.Trouble {
		to.printLine("%s %s", inInk(badInk, "trouble:"), words)
	}
	known := c.countFindings(func(f *report.Finding) bool { return f.Known })
	below := len(c.Findings) - c.failCount() - known
	turns := 0
	for i := range c.Files {
		turns += len(c.Files[i].Turns)
	}
	found := inBold("nothing found")
	if n := c.failCount(); n > 0 {
		found = ofSeverity(worst, count.Of(n, "finding"))
	}
	to.printLine("%s in %s, %s and %s%s%s", found, count.Of(c.calls, "call"), count.Of(turns, "turn"),
		count.Of(len(c.Files), "file"), inMuted(textIf(known > 0, fmt.Sprintf("; %d in the baseline", known))), inMuted(textIf(below > 0, fmt.Sprintf("; %d ignored by --fail-on %s", below, c.failOn))))
	if len(codes) > 0 {
		to.writeWrappedWords([]any{inMuted("toolscope explain ")}, mapSlice(codes, inMuted[string]))
	}
}

// writeJSONL writes an object for each finding, an object for each finding that is gone, and an object with
// the totals.
func (c *checker) writeJSONL(to lineWriter) {
	for i := range c.Findings {
		to.writeObject(findingLine(&c.Findings[i]))
	}
	for _, k := range c.Absent {
		o := new(jsonObject)
		o.text("type", "gone")
		o.text("code", k.Code)
		o.optionalText("file", k.File)
		o.optionalText("name", k.Tool)
		o.text("message", k.Message)
		o.text("fingerprint", k.Fingerprint)
		to.writeObject(o)
	}
	o := new(jsonObject)
	o.text("type", "check")
	turns := 0
	for i := range c.Files {
		turns += len(c.Files[i].Turns)
	}
	o.int("files", len(c.Files))
	o.int("turns", turns)
	o.int("calls", c.calls)
	o.int("findings", len(c.Findings))
	o.int("failing", c.failCount())
	o.int("known", c.countFindings(func(f *report.Finding) bool { return f.Known }))
	o.int("gone", len(c.Absent))
	o.texts("trouble", c.Trouble)
	to.writeObject(o)
}

// findingLine returns the JSON object for a finding.
func findingLine(f *report.Finding) *jsonObject {
	o := new(jsonObject)
	o.text("type", "finding")
	o.optionalText("file", f.File)
	o.optionalText("machine", f.Machine)
	if f.Turn > 0 {
		o.int("turn", f.Turn)
	}
	if f.Call > 0 {
		o.int("call", f.Call)
		o.text("id", f.ID)
	}
	o.optionalText("name", f.Tool)
	o.addFacts(present.OfFinding(f.Finding))
	if f.Place.End > f.Place.Start {
		o.int("start", int(f.Place.Start))
		o.int("end", int(f.Place.End))
		o.int("line", f.Place.Line)
	}
	o.flag("fails", f.Fails)
	o.flagIf("known", f.Known)
	o.text("fingerprint", f.Fingerprint())
	return o
}
