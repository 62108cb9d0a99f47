package panes

import (
	"slices"

	"toolscope/stream"
)

// toggleFold hides or shows the calls of the selected turn, or the turns of a machine.
func (l *List) toggleFold() {
	t := l.scene.Of().Turn
	h, _ := l.rows.find(l.scene.View, t)
	switch {
	case l.on != nil:
		l.host.Follow(false)
		l.rows.setFolded(l.on, !l.on.shut)
		return
	case h == nil:
		return
	case h.shut:
		l.host.Follow(false)
		l.rows.setFolded(h, false)
		return
	}
	l.host.Follow(false)
	if folded := l.rows.plain.folded; folded[t.Number] {
		delete(folded, t.Number)
	} else {
		folded[t.Number] = true
	}
	l.rows.recountTurn(l.scene.View, t)
	l.host.Choose(t.Ref())
}

// foldMachines hides the turns of all machines, or shows them if all are hidden.
func (l *List) foldMachines() {
	l.host.Follow(false)
	shut := slices.ContainsFunc(l.rows.machines, func(h *machineTurns) bool { return !h.shut })
	for _, h := range l.rows.machines {
		l.rows.setFolded(h, shut)
	}
	if h, _ := l.rows.find(l.scene.View, l.scene.Of().Turn); shut && h != nil {
		l.GoTo(l.rows.firstRow(h))
	}
}

// Leave moves the cursor from a machine row back to the selection.
func (l *List) Leave() { l.on, l.last = nil, stream.NoRef }

// revealSelected unfolds the machine of the selection if the selection was changed elsewhere, or if a
// second machine appears while the user views turns of the first.
func (l *List) revealSelected(joined bool) {
	chosen := l.scene.Chosen
	if chosen != l.aim {
		l.on = nil
	}
	if (chosen != l.last || joined) && l.on == nil && !l.scene.Follow {
		if h, _ := l.rows.find(l.scene.View, l.scene.Of().Turn); h != nil && h.shut {
			l.rows.setFolded(h, false)
		}
	}
	l.last = chosen
}
