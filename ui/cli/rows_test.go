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
	cells [][]glassCell
	x, y  int
	style map[string]string // by kind: text colour, background, or attribute
	state byte
	bytes int
	odd   string // a sequence that the terminal does not support
}

// glassCell is the visible style and the text of a cell.
type glassCell struct{ style, text string }

func newGlass(w, h int) *glass {
	g := &glass{cells: make([][]glassCell, h)}
	for y := range g.cells {
		g.cells[y] = make([]glassCell, w)
	}
	g.style = map[string]string{}
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
		g.cells[g.y][g.x] = g.drawn(seq)
		for i := 1; i < width; i++ {
			g.cells[g.y][g.x+i] = glassCell{}
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
	case strings.HasSuffix(seq, "m"):
		g.setStyle(strings.Split(seq[2:len(seq)-1], ";"))
	case strings.HasSuffix(seq, "C"):
		if seq == "\x1b[C" {
			n = 1
		}
		fmt.Sscanf(seq, "\x1b[%dC", &n)
		g.x += n
	case strings.HasSuffix(seq, "H"):
		fmt.Sscanf(seq, "\x1b[%d;%dH", &n, &m)
		g.x, g.y = 0, n-1
	case seq == "\x1b[2K":
		g.erase(g.y, 0)
	case seq == "\x1b[K":
		if g.x == len(g.cells[0])-1 || g.drawn(" ").style != "" {
			g.odd = seq // terminals differ in what they erase
		}
		g.erase(g.y, g.x)
	case seq == "\x1b[2J":
		for y := range g.cells {
			g.erase(y, 0)
		}
	case strings.HasPrefix(seq, "\x1b[?"):
	default:
		g.odd = seq
	}
}

// erase makes cells blank.
func (g *glass) erase(y, x int) {
	for ; x < len(g.cells[y]); x++ {
		g.cells[y][x].style, g.cells[y][x].text = "", " "
	}
}

// setStyle applies SGR parameters.
func (g *glass) setStyle(parameters []string) {
	for len(parameters) > 0 {
		p, size := parameters[0], 1
		switch {
		case p == "" || p == "0":
			g.style = map[string]string{}
		case p == "38" || p == "48":
			size = 5
			g.style[p] = strings.Join(parameters[:size], ";")
		case p == "39" || p == "49":
			delete(g.style, string(p[0])+"8")
		case len(p) == 2 && p[0] == '3':
			g.style["38"] = p
		case p == "22":
			delete(g.style, "1")
			delete(g.style, "2")
		case len(p) == 2 && p[0] == '2':
			delete(g.style, p[1:])
		default:
			g.style[p] = p
		}
		parameters = parameters[size:]
	}
}

// drawn returns a cell with a text in the current style. Of a blank cell, only the background and attributes such as
// an underline are visible.
func (g *glass) drawn(text string) glassCell {
	var visible []string
	for kind, value := range g.style {
		if text != " " || g.style["7"] != "" || kind != "38" && kind != "1" && kind != "2" && kind != "3" {
			visible = append(visible, value)
		}
	}
	slices.Sort(visible)
	return glassCell{strings.Join(visible, " "), text}
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
		t.Logf("%d bytes instead of %d", thin.bytes, whole.bytes)
		if thin.bytes >= whole.bytes*3/4 || int64(thin.bytes) != to.written.Load() {
			t.Errorf("%d bytes and not %d; %d were counted", thin.bytes, whole.bytes, to.written.Load())
		}
	})
}

// BenchmarkRows measures writing the changes between two frames of 60 rows that differ completely, and between two
// frames that differ in one row.
func BenchmarkRows(b *testing.B) {
	rng := rand.New(rand.NewPCG(14, 2))
	frames := [2]string{}
	for i := range frames {
		rows := make([]string, 60)
		for y := range rows {
			rows[y] = strings.Repeat(scribble(rng, 20)+" plain text ", 7)
		}
		frames[i] = toStart + strings.Join(rows, "\r\n") + ansi.CursorPosition(0, len(rows))
	}
	for name, pair := range map[string][2]string{
		"all": {frames[0], frames[1]},
		"one": {frames[0], frames[0][:strings.LastIndex(frames[0], "\n")] + frames[1][strings.LastIndex(frames[1], "\n"):]},
	} {
		b.Run(name, func(b *testing.B) {
			to := &cellDiffWriter{stdStream: new(nowhere)}
			for n := 0; b.Loop(); n++ {
				if _, err := to.Write([]byte(pair[n%2])); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(to.written.Load())/float64(b.N), "written-B/op")
		})
	}
}

// nowhere is a terminal that ignores its input.
type nowhere struct{ tape }

func (*nowhere) Write(p []byte) (int, error) { return len(p), nil }

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

// TestKeyBytes checks that a key causes at most 8 kB of output at 140x40, even if it changes the whole screen.
func TestKeyBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, in := newGlass(140, 40), fileInbox()
		to := &cellDiffWriter{stdStream: g}
		p := tea.NewProgram(ui.New(ui.Options{Inbox: in, Written: to.written.Load, Depth: termenv.TrueColor, Theme: themes.Default(true)}),
			tea.WithInput(nil), tea.WithAltScreen(), tea.WithoutSignalHandler(), tea.WithOutput(to))
		ended := make(chan error)
		go func() { _, err := p.Run(); ended <- err }()
		p.Send(tea.WindowSizeMsg{Width: 140, Height: 40})
		src, err := demoSource(t.Context(), tour)
		if err != nil {
			t.Fatal(err)
		}
		for r := range src {
			in.Put(r)
		}
		in.Close(nil)
		settle := func() int {
			time.Sleep(5 * time.Second)
			synctest.Wait()
			return g.bytes
		}
		last, most := settle(), 0
		for _, key := range strings.Fields("! j G g s s S esc enter 2 3 4 5 6 7 8 9 esc ? esc : esc = esc o esc p esc h esc t esc R esc") {
			message := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(key)}
			switch key {
			case "esc":
				message = tea.KeyMsg{Type: tea.KeyEsc}
			case "enter":
				message = tea.KeyMsg{Type: tea.KeyEnter}
			}
			p.Send(message)
			now := settle()
			if most = max(most, now-last); now-last > 8_000 {
				t.Errorf("the key %s causes %d bytes", key, now-last)
			}
			last = now
		}
		if t.Logf("at most %d bytes", most); most < 1_000 {
			t.Error("no key changed the screen")
		}
		p.Quit()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
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
		for _, cell := range row {
			b.WriteString(cell.text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
