package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/shrink"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/filter"
	"toolscope/ui/present"
	"toolscope/ui/report"
)

// shrinkFlags are the flags of shrink.
type shrinkFlags struct {
	while, out   string
	slip, bare   bool
	maxTime      time.Duration
	maxQuestions int
}

func (a *app) shrinkCommand() *cobra.Command {
	var f shrinkFlags
	cmd := &cobra.Command{
		Use: "shrink FILE --while COND", Short: "Reduce a capture to the part with a problem",
		Example: "toolscope shrink run.tsc --while finding:ARGS_CONCAT -o bug.tsc\ntoolscope shrink agent.sse --while state:malformed -o bug.sse\ntoolscope shrink run.tsc --while './my-test {}' -o bug.tsc",
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := a.somePaths(cmd, args, "FILE")
			if err = cmp.Or(err, checkNumbers(cmd, "max-questions")); err != nil {
				return err
			}
			if !cmd.Flags().Changed("max-time") && isCommandCondition(f.while) {
				f.maxTime = maxCommandSearch
			}
			return a.runShrink(cmd.Context(), paths, f)
		},
	}
	to := cmd.Flags()
	to.StringVar(&f.while, "while", "", "")
	to.StringVarP(&f.out, "output", "o", "", "")
	to.BoolVar(&f.slip, "slip", false, "")
	to.BoolVar(&f.bare, "bare", false, "")
	to.DurationVar(&f.maxTime, "max-time", 20*time.Second, "")
	to.IntVar(&f.maxQuestions, "max-questions", 20000, "")
	a.pricesFlag(cmd)
	a.reading.add(to)
	return cmd
}

// maxCommandSearch is the default time limit if the condition is a command.
const maxCommandSearch = 10 * time.Minute

// checkArgs returns an error if the arguments are wrong.
func (f *shrinkFlags) checkArgs(paths []string) error {
	switch {
	case len(paths) != 1:
		return usageErrorf("shrink: takes one FILE, got %d", len(paths))
	case paths[0] == "-":
		return usageErrorf("shrink: needs a file, not standard input\nsave the stream first: curl -N … > agent.sse")
	case f.while == "":
		return usageErrorf("shrink: needs a condition\nuse --while finding:CODE, --while state:STATE, another filter, or a command with {} for the file")
	case f.out == "":
		return usageErrorf("shrink: needs an output file\nuse -o FILE for a new file, or -o - for standard output")
	case f.maxTime <= 0:
		return usageErrorf("--max-time %v: use a duration above zero, e.g. 1m", f.maxTime)
	}
	return nil
}

// runShrink writes the smallest file that meets the condition.
func (a *app) runShrink(ctx context.Context, paths []string, f shrinkFlags) error {
	if err := f.checkArgs(paths); err != nil {
		return err
	}
	path := paths[0]
	if _, there := os.Lstat(f.out); f.out != "-" && there == nil {
		return fmt.Errorf("-o %s: the file exists\nuse the name of a new file", f.out)
	}
	s, err := a.newShrinker(ctx, path, &f)
	if err != nil {
		return err
	}
	src, err := a.openSource(ctx, path)
	if err != nil {
		return err
	}
	var records []capture.Record
	for r, err := range decodedSource(a.failOnDamage(src)) {
		if err != nil {
			return err
		}
		r.Data = bytes.Clone(r.Data)
		records = append(records, r)
	}
	if records, err = s.prepareRecords(records, path); err != nil {
		return err
	}
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, f.maxTime)
	defer cancel()
	result, err := shrink.Reduce(limited, records, shrink.Options{Holds: s.meetsCondition, Placeholders: s.placeholderRecords, Bare: f.bare, MaxQuestions: f.maxQuestions})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	text, err := s.encode(result.Records)
	if err == nil {
		err = a.saveShrunk(f.out, text)
	}
	if err != nil {
		return err
	}
	before := int64(0)
	if info, err := os.Stat(path); err == nil {
		before = info.Size()
	}
	a.printNote("%s → %s, %d → %s, %s, %.1f s", sizeText(before), sizeText(int64(len(text))), result.EventsBefore,
		count.Of(result.Events, "event"), count.Of(result.Questions, "question"), time.Since(began).Seconds())
	if result.Limit != "" {
		a.printNote("the file might not be the smallest: the %s ended the search; raise --max-time or --max-questions", result.Limit)
		a.code = exitGaps
	}
	if result.Kept > 0 {
		a.printNote("the condition needs %s of the original: read the file before you send it", count.Of(result.Kept, "text"))
		a.code = exitGaps
	}
	return nil
}

// saveShrunk writes the result to a new file or to standard output.
func (a *app) saveShrunk(path string, text []byte) error {
	write := func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
	if path == "-" {
		return write(a.output)
	}
	return saveAs(path, false, write)
}

// shrinker decides whether records meet the condition.
type shrinker struct {
	*app
	*shrinkFlags
	ctx      context.Context
	prepare  func(*providers.Inspector)
	prices   *price.Table
	raw      bool            // the file contains only the bytes of one response
	name     string          // name of the file that a command reads
	code, by string          // code and cause of the wanted finding; "" if any will do
	loose    bool            // the message of the wanted finding may differ
	filter   *turnFilter     // selects the wanted turn, or nil
	target   sight           // the wanted finding, after prepareRecords
	allowed  map[sight]bool  // findings of the original
	states   map[string]bool // states of calls in the original
}

// sight identifies a finding by its text, without quoted text and numbers, and by the state of its call.
type sight struct{ code, by, severity, state, words string }

// isCommandCondition reports whether a condition is a command. Other conditions begin with a filter field.
func isCommandCondition(cond string) bool {
	for _, name := range append(filter.FieldNames(), "where") {
		if rest, is := strings.CutPrefix(strings.TrimPrefix(cond, "-"), name); is && rest != "" && strings.Contains(":=<>", rest[:1]) {
			return false
		}
	}
	return true
}

// newShrinker parses the condition, and decides the form of the output.
func (a *app) newShrinker(ctx context.Context, path string, f *shrinkFlags) (*shrinker, error) {
	s := &shrinker{app: a, shrinkFlags: f, ctx: ctx, allowed: map[sight]bool{}, states: map[string]bool{}}
	of := f.out
	if of == "-" {
		of = path
	}
	ext := filepath.Ext(of)
	s.raw, s.name = ext != ".tsc" && (f.out != "-" || ext != ""), "shrunk"+ext
	var err error
	if s.prices, err = a.loadPrices(); err != nil {
		return nil, err
	}
	if s.prepare, err = a.reading.inspectorSetup(); err != nil {
		return nil, err
	}
	finding, isFinding := strings.CutPrefix(f.while, "finding:")
	switch {
	case isFinding && !strings.Contains(finding, " "):
		finding, s.loose = strings.CutSuffix(finding, "~")
		s.code, s.by, _ = strings.Cut(finding, "/")
		s.code = strings.ToUpper(s.code)
		all := providers.Findings()
		if !slices.ContainsFunc(all, func(d *stream.Diagnosis) bool { return d.Code == s.code }) {
			return nil, usageErrorf("--while: unknown finding %q%s\n'toolscope help findings' lists the codes", s.code, similarCodes(all, s.code))
		}
		parties := mapSlice(stream.Parties, stream.Party.String)
		if s.by != "" && !slices.Contains(parties, s.by) {
			return nil, usageErrorf("--while %s: unknown party %q\nuse one of %s", f.while, s.by, present.JoinWords(parties...))
		}
	case !isCommandCondition(f.while):
		words := strings.TrimPrefix(f.while, "where:")
		if strings.TrimSpace(words) == "" {
			return nil, usageErrorf("--while %s: the filter is empty\nfor example: --while 'where:tool:run state:aborted'", f.while)
		}
		expr, faults := filter.Parse(words)
		if len(faults) > 0 {
			return nil, usageErrorf("--while: %v", faults[0])
		}
		s.filter = &turnFilter{expr, s.prices}
	case !strings.Contains(f.while, "{}"):
		return nil, usageErrorf("--while %s: not a finding, a filter or a command with {}\nuse finding:CODE, a filter such as state:aborted, or e.g. './my-test {}'", f.while)
	}
	return s, nil
}

// sightings are the findings and states in records.
type sightings struct {
	*checker
	states   map[stream.Ref]string
	filter   *turnFilter
	exchange int // the exchange of the first turn that the filter selects
	matched  bool
}

// addTurn adds the findings in an ended turn, and the states of its calls.
func (g *sightings) addTurn(v *providers.View, file string, t *stream.Turn) {
	for i, c := range t.Calls {
		g.states[stream.Ref{Turn: t.Number, Call: int32(i + 1)}] = c.Status().String()
	}
	if g.filter != nil && !g.matched && g.filter.matches(g.in, t) {
		g.matched, g.exchange = true, t.Exchange
	}
	g.checker.addTurn(v, file, t)
}

// inspectRecords reads records.
func (s *shrinker) inspectRecords(records []capture.Record) (*sightings, error) {
	c, err := s.newChecker(&checkFlags{failOn: "warn"})
	if err != nil {
		return nil, err
	}
	in := new(providers.Inspector)
	s.prepare(in)
	c.Files, c.in, c.places, c.prices = []report.File{{}}, in, &locator{of: map[int]*byteMap{}}, s.prices
	g := &sightings{checker: c, states: map[stream.Ref]string{}, filter: s.filter}
	q := newTurnPrinter(in, "", g)
	q.patient = true
	err = inspectSource(recordSource(records), in, func() bool {
		err = q.printEnded(false)
		return err == nil
	})
	err = errors.Join(err, q.printEnded(true))
	for _, f := range in.Session().Findings {
		c.addFinding(report.Finding{Finding: f})
	}
	return g, err
}

// sightOf returns the sight of a finding.
func (g *sightings) sightOf(f *report.Finding) sight {
	var words strings.Builder
	at := 0
	for span := range f.Quoted.All() {
		words.WriteString(f.Message[at:span.From])
		at = span.To
	}
	words.WriteString(f.Message[at:])
	state := g.states[stream.Ref{Turn: int32(f.Turn - 1), Call: int32(f.Call)}] // "" if the finding is not about a call
	return sight{f.Code, f.By.String(), f.Severity.String(), state, numberWords.ReplaceAllString(words.String(), "#$1")}
}

// numberWords matches a number with its noun, which may be in the plural, or with its unit of time.
var numberWords = regexp.MustCompile(`[0-9][0-9.,]*(?: (?:ms|s|min|h|µs)\b|( [a-z]+?)s?\b)?`)

// isWanted reports whether a finding is the one that the condition names.
func (s *shrinker) isWanted(m sight) bool {
	return m.code == s.code && (s.by == "" || m.by == s.by)
}

// prepareRecords stores the findings and states of the original. If the output is a response alone, it returns only
// the records of that response.
func (s *shrinker) prepareRecords(records []capture.Record, path string) ([]capture.Record, error) {
	g, err := s.inspectRecords(records)
	if err != nil {
		return nil, err
	}
	exchange, others := g.exchange, []string(nil)
	for i := range g.Findings {
		f := &g.Findings[i]
		m := g.sightOf(f)
		if s.allowed[m] = true; s.code != "" && s.target == (sight{}) && s.isWanted(m) {
			s.target = m
			if f.Turn > 0 {
				exchange = g.in.Session().Turns[f.Turn-1].Exchange
			}
		}
		if words := m.code + " by " + m.by; !slices.Contains(others, words) {
			others = append(others, words)
		}
	}
	for _, state := range g.states {
		s.states[state] = true
	}
	if s.code != "" && s.target == (sight{}) || s.filter != nil && !g.matched {
		return nil, usageErrorf("--while %s: not true for %s\nit has %s", s.while, path, cmp.Or(strings.Join(others, ", "), "no findings")+", "+stateList(s.states))
	}
	if s.code == "" && s.filter == nil {
		if broken, err := s.runCondition(records); err != nil || !broken {
			return nil, cmp.Or(err, usageErrorf("--while: the command exits with 0 for %s, so the file doesn't show the problem\nthe command must exit with 1 if it does", path))
		}
	}
	if !s.raw {
		return records, nil
	}
	if len(g.in.Exchanges()) == 1 {
		exchange = g.in.Exchanges()[0].Number
	}
	if x := g.in.Exchange(exchange); x == nil || x.Framing == "WebSocket messages" {
		return nil, usageErrorf("-o %s: needs one response without a WebSocket\nuse -o FILE.tsc", s.out)
	}
	records = slices.DeleteFunc(records, func(r capture.Record) bool { return r.Exchange != exchange || r.Side == capture.Request })
	if ok, err := s.meetsCondition(records); err != nil || !ok {
		return nil, cmp.Or(err, usageErrorf("--while %s: not true for the response alone\nuse -o FILE.tsc, which keeps the request", s.while))
	}
	return records, nil
}

func stateList(states map[string]bool) string {
	if len(states) == 0 {
		return "no calls"
	}
	return "calls in the state " + present.JoinWords(slices.Sorted(maps.Keys(states))...)
}

// meetsCondition reports whether records meet the condition. Unless the condition is a command or --slip is set, they
// must not have findings or states that the original doesn't have.
func (s *shrinker) meetsCondition(records []capture.Record) (bool, error) {
	if s.raw {
		// The response's bytes are read as a file that contains nothing else.
		records = []capture.Record{
			{Exchange: 1, At: capture.NoTime, Head: &capture.Head{}, Data: rawBytes(records)},
			{Exchange: 1, At: capture.NoTime, End: capture.EndEOF},
		}
	}
	if s.code == "" && s.filter == nil {
		return s.runCondition(records)
	}
	g, err := s.inspectRecords(records)
	if err != nil {
		return false, err
	}
	found := g.matched
	for i := range g.Findings {
		m := g.sightOf(&g.Findings[i])
		if !s.slip && !s.allowed[m] && !(s.loose && s.isWanted(m)) {
			return false, nil
		}
		found = found || s.code != "" && (m == s.target || s.loose && s.isWanted(m))
	}
	for _, state := range g.states {
		if !s.slip && !s.states[state] {
			return false, nil
		}
	}
	return found, nil
}

func rawBytes(records []capture.Record) (text []byte) {
	for _, r := range records {
		if r.Side == capture.Response {
			text = append(text, r.Data...)
		}
	}
	return text
}

// encode returns records in the form of the output.
func (s *shrinker) encode(records []capture.Record) ([]byte, error) {
	if s.raw {
		return rawBytes(records), nil
	}
	out, err := capture.EncodeHeader(time.Unix(0, 0).UTC(), "toolscope shrink", "")
	for _, r := range records {
		line, wrong := capture.EncodeRecord(r)
		out, err = append(out, line...), cmp.Or(err, wrong)
	}
	return out, err
}

// maxCommandTime is the maximum time for a command that checks one draft.
const maxCommandTime = time.Minute

// runCondition runs the command of the condition for a file with the records. The command works like a test: it exits
// with 1 if the problem is still there, and with 0 if it isn't. Any other exit code is an error.
func (s *shrinker) runCondition(records []capture.Record) (bool, error) {
	text, err := s.encode(records)
	if err != nil {
		return false, nil // the records can't be written, so they can't be the result
	}
	path, remove, err := createScratch(s.name, text)
	if err != nil {
		return false, err
	}
	defer remove()
	ctx, cancel := context.WithTimeout(s.ctx, maxCommandTime)
	defer cancel()
	word := ifElse(runtime.GOOS == "windows", `"`+path+`"`, shellWord(path))
	err = newShellCommand(ctx, "/bin/sh", strings.ReplaceAll(s.while, "{}", word)).Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false, nil
	case ctx.Err() != nil:
		return false, fmt.Errorf("--while: the command ran for longer than %v", maxCommandTime)
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		return true, nil
	}
	return false, fmt.Errorf("--while: the command ended with: %w\nit must exit with 1 if the file still shows the problem, and with 0 if it doesn't", err)
}

// placeholderRecords returns the records with their content replaced by placeholders. If the placeholders don't fit, it
// returns the records unchanged.
func (s *shrinker) placeholderRecords(records []capture.Record) []capture.Record {
	in := new(providers.Inspector)
	s.prepare(in)
	if inspectSource(recordSource(records), in, func() bool { return true }) != nil {
		return records
	}
	var bodies []*report.Body
	at, covered := map[capture.Stream]*report.Body{}, map[capture.Stream]bool{}
	for _, x := range in.Exchanges() {
		of := capture.Stream{Exchange: x.Number}
		at[of], covered[of] = bodyOf(x, in.View()), true
		bodies = append(bodies, at[of])
	}
	for _, r := range records {
		b := at[r.Stream()]
		if b == nil {
			b = new(report.Body)
			at[r.Stream()], bodies = b, append(bodies, b)
		}
		if !covered[r.Stream()] {
			b.Bytes = append(b.Bytes, r.Data...)
			if x := in.Exchange(r.Exchange); x != nil && x.Framing == "WebSocket messages" {
				b.Ends = append(b.Ends, len(b.Bytes))
			}
		}
	}
	report.ReplaceAll(bodies)
	out := slices.Clone(records)
	for i := range out {
		r := &out[i]
		b := at[r.Stream()]
		if len(b.Bytes) < len(r.Data) {
			return records
		}
		r.Data, b.Bytes = b.Bytes[:len(r.Data):len(r.Data)], b.Bytes[len(r.Data):]
	}
	return out
}
