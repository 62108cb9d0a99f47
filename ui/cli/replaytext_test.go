package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"toolscope/providers"
	"toolscope/providers/client"
	"toolscope/providers/replay"
)

// TestReplayText checks that the complete preview is shown for one target and one policy.
func TestReplayText(t *testing.T) {
	out := command(t, nil, "replay", "--to", "anthropic", "testdata/malformed.sse")
	want, err := os.ReadFile("testdata/replay.txt")
	if err != nil {
		t.Fatal(err)
	}
	if out.stdout != string(want) {
		t.Errorf("replay --to anthropic testdata/malformed.sse shows\n%swant\n%s", out.stdout, want)
	}
	out = command(t, nil, "replay", "--to", "anthropic", "--policy", "strict", "testdata/malformed.sse")
	for _, line := range []string{"    outcome    throws\n", "    refused    messages.N.content.M.tool_use.input: ", "    body       nothing is sent\n"} {
		if !strings.Contains(out.stdout, line) {
			t.Errorf("no %q in\n%s", line, out.stdout)
		}
	}
}

// TestReplayTable checks that there is a line for each target and policy, with the worst loss first.
func TestReplayTable(t *testing.T) {
	out := command(t, nil, "replay", "--policy", "behaviours", "--to", "mistral", "testdata/malformed.sse").stdout
	want := `testdata/malformed.sse  turn 1  openai-chat · gpt-x
  call 1  save_note  malformed  47 B  to mistral
    preserve       verbatim  unknown        low ID_REWRITTEN
    wrap           wrapped   accepted rule  medium ARGS_WRAPPED ·
                                            low ID_REWRITTEN
    wrap-raw       wrapped   accepted rule  medium ARGS_WRAPPED ·
                                            low ID_REWRITTEN
    empty          emptied   accepted rule  critical ARGS_REPLACED_BY_EMPTY ·
                                            low ID_REWRITTEN
    empty-warn     verbatim  unknown        low ID_REWRITTEN
    drop           dropped   refused rule   critical CALL_DROPPED, ORPHAN_RESULT
    repair         repaired  accepted rule  high ARGS_REPAIRED ·
                                            low ID_REWRITTEN
    double-encode  wrapped   unknown        critical DOUBLE_ENCODED ·
                                            low ID_REWRITTEN
    strict         throws    unknown
`
	if out != want {
		t.Errorf("shows\n%swant\n%s", out, want)
	}
	whole := command(t, nil, "replay", "--whole", "testdata/nested.json").stdout
	if !strings.Contains(whole, "  whole turn  2 calls  policy preserve\n") || !strings.Contains(whole, "low ID_REWRITTEN×2\n") {
		t.Errorf("shows\n%s", whole)
	}
	all := command(t, nil, "replay", "--policy", "all", "testdata/malformed.sse", "demo/parallel.tsc").stdout
	if n, want := strings.Count(all, "\n"), previewsOfOne(); n < 3*want {
		t.Errorf("%d lines, want %d for each of three calls:\n%s", n, want, all)
	}
	wantNarrow(t, all)
}

// TestClientVersions checks that a preview for a client names the version that was run, or has a note that no version
// was run. The help must list versions that were not run, and the version of Node.
func TestClientVersions(t *testing.T) {
	version := client.MustFind("codex").Version
	for _, test := range []struct{ policy, text, json string }{
		{"preserve", "policy preserve\n", `"policy":"preserve","outcome"`},
		{"codex", "policy codex " + version + "\n", `"policy":"codex","client_version":"` + version + `","outcome":"unknown"`},
		{"openai-js", "policy openai-js " + client.MustFind("openai-js").Version + "\n", `"policy":"openai-js","client_version":"` + client.MustFind("openai-js").Version + `","outcome":"unknown"`},
		{"openai-agents-js", "policy openai-agents-js " + client.MustFind("openai-agents-js").Version + "\n", `","known":"ran","outcome"`},
		{"crush", "policy crush (read)\n", `"policy":"crush","known":"read in its source","outcome"`},
	} {
		args := []string{"replay", "--to", "openai-responses", "--policy", test.policy, "testdata/malformed.sse"}
		if out := command(t, nil, args...).stdout; !strings.Contains(out, test.text) {
			t.Errorf("no %q in\n%s", test.text, out)
		}
		if out := command(t, nil, append(args, "--format", "jsonl")...).stdout; !strings.Contains(out, test.json) {
			t.Errorf("no %s in\n%s", test.json, out)
		}
	}
	table := command(t, nil, "replay", "--to", "all", "--policy", "pi", "testdata/malformed.sse").stdout
	if words := "\n\nclients: pi " + client.MustFind("pi").Version + ", pi " + client.MustFind("pi").Version + " (read) to bedrock\n"; !strings.Contains(table, words) {
		t.Errorf("no %q in\n%s", words, table)
	}
	help := strings.Join(strings.Fields(command(t, nil, "help", "policies").stdout), " ")
	for i := range replay.Clients {
		p := &replay.Clients[i]
		r, later := p.Client.Newer()
		if words := r.Version + ", published on " + r.Day; later && !strings.Contains(help, words) {
			t.Errorf("no %q for %s", words, p.Name)
		}
		if words := p.Client.Version + " on Node " + p.Client.Node(); p.Client.Node() != "" && !strings.Contains(help, words) {
			t.Errorf("no %q for %s", words, p.Name)
		}
	}
}

// wantNarrow checks that text fits a terminal of 80 columns.
func wantNarrow(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := ansi.StringWidth(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

// TestReplayHelp checks that the help pages list all targets, policies and losses, and fit a terminal.
func TestReplayHelp(t *testing.T) {
	pages := map[string][]string{}
	for _, to := range providers.Targets() {
		pages["targets"] = append(pages["targets"], to.Name, to.Title, to.IDs.Class, to.Names.Class)
	}
	for _, p := range replay.Policies {
		pages["policies"] = append(pages["policies"], p.Name, strings.Fields(p.Description)[0])
		if p.Client == nil {
			pages["policies"] = append(pages["policies"], strings.Fields(p.Seen)[0])
		} else {
			pages["policies"] = append(pages["policies"], p.Client.Title, p.Client.Version, p.Known.String())
		}
	}
	for _, c := range replay.Kinds {
		pages["losses"] = append(pages["losses"], c.Code, c.Severity.String())
	}
	for name, words := range pages {
		out := command(t, nil, "help", name).stdout
		wantNarrow(t, out)
		for _, word := range words {
			if !strings.Contains(out, word) {
				t.Errorf("help %s: no %q in\n%s", name, word, out)
			}
		}
	}
	if out := command(t, nil, "help", "targets").stdout; strings.Count(strings.Join(strings.Fields(out), " "), "at most 32 nested objects") != 2 {
		t.Errorf("help targets: not how deep arguments may nest in\n%s", out)
	}
	losses := command(t, nil, "help", "losses").stdout
	for i, code := range []string{"\ncritical\n", "  CALL_DROPPED ", "\nmedium\n", "\ninfo\n", "  WHITESPACE "} {
		at := strings.Index(losses, code)
		if at < 0 {
			t.Fatalf("%d: no %q behind the one before in\n%s", i, code, losses)
		}
		losses = losses[at:]
	}
}

func TestIndented(t *testing.T) {
	for text, want := range map[string]string{
		``:                               ``,
		`{}`:                             `{}`,
		`{"a":[1,{"b":null}],"c":"\n"}`:  "{|  \"a\": [|    1,|    {|      \"b\": null|    }|  ],|  \"c\": \"\\n\"|}",
		"{\n \"a\" : 1 }":                "{|  \"a\": 1|}",
		`{"a":1,"b":[2`:                  "{|  \"a\": 1,|  \"b\": [|    2",
		`{"a":1}{"b":2}`:                 "{|  \"a\": 1|}|{|  \"b\": 2|}",
		`{"a":"b"c", "d"}`:               "{|  \"a\": \"b\"c\", \"d\"}",
		"*** Begin\n+\tx\x1b":            "*** Begin|+␉x␛",
		"{\"a\":\"\u202e\x7f\xff\"}":     `{|  "a": "\u202e\u007f\ufffd"|}`,
		strings.Repeat("[", 30) + "null": deep(30) + "null",
	} {
		if got := strings.TrimSuffix(strings.ReplaceAll(indentedText([]byte(text)), "\n", "|"), "|"); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// deep returns n opening brackets of arrays, one per line, and the indent of their contents.
func deep(n int) (text string) {
	for i := range n {
		text += strings.Repeat(" ", min(2*i, maxIndent)) + "[|"
	}
	return text + strings.Repeat(" ", min(2*n, maxIndent))
}

func TestProse(t *testing.T) {
	var text strings.Builder
	w := bufio.NewWriter(&text)
	l := lineWriter{to: w}
	long := strings.Repeat("x", 90)
	l.writeWrapped("  lead  ", "one "+strings.Repeat("words ", 14)+long+" two\u2028three\x1b")
	l.writeWrapped("  none  ", "")
	w.Flush()
	want := "  lead  one" + strings.Repeat(" words", 11) + "\n        words words words\n        " + long + "\n        two⟨U+2028⟩three␛\n  none\n"
	if text.String() != want {
		t.Errorf("got\n%swant\n%s", text.String(), want)
	}
}

func TestSpans(t *testing.T) {
	for want, numbers := range map[string][]int{
		"turn 3": {3}, "turns 1 to 2": {1, 2}, "turns 1, 3 to 5, 9": {1, 3, 4, 5, 9}, "turns ": nil,
	} {
		same(t, 0, fmt.Sprint(numbers), numberRanges("turn", numbers), want)
	}
}
