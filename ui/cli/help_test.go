package cli

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/present"
)

// TestHelpFits checks that no help page is wider than wrapped prose. For every flag that can have an invalid value,
// there must be a description of the valid values.
func TestHelpFits(t *testing.T) {
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		page := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		for line := range strings.Lines(command(t, nil, page...).stdout) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns {
				t.Errorf("%v: %d columns: %s", page, n, line)
			}
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if kind := f.Value.Type(); wantedOf[kind] == "" && !slices.Contains([]string{"string", "stringArray"}, kind) {
				t.Errorf("%v: nothing is said of a wrong %s", page, kind)
			}
		})
		for _, each := range cmd.Commands() {
			look(each)
		}
	}
	look(new(app).linkParts().rootCommand())
}

// TestFindingsHelp checks that the help page has every code with its severities and its party at fault, and fits a
// terminal.
func TestFindingsHelp(t *testing.T) {
	out := command(t, nil, "help", "findings").stdout
	wantNarrow(t, out)
	lines := strings.Split(out, "\n")
	for _, d := range providers.Findings() {
		found := false
		for _, line := range lines {
			words := strings.Fields(line)
			found = found || len(words) > 2 && words[0] == d.Code && strings.Contains(line, severitiesOf(d)) && words[len(words)-1] == d.By.String()
		}
		if !found {
			t.Errorf("no line for %s", d.Code)
		}
	}
}

// TestExplain checks that each code is explained in full, in upper and lower case.
func TestExplain(t *testing.T) {
	for _, d := range providers.Findings() {
		got := command(t, nil, "explain", strings.ToLower(d.Code))
		same(t, 0, "exit code", got.code, 0)
		wantNarrow(t, got.stdout)
		flat := strings.Join(strings.Fields(got.stdout), " ")
		if (d.SeverityNote == "") != (len(d.OtherSeverities) == 0) {
			t.Errorf("%s: a SeverityNote says when it has one of %v: %q", d.Code, d.OtherSeverities, d.SeverityNote)
		}
		for _, s := range d.OtherSeverities {
			if !strings.Contains(d.SeverityNote, s.String()+" i") { // matches both "info if" and "info in"
				t.Errorf("%s: when is it %s? %q", d.Code, s, d.SeverityNote)
			}
		}
		want := d.Code + " severity " + present.SeverityText(d) + " by " + d.By.String() + ", unless the finding names another party means " + d.Meaning + " do " + d.Advice
		if !strings.HasPrefix(flat, want) {
			t.Errorf("%s\nwant %s", flat, want)
		}
	}
	double := providers.Findings()[slices.IndexFunc(providers.Findings(), func(d *stream.Diagnosis) bool { return d.Code == "DOUBLE_ENCODED" })]
	same(t, 0, "severities", present.SeverityText(double), "error; warn if the provider refused the request for another reason; info if another host accepted the request")
	if out := command(t, nil, "explain", "DUP_KEYS").stdout; !strings.Contains(out, "replay    a loss of severity medium") {
		t.Errorf("not told as a loss: %s", out)
	}
	for args, want := range map[string]string{
		"":                `explain: needs one CODE`,
		"A B":             `explain: needs one CODE`,
		"ARGS_BROKE":      `explain: unknown code "ARGS_BROKE"; did you mean ARGS_BROKEN?`,
		"no_terminatro":   `explain: unknown code "no_terminatro"; did you mean NO_TERMINATOR?`,
		"zzz":             `explain: unknown code "zzz"` + "\n",
		"PROVIDER_ERRORS": `did you mean PROVIDER_ERROR?` + "\n",
	} {
		got := command(t, nil, append([]string{"explain"}, strings.Fields(args)...)...)
		same(t, 0, args+": exit code", got.code, 2)
		if !strings.Contains(got.stderr, want) || strings.Count(got.stderr, "\n") > 3 || got.stdout != "" {
			t.Errorf("explain %s: %q", args, got.stderr)
		}
	}
}

// TestCulprits checks that every finding names a party at fault.
func TestCulprits(t *testing.T) {
	calls, turns := command(t, nil, "print", "--format", "jsonl", "testdata/malformed.sse").decode(t)
	got := map[string]string{}
	for _, f := range append(calls[0].Findings, turns[0].Findings...) {
		got[f.Code] = f.By
	}
	same(t, 0, "by", got["ARGS_BROKEN"], "model")
	calls, _ = command(t, []byte(chunkWithoutIndex), "print", "--format", "jsonl", "-").decode(t)
	for _, f := range calls[0].Findings {
		got[f.Code] = f.By
	}
	same(t, 0, "by", got["ID_MISSING"], "gateway")
	page := command(t, nil, "help", "jsonl").stdout
	_, words, _ := strings.Cut(page, "by is")
	words, _, _ = strings.Cut(words, "EARLY_WRONG")
	for _, who := range stream.Parties {
		if !strings.Contains(words, who.String()) {
			t.Errorf("the page on jsonl does not say that by may be %s: %s", who, words)
		}
	}
}

const chunkWithoutIndex = `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}}]}

data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

`
