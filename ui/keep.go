package ui

import (
	"fmt"
	"maps"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/stream"
)

// What is kept of turns that can be read again: what one looks at, and some that were looked at or
// came just before. And how many rows are kept of turns that were dropped.
const (
	keptAgain = 8 << 20
	keptRows  = 100_000
)

// keeping is how much the program keeps in memory.
func (m *Model) keeping() providers.Retention {
	return providers.Retention{Bytes: m.opt.Keep, Rereadable: keptAgain, Rows: keptRows}
}

// inHand are the turns that are looked at: the chosen one, that whose request brought the result
// that is looked at, and those that are marked.
func (m *Model) inHand(yield func(*stream.Turn) bool) {
	if t := m.turn(); t != nil && !yield(t) {
		return
	}
	if c := m.call(); c != nil && c.LatestResult() != nil && m.focus == m.result {
		if t := m.view.TurnAfter(c.LatestResult()); t != nil && !yield(t) {
			return
		}
	}
	for _, r := range m.marks {
		if t, _ := m.view.Find(r); t != nil && !yield(t) {
			return
		}
	}
}

// makeRoom lets go of what is too much, but of nothing that is looked at, or on its way.
func (m *Model) makeRoom() {
	before := m.pinned
	m.pinned = pinned{exchanges: slices.Collect(maps.Keys(m.post.flying))}
	for t := range m.inHand {
		m.pinned.turns = append(m.pinned.turns, t.Number)
	}
	for _, exchange := range m.pinned.exchanges {
		m.in.Pin(exchange)
	}
	for _, turn := range m.pinned.turns {
		m.in.PinTurn(turn)
	}
	for _, exchange := range before.exchanges {
		m.in.Unpin(exchange)
	}
	for _, turn := range before.turns {
		m.in.UnpinTurn(turn)
	}
	m.in.MakeRoom()
}

// pinned is what was not to be let go of when room was made last.
type pinned struct {
	exchanges []int
	turns     []int32
}

// wake has turns read again that are looked at and were let go of, one after another.
func (m *Model) wake() {
	if m.waking {
		return
	}
	for t := range m.inHand {
		if t.Retention != stream.Evicted {
			continue
		}
		if read := m.in.Reload(t.Number); read != nil {
			m.waking = true
			m.do(func() tea.Msg {
				put := read()
				return done{then: func() { m.awake(put()) }}
			})
			return
		}
	}
}

// awake goes on when a turn is there again, or cannot be had.
func (m *Model) awake(err error) {
	if m.waking = false; err != nil {
		m.say(m.draw.Clean(err.Error()))
	}
	m.refresh()
}

// asFlag is a number of bytes as --keep takes it.
func asFlag(n int64) string {
	if n%1_000_000_000 == 0 {
		return fmt.Sprintf("%dGB", n/1_000_000_000)
	}
	return fmt.Sprintf("%dMB", n/1_000_000)
}

// turns is how many there were.
func (m *Model) turns() int {
	s := m.view.Session()
	return s.TrimmedTurns() + len(s.Turns)
}
