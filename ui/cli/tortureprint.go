package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolscope/capture/record"
	"toolscope/providers/torture"
	"toolscope/stream/count"
	"toolscope/ui/report"
)

// verdictSigns are the signs of the verdicts.
var verdictSigns = map[torture.VerdictKind]string{torture.Right: "✔", torture.Wrong: "✗", torture.Unknown: "?", torture.Unfit: "-"}

// listScenes prints the scenes with their rules.
func (o *tortureOptions) listScenes(chosen []*torture.Scene) error {
	to := o.app.stdout.withBuffer()
	if o.format == "md" {
		to.printLine("| scene | response | must | must not | why | source |")
		to.printLine("| --- | --- | --- | --- | --- | --- |")
	}
	for _, s := range chosen {
		switch o.format {
		case "jsonl":
			var l jsonObject
			l.text("type", "scene")
			l.int("torture", torture.Version)
			l.text("scene", s.Name)
			l.text("sends", s.Sends)
			l.optionalText("must", s.Must)
			l.optionalText("must_not", s.MayNot)
			l.text("why", s.Why)
			l.text("source", s.Source)
			l.texts("off_spec", s.OffSpec)
			to.writeObject(&l)
		case "md":
			to.printLine("| %s | %s | %s | %s | %s | %s |", s.Name, s.Sends, s.Must, s.MayNot, s.Why, s.Source)
		default:
			to.printLine("%s: %s", s.Name, s.Sends)
			if s.HasNoRule() {
				to.printLine("  no rule: the client's behaviour is shown, not judged")
			}
			for _, row := range [][2]string{{"must", s.Must}, {"must not", s.MayNot}, {"why", s.Why}, {"source", s.Source}} {
				if row[1] != "" {
					to.writeWrapped(fmt.Sprintf("  %-9s ", row[0]), row[1])
				}
			}
		}
	}
	return to.flush()
}

// clientName returns the name of the client.
func (o *tortureOptions) clientName() string {
	if known := newClientLaunch(o.client, os.Getenv); known.point != nil {
		return known.point.Name
	}
	return programOf(o.client[0])
}

// printResults prints the results in the chosen format.
func (o *tortureOptions) printResults(results []sceneResult) error {
	to := o.app.stdout.withBuffer()
	switch o.format {
	case "jsonl":
		for i := range results[o.written:] {
			o.writeResult(to, &results[o.written+i])
		}
		s := sumResults(results)
		var l jsonObject
		l.text("type", "torture")
		for _, one := range []struct {
			name string
			n    int
		}{{"scenes", len(results)}, {"right", s.right}, {"wrong", s.wrong}, {"off_spec", s.offSpec}, {"unknown", s.unknown}, {"unfit", s.unfit}, {"exit", o.exitCode(results)}} {
			l.int(one.name, one.n)
		}
		to.writeObject(&l)
	case "junit":
		_, err := o.app.output.Write(o.writeJUnit(results))
		return err
	case "md":
		to.printLine("| scene | %s |", strings.TrimSpace(o.clientName()+" "+o.version))
		to.printLine("| --- | --- |")
		for _, r := range results {
			word := map[torture.VerdictKind]string{torture.Right: "ok", torture.Wrong: "✗ " + r.verdict.Words, torture.Unknown: "? " + r.verdict.Words, torture.Unfit: "-"}[r.verdict.Kind]
			to.printLine("| %s | %s |", r.scene.Name, strings.ReplaceAll(word, "|", "\\|"))
		}
		to.printLine("| sums | %s |", sumResults(results).sumWords())
	default:
		o.printText(to, results)
	}
	return to.flush()
}

// writeFinished writes the lines of results in jsonl as soon as they are known. It keeps the order of the scenes.
func (o *tortureOptions) writeFinished(results []sceneResult) {
	for o.format == "jsonl" && o.written < len(results) {
		r := &results[o.written]
		if r.scene == nil || r.dependsOnTime() {
			return
		}
		o.writeResult(o.app.stdout, r)
		o.written++
	}
}

// printText prints a line for each scene. On a terminal, if more than 20 scenes are right, it leaves out these scenes
// and those that don't fit, unless --verbose is set.
func (o *tortureOptions) printText(to lineWriter, results []sceneResult) {
	sums, took := sumResults(results), time.Duration(0)
	for _, r := range results {
		took += r.facts.Took
	}
	to.printLine("TORTURE %s", joinDots(strings.TrimSpace(o.clientName()+" "+o.version), results[0].facts.Protocol,
		count.Of(len(results), "scene"), sums.sumWords(), fmt.Sprintf("seed %d", o.seed), took.Round(time.Second).String()))
	brief := o.app.onScreen() && !o.verbose && sums.right > 20
	for _, r := range results {
		if brief && (r.verdict.Kind == torture.Right || r.verdict.Kind == torture.Unfit) {
			continue
		}
		sign := verdictSigns[r.verdict.Kind]
		if r.differs {
			sign = "~"
		}
		to.writeWrapped(fmt.Sprintf("%s %-24s ", sign, r.scene.Name), joinDots(r.verdict.Words, textIf(r.verdict.Kind == torture.Wrong, r.ruleWords()), textIf(r.verdict.OffSpec && r.verdict.Kind == torture.Wrong, "off-spec")))
	}
	if results[0].verdict.Kind != torture.Right {
		to.printLine("the other scenes were left out: %s failed the control 'plain'", o.clientName())
		to.printLine("its output is in %s", filepath.Join(o.out, "plain.txt"))
		if results[0].facts.Missing != "" {
			to.printLine("'toolscope help torture' shows how a client finds the provider and the tools")
		}
	}
	first := max(0, slices.IndexFunc(results, func(r sceneResult) bool { return r.verdict.Kind == torture.Wrong }))
	to.printLine("toolscope %s", commandLine(pathsOf(o.capturePath(results[first].scene))))
}

// ruleWords returns the rule that a client broke.
func (r *sceneResult) ruleWords() string {
	if strings.HasPrefix(r.verdict.Rule, "must:") || r.scene.MayNot == "" {
		return "must: " + r.scene.Must
	}
	return "must not: " + r.scene.MayNot
}

// writeResult writes a result as JSON.
func (o *tortureOptions) writeResult(to lineWriter, r *sceneResult) {
	f := &r.facts
	var l jsonObject
	l.text("type", "scene")
	l.int("torture", torture.Version)
	l.text("client", o.clientName())
	l.optionalText("version", o.version)
	l.optionalText("protocol", f.Protocol)
	l.text("scene", r.scene.Name)
	l.text("verdict", r.verdict.Kind.String())
	l.optionalText("rule", r.verdict.Rule)
	l.flagIf("off_spec", r.verdict.OffSpec)
	l.flagIf("differs", r.differs)
	l.text("words", r.verdict.Words)
	l.raw("ran", jsonList(f.Runs, func(one *jsonObject, run torture.Run) {
		one.text("tool", run.Tool)
		one.text("arguments_raw", run.Args)
		request, afterSeal, beforeEnd := f.RunTimes(&run)
		one.time("after_seal_ms", afterSeal)
		one.time("before_end_ms", beforeEnd)
		one.int("request", request)
	}))
	var history []torture.SentBack
	if n := len(f.Requests); n > 0 {
		history = f.Requests[n-1].History
	}
	l.raw("sent_back", jsonList(history, func(one *jsonObject, sent torture.SentBack) {
		one.text("id", sent.ID)
		one.text("tool", sent.Name)
		one.text("arguments_raw", sent.Args)
		one.int("results", len(sent.Results))
		one.flagIf("is_error", slices.ContainsFunc(sent.Results, func(r torture.Result) bool { return r.Failed }))
	}))
	l.int("requests", len(f.Requests))
	l.int("exit", f.Exit)
	l.optionalText("signal", f.Signal)
	l.flagIf("ended_by_toolscope", f.Ended)
	l.time("ms", f.Took)
	l.time("plain_ms", o.plain)
	l.text("capture", r.scene.Name+record.Extension)
	l.int("seed", o.seed)
	to.writeObject(&l)
}

// jsonList writes a list of objects.
func jsonList[T any](list []T, write func(*jsonObject, T)) []byte {
	var all [][]byte
	for _, one := range list {
		var o jsonObject
		write(&o, one)
		all = append(all, o.end())
	}
	return append(append([]byte("["), bytes.Join(all, []byte(","))...), ']')
}

// writeJUnit writes the results as JUnit XML.
func (o *tortureOptions) writeJUnit(results []sceneResult) []byte {
	var cases []report.SuiteCase
	for i := range results {
		r := &results[i]
		c := report.SuiteCase{Name: r.scene.Name}
		switch r.verdict.Kind {
		case torture.Wrong:
			c.Failure = joinDots(r.verdict.Words, r.ruleWords())
		case torture.Unknown, torture.Unfit:
			c.Skipped = r.verdict.Words
		}
		cases = append(cases, c)
	}
	return report.JUnitSuite("torture "+o.clientName(), time.Now(), cases)
}

// storedResult is a line of a stored result.
type storedResult struct {
	Type, Client, Version, Protocol, Scene, Verdict, Rule string
	Torture                                               int
}

// compareResults prints the differences between two results.
func (o *tortureOptions) compareResults(args []string) error {
	if len(args) != 2 {
		return usageErrorf("--compare: takes two files, got %d\ncreate them with --format jsonl", len(args))
	}
	var sides [2]map[string]storedResult
	for i, name := range args {
		var err error
		if sides[i], err = readResults(name); err != nil {
			return err
		}
	}
	differ, same := 0, 0
	to := o.app.stdout.withBuffer()
	for _, s := range torture.Scenes() {
		a, inA := sides[0][s.Name]
		b, inB := sides[1][s.Name]
		switch {
		case !inA && !inB:
		case inA && inB && a.Torture != b.Torture:
			to.printLine("%-24s not comparable: the scenes have versions %d and %d", s.Name, a.Torture, b.Torture)
			differ++
		case !inA || !inB || a.Verdict != b.Verdict || a.Rule != b.Rule:
			to.printLine("%-24s %s → %s", s.Name, a.verdictWords(), b.verdictWords())
			differ++
		default:
			same++
		}
	}
	to.printLine("%s, %d same", count.Of(differ, "difference"), same)
	o.app.code = count.If(differ > 0)
	return to.flush()
}

// verdictWords returns the verdict with its rule.
func (r storedResult) verdictWords() string {
	if r.Verdict == "" {
		return "not run"
	}
	return strings.TrimSpace(r.Verdict + " " + r.Rule)
}

// readResults reads the lines of a result, by scene.
func readResults(name string) (map[string]storedResult, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := map[string]storedResult{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var r storedResult
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s: not torture results: %w", name, err)
		}
		if r.Type == "scene" && r.Scene != "" {
			all[r.Scene] = r
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: contains no torture results\ncreate some with: toolscope torture --format jsonl -- CLIENT", name)
	}
	return all, nil
}
