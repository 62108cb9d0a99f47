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
	maxReloadableBytes = 8 << 20
	maxDroppedRows     = 100_000
)

// retention is how much the program keeps in memory.
func (m *Model) retention() providers.Retention {
	return providers.Retention{Bytes: m.opt.Keep, Rereadable: maxReloadableBytes, Rows: maxDroppedRows}
}

// turnsInUse are the turns that are looked at: the chosen one, that whose request brought the result
// that is looked at, and those that are marked.
func (m *Model) turnsInUse(yield func(*stream.Turn) bool) {
	if t := m.selectedTurn(); t != nil && !yield(t) {
		return
	}
	if c := m.selectedCall(); c != nil && c.LatestResult() != nil && m.focus == m.result {
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
	m.pinned = pinSet{exchanges: slices.Collect(maps.Keys(m.outbox.flying))}
	for t := range m.turnsInUse {
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

// pinSet is what was not to be let go of when room was made last.
type pinSet struct {
	exchanges []int
	turns     []int32
}

// reloadShown has turns read again that are looked at and were let go of, one after another.
func (m *Model) reloadShown() {
	if m.reloading {
		return
	}
	for t := range m.turnsInUse {
		if t.Retention != stream.Evicted {
			continue
		}
		if read := m.in.Reload(t.Number); read != nil {
			m.reloading = true
			m.queueCmd(func() tea.Msg {
				put := read()
				return workDone{then: func() { m.onReloaded(put()) }}
			})
			return
		}
	}
}

// onReloaded goes on when a turn is there again, or cannot be had.
func (m *Model) onReloaded(err error) {
	if m.reloading = false; err != nil {
		m.showNotice(m.draw.Clean(err.Error()))
	}
	m.refreshPanes()
}

// asFlag is a number of bytes as --keep takes it.
func asFlag(n int64) string {
	if n%1_000_000_000 == 0 {
		return fmt.Sprintf("%dGB", n/1_000_000_000)
	}
	return fmt.Sprintf("%dMB", n/1_000_000)
}

// turnCount is how many there were.
func (m *Model) turnCount() int {
	s := m.view.Session()
	return s.TrimmedTurns() + len(s.Turns)
}
