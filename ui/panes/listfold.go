package panes

import (
	"slices"

	"toolscope/stream"
)

// toggleFold hides the calls of the chosen turn, or the turns of a machine, or shows them again.
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

// foldMachines hides the turns of all machines, or shows them again where all are hidden.
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

// Leave has the cursor leave the row of a machine for what is chosen.
func (l *List) Leave() { l.on, l.last = nil, stream.NoRef }

// revealSelected has what is chosen have a row: the turns of a machine are not folded when something else than
// this list or time chose one of them, nor because others join the only one, of which somebody looks at something.
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
