package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/compare"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/replay"
	"toolscope/ui/screen"
	"toolscope/ui/send"
)

// modeStack are the modes that are open, each on top of the one that opened it. Below them is browsing.
type modeStack struct {
	all    []openMode
	seen   int       // events there were when the first of them was opened
	opened int       // modes so far
	called int       // up to which mode they are open that is brought up to date now; 0 at other times
	asked  []tea.Cmd // for since the last Update
}

// openMode is a mode that is open.
type openMode struct {
	modes.Mode
	id int
}

// activeMode is the mode that has the keyboard.
func (m *Model) activeMode() openMode { return m.openModeAt(len(m.modeStack.all)) }

// openModeAt is the mode that so many are open up to: of none it is browsing.
func (m *Model) openModeAt(n int) openMode {
	if n > 0 {
		return m.modeStack.all[n-1]
	}
	return openMode{Mode: browse{m}}
}

// drawMode writes row y of a body of h rows, as the mode that so many are open up to has it: an
// overlay over what is below it.
func (m *Model) drawMode(p *screen.Pen, n, y, h int) {
	mode := m.openModeAt(n).Mode
	over, ok := mode.(modes.OverlayMode)
	if !ok {
		mode.Draw(p, y)
		return
	}
	from := h - min(over.WantedRows(h), h)
	if y < from {
		m.drawMode(p, n-1, y, h)
		return
	}
	p.Overlay(m.overlayWidth(m.cols[0].width), func() {
		rest := max(0, p.Left-modes.OverlayWidth)
		p.Left -= rest
		over.Draw(p, y-from)
		p.Fill(screen.Bare)
		p.Left = rest
	}, func() { m.drawMode(p, n-1, y, h) })
}

// overlayWidth is how many cells an overlay covers: the first column, where it has room for it, or all.
func (m *Model) overlayWidth(first int) int {
	if !m.isCovered() && first >= modes.OverlayWidth {
		return first
	}
	return m.w
}

// callingMode is the mode that what is asked for is for.
func (m *Model) callingMode() openMode {
	if n := m.modeStack.called; n > 0 {
		return m.openModeAt(n)
	}
	return m.activeMode()
}

// pushMode puts a mode on top.
func (m *Model) pushMode(mode modes.Mode) {
	if len(m.modeStack.all) == 0 {
		m.modeStack.seen = m.in.Timeline.Len()
	}
	m.modeStack.opened++
	m.modeStack.all = append(m.modeStack.all, openMode{mode, m.modeStack.opened})
}

// closeTop closes the mode on top. Where the panes are to follow, they catch up with what has come
// meanwhile.
func (m *Model) closeTop() {
	if n := len(m.modeStack.all); n > 0 {
		m.modeStack.all = m.modeStack.all[:n-1]
	}
	if m.follow && !m.isCovered() && m.in.Timeline.Len() > m.modeStack.seen {
		m.setFollow(true)
	}
}

// closeAll goes back to the panes.
func (m *Model) closeAll() {
	for len(m.modeStack.all) > 0 {
		m.closeTop()
	}
}

// isCovered reports whether a mode stands where the panes are.
func (m *Model) isCovered() bool {
	switch m.openModeAt(m.firstVisible()).Mode.(type) {
	case browse, *searchBar, *quitDialog:
		return false
	}
	return true
}

// firstVisible is up to which mode they are covered by those above: the first, from the top, that is no
// overlay.
func (m *Model) firstVisible() int {
	for n := len(m.modeStack.all); n > 0; n-- {
		if _, ok := m.openModeAt(n).Mode.(modes.OverlayMode); !ok {
			return n
		}
	}
	return 0
}

// isOpen reports whether the mode of a seat has not been closed.
func (m *Model) isOpen(id int) bool {
	if id == 0 {
		return true
	}
	for _, s := range m.modeStack.all {
		if s.id == id {
			return true
		}
	}
	return false
}

// queueCmd has Bubble Tea run a command.
func (m *Model) queueCmd(cmd tea.Cmd) {
	if cmd != nil {
		m.modeStack.asked = append(m.modeStack.asked, cmd)
	}
}

// extendModes brings the modes that are seen up to date, and returns what was asked for meanwhile.
func (m *Model) extendModes() tea.Cmd {
	for n := m.firstVisible(); n <= len(m.modeStack.all); n++ {
		m.modeStack.called = n
		m.openModeAt(n).Extend(m.view, m.w, m.bodyHeight())
	}
	m.modeStack.called = 0
	m.extendStrip()
	if m.now = m.keysOf(m.activeMode().Mode); m.hasTourKeys() {
		m.now = m.tourKeys()
	}
	asked := m.modeStack.asked
	m.modeStack.asked = nil
	return tea.Batch(asked...)
}

// workDone is what a mode's work brings.
type workDone struct {
	seat int
	then func()
}

// finishWork does what is left to do, if the mode is still there.
func (m *Model) finishWork(d workDone) {
	if d.then != nil && m.isOpen(d.seat) {
		d.then()
	}
}

// modeHost is the program as modes know it.
type modeHost struct{ m *Model }

func (h modeHost) View() *providers.View { return h.m.view }
func (h modeHost) Chosen() stream.Ref    { return h.m.selected }
func (h modeHost) Open(mode modes.Mode)  { h.m.pushMode(mode) }
func (h modeHost) Close()                { h.m.closeTop() }
func (h modeHost) Say(text display.Text) { h.m.showNotice(text) }
func (h modeHost) Do(work func() func()) {
	id := h.m.callingMode().id
	h.m.queueCmd(func() tea.Msg { return workDone{id, work()} })
}

// Choose has the panes be about r. A turn is shown in the list.
func (h modeHost) Choose(r stream.Ref) {
	h.m.setFollow(false)
	if r.Call == 0 {
		h.m.turnTo(h.m.list)
	}
	h.m.selectRef(r)
}

// newEntries are the modes that can be opened while browsing: a line for each.
func (m *Model) newEntries() []modes.Entry {
	return append(m.exportEntries(),
		modes.Protocols(m.rereadExchange),
		compare.Entry(&m.marks, &m.bill, m.draw, m.opt.Large),
		replay.Entry(m.newExport(), m.draw, m.opt.Large),
		replay.SentBack(m.newExport(), m.draw),
		send.ResendEntry(m.sendDependencies()),
		send.TypeResult(m.sendDependencies()),
		modes.Breakpoints(m.opt.Break),
	)
}

// breakKey is the key that opens the breakpoint, also before anything has come.
func (m *Model) breakKey() screen.Binding {
	e := modes.Breakpoints(m.opt.Break)
	e.Do = func() { m.openEntry(e) }
	return e.Binding
}

// openEntry opens a mode, or says why not.
func (m *Model) openEntry(e modes.Entry) {
	mode, why := e.New(modeHost{m})
	if mode == nil {
		m.showNotice(why)
		return
	}
	m.outbox.awaited = 0 // the user went elsewhere
	m.pushMode(mode)
}

// drawFooter writes the keys worth knowing, as many as fit, or what is typed, or what was said.
func (m *Model) drawFooter(p *screen.Pen) {
	top := m.activeMode().Mode
	if in := activeInput(top); in != nil && !in.Prompt.Empty() {
		p.Text(screen.Accent, in.Prompt)
		in.Draw(p)
		p.Text(screen.Muted, in.Note.Between("  ", ""))
		p.Right(screen.Muted, screen.Bare, typedTail(m.now))
		return
	}
	if !m.notice.Empty() {
		p.Text(screen.Caution, m.notice.Between(" ", ""))
		return
	}
	p.Hints(m.now)
}

// typedTail is what stands behind what is typed: the hints, each behind a gap.
func typedTail(keys []screen.Binding) (tail display.Text) {
	for _, b := range keys {
		if !b.Hint.Empty() {
			tail = display.Join(tail, b.Hint.Between("   ", ""))
		}
	}
	return tail.Between("", " ")
}

const typedGap = 3 // cells before each of them

// activeInput is the line in which something is typed, nil if nothing is.
func activeInput(mode modes.Mode) *screen.Input {
	if t, ok := mode.(modes.InputMode); ok {
		return t.Typing()
	}
	return nil
}
