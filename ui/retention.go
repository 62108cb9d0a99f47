package ui

import (
	"fmt"
	"maps"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream"
)

// Memory limits: the maximum bytes of turns that can be reloaded, not counting turns in use, and the maximum
// number of rows for dropped turns.
const (
	maxReloadableBytes = 8 << 20
	maxDroppedRows     = 100_000
)

// turnsInUse yields the turns in use: the selected one, the one whose request carries the shown result, and
// the marked ones.
func (ps *pinSet) turnsInUse(yield func(*stream.Turn) bool) {
	if t := ps.m.selectedTurn(); t != nil && !yield(t) {
		return
	}
	if c := ps.m.selectedCall(); c != nil && c.LatestResult() != nil && ps.m.focus == ps.m.result {
		if t := ps.m.view.TurnAfter(c.LatestResult()); t != nil && !yield(t) {
			return
		}
	}
	for _, r := range ps.m.marks {
		if t, _ := ps.m.view.Find(r); t != nil && !yield(t) {
			return
		}
	}
}

// makeRoom evicts and drops turns beyond the limits, except turns that are in use or are still arriving.
func (ps *pinSet) makeRoom() {
	before := ps.m.pinned
	*ps = pinSet{m: ps.m, exchanges: slices.Collect(maps.Keys(ps.m.outbox.flying))}
	for t := range ps.turnsInUse {
		ps.turns = append(ps.turns, t.Number)
	}
	for _, exchange := range ps.exchanges {
		ps.m.in.Pin(exchange)
	}
	for _, turn := range ps.turns {
		ps.m.in.PinTurn(turn)
	}
	for _, exchange := range before.exchanges {
		ps.m.in.Unpin(exchange)
	}
	for _, turn := range before.turns {
		ps.m.in.UnpinTurn(turn)
	}
	ps.m.in.MakeRoom()
}

// pinSet has the exchanges and turns that makeRoom last pinned.
type pinSet struct {
	m         *Model
	exchanges []int
	turns     []int32
}

// reloadShown reloads evicted turns that are in use, one after another.
func (ps *pinSet) reloadShown() {
	if ps.m.reloading {
		return
	}
	for t := range ps.turnsInUse {
		if t.Retention != stream.Evicted {
			continue
		}
		if read := ps.m.in.Reload(t.Number); read != nil {
			ps.m.reloading = true
			ps.m.modeStack.queueCmd(func() tea.Msg {
				put := read()
				return workDone{then: func() { ps.onReloaded(put()) }}
			})
			return
		}
	}
}

// onReloaded refreshes the panes after a reload. If the reload failed, it shows the reason.
func (ps *pinSet) onReloaded(err error) {
	if ps.m.reloading = false; err != nil {
		ps.m.showNotice(ps.m.draw.Clean(err.Error()))
	}
	ps.m.refreshPanes()
}

// asFlag formats a number of bytes as a value for --memory.
func asFlag(n int64) string {
	if n%1_000_000_000 == 0 {
		return fmt.Sprintf("%dGB", n/1_000_000_000)
	}
	return fmt.Sprintf("%dMB", n/1_000_000)
}

// turnCount returns the number of turns, including dropped ones.
func (ps *pinSet) turnCount() int {
	s := ps.m.view.Session()
	return s.TrimmedTurns() + len(s.Turns)
}
