package ui

import (
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/screen"
)

// minWidth and minHeight are the minimum window size.
const (
	minWidth  = 20
	minHeight = 5
)

func (m *Model) bodyHeight() int { return max(1, m.h-2-m.moment.stripRows()-m.frame.mapRows()) }

type frameDrawer struct {
	m    *Model
	cols []column // the columns of the current frame
	runs turnMap

	waitsKey  waitsKey
	lastWaits waitSummary
}

func (fd *frameDrawer) paneColumns() []column {
	above, below := fd.marginRows()
	return fd.m.arrangeBody(fd.m.w, max(1, fd.m.bodyHeight()-above-below))
}

// draw returns one frame: a row about the source, the map of turns if it is shown, the body, the timeline if
// it is shown, and a row with keys or a notice. Each row is exactly as wide as the window.
func (fd *frameDrawer) draw() string {
	p := &fd.m.pen
	p.Reset()
	if fd.m.w < minWidth || fd.m.h < minHeight {
		return fd.tooSmall()
	}
	p.Field(fd.m.w)
	large := fd.largePage()
	switch {
	case large != nil:
		large.draw(p, 0)
		p.Fill(screen.Bare)
	case !fd.m.large || !fd.drawBand(p):
		fd.drawTop(p)
		p.Fill(screen.Bare)
	}
	if fd.mapRows() > 0 {
		p.Newline()
		p.Field(fd.m.w)
		fd.drawMap(p)
		p.Fill(screen.Bare)
	}
	body := fd.m.bodyHeight()
	fd.cols = fd.paneColumns()
	for y := range body {
		p.Newline()
		p.Field(fd.m.w)
		if large != nil {
			large.draw(p, y+1)
		} else {
			fd.m.modeStack.drawMode(p, len(fd.m.modeStack.all), y, body)
		}
		p.Fill(screen.Bare)
	}
	for y := range min(fd.m.moment.stripRows(), fd.m.h-3) {
		p.Newline()
		p.Field(fd.m.w)
		if fd.m.tour.isTourShown() {
			fd.m.tour.drawCaption(p, y)
		} else {
			fd.m.moment.strip.Draw(p, y)
		}
		p.Fill(screen.Bare)
	}
	p.Newline()
	p.Field(fd.m.w)
	fd.m.modeStack.drawFooter(p)
	p.Fill(screen.Bare)
	return p.Frame()
}

func (fd *frameDrawer) tooSmall() string {
	p := &fd.m.pen
	for y := range fd.m.h {
		if y > 0 {
			p.Newline()
		}
		p.Field(fd.m.w)
		if y == 0 {
			p.Text(screen.Caution, fd.m.draw.Format("at least %dx%d", minWidth, minHeight))
		}
		p.Fill(screen.Bare)
	}
	return p.Frame()
}

// drawPanes draws row y of the panes.
func (fd *frameDrawer) drawPanes(p *screen.Pen, y int) {
	if fd.m.tour.isTourOpening() {
		fd.m.tour.drawOpening(p, y)
		return
	}
	if fd.m.setup.isWaitingForClients() {
		fd.m.setup.drawSetup(p, y, fd.m.bodyHeight())
		return
	}
	if len(fd.m.in.Session().Turns) == 0 {
		if len(fd.m.in.Executed().Requests) > 0 {
			fd.m.served.drawMCP(p, y)
			return
		}
		fd.drawEmpty(p, y)
		return
	}
	if fd.m.large && fd.drawMargin(p, y) {
		return
	}
	above, _ := fd.marginRows()
	boxed, left := fd.m.isBoxed(fd.m.w, fd.m.bodyHeight()), fd.m.w
	for i, c := range fd.cols {
		if i > 0 || boxed {
			p.Field(1)
			fd.drawFrame(p, i, y, boxed)
			left--
		}
		if boxed && y == fd.m.bodyHeight()-1 {
			p.Field(c.width)
			p.Text(screen.Frame, display.Repeat(p.Glyph.Line, c.width))
			left -= c.width
			continue
		}
		left -= c.width
		p.Field(c.width)
		row := y - above
		_, menu := fd.m.modeStack.activeMode().Mode.(modes.OverlayMode) // a menu has the focus, so no pane has a selected row
		for _, s := range c.panes {
			focused := s.pane != nil && s.pane == fd.m.focus && !menu
			if row == 0 && !fd.m.context.Bare {
				focused = focused && !fd.hasHeavyStrip()
			}
			if row == 0 && s.tabs != nil {
				fd.m.drawTabs(p, s, focused)
				break
			}
			if row < s.height {
				if s.pane != nil {
					s.pane.Draw(p, row, focused)
				}
				break
			}
			row -= s.height
		}
		p.Fill(screen.Bare)
	}
	if boxed {
		p.Field(left)
		fd.drawFrame(p, len(fd.cols), y, boxed)
	}
}

// hasHeavyStrip reports whether the strip above the last row has a title, so that no pane has a heavy edge.
func (fd *frameDrawer) hasHeavyStrip() bool {
	if fd.m.tour.isTourShown() {
		return fd.m.tour.captionRows() >= 3 && fd.m.w >= wideCaption
	}
	return fd.m.moment.stripRows() > 0
}

// drawFrame draws a cell of the frame around the panes, to the left of column i.
func (fd *frameDrawer) drawFrame(p *screen.Pen, i, y int, boxed bool) {
	top, bottom := y == 0, y == fd.m.bodyHeight()-1
	left, right := i > 0 && fd.cols[i-1].beginsAt(y), i < len(fd.cols) && fd.cols[i].beginsAt(y)
	sign := p.Glyph.Rule
	switch {
	case !boxed:
	case top && i == 0:
		sign = p.Glyph.Corners[0]
	case top && i == len(fd.cols):
		sign = p.Glyph.Corners[1]
	case bottom && i == 0:
		sign = p.Glyph.Corners[2]
	case bottom && i == len(fd.cols):
		sign = p.Glyph.Corners[3]
	case top:
		sign = p.Glyph.Joints[0]
	case bottom:
		sign = p.Glyph.Joints[1]
	case left && right:
		sign = p.Glyph.Joints[4]
	case right:
		sign = p.Glyph.Joints[2]
	case left:
		sign = p.Glyph.Joints[3]
	}
	p.Text(screen.Frame, sign)
}

// beginsAt reports whether a lower pane begins in row y.
func (c column) beginsAt(y int) bool {
	for i, s := range c.panes {
		if i > 0 && y == 0 {
			return true
		}
		y -= s.height
	}
	return false
}

// placeEnd returns the end of a path, with a sign for the omitted beginning, in the given number of cells.
func placeEnd(p *screen.Pen, place display.Text, cells int) display.Text {
	if place.Width() <= cells {
		return place
	}
	more := display.Lit("…")
	if p.ASCII {
		more = display.Lit("..")
	}
	return p.Truncate(display.Join(more, display.Skip(place, place.Width()-cells+more.Width())), cells)
}

// sourceStatus returns texts that show whether data is arriving and whether the panes follow it. It returns nil if
// the timeline is drawn outside the tour, because the timeline shows the same information.
func (fd *frameDrawer) sourceStatus() (right []screen.StyledText) {
	if fd.m.moment.stripRows() > 0 && !fd.m.tour.isTourShown() {
		return nil
	}
	if fd.m.follow && (fd.m.isLive() && !fd.m.moment.isPaused() && !fd.m.setup.isWaitingForClients() || fd.m.tour.isTourShown() && fd.m.moment.playing) {
		right = append(right, screen.StyledText{Role: screen.Live, Text: display.Lit("FOLLOW  ")})
		if fd.m.w < wideTop {
			right[0].Text = display.Lit("FOLLOW ")
		}
	}
	right = append(right, fd.motionWord())
	if n := fd.m.missed.n; n > 0 && fd.m.w >= wideTop && !fd.m.tour.isTourShown() {
		right = append(right, screen.StyledText{Role: screen.Muted, Text: display.Join(fd.m.pen.Glyph.Below.Between("  ", " "), screen.Count(n), display.Lit(" new "))},
			screen.StyledText{Role: screen.Accent, Text: screen.NameKeys(screen.ActionNamed("bottom").KeyList()[:1], fd.m.draw)})
	}
	return right
}

// wideTop is the minimum screen width at which the first row shows a normal speed.
const wideTop = 60

// motionWord returns the state of the source in one word, with the speed of a playback.
func (fd *frameDrawer) motionWord() screen.StyledText {
	switch p := fd.m.opt.Playback; {
	case fd.m.tour.isSummaryOpen():
		return screen.StyledText{Role: screen.Muted, Text: display.Lit("END")}
	case fd.m.tour.isTourShown() && !fd.m.tour.waits:
		return screen.StyledText{Role: screen.Live, Text: fd.speedText("PLAY", fd.m.moment.speed)}
	case fd.m.moment.isPaused():
		return fd.m.moment.playWord()
	case fd.m.isLive() && fd.m.hasSourceEnded():
		return screen.StyledText{Role: screen.Live, Text: display.Lit("LIVE")}
	case fd.m.failure != nil:
		return screen.StyledText{Role: screen.Bad, Text: display.Lit("LOST")}
	case fd.m.ended:
		return screen.StyledText{Role: screen.Muted, Text: display.Lit("END")}
	case fd.m.opt.Inbox == nil:
		return screen.StyledText{}
	case p != nil && p.Paused():
		return screen.StyledText{Role: screen.Caution, Text: fd.speedText("PAUSED", p.Speed())}
	case p != nil:
		return screen.StyledText{Role: screen.Live, Text: fd.speedText("PLAY", p.Speed())}
	case fd.m.setup.isWaitingForClients() || fd.m.pinned.turnCount() == 0:
		return screen.StyledText{Role: screen.Muted, Text: display.Lit("WAITING")}
	}
	return screen.StyledText{Role: screen.Live, Text: display.Lit("LIVE")}
}

// speedText returns a word and a speed. On a narrow screen it omits the normal speed.
func (fd *frameDrawer) speedText(word string, speed float64) display.Text {
	if speed == 1 && (fd.m.w < wideTop || word == "PAUSED") {
		return fd.m.draw.Clean(word)
	}
	return display.Join(fd.m.draw.Format("%s %g", word, speed), fd.m.pen.Glyph.Times)
}

// statusNotes returns the notes about the state of the source.
func (fd *frameDrawer) statusNotes() (words []StatusNote) {
	if fd.m.opt.Status != nil {
		words = append(words, fd.m.opt.Status()...)
	}
	if fd.m.failure != nil {
		words = append(words, StatusNote{Text: fd.m.failure.Error(), Alarm: true})
	}
	if fd.m.quitPending {
		text := fd.m.draw.Format("quits when %s end", screen.Plural(len(fd.m.openExchanges()), "stream"))
		if len(fd.m.openExchanges()) == 0 {
			text = display.Lit("quits when the client ends")
		}
		words = append(words, StatusNote{Text: text.String()})
	}
	if n := fd.m.in.Dropped(); n > 0 {
		words = append(words, StatusNote{Text: fd.m.draw.Format("%s dropped (--memory %s)", screen.Plural(n, "turn"), asFlag(fd.m.opt.Keep)).String()})
	}
	if n := fd.m.in.Others.Count; n > 0 {
		words = append(words, StatusNote{Text: screen.Plural(int(n), "other line").String()})
	}
	return words
}

// Background describes the background of the terminal.
type Background struct{ Known, Dark bool }

// penOf returns the pen for a theme. Any theme but the initial one counts as named by the user.
func (m *Model) penOf(t themes.Theme) screen.Pen {
	// A theme paints its own background if only one of the theme and the terminal is dark, or if it is unknown whether
	// the terminal is dark and the user named the theme.
	paints := m.opt.Terminal.Dark != t.Dark
	if !m.opt.Terminal.Known {
		paints = m.opt.Asked || t.Name != m.opt.Theme.Name
	}
	return screen.NewPen(t, m.opt.Depth, m.draw, paints)
}

// setTheme changes the screen's theme.
func (m *Model) setTheme(t themes.Theme) {
	m.pen = m.penOf(t)
}

// drawEmpty draws row y of the empty screen, which shows what toolscope is, what it waits for, and commands
// to try.
func (fd *frameDrawer) drawEmpty(p *screen.Pen, y int) {
	lines := fd.emptyLines()
	if n := y - max(0, (fd.m.bodyHeight()-len(lines))/3); n >= 0 && n < len(lines) {
		p.Spaces(screen.Bare, max(1, (fd.m.w-emptyWidth)/2))
		p.Text(lines[n].role, p.Clean(lines[n].text))
	}
}

const emptyWidth = 62 // width of the widest line

func (fd *frameDrawer) emptyLines() []line {
	lines := []line{
		{text: "LLM tool calls, while they stream", role: screen.Accent},
		{},
	}
	source := fd.m.draw.Truncate(fd.m.pen.Name(fd.m.opt.Source), 28).String()
	switch others := int(fd.m.in.Others.Count); {
	case others > 0:
		text := screen.Plural(others, "line").String() + " from " + source + ", none from a model"
		if !fd.m.ended {
			text += " yet"
		}
		lines = append(lines, line{text: text, role: screen.Caution})
	case fd.m.ended:
		lines = append(lines, line{text: "The source ended without any data.", role: screen.Caution})
	case fd.m.opt.Inbox != nil:
		lines = append(lines, line{text: "Waiting for the first bytes from " + source, role: screen.Plain})
	}
	for _, f := range lastOf(fd.m.in.Session().Findings, maxNotes) { // about the source, not about a request
		lines = append(lines, line{text: f.Message, role: screen.Caution})
	}
	for _, way := range [][2]string{
		{"toolscope agent.sse", "a body saved by curl -N"},
		{"toolscope -f proxy.log", "a growing file"},
		{"curl -N ... | toolscope", "a stream, live"},
		{"toolscope demo", "play the demo"},
	} {
		text := "  " + way[0]
		if fd.m.w >= emptyWidth {
			text = fmt.Sprintf("  %-32s %s", way[0], way[1])
		}
		lines = append(lines, line{text: text})
	}
	lines = append(lines, line{})
	last := "? keys   q quit"
	if fd.m.canDemo() {
		last = "d plays the demo   " + last
	}
	return append(lines, line{text: last, role: screen.Muted})
}

// maxNotes is the maximum number of notes about the source on the empty screen. The latest ones are shown.
const maxNotes = 3

func lastOf[T any](list []T, most int) []T { return list[max(0, len(list)-most):] }

// line is a line of the empty screen.
type line struct {
	text string
	role screen.Role
}

// redrawLimiter keeps the current frame for a while after data has changed. It does so for reduced motion, or
// in order to write less to the terminal. It delays only drawing. Records are read as usual, and the next
// frame shows all changes.
type redrawLimiter struct {
	frame  string // the current frame
	on     bool
	due    bool // a redraw is scheduled
	calm   reducedMotion
	budget writeBudget
}

// redrawTick triggers a delayed redraw.
type redrawTick struct{}

// scheduleDraw decides whether the changes from a message are drawn now. If not, it schedules a redraw.
func (fd *frameDrawer) scheduleDraw(msg tea.Msg) tea.Cmd {
	s := &fd.m.redraw
	if _, ok := msg.(redrawTick); ok {
		s.due = false
	}
	wait := time.Duration(0)
	if fd.m.opt.Calm {
		wait = s.calm.frameDelay(msg, fd.m.opt.Now())
	}
	if fd.m.opt.Written != nil {
		wait = max(wait, fd.m.budgetDelay(msg))
	}
	if s.on = wait > 0; !s.on || s.due {
		return nil
	}
	s.due = true
	return tea.Tick(wait, func(time.Time) tea.Msg { return redrawTick{} })
}

// View returns the frame to draw.
func (m *Model) View() string {
	if !m.redraw.on {
		m.redraw.frame = m.frame.draw()
	}
	return m.redraw.frame
}

// reducedMotion limits redraws. Changes that a key or the mouse causes are drawn at once. Other changes are
// drawn together, at most once per reducedMotionTime. No counter runs, and the demo waits for the user at
// each scene.
type reducedMotion struct {
	at time.Time // time of the last frame that no input caused
}

// reducedMotionTime is the minimum time between frames without input.
const reducedMotionTime = time.Second / 2

// frameDelay returns the time until the next frame may be drawn. If that is 0 and no input caused the frame,
// frameDelay records now as the time of the frame.
func (c *reducedMotion) frameDelay(msg tea.Msg, now time.Time) time.Duration {
	switch msg.(type) {
	case tea.KeyMsg, tea.MouseMsg, tea.WindowSizeMsg, tea.ResumeMsg:
		return 0
	case redrawTick:
		c.at = time.Time{}
	}
	if wait := reducedMotionTime - now.Sub(c.at); wait > 0 {
		return wait
	}
	c.at = now
	return 0
}
