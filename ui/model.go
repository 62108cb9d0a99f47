package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/compare"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
	"toolscope/ui/send"
)

// Model is the program. It is the only tea.Model; Update routes messages to its methods.
type Model struct {
	opt        Options
	keys       keyMap
	draw       display.Drawer
	pen        screen.Pen
	in         providers.Inspector
	view       *providers.View
	w, h       int
	paneLayout // the panes
	modeStack  modeStack
	entries    []modes.Entry
	now        []screen.Binding // the keys of the mode on top
	cols       []column         // of the current frame

	paneSet                  // between panes
	context    panes.Context // as of the last refresh
	news       panes.Changes
	bill       panes.Costs
	selected   stream.Ref
	search     search
	turnFilter panes.TurnFilter // which turns are shown
	filters    []string         // kept filters, the latest last
	outbox     outbox           // requests that toolscope sent
	marks      compare.Marks
	moment     pausedMoment
	tour       *tourPlayer // nil except in the demo tour
	results    send.Results

	pinned        pinSet
	mouse         mouse
	redraw        redrawLimiter
	journal       *Journal
	journalSeen   journalSeen
	places        []bookmark
	reloading     bool // a turn is being reloaded
	setupIndex    int  // selected line of the waiting screen
	served        requestCursor
	setupExpanded bool // its further lines are shown
	quitPending   bool // quit when no stream is open

	lastAt     time.Duration // of the latest record of the source
	arrivedAt  time.Time     // when it arrived
	follow     bool
	ended      bool // the source has ended
	failure    error
	notice     display.Text
	rate       meter
	crash      *Crash
	recentKeys []string // the latest keys and their actions
}

// New returns the program.
func New(o Options) *Model {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Prices == nil {
		o.Prices = price.Embedded()
	}
	if o.Journal == nil {
		o.Journal = new(Journal)
	}
	m := &Model{opt: o, journal: o.Journal, keys: newKeyMap(), follow: true, selected: stream.NoRef, w: 80, h: 24, moment: pausedMoment{playState: playState{speed: 1}}}
	m.view = m.in.View()
	m.draw = display.Drawer{ASCII: o.ASCII}
	m.outbox = outbox{flying: map[int]bool{}}
	m.results = send.Results{}
	m.bill.Prices = o.Prices
	m.entries = m.newEntries()
	m.setTheme(o.Theme)
	m.context = panes.Context{View: m.view, News: &m.news, Bill: &m.bill, Alarms: panes.WorstSeverities{}, Sieve: &m.turnFilter, Clock: true, Pen: &m.pen, Typed: m.typedResultSize, Spaced: o.Large}
	m.setPanes(m.newPanes())
	m.restoreLayout(o.Layout)
	if m.large = o.Large; m.large {
		m.turnTo(m.doc)
	}
	if o.Prepare != nil {
		o.Prepare(&m.in)
	}
	m.in.Keep(m.retention())
	m.refreshPanes()
	if len(o.Recent) > 0 {
		m.pushMode(&recentCaptures{m: m})
	}
	if o.Speed > 0 {
		m.moment.speed = min(max(o.Speed, minSpeed), maxSpeed)
	}
	if o.Tour {
		m.startTour()
	}
	return m
}

// Err returns the error that ended the source, if any.
func (m *Model) Err() error { return m.failure }

// Init starts to wait for records.
func (m *Model) Init() tea.Cmd {
	var cmds []tea.Cmd
	if m.opt.Inbox != nil {
		cmds = append(cmds, waitForInbox(m.opt.Inbox, 0))
	}
	if m.opt.Machines != nil {
		cmds = append(cmds, func() tea.Msg { return machinesTick{} })
	}
	if m.opt.Send != nil {
		cmds = append(cmds, waitForInbox(m.opt.Answers, 0))
	}
	return tea.Batch(cmds...)
}

// Update routes a message to its handler.
func (m *Model) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	switch msg := msg.(type) {
	case inboxReady:
		cmd = m.handleInbox(msg.in)
	case machinesTick:
		cmd = m.updateMachines()
	case tea.KeyMsg:
		m.handleKey(msg)
	case tea.MouseMsg:
		m.handleMouse(msg)
	case tea.ResumeMsg:
		m.askMouse()
	case tea.WindowSizeMsg:
		m.w, m.h = max(msg.Width, 1), max(msg.Height, 1)
		m.refreshPanes()
	case workDone:
		m.finishWork(msg)
	case rateTick:
		cmd = m.rate.handleTick(time.Time(msg))
	case Crash:
		m.crash, cmd = &msg, tea.Quit
	}
	return m, recoverCmd(tea.Batch(cmd, m.extendModes(), m.scheduleDraw(msg)))
}

// handleKey passes a key to the mode. Bubble Tea joins keys that are typed faster than it reads: each one is
// handled.
func (m *Model) handleKey(k tea.KeyMsg) {
	if k.Type == tea.KeyRunes && len(k.Runes) > 1 && !k.Paste {
		for _, r := range k.Runes {
			m.handleKey(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: k.Alt})
		}
		return
	}
	m.notice = display.Text{}
	if m.hasTourKeys() && !k.Paste {
		m.handleTourKey(k)
		return
	}
	name, top := k.String(), m.activeMode().Mode
	in := activeInput(top)
	switch b := screen.FindBinding(m.keysOf(top), name); {
	case b != nil && !k.Paste:
		m.runBinding(b)
	case in != nil && name != "ctrl+c" && name != "ctrl+z":
		in.Key(k)
	default:
		if b := screen.FindBinding(m.userGlobalKeys(), name); b != nil {
			m.runBinding(b)
		}
	}
}

// refreshPanes updates every pane for the session and the window.
func (m *Model) refreshPanes() {
	m.news.Advance(m.view)
	m.bill.Extend(m.view, &m.news)
	if m.news.All { // the list may be shorter than their caches
		clear(m.context.Alarms)
	}
	m.updateFilter()
	m.context.Chosen, m.context.Marks = m.selected, m.marks
	m.context.Bare, m.context.Follow = m.bodyHeight() < minTitledRows || m.large, m.follow && m.isLive()
	before := m.paneColumns()
	m.context.Piled = len(before) == 1
	for _, p := range m.table {
		w, h, shown := paneSize(before, p.Pane)
		if !shown {
			w = m.w
		}
		p.Extend(&m.context, w, h)
	}
	after := m.paneColumns() // new data may have made a tab taller
	for _, p := range m.table {
		_, was, _ := paneSize(before, p.Pane)
		if w, h, shown := paneSize(after, p.Pane); shown && h != was {
			p.Extend(&m.context, w, h)
		}
	}
	m.linkPanes()
	m.reloadShown()
}

// selectedTurn returns the selected turn, or the turn of the selected call, or nil.
func (m *Model) selectedTurn() *stream.Turn {
	t, _ := m.view.Find(m.selected)
	return t
}

// selectedCall returns the selected call, or nil.
func (m *Model) selectedCall() *stream.Call {
	_, c := m.view.Find(m.selected)
	return c
}

// selectRef selects a turn or call.
func (m *Model) selectRef(r stream.Ref) {
	if t, _ := m.view.Find(r); t == nil || r == m.selected {
		return
	}
	m.selected = r
	m.refreshPanes()
}
