//go:build linux

package cli

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/providers"
	"toolscope/providers/suite"
)

// TestSuiteSelf checks that toolscope's own readers get no case wrong, and that toolscope supports each protocol of
// the suite.
func TestSuiteSelf(t *testing.T) {
	t.Parallel()
	_, all, err := suite.LoadCases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if _, err := providers.FindProtocol(c.Protocol); err != nil {
			t.Errorf("%s: %v", c.ID, err)
		}
	}
	results, questions, err := askAll(t.Context(), ownReaders{}, all)
	if err != nil || len(results) != len(all) || questions < 3*len(all) {
		t.Fatalf("%d results of %d questions: %v", len(results), questions, err)
	}
	for _, r := range results {
		if r.Verdict >= suite.None {
			t.Errorf("%s is %s: %s; %s", r.Case.ID, r.Verdict, r.Why, answerText(r))
		}
	}
}

// adapterRun tests the test adapter with a fault.
func adapterRun(t *testing.T, fault string, f suiteFlags) outcome {
	t.Helper()
	a, so := appOf(t)
	if f.limits == (suiteLimits{}) {
		f.limits = suiteLimits{start: time.Minute, answer: time.Minute, end: time.Minute}
	}
	if f.format == "" {
		f.format = "jsonl"
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.runSuite(t.Context(), []string{"/usr/bin/env", asHelper + "=suite " + fault, self}, &f); err != nil {
		t.Fatal(err)
	}
	return so()
}

// suiteLine is a line of jsonl.
type suiteLine struct {
	Type, ID, Verdict, Why string
	Known                  bool
	Cases, Must, May, None int
	Trouble                string
	Gone                   []string
}

// linesOf returns the lines for cases with a verdict, and the line with the totals.
func linesOf(t *testing.T, o outcome, verdict string) (ids []string, total suiteLine) {
	t.Helper()
	for line := range strings.Lines(o.stdout) {
		total = suiteLine{}
		if err := json.Unmarshal([]byte(line), &total); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		if total.Verdict == verdict {
			ids = append(ids, strings.TrimPrefix(total.ID, "openai-chat/"))
		}
	}
	return ids, total
}

// faultyAdapters are the faults of the test adapter, each with the cases that fail because of it.
var faultyAdapters = map[string][]string{
	"right":                {},
	"right bytes":          {},
	"by-index-only":        {"index-zero-two-ids"},
	"by-id":                {"same-id-two-indexes"},
	"doubles-names":        {"id-name-again"},
	"empty-for-bad":        {"broken-json", "length-in-string", "length-number", "length-second-call", "two-objects"},
	"ignores-end bytes":    {},
	"invents-empty bytes":  {"eof-before-arguments"},
	"last-call":            {"interleaved"},
	"no-index-is-zero":     {"no-index-two"},
	"null-word":            {"null-after"},
	"object-word":          {"arguments-object"},
	"repairs":              {"length-in-string", "length-number", "length-second-call"},
	"slots":                {"index-from-one", "index-gap"},
	"splits-at-separators": {"line-separator"},
	"swallows-errors":      {"error-after-call"},
	"torn-letters bytes":   {"line-separator", "utf8"},
}

// TestSuiteAdapters checks that a correct accumulator passes, and that each faulty accumulator fails exactly its own
// cases.
func TestSuiteAdapters(t *testing.T) {
	t.Parallel()
	for fault, want := range faultyAdapters {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			o := adapterRun(t, fault, suiteFlags{})
			got, total := linesOf(t, o, "wrong")
			if slices.Equal(got, want) != true && len(got)+len(want) > 0 {
				t.Errorf("wrong are %q, want %q", got, want)
			}
			if total.Type != "suite" || total.None > 0 || total.Must < 40 || total.Trouble != "" || o.code != min(1, len(want)) {
				t.Errorf("code %d, totals %+v", o.code, total)
			}
			if !strings.HasPrefix(fault, "right") {
				return
			}
			if again := adapterRun(t, fault, suiteFlags{}); again.stdout != o.stdout {
				t.Error("a second run has another output")
			}
		})
	}
}

// TestSuiteTrouble checks that an adapter that breaks its rules is reported, and that nothing hangs.
func TestSuiteTrouble(t *testing.T) {
	t.Parallel()
	short := suiteLimits{start: time.Minute, answer: 50 * time.Millisecond, end: 50 * time.Millisecond}
	one := []string{"openai-chat/comments"}
	for fault, test := range map[string]struct {
		f    suiteFlags
		want string
	}{
		"silent":           {suiteFlags{limits: suiteLimits{start: 50 * time.Millisecond}}, "the adapter wrote no first line in 50ms"},
		"rubbish-first":    {suiteFlags{}, `the adapter's first line is "listening"` + "\n" + `it must look like {"adapter":1,"protocols":["openai-chat"],"takes":"url"}, or have "takes":"bytes"`},
		"unknown-protocol": {suiteFlags{}, `the adapter's protocol "morse" has no cases` + "\nuse anthropic, bedrock, cohere, gemini, ollama, openai-chat, openai-responses"},
		"dies":             {suiteFlags{}, `openai-chat/arguments-absent with the chunking byte: the adapter ended: panic: index out of range`},
		"rubbish":          {suiteFlags{}, `openai-chat/arguments-absent with the chunking byte: the answer "debug: \x1b[31mred" is invalid: invalid character 'd' looking for beginning of value`},
		"out-of-order":     {suiteFlags{}, `openai-chat/arguments-absent with the chunking byte: the adapter answered "openai-chat/one-call#whole" instead` + "\nit must answer each question before it reads the next one"},
		"twice":            {suiteFlags{}, `openai-chat/arguments-object with the chunking whole: the adapter answered "openai-chat/arguments-absent#byte" twice`},
		"hangs":            {suiteFlags{limits: short, only: []string{"openai-chat/c*"}}, "openai-chat/crlf: the adapter did not answer 3 cases in a row"},
		"stays":            {suiteFlags{limits: suiteLimits{start: time.Minute, answer: time.Minute, end: 50 * time.Millisecond}, only: one}, ""},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			o := adapterRun(t, fault, test.f)
			_, total := linesOf(t, o, "wrong")
			if total.Trouble != test.want || o.code != ifElse(test.want == "", 0, exitTrouble) {
				t.Errorf("code %d, trouble %q, want %q", o.code, total.Trouble, test.want)
			}
		})
	}
	o := adapterRun(t, "hangs", suiteFlags{limits: short, only: one})
	if wrong, total := linesOf(t, o, "wrong"); len(wrong) != 1 || total.Trouble != "" || !strings.Contains(o.stdout, `"why":"no answer with the chunking whole"`) {
		t.Errorf("one case without an answer: %s", o.stdout)
	}
	o = adapterRun(t, "twice-at-end", suiteFlags{only: []string{"openai-chat/many-deltas"}})
	if _, total := linesOf(t, o, "wrong"); !strings.Contains(total.Trouble, "twice") || o.code != exitTrouble {
		t.Errorf("code %d, trouble %q", o.code, total.Trouble)
	}
	a, so := appOf(t)
	if err := a.runSuite(context.Background(), []string{"/nonexistent/adapter"}, &suiteFlags{format: "text"}); err != nil || so().code != exitTrouble || !strings.Contains(so().stdout, "can't start the adapter") {
		t.Errorf("%v, %+v", err, so())
	}
}

// TestSuiteFormats checks the output formats and the baseline.
func TestSuiteFormats(t *testing.T) {
	t.Parallel()
	few := []string{"openai-chat/index*", "openai-chat/null*"}
	before := adapterRun(t, "by-index-only", suiteFlags{only: few})
	baseline := saved(t, "old.jsonl", before.stdout)
	text := adapterRun(t, "slots", suiteFlags{only: few, format: "text", baseline: baseline})
	for _, want := range []string{"wrong openai-chat/index-gap: ", "      must not be: {\"calls\":\"empty-slot\"}\n", "gone: openai-chat/index-zero-two-ids\n", "7 cases: 5 must, 0 may, 0 none, 2 wrong\nwrong without off-spec: 2\n"} {
		if !strings.Contains(text.stdout, want) {
			t.Errorf("no %q in\n%s", want, text.stdout)
		}
	}
	same := adapterRun(t, "by-index-only", suiteFlags{only: few, format: "text", baseline: baseline})
	if same.code != 0 || !strings.Contains(same.stdout, "openai-chat/index-zero-two-ids (in the baseline): note ") {
		t.Errorf("code %d:\n%s", same.code, same.stdout)
	}
	junit := adapterRun(t, "slots", suiteFlags{only: few, format: "junit"})
	var file struct {
		Suites []struct {
			Name     string `xml:"name,attr"`
			Failures int    `xml:"failures,attr"`
			Tests    int    `xml:"tests,attr"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(junit.stdout), &file); err != nil || len(file.Suites) != 1 || file.Suites[0].Failures != 2 || file.Suites[0].Tests != 7 || file.Suites[0].Name != "openai-chat" {
		t.Errorf("%v: %+v\n%s", err, file, junit.stdout)
	}
	md := adapterRun(t, "slots", suiteFlags{only: few, format: "md"})
	want := suiteTableHead + "\n| own\\|reader | 7 | 5 | 0 | 0 | 2 | 2 |\n\n- own\\|reader (for tests), tested with openai-chat. Wrong: openai-chat/index-from-one, openai-chat/index-gap.\n"
	if md.stdout != want {
		t.Errorf("got\n%swant\n%s", md.stdout, want)
	}
	a, _ := appOf(t)
	cut := saved(t, "cut.jsonl", before.stdout[:strings.LastIndexByte(strings.TrimSpace(before.stdout), '\n')+1])
	if err := a.runSuite(t.Context(), nil, &suiteFlags{self: true, baseline: cut, format: "text"}); err == nil || !strings.Contains(err.Error(), "the end of the file is missing") {
		t.Errorf("a baseline without its end: %v", err)
	}
}

// TestSuiteCommands checks the commands: what they print, and what they refuse.
func TestSuiteCommands(t *testing.T) {
	t.Parallel()
	_, all, _ := suite.LoadCases()
	dir := filepath.Join(t.TempDir(), "new")
	for range 2 {
		o := command(t, nil, "suite", "export", dir)
		if want := o.code == 0; want != (o.stderr == "") {
			t.Errorf("%+v", o)
		}
	}
	if o := command(t, nil, "suite", "export", dir); o.code != exitTrouble || !strings.Contains(o.stderr, "use a new directory") {
		t.Errorf("into a full directory: %+v", o)
	}
	written := 0
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, _ error) error {
		written += map[bool]int{true: 0, false: 1}[d.IsDir()]
		return nil
	})
	if want := 2*len(all) + 2; written != want {
		t.Errorf("%d files were written, want %d", written, want)
	}
	for want, args := range map[string][]string{
		"| anthropic/array |  | The input is an array":           {"list", "--format", "md"},
		`{"type":"case","id":"gemini/cut-in-chunk","tags":["cut`: {"list", "--format", "jsonl", "--only", "cut"},
		"27 cases\n":  {"list", "--only", "gemini"},
		"214 cases: ": {"run", "--self"},
	} {
		if o := command(t, nil, append([]string{"suite"}, args...)...); o.code != 0 || !strings.Contains(o.stdout, want) {
			t.Errorf("%v: no %q in code %d\n%.200s%s", args, want, o.code, o.stdout, o.stderr)
		}
	}
	for want, args := range map[string][]string{
		"needs the command of an adapter, or --self": {"run"},
		"gemin: no case matches":                     {"run", "--self", "--only", "gemin"},
		"needs one DIR, got 0":                       {"export"},
		`unknown command "rum"`:                      {"rum"},
		"use one of text, jsonl, junit, md":          {"run", "--self", "--format", "sarif"},
		"--baseline /nonexistent":                    {"run", "--self", "--baseline", "/nonexistent"},
	} {
		if o := command(t, nil, append([]string{"suite"}, args...)...); o.code != exitTrouble || !strings.Contains(o.stderr, want) {
			t.Errorf("%v: no %q in code %d\n%s", args, want, o.code, o.stderr)
		}
	}
}
