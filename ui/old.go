package ui

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// old has a mode of this room live on the stack: one that knows the whole Model
// and takes keys as they are.
type old struct {
	m *Model
	oldMode
}

// An oldMode owns the keyboard, the footer and the body while it lasts.
type oldMode interface {
	update(m *Model, k tea.KeyMsg) tea.Cmd
	body(m *Model, p *screen.Pen, y, h int) bool
	footer(m *Model, p *screen.Pen)
}

// openOld opens one.
func (m *Model) openOld(mode oldMode) { m.open(&old{m, mode}) }

func (*old) Keys() []screen.Binding { return nil }

func (o *old) Extend(*providers.View, int, int) {
	if w, ok := o.oldMode.(interface{ work(*Model) tea.Cmd }); ok {
		o.m.do(w.work(o.m))
	}
}

func (o *old) Draw(p *screen.Pen, y int) { o.body(o.m, p, y, o.m.bodyHeight()) }

// elsewhere gives a key to those that work anywhere.
func (m *Model) elsewhere(k tea.KeyMsg) {
	if b := screen.Bound(m.anywhere(), k.String()); b != nil {
		b.Do()
	}
}

// oldHints writes as many hints as fit.
func oldHints(p *screen.Pen, keys []string) {
	var all []screen.Binding
	for _, k := range keys {
		all = append(all, screen.Binding{Hint: display.Clean(k)})
	}
	p.Hints(all)
}

// is reports whether k is one of the bindings.
func (km keyMap) is(k tea.KeyMsg, bindings ...key.Binding) bool { return key.Matches(k, bindings...) }

// move is where a movement key takes a window's cursor.
func (km keyMap) move(k tea.KeyMsg, w screen.Window) (row int, ok bool) {
	switch {
	case km.is(k, km.Up):
		return w.At - 1, true
	case km.is(k, km.Down):
		return w.At + 1, true
	case km.is(k, km.PageUp):
		return w.At - max(1, w.Height-1), true
	case km.is(k, km.PageDown):
		return w.At + max(1, w.Height-1), true
	case km.is(k, km.Top):
		return 0, true
	case km.is(k, km.Bottom):
		return w.Rows - 1, true
	}
	return 0, false
}
