//go:build linux

package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"toolscope/themes"
	units "toolscope/ui/screen"
)

// TestHostileColours checks that text from outside is as harmless with colours as without, and that none of it is
// lost.
func TestHostileColours(t *testing.T) {
	inColours(t, "xterm-256color", "truecolor")
	files := hostileFiles(t)
	for _, args := range [][]string{{"print"}, {"check"}, {"replay"}, {"replay", "--to", "openai-chat", "--policy", "repair"}, {"diff"}} {
		args = append(args, files[:2]...)
		plain, coloured := command(t, nil, args...), command(t, nil, append(args, "--color", "always")...)
		wantClean(t, withoutInks(coloured.stdout))
		same(t, 0, args[0], withoutInks(coloured.stdout), plain.stdout)
	}
}

// onTerminal returns the output of a command on a terminal with the given number of columns. It leaves out terminal
// queries.
func onTerminal(t *testing.T, columns int, args ...string) string {
	t.Helper()
	p := start(t, launch{w: columns, args: args})
	p.exit()
	return strings.ReplaceAll(string(p.out), "\r\n", "\n")
}

// TestTerminalRows checks output on a terminal. No row may be too wide, the words must be the same as in a pipe, and
// the sign must be under the first wrong byte.
func TestTerminalRows(t *testing.T) {
	builtProgram(t) // from this folder
	names := savedDemo(t)
	blanks := regexp.MustCompile(`\s+`)
	for _, columns := range []int{40, 80, 200} {
		for _, args := range [][]string{{"check", names[0]}, {"check", "malformed.tsc"}, {"replay", "malformed.tsc"}, {"print", "malformed.tsc"}, {"diff", "schema.tsc", "early.tsc"}} {
			out := withoutInks(onTerminal(t, columns, args...))
			wantClean(t, out)
			for row := range strings.Lines(out) {
				if wide := ansi.StringWidth(strings.TrimRight(row, "\n")); wide > columns {
					t.Errorf("%v at %d columns: a row of %d cells: %q", args, columns, wide, row)
				}
			}
			plain := command(t, nil, args...).stdout
			if args[0] == "check" || args[0] == "replay" {
				same(t, 0, "text of "+args[0], blanks.ReplaceAllString(out, ""), blanks.ReplaceAllString(plain, ""))
			}
		}
	}
	out := strings.Split(withoutInks(onTerminal(t, 80, "print", "malformed.tsc")), "\n")
	n := slices.IndexFunc(out, func(row string) bool { return strings.HasPrefix(strings.TrimLeft(row, " "), "^") })
	if n < 1 || out[n-1][strings.Index(out[n], "^"):][:2] != "s," || !slices.ContainsFunc(out, func(row string) bool { return strings.HasPrefix(row, "  ✗ malformed  run_shell") }) {
		t.Errorf("no verdict, or no sign under the wrong byte:\n%s", strings.Join(out, "\n"))
	}
}

// TestTerminalColours checks that print uses the theme for the terminal's background if it is known, or else the
// terminal's own 16 colours. print must not query the terminal.
func TestTerminalColours(t *testing.T) {
	t.Parallel()
	light, dark := units.NewPaints(themes.Default(false), termenv.TrueColor, false), units.NewPaints(themes.Default(true), termenv.TrueColor, false)
	own := units.NewPaints(themes.Default(true), termenv.ANSI, false)
	for name, c := range map[string]struct {
		env, args []string
		want      *units.Paints
	}{
		"unknown":       {env: []string{"COLORFGBG="}, want: own},
		"a theme":       {env: []string{"COLORFGBG="}, args: []string{"--theme", "toolscope-light"}, want: light},
		"known light":   {env: []string{"COLORFGBG=0;15"}, want: light},
		"known dark":    {env: []string{"COLORFGBG=15;0"}, want: dark},
		"NO_COLOR":      {env: []string{"COLORFGBG=", "NO_COLOR=1"}},
		"TERM=dumb":     {env: []string{"COLORFGBG=", "TERM=dumb"}},
		"--plain":       {env: []string{"COLORFGBG="}, args: []string{"--plain"}},
		"--color never": {env: []string{"COLORFGBG="}, args: []string{"--color", "never"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, launch{args: append([]string{"print", capturedDemo}, c.args...), env: append(c.env, "COLORTERM=truecolor"), asks: true})
			p.wantExit(0)
			out := string(p.out)
			if strings.Contains(out, "\x1b") != (c.want != nil) || c.want != nil && !strings.Contains(out, c.want.Escape(units.Muted, units.Bare)) {
				t.Errorf("wrong colours:\n%s", out)
			}
			if got := now(p, func(s *screen) []string { return s.queries }); len(got) > 0 {
				t.Errorf("the terminal was asked for %q", got)
			}
		})
	}
}
