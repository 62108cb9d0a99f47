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

// seats are the modes that are open, each on top of the one that opened it. Below them is browsing.
type seats struct {
	all    []seat
	seen   int       // events there were when the first of them was opened
	opened int       // modes so far
	called int       // up to which mode they are open that is brought up to date now; 0 at other times
	asked  []tea.Cmd // for since the last Update
}

// seat is a mode that is open.
type seat struct {
	modes.Mode
	id int
}

// top is the mode that has the keyboard.
func (m *Model) top() seat { return m.seatAt(len(m.seats.all)) }

// seatAt is the mode that so many are open up to: of none it is browsing.
func (m *Model) seatAt(n int) seat {
	if n > 0 {
		return m.seats.all[n-1]
	}
	return seat{Mode: browse{m}}
}

// drawSeat writes row y of a body of h rows, as the mode that so many are open up to has it: an
// overlay over what is below it.
func (m *Model) drawSeat(p *screen.Pen, n, y, h int) {
	mode := m.seatAt(n).Mode
	over, ok := mode.(modes.OverlayMode)
	if !ok {
		mode.Draw(p, y)
		return
	}
	from := h - min(over.WantedRows(h), h)
	if y < from {
		m.drawSeat(p, n-1, y, h)
		return
	}
	p.Overlay(m.overlaid(m.cols[0].width), func() {
		rest := max(0, p.Left-modes.OverlayWidth)
		p.Left -= rest
		over.Draw(p, y-from)
		p.Fill(screen.Bare)
		p.Left = rest
	}, func() { m.drawSeat(p, n-1, y, h) })
}

// overlaid is how many cells an overlay covers: the first column, where it has room for it, or all.
func (m *Model) overlaid(first int) int {
	if !m.covered() && first >= modes.OverlayWidth {
		return first
	}
	return m.w
}

// working is the mode that what is asked for is for.
func (m *Model) working() seat {
	if n := m.seats.called; n > 0 {
		return m.seatAt(n)
	}
	return m.top()
}

// open puts a mode on top.
func (m *Model) open(mode modes.Mode) {
	if len(m.seats.all) == 0 {
		m.seats.seen = m.in.Timeline.Len()
	}
	m.seats.opened++
	m.seats.all = append(m.seats.all, seat{mode, m.seats.opened})
}

// closeTop closes the mode on top. Where the panes are to follow, they catch up with what has come
// meanwhile.
func (m *Model) closeTop() {
	if n := len(m.seats.all); n > 0 {
		m.seats.all = m.seats.all[:n-1]
	}
	if m.follow && !m.covered() && m.in.Timeline.Len() > m.seats.seen {
		m.setFollow(true)
	}
}

// closeAll goes back to the panes.
func (m *Model) closeAll() {
	for len(m.seats.all) > 0 {
		m.closeTop()
	}
}

// covered reports whether a mode stands where the panes are.
func (m *Model) covered() bool {
	switch m.seatAt(m.bottom()).Mode.(type) {
	case browse, *searchBar, *leaving:
		return false
	}
	return true
}

// bottom is up to which mode they are covered by those above: the first, from the top, that is no
// overlay.
func (m *Model) bottom() int {
	for n := len(m.seats.all); n > 0; n-- {
		if _, ok := m.seatAt(n).Mode.(modes.OverlayMode); !ok {
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
	for _, s := range m.seats.all {
		if s.id == id {
			return true
		}
	}
	return false
}

// do has Bubble Tea run a command.
func (m *Model) do(cmd tea.Cmd) {
	if cmd != nil {
		m.seats.asked = append(m.seats.asked, cmd)
	}
}

// extend brings the modes that are seen up to date, and returns what was asked for meanwhile.
func (m *Model) extend() tea.Cmd {
	for n := m.bottom(); n <= len(m.seats.all); n++ {
		m.seats.called = n
		m.seatAt(n).Extend(m.view, m.w, m.bodyHeight())
	}
	m.seats.called = 0
	m.extendStrip()
	if m.now = m.keysOf(m.top().Mode); m.atStage() {
		m.now = m.stageKeys()
	}
	asked := m.seats.asked
	m.seats.asked = nil
	return tea.Batch(asked...)
}

// done is what a mode's work brings.
type done struct {
	seat int
	then func()
}

// finish does what is left to do, if the mode is still there.
func (m *Model) finish(d done) {
	if d.then != nil && m.isOpen(d.seat) {
		d.then()
	}
}

// asHost is the program as modes know it.
type asHost struct{ m *Model }

func (h asHost) View() *providers.View { return h.m.view }
func (h asHost) Chosen() stream.Ref    { return h.m.chosen }
func (h asHost) Open(mode modes.Mode)  { h.m.open(mode) }
func (h asHost) Close()                { h.m.closeTop() }
func (h asHost) Say(text display.Text) { h.m.say(text) }
func (h asHost) Do(work func() func()) {
	id := h.m.working().id
	h.m.do(func() tea.Msg { return done{id, work()} })
}

// Choose has the panes be about r. A turn is shown in the list.
func (h asHost) Choose(r stream.Ref) {
	h.m.setFollow(false)
	if r.Call == 0 {
		h.m.turnTo(h.m.list)
	}
	h.m.choose(r)
}

// newEntries are the modes that can be opened while browsing: a line for each.
func (m *Model) newEntries() []modes.Entry {
	return append(m.takes(),
		modes.Protocols(m.reread),
		compare.Entry(&m.marks, &m.bill, m.draw, m.opt.Large),
		replay.Entry(m.outlet(), m.draw, m.opt.Large),
		replay.SentBack(m.outlet(), m.draw),
		send.ResendEntry(m.sending()),
		send.TypeResult(m.sending()),
		modes.Breakpoints(m.opt.Break),
	)
}

// breakKey is the key that opens the breakpoint, also before anything has come.
func (m *Model) breakKey() screen.Binding {
	e := modes.Breakpoints(m.opt.Break)
	e.Do = func() { m.enter(e) }
	return e.Binding
}

// enter opens a mode, or says why not.
func (m *Model) enter(e modes.Entry) {
	mode, why := e.New(asHost{m})
	if mode == nil {
		m.say(why)
		return
	}
	m.post.awaited = 0 // the user went elsewhere
	m.open(mode)
}

// drawFooter writes the keys worth knowing, as many as fit, or what is typed, or what was said.
func (m *Model) drawFooter(p *screen.Pen) {
	top := m.top().Mode
	if in := typing(top); in != nil && !in.Prompt.Empty() {
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

// typing is the line in which something is typed, nil if nothing is.
func typing(mode modes.Mode) *screen.Input {
	if t, ok := mode.(modes.InputMode); ok {
		return t.Typing()
	}
	return nil
}
