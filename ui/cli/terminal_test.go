//go:build linux

package cli

import (
	"bytes"
	"math/rand"
	"regexp"
	"slices"
	"testing"
	"time"

	"toolscope/themes"
)

const capturedDemo = "demo/parallel.tsc"

// colourSequence matches an escape sequence that changes colours.
var colourSequence = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// TestSilentTerminal checks that commands without a screen do not query the terminal, and that the screen does not
// wait for a terminal that does not respond. Bubble Tea would also query the cursor, which this terminal does not
// allow.
func TestSilentTerminal(t *testing.T) {
	for _, args := range [][]string{
		{"version"}, {"--version"}, {"--help"}, {"print", capturedDemo}, {"print", "--format", "jsonl", capturedDemo},
		{"demo", "--list"}, {"help", "keys"}, {"completion", "bash"}, {"no-such-file"},
	} {
		p := start(t, launch{args: args, env: []string{"COLORFGBG="}})
		if code := p.exit(); code != 0 && args[0] != "no-such-file" {
			t.Errorf("%v: exit code %d:\n%s", args, code, p.describe())
		}
		out := p.out
		if args[0] == "print" && args[1] == capturedDemo { // with colours
			out = colourSequence.ReplaceAll(out, nil)
		}
		if len(out) == 0 || bytes.IndexByte(out, '\x1b') >= 0 {
			t.Errorf("%v writes %q", args, p.out)
		}
	}
	began := time.Now()
	p := start(t, launch{args: []string{"open", capturedDemo}, env: []string{"COLORFGBG="}, asks: true})
	p.untilShown("Calls")
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the first frame took %v", took)
	}
	if got := now(p, func(s *screen) []string { return s.queries }); !slices.Equal(got, []string{"background", "kind"}) {
		t.Errorf("the terminal was asked for %q", got)
	}
	p.keys("q")
	p.wantExit(0)
	p.wantRestored()
}

// frames returns two frames of the demo: one with the list in focus and one with the arguments in focus.
func frames(t *testing.T, l launch) (list, document string, p *console) {
	t.Helper()
	l.args = append([]string{"open", capturedDemo}, l.args...)
	p = start(t, l)
	p.untilFrame("END")
	p.untilFrame("enter open ")
	list = now(p, (*screen).text)
	p.keys("2")
	p.untilFrame("- + fold")
	document = now(p, (*screen).text)
	p.keys("?")
	p.untilShown("esc close")
	p.keys("q4")
	p.untilShown("enter frame")
	p.keys("\r\x03")
	p.wantExit(130)
	return list, document, p
}

func TestNoColour(t *testing.T) {
	t.Parallel()
	wantList, wantDocument, p := frames(t, launch{})
	if p.screen.colours == 0 {
		t.Fatal("there are no colours at all")
	}
	for name, l := range map[string]launch{
		"NO_COLOR":   {env: []string{"NO_COLOR=1"}},
		"CLICOLOR":   {env: []string{"CLICOLOR=0"}},
		"--no-color": {args: []string{"--no-color"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, document, p := frames(t, l)
			if p.screen.colours > 0 {
				t.Errorf("%d colours", p.screen.colours)
			}
			if list != wantList || document != wantDocument {
				t.Errorf("the words differ: list\n%s\ndocument\n%s", list, document)
			}
		})
	}
}

func TestASCII(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]launch{
		"--ascii": {args: []string{"--ascii"}},
		"LANG":    {env: []string{"LANG=C"}},
		"LC_ALL":  {env: []string{"LC_ALL=POSIX"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, p := frames(t, l)
			wantASCII(t, p.out)
		})
	}
}

func wantASCII(t *testing.T, out []byte) {
	t.Helper()
	for i, b := range out {
		if b > 0x7e {
			t.Errorf("%#02x written in %q", b, out[max(0, i-60):min(len(out), i+60)])
			return
		}
	}
}

// TestResizeStorm checks a window that keeps changing its size. At the end, it must show the same picture as a window
// that was not resized.
func TestResizeStorm(t *testing.T) {
	t.Parallel()
	args := []string{"demo", "parallel", "--speed", "16"}
	calm := start(t, launch{args: args})
	p := start(t, launch{args: args})
	random := rand.New(rand.NewSource(1))
	for i := range 200 {
		w, h := 1+random.Intn(500), 1+random.Intn(200)
		if i%3 == 0 {
			w, h = 1+random.Intn(40), 1+random.Intn(12)
		}
		p.resize(w, h)
		if i%4 == 0 {
			p.until("a whole frame", (*screen).whole)
		}
	}
	p.resize(80, 24)
	for _, each := range []*console{calm, p} {
		each.untilFrame("END")
		each.keys("G?") // go to the end; on a slow machine, the demo may already be there
		each.untilShown("esc close")
		each.keys("q")
		each.untilFrame("? keys  enter open ") // the list of keys contains "enter open" too
	}
	want := now(calm, (*screen).text)
	p.until("the picture of the calm window\n"+want, func(s *screen) bool { return s.text() == want })
	for _, each := range []*console{p, calm} {
		each.keys("q")
		each.wantExit(0)
		each.wantRestored()
	}
}

// accent returns the colour of the current position.
func accent(s *screen) string {
	return s.cells[0][1].fg // colour of the first part of the path
}

const (
	saysLight = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\"
	saysDark  = "\x1b]11;rgb:1e1e/1e1e/1e1e\a"
	saysKind  = "\x1b[?62;22c"
)

// TestBackground checks that the theme suits the background that the terminal reports. On a busy machine, the report
// may arrive too late, so the test retries.
func TestBackground(t *testing.T) {
	t.Parallel()
	light, dark := themes.Default(false).Accent.FG, themes.Default(true).Accent.FG
	for name, c := range map[string]struct {
		answers map[string]string
		want    string
	}{
		"light":          {map[string]string{"background": saysLight, "kind": saysKind}, light},
		"dark":           {map[string]string{"background": saysDark, "kind": saysKind}, dark},
		"unknown":        {map[string]string{"kind": saysKind}, dark},
		"garbage":        {map[string]string{"background": "\x1b]11;rgb:no/such/colour\x1b\\", "kind": saysKind}, dark},
		"without a kind": {map[string]string{"background": saysLight}, light},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for try := 1; ; try++ {
				p := start(t, launch{args: []string{"open", capturedDemo}, env: []string{"COLORFGBG="}, asks: true,
					answer: func(p *console, query string) { p.keys(c.answers[query]) }})
				p.untilFrame("END")
				got := now(p, accent)
				p.keys("q")
				p.wantExit(0)
				if got == c.want {
					return
				}
				if try == 5 {
					t.Fatalf("accent %s, want %s", got, c.want)
				}
			}
		})
	}
}

// TestLateAnswer checks that a report that arrives after the program has started is not handled as keys.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	p := start(t, launch{args: []string{"open", capturedDemo}, env: []string{"COLORFGBG="}, asks: true})
	p.untilFrame("enter open ")
	p.untilFrame("END")
	before := now(p, (*screen).text)
	p.keys(saysLight + saysDark + saysKind)
	p.keys("?")
	p.untilShown("esc close")
	p.keys("q")
	p.until("the picture from before\n"+before, func(s *screen) bool { return s.text() == before })
	p.keys("q")
	p.wantExit(0)
}

// TestTypedAhead checks that keys typed before the screen opened are handled, even if they are mixed with the
// terminal's reports.
func TestTypedAhead(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]launch{
		"not asked": {},
		"asked":     {env: []string{"COLORFGBG="}, asks: true},
		"answered":  {env: []string{"COLORFGBG="}, asks: true, typed: "2?" + saysLight + saysKind},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l.args = []string{"open", capturedDemo}
			if l.typed == "" {
				l.typed = "2?"
			}
			p := start(t, l)
			p.untilShown("esc close")
			p.keys("q")
			p.untilFrame("- + fold")
			p.keys("\x03")
			p.wantExit(130)
			p.wantRestored()
		})
	}
}
