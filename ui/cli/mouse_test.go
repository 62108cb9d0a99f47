//go:build linux

package cli

import (
	"syscall"
	"testing"
)

// TestMouse checks that M turns mouse reports on and off. Reports must be off while the program is stopped and after
// it has ended, and on again when it continues. The program must handle the reports.
func TestMouse(t *testing.T) {
	t.Parallel()
	mouse := func(on bool) func(s *screen) bool {
		return func(s *screen) bool { return s.modes[1002] == on && s.modes[1006] == on }
	}
	p := start(t, launch{args: []string{"demo", "malformed"}, helper: "job"})
	p.untilShown("PLAY 1×")
	p.until("no mouse, and the wheel as arrows", func(s *screen) bool { return mouse(false)(s) && s.modes[1007] })
	p.keys("M")
	p.until("the mouse", mouse(true))
	p.keys("M")
	p.until("no mouse", mouse(false))
	p.keys("M")
	p.until("the mouse", mouse(true))
	p.keys("\x1a")
	p.until("the normal screen", func(s *screen) bool { return !s.modes[1049] && mouse(false)(s) && p.stopped() })
	p.wantRestored()
	p.signal(syscall.SIGCONT)
	p.until("the mouse again", func(s *screen) bool { return s.modes[1049] && mouse(true)(s) && s.modes[1007] })
	p.keys("\x1b[<0;3;24M\x1b[<0;3;24m") // a click on "? keys"
	p.untilShown("esc close")
	p.keys("\x1b[<65;5;20M\x1b[<35;6;20M\x1b[<0;5;20m")
	p.keys("q\x03")
	p.wantExit(130)
	p.wantRestored()
}
