package ui

import (
	"maps"
	"slices"
	"strings"

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

// modeStack is the stack of open modes, each above the one that opened it. browse is the mode at the
// bottom.
type modeStack struct {
	m      *Model
	all    []openMode
	seen   int       // number of events when the first mode was opened
	opened int       // number of modes opened so far
	called int       // stack position of the mode that is being extended; 0 if none
	asked  []tea.Cmd // commands queued since the last Update
}

// openMode is a mode on the stack, with an id.
type openMode struct {
	modes.Mode
	id int
}

// activeMode returns the mode that has the keyboard focus.
func (ms *modeStack) activeMode() openMode { return ms.openModeAt(len(ms.all)) }

// openModeAt returns mode n of the stack, counted from 1, or browsing for 0.
func (ms *modeStack) openModeAt(n int) openMode {
	if n > 0 {
		return ms.all[n-1]
	}
	return openMode{Mode: browse{ms.m}}
}

// drawMode draws row y of a body of h rows, with the modes of the stack up to mode n. Overlays are drawn over
// the modes below them.
func (ms *modeStack) drawMode(p *screen.Pen, n, y, h int) {
	mode := ms.openModeAt(n).Mode
	over, ok := mode.(modes.OverlayMode)
	if !ok {
		mode.Draw(p, y)
		return
	}
	from := h - min(over.WantedRows(h), h)
	if y < from {
		ms.drawMode(p, n-1, y, h)
		return
	}
	if wide, ok := over.(modes.WideOverlay); ok && wide.IsWide() {
		over.Draw(p, y-from)
		p.Fill(screen.Bare)
		return
	}
	p.Overlay(ms.overlayWidth(ms.m.frame.cols[0].width), func() {
		rest := max(0, p.Left-modes.OverlayWidth)
		p.Left -= rest
		over.Draw(p, y-from)
		p.Fill(screen.Bare)
		p.Left = rest
	}, func() { ms.drawMode(p, n-1, y, h) })
}

// overlayWidth returns the width of an overlay: the width of the first column if that is wide enough, or else
// the width of the screen.
func (ms *modeStack) overlayWidth(first int) int {
	if !ms.isCovered() && first >= modes.OverlayWidth {
		return first
	}
	return ms.m.w
}

// callingMode returns the mode that is calling the host, or else the active mode.
func (ms *modeStack) callingMode() openMode {
	if n := ms.called; n > 0 {
		return ms.openModeAt(n)
	}
	return ms.activeMode()
}

// pushMode opens a mode on top of the others.
func (ms *modeStack) pushMode(mode modes.Mode) {
	if len(ms.all) == 0 {
		ms.seen = ms.m.in.Timeline.Len()
	}
	ms.opened++
	ms.all = append(ms.all, openMode{mode, ms.opened})
}

// closeTop closes the top mode. If the panes follow new traffic, they catch up.
func (ms *modeStack) closeTop() {
	if n := len(ms.all); n > 0 {
		ms.all = ms.all[:n-1]
	}
	if ms.m.follow && !ms.isCovered() && ms.m.in.Timeline.Len() > ms.seen {
		ms.m.setFollow(true)
	}
}

// closeAll closes all modes, so that the panes are shown again.
func (ms *modeStack) closeAll() {
	for len(ms.all) > 0 {
		ms.closeTop()
	}
}

// isCovered reports whether a mode covers the panes completely.
func (ms *modeStack) isCovered() bool {
	switch ms.openModeAt(ms.firstVisible()).Mode.(type) {
	case browse, *searchBar, *quitDialog:
		return false
	}
	return true
}

// firstVisible returns the number of the highest mode that is not an overlay. That mode covers all modes
// below it.
func (ms *modeStack) firstVisible() int {
	for n := len(ms.all); n > 0; n-- {
		if _, ok := ms.openModeAt(n).Mode.(modes.OverlayMode); !ok {
			return n
		}
	}
	return 0
}

// queueCmd queues a command for Bubble Tea.
func (ms *modeStack) queueCmd(cmd tea.Cmd) {
	if cmd != nil {
		ms.asked = append(ms.asked, cmd)
	}
}

// extendModes updates the visible modes, and returns the queued commands.
func (ms *modeStack) extendModes() tea.Cmd {
	for n := ms.firstVisible(); n <= len(ms.all); n++ {
		ms.called = n
		ms.openModeAt(n).Extend(ms.m.view, ms.m.w, ms.m.bodyHeight())
	}
	ms.called = 0
	ms.m.moment.extendStrip()
	ms.m.now = nil
	asked := ms.asked
	ms.asked = nil
	return tea.Batch(asked...)
}

// currentKeys returns the keys of the top mode. They are listed when a frame or a click needs them, because most
// updates draw no frame.
func (ms *modeStack) currentKeys() []screen.Binding {
	if ms.m.now == nil {
		if ms.m.now = ms.m.keysOf(ms.activeMode().Mode); ms.m.tour.hasTourKeys() {
			ms.m.now = ms.m.tour.tourKeys()
		}
	}
	return ms.m.now
}

// workDone is the result of background work. Its function is run if the mode with the id seat is still open, or if
// seat is 0.
type workDone struct {
	seat int
	then func()
}

// finishWork runs the function that background work returned, if its mode is still open.
func (ms *modeStack) finishWork(d workDone) {
	if d.then != nil && (d.seat == 0 || slices.ContainsFunc(ms.all, func(s openMode) bool { return s.id == d.seat })) {
		d.then()
	}
}

// modeHost implements modes.Host.
type modeHost struct{ m *Model }

func (h modeHost) View() *providers.View { return h.m.view }
func (h modeHost) Chosen() stream.Ref    { return h.m.selected }
func (h modeHost) Open(mode modes.Mode)  { h.m.modeStack.pushMode(mode) }
func (h modeHost) Close()                { h.m.modeStack.closeTop() }
func (h modeHost) Say(text display.Text) { h.m.showNotice(text) }
func (h modeHost) Do(work func() func()) {
	id := h.m.modeStack.callingMode().id
	h.m.modeStack.queueCmd(func() tea.Msg { return workDone{id, work()} })
}

// Choose selects a turn or call, and stops following. For a turn, it also focuses the list.
func (h modeHost) Choose(r stream.Ref) {
	h.m.setFollow(false)
	if r.Call == 0 {
		h.m.turnTo(h.m.list)
	}
	h.m.selectRef(r)
}

// newEntries returns the modes that can be opened while browsing.
func (m *Model) newEntries() []modes.Entry {
	var exports []modes.Entry
	for verb := range modes.Pipe + 1 {
		e := modes.ExportMenu(verb, modes.Exporter{}, nil, m.draw)
		e.New = func(h modes.Host) (modes.Mode, display.Text) {
			return modes.ExportMenu(verb, m.exports.newExport(), m.exports.exportables, m.draw).New(h)
		}
		exports = append(exports, e)
	}
	return append(exports,
		modes.Protocols(m.rereadExchange),
		compare.Entry(&m.marks, &m.bill, m.draw, m.opt.Large),
		replay.Entry(m.exports.newExport(), m.draw, m.opt.Large),
		replay.SentBack(m.exports.newExport(), m.draw),
		send.ResendEntry(m.outbox.sendDependencies()),
		send.TypeResult(m.outbox.sendDependencies()),
		modes.Breakpoints(m.opt.Break),
	)
}

// openEntry opens a mode, or shows why it can't be opened.
func (ms *modeStack) openEntry(e modes.Entry) {
	mode, why := e.New(modeHost{ms.m})
	if mode == nil {
		ms.m.showNotice(why)
		return
	}
	ms.m.outbox.awaited = 0 // the user went elsewhere
	ms.pushMode(mode)
}

// drawFooter draws an input, a notice, or as many key hints as fit.
func (ms *modeStack) drawFooter(p *screen.Pen) {
	top := ms.activeMode().Mode
	if in := activeInput(top); in != nil && !in.Prompt.Empty() {
		p.Text(screen.Accent, in.Prompt)
		in.Draw(p)
		p.Text(screen.Muted, in.Note.Between("  ", ""))
		p.Right(screen.Muted, screen.Bare, ms.typedTail())
		return
	}
	if !ms.m.notice.Empty() {
		p.Text(screen.Plain, ms.m.notice.Between(" ", ""))
		return
	}
	p.Hints(ms.currentKeys())
}

// typedTail returns the hints that follow an input, each after a gap.
func (ms *modeStack) typedTail() (tail display.Text) {
	for _, b := range ms.currentKeys() {
		if b.HasHint() {
			tail = display.Join(tail, b.HintText(ms.m.draw).Between("   ", ""))
		}
	}
	return tail.Between("", " ")
}

const typedGap = 3 // number of blank cells before each hint

// activeInput returns a mode's input if the user is typing in it, or nil.
func activeInput(mode modes.Mode) *screen.Input {
	if t, ok := mode.(modes.InputMode); ok {
		return t.Typing()
	}
	return nil
}

// quitOrAsk ends the program. If that would cut off clients' streams, it asks first.
func (m *Model) quitOrAsk(last tea.Cmd) {
	if m.opt.Setup == nil || !m.hasLiveClients() {
		m.modeStack.queueCmd(last)
		return
	}
	m.modeStack.pushMode(&quitDialog{browse{m}})
}

// hasLiveClients reports whether clients would notice that the program ends.
func (m *Model) hasLiveClients() bool {
	return len(m.openExchanges()) > 0 || m.opt.Setup.Runs != nil && m.opt.Setup.Runs()
}

// quitDialog asks whether to quit while streams are open. The panes stay visible.
type quitDialog struct{ browse }

// Keys returns the keys for the choices. ^C quits and cuts the streams.
func (l *quitDialog) Keys() []screen.Binding {
	return []screen.Binding{
		screen.Key("q", "quit and cut", "quit and cut the streams", func() { l.m.modeStack.queueCmd(tea.Quit) }),
		screen.Key("w", "wait, then quit", "quit when the streams and the client have ended", func() {
			l.m.modeStack.closeTop()
			l.m.quitPending = true
			l.m.quitWhenIdle()
		}),
		screen.Key("esc", "stay", "stay", func() {
			l.m.quitPending = false
			l.m.modeStack.closeTop()
		}),
		screen.Key("ctrl+c", "", "", func() { l.m.modeStack.queueCmd(tea.Interrupt) }),
	}
}

// quitWhenIdle ends the program if no stream is open and the user has chosen to wait for that.
func (m *Model) quitWhenIdle() {
	if m.quitPending && !m.hasLiveClients() {
		m.modeStack.queueCmd(tea.Quit)
	}
}

func (l *quitDialog) Draw(p *screen.Pen, y int) {
	if y < l.m.bodyHeight()-1 {
		l.m.frame.drawPanes(p, y)
		return
	}
	open := l.m.openExchanges()
	switch {
	case len(open) > 0:
	case l.m.hasLiveClients():
		p.Text(screen.Plain, display.Lit(" the client is still running: q ends it"))
		return
	default:
		p.Text(screen.Plain, display.Lit(" no stream is open now: q quits"))
		return
	}
	verb, them := "streams are", "them"
	if len(open) == 1 {
		verb, them = "stream is", "it"
	}
	p.Text(screen.Plain, p.Format(" %d %s open (%s): q cuts %s", len(open), verb, p.Clean(byClient(open)), them))
}

// byClient returns the number of streams for each client, e.g. "Claude Code 2, unknown 1".
func byClient(open []*providers.Exchange) string {
	count := map[string]int{}
	for _, x := range open {
		count[clientOf(x)]++
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		words = append(words, display.Format("%s %d", display.Clean(name), count[name]).String())
	}
	return strings.Join(words, ", ")
}
