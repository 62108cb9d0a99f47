package cli

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// brokenCall returns a stream with a call that is cut off and a complete call.
func brokenCall(t *testing.T, name string) string {
	return saved(t, name, string(chat(toolChunk(`{"city":`), finishChunk, "[DONE]")))
}

func wholeCall(t *testing.T, name string) string {
	return saved(t, name, string(chat(toolChunk(`{"city":"Oslo"}`), finishChunk, "[DONE]")))
}

// TestCheckCodes checks that the exit codes have the same meanings as grep's, and that the exit code after an error
// is never 0.
func TestCheckCodes(t *testing.T) {
	bad, good := brokenCall(t, "bad.sse"), wholeCall(t, "good.sse")
	none := saved(t, "none.txt", "no stream of a model\n")
	empty := saved(t, "empty", "")
	damaged := saved(t, "damaged.tsc", `{"toolscope":1}`+"\n"+`{"x":1,"d":`+quoted(read(t, good))+`,"end":"eof"}`+"\n{\"x\":1,\n")
	missing := filepath.Join(t.TempDir(), "missing")
	for _, c := range []struct {
		code int
		says string // text on standard output, or else on standard error
		args []string
	}{
		{0, "nothing found in 1 call, 1 turn and 1 file", []string{good}},
		{1, "bad.sse:3: turn 1, call 1 f: error FIN_CONTRADICTED", []string{bad}},
		{1, "toolscope explain FIN_CONTRADICTED", []string{good, bad}},
		{2, "trouble: some input was not read: see standard error", []string{missing}},
		{2, "trouble: some input was not read: see standard error", []string{missing, none}},
		{2, "trouble: some input has no model traffic: see standard error", []string{good, none}},
		{2, "missing", []string{good, missing}},
		{2, "FIN_CONTRADICTED", []string{missing, bad}},
		{2, "nothing recognised", []string{none}},
		{2, "nothing to show", []string{empty}},
		{2, "damaged line 3", []string{damaged}},
		{2, "needs a FILE", nil},
		{2, "unknown severity or code", []string{"--fail-on", "critical", good}},
		{2, "did you mean ARGS_CUT", []string{"--fail-on", "error,ARGS_CUTT", good}},
		{2, "one of text, jsonl, junit, sarif", []string{"--format", "xml", good}},
		{2, "unknown flag", []string{"--wrong", good}},
		{2, "--max-cost", []string{"--max-cost", "-1", good}},
		{2, "--baseline", []string{"--baseline", missing, good}},
		{2, "not the output of check", []string{"--baseline", bad, good}},
		{0, "1 ignored by --fail-on ARGS_DOUBLE", []string{"--fail-on", "ARGS_DOUBLE", bad}},
		{1, "FIN_CONTRADICTED", []string{"--fail-on", "fin_contradicted", bad}},
		{1, "FIN_CONTRADICTED", []string{"--fail-on", "error", bad}},
		{0, "", []string{"--expect-tool", "f", good}},
		{1, "TOOL_NOT_CALLED: the tool g was not called", []string{"--expect-tool", "g", "--expect-tool", "f", good}},
		{1, "1 call not complete", []string{"--fail-on", "ARGS_DOUBLE", "--expect-tool", "f", bad}},
		{1, "TOOL_FORBIDDEN: the tool f was called", []string{"--forbid-tool", "f", good}},
		{0, "", []string{"--forbid-tool", "g", good}},
		{1, "COST_UNKNOWN", []string{"--max-cost", "1", good}},
	} {
		out := command(t, nil, append([]string{"check"}, c.args...)...)
		if out.code != c.code || !strings.Contains(out.stdout+out.stderr, c.says) {
			t.Errorf("%q: exit code %d, want %d and %q; stdout\n%sstderr\n%s", c.args, out.code, c.code, c.says, out.stdout, out.stderr)
		}
	}
	if out := command(t, []byte(read(t, bad)), "check"); out.code != 1 || !strings.HasPrefix(out.stdout, "stdin: turn 1, call 1 f: ") {
		t.Errorf("standard input: %+v", out)
	}
}

func TestCheckCost(t *testing.T) {
	file := saved(t, "a.sse", strings.ReplaceAll(anthropicAnswer, "claude-x", "claude-sonnet-4-5"))
	if out := command(t, nil, "check", "--max-cost", "0.5", file); out.code != 0 {
		t.Errorf("%+v", out)
	}
	if out := command(t, nil, "check", "--max-cost", "0.0000001", file); out.code != 1 || !strings.Contains(out.stdout, "COST_EXCEEDED") {
		t.Errorf("%+v", out)
	}
}

// TestCheckBaseline checks that known findings do not make the check fail, even if they moved. Each known finding
// must match only one finding. Known findings that are gone must be listed, unless some files could not be read.
func TestCheckBaseline(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run-17.sse")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	one := read(t, brokenCall(t, "x.sse"))
	for _, format := range []string{"jsonl", "sarif"} {
		write(run, one)
		known := filepath.Join(dir, "known."+format)
		write(known, command(t, nil, "check", "--format", format, run).stdout)
		later := filepath.Join(dir, "run-18.sse")
		write(later, ": a comment\n\n: and another\n\n"+strings.ReplaceAll(one, "call_1", "call_9"))
		if out := command(t, nil, "check", "--baseline", known, later); out.code != 0 || !strings.Contains(out.stdout, "1 in the baseline") {
			t.Errorf("%s: %+v", format, out)
		}
		if out := command(t, nil, "check", "--baseline", known, later, run); out.code != 1 {
			t.Errorf("%s: one more of the same: %+v", format, out)
		}
		write(later, strings.ReplaceAll(one, `"name":"f"`, `"name":"g"`))
		if out := command(t, nil, "check", "--baseline", known, later); out.code != 1 || !strings.Contains(out.stdout, "gone: "+run+": f: FIN_CONTRADICTED") {
			t.Errorf("%s: another tool: %+v", format, out)
		}
		if out := command(t, nil, "check", "--baseline", known, filepath.Join(dir, "none")); out.code != 2 || strings.Contains(out.stdout, "gone") {
			t.Errorf("%s: nothing could be read: %+v", format, out)
		}
	}
	if out := command(t, nil, "check", "--baseline", filepath.Join(dir, "known.sarif"), "--format", "sarif", wholeCall(t, "y.sse")); out.code != 0 || !strings.Contains(out.stdout, `"absent"`) {
		t.Errorf("gone in SARIF: %+v", out)
	}
}

// TestCheckPlaces checks that the byte range of a finding is the range of its frame, in a body and in a capture.
func TestCheckPlaces(t *testing.T) {
	type line struct {
		Type, Code string
		Start, End int
		Turn, Line int
	}
	for _, c := range []struct {
		file string
		turn int
		want string
	}{
		{brokenCall(t, "a.sse"), 1, "data: " + finishChunk},
		{twoTurns(t), 1, `{"x":1,"t":5,`},
		{twoTurns(t), 2, `{"x":2,"t":12,`},
	} {
		file, want := c.file, c.want
		text, found := read(t, file), false
		for row := range strings.Lines(command(t, nil, "check", "--format", "jsonl", file).stdout) {
			var l line
			if err := json.Unmarshal([]byte(row), &l); err != nil {
				t.Fatal(err)
			}
			if l.Type != "finding" || l.End == 0 || l.Turn != c.turn {
				continue
			}
			found = true
			if got := text[l.Start:l.End]; !strings.HasPrefix(got, want) || strings.Count(text[:l.Start], "\n")+1 != l.Line {
				t.Errorf("%s: %s stands in line %d: %.60q", file, l.Code, l.Line, got)
			}
		}
		if !found {
			t.Errorf("%s: no finding of turn %d has a place", file, c.turn)
		}
	}
}

// TestCheckSARIF checks that results refer to existing rules, use URIs for files, and count lines from 1.
func TestCheckSARIF(t *testing.T) {
	bad := brokenCall(t, "two words.sse")
	out := command(t, nil, "check", "--format", "sarif", bad)
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Invocations []struct{ ExecutionSuccessful bool }
			Results     []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine, ByteOffset, ByteLength int }
					}
				}
				PartialFingerprints map[string]string
			}
		}
	}
	if err := json.Unmarshal([]byte(out.stdout), &log); err != nil || log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatal(err, out.stdout)
	}
	run := log.Runs[0]
	if len(run.Results) == 0 || !run.Invocations[0].ExecutionSuccessful {
		t.Fatalf("%+v", run)
	}
	for _, r := range run.Results {
		at := r.Locations[0].PhysicalLocation
		if run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID || r.Level != "error" || r.Message.Text == "" || len(r.PartialFingerprints) != 1 ||
			!strings.HasPrefix(at.ArtifactLocation.URI, "file:///") || !strings.HasSuffix(at.ArtifactLocation.URI, "/two%20words.sse") || at.Region.StartLine < 1 || at.Region.ByteLength < 1 {
			t.Errorf("%+v", r)
		}
	}
	if out := command(t, nil, "check", "--format", "sarif", saved(t, "none", "")); !strings.Contains(out.stdout, `"executionSuccessful": false`) || out.code != 2 {
		t.Errorf("trouble: %+v", out)
	}
}

// TestCheckJUnit checks that the totals of a suite agree with its cases.
func TestCheckJUnit(t *testing.T) {
	out := command(t, nil, "check", "--format", "junit", "--expect-tool", "g", brokenCall(t, "bad.sse"), wholeCall(t, "good.sse"), saved(t, "none", ""))
	var all struct {
		Suites []struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Errors   int    `xml:"errors,attr"`
			Cases    []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Type string `xml:"type,attr"`
					Text string `xml:",chardata"`
				} `xml:"failure"`
				Error *struct{} `xml:"error"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(out.stdout), &all); err != nil || out.code != 2 {
		t.Fatalf("%v: %+v", err, out)
	}
	var got []string
	for _, s := range all.Suites {
		failures, errs := 0, 0
		for _, c := range s.Cases {
			if c.Failure != nil {
				failures++
				got = append(got, c.Name+": "+c.Failure.Type)
			}
			if c.Error != nil {
				errs++
				got = append(got, c.Name+": error")
			}
		}
		if s.Tests != len(s.Cases) || s.Failures != failures || s.Errors != errs {
			t.Errorf("%+v", s)
		}
	}
	if want := "turn 1 openai-chat · gpt-x: FIN_CONTRADICTED, read: error, demands: TOOL_NOT_CALLED"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestCheckPlacesInLogs checks that a finding in a log has the line numbers of its event.
func TestCheckPlacesInLogs(t *testing.T) {
	body := string(chat(toolChunk(`{"city":`), finishChunk, "[DONE]"))
	for _, s := range logShapes {
		switch s.name {
		case "iso only", "docker json-file, bare lines", "pino", "Kubernetes CRI, in parts":
		default:
			continue
		}
		text := noise[0] + logOf(s, false, logged{body, "req_1", 7})
		file := saved(t, "log", text)
		out := command(t, nil, "check", file)
		line := 1
		for i, l := range strings.Split(text, "\n") {
			if strings.Contains(l, "finish_reason") && strings.Contains(l, "tool_calls\\\"}") || strings.Contains(l, `"finish_reason":"tool_calls"`) {
				line = i + 1
			}
		}
		if want := file + ":" + strconv.Itoa(line) + ": turn 1"; line < 2 || !strings.Contains(out.stdout, want) {
			t.Errorf("%s: no %q in %s", s.name, want, out.stdout)
		}
	}
}

// TestCheckTrouble checks that a damaged file and a file without traffic are reported as two problems.
func TestCheckTrouble(t *testing.T) {
	good := wholeCall(t, "good.sse")
	damaged := saved(t, "damaged.tsc", `{"toolscope":1}`+"\n"+`{"x":1,"d":`+quoted(read(t, good))+`,"end":"eof"}`+"\n{\"x\":1,\n")
	none := saved(t, "none.txt", "no stream of a model\n")
	for file, want := range map[string]string{damaged: "the file is damaged: ", none: "no model traffic was recognised"} {
		out := command(t, nil, "check", "--format", "junit", file)
		if out.code != exitTrouble || !strings.Contains(out.stdout, want) || strings.Contains(out.stdout, "damaged, or") {
			t.Errorf("%s: %d, no %q in %s", file, out.code, want, out.stdout)
		}
	}
}

// TestOldBaseline checks that a baseline with fingerprints of an older version is refused, with advice.
func TestOldBaseline(t *testing.T) {
	old := saved(t, "old.jsonl", `{"type":"finding","code":"ARGS_BROKEN","message":"x","fingerprint":"8f3a8f3a8f3a8f3a8f3a8f3a"}`+"\n"+`{"type":"check"}`+"\n")
	if out := command(t, nil, "check", "--baseline", old, "testdata/malformed.sse"); out.code != 2 || !strings.Contains(out.stderr, "from an older version of toolscope") {
		t.Errorf("%+v", out)
	}
}

// TestOldFlags checks that the old names of flags work, and that scripts see no note about them.
func TestOldFlags(t *testing.T) {
	want := command(t, nil, "print", "--from", "body", "--protocol", "openai-chat", "testdata/malformed.sse")
	got := command(t, nil, "print", "--as", "body", "--dialect", "openai-chat", "testdata/malformed.sse")
	if got.stdout != want.stdout || got.stderr != want.stderr || got.code != want.code {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if out := command(t, nil, "help", "dialects"); out.stdout != command(t, nil, "help", "protocols").stdout || out.stderr != "" {
		t.Errorf("%+v", out)
	}
}

// TestOldFlagNotes checks that a terminal gets a note about an old name, but not if the same name is new in the command.
func TestOldFlagNotes(t *testing.T) {
	for _, c := range []struct {
		args []string
		note string
	}{
		{[]string{"print", "--as", "body", "testdata/malformed.sse"}, "toolscope: --as is now called --from\n"},
		{[]string{"help", "dialects"}, "toolscope: help dialects is now called help protocols\n"},
		{[]string{"export", "testdata/malformed.sse", "--as", "md", "-o", filepath.Join(t.TempDir(), "report.md")}, ""},
		{[]string{"export", "testdata/malformed.sse", "--dialect", "openai-chat", "--as", "md", "-o", filepath.Join(t.TempDir(), "report.md")}, "toolscope: --dialect is now called --protocol\n"},
	} {
		a, result := appOf(t)
		a.stderrIsTerminal = true
		root := a.rootCommand()
		root.SetArgs(c.args)
		root.SetOut(io.Discard)
		if a.finishRun(root.Execute()); result().stderr != c.note {
			t.Errorf("%v: %+v, want %q", c.args, result(), c.note)
		}
	}
}
