package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// quotedIn returns log lines that contain body as a quoted string, e.g. in a tool's result.
func quotedIn(body string) []string {
	text := asJSON(body)
	return []string{
		`{"type":"user","sessionId":"s","uuid":"u","timestamp":"2025-01-02T03:04:05Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":` + text + `}]}}`,
		`{"role":"tool","tool_call_id":"c","content":` + text + `}`,
		`{"level":"info","time":"2025-01-02T03:04:05Z","msg":"tool finished","result":{"type":"tool_result","tool_use_id":"t","content":` + text + `}}`,
		`{"time":"2025-01-02T03:04:05Z","msg":{"type":"function_call_output","call_id":"c","output":` + text + `}}`,
		`{"timestamp":"2025-01-02T03:04:05Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":` + text + `}}`,
		`{"time":"2025-01-02T03:04:05Z","contents":[{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"text":` + text + `}}}]}]}`,
	}
}

// TestQuotedStreams checks that a stream in a tool's result or in a session file is treated as text, so that its
// calls are not reported.
func TestQuotedStreams(t *testing.T) {
	all, few := logStreams(t), &sample{every: 6}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		body := all[name]
		for n, line := range quotedIn(body) {
			if !json.Valid([]byte(line)) {
				t.Fatal(line)
			}
			for _, log := range []string{line + "\n", "2025-01-02T03:04:05Z INFO " + line + "\n", noise[0] + line + "\n" + noise[1] + line + "\n"} {
				if !few.has(name) {
					continue
				}
				if calls, _ := callsIn(t, log); len(calls) > 0 {
					t.Errorf("%s, quoted in way %d: %q", name, n, calls)
				}
			}
		}
	}
}

// TestSpoiledLogs checks that unusual lines in a log do not change the streams in it.
func TestSpoiledLogs(t *testing.T) {
	odd := map[string]func(string) string{
		"CRLF":         func(log string) string { return strings.ReplaceAll(log, "\n", "\r\n") },
		"BOM":          func(log string) string { return "\ufeff" + log },
		"NUL":          func(log string) string { return between(log, "\x00\x00 pad \x00\n") },
		"no UTF-8":     func(log string) string { return between(log, "2025-01-02T03:04:05Z INFO caf\xe9 \xff\xfe\n") },
		"JSON in JSON": func(log string) string { return between(log, `{"a":"{\"b\":\"{\\\"c\\\":1}\"}"}`+"\n") },
		"colours": func(log string) string {
			return between(log, "\x1b[31m2025-01-02\x1b[0m \x1b[1mWARN\x1b[0m slow\x1b[K\n")
		},
		"a long line": func(log string) string {
			return twice(log, "2025-01-02T03:04:05Z INFO "+strings.Repeat("x", 1<<20)+"\n")
		},
		"a long value": func(log string) string {
			return twice(log, `{"time":"2025-01-02T03:04:05Z","level":"info","blob":"`+strings.Repeat("y", 1<<20)+"\"}\n")
		},
		"cut lines": func(log string) string {
			return between(log, "2025-01-02T03:04:05Z INFO {\"request\":{\"id\":\"r\",\"path\":\"/v1/mes\n")
		},
		"many brackets": func(log string) string { return between(log, "2025-01-02T03:04:05Z "+strings.Repeat("[{", 5000)+"\n") },
		"half a stream": func(log string) string { return between(log, "2025-01-02T03:04:05Z INFO data: \n") },
	}
	all, few := logStreams(t), &sample{every: 10}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		body := all[name]
		want, _ := callsIn(t, body)
		for _, s := range logShapes {
			if !slices.Contains([]string{"iso, level, request in brackets", "docker json-file", "JSONL with a chunk"}, s.name) || !s.holds(body) || len(body) > 20_000 {
				continue
			}
			log := logOf(s, false, logged{body, "req_1", 4211})
			for _, kind := range slices.Sorted(maps.Keys(odd)) {
				if !few.has(name) {
					continue
				}
				spoil := odd[kind]
				if got, in := callsIn(t, spoil(log)); !slices.Equal(got, want) {
					t.Errorf("%s, %s, %s:\n%q\nwant\n%q\n%v", name, s.name, kind, got, want, in.Session().Findings)
				}
			}
		}
	}
}

// twice inserts a long line before the first line of a log, and in the middle. With TOOLSCOPE_LONG=1, it inserts the
// line wherever the function between would insert it.
func twice(log, line string) string {
	if os.Getenv("TOOLSCOPE_LONG") != "" {
		return between(log, line)
	}
	lines := strings.SplitAfter(log, "\n")
	middle := len(lines) / 2
	return line + strings.Join(lines[:middle], "") + line + strings.Join(lines[middle:], "")
}

// between inserts a line before the first line of a log, and then after every third line.
func between(log, line string) string {
	var b strings.Builder
	for n, l := range strings.SplitAfter(log, "\n") {
		if n%3 == 0 {
			b.WriteString(line)
		}
		b.WriteString(l)
	}
	return b.String()
}

// TestMixedStreams checks a log with two streams whose lines can't be told apart. The arguments of each call must
// come from a single stream.
func TestMixedStreams(t *testing.T) {
	stream := func(id, tool, args string) string {
		var b strings.Builder
		for _, p := range []string{
			fmt.Sprintf(`{"type":"message_start","message":{"id":"msg_%s","type":"message","role":"assistant","model":"m","content":[]}}`, id),
			fmt.Sprintf(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_%s","name":"%s","input":{}}}`, id, tool),
			fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":%s}}`, asJSON(args[:len(args)/2])),
			fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":%s}}`, asJSON(args[len(args)/2:])),
			`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}`, `{"type":"message_stop"}`,
		} {
			b.WriteString("data: " + p + "\n\n")
		}
		return b.String()
	}
	one, two := stream("a", "read", `{"path":"a/b/c.go"}`), stream("b", "write", `{"path":"x","text":"y"}`)
	for _, s := range logShapes {
		if s.keyed || !s.holds(one) {
			continue
		}
		_, in := callsIn(t, logOf(s, true, logged{one, "r", 1}, logged{two, "r", 1}))
		for _, turn := range in.Session().Turns {
			for _, c := range turn.Calls {
				args := string(c.Args())
				if !strings.HasPrefix(`{"path":"a/b/c.go"}`, args) && !strings.HasPrefix(`{"path":"x","text":"y"}`, args) {
					t.Errorf("%s: %s(%s) was never sent", s.name, c.Name, args)
				}
			}
		}
	}
}
