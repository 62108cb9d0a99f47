package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/themes"
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
	draw       display.Drawer
	pen        screen.Pen
	in         providers.Inspector
	view       *providers.View
	w, h       int
	paneLayout // the panes
	modeStack  modeStack
	entries    []modes.Entry
	now        []screen.Binding // the keys of the top mode; nil until they are needed
	frame      frameDrawer

	paneSet                 // the panes, with links between them
	context   panes.Context // as of the last refresh
	news      panes.Changes
	bill      panes.Costs
	verdicts  panes.Verdicts
	selected  stream.Ref
	search    search
	filtering filtering
	exports   exports
	settings  settings
	outbox    outbox // requests that toolscope sent
	marks     compare.Marks
	moment    pausedMoment
	tour      *tourPlayer // nil outside the demo tour
	results   send.Results

	pinned      pinSet
	mouse       mouse
	redraw      redrawLimiter
	journal     *Journal
	journalSeen journalSeen
	bookmarks   bookmarks
	reloading   bool // a turn is being reloaded
	setup       setupScreen
	served      requestCursor
	quitPending bool // quit as soon as no stream is open

	lastAt       time.Duration // time of the source's latest record
	arrivedAt    time.Time     // when the latest batch of records was read
	follow       bool
	missed       missedTurns
	streams      openStreams
	ended        bool // the source has ended
	failure      error
	notice       display.Text
	isKeyUnknown bool // the notice says that a key does nothing
	rate         meter
	crash        *Crash
	recentKeys   []string // the latest keys and their actions
	prompt       modes.PromptHistory
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
	m := &Model{opt: o, journal: o.Journal, follow: true, selected: stream.NoRef, w: 80, h: 24}
	m.moment = pausedMoment{m: m, playState: playState{speed: 1}}
	m.search.m, m.mouse.m, m.modeStack.m, m.setup.m, m.served.m, m.frame.m = m, m, m, m, m, m
	m.paneLayout.m, m.paneSet.m, m.pinned.m, m.bookmarks.m = m, m, m, m
	m.filtering.m, m.exports.m, m.settings.m = m, m, m
	m.view = m.in.View()
	m.draw = display.Drawer{ASCII: o.ASCII}
	m.outbox = outbox{m: m, flying: map[int]bool{}}
	m.results = send.Results{}
	m.bill.Prices = o.Prices
	m.entries = m.newEntries()
	m.setTheme(o.Theme)
	m.context = panes.Context{View: m.view, News: &m.news, Bill: &m.bill, Verdicts: &m.verdicts, Sieve: &m.filtering.turns, Pen: &m.pen, Typed: m.typedResultSize, Capture: o.Capture, Spaced: o.Large, Large: o.Large}
	m.setPanes(m.newPanes())
	m.sizes, m.order = paneSizes{o.Layout.List, o.Layout.Side, o.Layout.Above, o.Layout.Low}, o.Layout.Columns
	if o.Layout.Tabs == TabsOpen { // older versions also saved closed tabs
		m.tabs = o.Layout.Tabs
	}
	if m.large = o.Large; m.large {
		m.turnTo(m.doc)
	}
	if o.Prepare != nil {
		o.Prepare(&m.in)
	}
	m.in.Keep(providers.Retention{Bytes: o.Keep, Rereadable: maxReloadableBytes, Rows: maxDroppedRows})
	m.refreshPanes()
	if len(o.Recent) > 0 {
		m.modeStack.pushMode(&recentCaptures{m: m})
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

// Init starts waiting for records.
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
		m.mouse.handleMouse(msg)
	case tea.ResumeMsg:
		m.mouse.askMouse()
	case tea.WindowSizeMsg:
		m.w, m.h = max(msg.Width, 1), max(msg.Height, 1)
		m.refreshPanes()
	case workDone:
		m.modeStack.finishWork(msg)
	case rateTick:
		m.rate.waits = m.showsIdle() && !m.moment.isPaused() && len(m.streams.open) > 0
		cmd = m.rate.handleTick(time.Time(msg))
		if m.rate.waits {
			m.refreshPanes()
		}
	case Crash:
		m.crash, cmd = &msg, tea.Quit
	}
	return m, recoverCmd(tea.Batch(cmd, m.modeStack.extendModes(), m.frame.scheduleDraw(msg)))
}

// handleKey passes a key to the active mode. Bubble Tea joins keys that are typed faster than it reads them;
// handleKey splits them again.
func (m *Model) handleKey(k tea.KeyMsg) {
	if k.Type == tea.KeyRunes && len(k.Runes) > 1 && !k.Paste {
		for _, r := range k.Runes {
			m.handleKey(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: k.Alt})
		}
		return
	}
	m.notice, m.isKeyUnknown = display.Text{}, false
	if m.tour.hasTourKeys() && !k.Paste {
		m.tour.handleTourKey(k)
		return
	}
	name, top := k.String(), m.modeStack.activeMode().Mode
	in := activeInput(top)
	switch b := screen.FindBinding(m.keysOf(top), name); {
	case b != nil && !k.Paste:
		m.runBinding(b)
	case in != nil && name != "ctrl+c" && name != "ctrl+z":
		in.Key(k)
	default:
		if b := screen.FindBinding(m.userGlobalKeys(), name); b != nil {
			m.runBinding(b)
		} else if _, asks := top.(*quitDialog); !asks && !k.Paste {
			m.showUnknownKey(name)
		}
	}
}

// refreshPanes updates every pane after a change of the session or the window.
func (m *Model) refreshPanes() {
	m.news.Advance(m.view)
	m.bill.Extend(m.view, &m.news)
	m.verdicts.Extend(m.view, &m.news)
	m.filtering.updateFilter()
	m.countMissed()
	m.streams.update(m.in.Exchanges())
	if m.context.Chosen, m.context.Marks = m.selected, m.marks; m.filtering.turns.Active() {
		if t := m.selectedTurn(); t != nil && !m.filtering.turns.Shows(t) {
			m.context.Chosen = stream.NoRef // a turn that is filtered out is not shown
		}
	}
	m.context.Bare, m.context.Follow = m.bodyHeight() < minTitledRows || m.large, m.follow && m.isLive()
	m.context.Agents = m.list.SeveralAgents()
	m.context.Rows, m.context.Files, m.context.Finding = m.bodyHeight()+2+m.frame.mapRows(), m.list.Files() > 1, m.findingAtCursor()
	m.pickTab()
	m.context.Now = m.shownNow()
	before := m.frame.paneColumns()
	m.context.Piled = len(before) == 1
	for _, p := range m.table {
		w, h, shown := paneSize(before, p.Pane)
		if !shown {
			w = m.w
		}
		p.Extend(&m.context, w, h)
	}
	for range maxLayouts { // new data may have changed the height of a pane
		after, changed := m.frame.paneColumns(), false
		for _, p := range m.table {
			oldW, oldH, _ := paneSize(before, p.Pane)
			if w, h, shown := paneSize(after, p.Pane); shown && (w != oldW || h != oldH) {
				p.Extend(&m.context, w, h)
				changed = true
			}
		}
		if before = after; !changed {
			break
		}
	}
	m.linkPanes()
	m.pinned.reloadShown()
}

// maxLayouts is the maximum number of layouts that follow the first one in a refresh.
const maxLayouts = 3

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

// selectRef selects a turn or call, if the view contains it.
func (m *Model) selectRef(r stream.Ref) {
	if t, _ := m.view.Find(r); t == nil || r == m.selected {
		return
	}
	m.selected = r
	m.refreshPanes()
}

// Options are the program's options.
type Options struct {
	Source   string                      // name of the source: a file name, "stdin", "demo"
	Inbox    Inbox                       // the records; nil if there is no source yet
	Playback Playback                    // controls the clock of a played source; nil for others
	Setup    *SetupGuide                 // client setup of a live source, shown while there is no traffic; may be nil
	Capture  func() string               // path of the capture that records a live source; nil if there is none
	Status   func() []StatusNote         // status notes of the source; called at each frame; may be nil
	Machines func() []panes.MachineState // the publishing machines, by name; called each second; nil for a local source
	Demo     OpenDemo                    // opens the demo, which the screen offers if there is nothing else to show; may be nil
	Static   bool                        // the source is files that don't grow: the list opens with the worst call
	Tour     bool                        // the source is the demo tour
	Speed    float64                     // speed of the demo; 0 means 1
	Prepare  func(*providers.Inspector)  // configures the inspector; nil to detect formats
	Recent   []RecentCapture             // captures that the user can choose from if there is no source; may be nil
	Copy     CopyText                    // copies text to the clipboard; may be nil
	Save     SaveFile                    // writes a new file; may be nil
	Edit     EditorCommand               // opens text in an editor; may be nil
	Pipe     PipeText                    // pipes text to a command; may be nil
	Forms    []modes.ExportForm          // the export formats
	Remember SaveTheme                   // saves a theme for the next run; may be nil
	Break    modes.Breakpoint            // holds responses; nil without a proxy
	Cut      CutCapture                  // makes a capture that ends at the shown moment; may be nil; needs Save
	Send     SendRequest                 // sends a request; may be nil
	Answers  Inbox                       // records of sent requests and their responses; never nil with Send
	Places   []send.Destination          // the destinations of requests
	Suspend  func()                      // stops the program until it is continued; may be nil
	Theme    themes.Theme
	Themes   []themes.Theme   // the user's own themes
	Keys     UserKeys         // replacements for built-in keys
	Asked    bool             // the user named the theme
	Terminal Background       // the terminal's background, as far as it is known
	Depth    termenv.Profile  // the colours that the terminal supports
	ASCII    bool             // draw with ASCII only
	Calm     bool             // reduced motion
	Layout   Layout           // the saved layout
	Large    bool             // the large layout, for an audience
	Written  func() int64     // bytes written to the terminal so far, for the write budget; nil for no limit
	Keep     int64            // maximum bytes of ended turns that can't be reloaded; 0 for no limit
	Prices   *price.Table     // token prices; nil for the embedded ones
	Stats    StatsTable       // may be nil
	Journal  *Journal         // the journal, with any earlier notes; nil for a new one
	Now      func() time.Time // the clock; nil for time.Now
}

// CutCapture returns a capture that ends at the moment of a view.
type CutCapture func(at *providers.View) ([]byte, error)

// StatsTable returns tables of rates, latencies and costs of a view that fit into the given number of cells.
type StatsTable func(of *providers.View, cells int) string

// CopyText copies text to the clipboard, and returns the methods that it used.
type CopyText func(text []byte) (ways string, err error)

// SaveFile writes a new file with a name like the given one, and returns its path. It never overwrites a
// file.
type SaveFile func(name string, data []byte) (path string, err error)

// PipeText pipes text to a shell command, and returns the command's output.
type PipeText func(command string, data []byte) (output []byte, err error)

// SaveTheme saves the name of a theme for the next run, and returns the place where it is saved.
type SaveTheme func(theme string) (where string, err error)

// OpenDemo opens the demo in its own inbox or in the source's inbox.
type OpenDemo func(ownInbox bool) Inbox

// Playback is a clock that has a speed and can be paused.
type Playback interface {
	Pause(bool)
	Paused() bool
	SetSpeed(float64)
	Speed() float64
}
