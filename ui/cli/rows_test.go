package cli

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"toolscope/capture"
	"toolscope/themes"
	"toolscope/ui"
)

// glass is an emulated terminal, with the bytes written to it and the content that they produce.
type glass struct {
	cells [][]string // paint and text of each cell
	x, y  int
	paint string
	state byte
	bytes int
	odd   string // a sequence that the terminal does not support
}

func newGlass(w, h int) *glass {
	g := &glass{cells: make([][]string, h)}
	for y := range g.cells {
		g.cells[y] = make([]string, w)
	}
	return g
}

func (*glass) Read([]byte) (int, error) { return 0, io.EOF }
func (*glass) Close() error             { return nil }
func (*glass) Fd() uintptr              { return ^uintptr(0) }

func (g *glass) Write(p []byte) (int, error) {
	g.bytes += len(p)
	rest := string(p)
	for rest != "" {
		seq, width, n, state := ansi.DecodeSequence(rest, g.state, nil)
		g.state, rest = state, rest[n:]
		if width == 0 {
			g.control(seq)
			continue
		}
		g.cells[g.y][g.x] = g.paint + seq
		for i := 1; i < width; i++ {
			g.cells[g.y][g.x+i] = ""
		}
		g.x = min(g.x+width, len(g.cells[0])-1)
	}
	return len(p), nil
}

func (g *glass) control(seq string) {
	var n, m int
	switch {
	case seq == "\r":
		g.x = 0
	case seq == "\n":
		g.y = min(g.y+1, len(g.cells)-1)
	case seq == "\x1b[H":
		g.x, g.y = 0, 0
	case seq == "\x1b[0m":
		g.paint = ""
	case strings.HasSuffix(seq, "m"):
		g.paint += seq
	case strings.HasSuffix(seq, "C"):
		fmt.Sscanf(seq, "\x1b[%dC", &n)
		g.x += n
	case strings.HasSuffix(seq, "H"):
		fmt.Sscanf(seq, "\x1b[%d;%dH", &n, &m)
		g.x, g.y = 0, n-1
	case seq == "\x1b[K", seq == "\x1b[2K":
		clear(g.cells[g.y][g.x:])
	case seq == "\x1b[2J":
		for _, row := range g.cells {
			clear(row)
		}
	case strings.HasPrefix(seq, "\x1b[?"):
	default:
		g.odd = seq
	}
}

// scribble returns text as a pane may write it.
func scribble(rng *rand.Rand, cells int) string {
	paints := []string{"", "", "\x1b[31m", "\x1b[1;38;2;230;159;0m", "\x1b[38;2;1;2;3;48;2;4;5;6m", "\x1b[7m"}
	words := []string{"a", "b", "1", "2", "·", "│", "▸", "読", "み", "é", "👩‍🔧", "m", " "}
	var b strings.Builder
	on := paints[rng.IntN(len(paints))]
	b.WriteString(on)
	for cells > 0 {
		if w := words[rng.IntN(len(words))]; ansi.StringWidth(w) <= cells {
			b.WriteString(w)
			cells -= ansi.StringWidth(w)
		}
	}
	if on != "" {
		b.WriteString(paintOff)
	}
	return b.String()
}

// painter draws random frames in which one or two panes change.
type painter struct {
	rng   *rand.Rand
	panes [3][]string
}

const painterRows = 6

func (p *painter) Init() tea.Cmd                       { return nil }
func (p *painter) Update(tea.Msg) (tea.Model, tea.Cmd) { return p, nil }
func (p *painter) View() string {
	for i := range p.panes {
		if p.panes[i] == nil {
			p.panes[i] = make([]string, painterRows)
		}
		for y := range p.panes[i] {
			if p.panes[i][y] == "" || p.rng.IntN(6) == 0 {
				p.panes[i][y] = scribble(p.rng, 4+i) + scribble(p.rng, 5)
			}
		}
	}
	var b strings.Builder
	for y := range painterRows {
		if y > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.panes[0][y] + "│" + p.panes[1][y] + "\x1b[2m│\x1b[0m" + p.panes[2][y])
	}
	return b.String()
}

const painterCells = 4 + 5 + 6 + 3*5 + 2

// TestRows checks that a terminal shows the same cells with the same paint as if each changed row were written
// completely, but that fewer bytes are written. This includes frames that redraw everything.
func TestRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole, thin := newGlass(painterCells, painterRows), newGlass(painterCells, painterRows)
		to := &cellDiffWriter{stdStream: thin}
		p := tea.NewProgram(&painter{rng: rand.New(rand.NewPCG(14, 1))}, tea.WithInput(nil), tea.WithAltScreen(),
			tea.WithoutSignalHandler(), tea.WithOutput(io.MultiWriter(whole, to)))
		ended := make(chan error)
		go func() { _, err := p.Run(); ended <- err }()
		p.Send(tea.WindowSizeMsg{Width: painterCells, Height: painterRows})
		for n := range 2000 {
			if p.Send(struct{}{}); n%500 == 499 {
				p.Send(tea.ClearScreen())
			}
			time.Sleep(time.Second / 50)
			synctest.Wait()
			for y := range whole.cells {
				if !slices.Equal(whole.cells[y], thin.cells[y]) {
					t.Fatalf("frame %d, row %d:\n%q\n%q", n, y, whole.cells[y], thin.cells[y])
				}
			}
		}
		p.Quit()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if whole.odd+thin.odd != "" {
			t.Errorf("unknown to the test: %q %q", whole.odd, thin.odd)
		}
		if thin.bytes >= whole.bytes*3/4 || int64(thin.bytes) != to.written.Load() {
			t.Errorf("%d bytes and not %d; %d were counted", thin.bytes, whole.bytes, to.written.Load())
		}
	})
}

// TestRowsPass checks that other output is written unchanged, and that the next frame is written completely. A frame
// that redraws everything, or whose rows have more than text and paints, must also be written completely.
func TestRowsPass(t *testing.T) {
	const first, second = "\x1b[H\rone two 1\r\nother row.\x1b[2;H", "\x1b[Hone two 2\r\n\x1b[2;H"
	for _, c := range []struct{ between, last, want string }{
		{"", second, "\x1b[H\x1b[8C2\r\n\x1b[2;H"},
		{"", "\x1b[Hone two!1\r\n\x1b[2;H", "\x1b[H\x1b[7C!\r\n\x1b[2;H"},
		{"\x1b[2J", second, second},
		{first, "\x1b[Hone\x1b]8;;x\aTWO 2\r\n\x1b[2;H", "\x1b[Hone\x1b]8;;x\aTWO 2\r\n\x1b[2;H"},
		{"", "\x1b[H\rone two 2\r\nother row.\x1b[2;H", "\x1b[Hone two 2\r\nother row.\r\x1b[2;H"},
		{"", "\x1b[Hno frame", "\x1b[Hno frame"},
	} {
		out := new(tape)
		to := &cellDiffWriter{stdStream: out}
		for _, p := range []string{first, c.between, c.last} {
			if p == "" {
				continue
			}
			out.Reset()
			if n, err := to.Write([]byte(p)); n != len(p) || err != nil {
				t.Fatalf("%d, %v", n, err)
			}
		}
		if out.String() != c.want {
			t.Errorf("%q, then %q: %q", c.between, c.last, out.String())
		}
	}
}

// tape is a terminal that only stores its input.
type tape struct{ bytes.Buffer }

func (*tape) Close() error { return nil }
func (*tape) Fd() uintptr  { return ^uintptr(0) }

// TestFarStream checks that a stream that is a hundred times as fast causes hardly any more output, and that the
// output per second is limited. At the end, the terminal must show the latest data.
func TestFarStream(t *testing.T) {
	took := map[int]int{}
	for _, perFrame := range []int{17, 1_700} {
		synctest.Test(t, func(t *testing.T) {
			g, in := newGlass(140, 40), fileInbox()
			to := &cellDiffWriter{stdStream: g}
			given := func() int { return int(to.written.Load()) }
			m := ui.New(ui.Options{Inbox: in, Written: to.written.Load, Depth: termenv.TrueColor, Theme: themes.Default(true)})
			p := tea.NewProgram(m, tea.WithInput(nil), tea.WithAltScreen(), tea.WithoutSignalHandler(), tea.WithOutput(to))
			ended := make(chan error)
			go func() { _, err := p.Run(); ended <- err }()
			p.Send(tea.WindowSizeMsg{Width: 140, Height: 40})
			say := func(event string) {
				in.Put(capture.Record{Exchange: 1, Data: fmt.Appendf(nil, "data: %s\n\n", event)})
			}
			say(`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[]}}`)
			say(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"write_file","input":{}}}`)
			say(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"lines\":[0"}}`)
			const second, seconds = 60, 3
			for n := range seconds * second {
				if n%second == 0 && n > second && given()-took[perFrame] > 100_000 {
					t.Errorf("%d bytes in a second", given()-took[perFrame])
				}
				if n%second == 0 {
					took[perFrame] = given()
				}
				for i := range perFrame {
					say(fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":",%d"}}`, n*perFrame+i))
				}
				time.Sleep(time.Second / second)
			}
			took[perFrame] = given()
			time.Sleep(time.Second)
			synctest.Wait()
			if last := fmt.Sprint(seconds*second*perFrame - 1); !strings.Contains(shownOn(g), last) {
				t.Errorf("the last number, %s, is not on the screen:\n%s", last, shownOn(g))
			}
			p.Quit()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			in.Close(nil)
		})
	}
	if took[1_700] > 2*took[17] {
		t.Errorf("%d bytes, and of the fast stream %d", took[17], took[1_700])
	}
	t.Logf("%v bytes", took)
}

// shownOn returns the text on a terminal.
func shownOn(g *glass) string {
	var b strings.Builder
	for _, row := range g.cells {
		b.WriteString(ansi.Strip(strings.Join(row, "")) + "\n")
	}
	return b.String()
}
