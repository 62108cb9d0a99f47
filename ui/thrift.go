package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// writeBudget limits the bytes that are written to the terminal, which may be remote. While the budget is
// exceeded, the current frame stays. Actions of the user are drawn at once.
type writeBudget struct {
	room    int64 // bytes left; negative while frames are held back
	written int64 // total at the last check
	at      time.Time
	ends    int // exchanges that ended
	seen    int // number of turns and ends at the last check
}

// The budget of a terminal. Saved budget may exceed the rate, and so may a frame that shows the start or end
// of a stream. Frames are never held back for longer than the maximum debt takes.
const (
	budgetPerSecond = 64 << 10 // bytes a second
	maxBudgetSaved  = 8 << 10
	beginEndDebt    = 16 << 10
	maxBudgetDebt   = 32 << 10
)

// budgetDelay returns the time until the next frame may be drawn.
func (m *Model) budgetDelay(msg tea.Msg) time.Duration {
	t := &m.redraw.budget
	t.updateRoom(m.opt.Now(), m.opt.Written())
	least, urgent := int64(0), !m.isLive() && !m.moment.playing
	if seen := m.turnCount() + t.ends; seen != t.seen {
		t.seen, least = seen, -beginEndDebt
	}
	switch msg.(type) {
	case inboxReady, rateTick, redrawTick:
	case workDone: // the next step of playback, or a result that the user asked for
		urgent = urgent || !m.moment.playing
	default:
		urgent = true
	}
	if urgent || t.room >= least {
		return 0
	}
	return max(frameTime, time.Duration(-t.room)*time.Second/budgetPerSecond)
}

// updateRoom subtracts the written bytes, and adds budget for the elapsed time.
func (t *writeBudget) updateRoom(now time.Time, written int64) {
	if !t.at.IsZero() {
		t.room += int64(min(now.Sub(t.at), time.Second)) * budgetPerSecond / int64(time.Second)
	}
	t.room = max(min(t.room, maxBudgetSaved)-(written-t.written), -maxBudgetDebt)
	t.at, t.written = now, written
}
