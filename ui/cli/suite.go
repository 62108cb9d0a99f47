package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/providers/suite"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/report"
)

// suiteFlags are the flags of suite.
type suiteFlags struct {
	only, not []string
	format    string
	baseline  string
	self      bool
	limits    suiteLimits
}

const suiteRunHelp = `suite run starts the adapter of a library, asks it for the calls in each stream, and
compares the answers with the outcomes of the cases. It prints a line for each case whose
verdict isn't 'must', and the totals. 'toolscope help suite' describes the adapter.`

func (a *app) suiteCommand() *cobra.Command {
	f := suiteFlags{limits: usualSuiteLimits}
	troubled := func(do func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
		return func(cmd *cobra.Command, args []string) error {
			err := do(cmd, args)
			if err != nil {
				a.code = exitTrouble
			}
			return err
		}
	}
	run := &cobra.Command{
		Use: "run -- ADAPTER…", Short: "Test a library", Long: suiteRunHelp,
		Example: "toolscope suite run -- node adapter.mjs\ntoolscope suite run --only 'anthropic/*' --not off-spec -- ./adapter\ntoolscope suite run --baseline old.jsonl -- ./adapter\ntoolscope suite run --self",
		RunE:    troubled(func(cmd *cobra.Command, args []string) error { return a.runSuite(cmd.Context(), args, &f) }),
	}
	list := &cobra.Command{
		Use: "list", Short: "List the cases", Args: noArgs, Long: "The list has the tags, the reason and the source of each case.",
		Example: "toolscope suite list --only cut\ntoolscope suite list --format md > cases.md",
		RunE:    troubled(func(*cobra.Command, []string) error { return a.listSuite(&f) }),
	}
	export := &cobra.Command{
		Use: "export DIR", Short: "Write the cases as files", Long: "suite export writes suite.json to DIR and, for each case, a JSON file and its stream. It doesn't change existing files.",
		Example: "toolscope suite export testdata/suite",
		RunE: troubled(func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageErrorf("suite export: needs one DIR, got %d", len(args))
			}
			return saveTree(args[0], suite.Files())
		}),
	}
	to := run.Flags()
	to.SetInterspersed(false)
	addFormatFlag(to, &f.format, "text", "text", "jsonl", "junit", "md")
	to.StringVar(&f.baseline, "baseline", "", "")
	asPaths(to, "baseline")
	to.BoolVar(&f.self, "self", false, "")
	addFormatFlag(list.Flags(), &f.format, "text", "text", "jsonl", "md")
	for _, cmd := range []*cobra.Command{run, list} {
		cmd.Flags().StringArrayVar(&f.only, "only", nil, "")
		cmd.Flags().StringArrayVar(&f.not, "not", nil, "")
		a.colourFlags(cmd)
	}
	all := &cobra.Command{
		Use: "suite", Short: "Test libraries that read tool-call streams",
		Example: "toolscope suite run -- node adapter.mjs\ntoolscope suite list\ntoolscope suite export testdata/suite",
		RunE: troubled(func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageErrorf("suite: unknown command %q\nuse run, list or export", args[0])
			}
			return cmd.Help()
		}),
	}
	all.AddCommand(run, list, export)
	return all
}

// runSuite tests a library and writes the verdicts.
func (a *app) runSuite(ctx context.Context, args []string, f *suiteFlags) error {
	if f.self == (len(args) > 0) {
		return usageErrorf("suite run: needs the command of an adapter, or --self\nuse e.g. toolscope suite run -- node adapter.mjs")
	}
	info, all, err := suite.LoadCases()
	if err != nil {
		return err
	}
	s := &suiteReport{info: info}
	if s.chosen, err = suite.SelectCases(all, f.only, f.not); err != nil {
		return usageErrorf("%w", err)
	}
	if f.baseline != "" {
		if err := s.readBaseline(f.baseline); err != nil {
			return fmt.Errorf("--baseline %s: %w", f.baseline, err)
		}
	}
	to, err := a.outputFor(f.format)
	if err != nil {
		return err
	}
	if f.self {
		s.name = "toolscope " + versionText()
		s.results, s.questions, err = askAll(ctx, ownReaders{}, s.chosen)
	} else {
		err = s.runAdapter(ctx, args, f.limits)
	}
	if err != nil {
		s.trouble = err.Error()
	}
	s.markKnown()
	s.write(to, f.format)
	if err := to.flush(); err != nil {
		return err
	}
	switch {
	case s.trouble != "":
		a.code = exitTrouble
		if f.format != "text" {
			a.printNote("%s", s.trouble)
		}
	case s.countCases(func(r *suite.Result) bool { return r.Verdict == suite.Wrong && !s.known[r.Case.ID] }) > 0:
		a.code = exitFound
	}
	return nil
}

// ownReaders asks toolscope's own readers, which read a response as print does.
type ownReaders struct{}

func (ownReaders) askCase(c *suite.Case, chunking string) (*suite.Answer, error) {
	records := []capture.Record{{Exchange: 1, At: capture.NoTime, Head: &capture.Head{}}}
	for _, chunk := range c.Chunks(chunking) {
		records = append(records, capture.Record{Exchange: 1, At: capture.NoTime, Data: bytes.Clone(chunk)})
	}
	end := capture.Record{Exchange: 1, At: capture.NoTime, End: capture.EndEOF}
	if c.End == "reset" {
		end.End, end.By = capture.EndCut, capture.Network
	}
	in := new(providers.Inspector)
	if err := inspectSource(recordSource(append(records, end)), in, func() bool { return true }); err != nil {
		return nil, err
	}
	a := &suite.Answer{Calls: []suite.AnswerCall{}}
	for _, t := range in.Session().Turns {
		a.Finish = t.Finish
		if p := t.Phase(); p == stream.TurnAborted || p == stream.TurnRefused {
			words := p.String()
			a.Error = &words
		}
		calls, _ := present.Calls(t)
		for _, call := range calls {
			if !call.RunByProvider {
				a.Calls = append(a.Calls, answerCallOf(call))
			}
		}
	}
	return a, nil
}

// answerCallOf returns a call as a client may run it: a call is usable if it is complete or has no arguments.
func answerCallOf(call *stream.Call) suite.AnswerCall {
	status := call.Status()
	text, ok := string(call.Args()), status == stream.Complete || status == stream.NoArguments
	if status == stream.NoArguments {
		text = "{}"
	}
	arguments, _ := json.Marshal(text)
	return suite.AnswerCall{Name: call.Name, Arguments: arguments, OK: &ok}
}

// suiteReport has the results of a run.
type suiteReport struct {
	info      suite.Info
	name      string // of the library
	about     string // version details from the adapter
	protocols []string
	chosen    []*suite.Case
	results   []*suite.Result
	questions int
	trouble   string            // reason why the run is incomplete, or ""
	baseline  map[string]string // outcome and reason of each wrong case, by ID
	known     map[string]bool   // IDs of wrong cases that are in the baseline
	gone      []string          // IDs of cases that are wrong only in the baseline
}

// runAdapter asks an adapter for the chosen cases of the protocols that it supports.
func (s *suiteReport) runAdapter(ctx context.Context, args []string, limits suiteLimits) error {
	server, err := startSuiteServer(limits.pause)
	if err != nil {
		return err
	}
	defer server.server.Close()
	d := &suiteAdapter{args: args, limits: limits, info: s.info, server: server}
	defer d.killProcess()
	if err := d.startProcess(); err != nil {
		return err
	}
	s.name, s.about, s.protocols = cmp.Or(d.hello.Name, filepath.Base(args[len(args)-1])), d.hello.About, d.hello.Protocols
	_, all, err := suite.LoadCases()
	if err != nil {
		return err
	}
	for _, name := range s.protocols {
		if !slices.ContainsFunc(all, func(c *suite.Case) bool { return c.Protocol == name }) {
			return fmt.Errorf("the adapter's protocol %s has no cases\nuse %s", quoteStart(name), present.JoinWords(protocolsOf(all)...))
		}
	}
	s.chosen = slices.DeleteFunc(s.chosen, func(c *suite.Case) bool { return !slices.Contains(s.protocols, c.Protocol) })
	if len(s.chosen) == 0 {
		return fmt.Errorf("no case is left for the adapter's protocols: %s", present.JoinWords(s.protocols...))
	}
	if s.results, s.questions, err = askAll(ctx, d, s.chosen); err != nil {
		return err
	}
	return d.endInput()
}

// protocolsOf returns the protocols of cases, each once, in the order of the cases.
func protocolsOf(cases []*suite.Case) (names []string) {
	for _, c := range cases {
		if !slices.Contains(names, c.Protocol) {
			names = append(names, c.Protocol)
		}
	}
	return names
}

// outcomeText returns the first outcome of a result, or "" if there is no answer.
func outcomeText(r *suite.Result) string {
	if len(r.Answers) == 0 || r.Answers[0].Answer == nil {
		return ""
	}
	return r.Answers[0].Answer.Outcome().String()
}

// readBaseline reads the jsonl output of an earlier run.
func (s *suiteReport) readBaseline(path string) error {
	text, err := readFile(path)
	if err != nil {
		return err
	}
	s.baseline = map[string]string{}
	ended := false
	for line := range bytes.Lines(text) {
		var l struct {
			Type, ID, Verdict, Why string
			Outcome                json.RawMessage
		}
		if json.Unmarshal(line, &l) != nil || l.Type != "case" && l.Type != "suite" {
			return fmt.Errorf("not the output of suite run --format jsonl")
		}
		ended = l.Type == "suite"
		if l.Verdict == suite.Wrong.String() {
			s.baseline[l.ID] = l.Why + "\x00" + string(l.Outcome)
		}
	}
	if !ended {
		return fmt.Errorf("the end of the file is missing\nuse the complete output of suite run --format jsonl")
	}
	return nil
}

// markKnown compares the wrong cases with those of the baseline. It marks cases that have the same wrong result in
// both, and lists the cases that are wrong only in the baseline.
func (s *suiteReport) markKnown() {
	s.known = map[string]bool{}
	for _, r := range s.results {
		before, there := s.baseline[r.Case.ID]
		s.known[r.Case.ID] = there && r.Verdict == suite.Wrong && before == r.Why+"\x00"+outcomeText(r)
		if there && r.Verdict != suite.Wrong {
			s.gone = append(s.gone, r.Case.ID)
		}
	}
}

// countCases returns the number of results for which a function returns true.
func (s *suiteReport) countCases(of func(*suite.Result) bool) (n int) {
	for _, r := range s.results {
		n += count.If(of(r))
	}
	return n
}

// countVerdict returns the number of cases with a verdict.
func (s *suiteReport) countVerdict(v suite.Verdict) int {
	return s.countCases(func(r *suite.Result) bool { return r.Verdict == v })
}

// wrongIDs returns the IDs of the wrong cases with or without the tag off-spec.
func (s *suiteReport) wrongIDs(offSpec bool) (ids []string) {
	for _, r := range s.results {
		if r.Verdict == suite.Wrong && r.Case.HasTag(suite.OffSpec) == offSpec {
			ids = append(ids, r.Case.ID)
		}
	}
	return ids
}

// write writes the results in a format.
func (s *suiteReport) write(to lineWriter, format string) {
	switch format {
	case "text":
		s.writeText(to)
	case "jsonl":
		s.writeJSONL(to)
	case "junit":
		_, _ = to.to.Write(report.JUnitSuites(s.junitSuites(), time.Now()))
	case "md":
		for line := range strings.SplitSeq(suiteTableHead, "\n") {
			to.printLine("%s", line)
		}
		to.printLine("| %s | %d | %d | %d | %d | %d | %d |", inCell(s.name), len(s.results), s.countVerdict(suite.Must), s.countVerdict(suite.May),
			s.countVerdict(suite.None), s.countVerdict(suite.Wrong), len(s.wrongIDs(false)))
		to.printLine("")
		wrong, offSpec := strings.Join(s.wrongIDs(false), ", "), strings.Join(s.wrongIDs(true), ", ")
		to.printLine("- %s%s, tested with %s. Wrong: %s%s.", inCell(s.name), textIf(s.about != "", " ("+inCell(s.about)+")"),
			strings.Join(protocolsOf(s.chosen), ", "), cmp.Or(wrong, "none"), textIf(offSpec != "", "; off-spec: "+offSpec))
	}
}

// writeText writes each case whose verdict isn't must, and the totals.
func (s *suiteReport) writeText(to lineWriter) {
	for _, r := range s.results {
		if r.Verdict == suite.Must {
			continue
		}
		verdict := any(fmt.Sprintf("%-5s", r.Verdict))
		if r.Verdict == suite.Wrong && !s.known[r.Case.ID] {
			verdict = inInk(badInk, verdict)
		}
		to.printLine("%s %s%s: %s", verdict, inBold(r.Case.ID), inMuted(textIf(s.known[r.Case.ID], " (in the baseline)")), answerText(r))
		if r.Verdict == suite.Wrong {
			to.printLine("      %s", inMuted("must not be: "+r.Why))
		}
		to.printLine("      %s", inMuted(r.Case.Reason+" "+r.Case.Source))
	}
	for _, id := range s.gone {
		to.printLine("%s", inMuted("gone: "+id))
	}
	if s.trouble != "" {
		for i, line := range strings.Split(s.trouble, "\n") {
			to.printLine("%s %s", inInk(badInk, ifElse(i == 0, "trouble:", "        ")), line)
		}
	}
	to.printLine("%s: %d must, %d may, %d none, %s", inBold(count.Of(len(s.results), "case")), s.countVerdict(suite.Must), s.countVerdict(suite.May),
		s.countVerdict(suite.None), ifElse[any](s.countVerdict(suite.Wrong) == 0, "0 wrong", inInk(badInk, fmt.Sprintf("%d wrong", s.countVerdict(suite.Wrong)))))
	to.printLine("wrong without off-spec: %d", len(s.wrongIDs(false)))
}

// answerText describes the answers of a result: the first answer, and an answer that differs from it, if any.
func answerText(r *suite.Result) string {
	var words []string
	for _, x := range r.Answers {
		text := "no answer"
		if x.Answer != nil {
			text = x.Answer.String()
		}
		if len(words) == 0 || words[0] != text && len(words) == 1 && strings.HasSuffix(r.Why, x.Chunking) {
			words = append(words, text)
		}
	}
	return stream.Clip([]byte(strings.Join(words, "; ")), 0, maxAnswerText)
}

// maxAnswerText is the maximum length of an answer in text.
const maxAnswerText = 300

// writeJSONL writes an object for each case, and an object with the totals. Equal runs have equal lines.
func (s *suiteReport) writeJSONL(to lineWriter) {
	for _, r := range s.results {
		o := caseLine(r.Case)
		o.text("verdict", r.Verdict.String())
		o.optionalText("why", r.Why)
		if text := outcomeText(r); text != "" {
			o.raw("outcome", []byte(text))
		}
		if r.Verdict != suite.Must {
			o.text("answer", answerText(r))
		}
		o.flagIf("known", s.known[r.Case.ID])
		to.writeObject(o)
	}
	o := new(jsonObject)
	o.text("type", "suite")
	o.text("version", s.info.Version)
	o.text("name", s.name)
	o.texts("protocols", protocolsOf(s.chosen))
	o.int("cases", len(s.results))
	o.int("questions", s.questions)
	for _, v := range []suite.Verdict{suite.Must, suite.May, suite.None, suite.Wrong} {
		o.int(v.String(), s.countVerdict(v))
	}
	o.int("wrong_off_spec", len(s.wrongIDs(true)))
	o.texts("gone", s.gone)
	o.optionalText("trouble", s.trouble)
	to.writeObject(o)
}

// caseLine returns the start of an object for a case.
func caseLine(c *suite.Case) *jsonObject {
	o := new(jsonObject)
	o.text("type", "case")
	o.text("id", c.ID)
	o.texts("tags", c.Tags)
	o.text("reason", c.Reason)
	o.text("source", c.Source)
	return o
}

// junitSuites returns a test suite for each protocol. Wrong cases are failures, unless the baseline has them.
func (s *suiteReport) junitSuites() (all []report.TestSuite) {
	for _, name := range protocolsOf(s.chosen) {
		of := report.TestSuite{Name: name}
		for _, r := range s.results {
			if r.Case.Protocol != name {
				continue
			}
			test := report.SuiteCase{Name: r.Case.ID}
			if r.Verdict == suite.Wrong && !s.known[r.Case.ID] {
				test.Failure, test.Text = "must not be: "+r.Why, answerText(r)+"\n"+r.Case.Reason+" "+r.Case.Source
			} else if r.Verdict != suite.Must {
				of.Out += fmt.Sprintf("%s %s: %s\n", r.Verdict, r.Case.ID, answerText(r))
			}
			of.Cases = append(of.Cases, test)
		}
		all = append(all, of)
	}
	if s.trouble != "" {
		all = append(all, report.TestSuite{Name: "run", Cases: []report.SuiteCase{{Name: "adapter", Error: s.trouble}}})
	}
	return all
}

// suiteTableHead is the head of the table with a row for each library.
const suiteTableHead = "| library | cases | must | may | none | wrong | wrong without off-spec |\n| --- | --- | --- | --- | --- | --- | --- |"

// inCell escapes text for a cell of a Markdown table.
func inCell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(display.Clean(text).String())
}

// listSuite lists the cases.
func (a *app) listSuite(f *suiteFlags) error {
	_, all, err := suite.LoadCases()
	if err != nil {
		return err
	}
	if all, err = suite.SelectCases(all, f.only, f.not); err != nil {
		return usageErrorf("%w", err)
	}
	to, err := a.outputFor(f.format)
	if err != nil {
		return err
	}
	if f.format == "md" {
		to.printLine("| case | tags | reason | source |")
		to.printLine("| --- | --- | --- | --- |")
	}
	for _, c := range all {
		switch tags := strings.Join(c.Tags, ", "); f.format {
		case "jsonl":
			to.writeObject(caseLine(c))
		case "md":
			to.printLine("| %s | %s | %s | %s |", c.ID, tags, inCell(c.Reason), c.Source)
		default:
			to.printLine("%-38s %s %s", c.ID, c.Reason, inMuted(textIf(tags != "", "["+tags+"]")))
		}
	}
	if f.format == "text" {
		to.printLine("%s", inBold(count.Of(len(all), "case")))
	}
	return to.flush()
}
