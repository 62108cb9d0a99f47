package formats

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
)

// timed is what records say of each byte of an exchange: which it is, and when it came.
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

// inPieces reads a log in pieces of a size, into records that may have pieces themselves.
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

// TestPieces: records of several pieces say the same of each byte as those of one do, however the log
// is cut into writes; and there are few of them.
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
