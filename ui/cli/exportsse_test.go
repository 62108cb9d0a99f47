package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolscope/providers"
)

// foundIn returns the findings that print reports for an input, by turn and call.
func foundIn(t *testing.T, text []byte, flags ...string) (codes []string, calls []callJSON) {
	t.Helper()
	calls, turns := command(t, text, append([]string{"print", "--format", "jsonl", "-"}, flags...)...).decode(t)
	for _, c := range calls {
		for _, f := range c.Findings {
			codes = append(codes, string(rune('0'+c.Call))+f.Code)
		}
	}
	for _, u := range turns {
		for _, f := range u.Findings {
			codes = append(codes, f.Code)
		}
	}
	return codes, calls
}

// longTexts returns the strings in a JSON value that are too long to occur by chance.
func longTexts(v any) (all []string) {
	switch v := v.(type) {
	case string:
		if len(v) >= 9 && v != "chatcmpl-tool-1" && strings.ContainsAny(v, " aeiouAEIOU") {
			all = append(all, v)
		}
	case []any:
		for _, e := range v {
			all = append(all, longTexts(e)...)
		}
	case map[string]any:
		for k, e := range v {
			all = append(append(all, longTexts(k)...), longTexts(e)...)
		}
	}
	return all
}

// wantRepro checks the repro of a file. It must be malformed in the same way, have the same length, and contain
// none of the contents of calls.
func wantRepro(t *testing.T, file string) {
	t.Helper()
	body := read(t, file)
	out := command(t, nil, "export", file, "--as", "sse", "--turn", "1")
	if out.code != 0 || out.stderr != "" || len(out.stdout) != len(body) {
		t.Fatalf("exit code %d, %q; %d bytes of %d", out.code, out.stderr, len(out.stdout), len(body))
	}
	before, calls := foundIn(t, []byte(body))
	after, stands := foundIn(t, []byte(out.stdout))
	if strings.Join(before, " ") != strings.Join(after, " ") || len(calls) != len(stands) {
		t.Fatalf("found is %q, in the repro %q", before, after)
	}
	for i, c := range calls {
		if s := stands[i]; c.Status != s.Status || c.Syntax != s.Syntax || c.Phase != s.Phase || c.Deltas != s.Deltas || len(c.Raw) != len(s.Raw) {
			t.Errorf("call %d is %s, %s in %d deltas; in the repro %s, %s in %d", i+1, c.Status, c.Syntax, c.Deltas, s.Status, s.Syntax, s.Deltas)
		}
		if c.Kind != "function" && c.Kind != "custom" || c.Name == "parallel" { // the protocol defines these names, so they are not secret
			continue
		}
		for _, text := range longTexts([]any{c.ID, c.Name, c.Arguments}) {
			if strings.Contains(out.stdout, text) {
				t.Errorf("call %d: %q is in the repro", i+1, text)
			}
		}
	}
}

// TestReproCorpus checks the repro of every third recorded stream or, with TOOLSCOPE_LONG=1, of each one.
func TestReproCorpus(t *testing.T) {
	corpus := os.Getenv("TOOLSCOPE_CORPUS")
	if corpus == "" {
		t.Skip("TOOLSCOPE_CORPUS is not set")
	}
	files, _ := filepath.Glob(filepath.Join(corpus, "dev", "*", "*"))
	if len(files) < 157 {
		t.Fatalf("%d files", len(files))
	}
	few := &sample{every: 3}
	for _, file := range files {
		if few.has(file) {
			t.Run(filepath.Base(file), func(t *testing.T) { wantRepro(t, file) })
		}
	}
}

// TestReproDemos checks the repros of the demo's captures. The responses are first extracted from the captures.
func TestReproDemos(t *testing.T) {
	seen := 0
	for _, s := range scenarios {
		file := saved(t, s.name+".tsc", readDemo(t, s.name))
		in := new(providers.Inspector)
		a, _ := appOf(t)
		src, err := a.openSource(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		if err := inspectSource(src, in, func() bool { return true }); err != nil {
			t.Fatal(err)
		}
		for _, turn := range in.Session().Turns {
			x := in.Exchange(turn.Exchange)
			if in.View().TurnOf(x.Number) != turn || x.Coding != "" {
				continue
			}
			seen++
			wantRepro(t, saved(t, "body", string(x.Response.Bytes(0, x.Response.Size()))))
		}
	}
	if seen < 10 {
		t.Errorf("only %d responses", seen)
	}
}

func readDemo(t *testing.T, name string) string {
	t.Helper()
	text, err := demos.ReadFile("demo/" + name + ".tsc")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReproTells checks that findings whose cause is not in the response's bytes are reported.
func TestReproTells(t *testing.T) {
	out := command(t, nil, "export", saved(t, "s.tsc", readDemo(t, "schema")), "--as", "sse")
	if out.code != 0 || !strings.Contains(out.stderr, "these findings are not visible in the response's bytes") || !strings.Contains(out.stderr, "SCHEMA_ENUM") {
		t.Errorf("exit code %d, %q", out.code, out.stderr)
	}
	var none struct{}
	if json.Unmarshal([]byte(out.stdout), &none) == nil || strings.Contains(out.stdout, "priority") {
		t.Errorf("the repro is %q", out.stdout)
	}
}
