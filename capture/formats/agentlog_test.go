package formats

import (
	"bytes"
	stdjson "encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolscope/capture"
	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

var updateAgents = flag.Bool("update-agents", false, "write what the readers of agents' logs give to testdata")

// agentLogs lists the formats of agents' logs with our test files. Files other than "old" and "kinds" were written by
// agents in runs against a scripted model, and then shortened.
var agentLogs = []struct {
	format capture.Format
	files  []string
}{
	{claudeSession, []string{"claude-old.jsonl", "claude-session.jsonl", "claude-subagent.jsonl", "claude-refused.jsonl", "claude-compacted.jsonl", "claude-old-copies.jsonl"}},
	{codexRollout, []string{"codex-old.jsonl", "codex-kinds.jsonl", "codex-rollout.jsonl", "codex-spawns.jsonl", "codex-spawned.jsonl", "codex-kinds-forked.jsonl"}},
}

func eachAgentLog(t *testing.T, do func(t *testing.T, f capture.Format, name string, text []byte)) {
	for _, l := range agentLogs {
		for _, name := range l.files {
			text, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			t.Run(name, func(t *testing.T) { do(t, l.format, name, text) })
		}
	}
}

// TestAgentLogs checks that the logs of older versions, and those with all kinds of entries, have the expected
// records.
func TestAgentLogs(t *testing.T) {
	eachAgentLog(t, func(t *testing.T, f capture.Format, name string, text []byte) {
		if !strings.Contains(name, "old") && !strings.Contains(name, "kinds") {
			t.Skip("its calls are compared elsewhere")
		}
		got, golden := story(readParts(t, f, text)), filepath.Join("testdata", name+".records")
		if *updateAgents {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || got != string(want) {
			t.Errorf("%v\n%s", err, got)
		}
	})
}

// TestAgentLogsAreDetected checks that each log is detected by its first lines, and that no other format accepts
// it.
func TestAgentLogsAreDetected(t *testing.T) {
	eachAgentLog(t, func(t *testing.T, f capture.Format, name string, text []byte) {
		for _, other := range All {
			if got, want := other.Sniff(text, true).Is == capture.Yes, other.Name == f.Name; got != want {
				t.Errorf("is %s: %v", other.Name, got)
			}
		}
		told := false
		for n := range min(len(text), 1<<10) {
			switch s := f.Sniff(text[:n], false); {
			case s.Is == capture.No, told && s.Is != capture.Yes:
				t.Fatalf("%d bytes: %+v", n, s)
			default:
				told = s.Is == capture.Yes
			}
		}
	})
	for _, text := range []string{
		``, `x`, `{}`, `[{"type":"user"}]`, `{"type":"user"}`, `{"sessionId":"a"}`, `{"type":"assistant","message":{},"session_id":"a","uuid":"b"}`,
		`{"type":"message","role":"assistant","content":[{"type":"text","text":"a"}]}`, `{"type":"response.created","timestamp":"a","payload":{}}`,
		`{"id":"a","timestamp":"b"}`, `{"type":"session_meta"}`, `{"type":"thread.started","thread_id":"a"}`,
	} {
		for _, l := range agentLogs {
			if s := l.format.Sniff([]byte(text+"\n"), true); s.Is == capture.Yes {
				t.Errorf("%s is taken for a %s: %s", text, l.format.Name, s.Why)
			}
		}
	}
}

// TestCopiedHistoryOfCodex checks that copied entries are recognised with and without ordinals, that they are read as
// the session's own entries if nothing shows where they end, and that a session that repeats its own first line has
// no copied entries.
func TestCopiedHistoryOfCodex(t *testing.T) {
	text, err := os.ReadFile("testdata/codex-kinds-forked.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	ordinals := lazyregexp.New(`, "(ordinal|subagent_history_start_ordinal)": \d+`)
	timed := ordinals().ReplaceAllString(string(text), "")
	unknown := strings.ReplaceAll(timed, "started_at", "began_at")
	startless := lazyregexp.New(`, "subagent_history_start_ordinal": \d+`)().ReplaceAllString(string(text), "")
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"ordinals": {string(text), 2}, "times": {timed, 2}, "unknown": {unknown, 4}, "times and ordinals": {startless, 2},
		"no fork":  {strings.ReplaceAll(timed, "01a205ac-ed70-7472-b439-04a9f3b83d2c", "01a205ac-ea30-7ba0-a454-fd632653ec75"), 4},
		"only one": {timed[:strings.Index(timed, `"2026-07-14T20:21:38`)], 2},
	} {
		exchanges := map[int]bool{}
		for _, r := range readParts(t, codexRollout, []byte(c.text)) {
			exchanges[r.Exchange] = true
		}
		if len(exchanges) != c.want {
			t.Errorf("%s: %d exchanges, not %d", name, len(exchanges), c.want)
		}
	}
}

// TestFailedCallsOfCodex checks which events about calls are part of the next request: those that say that a call
// failed, directly before the call's result.
func TestFailedCallsOfCodex(t *testing.T) {
	const call = `{"timestamp":"2026-05-13T09:00:01Z","type":"response_item","payload":{"type":"function_call","name":"a","arguments":"{}","call_id":"c"}}
`
	const result = `{"timestamp":"2026-05-13T09:00:03Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"a"}}
`
	for fields, want := range map[string]bool{
		`"type":"mcp_tool_call_end","call_id":"c","result":{"Err":"timed out"}`:                   true,
		`"type":"mcp_tool_call_end","call_id":"c","result":{"Ok":{"content":[],"isError":true}}`:  true,
		`"type":"mcp_tool_call_end","call_id":"c","result":{"Ok":{"content":[],"is_error":true}}`: true,
		`"type":"mcp_tool_call_end","call_id":"c","result":{"Ok":{"content":[],"isError":false}}`: false,
		`"type":"mcp_tool_call_end","call_id":"c","result":{"Ok":{"content":[{"isError":true}]}}`: false,
		`"type":"mcp_tool_call_end","call_id":"c"`:                                                false,
		`"type":"mcp_tool_call_end","call_id":"d","result":{"Err":"timed out"}`:                   false,
		`"type":"patch_apply_end","call_id":"c","success":false,"stderr":"no such file"`:          true,
		`"type":"patch_apply_end","call_id":"c","success":true`:                                   false,
		`"type":"exec_command_end","call_id":"c","exit_code":1`:                                   true,
		`"type":"exec_command_end","call_id":"c","exit_code":0`:                                   false,
		`"type":"dynamic_tool_call_response","call_id":"c","success":false,"error":"no"`:          true,
		`"type":"web_search_end","call_id":"c","success":false`:                                   false,
	} {
		event := `{"timestamp":"2026-05-13T09:00:02Z","type":"event_msg","payload":{` + fields + "}}\n"
		requests := map[int]string{}
		for _, r := range readParts(t, codexRollout, []byte(call+event+result)) {
			if r.Side == capture.Request {
				requests[r.Exchange] += string(r.Data)
			}
		}
		if got, wanted := requests[2], map[bool]string{true: event}[want]+result; got != wanted {
			t.Errorf("%s: the request is %s", fields, got)
		}
	}
}

// TestInterruptedClaude checks which message the user interrupted, according to the entries: the open message, or one
// that never began. Words that the user typed and stopped tools interrupt no message.
func TestInterruptedClaude(t *testing.T) {
	message := func(id, block, stop string) string {
		return `{"type":"assistant","sessionId":"s","message":{"id":"` + id + `","model":"m","content":[` + block + `],"stop_reason":` + stop + `,"usage":{}}}` + "\n"
	}
	user := func(content string) string {
		return `{"type":"user","sessionId":"s","message":{"role":"user","content":` + content + "}}\n"
	}
	text := func(words string) string { return `{"type":"text","text":"` + words + `"}` }
	result := func(words, failed string) string {
		return user(`[{"type":"tool_result","tool_use_id":"t1","content":"` + words + `","is_error":` + failed + `}]`)
	}
	const call = `{"type":"tool_use","id":"t1","name":"Bash","input":{}}`
	const thought = `{"type":"thinking","thinking":"hm","signature":"x"}`
	asks, stop := user(`"hi"`), user("["+text("[Request interrupted by user]")+"]")
	stopTool := user("[" + text("[Request interrupted by user for tool use]") + "]")
	request := `{"type":"api-request","sessionId":"s","id":"r1","params":{"model":"m"},"tail":[]}` + "\n"
	for log, want := range map[string]string{
		asks + message("m1", text("Let me"), "null") + stop + message("m2", text("ok"), `"end_turn"`):                     "cut eof",
		asks + message("m1", text("Yes."), `"end_turn"`) + stop:                                                           "eof",
		asks + message("m1", text("Yes."), "null") + user(`"[Request interrupted by user]"`):                              "eof",
		asks + message("m1", text("Yes."), "null") + user("["+text("why [Request interrupted by user]")+"]"):              "eof",
		asks + message("m1", text("Yes."), "null") + user("["+text("[Request interrupted by user]")+","+text("why?")+"]"): "eof",
		asks + stop + user(`"again"`) + message("m1", text("ok"), "null"):                                                 "cut eof",
		stop: "",
		asks + message("m1", call, "null") + result("a", "false") + stop:                                              "eof cut",
		asks + message("m1", call, "null") + result("Exit code 1", "true") + stop:                                     "eof cut",
		asks + message("m1", call, `"tool_use"`) + result("a", "false") + stop:                                        "eof cut",
		asks + message("m1", call, "null") + result("Interrupted by user", "true") + stop:                             "cut eof",
		asks + message("m1", call, "null") + result("The user doesn't want to proceed", "true") + stopTool:            "eof eof",
		asks + message("m1", thought, "null") + stopTool:                                                              "cut",
		message("m0", text("Yes."), `"end_turn"`) + asks + message("m1", call, "null") + result("a", "false") + stop:  "eof cut eof",
		asks + request + message("m1", text("ok"), "null") + user(`"more"`) + stop:                                    "eof cut",
		asks + strings.Replace(message("m1", text("ok"), `"end_turn"`), `"sess`, `"requestRef":"r1","sess`, 1) + stop: "eof",
	} {
		var ends []string
		for _, r := range readParts(t, claudeSession, []byte(log)) {
			if r.End != "" {
				ends = append(ends, string(r.End))
			}
			if r.End == capture.EndCut && r.By != capture.Client {
				t.Errorf("%s: ended by %q", log, r.By)
			}
		}
		if got := strings.Join(ends, " "); got != want {
			t.Errorf("%s: %s, not %s", log, got, want)
		}
	}
}

func TestAgentLogsInPieces(t *testing.T) {
	eachAgentLog(t, func(t *testing.T, f capture.Format, _ string, text []byte) {
		whole := story(readParts(t, f, text))
		for _, size := range []int{1, 7, 1000} {
			if got := story(readParts(t, f, bytewise(text, size)...)); got != whole {
				t.Errorf("in pieces of %d:\n%s\nwhole:\n%s", size, got, whole)
			}
		}
	})
}

// TestAgentLogsAreCut checks that a log that is cut off anywhere has the same records up to the cut as the
// complete log, and that composed values are complete.
func TestAgentLogsAreCut(t *testing.T) {
	eachAgentLog(t, func(t *testing.T, f capture.Format, _ string, text []byte) {
		r := f.New(capture.NewInput("in", nil))
		recs, _ := r.Write(nil, bytes.Clone(text), capture.NoTime)
		whole := story(recs)
		step := 1 // cut a short log at every byte
		if len(text) > 4<<10 {
			step = len(text) / 500
		}
		for n := 0; n < len(text); n += step {
			r := f.New(capture.NewInput("in", nil))
			recs, _ := r.Write(nil, bytes.Clone(text[:n]), capture.NoTime)
			if got := story(recs); !strings.HasPrefix(whole, got) {
				t.Fatalf("cut at %d: %s", n, got)
			}
			checkExchanges(t, text, r.Close(recs, capture.EndEOF, "", capture.NoTime))
		}
	})
}

// checkExchanges checks that each exchange ends once, and consists of lines of the log or, in older formats, of JSON.
func checkExchanges(t *testing.T, text []byte, recs []capture.Record) {
	t.Helper()
	ended := map[int]int{}
	recs = slices.DeleteFunc(recs, capture.Record.OfSource)
	for of, body := range bodies(recs) {
		if of.Exchange > 0 {
			ended[of.Exchange] += 0
		}
		if strings.HasSuffix(body, "}\n") {
			for line := range strings.Lines(body) {
				if !bytes.Contains(text, []byte(strings.TrimSuffix(line, "\n"))) {
					t.Fatalf("%v has a line that the log hasn't: %s", of, line)
				}
			}
			continue
		}
		if of.Side == capture.Request && !stdjson.Valid([]byte(body)) {
			t.Fatalf("the request of %d: %s", of.Exchange, body)
		}
		if of.Side == capture.Request || strings.HasPrefix(body, "{") { // a JSON response is an error, not an event stream
			continue
		}
		for event := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
			if _, data, _ := strings.Cut(event, "\ndata: "); event != "" && !stdjson.Valid([]byte(data)) {
				t.Fatalf("the answer of %d: %s", of.Exchange, event)
			}
		}
	}
	for _, r := range recs {
		if r.End != "" {
			ended[r.Exchange]++
		}
	}
	for x, n := range ended {
		if n != 1 {
			t.Fatalf("exchange %d ends %d times", x, n)
		}
	}
}

// TestAgentLogDamage checks that unreadable lines are reported with their position, and that reading
// continues.
func TestAgentLogDamage(t *testing.T) {
	text := `{"type":"user","uuid":"a","sessionId":"s","message":{"role":"user","content":"hi"}}` + "\nx\n" + `{"type":"user","uuid` + "\n" + strings.Repeat("[", 1<<20) + "\n" +
		`{"type":"assistant","uuid":"b","sessionId":"s","message":{"id":"m","content":[{"type":"text","text":"ho"}]}}`
	recs := readParts(t, claudeSession, []byte(text))
	notes := 0
	for _, r := range recs {
		if r.Note != "" && r.OfSource() {
			notes++
		}
	}
	if got := bodies(recs); notes != 3 || !strings.Contains(got[capture.Stream{Exchange: 1}], "ho") {
		t.Errorf("%d notes, %v", notes, got)
	}
}

// TestLongEntry checks that a line that is too long to be held is skipped and reported.
func TestLongEntry(t *testing.T) {
	r := claudeSession.New(capture.NewInput("in", nil))
	piece := bytes.Repeat([]byte("x"), 1<<20)
	var recs []capture.Record
	for range json.MaxValueBytes>>20 + 2 {
		recs, _ = r.Write(recs, bytes.Clone(piece), capture.NoTime)
	}
	recs, _ = r.Write(recs, []byte("\n"), capture.NoTime)
	if len(recs) != 1 || !strings.Contains(recs[0].Note, "is left out") || !recs[0].Damaged {
		t.Errorf("%+v", recs)
	}
}

func FuzzAgentLogs(f *testing.F) {
	for i, l := range agentLogs {
		for _, name := range l.files[:1] {
			text, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), text)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		format := agentLogs[int(which)%len(agentLogs)].format
		format.Sniff(text, false)
		whole := story(readParts(t, format, text))
		if got := story(readParts(t, format, bytewise(text, 3)...)); got != whole {
			t.Errorf("in pieces:\n%s\nwhole:\n%s", got, whole)
		}
	})
}

// BenchmarkAgentLogs measures reading logs. Compare the result with that of reading the composed exchanges directly.
func BenchmarkAgentLogs(b *testing.B) {
	for _, l := range agentLogs {
		text, err := os.ReadFile(filepath.Join("testdata", l.files[1]))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(l.format.Name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r := l.format.New(capture.NewInput("in", nil))
				recs, _ := r.Write(nil, text, capture.NoTime)
				r.Close(recs, capture.EndEOF, "", capture.NoTime)
			}
		})
	}
}
