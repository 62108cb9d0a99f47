package stream

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"toolscope/stream/json"
)

var benchSizes = []int{1 << 10, 32 << 10, 1 << 20, 8 << 20}

func sizeName(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%dKiB", n>>10)
	}
	return fmt.Sprintf("%dMiB", n>>20)
}

// BenchmarkLexer lexes the arguments of one call: at once, in deltas of the size that providers send, and byte by
// byte. Each run uses a new lexer, which allocates memory for its tokens.
func BenchmarkLexer(b *testing.B) {
	for _, cuts := range []struct {
		name        string
		least, most int
	}{{"whole", 1 << 30, 1 << 30}, {"deltas", 8, 20}, {"bytes", 1, 1}} {
		for _, size := range benchSizes {
			b.Run(cuts.name+"/"+sizeName(size), func(b *testing.B) {
				text := sampleArgs(size)
				var parts [][]byte
				for _, d := range sampleDeltas(text, cuts.least, cuts.most) {
					parts = append(parts, []byte(d))
				}
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				var l json.Lexer
				for b.Loop() {
					l = json.Lexer{}
					for _, p := range parts {
						l.Write(p)
					}
				}
				if l.Syntax() != json.SyntaxObject {
					b.Fatal(l.Syntax(), l.Err())
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(parts)), "ns/delta")
			})
		}
	}
}

// sampleSSE returns a stream as Anthropic sends it, with one delta per event.
func sampleSSE(lineEnd string) []byte {
	var b []byte
	for i, d := range sampleDeltas(sampleArgs(1<<20), 8, 20) {
		b = fmt.Appendf(b, "event: content_block_delta%[1]sdata: {\"type\":\"content_block_delta\",\"index\":%[2]d,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":%[3]q}}%[1]s%[1]s", lineEnd, i%4, d)
	}
	return b
}

// BenchmarkSSE frames a sample stream in network reads of 4 KiB. For comparison, the benchmark newlines only searches
// the same bytes for line feeds: a framer can't be faster.
func BenchmarkSSE(b *testing.B) {
	const read = 4 << 10
	inReads := func(wire []byte, use func([]byte)) {
		for ; len(wire) > read; wire = wire[read:] {
			use(wire[:read])
		}
		use(wire)
	}
	for _, end := range []struct{ name, lineEnd string }{{"LF", "\n"}, {"CRLF", "\r\n"}, {"CR", "\r"}} {
		b.Run(end.name, func(b *testing.B) {
			wire := sampleSSE(end.lineEnd)
			b.SetBytes(int64(len(wire)))
			b.ReportAllocs()
			var s SSESplitter
			frames := 0
			count := func(Frame) { frames++ }
			for b.Loop() {
				inReads(wire, func(p []byte) { s.Write(p, count) })
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(frames), "ns/frame")
		})
	}
	b.Run("newlines", func(b *testing.B) {
		wire := sampleSSE("\n")
		b.SetBytes(int64(len(wire)))
		lines := 0
		for b.Loop() {
			inReads(wire, func(p []byte) {
				for i := bytes.IndexByte(p, '\n'); i >= 0; i = bytes.IndexByte(p, '\n') {
					lines++
					p = p[i+1:]
				}
			})
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(lines), "ns/line")
	})
}

// sampleEvents returns the events of one call with size bytes of arguments.
func sampleEvents(size int) []Event {
	events := []Event{opened(0, "toolu_1", "write_file")}
	for i, d := range sampleDeltas(sampleArgs(size), 8, 20) {
		e := args(0, d)
		e.Frame = int32(i)
		events = append(events, e)
	}
	return append(events, sealed(0))
}

// BenchmarkApply folds one call from the beginning. It reads the call's status after every delta, as a screen
// might.
func BenchmarkApply(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(sizeName(size), func(b *testing.B) {
			events := sampleEvents(size)
			b.ReportAllocs()
			var s *Session
			for b.Loop() {
				s = new(Session)
				for _, e := range events {
					s.Apply(e)
					s.Turns[0].Calls[0].Status()
				}
			}
			if st := s.Turns[0].Calls[0].Status(); st != Complete {
				b.Fatal(st)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(events)), "ns/delta")
		})
	}
}

// BenchmarkTimeline appends the events of one call. It reports the memory that is used for each event, including the
// bytes of the arguments.
func BenchmarkTimeline(b *testing.B) {
	events := sampleEvents(1 << 20)
	var tl *Timeline
	b.ReportAllocs()
	for b.Loop() {
		tl = new(Timeline)
		tl.Append(events...)
		tl.Append(closed(CloseEnd))
	}
	b.StopTimer()
	with := heap()
	n := float64(tl.Len())
	runtime.KeepAlive(tl)
	tl = nil
	kept := with - heap()
	runtime.KeepAlive(events)
	b.ReportMetric(kept/n, "B/event")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/(float64(b.N)*n), "ns/event")
}

// heap returns the number of reachable bytes.
func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkTimelineAt makes past sessions at random places in a million events. The events belong to consecutive
// turns, to one long call, or to 200 calls that alternate.
func BenchmarkTimelineAt(b *testing.B) {
	for _, c := range []struct {
		name   string
		size   int // number of bytes of a call's arguments
		atOnce int
	}{{"turns", 16 << 10, 1}, {"long", 14 << 20, 1}, {"200", 70 << 10, 200}, {"200short", 4 << 10, 200}} {
		b.Run(c.name, func(b *testing.B) {
			tl := manyTurns(1_000_000, c.size, c.atOnce)
			rng := rand.New(rand.NewPCG(1, 2))
			var took []time.Duration
			b.ReportAllocs()
			for b.Loop() {
				n, began := rng.IntN(tl.Len()), time.Now()
				tl.At(n)
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs-p99")
			b.ReportMetric(longestStride(tl), "events-stride")
		})
	}
}

// longestStride returns the maximum number of events that are folded to make a past session.
func longestStride(tl *Timeline) float64 {
	longest, last := 0, 0
	for _, c := range append(slices.Clone(tl.checkpoints), checkpoint{events: tl.Len()}) {
		longest, last = max(longest, c.events-last), c.events
	}
	return float64(longest)
}

// manyTurns returns a timeline of about n events: turns with one call each, atOnce of them in parallel.
func manyTurns(n, size, atOnce int) *Timeline {
	tl := new(Timeline)
	events := append(sampleEvents(size), closed(CloseEnd))
	for first := int32(0); tl.Len() < n; first += int32(atOnce) {
		for _, e := range events {
			for turn := range int32(atOnce) {
				tl.Append(inTurn(first+turn, e))
			}
		}
	}
	return tl
}
