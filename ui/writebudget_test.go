package ui

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// far is a screen on a remote terminal, and the number of bytes sent to that terminal: each frame that differs from
// the last is sent completely.
type far struct {
	*rig
	given int64
	shown string
}

func newFar(t *testing.T) *far {
	f := &far{}
	f.rig = newScreen(t, 140, 40, func(o *Options) { o.Written = func() int64 { return f.given } })
	return f
}

// flush sends the current frame, and reports whether it differs from the last.
func (f *far) flush() bool {
	if now := f.View(); now != f.shown {
		f.given += int64(len(now))
		f.shown = now
		return true
	}
	return false
}

// TestWriteBudget checks that while much data arrives, the terminal receives no more than its budget, and all data is
// still read. The effects of keys, resizes and new streams are shown at once. The delayed changes are shown in the
// end, even if nothing more arrives.
func TestWriteBudget(t *testing.T) {
	f := newFar(t)
	opened, delta := manyCalls(50)
	f.feed(opened...)
	f.flush()
	before, frames := f.given, 0
	for n := range 600 { // ten seconds
		f.now = f.now.Add(frameTime)
		events := f.in.Timeline.Len()
		f.feed(delta(n))
		if f.in.Timeline.Len() == events {
			t.Fatal("what came is not read")
		}
		if f.flush() {
			frames++
		}
	}
	most := int64(10*budgetPerSecond + maxBudgetSaved + len(f.shown))
	if got := f.given - before; got > most || frames < 20 {
		t.Errorf("%d bytes in ten seconds, at most %d; %d frames", got, most, frames)
	}
	hold := func() {
		t.Helper()
		for n := 0; !f.redraw.on; n++ {
			if n > 1000 {
				t.Fatal("no frame is held back")
			}
			f.feed(delta(n))
			f.flush()
		}
		for n := range 50 {
			f.feed(delta(n))
		}
	}
	hold()
	if f.press("?"); !f.flush() {
		t.Error("a key is not shown at once")
	}
	f.press("<esc>")
	hold()
	if f.resize(120, 30); !f.flush() {
		t.Error("another size is not shown at once")
	}
	f.resize(140, 40)
	hold()
	f.redraw.budget.room = -1
	if f.feed(exchangeOf(7)[:3]...); !f.flush() {
		t.Error("a stream that opens is not shown at once")
	}
	hold()
	f.now = f.now.Add(time.Second)
	if f.send(redrawTick{}); !f.flush() {
		t.Error("what was held back is not shown once there is room")
	}
	hold()
	if f.end(); !f.flush() {
		t.Error("the end is not shown at once")
	}
	fresh := newScreen(t, 140, 40)
	if fresh.redraw.on || fresh.frame.scheduleDraw(tea.KeyMsg{}) != nil || fresh.redraw.budget != (writeBudget{}) {
		t.Error("frames are held back where nobody counts")
	}
}

// TestWriteBudgetWakes checks that a screen that delays frames is woken only once for all delayed frames.
func TestWriteBudgetWakes(t *testing.T) {
	f := newFar(t)
	f.given = 1 << 20
	for n := range 3 {
		cmd := f.frame.scheduleDraw(inboxReady{})
		if !f.redraw.on || (cmd != nil) != (n == 0) {
			t.Fatalf("frame %d: held %t, woken %t", n, f.redraw.on, cmd != nil)
		}
	}
	f.now = f.now.Add(100 * time.Millisecond)
	if cmd := f.frame.scheduleDraw(redrawTick{}); !f.redraw.on || cmd == nil {
		t.Error("a screen that is woken too early does not go to sleep again")
	}
	f.now = f.now.Add(500 * 24 * time.Hour) // long enough to pay off even a very large debt
	if cmd := f.frame.scheduleDraw(redrawTick{}); f.redraw.on || cmd != nil {
		t.Error("a screen that is woken holds back")
	}
}
