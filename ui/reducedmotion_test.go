package ui

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

func calmly(o *Options) { o.Calm = true }

// TestCalmDrawsSeldom checks that with reduced motion, new data is drawn at most twice per second, and then
// completely. Changes that a key causes are drawn at once. Nothing is drawn if nothing arrives.
func TestCalmDrawsSeldom(t *testing.T) {
	frames := func(change ...func(*Options)) (n int, s *rig) {
		s = newScreen(t, 100, 30, change...)
		last := s.View()
		for _, r := range demo(t, "parallel") {
			s.now = s.now.Add(20 * time.Millisecond)
			s.feed(r)
			if f := s.View(); f != last {
				n, last = n+1, f
			}
		}
		return n, s
	}
	lively, _ := frames()
	few, s := frames(calmly)
	if most := len(demo(t, "parallel"))*20/500 + 2; few < 2 || few > most || lively <= 3*most {
		t.Errorf("%d frames, and %d without; wanted are at most %d", few, lively, most)
	}
	before := s.View()
	s.send(redrawTick{})
	if s.View() == before {
		t.Error("what came last is never drawn")
	}
	whole := s.View()
	s.send(redrawTick{})
	if s.cmd != nil && len(ticks(s.cmd)) > 0 {
		t.Error("it goes on drawing")
	}
	if s.press("j").View() == whole {
		t.Error("a key is drawn later")
	}
}

// ticks returns the messages that a command sends now. A command that waits for a signal sends none.
func ticks(cmd tea.Cmd) (all []tea.Msg) {
	got := make(chan tea.Msg, 1)
	go func() { got <- cmd() }()
	select {
	case msg := <-got:
		if batch, ok := msg.(tea.BatchMsg); ok {
			for _, c := range batch {
				if c != nil {
					all = append(all, ticks(c)...)
				}
			}
			return all
		}
		return append(all, msg)
	case <-time.After(time.Second):
		return nil
	}
}

// TestCalmHasNoFigures checks that with reduced motion, no byte rate is measured, because the rate would change all
// the time.
func TestCalmHasNoFigures(t *testing.T) {
	for _, calm := range []bool{false, true} {
		s := newScreen(t, 140, 30, func(o *Options) { o.Calm = calm })
		for _, r := range demo(t, "parallel")[:40] {
			s.now = s.now.Add(100 * time.Millisecond)
			s.feed(r)
		}
		s.send(redrawTick{})
		if shows := s.rate.last > 0; shows == calm {
			t.Errorf("calm %v: a rate of %d", calm, s.rate.last)
		}
	}
}

// TestCalmDemoWaits checks that with reduced motion, the demo continues only when the user presses a key.
func TestCalmDemoWaits(t *testing.T) {
	s := staged(t, 100, 30, calmly)
	if !s.tour.waits || s.tour.at >= 0 {
		t.Fatalf("waits %v at claim %d", s.tour.waits, s.tour.at)
	}
	s.press("}")
	if !s.tour.waits || s.tour.at != 0 {
		t.Errorf("waits %v at claim %d", s.tour.waits, s.tour.at)
	}
	s.shows("space next")
}
