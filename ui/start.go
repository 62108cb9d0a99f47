package ui

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/providers/mcp"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// SetupGuide has the lines that point clients at a live source, and the source's routes and state.
type SetupGuide struct {
	URL    string        // the source's address
	Ways   []ClientSetup // setup lines for clients; none if no client needs any
	More   string        // setup for all other clients, or the state if no client needs setup lines; may be empty
	Routes [][2]string   // path prefixes and their upstreams
	Runs   func() bool   // reports whether the client that would end with the program is still running; nil if there is no such client
}

// A ClientSetup is the line that the user pastes for a client, and any further lines.
type ClientSetup struct {
	Client string
	Line   string   // "" if no line works alone
	Also   []string // further lines
}

// lines returns all lines.
func (w ClientSetup) lines() []string {
	if w.Line == "" {
		return w.Also
	}
	return append([]string{w.Line}, w.Also...)
}

// setupScreen is the screen while the program waits for the first client.
type setupScreen struct {
	m        *Model
	index    int  // selected line
	expanded bool // the further lines of the selected setup are shown
}

// isWaitingForClients reports whether a source with setup lines has received only refused requests so far, at
// most maxRefused.
func (su *setupScreen) isWaitingForClients() bool {
	turns := len(su.m.in.Session().Turns)
	return su.m.opt.Setup != nil && (turns == 0 || turns <= maxRefused && turns == len(su.m.refusedExchanges()))
}

const maxRefused = 100 // if there are more refused requests, the list of turns is shown instead

// setupRow is a row of the waiting screen: the setup for a client, one of its further lines, or the setup for
// all other clients.
type setupRow struct {
	way  int // index in Ways, or len(Ways) for all other clients
	line int // index of the further line, or -1 for the setup itself
	text display.Text
}

// setupRows returns the rows between the first row and the refused requests.
func (su *setupScreen) setupRows(width int) (rows []setupRow) {
	a := su.m.opt.Setup
	for i, way := range a.Ways {
		rows = append(rows, setupRow{way: i, line: -1})
		if i != su.index || !su.expanded {
			continue
		}
		for n, line := range way.lines() {
			for _, part := range display.Wrap(su.m.pen.Name(line), max(width-4, 8)) {
				rows = append(rows, setupRow{i, n, part})
			}
		}
	}
	if a.More != "" && width >= setupWide && len(a.Ways) > 0 {
		rows = append(rows, setupRow{way: len(a.Ways), line: -1})
	}
	return rows
}

// drawSetup draws row y of the screen that waits for clients. It shows the lines to paste and the refused
// requests.
func (su *setupScreen) drawSetup(p *screen.Pen, y, height int) {
	a, refused, rows := su.m.opt.Setup, su.m.refusedExchanges(), su.setupRows(p.Left)
	told, room, top := su.setupView(rows, len(refused), height)
	caption := min(height-told-1, len(rows)-top+2) // row of the caption of the refused requests
	switch n := top + y - 1; {
	case len(a.Ways) == 0 && y == 0:
		p.Text(screen.Muted, p.Truncate(p.Name(a.More).Between("  ", ""), p.Left))
	case y == 0 && p.Left >= setupWide:
		p.Text(screen.Muted, display.Lit("  Paste one line where your agent runs (:paste shows this again):"))
	case y == 0:
		p.Text(screen.Muted, display.Lit(" Waiting at "))
		p.Text(screen.Plain, p.Name(a.URL))
	case y <= room && n < len(rows):
		su.drawSetupRow(p, rows[n])
	case told > 0 && y == caption:
		p.Caption(screen.Caution, screen.Count(len(refused)).Between("Refused ", ""))
	case y > caption && y <= caption+told:
		su.m.frame.drawRefusal(p, refused[len(refused)-told+y-caption-1])
	}
}

// setupView returns the number of refused requests that fit into height rows, the number of setup rows, and the first
// visible setup row. The selected row is always visible.
func (su *setupScreen) setupView(rows []setupRow, refused, height int) (told, room, top int) {
	told = min(refused, max(0, height-len(su.m.opt.Setup.Ways)-4))
	room = height - 1
	if told > 0 {
		room -= told + 1
	}
	for i, r := range rows {
		if r.way == su.index && r.line < 0 && i >= room {
			top = i - room + 1
		}
	}
	return told, room, top
}

// touchSetupRow selects the setup in row y, and reports whether that setup was already selected.
func (su *setupScreen) touchSetupRow(y int) (again bool) {
	rows := su.setupRows(su.m.w)
	_, room, top := su.setupView(rows, len(su.m.refusedExchanges()), su.m.bodyHeight())
	n := top + y - 1
	if y < 1 || y > room || n >= len(rows) || rows[n].way >= len(su.m.opt.Setup.Ways) {
		return false
	}
	if again = rows[n].way == su.index; !again {
		su.index, su.expanded = rows[n].way, false
	}
	return again
}

// setupWide is the minimum screen width at which the names of clients are shown.
const setupWide = 60

// drawSetupRow draws the setup for a client, one of its further lines, or the setup for all other clients.
func (su *setupScreen) drawSetupRow(p *screen.Pen, r setupRow) {
	a, g, mark := su.m.opt.Setup, screen.Bare, display.Lit("  ")
	if r.line >= 0 {
		p.Spaces(g, 4)
		p.Text(screen.StringToken, r.text)
		return
	}
	if r.way == su.index {
		g, mark = screen.Selected, p.Glyph.Mark.Between("", " ")
	}
	p.TextOn(screen.Accent, g, mark)
	name, text, role := display.Lit("others"), p.Name(a.More), screen.Muted
	if r.way < len(a.Ways) {
		way := a.Ways[r.way]
		name, text, role = p.Name(way.Client), p.Name(way.Line), screen.Plain
		if way.Line == "" {
			text, role = display.Format("enter shows %s", screen.Plural(len(way.Also), "line")), screen.Muted
		}
	}
	if p.Left >= setupWide-2 {
		names := 0
		for _, way := range a.Ways {
			names = max(names, p.Name(way.Client).Width())
		}
		p.TextOn(screen.Accent, g, p.Pad(name, names).Between("", "  "))
	}
	p.TextOn(role, g, p.Truncate(text, p.Left))
	if r.way < len(a.Ways) && a.Ways[r.way].Line != "" && len(a.Ways[r.way].Also) > 0 {
		p.Right(screen.Muted, g, p.Format(" +%d: enter ", len(a.Ways[r.way].Also)))
	}
	p.Fill(g)
}

// setupKeys returns the keys of the waiting screen.
func (su *setupScreen) setupKeys() []screen.Binding {
	return append(su.pasteKeys(), []screen.Binding{
		screen.Key("L", "streams", "open streams", su.m.openStreams),
		screen.Key("d", "demo", "play the demo", su.m.playDemo),
		screen.Key("q esc", "quit", "quit", func() { su.m.quitOrAsk(tea.Quit) }),
	}...)
}

// pasteKeys returns the keys that select, show and copy a setup.
func (su *setupScreen) pasteKeys() []screen.Binding {
	move := func(step int) func() {
		return func() {
			su.index = min(max(0, su.index+step), max(0, len(su.m.opt.Setup.Ways)-1))
			su.expanded = false
		}
	}
	return []screen.Binding{
		screen.Key("up k", "", "previous line", move(-1)),
		screen.Key("down j", "", "next line", move(1)),
		screen.Can("help")[0],
		screen.Key("y", "copy line", "copy the line, or its group", su.copySetupLines),
		screen.Key("enter", "", "show the full lines", func() { su.expanded = !su.expanded }),
	}
}

// openPaste shows the setup lines again.
func (su *setupScreen) openPaste() {
	if su.m.opt.Setup == nil {
		su.m.showNotice(display.Lit("only a proxy has setup lines for clients"))
		return
	}
	su.m.modeStack.pushMode(&setupPage{su.m})
}

// setupPage is the mode that shows the setup lines once traffic has arrived.
type setupPage struct{ m *Model }

// Keys returns the keys that select, show and copy a setup, and the keys that close the page.
func (s *setupPage) Keys() []screen.Binding {
	return append(s.m.setup.pasteKeys(), screen.Key("esc q", "back", "close", s.m.modeStack.closeTop))
}

// Click selects the setup at row y.
func (s *setupPage) Click(_, y int) (again bool) { return s.m.setup.touchSetupRow(y) }

// Roll does nothing: the view follows the selection.
func (*setupPage) Roll(int) {}

// Extend has no data to read.
func (s *setupPage) Extend(*providers.View, int, int) {}

// Draw draws row y.
func (s *setupPage) Draw(p *screen.Pen, y int) {
	s.m.setup.drawSetup(p, y, s.m.bodyHeight())
	p.Fill(screen.Bare)
}

// copySetupLines copies the lines of the selected setup.
func (su *setupScreen) copySetupLines() {
	a := su.m.opt.Setup
	if su.index >= len(a.Ways) {
		su.m.showNotice(display.Lit("no line is selected"))
		return
	}
	su.m.copyText([]byte(strings.Join(a.Ways[su.index].lines(), "\n")))
}

// copyText copies text to the clipboard, and shows the methods that it used or the reason why it failed.
func (m *Model) copyText(text []byte) {
	if m.opt.Copy == nil {
		m.showNotice(display.Lit("no clipboard"))
		return
	}
	ways, err := m.opt.Copy(text)
	if err != nil {
		m.showNotice(m.draw.Clean(err.Error()))
		return
	}
	m.showNotice(m.draw.Clean(ways).Between("copied: ", ""))
}

// A StatusNote is a note about the state of the source.
type StatusNote struct {
	Text  string
	Alarm bool   // something is wrong
	Stays bool   // the note is shown while there is room for it and for the end of the path
	Brief string // replaces Text if that doesn't fit; "" if there is no shorter text
}

// A RecentCapture is a capture that the user can choose if there is no source.
type RecentCapture struct {
	Name    string
	Bytes   int64
	Written time.Time // the time of the capture's last byte
	Open    bool      // the capture is still being recorded
	Read    func() Inbox
}

// recentCaptures is the mode that lists recent captures, and offers the demo.
type recentCaptures struct {
	screen.Window
	m *Model
}

// Keys returns the keys that open a capture, play the demo, quit, and move the cursor.
func (r *recentCaptures) Keys() []screen.Binding {
	return append([]screen.Binding{
		screen.Key("enter", "open", "open the capture", r.openSelected),
		screen.Key("d", "demo", "play the demo", func() {
			r.m.modeStack.closeTop()
			r.m.playDemo()
		}),
		screen.Key("q esc", "quit", "quit", func() { r.m.modeStack.queueCmd(tea.Quit) }),
	}, r.CursorKeys("", r.MoveTo)...)
}

// openSelected opens the selected capture, and follows one that is still being recorded.
func (r *recentCaptures) openSelected() {
	m, chosen := r.m, r.m.opt.Recent[r.At]
	m.opt.Inbox, m.opt.Source, m.opt.Demo, m.opt.Static = chosen.Read(), chosen.Name, nil, !chosen.Open
	m.modeStack.closeTop()
	m.modeStack.queueCmd(waitForInbox(m.opt.Inbox, 0))
	m.setFollow(true)
}

func (r *recentCaptures) Extend(_ *providers.View, _, h int) {
	r.Fit(len(r.m.opt.Recent), 1, h-1)
}

func (r *recentCaptures) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if y == 0 {
		p.Text(screen.Accent, display.Lit(" Captures "))
		p.Text(screen.Muted, screen.Count(r.Rows))
		return
	}
	row := r.Top + y - 1
	if row >= r.Rows || y > r.Height {
		return
	}
	g, mark := screen.Bare, display.Lit("  ")
	if row == r.At {
		g, mark = screen.Selected, p.Glyph.Mark.Between("", " ")
	}
	one := r.m.opt.Recent[row]
	p.TextOn(screen.Accent, g, mark)
	p.TextOn(screen.Plain, g, p.Format("%s  ", p.Clean(one.Written.Local().Format("2006-01-02 15:04"))))
	p.TextOn(screen.Muted, g, padLeft(p, screen.Bytes(int(one.Bytes)), 11).Between("", "  "))
	if one.Open {
		p.TextOn(screen.Live, g, display.Lit("recording  "))
	}
	p.TextOn(screen.Muted, g, p.Truncate(p.Name(one.Name), p.Left))
	p.Fill(g)
}

// hasOnlyMCP reports whether the session has only MCP servers and no model turns.
func (m *Model) hasOnlyMCP() bool {
	return !m.tour.isTourOpening() && !m.setup.isWaitingForClients() && len(m.in.Session().Turns) == 0 && len(m.in.Executed().Requests) > 0
}

// mcpKeys returns the keys that move among the MCP requests.
func (rc *requestCursor) mcpKeys() []screen.Binding {
	w := &rc.rows
	keys := w.CursorKeys("", func(row int) { rc.fixed = true; w.MoveTo(row) })
	last := &keys[len(keys)-1]
	last.Does, last.Do = display.Lit("to the end, and follow"), func() { rc.fixed = false }
	return keys
}

// requestCursor is the position in the list of MCP requests.
type requestCursor struct {
	m     *Model
	rows  screen.Window
	fixed bool // the cursor does not follow the latest request
}

// drawMCP draws row y of a session that has only MCP servers. Each request has its response in the row below
// it. The latest requests are shown unless the user has moved elsewhere.
func (rc *requestCursor) drawMCP(p *screen.Pen, y int) {
	v := rc.m.in.View()
	all := v.Executed()
	rows := max(1, (rc.m.bodyHeight()-1)/2)
	if y == 0 {
		rc.rows.Stick = !rc.fixed
		rc.rows.Resize(len(all), rows)
		p.Text(screen.Accent, display.Lit(" MCP "))
		calls := 0
		for _, s := range v.Servers() {
			calls += s.Calls
		}
		p.Text(screen.Plain, rc.m.draw.Truncate(p.Format("%s, %s; no model turns", screen.Plural(len(all), "request"), screen.Plural(calls, "tool call")), rc.m.w-6))
		return
	}
	n := rc.rows.Top + (y-1)/2
	if n >= len(all) || y > 2*rows {
		return
	}
	r := all[n]
	if (y-1)%2 == 0 {
		rc.drawMCPRequest(p, r, n == rc.rows.At && rc.fixed)
		return
	}
	text := r.Text
	if r.Error != "" {
		text = r.Error
	}
	if r.Shell() {
		text = r.Exit
	}
	if text == "" && r.StructuredSize > 0 {
		text = string(r.Structured)
	}
	p.Text(screen.Muted, rc.m.draw.Truncate(p.Format("             %s", text[:min(len(text), 4*rc.m.w)]), rc.m.w-1))
}

// drawMCPRequest draws a request: its state, server, method, and arguments.
func (rc *requestCursor) drawMCPRequest(p *screen.Pen, r *mcp.Request, here bool) {
	role, mark := screen.Good, display.Lit("   ")
	if here {
		mark = p.Glyph.Mark.Between(" ", " ")
	}
	switch {
	case r.State == mcp.Refused || r.Failed:
		role = screen.Bad
	case r.State != mcp.Done:
		role = screen.Caution
	}
	p.Text(role, mark)
	state := r.State.String()
	if r.Failed {
		state = "failed"
	}
	took := ""
	if d := r.Duration(); d >= 0 {
		took = " in " + screen.Time(d).String()
	}
	p.Text(role, p.Format("%-10s", state))
	asks := ""
	if r.FromServer {
		asks = "asks "
	}
	room := max(0, rc.m.w-13)
	p.Text(screen.Plain, rc.m.draw.Truncate(p.Format("%s  %s%s %s%s  %s", r.Server.Name, asks, r.Method, r.Tool, took, string(r.Args[:min(len(r.Args), 4*rc.m.w)])), room))
}
