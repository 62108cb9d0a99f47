package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// meter measures the byte rate: the bytes of the last full second.
type meter struct {
	second   int64 // unix time of the second being counted
	count    int
	last     int // bytes in the previous second
	watching bool
}

// rateTick is a timer message after a batch. It lets the rate fall to zero.
type rateTick time.Time

func (r *meter) add(n int, now time.Time) {
	r.advanceTo(now)
	r.count += n
}

func (r *meter) advanceTo(now time.Time) {
	switch s := now.Unix(); {
	case s == r.second+1:
		r.second, r.last, r.count = s, r.count, 0
	case s != r.second:
		r.second, r.last, r.count = s, 0, 0
	}
}

// scheduleTick schedules one tick, unless one is scheduled. So no timer runs without traffic.
func (r *meter) scheduleTick() tea.Cmd {
	if r.watching {
		return nil
	}
	r.watching = true
	return tea.Tick(time.Second, func(t time.Time) tea.Msg { return rateTick(t) })
}

// handleTick updates the rate, and schedules another tick unless it is zero.
func (r *meter) handleTick(now time.Time) tea.Cmd {
	r.watching = false
	if r.advanceTo(now); r.last == 0 && r.count == 0 {
		return nil
	}
	return r.scheduleTick()
}
