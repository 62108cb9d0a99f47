package formats

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"toolscope/capture"
)

// logShapes write a line of an event stream as a log has it, each in a way of its own.
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

// streamLines are the lines of n answers as event streams, two of which run at a time, with text that
// is escaped in JSON.
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

// placed reads a log from a file, and says which of its exchanges can be read again. Each of those is
// compared with what came at first.
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

// TestLogsAreReadAgain: what a log has of an exchange is made again of its lines, as it was made first;
// a file that is no longer as it was is an error.
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

// TestChunksInLinesAreReadAgain: so are chunks as values of JSON lines, of several requests at once,
// and whole answers beside what was asked.
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

// TestAnyLogIsReadAgain: whatever stands in a log, what has a place is made again as it was.
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

// TestChangedLogIsNotReadAgain: a file that is no longer as it was, or is gone, is an error.
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

// TestManyStreamsAtOnce: a thousand streams at once are kept apart, each in time that does not depend
// on how many there are; those that nobody says the end of do not stay open for ever.
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
