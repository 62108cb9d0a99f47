package panes

import (
	"slices"

	"toolscope/stream"
)

// fold hides the calls of the chosen turn, or the turns of a machine, or shows them again.
func (l *List) fold() {
	t := l.scene.Of().Turn
	h, _ := l.rows.find(l.scene.View, t)
	switch {
	case l.on != nil:
		l.host.Follow(false)
		l.rows.fold(l.on, !l.on.shut)
		return
	case h == nil:
		return
	case h.shut:
		l.host.Follow(false)
		l.rows.fold(h, false)
		return
	}
	l.host.Follow(false)
	if folded := l.rows.plain.folded; folded[t.Number] {
		delete(folded, t.Number)
	} else {
		folded[t.Number] = true
	}
	l.rows.recount(l.scene.View, t)
	l.host.Choose(t.Ref())
}

// foldHosts hides the turns of all machines, or shows them again where all are hidden.
func (l *List) foldHosts() {
	l.host.Follow(false)
	shut := slices.ContainsFunc(l.rows.hosts, func(h *hostTurns) bool { return !h.shut })
	for _, h := range l.rows.hosts {
		l.rows.fold(h, shut)
	}
	if h, _ := l.rows.find(l.scene.View, l.scene.Of().Turn); shut && h != nil {
		l.GoTo(l.rows.top(h))
	}
}

// Leave has the cursor leave the row of a machine for what is chosen.
func (l *List) Leave() { l.on, l.last = nil, stream.NoRef }

// show has what is chosen have a row: the turns of a machine are not folded when something else than
// this list or time chose one of them, nor because others join the only one, of which somebody looks at something.
func (l *List) show(joined bool) {
	chosen := l.scene.Chosen
	if chosen != l.aim {
		l.on = nil
	}
	if (chosen != l.last || joined) && l.on == nil && !l.scene.Follow {
		if h, _ := l.rows.find(l.scene.View, l.scene.Of().Turn); h != nil && h.shut {
			l.rows.fold(h, false)
		}
	}
	l.last = chosen
}
