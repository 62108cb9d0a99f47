package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// writeBudget keeps what is written to the terminal small, which may be far away: while more was written
// than there is room for, the frame that is there stays. What the user does is shown at once.
type writeBudget struct {
	room    int64 // bytes; less than none while frames are held back
	written int64 // as it was last asked
	at      time.Time
	ends    int // exchanges that ended
	seen    int // of turns and ends, when it was last looked
}

// What a terminal is given. What was saved up may go beyond the rate, and so may a frame that shows
// a stream begin or end. However much the user had drawn at once, a frame is not held back for longer
// than what most is owed takes.
const (
	budgetPerSecond = 64 << 10 // bytes a second
	maxBudgetSaved  = 8 << 10
	beginEndDebt    = 16 << 10
	maxBudgetDebt   = 32 << 10
)

// budgetDelay is how long the frame that is there stays.
func (m *Model) budgetDelay(msg tea.Msg) time.Duration {
	t := &m.redraw.budget
	t.updateRoom(m.opt.Now(), m.opt.Written())
	least, urgent := int64(0), !m.isLive() && !m.moment.playing
	if seen := m.turnCount() + t.ends; seen != t.seen {
		t.seen, least = seen, -beginEndDebt
	}
	switch msg.(type) {
	case inboxReady, rateTick, redrawTick:
	case workDone: // the next step of what plays, or else what somebody asked for
		urgent = urgent || !m.moment.playing
	default:
		urgent = true
	}
	if urgent || t.room >= least {
		return 0
	}
	return max(frameTime, time.Duration(-t.room)*time.Second/budgetPerSecond)
}

// updateRoom takes off what was written, and adds what time brought.
func (t *writeBudget) updateRoom(now time.Time, written int64) {
	if !t.at.IsZero() {
		t.room += int64(min(now.Sub(t.at), time.Second)) * budgetPerSecond / int64(time.Second)
	}
	t.room = max(min(t.room, maxBudgetSaved)-(written-t.written), -maxBudgetDebt)
	t.at, t.written = now, written
}
