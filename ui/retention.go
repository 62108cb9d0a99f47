package ui

import (
	"fmt"
	"maps"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/stream"
)

// Memory limits: the bytes of turns that can be reloaded, without those in view, and the number of rows of
// dropped turns.
const (
	maxReloadableBytes = 8 << 20
	maxDroppedRows     = 100_000
)

// retention returns the memory limits.
func (m *Model) retention() providers.Retention {
	return providers.Retention{Bytes: m.opt.Keep, Rereadable: maxReloadableBytes, Rows: maxDroppedRows}
}

// turnsInUse yields the turns in use: the selected one, the one whose request carries the shown result, and
// the marked ones.
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

// makeRoom evicts and drops turns beyond the limits, except turns that are in use or still arriving.
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

// pinSet has the exchanges and turns that makeRoom pinned last.
type pinSet struct {
	exchanges []int
	turns     []int32
}

// reloadShown reloads evicted turns that are in use, one after another.
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
			m.modeStack.queueCmd(func() tea.Msg {
				put := read()
				return workDone{then: func() { m.onReloaded(put()) }}
			})
			return
		}
	}
}

// onReloaded continues when a turn is reloaded, or reports why it can't be.
func (m *Model) onReloaded(err error) {
	if m.reloading = false; err != nil {
		m.showNotice(m.draw.Clean(err.Error()))
	}
	m.refreshPanes()
}

// asFlag formats a number of bytes for --memory.
func asFlag(n int64) string {
	if n%1_000_000_000 == 0 {
		return fmt.Sprintf("%dGB", n/1_000_000_000)
	}
	return fmt.Sprintf("%dMB", n/1_000_000)
}

// turnCount returns the number of turns, including dropped ones.
func (m *Model) turnCount() int {
	s := m.view.Session()
	return s.TrimmedTurns() + len(s.Turns)
}
