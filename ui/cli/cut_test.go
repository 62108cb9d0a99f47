package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/stream"
)

// inspected returns an inspector that has read a capture.
func inspected(t *testing.T, data []byte) *providers.Inspector {
	t.Helper()
	src, err := capture.Open(context.Background(), "-", capture.Options{Stdin: bytes.NewReader(data)})
	if err != nil {
		t.Fatal(err)
	}
	in := new(providers.Inspector)
	if err := inspectSource(src, in, func() bool { return true }); err != nil {
		t.Fatal(err)
	}
	return in
}

// toldOf describes the turns and calls in a session, with the findings about the calls.
func toldOf(s *stream.Session) string {
	var b strings.Builder
	for _, t := range s.Turns {
		fmt.Fprintf(&b, "turn %d %s by %s %q\n", t.Number, t.Phase(), t.EndedBy, t.Text)
		for _, c := range t.Calls {
			fmt.Fprintf(&b, "  %s %s %s %q %d deltas", c.Name, c.Phase(), c.Status(), c.Args(), c.Deltas())
			for _, f := range c.Findings {
				fmt.Fprintf(&b, " %s %s", f.Code, f.By)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// TestCutIsTheMoment checks most demo captures, cut at every third delta. A cut capture must have the same turns and
// calls as the view at that moment.
func TestCutIsTheMoment(t *testing.T) {
	for _, name := range []string{"parallel", "cut", "index-zero", "malformed", "early", "schema", "history"} {
		whole := inspected(t, []byte(readDemo(t, name)))
		for _, turn := range whole.Session().Turns {
			for _, c := range turn.Calls {
				for n := 0; n < c.Deltas(); n += 3 {
					then := whole.View().At(whole.View().AfterEvent(int(c.DeltaEvent(n))))
					data, err := cutView(then)
					if err != nil {
						t.Fatal(err)
					}
					then.EndHere()
					if diff := cmp.Diff(toldOf(then.Session()), toldOf(inspected(t, data).Session())); diff != "" {
						t.Fatalf("%s, %v, delta %d (-moment +cut):\n%s", name, c.Ref(), n+1, diff)
					}
				}
			}
		}
	}
}

// TestCut checks the contents of cut captures, and that only toolscope is at fault.
func TestCut(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		demo, args  string
		has, hasNot []string
	}{
		{"parallel", "--at-delta 9", []string{"60 B in 9 deltas", "aborted", "STOPPED_HERE"}, []string{"NO_TERMINATOR", "run_tests"}},
		{"parallel", "--at-delta 3 --call 2", []string{"complete      write_file", "aborted       run_tests", "in 3 deltas"}, nil},
		{"parallel", "--at-ms 1000", []string{"STOPPED_HERE", "aborted       write_file"}, []string{"run_tests"}},
		{"parallel", "--fault cut@30", []string{"BENT", "STOPPED_HERE", "22 deltas"}, []string{"CONNECTION_LOST"}},
		{"parallel", "--fault empty-args", []string{"BENT", "no arguments"}, nil},
		{"parallel", "--fault merge-index", []string{"complete      run_tests"}, []string{"BENT"}},
		{"cut", "--fault bad-utf8", []string{"BENT"}, nil},
	} {
		file := filepath.Join(dir, fmt.Sprint(len(c.args), c.demo, c.has)+".tsc")
		out := command(t, nil, append([]string{"cut", saved(t, c.demo+".tsc", readDemo(t, c.demo)), "-o", file}, strings.Fields(c.args)...)...)
		if out.code != 0 {
			t.Errorf("%s %s: %d %s", c.demo, c.args, out.code, out.stderr)
			continue
		}
		text := command(t, nil, "print", file).stdout
		for _, want := range c.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s %s has no %q:\n%s", c.demo, c.args, want, text)
			}
		}
		for _, not := range c.hasNot {
			if strings.Contains(text, not) {
				t.Errorf("%s %s has %q:\n%s", c.demo, c.args, not, text)
			}
		}
	}
}

// TestCutWrong checks that impossible cuts are reported, and that no file is overwritten.
func TestCutWrong(t *testing.T) {
	file, there := saved(t, "p.tsc", readDemo(t, "parallel")), saved(t, "there.tsc", "mine")
	for args, want := range map[string]string{
		"":                                        "needs a moment or a fault",
		"--at-delta 9":                            "needs an output file",
		"--at-delta 9 --at-ms 4 -o x":             "one of",
		"--at-delta 99 -o x":                      "has 56 deltas",
		"--at-delta 1 --call 9 -o x":              "has 2 calls",
		"--at-delta 1 --turn 9 -o x":              "has 1 turn",
		"--at-ms soon -o x":                       "a number of milliseconds",
		"--fault status=429 -o x":                 "serve or proxy",
		"--fault nothing -o x":                    "unknown fault",
		"--at-delta 1 -o " + there:                "the file exists",
		"--at-delta 1 -o " + t.TempDir() + "/a/b": "a/b",
	} {
		out := command(t, nil, append([]string{"cut", file}, strings.Fields(args)...)...)
		if out.code == 0 || !strings.Contains(out.stderr, want) {
			t.Errorf("%q: %d %s", args, out.code, out.stderr)
		}
	}
	if left, err := os.ReadFile(there); err != nil || string(left) != "mine" {
		t.Errorf("%q is left: %v", left, err)
	}
	if _, err := os.Lstat("x"); err == nil {
		t.Error("a file was made")
	}
}

// TestCutLinesBlameNobody checks a log line that stops in the middle. The party at fault is unknown, because the
// writer of the log may have cut the line. In a response body, the same bytes are the provider's fault.
func TestCutLinesBlameNobody(t *testing.T) {
	payloads := []string{
		`{"type":"message_start","message":{"id":"msg_a","type":"message","role":"assistant","content":[],"model":"m"}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","te`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`,
		`{"type":"message_stop"}`,
	}
	dir := t.TempDir()
	for _, c := range []struct{ name, line, by string }{
		{"a.log", "2026-11-20T01:02:%02d.000Z data: %s\n", "unknown"},
		{"a.sse", "data: %[2]s\n\n", "provider"},
	} {
		var text strings.Builder
		for i, p := range payloads {
			fmt.Fprintf(&text, c.line, i, p)
		}
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		got := command(t, nil, "print", "--format", "jsonl", path)
		if want := `"code":"FRAME_UNDECODABLE","severity":"error","by":"` + c.by + `"`; strings.Count(got.stdout, want) != 1 {
			t.Errorf("%s: no %s in\n%s", c.name, want, got.stdout)
		}
	}
}
