package ui

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"toolscope/stream"
	"toolscope/ui/screen"
)

// sizes has windows for every layout: too narrow for two panes, two columns, three columns, and huge.
var sizes = [][2]int{{20, 5}, {40, 10}, {72, 16}, {80, 24}, {140, 40}, {160, 45}, {250, 60}, {250, 80}}

// looks are different views of the same data: keys from the browse mode, and the keys that lead back to it.
var looks = []struct{ keys, back string }{
	{"", ""}, {"2", ""}, {"2r", "r"}, {"2<enter>", "<esc>"}, {"4", ""}, {"4<enter>", "<enter>"}, {"3", ""}, {"z", "z"},
	{"2z", "z"}, {"4z<enter>", "<enter>z"}, {"?", "<esc>"}, {"/e", "<esc>"}, {"1g", ""}, {"1g2", ""}, {"1/zz\x00", "<esc>"}, {"1G2", ""},
	{"R", "<esc>"}, {"Rj<tab>jr", "<esc><esc>"}, {"RGpmx", "<esc><esc>"}, {"a", "<esc>"}, {"aeb<tab>", "<esc>"}, {"=", "<esc>"}, {"1gm1Gm=lG", "<esc>1gm1Gm"},
	{"p", "<esc>"}, {"pj<tab>p", "<esc>"}, {"pss", "<esc>"}, {"pPsr<enter>", "<esc><esc>"}, {"pl<enter>l", "<esc><esc>"}, {"p<enter>h", "<esc><esc>"},
}

// checkFrame fails the test unless the frame is exactly as high and as wide as the window. The only control
// characters in it may be line ends and SGR sequences. checkFrame returns the frame's text.
func checkFrame(t testing.TB, s *rig) string {
	t.Helper()
	checkKeys(t, s.modeStack.activeMode().Keys())
	view := s.View()
	rows := strings.Split(view, "\n")
	if len(rows) != s.h {
		t.Fatalf("%d rows at %dx%d:\n%s", len(rows), s.w, s.h, ansi.Strip(view))
	}
	for i, row := range rows {
		text := checkControls(t, row, s)
		rows[i] = text
		if w := ansi.StringWidth(text); w != s.w {
			t.Fatalf("row %d has %d cells at %dx%d: %q\n%s", i, w, s.w, s.h, text, ansi.Strip(view))
		}
		if s.opt.ASCII && strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("row %d is not ASCII: %q", i, text)
		}
	}
	return strings.Join(rows, "\n")
}

// checkKeys fails the test if a key is bound twice, or if it has no action and is not a hint.
func checkKeys(t testing.TB, keys []screen.Binding) {
	t.Helper()
	bound := map[string]bool{}
	for _, b := range keys {
		if b.Do == nil && !b.HasHint() {
			t.Fatalf("%q do nothing", b.Keys)
		}
		for _, key := range b.Keys {
			if bound[key] {
				t.Fatalf("%q is bound twice", key)
			}
			bound[key] = true
		}
	}
}

// checkControls interprets a row as a terminal would, and returns its text.
func checkControls(t testing.TB, row string, s *rig) string {
	t.Helper()
	var text strings.Builder
	parser := s.parser
	for state := byte(0); row != ""; {
		seq, width, n, next := ansi.DecodeSequence(row, state, parser)
		first, _ := utf8.DecodeRuneInString(seq)
		switch {
		case width > 0, first >= 0xa0 && first != utf8.RuneError: // marks follow the ASCII character to which they belong
			text.WriteString(seq)
		case ansi.HasCsiPrefix(seq) && ansi.Cmd(parser.Command()) == 'm' && strings.HasSuffix(seq, "m"):
			if s.opt.Depth == colourlessDepth && coloured(parser.Params()) {
				t.Fatalf("a colour where there are none: %q", seq)
			}
		default:
			t.Fatalf("%q is on the screen", seq)
		}
		row, state = row[n:], next
	}
	return text.String()
}

// coloured reports whether an SGR sequence sets a colour.
func coloured(params ansi.Params) bool {
	for _, p := range params {
		if n := p.Param(0); n >= 30 && n < 60 || n >= 90 && n < 110 {
			return true
		}
	}
	return false
}

// quartet returns the same screen four times: in Unicode and in ASCII, each with and without colour.
func quartet(t testing.TB) []*rig {
	return []*rig{
		newScreen(t, 80, 24), newScreen(t, 80, 24, colourless), newScreen(t, 80, 24, ascii), newScreen(t, 80, 24, ascii, colourless),
	}
}

// checkQuartet checks the frames, and that colours do not change the text.
func checkQuartet(t testing.TB, screens []*rig) {
	t.Helper()
	colour := ""
	for i, s := range screens {
		text := checkFrame(t, s)
		if i%2 == 1 && text != colour {
			t.Fatalf("without colours:\n%s\nwith:\n%s", text, colour)
		}
		colour = text
	}
}

// tour checks every view at each of the given sizes. Without TOOLSCOPE_LONG, it checks every second view; which ones
// depends on the number of events.
func tour(t testing.TB, sizes [][2]int, screens ...*rig) {
	t.Helper()
	for _, size := range sizes {
		for _, s := range screens {
			s.resize(size[0], size[1])
		}
		for i, look := range looks {
			if thin() > 1 && (i+screens[0].in.Timeline.Len())%2 == 0 {
				continue
			}
			for _, s := range screens {
				if s.press(look.keys); s.cmd != nil && !s.isKeyUnknown && strings.HasSuffix(look.keys, "<enter>") {
					s.settle()
				}
			}
			checkQuartet(t, screens)
			for _, s := range screens {
				s.press(look.back)
			}
		}
		for _, s := range screens {
			s.press("1F") // two key presses, because an earlier key stopped following
			if !s.follow {
				s.press("F")
			}
		}
	}
}

// halfOf returns the sizes with an even index, or those with an odd one. With TOOLSCOPE_LONG, it returns all sizes.
func halfOf(sizes [][2]int, n int) (some [][2]int) {
	if thin() == 1 {
		return sizes
	}
	for i := n % 2; i < len(sizes); i += 2 {
		some = append(some, sizes[i])
	}
	return some
}

// TestFramesOfDemos checks every pane and mode while the demos stream.
func TestFramesOfDemos(t *testing.T) {
	drawsAlone(t)
	for n, name := range []string{"parallel", "cut", "index-zero", "malformed", "schema", "protocols", "aistudio", "history", "compare"} {
		screens := quartet(t)
		for i, r := range demo(t, name) {
			for _, s := range screens {
				s.feed(r)
			}
			checkQuartet(t, screens)
			if i%(20*thin()) == 7 {
				tour(t, halfOf(sizes[:6], n), screens...)
			}
		}
		for _, s := range screens {
			s.end()
		}
		tour(t, halfOf(sizes[thin()-1:], n), screens...)
	}
}

// TestFramesOfFixtures checks the frames of every fixture of every protocol, cut into small records. Without
// TOOLSCOPE_LONG, it checks one fixture in 21, including some of each protocol.
func TestFramesOfFixtures(t *testing.T) {
	drawsAlone(t)
	for i, f := range fixtures(t) {
		if i%thin() != 0 || thin() > 1 && i%3 != 0 {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			screens := quartet(t)
			for _, s := range screens {
				for at := 0; at < len(f.wire); at += 50 {
					s.feed(stream.Record{Data: f.wire[at:min(at+50, len(f.wire))]})
				}
				s.end()
			}
			tour(t, sizes[3:4], screens...)
		})
	}
}

// TestFramesOfAnySize checks the frames while a demo streams and the window is resized at random.
func TestFramesOfAnySize(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	records := demo(t, "parallel")
	s := newScreen(t, 80, 24)
	for i := range 200 {
		if i < len(records) {
			s.feed(records[i])
		}
		s.resize(1+random.IntN(260), 1+random.IntN(90))
		if i%3 == 0 {
			s.press(looks[i/3%len(looks)].keys)
		}
		checkFrame(t, s)
		if small := s.w < minWidth || s.h < minHeight; small != strings.HasPrefix("at least 20x5", strings.TrimRight(s.rows()[0], "… ")) {
			t.Fatalf("at %dx%d:\n%s", s.w, s.h, s.text())
		}
		s.press("<esc><esc>")
	}
}

// TestTooSmall checks that below the minimum size, there is a message that fits.
func TestTooSmall(t *testing.T) {
	for w := 1; w <= 21; w++ {
		for h := 1; h <= 6; h++ {
			s := newScreen(t, w, h).feed(demo(t, "cut")...)
			checkFrame(t, s)
			if small := strings.HasPrefix(s.text(), "at"); w > 2 && small != (w < 20 || h < 5) {
				t.Errorf("at %dx%d:\n%s", w, h, s.text())
			}
		}
	}
}
