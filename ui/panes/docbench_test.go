package panes

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"toolscope/stream/json"
	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// shown returns a document pane of 50 rows of 200 cells with these arguments.
func shown(args string) *Document {
	d := new(Document)
	d.Show(callOf(args), 200, display.Drawer{})
	d.Extend(50)
	d.Scroll(40)
	return d
}

// BenchmarkDocument measures the document pane's part of a frame of 50 rows of 200 cells. It draws the text
// from spans, and then with a lipgloss style for each span.
func BenchmarkDocument(b *testing.B) {
	for _, c := range []struct{ name, args string }{
		{"members", `{"edits":[` + strings.Repeat(`{"line":1024,"keep":true,"tag":"`+strings.Repeat("text ", 30)+`"},`, 100)},
		{"code", `{"content":"` + strings.Repeat(`\tif err != nil { return fmt.Errorf(\"step %d: %w\", n, err) }\n`, 500)},
		{"wide", `{"content":"` + strings.Repeat(`読み込みに失敗しました。`, 1000)},
	} {
		d, p := shown(c.args), testPen(display.Drawer{})
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
func drawDocument(p *screen.Pen, d *Document) {
	p.Reset()
	for n := range 50 {
		p.Field(202)
		d.Draw(p, d.Top+n, true)
		p.Newline()
	}
}

func lipglossStyles(t themes.Theme) map[screen.Role]lipgloss.Style {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.TrueColor)
	styles := map[screen.Role]lipgloss.Style{}
	for role, ink := range map[screen.Role]themes.TextStyle{
		screen.KeyToken: t.Key, screen.StringToken: t.String, screen.NumberToken: t.Number, screen.LiteralToken: t.Literal, screen.PunctToken: t.Punct, screen.JunkToken: t.Junk, screen.EscapeToken: t.Escape, screen.Plain: {},
	} {
		styles[role] = ink.ToLipgloss().Renderer(r)
	}
	return styles
}

// lipglossDocument draws a document in the usual way, with a Style for each span.
func lipglossDocument(styles map[screen.Role]lipgloss.Style, d *Document) string {
	var b strings.Builder
	put := func(r screen.Role, text []byte) {
		b.WriteString(styles[r].Render(display.Drawer{}.CleanBytes(text).String()))
	}
	toks, text := d.callTokens(), d.Call.Args()
	for _, row := range d.layoutRows()[d.Top : d.Top+50] {
		b.WriteString(strings.Repeat(" ", int(row.Indent)))
		off := int(row.Start)
		for n := int(row.Token); n < toks.Len() && off < int(row.End); n++ {
			rest := text[off:max(off, min(int(toks.At(n).End), int(row.End)))]
			for off += len(rest); len(rest) > 0; {
				k, r := bytes.IndexByte(rest, '\\'), screen.TokenRoles[toks.At(n).Kind]
				switch {
				case k < 0:
					k = len(rest)
				case k == 0:
					k, r = json.EscapeLen(rest), screen.EscapeToken
				}
				put(r, rest[:k])
				rest = rest[k:]
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// BenchmarkFind searches a large document for a string that it does not contain.
func BenchmarkFind(b *testing.B) {
	text := []byte(codeText(8 << 20))
	for _, query := range []string{"nowhere", "Nowhere", "erreert", "return nol"} {
		b.Run(query, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				FindAll(text, query)
			}
		})
	}
}

// BenchmarkShow measures selecting a call, which lays out its arguments.
func BenchmarkShow(b *testing.B) {
	c := callOf(`{"content":"` + codeText(8<<20))
	b.SetBytes(int64(len(c.Args())))
	for b.Loop() {
		d := new(Document)
		d.Show(c, 100, display.Drawer{})
		d.Extend(50)
	}
}

// TestDocumentPane checks that the visible part of a document is drawn almost without allocations, and many times
// faster than with a style rendered for each span.
func TestDocumentPane(t *testing.T) {
	if os.Getenv("TOOLSCOPE_LONG") == "" {
		t.Skip("measured with TOOLSCOPE_LONG=1 alone, and not with the race detector")
	}
	d, p := shown(`{"content":"`+strings.Repeat(`\tif err != nil { return fmt.Errorf(\"step %d: %w\", n, err) }\n`, 500)), testPen(display.Drawer{})
	if n := testing.AllocsPerRun(100, func() { drawDocument(p, d) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
	styles := lipglossStyles(p.Ink.Theme)
	each := func(f func()) float64 {
		return float64(testing.Benchmark(func(b *testing.B) {
			for b.Loop() {
				f()
			}
		}).NsPerOp())
	}
	times := each(func() { lipglossDocument(styles, d) }) / each(func() { drawDocument(p, d) })
	if t.Logf("%.0f times as fast as lipgloss for each span", times); times < 20 {
		t.Errorf("only %.1f times as fast as lipgloss for each span", times)
	}
}

// codeText returns about size bytes of source code, escaped as in a string that a model writes.
func codeText(size int) string {
	line := `\tif err := step(ctx, \"name\"); err != nil { return fmt.Errorf(\"読み込み: %w\", err) }\n`
	return strings.Repeat(line, size/len(line)+1)
}
