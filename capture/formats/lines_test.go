package formats

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/capture"
)

// streamOf is what the records of a log say of each exchange: bytes of both sides, how it ended, and
// the path of what was peeled.
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

// readLog reads a log in pieces of a size.
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

// stamped writes payloads as lines of a log.
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

// TestLogLinesApart: two streams of which nothing tells the lines apart are given to nobody, from
// where that begins.
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

// TestLogLinesInPieces: however a log is cut into writes, the same comes of it.
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

// TestLogLinesCut: of a log that is cut anywhere, each payload is there that stands whole before the
// cut, nothing that is in none of them, and nothing false is said of the rest.
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

// noLogs are files that have nothing of a model's in them.
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

// TestLogsOfOthers: in what has nothing of a model's, nothing is found.
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

// TestLongLine: a line that is too long is told of, and the next one is read.
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

// benchmarkLog is a long stream of small chunks.
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
