package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolscope/providers"
)

// TestExecutedFiles compares each capture in testdata/executed with want.txt: the tool runs, and how each request
// was matched. Captures named trap… must have no findings.
func TestExecutedFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/executed/*.tsc")
	if err != nil || len(files) < 25 {
		t.Fatal(files, err)
	}
	var got strings.Builder
	codes := map[string]string{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".tsc")
		fmt.Fprintf(&got, "%s\n", name)
		for _, line := range objects(t, command(t, nil, "check", "--fail-on", "info", "--format", "jsonl", file)) {
			if code, is := line["code"].(string); is && code != "CONNECTION_LOST" && code != "PROTOCOL_VIOLATION" {
				fmt.Fprintf(&got, "  %v %v by the %v\n", line["severity"], code, line["by"])
				if codes[code] = file; strings.HasPrefix(name, "trap") {
					t.Errorf("%s: %v", name, line)
				}
			}
		}
		for _, line := range objects(t, command(t, nil, "print", "--format", "jsonl", file)) {
			if line["type"] != "executed" {
				continue
			}
			var words []string
			for _, key := range []string{"turn", "call", "id", "tool", "joined", "of", "may_be", "unasked", "after_seal_ms", "after_turn_ms", "args", "differs", "state", "rounds", "result_bytes", "model_got_bytes", "result"} {
				if v, is := line[key]; is {
					words = append(words, fmt.Sprintf("%s=%v", key, v))
				}
			}
			fmt.Fprintf(&got, "  %s\n", strings.Join(words, " "))
		}
	}
	const path = "testdata/executed/want.txt"
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || got.String() != string(want) {
		t.Errorf("%v: got\n%s", err, got.String())
	}
	for code, file := range codes {
		if out := command(t, nil, "check", "--fail-on", code, file); out.code != exitFound {
			t.Errorf("check --fail-on %s %s: %+v", code, file, out)
		}
		if out := command(t, nil, "check", "--fail-on", code, "testdata/executed/ordinary.tsc"); out.code != 0 {
			t.Errorf("check --fail-on %s of an ordinary run: %+v", code, out)
		}
	}
}

func objects(t *testing.T, out outcome) (all []map[string]any) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(out.stdout), "\n") {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, o)
	}
	return all
}

// TestExecutedRun checks that a model's capture and a server's capture, each with its own clock, are read as one run.
// The captures can be named on the command line or found in a directory. The findings must be the same as in a single
// file with both captures.
func TestExecutedRun(t *testing.T) {
	for name, code := range map[string]string{"early": "EXEC_EARLY", "not": "EXEC_NOT"} {
		dir := "testdata/executedruns/" + name
		for _, args := range [][]string{{dir}, {dir + "/model.tsc", dir + "/mcp-every.tsc"}, {dir + "/mcp-every.tsc", dir + "/model.tsc"}} {
			out := command(t, nil, append([]string{"check", "--fail-on", "info", "--format", "jsonl"}, args...)...)
			if n := strings.Count(out.stdout, `"code":"`); out.code != exitFound || n != 1 || !strings.Contains(out.stdout, code) {
				t.Errorf("%v: %+v", args, out)
			}
			for _, line := range objects(t, command(t, nil, append([]string{"print", "--format", "jsonl"}, args...)...)) {
				switch line["type"] {
				case "executed":
					if line["joined"] != nil && (line["after_seal_ms"] != 5.0 || line["file"] != dir+"/mcp-every.tsc") {
						t.Errorf("%v", line)
					}
				case "call":
					if line["file"] != dir+"/model.tsc" {
						t.Errorf("%v", line)
					}
				}
			}
		}
		if out := command(t, nil, "check", "--fail-on", "info", dir+"/model.tsc"); out.code != 0 {
			t.Errorf("without what the server was asked: %+v", out)
		}
	}
}

// TestExecutedAgain checks that a server's data is the same when an exchange is read again, and in a saved view.
func TestExecutedAgain(t *testing.T) {
	in := new(providers.Inspector)
	for _, r := range demoRecords(t, "executed") {
		in.Write(coreRecord(r))
	}
	in.Close()
	said := func() (all []string) {
		for n := range in.Timeline.Len() + 1 {
			for _, r := range in.View().At(n).Executed() {
				all = append(all, fmt.Sprint(n, r.Method, r.Tool, r.State, len(r.Text), in.ToolRun(r) != nil && in.ToolRun(r).Call != nil))
			}
		}
		return all
	}
	before := said()
	if err := in.Reread(2, nil); err != nil {
		t.Fatal(err)
	}
	if after := said(); !slices.Equal(before, after) {
		t.Errorf("before:\n%s\nafter:\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	whole, err := cutView(in.View())
	if err != nil {
		t.Fatal(err)
	}
	path := saved(t, "whole.tsc", string(whole)+"\n")
	if out := command(t, nil, "print", path); !strings.Contains(out.stdout, "by the call's id, 3368.0 ms before its arguments were final") {
		t.Errorf("%+v", out)
	}
	asked := in.Executed().Requests[2]
	half, err := cutView(in.View().At(int(asked.KnownAsked) + 2))
	if err != nil || !strings.Contains(string(half), "tools/call") || strings.Contains(string(half), "Failed to scrape") {
		t.Errorf("%v: %s", err, half)
	}
}
