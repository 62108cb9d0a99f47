package ui

import (
	"testing"
	"time"
)

// TestRecents checks that captures are listed together with the demo if there is nothing else to show, and that a
// capture can be opened.
func TestRecents(t *testing.T) {
	var opened []string
	list := func(o *Options) {
		o.Inbox, o.Source = nil, ""
		o.Demo = func(bool) Inbox { return newBox() }
		for i, name := range []string{"b.tsc", "a\x1b[2J.tsc"} {
			o.Recent = append(o.Recent, RecentCapture{
				Name: name, Bytes: 1234, Written: time.Date(2026, 11, 22, 12, i, 0, 0, time.Local), Open: i == 0,
				Read: func() Inbox {
					opened = append(opened, name)
					return newBox()
				},
			})
		}
	}
	for _, size := range [][2]int{{80, 24}, {40, 10}, {250, 60}} {
		s := newScreen(t, size[0], size[1], list)
		checkFrame(t, s.shows("Captures 2", "2026-11-22 12:00", "1,234 B", "record", "enter open", "d demo"))
	}
	s := newScreen(t, 80, 24, list)
	if s.press("j<enter>").hides("Captures"); len(opened) != 1 || opened[0] == "b.tsc" {
		t.Errorf("%q", opened)
	}
	newScreen(t, 80, 24, list).press("d").hides("Captures")
}
