package formats

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
)

// streamsOf describes each exchange in the records of a log: the bytes of both sides, the end, and the path of
// the removed wrappers.
func streamsOf(recs []capture.Record) (all []string, others int64) {
	byNumber := map[int]*strings.Builder{}
	var order []int
	for _, r := range recs {
		others += r.Others
		if r.OfSource() {
			continue
		}
		b := byNumber[r.Exchange]
		if b == nil {
			b = new(strings.Builder)
			byNumber[r.Exchange] = b
			order = append(order, r.Exchange)
		}
		if r.Head != nil && r.Head.Wrappers != "" {
			fmt.Fprintf(b, "<%s %s>\n", r.Side, r.Head.Wrappers)
		}
		b.Write(r.Data)
		if r.End != "" {
			fmt.Fprintf(b, "<%s>", r.End)
		}
	}
	for _, n := range order {
		all = append(all, byNumber[n].String())
	}
	return all, others
}

// readLog reads a log in chunks of a given size.
func readLog(t testing.TB, log []byte, size int) []capture.Record {
	t.Helper()
	r := newLineReader(capture.NewInput("log", nil))
	var recs []capture.Record
	for piece := range slices.Chunk(log, size) {
		var err error
		if recs, err = r.Write(recs, bytes.Clone(piece), capture.NoTime); err != nil {
			t.Fatal(err)
		}
	}
	return r.Close(recs, capture.EndEOF, "", capture.NoTime)
}

const (
	startA = `{"type":"message_start","message":{"id":"msg_a","type":"message","role":"assistant","content":[],"model":"m"}}`
	startB = `{"type":"message_start","message":{"id":"msg_b","type":"message","role":"assistant","content":[],"model":"m"}}`
	block  = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	delta  = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}}`
	stop   = `{"type":"content_block_stop","index":0}`
	finish = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`
	over   = `{"type":"message_stop"}`
)

// stampedLog writes payloads as lines of a log with times.
func stampedLog(prefix string, payloads ...string) string {
	var b strings.Builder
	for i, p := range payloads {
		fmt.Fprintf(&b, "2025-01-02T03:04:%02d.5Z %sdata: %s\n", i, prefix, p)
	}
	return b.String()
}

var logCases = []struct {
	name, log string
	want      []string
	others    int64
}{
	{"times", "starting\n" + stampedLog("", startA, block, over) + "done\n",
		[]string{"< times › SSE>\ndata: " + startA + "\n\ndata: " + block + "\n\ndata: " + over + "\n\n<eof>"}, 2},
	{"one that is broken off, and the next", stampedLog("", startA, block, startB, block, fmt.Sprintf(delta, "x"), stop, finish, over),
		[]string{"< times › SSE>\ndata: " + startA + "\n\ndata: " + block + "\n\n<eof>",
			"< times › SSE>\n" + strings.Join([]string{"data: " + startB, "data: " + block, "data: " + fmt.Sprintf(delta, "x"), "data: " + stop, "data: " + finish, "data: " + over}, "\n\n") + "\n\n<eof>"}, 0},
	{"a request and its answer in one object",
		`{"id":"r1","request":{"model":"m","messages":[{"role":"user","content":"data: {}"}]},"response":{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"x"}}]}}` + "\n",
		[]string{"<request JSON › .request>\n" + `{"model":"m","messages":[{"role":"user","content":"data: {}"}]}` + "< JSON › .response>\n" +
			`{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"x"}}]}` + "<eof>"}, 0},
	{"the answer whole, behind its chunks",
		`{"id":"r1","chunk":{"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"}}]}}` + "\n" +
			`{"id":"r1","final":{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"x"}}]}}` + "\n",
		[]string{"< JSON › .chunk>\n" + `{"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"}}]}` + "\n<eof>"}, 1},
	{"text of a tool is no stream",
		`{"time":"2025-01-02T03:04:05Z","msg":{"role":"tool","tool_call_id":"x","content":"data: {\"type\":\"message_start\",\"message\":{\"id\":\"q\"}}\n\n"}}` + "\n",
		nil, 1},
	{"cut in two by the container's runtime",
		"2025-01-02T03:04:05.000000001Z stdout P data: " + startA[:40] + "\n2025-01-02T03:04:05.000000002Z stdout F " + startA[40:] + "\n",
		[]string{"< Kubernetes CRI › SSE>\ndata: " + startA + "\n\n<eof>"}, 0},
	{"many brackets", "2025-01-02T03:04:05Z " + strings.Repeat("[", 100_000) + "\n" + "2025-01-02T03:04:06Z " + strings.Repeat(`{"a":`, 50_000) + "\n", nil, 2},
}

func TestLogLines(t *testing.T) {
	for _, c := range logCases {
		t.Run(c.name, func(t *testing.T) {
			got, others := streamsOf(readLog(t, []byte(c.log), len(c.log)))
			if !slices.Equal(got, c.want) || others != c.others {
				t.Errorf("%d others, %q\nwant %d, %q", others, got, c.others, c.want)
			}
		})
	}
}

// TestLogLinesApart checks that, if the lines of two streams can't be distinguished, lines are assigned to neither
// stream from the first such line on.
func TestLogLinesApart(t *testing.T) {
	log := stampedLog("", startA, startB, block, block, fmt.Sprintf(delta, "a"), fmt.Sprintf(delta, "b"), stop, stop, finish, finish, over, over)
	recs := readLog(t, []byte(log), len(log))
	notes := 0
	for _, r := range recs {
		if bytes.Contains(r.Data, []byte("text_delta")) {
			t.Errorf("exchange %d got %q", r.Exchange, r.Data)
		}
		if strings.Contains(r.Note, "nothing identifies their lines") {
			notes++
		}
	}
	if notes != 2 {
		t.Errorf("%d notes, want one a stream", notes)
	}
	keyed := stampedLog("[req_1] ", startA) + stampedLog("[req_2] ", startB, block, fmt.Sprintf(delta, "b"), stop, finish, over) +
		stampedLog("[req_1] ", block, fmt.Sprintf(delta, "a"), stop, finish, over)
	got, _ := streamsOf(readLog(t, []byte(keyed), len(keyed)))
	if len(got) != 2 || strings.Count(got[0], `"text":"a"`) != 1 || strings.Count(got[1], `"text":"b"`) != 1 || strings.Contains(got[0], `"text":"b"`) {
		t.Errorf("%q", got)
	}
}

// TestLogLinesInPieces checks that the records are the same however a log is split into writes.
func TestLogLinesInPieces(t *testing.T) {
	for _, c := range logCases {
		if len(c.log) > 10_000 {
			continue
		}
		for _, size := range []int{1, 2, 3, 7, 64} {
			got, others := streamsOf(readLog(t, []byte(c.log), size))
			if !slices.Equal(got, c.want) || others != c.others {
				t.Errorf("%s in pieces of %d: %d others, %q", c.name, size, others, got)
			}
		}
	}
}

// TestLogLinesCut checks that, wherever a log is cut off, each payload that is complete before the cut is read, and
// nothing else. There must be no false note about the rest.
func TestLogLinesCut(t *testing.T) {
	text := func(log string) (all string) {
		for _, r := range readLog(t, []byte(log), len(log)+1) {
			if all += string(r.Data); r.Damaged || r.Note != "" && !strings.Contains(r.Note, "without a response") {
				t.Errorf("%q: it is said that %q", log, r.Note)
			}
		}
		return all
	}
	for _, c := range logCases {
		if len(c.log) > 10_000 {
			continue
		}
		payloads := strings.FieldsFunc(text(c.log), func(r rune) bool { return r == '\n' })
		for cut := range len(c.log) {
			got := text(c.log[:cut])
			whole := c.log[:strings.LastIndexByte(c.log[:cut], '\n')+1]
			for _, p := range payloads {
				if strings.Count(got, p) < min(strings.Count(whole, p), strings.Count(strings.Join(payloads, "\n"), p)) {
					t.Fatalf("%s, cut at %d: %q is not there, but %q", c.name, cut, p, got)
				}
			}
			for p := range strings.FieldsFuncSeq(got, func(r rune) bool { return r == '\n' }) {
				if !slices.ContainsFunc(payloads, func(all string) bool { return strings.Contains(all, p) }) {
					t.Fatalf("%s, cut at %d: %q is made up", c.name, cut, p)
				}
			}
		}
	}
}

// noLogs lists files without any data from a model.
var noLogs = map[string]string{
	"page.html":     "<!DOCTYPE html>\n<html><body data-x=\"data: {}\"><script>var x = {\"choices\": [\"a\", \"b\"]};</script></body></html>\n",
	"access.log":    strings.Repeat("127.0.0.1 - - [02/Jan/2025:03:04:05 +0000] \"POST /v1/messages HTTP/1.1\" 200 1234 \"-\" \"curl/8\"\n", 30),
	"npm.log":       "0 verbose cli /usr/bin/node /usr/bin/npm\n1 info using npm@10.8.2\n2 silly config load:file:/root/.npmrc\n3 error code E404\n",
	"table.csv":     "id,type,data\n1,message,\"{\"\"type\"\":\"\"message\"\"}\"\n2,error,x\n",
	"main.go":       "package main\n\nfunc main() {\n\tprintln(\"data: {}\")\n}\n",
	"app.py":        "import json\nprint('data: ' + json.dumps({'type': 'message_start'}))\n# event: message_start\n",
	"pino.jsonl":    strings.Repeat("{\"level\":30,\"time\":1700000000000,\"pid\":1,\"hostname\":\"h\",\"msg\":\"request completed\",\"res\":{\"statusCode\":200}}\n", 20),
	"errors.jsonl":  "{\"type\":\"error\",\"error\":{\"message\":\"x\"}}\n{\"time\":\"2025-01-02T03:04:05Z\",\"level\":\"error\",\"msg\":\"x\",\"error\":{\"type\":\"error\"}}\n",
	"survey.json":   "{\"question\":\"?\",\"choices\":[\"a\",\"b\"],\"model\":\"x\"}\n",
	"election.json": "{\"candidates\":[{\"name\":\"A\",\"votes\":1}],\"year\":2024}\n",
	"events.jsonl":  "{\"id\":\"1\",\"type\":\"PushEvent\",\"created_at\":\"2025-01-02T03:04:05Z\",\"payload\":{\"ref\":\"main\"}}\n{\"id\":\"2\",\"type\":\"ping\"}\n",
	"syslog":        strings.Repeat("Jan  2 03:04:05 host systemd[1]: Started Session 1 of User root.\n", 20),
	"kern.log":      "Jan  2 03:04:05 host kernel: [    0.000000] BIOS-e820: [mem 0x0-0x9fbff] usable\n",
	"k8s.log":       "I0102 03:04:05.000000       1 leaderelection.go:250] attempting to acquire leader lease kube-system/x...\n",
	"go.sum":        "github.com/x/y v1.0.0 h1:abc=\ngithub.com/x/y v1.0.0/go.mod h1:def=\n",
	"trace.txt":     "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 'data: {'\n",
	"compose.log":   "api-1  | listening\ndb-1   | ready\napi-1  | GET / 200\n",
	"notes.md":      "# Notes\n\ndata: something\n\nevent: party\n\nid: 3\n",
	"ids.txt":       "event: user.created\nuser: 3\ndata: 12\n",
	"binary":        "\x7fELF\x02\x01\x01\x00\x00data: {\"type\":\"x\"}\n\x00\x00\xff\xfe",
	"png":           "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
	"package.json":  "{\n  \"name\": \"x\",\n  \"version\": \"1.0.0\",\n  \"scripts\": {\n    \"test\": \"node\"\n  }\n}\n",
	"lock.json":     "{\n  \"lockfileVersion\": 3,\n  \"packages\": {\n    \"\": {\"name\": \"x\"}\n  }\n}\n",
	"chat.json":     "{\"messages\":[{\"user\":\"a\",\"text\":\"b\"}],\"channel\":\"c\"}\n",
	"sse.txt":       "2025-01-02T03:04:05Z data: {\"price\": 12, \"symbol\": \"X\"}\n2025-01-02T03:04:06Z data: {\"price\": 13, \"symbol\": \"X\"}\n",
	"tap.txt":       "TAP version 13\n1..2\nok 1 - a\nnot ok 2 - b\n  ---\n  message: 'x'\n  ...\n",
	"make.log":      "cc -c a.c\na.c:3:5: warning: unused variable 'x'\nmake: *** [all] Error 1\n",
	"diff.patch":    "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-data: {\"type\":\"message_start\"\n+data: {\"type\":\"ping\"}\n",
	"empty":         "", "blank": "\n\n\n", "one": "x",
}

// TestLogsOfOthers checks that nothing is found in files without any data from a model.
func TestLogsOfOthers(t *testing.T) {
	for name, text := range noLogs {
		for _, forced := range []bool{false, true} {
			if !forced && sniffLog([]byte(text), true).Is != capture.Yes {
				continue
			}
			if all, _ := streamsOf(readLog(t, []byte(text), max(1, len(text)))); len(all) > 0 {
				t.Errorf("%s: %q", name, all)
			}
		}
	}
}

// TestLongLine checks that a line that is too long is reported, and that the next one is read.
func TestLongLine(t *testing.T) {
	r := newLineReader(capture.NewInput("log", nil))
	piece := bytes.Repeat([]byte("x"), 1<<20)
	var recs []capture.Record
	for range 70 {
		recs, _ = r.Write(recs, piece, capture.NoTime)
	}
	recs, _ = r.Write(recs, []byte("\n2025-01-02T03:04:05Z data: "+startA+"\n"), capture.NoTime)
	recs = r.Close(recs, capture.EndEOF, "", capture.NoTime)
	all, others := streamsOf(recs)
	if len(all) != 1 || others != 1 || !strings.Contains(recs[0].Note, "line 1 has") || !recs[0].Damaged {
		t.Errorf("%q, %d others, %q", all, others, recs[0].Note)
	}
}

func FuzzLogLines(f *testing.F) {
	for _, c := range logCases {
		if len(c.log) < 10_000 {
			f.Add([]byte(c.log))
		}
	}
	for _, text := range noLogs {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		if len(log) > 1<<16 {
			return
		}
		sniffLog(log, true)
		whole, others := streamsOf(readLog(t, log, len(log)+1))
		bytewise, same := streamsOf(readLog(t, log, 1))
		if !slices.Equal(whole, bytewise) || others != same {
			t.Fatalf("%q\n%q in one piece, %d others\n%q byte by byte, %d", log, whole, others, bytewise, same)
		}
		if got, want := timed(inPieces(t, log, 97)), timed(readLog(t, log, 97)); got != want {
			t.Fatalf("%q in records of several pieces:\n%s\nwant\n%s", log, got, want)
		}
	})
}

// benchmarkPayloads returns a long stream of small chunks.
func benchmarkPayloads(n int) (all []string) {
	all = append(all, startA, block)
	for i := range n {
		all = append(all, fmt.Sprintf(delta, fmt.Sprintf("word %d of a stream that goes on, and on", i)))
	}
	return append(all, stop, finish, over)
}

func BenchmarkLogLines(b *testing.B) {
	payloads := benchmarkPayloads(20_000)
	var jsonl strings.Builder
	for i, p := range payloads {
		fmt.Fprintf(&jsonl, `{"level":30,"time":%d,"pid":1,"hostname":"h","reqId":"r","chunk":%s}`+"\n", 1700000000000+i, p)
	}
	for name, log := range map[string]string{"times": stampedLog("INFO [req_1] ", payloads...), "pino": jsonl.String()} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			for b.Loop() {
				readLog(b, []byte(log), 32<<10)
			}
		})
	}
}

// logShapes lists functions that each write a line of an event stream in the form of a different logger.
var logShapes = map[string]func(n int, line string) string{
	"times":            func(n int, line string) string { return fmt.Sprintf("2025-01-02T03:04:%02d.5Z INFO %s\n", n%60, line) },
	"docker json-file": func(n int, line string) string { return inDocker(n, line) },
	"Kubernetes CRI": func(n int, line string) string {
		return fmt.Sprintf("2025-01-02T03:04:%02d.123456789Z stdout F %s\n", n%60, line)
	},
	"a logger in docker": func(n int, line string) string {
		text, _ := json.Marshal(map[string]any{"level": 30, "time": 1700000000000 + n, "msg": line})
		return inDocker(n, string(text))
	},
	"text in docker": func(n int, line string) string { return inDocker(n, fmt.Sprintf("[\"a\\b\"] ü INFO %s", line)) },
	"journald": func(n int, line string) string {
		text, _ := json.Marshal(map[string]any{"__REALTIME_TIMESTAMP": fmt.Sprint(1700000000000000 + n), "MESSAGE": line, "_PID": "7"})
		return string(text) + "\n"
	},
	"CRLF": func(n int, line string) string { return fmt.Sprintf("2025-01-02T03:04:%02d.5Z %s\r\n", n%60, line) },
}

func inDocker(n int, line string) string {
	text, _ := json.Marshal(line + "\n")
	return fmt.Sprintf(`{"log":%s,"stream":"stdout","time":"2025-01-02T03:04:%02d.123456789Z"}`+"\n", text, n%60)
}

// streamLines returns the lines of n responses as event streams. The streams don't overlap, and their texts need
// escapes in JSON.
func streamLines(n int) (lines []string) {
	for i := range n {
		id := fmt.Sprintf("chatcmpl-%d", i)
		for k, text := range []string{"a", `\"quoted\" \\ and \n`, "\u2028ü\\u00fc <&>", "end"} {
			lines = append(lines, fmt.Sprintf(`data: {"id":"%s","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"%d %s"},"finish_reason":null}]}`, id, k, text), "")
		}
		lines = append(lines, fmt.Sprintf(`data: {"id":"%s","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, id), "", "data: [DONE]", "")
	}
	return lines
}

// placed reads a log from a file. It returns the number of exchanges that can be read again, and the number of all
// exchanges. It checks that reading an exchange again returns the same records.
func placed(t *testing.T, path string) (again, all int) {
	t.Helper()
	src, err := capture.Open(t.Context(), path, capture.Options{Formats: []capture.Format{logLines}, Forced: true})
	if err != nil {
		t.Fatal(err)
	}
	came := map[int][]capture.Record{}
	for r, err := range src {
		if err != nil {
			t.Fatal(err)
		}
		if !r.OfSource() {
			came[r.Exchange] = append(came[r.Exchange], r)
		}
	}
	for number, recs := range came {
		from := recs[0].Location.Lines
		whole := from != nil && recs[len(recs)-1].End != ""
		for _, r := range recs {
			whole = whole && r.Location.Lines == from
		}
		if !whole {
			continue
		}
		again++
		k := 0
		for r, err := range from.Again(context.Background(), number) {
			if err != nil || k == len(recs) {
				t.Fatalf("exchange %d: %v, %+v", number, err, r)
			}
			r.Location, recs[k].Location = capture.Location{}, capture.Location{}
			for _, side := range []*[]byte{&r.Before, &r.After, &recs[k].Before, &recs[k].After} {
				if len(*side) == 0 {
					*side = nil
				}
			}
			if !reflect.DeepEqual(r, recs[k]) {
				t.Fatalf("exchange %d, record %d:\n%+v\nat first:\n%+v", number, k, r, recs[k])
			}
			k++
		}
		if k != len(recs) {
			t.Fatalf("exchange %d: %d records, at first %d", number, k, len(recs))
		}
	}
	return again, len(came)
}

// TestLogsAreReadAgain checks that reading an exchange again from its lines in a log returns the same records. If the
// file has changed, reading again is an error.
func TestLogsAreReadAgain(t *testing.T) {
	for name, line := range logShapes {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			log.WriteString(line(0, "starting"))
			for n, l := range streamLines(30) {
				log.WriteString(line(n, l))
				if n%7 == 0 {
					log.WriteString(line(n, "another line"))
				}
			}
			path := filepath.Join(t.TempDir(), "a.log")
			if err := os.WriteFile(path, []byte(log.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			if again, all := placed(t, path); all != 30 || again != all {
				t.Errorf("%d of %d exchanges can be read again", again, all)
			}
		})
	}
}

// TestChunksInLinesAreReadAgain is like TestLogsAreReadAgain, but for chunks that are values in JSON lines, with
// several requests at once, and for complete responses next to their requests.
func TestChunksInLinesAreReadAgain(t *testing.T) {
	var log strings.Builder
	streams := 5
	for n := range 20 * streams {
		fmt.Fprintf(&log, `{"ts":%d.%03d,"request_id":"r-%d","chunk":{"id":"c-%d","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"%d"},"finish_reason":null}]}}`+"\n",
			1700000000+n, n%1000, n%streams, n%streams, n)
	}
	fmt.Fprintf(&log, `{"time":"2025-01-02T03:04:05Z","request":{"model":"m","messages":[{"role":"user","content":"go"}]},"response":%s}`+"\n",
		`{"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]}`)
	path := filepath.Join(t.TempDir(), "a.log")
	if err := os.WriteFile(path, []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, all := placed(t, path); all != streams+1 || again != all {
		t.Errorf("%d of %d exchanges can be read again", again, all)
	}
}

// TestAnyLogIsReadAgain checks that every exchange with a location is read again unchanged, whatever the log
// contains.
func TestAnyLogIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	for n, c := range logCases {
		path := filepath.Join(dir, fmt.Sprint(n))
		if err := os.WriteFile(path, []byte(c.log), 0o600); err != nil {
			t.Fatal(err)
		}
		placed(t, path)
	}
}

// TestChangedLogIsNotReadAgain checks that reading again from a file that has changed or is gone is an error.
func TestChangedLogIsNotReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	log := stampedLog("", startA, block, over)
	if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	src, _ := capture.Open(t.Context(), path, capture.Options{Formats: []capture.Format{logLines}, Forced: true})
	var lines *capture.Lines
	for r := range src {
		lines = r.Location.Lines
	}
	fails := func() (err error) {
		for _, err = range lines.Again(t.Context(), 1) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	if lines == nil || fails() != nil {
		t.Fatalf("%v: %v", lines, fails())
	}
	if err := os.WriteFile(path, []byte(log[:len(log)/2]), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := fails(); err == nil || !strings.Contains(err.Error(), "changed since it was read") {
		t.Error(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := fails(); err == nil {
		t.Error("a file that is gone is read again")
	}
}

// TestManyStreamsAtOnce checks that a thousand streams at once are kept apart, and that the time per line doesn't
// depend on the number of streams. Streams without a reported end must not stay open forever.
func TestManyStreamsAtOnce(t *testing.T) {
	const streams, rounds = 1000, 4
	chunk := func(n, round int, finish string) string {
		return fmt.Sprintf(`{"request":"r-%d","chunk":{"id":"c-%d","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"%d"},"finish_reason":%s}]}}`+"\n", n, n, round, finish)
	}
	var log strings.Builder
	for round := range rounds {
		for n := range streams {
			log.WriteString(chunk(n, round, "null"))
		}
	}
	for n := range streams {
		log.WriteString(chunk(n, rounds, `"stop"`))
	}
	r := newLineReader(capture.NewInput("log", nil)).(*lineReader)
	recs, err := r.Write(nil, []byte(log.String()), capture.NoTime)
	if err != nil || len(r.flows.open) != streams || len(r.flows.index.byID) != streams || len(r.flows.index.nameless) != 0 {
		t.Fatalf("%v: %d streams are open, %d are known by name", err, len(r.flows.open), len(r.flows.index.byID))
	}
	var more strings.Builder
	for n := range 2 * maxFinished {
		more.WriteString(chunk(streams+n, 0, `"stop"`))
	}
	recs, _ = r.Write(recs, []byte(more.String()), capture.NoTime)
	if n := len(r.flows.open); n != streams {
		t.Errorf("%d streams are open", n)
	}
	recs = r.Close(recs, capture.EndEOF, "", capture.NoTime)
	all, _ := streamsOf(recs)
	for n, text := range all[:streams] {
		if strings.Count(text, fmt.Sprintf(`"c-%d"`, n)) != rounds+1 || strings.Count(text, `"id"`) != rounds+1 {
			t.Fatalf("stream %d has %s", n, text)
		}
	}
	if len(all) != streams+2*maxFinished || len(r.flows.index.byID)+len(r.flows.index.nameless) != 0 {
		t.Errorf("%d streams, %d are left", len(all), len(r.flows.index.byID))
	}
}

// namelessLine is a chunk of a stream whose chunks don't name the stream. The field at is the time since the start.
type namelessLine struct {
	at    time.Duration
	chunk string
}

var namelessStart = time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)

// ollamaLines returns n chunks of a response and the chunk that ends it, one every 50 ms.
func ollamaLines(model, word string, asked time.Duration, n int) (all []namelessLine) {
	for i := range n + 1 {
		at := asked + time.Duration(i+1)*50*time.Millisecond
		rest := `"done":false`
		if i == n {
			rest = fmt.Sprintf(`"done":true,"total_duration":%d`, at-asked)
		}
		stamp := namelessStart.Add(at).Format(time.RFC3339Nano)
		all = append(all, namelessLine{at, fmt.Sprintf(`{"model":%q,"created_at":%q,"message":{"role":"assistant","content":%q},%s}`, model, stamp, word, rest)})
	}
	return all
}

// geminiLines returns n chunks of a response to a prompt of a given size, one every 50 ms.
func geminiLines(prompt int, word string, asked time.Duration, n int) (all []namelessLine) {
	for i := range n {
		end := ""
		if i == n-1 {
			end = `,"finishReason":"STOP"`
		}
		chunk := fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[{"text":%q}]}%s}],"usageMetadata":{"promptTokenCount":%d,"candidatesTokenCount":%d},"modelVersion":"m"}`, word, end, prompt, i+1)
		all = append(all, namelessLine{asked + time.Duration(i+1)*50*time.Millisecond, chunk})
	}
	return all
}

// namelessLog returns a log of streams, with each line at its time.
func namelessLog(streams ...[]namelessLine) []byte {
	var b strings.Builder
	for {
		next := -1
		for i, s := range streams {
			if len(s) > 0 && (next < 0 || s[0].at < streams[next][0].at) {
				next = i
			}
		}
		if next < 0 {
			return []byte(b.String())
		}
		l := streams[next][0]
		streams[next] = streams[next][1:]
		fmt.Fprintf(&b, "%s chunk %s\n", namelessStart.Add(l.at).Format("2006-01-02T15:04:05.000Z"), l.chunk)
	}
}

// TestLogLinesNameless checks that streams whose chunks don't name them are kept apart by other facts in the chunks.
// If that is impossible, there must be a note. There must be no note for streams that arrive one after another.
func TestLogLinesNameless(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name    string
		log     []byte
		streams int
		mixed   bool
	}{
		{"one after the other, Ollama", namelessLog(ollamaLines("m", "a", 0, 10), ollamaLines("m", "b", 560*ms, 10)), 2, false},
		{"at once, two models", namelessLog(ollamaLines("m", "a", 0, 10), ollamaLines("n", "b", 220*ms, 10)), 2, false},
		{"at once, one model", namelessLog(ollamaLines("m", "a", 0, 10), ollamaLines("m", "b", 220*ms, 10)), 2, true},
		{"one inside the other", namelessLog(ollamaLines("m", "a", 0, 20), ollamaLines("m", "b", 220*ms, 4)), 2, true},
		{"one after the other, Gemini", namelessLog(geminiLines(9, "a", 0, 10), geminiLines(9, "b", 510*ms, 10)), 2, false},
		{"at once, two prompts", namelessLog(geminiLines(9, "a", 0, 10), geminiLines(12, "b", 220*ms, 10)), 2, false},
		{"at once, prompts of one size", namelessLog(geminiLines(9, "a", 0, 10), geminiLines(9, "b", 220*ms, 10)), 2, true},
	} {
		streams := map[int]string{}
		mixed := false
		for _, r := range readLog(t, c.log, len(c.log)) {
			streams[r.Exchange] += string(r.Data)
			if r.Head != nil {
				for _, lack := range r.Head.Lacks {
					mixed = mixed || lack == capture.Mixed && strings.Contains(r.Note, "since line 1 ")
				}
			}
		}
		if len(streams) != c.streams || mixed != c.mixed {
			t.Errorf("%s: %d streams, said to be mixed: %v", c.name, len(streams), mixed)
		}
		for n, text := range streams {
			if both := strings.Contains(text, `"a"`) && strings.Contains(text, `"b"`); both && !c.mixed {
				t.Errorf("%s: stream %d is of two:\n%s", c.name, n, text)
			}
		}
	}
}

// TestLogLinesLackNames checks that a log with only the data of events lists the names of events as missing.
func TestLogLinesLackNames(t *testing.T) {
	lacks := func(log string) (untold bool) {
		for _, r := range readLog(t, []byte(log), len(log)) {
			if r.Head != nil && strings.Contains(fmt.Sprint(r.Head.Lacks), string(capture.NoNames)) {
				untold = true
			}
		}
		return untold
	}
	const at = "2025-01-02T03:04:05Z "
	if !lacks(at+"data: "+startA+"\n"+at+"data: "+over+"\n") || lacks(at+"event: message_start\n"+at+"data: "+startA+"\n") {
		t.Error("what is told of names is wrong")
	}
	if chat := `{"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"}}]}`; lacks(at + "data: " + chat + "\n") {
		t.Error("a protocol without names is said to lack them")
	}
}

// TestLogLinesNamesOfOthers checks that the name of an event whose data did not arrive is not used for the data of
// another event, even if a stream is held for a long time because it may be a restart.
func TestLogLinesNamesOfOthers(t *testing.T) {
	var b strings.Builder
	line := func(text string) { b.WriteString("2025-01-02T03:04:05Z " + text + "\n") }
	event := func(name, data string) {
		line("event: " + name)
		line("data: " + data)
		line("")
	}
	event("message_start", startA)
	event("content_block_start", block)
	line("event: content_block_stop") // the rest of the event is missing
	event("message_start", startB)
	event("content_block_start", block)
	for i := range 200 {
		event("content_block_delta", fmt.Sprintf(delta, fmt.Sprint(i)))
	}
	event("content_block_stop", stop)
	event("message_delta", finish)
	event("message_stop", over)
	all, _ := streamsOf(readLog(t, []byte(b.String()), 1000))
	if len(all) != 2 {
		t.Fatalf("%d streams", len(all))
	}
	for n, l := range strings.Split(all[1], "\n\n") {
		name, data, _ := strings.Cut(l, "\n")
		if i := strings.LastIndex(name, "event: "); i >= 0 && !strings.Contains(data, `"type":"`+name[i+len("event: "):]+`"`) {
			t.Fatalf("event %d of the second stream: %q", n, l)
		}
	}
	if strings.Count(all[1], "event: ") != 205 || strings.Contains(all[0], "_stop") {
		t.Errorf("%d names in the second, the first is %q", strings.Count(all[1], "event: "), all[0])
	}
}

// lacksOf returns the missing facts that the heads of a log's records list, and the log's notes.
func lacksOf(recs []capture.Record) (lacks []capture.Lack, notes []string) {
	for _, r := range recs {
		if r.Head != nil {
			lacks = append(lacks, r.Head.Lacks...)
		}
		if r.Note != "" {
			notes = append(notes, r.Note)
		}
	}
	return lacks, notes
}

// TestLogLacks checks that a log lists exactly the facts that it can't show. The times of bytes are missing if all
// lines have the same time or none. If a logger cuts lines at a length, the content after that length is missing.
func TestLogLacks(t *testing.T) {
	payloads := []string{startA, block}
	for i := range 24 {
		payloads = append(payloads, fmt.Sprintf(delta, strings.Repeat(fmt.Sprint("word ", i, " "), 1+i%3*8)))
	}
	payloads = append(payloads, stop, finish, over)
	logOf := func(prefix func(i int) string, most int) string {
		var b strings.Builder
		for i, p := range payloads {
			line := prefix(i) + "data: " + p
			fmt.Fprintln(&b, line[:min(len(line), most)])
		}
		return b.String()
	}
	spread := func(i int) string { return fmt.Sprintf("2025-01-02T03:04:%02d.500Z ", i) }
	for _, c := range []struct {
		name, log, says string
		want            []capture.Lack
	}{
		{"times as they came", logOf(spread, 1<<20), "", nil},
		{"one time for all", logOf(func(int) string { return "2025-01-02T03:04:05.500Z " }, 1<<20), "", []capture.Lack{capture.LateTimes}},
		{"no times", logOf(func(int) string { return "INFO  upstream: " }, 1<<20), "", []capture.Lack{capture.NoTimes}},
		{"lines are cut", logOf(spread, 180), "the program that wrote the log cut lines at 180 bytes", []capture.Lack{capture.CutLines}},
	} {
		for _, size := range []int{1 << 20, 7} {
			lacks, notes := lacksOf(readLog(t, []byte(c.log), size))
			for _, lack := range []capture.Lack{capture.LateTimes, capture.NoTimes, capture.CutLines} {
				if got, want := slices.Contains(lacks, lack), slices.Contains(c.want, lack); got != want {
					t.Errorf("%s, in pieces of %d: it cannot tell %s: %v, want %v", c.name, size, lack, got, want)
				}
			}
			if said := strings.Join(notes, "; "); c.says != "" && !strings.Contains(said, c.says) || c.says == "" && strings.Contains(said, "cut") {
				t.Errorf("%s, in pieces of %d: notes %q, want %q", c.name, size, said, c.says)
			}
		}
	}
}

// TestPrintedNicely checks that an event with JSON over many lines, each in a data: field, is one event. Other
// lines may be between them, and the JSON may contain lists of objects.
func TestPrintedNicely(t *testing.T) {
	var event []string
	add := func(lines ...string) {
		for _, line := range lines {
			event = append(event, "data: "+line)
		}
	}
	add(`{`, ` "type": "response.created",`, ` "sequence_number": 0,`, ` "response": {`, `  "id": "resp_a",`, `  "object": "response",`, `  "tools": [`)
	for n := range 60 {
		add(`   {`, fmt.Sprintf(`    "name": "tool_%d"`, n), `   },`)
	}
	add(`   {`, `    "name": "last"`, `   }`, `  ],`, `  "output": []`, ` }`, `}`)

	var log strings.Builder
	for n, line := range event {
		fmt.Fprintf(&log, "Jan  2 03:04:05 box api[1]: %s\n", line)
		fmt.Fprintf(&log, "Jan  2 03:04:05 box api[2]: data: {\"type\":\"response.output_text.delta\",\"sequence_number\":%d,\"item_id\":\"msg_b\",\"delta\":\"x\"}\n", n)
		fmt.Fprintf(&log, "Jan  2 03:04:05 box db[3]: checkpoint %d\n", n)
	}
	all, others := streamsOf(readLog(t, []byte(log.String()), 1<<20))
	var whole string
	for _, s := range all {
		if strings.Contains(s, "resp_a") {
			whole = s
		}
	}
	if !strings.Contains(whole, strings.Join(event, "\n")+"\n") || others != int64(len(event)) {
		t.Errorf("%d streams, %d other lines of %d:\n%s", len(all), others, len(event), whole)
	}
}

// timed describes each byte of an exchange in records, together with the byte's time.
func timed(recs []capture.Record) string {
	streams := map[int]*strings.Builder{}
	for _, r := range recs {
		if r.OfSource() {
			continue
		}
		b := streams[r.Exchange]
		if b == nil {
			b = new(strings.Builder)
			streams[r.Exchange] = b
		}
		if r.Head != nil {
			fmt.Fprintf(b, "<%s %v>", r.Head.Wrappers, r.Head.Lacks)
		}
		from := 0
		pieces := r.Chunks
		if pieces == nil {
			pieces = []capture.DataChunk{{End: len(r.Data), At: r.At}}
		}
		for _, p := range pieces {
			for _, c := range r.Data[from:p.End] {
				fmt.Fprintf(b, "%c%d ", c, p.At/time.Millisecond)
			}
			from = p.End
		}
		if from != len(r.Data) {
			fmt.Fprintf(b, "<%d bytes are of no piece>", len(r.Data)-from)
		}
		fmt.Fprintf(b, "<%s %s>", r.End, r.Note)
	}
	var all strings.Builder
	for n := range len(streams) + 1 {
		if b := streams[n]; b != nil {
			fmt.Fprintf(&all, "%d: %s\n", n, strings.ReplaceAll(b.String(), "< >", ""))
		}
	}
	return all.String()
}

// inPieces reads a log in chunks of a given size, into records that may have several chunks.
func inPieces(t testing.TB, log []byte, size int) []capture.Record {
	t.Helper()
	in := capture.NewInput("log", nil)
	in.AllowChunks = true
	r := newLineReader(in)
	var recs []capture.Record
	for piece := range slices.Chunk(log, size) {
		var err error
		if recs, err = r.Write(recs, bytes.Clone(piece), capture.NoTime); err != nil {
			t.Fatal(err)
		}
	}
	return r.Close(recs, capture.EndEOF, "", capture.NoTime)
}

// TestPieces checks that records with several chunks have the same bytes and times as records with a single chunk,
// however the log is split into writes. It also checks that the number of records stays small.
func TestPieces(t *testing.T) {
	for name, line := range logShapes {
		var log strings.Builder
		for n, l := range streamLines(40) {
			log.WriteString(line(n, l))
			if n%50 == 7 {
				log.WriteString(line(n, "another line"))
			}
		}
		payloads := benchmarkPayloads(300)
		for n, p := range payloads {
			kind, _, _ := strings.Cut(p[len(`{"type":"`):], `"`)
			log.WriteString(line(n, "event: "+kind) + line(n+1, "data: "+p) + line(n+1, ": keep-alive") + line(n+2, ""))
		}
		want := timed(readLog(t, []byte(log.String()), 1<<20))
		for _, size := range []int{1 << 20, 4096, 333, 1} {
			recs := inPieces(t, []byte(log.String()), size)
			if got := timed(recs); got != want {
				t.Fatalf("%s in writes of %d:\n%.2000s\nwant\n%.2000s", name, size, got, want)
			}
			if size > 4096 && len(recs) > 800 {
				t.Errorf("%s: %d records", name, len(recs))
			}
		}
	}
}
