package cli

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
	"toolscope/providers"
)

// savedRuns writes captures of one turn each into a folder. The parameter broken is the number of captures with a
// malformed call, which come first. The first token comes after wait milliseconds.
func savedRuns(t *testing.T, runs, broken, wait int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for n := range runs {
		args := "{}"
		if n < broken {
			args = "{]"
		}
		var b strings.Builder
		b.WriteString(`{"toolscope":1}` + "\n")
		fmt.Fprintf(&b, `{"t":0,"x":1,"side":"request","head":{"method":"POST","url":"https://api.openai.com/v1/chat/completions"},"d":%s,"end":"eof"}`+"\n", quoted(fmt.Sprintf(`{"model":"gpt-x","stream":true,"messages":[{"role":"user","content":"%d %d %d"}]}`, n, broken, wait)))
		for i, chunk := range [][]byte{chat(toolChunk(args)), chat(finishChunk, "[DONE]")} {
			fmt.Fprintf(&b, `{"t":%d,"x":1,"d":%s}`+"\n", wait+100*i+n, quoted(string(chunk)))
		}
		fmt.Fprintf(&b, `{"t":%d,"x":1,"end":"eof"}`+"\n", wait+200+n)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("run%d.tsc", n)), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestStatsNumbers checks the numbers in each format, and that they agree with those of print.
func TestStatsNumbers(t *testing.T) {
	dir := savedRuns(t, 40, 10, 500)
	for _, c := range []struct{ args, want string }{
		{"", "gpt-x     40    40     40  10 (25%)       0"},
		{"", "gpt-x  ARGS_BROKEN  error        10                -      10 of 40"},
		{"", "gpt-x        30         10"},
		{"--by tool", "f        40    40     40  10 (25%)            -            -"},
		{"--by provider,server", "openai    api.openai.com     40    40"},
		{"--format jsonl", `{"type":"rate","by":{"model":"gpt-x"},"metric":"ARGS_BROKEN","severity":"error","turns":40,"calls":40,"runs":40,"runs_with":10,"count":10}`},
		{"--format jsonl", `{"type":"latency","by":{"model":"gpt-x"},"metric":"first_token_ms","n":40,"p50":519,"p95":537}`},
		{"--format jsonl", `{"type":"stats","turns":40,"calls":40,"runs":40,"background":0,"unseen_calls":0,"recording_gaps":0,"missed_bytes":0}`},
		{"--format jsonl", `"states":{"complete":30,"malformed":10}`},
		{"--format prometheus", `toolscope_calls_total{tool="f",status="malformed"} 10`},
		{"--format prometheus --filter state:bad", `toolscope_turns_total{phase="complete",model="gpt-x"} 10`},
	} {
		out := command(t, nil, append([]string{"stats", dir}, strings.Fields(c.args)...)...)
		if out.code != 0 || out.stderr != "" || !strings.Contains(out.stdout, c.want) {
			t.Errorf("%s: %d %s: no %q in\n%s", c.args, out.code, out.stderr, c.want, out.stdout)
		}
	}
	summary := command(t, nil, "print", "--summary", dir).stdout
	if !strings.Contains(summary, "40 turns, 40 calls: 30 complete, 10 malformed") {
		t.Errorf("print has other numbers: %s", summary)
	}
}

// TestStatsCompared checks comparisons and the exit codes of conditions.
func TestStatsCompared(t *testing.T) {
	good, same40, bad, slow, few := savedRuns(t, 40, 1, 500), savedRuns(t, 40, 2, 500), savedRuns(t, 40, 30, 500), savedRuns(t, 40, 1, 5000), savedRuns(t, 1, 1, 9000)
	for _, c := range []struct {
		args      string
		code      int
		out, errs string
	}{
		{same40 + " --vs " + good + " --fail-on worse", 0, "no difference shown; too few runs for", ""},
		{bad + " --vs " + good + " --fail-on worse", 1, "worse  gpt-x  ARGS_BROKEN  1 of 40 runs → 30 of 40", "--fail-on worse: 2 of"},
		{good + " --vs " + bad + " --fail-on worse", 0, "better  gpt-x  ARGS_BROKEN", ""},
		{slow + " --vs " + good + " --fail-on worse", 1, "slower  gpt-x  first token  p50 519 ms → 5.01 s", "--fail-on worse: 2 of"},
		{few + " --vs " + good + " --fail-on worse", 0, "too few runs for 4 comparisons\n", "worse: every comparison has too few runs"},
		{few + " --vs " + good + " --fail-on worse --strict", 1, "too few", "too few"},
		{"testdata/malformed.sse --by server --vs " + good, 0, "nothing to compare", ""},
		{bad + " --vs " + good + " --format jsonl", 0, `"metric":"ARGS_BROKEN","verdict":"worse","before":{"runs":40,"with":1},"after":{"runs":40,"with":30}`, ""},
		{bad + " --fail-on bad>50%", 1, "gpt-x", "--fail-on bad>50%: gpt-x: 30 of 40 runs"},
		{bad + " --fail-on bad>80%,first.p95>1s", 0, "gpt-x", ""},
		{few + " --fail-on bad>50%", 0, "gpt-x", "--fail-on bad>50%: too few runs in 1 of 1 row"},
		{few + " --fail-on bad>50% --strict", 1, "gpt-x", "too few runs"},
		{few + " --fail-on worse", 2, "", "use --vs FILE"},
		{few + " --fail-on bad", 2, "", `unknown condition "bad"`},
		{few + " --by modle", 2, "", `unknown key "modle"`},
		{few + " --by tool --fail-on failed>1%", 2, "", "--fail-on failed>1%: with --by tool, conditions about turns can't be checked\nleave tool out of --by"},
		{few + " --by=", 2, "", "--by: needs a key\nkeys: model"},
		{few + " --filter model:none --fail-on bad>1%", 0, "no turns match", "--fail-on bad>1%: no turns match"},
		{few + " --filter model:none --fail-on bad>1% --strict", 1, "no turns match", ""},
		{few + " --fail-on run", 2, "", "run.p99>1m"},
		{few + " --filter model:none --vs " + good, 0, "no row is in both sets", ""},
		{few + " --format prometheus --vs " + good, 2, "", "has no comparisons"},
		{filepath.Join(few, "none.tsc"), 2, "", "no such file"},
		{"testdata/logs --vs " + filepath.Join(few, "none.tsc"), 2, "", "no such file"},
	} {
		out := command(t, nil, append([]string{"stats"}, strings.Fields(c.args)...)...)
		if out.code != c.code || !strings.Contains(out.stdout, c.out) || !strings.Contains(out.stderr, c.errs) {
			t.Errorf("%s: %d\n%s%s", c.args, out.code, out.stdout, out.stderr)
		}
	}
}

// savedHAR writes an archive with one exchange. The given text is the body of the response.
func savedHAR(t *testing.T, millis int, body string) string {
	t.Helper()
	entry := `{"startedDateTime":"2026-03-01T10:00:00.000Z","time":%d,"request":{"method":"POST","url":"https://api.openai.com/v1/chat/completions","headers":[],"postData":{"text":"{\"model\":\"m\",\"messages\":[]}"}},"response":{"status":200,"headers":[],"content":{"mimeType":"application/json","text":%s}},"timings":{"send":-1,"wait":-1,"receive":-1}}`
	return saved(t, "x.har", `{"log":{"version":"1.2","creator":{"name":"x","version":"1"},"entries":[`+fmt.Sprintf(entry, millis, quoted(body))+`]}}`)
}

// TestUnknownLatency checks that latencies are unknown if an archive has no times, or if a log's times are the times
// of writing.
func TestUnknownLatency(t *testing.T) {
	const body = `{"id":"r","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":-5,"completion_tokens":2}}`
	const session = `{"type":"user","uuid":"a","sessionId":"s","timestamp":"2026-03-01T10:00:00.000Z","message":{"role":"user","content":"x"}}
{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"s","timestamp":"2026-03-01T10:00:03.000Z","message":{"id":"m1","type":"message","role":"assistant","model":"claude-x","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":4}}}
`
	known := command(t, nil, "stats", savedHAR(t, 149, body), "--format", "jsonl").stdout
	if !strings.Contains(known, `"metric":"duration_ms","n":1,"p50":149}`) || !strings.Contains(known, `"input":0,"cache_read":0,"cache_write":0,"output":2}`) {
		t.Errorf("a known time, a negative number of tokens: %s", known)
	}
	for _, path := range []string{savedHAR(t, -1, body), saved(t, "session.jsonl", session)} {
		if out := command(t, nil, "stats", path, "--format", "jsonl"); !strings.Contains(out.stdout, `"type":"stats","turns":1,`) || strings.Contains(out.stdout, "latency") {
			t.Errorf("%s: %+v", path, out)
		}
	}
	if text := command(t, nil, "stats", savedHAR(t, 149, body), "--format", "prometheus").stdout; strings.Contains(text, " -5\n") {
		t.Errorf("a negative number of tokens: %s", text)
	}
	if out := command(t, nil, "stats", saved(t, "notes.txt", "hello\n")); !strings.Contains(out.stdout, "no turns match") || out.code != 2 {
		t.Errorf("an unrecognised file is counted: %+v", out)
	}
}

// TestStatsOfFolder checks that without a FILE, stats reads toolscope's own folder.
func TestStatsOfFolder(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	if out := command(t, nil, "stats"); out.code != 2 || !strings.Contains(out.stderr, "needs a FILE") {
		t.Errorf("no captures: %+v", out)
	}
	kept := filepath.Join(state, "toolscope", "recordings")
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(savedRuns(t, 3, 1, 10), kept); err != nil {
		t.Fatal(err)
	}
	if out := command(t, nil, "stats"); out.code != 0 || !strings.Contains(out.stdout, "gpt-x      3     3      3") {
		t.Errorf("%+v", out)
	}
}

// TestStatsPeriod checks that turns are selected by their time, and that two periods of the same files are compared.
func TestStatsPeriod(t *testing.T) {
	dir := t.TempDir()
	now := time.Now().UTC()
	day := 24 * time.Hour
	for n, broken := range []bool{false, true} {
		began := now.Add(-time.Duration(10-7*n) * day) // 10 and 3 days ago
		for i := range 40 {
			path := filepath.Join(dir, fmt.Sprintf("%d-%d.tsc", n, i))
			text := read(t, filepath.Join(savedRuns(t, 1, ifElse(broken && i < 30, 1, 0), 100+i), "run0.tsc"))
			text = strings.Replace(text, `"head":{`, `"head":{"start":"`+began.Format(time.RFC3339)+`",`, 1)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Rename(filepath.Join(savedRuns(t, 1, 0, 1), "run0.tsc"), filepath.Join(dir, "untimed.tsc")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", 0, `{"type":"stats","turns":81,"calls":81,"runs":81,"background":0,"unseen_calls":0,"recording_gaps":0,"missed_bytes":0}`},
		{"--since 7d", 0, `{"type":"stats","turns":40,"calls":40,"runs":40,"background":0,"unseen_calls":0,"recording_gaps":0,"missed_bytes":0,"unknown_time":1}`},
		{"--since 7d", 0, `"states":{"complete":10,"malformed":30}`},
		{"--until 168h", 0, `"states":{"complete":40}`},
		{"--since 2001-02-03 --until 2001-02-04T00:00:00Z", 0, `{"type":"stats","turns":0,`},
		{"--since " + now.Add(-10*day).Format(time.RFC3339) + " --until " + now.Add(-3*day).Format(time.RFC3339), 0, `"states":{"complete":40}`},
		{"--vs 14d..7d --fail-on worse", 1, `"metric":"ARGS_BROKEN","verdict":"worse","before":{"runs":40,"with":0},"after":{"runs":40,"with":30}`},
		{"--since 11d --until 9d --vs 5d..1d", 0, `"metric":"ARGS_BROKEN","verdict":"better"`},
		{"--since 1w", 2, "--since \"1w\": not a time\nuse an age such as 15m or 7d"},
		{"--since 1d --until 2d", 2, "--until 2d: not after --since 1d"},
		{"--vs 7d..14d", 2, "--until 14d: not after --since 7d"},
		{"--vs 14d..7d --vs " + dir, 2, "--vs 14d..7d: can't be combined with another --vs"},
		{"--vs 14d..none", 2, "no such file"},
		{"--drift --fail-on drift", 1, `"metric":"ARGS_BROKEN","verdict":"worse","before":{"runs":40,"with":0},"after":{"runs":40,"with":30},"since":"` + now.Add(-3*day).Format(time.DateOnly) + `"`},
		{"--drift --until 5d --fail-on drift", 0, "--fail-on drift: every comparison has too few runs"},
		{"--drift --until 5d --fail-on drift --strict", 1, `"type":"comparison","tests":0`},
		{"--fail-on drift", 2, "needs --drift"},
		{"--drift --vs 14d..7d", 2, "can't be combined with --vs"},
		{"--drift --since 7d", 2, "leave out --since"},
		{"--drift --by model,day", 2, "leave day out of --by"},
		{"--drift --alarms-per-year 0", 2, "--alarms-per-year 0: out of range"},
	} {
		out := command(t, nil, append([]string{"stats", dir, "--format", "jsonl"}, strings.Fields(c.args)...)...)
		if out.code != c.code || !strings.Contains(out.stdout+out.stderr, c.want) {
			t.Errorf("%s: %d %s: no %q in\n%s", c.args, out.code, out.stderr, c.want, out.stdout)
		}
	}
	if out := command(t, nil, "stats", dir, "--since", "7d"); !strings.Contains(strings.Join(strings.Fields(out.stdout), " "), "1 turn with unknown time not counted") {
		t.Errorf("the turn with unknown time is not mentioned: %s", out.stdout)
	}
}

// TestGapsCounted checks that stats and ask report how many bytes of requests and responses toolscope missed.
func TestGapsCounted(t *testing.T) {
	half := strings.Index(anthropicAnswer, `\":\"Oslo`)
	quote := func(s string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) }
	head := `{"toolscope":1,"created":"2026-03-01T12:00:00Z"}` + "\n"
	answer := func(x int, lost string) string {
		return fmt.Sprintf(`{"x":%d,"d":"%s"}`+"\n"+`{"x":%[1]d,%[3]s"d":"%[4]s"}`+"\n"+`{"x":%[1]d,"end":"eof","by":"provider"}`+"\n", x, quote(anthropicAnswer[:half]), lost, quote(anthropicAnswer[half:]))
	}
	request := `{"x":2,"side":"request","lost":5,"d":"{}"}` + "\n"
	for _, c := range []struct{ capture, text, jsonl, metrics, missing string }{
		{answer(1, ""), "", `"recording_gaps":0,"missed_bytes":0}`, "", "toolscope_recording_gaps_total"},
		{answer(1, `"lost":9,`), "9 bytes missed in 1 gap", `"recording_gaps":1,"missed_bytes":9}`, "toolscope_missed_bytes_total 9\n", ""},
		{answer(1, `"lost":9,`) + request + answer(2, ""), "14 bytes missed in 2 gaps", `"recording_gaps":2,"missed_bytes":14}`, "toolscope_recording_gaps_total 2\n", ""},
	} {
		file := saved(t, "a.tsc", head+c.capture)
		for _, looked := range []struct {
			args, want string
		}{{"stats", c.text}, {"stats --format jsonl", c.jsonl}, {"stats --format prometheus", c.metrics}, {"ask problems", c.text}, {"ask runs", c.text}} {
			got := strings.Join(strings.Fields(command(t, nil, append(strings.Fields(looked.args), file)...).stdout), " ") + "\n"
			if looked.args == "stats --format prometheus" {
				got = command(t, nil, "stats", "--format", "prometheus", file).stdout
			}
			if !strings.Contains(got, looked.want) || c.missing != "" && (strings.Contains(got, c.missing) || strings.Contains(got, "missed in")) {
				t.Errorf("%s: no %q in %s", looked.args, looked.want, got)
			}
		}
	}
}

// TestStatsOfView checks that the screen has the same tables as stats, and that it mentions turns that have only a
// row in memory.
func TestStatsOfView(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"toolscope":1}` + "\n")
	for n, one := range timedRuns(t, 6, 2) {
		_, records, _ := strings.Cut(one, "\n")
		text.WriteString(strings.ReplaceAll(records, `"x":1,`, fmt.Sprintf(`"x":%d,`, n+1)))
	}
	path := saved(t, "run.tsc", text.String())
	want := command(t, nil, "stats", path).stdout
	if !strings.Contains(want, "2 (33%)") {
		t.Fatal(want)
	}
	var packed bytes.Buffer // turns can't be read again, so old turns are dropped
	w := gzip.NewWriter(&packed)
	_, _ = io.WriteString(w, text.String())
	w.Close()
	for from, keep := range map[string]providers.Retention{path: {}, saved(t, "run.tsc.gz", packed.String()): {Bytes: 1}} {
		src, err := capture.OpenAll(t.Context(), []string{from}, new(readFlags).openOptions(false, nil))
		if err != nil {
			t.Fatal(err)
		}
		in := new(providers.Inspector)
		in.Keep(keep)
		if err := inspectSource(src, in, func() bool { return true }); err != nil {
			t.Fatal(err)
		}
		in.MakeRoom()
		got := statsOfView(in.View(), nil, 0)
		if dropped := keep.Bytes > 0; !dropped && got != want || dropped && (got == want || !strings.Contains(got, "not counted, because only their rows are in memory")) {
			t.Errorf("%+v:\n%s\nwant\n%s", keep, got, want)
		}
	}
	for row := range strings.Lines(statsOfView(new(providers.Inspector).View(), nil, 20)) {
		if strings.TrimSpace(row) != "no turns match" {
			t.Errorf("without turns: %q", row)
		}
	}
}
