package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// code returns a string of about size bytes that looks like code written by a model.
func code(size int) string {
	line := `\tif err := step(ctx, \"name\"); err != nil { return fmt.Errorf(\"読み込み: %w\", err) }\n`
	return strings.Repeat(line, size/len(line)+1)
}

// members returns arguments with n rows.
func members(n int) string {
	var b strings.Builder
	b.WriteString(`{"edits":[`)
	for i := range n {
		fmt.Fprintf(&b, `%d,`, 1000+i%1000)
	}
	return b.String()
}

// big returns a screen that follows a call with the given arguments.
func big(t testing.TB, w, h int, args string) *rig {
	return newScreen(t, w, h).feed(new(anthropic).open("msg_1").call("toolu_1", "write_file", chop(args, 1000)...).records...)
}

// BenchmarkView measures one frame. The time must not depend on the length of the document.
func BenchmarkView(b *testing.B) {
	for _, size := range [][2]int{{120, 50}, {200, 50}} {
		for _, args := range []int{1 << 10, 32 << 10, 1 << 20, 8 << 20} {
			b.Run(fmt.Sprintf("%dx%d/%dk", size[0], size[1], args>>10), func(b *testing.B) {
				benchmarkView(b, big(b, size[0], size[1], `{"path":"main.go","content":"`+code(args)))
			})
		}
		for _, rows := range []int{50, 5_000, 50_000} {
			b.Run(fmt.Sprintf("%dx%d/%drows", size[0], size[1], rows), func(b *testing.B) {
				benchmarkView(b, big(b, size[0], size[1], members(rows)))
			})
		}
	}
}

func benchmarkView(b *testing.B, s *rig) {
	b.ReportAllocs()
	for b.Loop() {
		s.View()
	}
}

// manyCalls returns a stream of n calls that are all still growing, and a function that makes the next delta of one
// call.
func manyCalls(n int) (opened []stream.Record, delta func(i int) stream.Record) {
	a := new(anthropic).open("msg_1")
	for range n {
		a.call(fmt.Sprint("toolu_", a.blocks), "write_file", `{"path":"main.go","content":"`)
		a.blocks++
	}
	return a.records, func(i int) stream.Record {
		return stream.Record{Data: fmt.Appendf(nil, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":%d,"+
			"\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"some text %d\\\\n\"}}\n\n", i%n, i)}
	}
}

// BenchmarkLive measures one frame while 200 calls grow at 10,000 deltas per second: a batch of 167 deltas,
// and the view after the batch.
func BenchmarkLive(b *testing.B) {
	opened, delta := manyCalls(200)
	s := newScreen(b, 120, 50).feed(opened...)
	n := 0
	put := func() {
		for range 167 {
			s.inbox.Put(delta(n))
			n++
		}
	}
	b.Run("update", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			put()
			s.send(inboxReady{})
		}
	})
	b.Run("view", func(b *testing.B) { benchmarkView(b, s) })
}

// BenchmarkFrames measures the 99th percentile of the time for a frame while 200 calls grow, at one size for each
// layout. It measures the drawing alone, and the drawing together with the batch before it.
func BenchmarkFrames(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {140, 40}, {250, 60}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			opened, delta := manyCalls(200)
			s := newScreen(b, size[0], size[1]).feed(opened...)
			var drew, took []time.Duration
			for n := 0; b.Loop(); {
				for range 167 {
					s.inbox.Put(delta(n))
					n++
				}
				began := time.Now()
				s.send(inboxReady{})
				taken := time.Now()
				s.View()
				drew, took = append(drew, time.Since(taken)), append(took, time.Since(began))
			}
			for unit, all := range map[string][]time.Duration{"draw-µs/p99": drew, "µs/p99": took} {
				slices.Sort(all)
				b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), unit)
			}
		})
	}
}

// BenchmarkViews measures drawing the modes that cover the screen, and updating them when nothing has
// changed.
func BenchmarkViews(b *testing.B) {
	for _, keys := range []string{"1gR", "1gja", "1g="} {
		b.Run(keys[2:], func(b *testing.B) {
			s := newScreen(b, 140, 40).feed(threeAnswers(b)...).press(keys)
			for b.Loop() {
				s.modeStack.extendModes()
				s.View()
			}
		})
	}
}

// manyTurns returns a screen with n responses. Each response has one call.
func manyTurns(t testing.TB, n int) *rig {
	s := newScreen(t, 120, 50)
	var all []byte
	for _, r := range new(anthropic).open("msg_1").call("toolu_1", "tool", `{"a":1}`).seal().stop("tool_use").records {
		all = append(all, r.Data...)
	}
	for i := range n {
		s.inbox.Put(stream.Record{Exchange: i, Data: all, End: true})
	}
	for s.inbox.Waiting() > 0 {
		s.send(inboxReady{})
	}
	return s
}

// BenchmarkTurns measures a frame and an update with many turns.
func BenchmarkTurns(b *testing.B) {
	for _, n := range []int{500, 50_000} {
		s := manyTurns(b, n)
		b.Run(fmt.Sprintf("%d/view", n), func(b *testing.B) { benchmarkView(b, s) })
		b.Run(fmt.Sprintf("%d/update", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.feed(stream.Record{Exchange: n, Data: []byte(": ping\n\n")})
			}
		})
		b.Run(fmt.Sprintf("%d/move", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.press("kj")
			}
		})
	}
}

// BenchmarkFindings measures a frame and an update of a stream in which every frame has a finding.
func BenchmarkFindings(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		s := newScreen(b, 160, 50).feed(new(anthropic).open("msg_1").call("toolu_1", "tool", "{").records...)
		for range n {
			found := remark.Finding("")
			s.in.Timeline.Append(stream.Event{Kind: stream.Found, What: &found})
		}
		bad := stream.Record{Data: []byte("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":7,\"delta\":{\"type\":\n\n")}
		for range n {
			s.inbox.Put(bad)
		}
		for s.inbox.Waiting() > 0 {
			s.send(inboxReady{})
		}
		b.Run(fmt.Sprintf("%d/view", n), func(b *testing.B) { benchmarkView(b, s) })
		b.Run(fmt.Sprintf("%d/update", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.feed(bad)
			}
		})
	}
}
