package cli

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// twoTurns writes a capture with two exchanges and returns its path. The first exchange contains a key.
func twoTurns(t *testing.T) string {
	t.Helper()
	return saved(t, "two.tsc", `{"toolscope":1,"created":"2026-11-20T10:00:00Z","by":"test"}
{"x":1,"t":0,"side":"request","head":{"method":"POST","url":"https://api.openai.com/v1/chat/completions","header":{"Authorization":["Bearer `+canary+`"]},"start":"2026-11-20T10:00:00Z"},"d":"{\"model\":\"gpt-x\",\"messages\":[]}"}
{"x":1,"t":5,"head":{"status":200,"header":{"Content-Type":["text/event-stream"]}},"d":`+quoted(string(chat(toolChunk(`{"city":"Oslo"}`), finishChunk)))+`,"end":"eof"}
{"x":2,"t":9,"side":"request","head":{"method":"POST","url":"https://api.openai.com/v1/chat/completions"},"d":"{\"model\":\"gpt-x\",\"messages\":[]}"}
{"x":2,"t":12,"head":{"status":200,"header":{"Content-Type":["text/event-stream"]}},"d":`+quoted(string(chat(toolChunk(`{"city":`), "[DONE]")))+`,"end":"eof"}
`)
}

func TestExportFlags(t *testing.T) {
	file := twoTurns(t)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"", 2, "--as FORM"},
		{"--as pdf", 2, "use one of jsonl"},
		{"--as jsonl --force", 2, "--force"},
		{"--as jsonl --turn 0", 2, "numbers start at 1"},
		{"--as jsonl --turn 3", 2, "no such turn or call: --turn 3"},
		{"--as jsonl --call 2", 2, "no such turn or call: --call 2"},
		{"--as capture --call 1", 2, "--call"},
		{"--as capture --turn 3", 2, "--turn 3"},
		{"--as jsonl other.tsc", 2, "one FILE"},
		{"--as jsonl", 0, ""},
		{"--as jsonl --turn 2", 0, ""},
		{"--as capture --turn 2", 0, ""},
	} {
		out := command(t, nil, append([]string{"export", file}, strings.Fields(c.args)...)...)
		if out.code != c.code || !strings.Contains(out.stderr, c.says) || (c.code == 0) != (out.stdout != "") {
			t.Errorf("%q: exit code %d, stderr %q, %d bytes", c.args, out.code, out.stderr, len(out.stdout))
		}
	}
	if out := command(t, nil, "export", filepath.Join(t.TempDir(), "none"), "--as", "jsonl"); out.code != 1 {
		t.Errorf("no such file: exit code %d", out.code)
	}
}

// TestExportChooses checks that the export of selected turns and calls has the same lines as print, and no others.
func TestExportChooses(t *testing.T) {
	file := twoTurns(t)
	all := command(t, nil, "print", "--format", "jsonl", file).stdout
	if got := command(t, nil, "export", file, "--as", "jsonl").stdout; got != all {
		t.Errorf("got\n%swant\n%s", got, all)
	}
	rows := strings.SplitAfter(all, "\n")
	if got := command(t, nil, "export", file, "--as", "jsonl", "--turn", "2").stdout; got != rows[2]+rows[3] {
		t.Errorf("got\n%swant\n%s", got, rows[2]+rows[3])
	}
	if got := command(t, nil, "export", file, "--as", "jsonl", "--turn", "1", "--call", "1").stdout; got != rows[0] {
		t.Errorf("got\n%swant\n%s", got, rows[0])
	}
	one := command(t, nil, "export", file, "--as", "capture", "--turn", "2").stdout
	calls, turns := command(t, []byte(one), "print", "--format", "jsonl", "-").decode(t)
	if len(calls) != 1 || len(turns) != 1 || calls[0].Raw != `{"city":` {
		t.Errorf("the capture of turn 2 has %v, %v", calls, turns)
	}
}

// TestExportIntoFile checks that no file is overwritten without --force. A failed export must not leave a file.
func TestExportIntoFile(t *testing.T) {
	file, dir := twoTurns(t), t.TempDir()
	to := filepath.Join(dir, "out.jsonl")
	export := func(more ...string) outcome {
		return command(t, nil, append([]string{"export", file, "--as", "jsonl", "-o", to}, more...)...)
	}
	if out := export(); out.code != 0 || out.stdout != "" || out.stderr != "" {
		t.Fatalf("%+v", out)
	}
	info, err := os.Stat(to)
	if err != nil || info.Size() == 0 {
		t.Fatal(info, err)
	}
	if err := os.WriteFile(to, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := export(); out.code != 1 || !strings.Contains(out.stderr, "--force") || read(t, to) != "mine" {
		t.Errorf("%+v, and %q", out, read(t, to))
	}
	if out := export("--force", "--turn", "9"); out.code != 2 || read(t, to) != "mine" {
		t.Errorf("%+v, and %q", out, read(t, to))
	}
	if out := export("--force"); out.code != 0 || !strings.HasPrefix(read(t, to), `{"type"`) {
		t.Errorf("%+v, and %q", out, read(t, to))
	}
	if out := command(t, nil, "export", file, "--as", "jsonl", "-o", dir, "--force"); out.code != 1 {
		t.Errorf("a directory: %+v", out)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left are %v", left)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestExportRedacts checks that a capture is exported unchanged, or without its keys.
func TestExportRedacts(t *testing.T) {
	file := twoTurns(t)
	whole := command(t, nil, "export", file, "--as", "capture").stdout
	clean := command(t, nil, "export", file, "--as", "capture", "--redact").stdout
	if !strings.Contains(whole, canary) || strings.Contains(clean, canary) || !strings.Contains(clean, "[redacted:") {
		t.Errorf("as it is:\n%s\nredacted:\n%s", whole, clean)
	}
	calls, _ := command(t, []byte(clean), "print", "--format", "jsonl", "-").decode(t)
	if len(calls) != 2 || calls[0].Raw != `{"city":"Oslo"}` {
		t.Errorf("calls of what was redacted: %v", calls)
	}
}

// TestHARAgain checks that an exported archive has the same calls and findings as its source.
func TestHARAgain(t *testing.T) {
	for _, s := range scenarios {
		file := saved(t, s.name+".tsc", readDemo(t, s.name))
		out := command(t, nil, "export", file, "--as", "har")
		if out.code != 0 || out.stderr != "" {
			t.Fatalf("%s: %d %q", s.name, out.code, out.stderr)
		}
		again := saved(t, s.name+".har", out.stdout)
		before, after := summaries(t, file), summaries(t, again)
		if !slices.Equal(before, after) || len(before) == 0 {
			t.Errorf("%s: calls are %q, in the archive %q", s.name, before, after)
		}
	}
}

// summaries returns the calls in a file, sorted. An archive has no times for single chunks, so the order of parallel
// responses is unknown.
func summaries(t *testing.T, file string) (all []string) {
	t.Helper()
	calls, _ := command(t, nil, "print", "--format", "jsonl", file).decode(t)
	for _, c := range calls {
		var codes []string
		for _, f := range c.Findings {
			codes = append(codes, f.Code)
		}
		all = append(all, fmt.Sprint(c.Dialect, c.ID, c.Name, c.Raw, c.Status, c.Phase, codes))
	}
	slices.Sort(all)
	return all
}

// TestMarkdownVerdict checks that a report begins with the problem and the party at fault. It must have the callout,
// the sign under the wrong byte, and the file. A call without problems must have no party at fault.
func TestMarkdownVerdict(t *testing.T) {
	savedDemo(t)
	for name, want := range map[string][]string{
		"malformed.tsc": {
			"# run\\_shell: malformed, caused by the model\n", "\n- place: turn 1 of malformed.tsc\n",
			"\n- cause: the model\n- do: ", "\n" + strings.Repeat(" ", 87) + "^ ",
		},
		"parallel.tsc": {"# Turn 1 of parallel.tsc\n", "\n**Complete and valid."},
	} {
		got := command(t, nil, "export", name, "--as", "md").stdout
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: no %q in\n%s", name, part, got)
			}
		}
		if name == "parallel.tsc" && strings.Contains(got, "cause") {
			t.Errorf("%s has a cause:\n%s", name, got)
		}
	}
}

// TestPageVerdict checks that the heading of a turn counts its calls with problems, in the role of the worst call,
// and that a call names the party at fault. A page of calls without problems must not have the role Bad.
func TestPageVerdict(t *testing.T) {
	savedDemo(t)
	for name, want := range map[string][]string{
		"malformed.tsc": {`<span class="state bad"><span aria-hidden="true">●</span> response complete · 1 call malformed</span></h2>`, "<dt>cause</dt><dd>the model</dd>"},
		"compare.tsc":   {`<span class="state caution"><span aria-hidden="true">●</span> response complete · 2 calls wrong type</span></h2>`},
		"parallel.tsc":  {`<span class="state good"><span aria-hidden="true">●</span> response complete</span></h2>`, `<p class="muted">Complete and valid.`},
	} {
		got := command(t, nil, "export", name, "--as", "html").stdout
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: no %q in\n%s", name, part, got)
			}
		}
		if name == "parallel.tsc" && strings.Contains(got, "<dt>cause</dt>") {
			t.Errorf("%s has a cause", name)
		}
	}
}

// TestOTLP checks that turns become spans. The spans of a turn's calls must be children of the turn's span, and lie
// within its time.
func TestOTLP(t *testing.T) {
	out := command(t, nil, "export", saved(t, "h.tsc", readDemo(t, "history")), "--as", "otlp")
	if out.code != 0 || out.stderr != "" {
		t.Fatalf("%+v", out)
	}
	type span struct {
		TraceID, SpanID, ParentSpanID, Name string
		Start                               string `json:"startTimeUnixNano"`
		End                                 string `json:"endTimeUnixNano"`
		Attributes                          []struct {
			Key   string
			Value struct{ StringValue, IntValue string }
		}
	}
	var log struct {
		ResourceSpans []struct {
			ScopeSpans []struct{ Spans []span }
		}
	}
	if err := json.Unmarshal([]byte(out.stdout), &log); err != nil {
		t.Fatal(err)
	}
	byID, tools, turns := map[string]span{}, 0, 0
	for _, s := range log.ResourceSpans[0].ScopeSpans[0].Spans {
		if len(s.TraceID) != 32 || len(s.SpanID) != 16 || byID[s.SpanID].SpanID != "" || len(s.Start) != len(s.End) || s.Start > s.End {
			t.Errorf("%+v", s)
		}
		byID[s.SpanID] = s
		if s.ParentSpanID == "" {
			turns++
			continue
		}
		tools++
		if byID[s.ParentSpanID].SpanID == "" || !strings.HasPrefix(s.Name, "toolscope.tool_call ") {
			t.Errorf("%+v", s)
		}
	}
	if turns < 3 || tools < 2 {
		t.Errorf("%d turns, %d calls of tools", turns, tools)
	}
}

// TestMarkdownReport checks that a report names the problem and shows the bytes that prove it.
func TestMarkdownReport(t *testing.T) {
	file := saved(t, "m.tsc", readDemo(t, "malformed"))
	out := command(t, nil, "export", file, "--as", "md")
	for _, want := range []string{"# run\\_shell: malformed, caused by the model\n\n- place: turn 1 of m.tsc\n", "**ARGS_BROKEN** (error, by model)", "```json\n{\"command\"", "event: content_block_delta"} {
		if out.code != 0 || !strings.Contains(out.stdout, want) {
			t.Errorf("%q is not in\n%s%s", want, out.stdout, out.stderr)
		}
	}
	if out := command(t, nil, "export", file, "--as", "md", "--call", "3"); out.code != 2 {
		t.Errorf("a call that is not there: %+v", out)
	}
}

// TestSVG checks that the picture is valid XML, describes its contents in words, and runs no code.
func TestSVG(t *testing.T) {
	for _, name := range []string{"parallel", "malformed"} {
		out := command(t, nil, "export", saved(t, name+".tsc", readDemo(t, name)), "--as", "svg")
		var root struct {
			Role  string `xml:"role,attr"`
			Title string `xml:"title"`
			Desc  string `xml:"desc"`
		}
		if err := xml.Unmarshal([]byte(out.stdout), &root); err != nil || out.code != 0 {
			t.Fatal(err, out.stderr)
		}
		if root.Role != "img" || root.Title != "Turn 1 in "+name+".tsc" || !strings.Contains(root.Desc, "deltas") || strings.Contains(out.stdout, "<script") {
			t.Errorf("%+v", root)
		}
	}
	body := saved(t, "body.sse", string(chat(toolChunk("{}"), finishChunk)))
	if out := command(t, nil, "export", body, "--as", "svg"); !strings.Contains(out.stdout, "times are unknown") {
		t.Errorf("a body: %+v", out)
	}
}
