package ui

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"toolscope/stream"
	"toolscope/stream/jsonbytes"
	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/screen"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// code is a string of about size bytes such as a model writes.
func code(size int) string {
	line := `\tif err := step(ctx, \"name\"); err != nil { return fmt.Errorf(\"読み込み: %w\", err) }\n`
	return strings.Repeat(line, size/len(line)+1)
}

// members are n rows of a document.
func members(n int) string {
	var b strings.Builder
	b.WriteString(`{"edits":[`)
	for i := range n {
		fmt.Fprintf(&b, `%d,`, 1000+i%1000)
	}
	return b.String()
}

// big is a screen that follows a call with these arguments.
func big(t testing.TB, w, h int, args string) *rig {
	return newScreen(t, w, h).feed(new(anthropic).open("msg_1").call("toolu_1", "write_file", chop(args, 1000)...).records...)
}

// BenchmarkView is one frame. It must not depend on how long the document is.
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

// shown is a document pane of 50 rows of 200 cells with these arguments.
func shown(args string) *document {
	d := new(document)
	d.show(callOf(args), 200, display.Drawer{})
	d.extend(50)
	d.Scroll(40)
	return d
}

// BenchmarkDocument is the document pane's part of a frame of 50 rows of 200
// cells: from spans, and the same text with a lipgloss style for each of them.
func BenchmarkDocument(b *testing.B) {
	for _, c := range []struct{ name, args string }{
		{"members", `{"edits":[` + strings.Repeat(`{"line":1024,"keep":true,"tag":"`+strings.Repeat("text ", 30)+`"},`, 100)},
		{"code", `{"content":"` + strings.Repeat(`\tif err != nil { return fmt.Errorf(\"step %d: %w\", n, err) }\n`, 500)},
		{"wide", `{"content":"` + strings.Repeat(`読み込みに失敗しました。`, 1000)},
	} {
		d, p := shown(c.args), &newScreen(b, 200, 52).pen
		b.Run(c.name+"/spans", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				drawDocument(p, d)
			}
			b.ReportMetric(float64(len(p.Frame())), "bytes")
		})
		b.Run(c.name+"/lipgloss", func(b *testing.B) {
			styles := lipglossStyles(p.Ink.Theme)
			b.ReportAllocs()
			for b.Loop() {
				lipglossDocument(styles, d)
			}
		})
	}
}

// drawDocument draws 50 rows from the top.
func drawDocument(p *screen.Pen, d *document) {
	p.Reset()
	for n := range 50 {
		p.Field(202)
		d.draw(p, d.Top+n, true)
		p.Newline()
	}
}

func lipglossStyles(t themes.Theme) map[screen.Role]lipgloss.Style {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.TrueColor)
	styles := map[screen.Role]lipgloss.Style{}
	for role, ink := range map[screen.Role]themes.Ink{
		screen.KeyToken: t.Key, screen.StringToken: t.String, screen.NumberToken: t.Number, screen.LiteralToken: t.Literal, screen.PunctToken: t.Punct, screen.JunkToken: t.Junk, screen.EscapeToken: t.Escape, screen.Plain: {},
	} {
		styles[role] = ink.Style().Renderer(r)
	}
	return styles
}

// lipglossDocument is how it is usually done: a Style for each span.
func lipglossDocument(styles map[screen.Role]lipgloss.Style, d *document) string {
	var b strings.Builder
	put := func(r screen.Role, text []byte) {
		b.WriteString(styles[r].Render(display.Drawer{}.CleanBytes(text).String()))
	}
	toks, text := d.tokens(), d.call.Args()
	for _, row := range d.rows()[d.Top : d.Top+50] {
		b.WriteString(strings.Repeat(" ", int(row.Indent)))
		off := int(row.Start)
		for n := int(row.Token); n < len(toks) && off < int(row.End); n++ {
			rest := text[off:max(off, min(int(toks[n].End), int(row.End)))]
			for off += len(rest); len(rest) > 0; {
				k, r := bytes.IndexByte(rest, '\\'), screen.TokenRoles[toks[n].Kind]
				switch {
				case k < 0:
					k = len(rest)
				case k == 0:
					k, r = jsonbytes.EscapeLen(rest), screen.EscapeToken
				}
				put(r, rest[:k])
				rest = rest[k:]
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// manyCalls is a stream of n calls that all still grow, and a function that
// makes the next delta of one of them.
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

// BenchmarkLive is what one frame costs while 200 calls grow at 10,000 deltas
// a second: a batch of 167 deltas, and the view after it.
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
			s.send(arrived{})
		}
	})
	b.Run("view", func(b *testing.B) { benchmarkView(b, s) })
}

// BenchmarkViews draws the modes that cover the screen, and has them look for what
// is new when nothing is.
func BenchmarkViews(b *testing.B) {
	for _, keys := range []string{"1gR", "1gja", "1g="} {
		b.Run(keys[2:], func(b *testing.B) {
			s := newScreen(b, 140, 40).feed(threeAnswers(b)...).press(keys)
			for b.Loop() {
				s.prepare()
				s.View()
			}
		})
	}
}

// manyTurns is a screen with n responses of a call each.
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
		s.send(arrived{})
	}
	return s
}

// BenchmarkTurns is a frame and an update when there are many turns.
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

// BenchmarkFindings is a frame and an update of a stream of which every frame
// is worth a remark.
func BenchmarkFindings(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		s := newScreen(b, 160, 50).feed(new(anthropic).open("msg_1").call("toolu_1", "tool", "{").records...)
		for range n {
			s.in.Timeline.Append(stream.Event{Kind: stream.Found, More: &stream.Detail{Finding: remark.Finding("")}})
		}
		bad := stream.Record{Data: []byte("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":7,\"delta\":{\"type\":\n\n")}
		for range n {
			s.inbox.Put(bad)
		}
		for s.inbox.Waiting() > 0 {
			s.send(arrived{})
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

// BenchmarkFind looks for what is not there in a big document.
func BenchmarkFind(b *testing.B) {
	text := []byte(code(8 << 20))
	for _, query := range []string{"nowhere", "Nowhere"} {
		b.Run(query, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				findAll(text, query)
			}
		})
	}
}

// BenchmarkShow is choosing a call, and so laying it out.
func BenchmarkShow(b *testing.B) {
	c := callOf(`{"content":"` + code(8<<20))
	b.SetBytes(int64(len(c.Args())))
	for b.Loop() {
		d := new(document)
		d.show(c, 100, display.Drawer{})
		d.extend(50)
	}
}
