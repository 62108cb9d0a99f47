package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// thrift keeps what is written to the terminal small, which may be far away: while more was written
// than there is room for, the frame that is there stays. What the user does is shown at once.
type thrift struct {
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
	thriftRate  = 64 << 10 // bytes a second
	thriftSaved = 8 << 10
	thriftDebt  = 16 << 10
	thriftMost  = 32 << 10
)

// thriftWait is how long the frame that is there stays.
func (m *Model) thriftWait(msg tea.Msg) time.Duration {
	t := &m.stay.thrift
	t.account(m.opt.Now(), m.opt.Written())
	least, urgent := int64(0), !m.moving() && !m.walk.playing
	if seen := m.turns() + t.ends; seen != t.seen {
		t.seen, least = seen, -thriftDebt
	}
	switch msg.(type) {
	case arrived, quiet, woken:
	case done: // the next step of what plays, or else what somebody asked for
		urgent = urgent || !m.walk.playing
	default:
		urgent = true
	}
	if urgent || t.room >= least {
		return 0
	}
	return max(frameTime, time.Duration(-t.room)*time.Second/thriftRate)
}

// account takes off what was written, and adds what time brought.
func (t *thrift) account(now time.Time, written int64) {
	if !t.at.IsZero() {
		t.room += int64(min(now.Sub(t.at), time.Second)) * thriftRate / int64(time.Second)
	}
	t.room = max(min(t.room, thriftSaved)-(written-t.written), -thriftMost)
	t.at, t.written = now, written
}
