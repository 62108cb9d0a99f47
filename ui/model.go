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

// Model is the program. It is the only tea.Model; Update routes, and what changes is done by the
// methods it routes to.
type Model struct {
	opt     Options
	keys    keyMap
	draw    display.Drawer
	pen     screen.Pen
	in      providers.Inspector
	view    *providers.View
	w, h    int
	desk    // the panes
	seats   seats
	entries []modes.Entry
	now     []screen.Binding // the keys of the mode on top
	cols    []column         // of the frame that is drawn

	links                 // between panes
	scene   panes.Context // as the panes know it since the last refresh
	news    panes.Changes
	bill    panes.Costs
	chosen  stream.Ref
	search  search
	sieve   panes.TurnFilter // which turns are shown
	filters []string         // that were kept, the latest last
	post    post             // what was sent from here
	marks   compare.Marks
	walk    walk
	stage   *stage // nil but for the demo as it is shown to a room
	results send.Results

	pinned  pinned
	mouse   mouse
	stay    stay
	journal *Journal
	heard   heard
	places  []bookmark
	waking  bool // a turn is being read again
	awaited int  // which line of the screen that waits is selected
	served  served
	pasted  bool // and whether all that belongs to it is shown
	parting bool // the program ends when nothing is open any more

	lastAt    time.Duration // of the latest record of the source
	arrivedAt time.Time     // when that came
	follow    bool
	ended     bool // the source has ended
	failure   error
	notice    display.Text
	rate      meter
	crash     *Crash
	did       []string // the latest keys, and what they do
}

// New makes the program.
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
	m := &Model{opt: o, journal: o.Journal, keys: newKeyMap(), follow: true, chosen: stream.NoRef, w: 80, h: 24, walk: walk{pace: pace{speed: 1}}}
	m.view = m.in.View()
	m.draw = display.Drawer{ASCII: o.ASCII}
	m.post = post{flying: map[int]bool{}}
	m.results = send.Results{}
	m.bill.Prices = o.Prices
	m.entries = m.newEntries()
	m.paint(o.Theme)
	m.scene = panes.Context{View: m.view, News: &m.news, Bill: &m.bill, Alarms: panes.WorstSeverities{}, Sieve: &m.sieve, Clock: true, Pen: &m.pen, Typed: m.typed, Spaced: o.Large}
	m.lay(m.newPanes())
	m.restore(o.Layout)
	if m.large = o.Large; m.large {
		m.turnTo(m.doc)
	}
	if o.Prepare != nil {
		o.Prepare(&m.in)
	}
	m.in.Keep(m.keeping())
	m.refresh()
	if len(o.Recent) > 0 {
		m.open(&recents{m: m})
	}
	if o.Speed > 0 {
		m.walk.speed = min(max(o.Speed, leastSpeed), mostSpeed)
	}
	if o.Stage {
		m.curtain()
	}
	return m
}

// Err is why the source ended, if that was an error.
func (m *Model) Err() error { return m.failure }

// Init begins to listen.
func (m *Model) Init() tea.Cmd {
	var cmds []tea.Cmd
	if m.opt.Inbox != nil {
		cmds = append(cmds, listen(m.opt.Inbox, 0))
	}
	if m.opt.Hosts != nil {
		cmds = append(cmds, func() tea.Msg { return hostsTick{} })
	}
	if m.opt.Send != nil {
		cmds = append(cmds, listen(m.opt.Answers, 0))
	}
	return tea.Batch(cmds...)
}

// Update routes a message to what it is for.
func (m *Model) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	switch msg := msg.(type) {
	case arrived:
		cmd = m.take(msg.in)
	case hostsTick:
		cmd = m.lookAtHosts()
	case tea.KeyMsg:
		m.key(msg)
	case tea.MouseMsg:
		m.point(msg)
	case tea.ResumeMsg:
		m.askMouse()
	case tea.WindowSizeMsg:
		m.w, m.h = max(msg.Width, 1), max(msg.Height, 1)
		m.refresh()
	case done:
		m.finish(msg)
	case quiet:
		cmd = m.rate.settle(time.Time(msg))
	case Crash:
		m.crash, cmd = &msg, tea.Quit
	}
	return m, guard(tea.Batch(cmd, m.extend(), m.restrain(msg)))
}

// key gives a key to the mode. Bubble Tea makes one message of keys that are typed faster than it
// reads: each counts.
func (m *Model) key(k tea.KeyMsg) {
	if k.Type == tea.KeyRunes && len(k.Runes) > 1 && !k.Paste {
		for _, r := range k.Runes {
			m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: k.Alt})
		}
		return
	}
	m.notice = display.Text{}
	if m.atStage() && !k.Paste {
		m.keyOnStage(k)
		return
	}
	name, top := k.String(), m.top().Mode
	in := typing(top)
	switch b := screen.FindBinding(m.keysOf(top), name); {
	case b != nil && !k.Paste:
		m.act(b)
	case in != nil && name != "ctrl+c" && name != "ctrl+z":
		in.Key(k)
	default:
		if b := screen.FindBinding(m.everywhere(), name); b != nil {
			m.act(b)
		}
	}
}

// refresh brings every pane up to date with the session and the window.
func (m *Model) refresh() {
	m.news.Advance(m.view)
	m.bill.Extend(m.view, &m.news)
	if m.news.All { // of a list that is shorter now they knew too much
		clear(m.scene.Alarms)
	}
	m.extendSieve()
	m.scene.Chosen, m.scene.Marks = m.chosen, m.marks
	m.scene.Bare, m.scene.Follow = m.bodyHeight() < titled || m.large, m.follow && m.moving()
	before := m.columns()
	m.scene.Piled = len(before) == 1
	for _, p := range m.table {
		w, h, shown := place(before, p.Pane)
		if !shown {
			w = m.w
		}
		p.Extend(&m.scene, w, h)
	}
	after := m.columns() // what came may have made a tab taller
	for _, p := range m.table {
		_, was, _ := place(before, p.Pane)
		if w, h, shown := place(after, p.Pane); shown && h != was {
			p.Extend(&m.scene, w, h)
		}
	}
	m.link()
	m.wake()
}

// turn is the chosen turn, or that of the chosen call; nil without one.
func (m *Model) turn() *stream.Turn {
	t, _ := m.view.Find(m.chosen)
	return t
}

// call is the chosen call, nil without one.
func (m *Model) call() *stream.Call {
	_, c := m.view.Find(m.chosen)
	return c
}

// choose makes a turn or call the chosen one.
func (m *Model) choose(r stream.Ref) {
	if t, _ := m.view.Find(r); t == nil || r == m.chosen {
		return
	}
	m.chosen = r
	m.refresh()
}
