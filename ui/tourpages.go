package ui

import (
	"bytes"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// summary is the last page of the demo: a list of its scenes, failures first.
type summary struct {
	screen.Window
	m    *Model
	rows []summaryRow
	gap  int      // rows from one entry to the next
	head int      // rows above the list
	foot []string // rows below the list
	left int      // width of the list

	doc     *panes.Subject // the arguments of the chosen scene, on a wide screen
	below   []summaryPane  // panes below the arguments: the run rules, and more about the call
	wire    summaryPane    // below the commands
	context panes.Context
}

// summaryPane is a pane with its first row; row 0 is a caption.
type summaryPane struct {
	panes.Pane
	top, rows int
}

// yours are the rows below the list: a title, and commands that open the user's own data. On a small screen, there is
// only the row briefYours.
var yours, briefYours = []string{
	"",
	"   toolscope FILE            a response, a HAR file, a log, an agent session",
	"   toolscope run -- claude   start an agent and watch it",
	"   toolscope proxy           a proxy for any client",
}, []string{" Now yours: toolscope FILE, or proxy"}

// summaryRow is a scene in the summary.
type summaryRow struct {
	claim int
	summaryText
	severity stream.Severity
	call     *stream.Call
}

func newSummary(m *Model) *summary {
	h := paneHost{m}
	return &summary{m: m, doc: panes.NewSubject(h), wire: summaryPane{Pane: panes.NewWire(h)}, below: []summaryPane{
		{Pane: panes.NewRunRules(h, nil)}, {Pane: panes.NewFindings(h, nil, nil)}, {Pane: panes.NewTimeTab(h)}, {Pane: panes.NewRequest(h)},
	}}
}

// Extend updates the subjects of the scenes, and the arguments of the chosen scene.
func (s *summary) Extend(v *providers.View, w, h int) {
	s.rows = s.rows[:0]
	for i, c := range tourScenes {
		if a, ok := c.of.subjectIn(v); ok && c.summary != nil {
			row := summaryRow{claim: i, summaryText: c.summary(a), call: a.call}
			if f := a.findingWithCode(row.found); f != nil {
				row.severity = f.Severity
			}
			s.rows = append(s.rows, row)
		}
	}
	slices.SortStableFunc(s.rows, func(a, b summaryRow) int { return int(b.severity) - int(a.severity) })
	s.gap = 1
	if s.m.large && 2*len(s.rows) < h {
		s.gap = 2
	}
	s.foot = briefYours
	if s.head = 0; h > s.gap*len(s.rows)+len(yours) {
		s.head, s.foot = 1, yours
	}
	s.Resize(len(s.rows), max(1, (h-s.head-len(s.foot))/s.gap))
	s.left = w
	if w < summaryPair || s.m.large || s.At >= len(s.rows) {
		return
	}
	s.left = summaryLeft
	s.context = s.m.context
	s.context.Chosen, s.context.Piled = s.rows[s.At].call.Ref(), false
	s.doc.Extend(&s.context, w-s.left-1, h)
	at := s.doc.WantedRows() + 1
	for i := range s.below {
		at = s.below[i].placePane(&s.context, at, w-s.left-1, h, 0) + 1
	}
	s.wire.placePane(&s.context, s.head+len(s.rows)*s.gap+len(s.foot)+1, s.left, h, h)
}

// minSummaryPane is the minimum height of a pane on the last page of the demo.
const minSummaryPane = 4

// placePane lays out the pane below row at, and returns the row after the pane. The pane has the rows that it needs,
// but at least the number in least if that many remain. It is not shown if it is empty or if too few rows remain.
func (sp *summaryPane) placePane(context *panes.Context, at, width, h, least int) (end int) {
	if sp.top, sp.rows = at, 0; h-at < minSummaryPane {
		return at
	}
	if sp.Extend(context, width, h-at); sp.Label().Empty {
		return at - 1
	}
	sp.rows = min(h-at, max(sp.WantedRows()+1, least))
	sp.Extend(context, width, sp.rows)
	return at + sp.rows
}

// drawAt draws row y of the page if it is a row of the pane.
func (sp *summaryPane) drawAt(p *screen.Pen, y int) (drawn bool) {
	if y < sp.top || y >= sp.top+sp.rows {
		return false
	}
	if y > sp.top {
		sp.Draw(p, y-sp.top, false)
		return true
	}
	label, shown := sp.Label(), sp.rows-1
	notes := []display.Text{p.ScrollInfo(1, shown, sp.WantedRows()), label.Count}
	p.Caption(screen.Plain, label.Name, slices.DeleteFunc(notes, display.Text.Empty)...)
	return true
}

// Keys returns the keys that go to a scene, restart or leave the demo, and move the cursor.
func (s *summary) Keys() []screen.Binding {
	m := s.m
	keys := append([]screen.Binding{
		screen.Can("help")[0],
		screen.Key("enter", "show scene", "show scene", func() {
			if s.At < len(s.rows) {
				m.tour.waits = true // until the user continues the tour
				m.tour.showScene(s.rows[s.At].claim)
			}
		}),
		m.tour.restartKey(),
		screen.Key(":", "commands", "", nil),
		screen.Key("q", "quit", "quit", func() { m.quitOrAsk(tea.Quit) }),
		screen.Key("esc", "explore", "explore the demo", m.tour.exploreDemo),
	}, m.tour.sceneKeys()...)
	return append(keys, s.CursorKeys("", s.MoveTo)...)
}

// Draw draws row y: a scene or a command, and on a wide screen a row of the chosen scene's arguments.
func (s *summary) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if s.left < p.Left {
		rest := p.Left - s.left - 1
		p.Field(s.left)
		if !s.wire.drawAt(p, y) {
			s.drawLeft(p, y)
		}
		p.Fill(screen.Bare)
		p.Field(1)
		p.Text(screen.Frame, p.Glyph.Rule)
		p.Field(rest)
		if !slices.ContainsFunc(s.below, func(sp summaryPane) bool { return sp.drawAt(p, y) }) && y < s.doc.WantedRows() {
			s.doc.Draw(p, y, false)
		}
		return
	}
	s.drawLeft(p, y)
}

// drawLeft draws row y of the list, with its title and the commands below it.
func (s *summary) drawLeft(p *screen.Pen, y int) {
	row, foot := (y-s.head)/s.gap, y-s.head-min(len(s.rows)*s.gap, s.Height*s.gap)
	if s.head == 0 {
		foot = y - (s.m.bodyHeight() - 1)
	}
	switch {
	case y < s.head:
		p.HeavyTitle(display.Lit("Tour"), display.Lit("what you saw: enter shows a scene again"), display.Lit("END"))
	case foot == 0 && s.head > 0:
		p.Caption(screen.Plain, display.Lit("Now yours"))
	case foot >= 0 && foot < len(s.foot):
		p.Text(screen.Accent, p.Clean(s.foot[foot]))
	case (y-s.head)%s.gap == 0 && row < s.Height && s.Top+row < len(s.rows):
		s.drawRow(p, s.rows[s.Top+row], s.Top+row == s.At)
	}
}

// drawRow draws a scene: its severity, its number, its call's state and name, and its text.
func (s *summary) drawRow(p *screen.Pen, r summaryRow, chosen bool) {
	g, narrow := screen.Bare, p.Left < summaryWide
	if chosen {
		g = screen.Selected
	}
	mark, sign := display.Lit(" "), display.Lit("  ")
	if chosen {
		mark = p.Glyph.Mark
	}
	p.TextOn(screen.Accent, g, mark)
	if r.severity > stream.Info {
		sign = p.Glyph.Severity[r.severity]
	}
	p.TextOn(screen.SeverityRoles[r.severity], g, sign)
	p.TextOn(screen.Muted, g, p.Format("%3d  ", r.claim+1))
	glyph, state, role := p.Glyph.Status[r.call.Status()], p.Clean(r.call.Status().String()), screen.CallRole(r.call)
	if v := present.VerdictOfCall(r.call); v.Finding != nil && r.severity > stream.Info {
		glyph, state, role = display.Text{}, p.Clean(v.Words), v.Role
	}
	if role == screen.Good && r.severity > stream.Info { // the finding is about the turn
		role = screen.Muted
	}
	if !r.state.Empty() {
		glyph, state, role = p.Truncate(p.Glyph.Side[r.side], 2), r.state, screen.SideRoles[r.side]
		if r.severity >= stream.Error {
			role = screen.Bad
		}
	}
	if p.TextOn(role, g, p.Pad(glyph, 2)); !narrow {
		p.TextOn(role, g, p.Pad(state, summaryState))
	}
	name := p.Name(r.call.Name)
	if !r.name.Empty() {
		name = r.name
	}
	if p.Left >= summaryNamed {
		p.TextOn(screen.Plain, g, p.Pad(name, summaryName))
	}
	p.TextOn(screen.Plain, g, r.words)
	p.Fill(g)
}

// Widths of the summary's columns, the minimum screen width for the state column, and the minimum width left
// in a row before the name of the call is drawn.
const (
	summaryState = 13
	summaryName  = 15
	summaryWide  = 72
	summaryNamed = 40
	summaryPair  = 120 // minimum screen width for the arguments of the chosen scene
	summaryLeft  = 80  // width of the list next to the arguments
)

// wirePage is the demo's page with the same call in six protocols. It shows the frame with which each
// protocol makes the arguments final.
type wirePage struct {
	screen.Window
	m    *Model
	rows []wireRow

	frames []wireLine // the rows below the list
}

// wireLine is a row of a frame's bytes, or its title.
type wireLine struct {
	text    display.Text
	isTitle bool
}

// wireRow is the call in one protocol.
type wireRow struct {
	turn  *stream.Turn
	call  *stream.Call
	frame []byte // the frame that makes the arguments final; nil if it has not arrived
	event stream.Event
}

// finalMarks are the bytes with which each protocol makes arguments final, and what these bytes mean.
var finalMarks = map[string]struct{ bytes, says string }{
	"anthropic":        {"content_block_stop", "the block stops"},
	"openai-responses": {"response.output_item.done", "the item, whole"},
	"bedrock":          {"contentBlockStop", "in binary"},
	"gemini":           {`"functionCall":{}`, "an empty part"},
	"cohere":           {"tool-call-end", "the call ends"},
	"ollama":           {`"tool_calls"`, "the whole call"},
}

// Extend finds the call in each protocol, and the frame that makes its arguments final.
func (w *wirePage) Extend(v *providers.View, width, h int) {
	w.rows = w.rows[:0]
	for n := 1; n <= sameWires; n++ {
		a, ok := tourCall{"protocols", n, 1}.subjectIn(v)
		if !ok {
			continue
		}
		row := wireRow{turn: a.turn, call: a.call}
		for event := range v.EventsOf(a.turn, 0) {
			if kind, of := v.Subject(event); kind == stream.Seal && of == a.call.Ref() {
				row.event = v.EventPrefix(event, 0)
				if x := v.Exchange(a.turn.Exchange); x != nil && int(row.event.Frame) < x.Response.Frames() {
					row.frame = x.Response.Bytes(x.Response.FrameSpan(row.event.Frame))
				}
			}
		}
		w.rows = append(w.rows, row)
	}
	w.Resize(len(w.rows), max(1, min(len(w.rows), h-wireHead)))
	w.layOutFrames(width, h-wireHead-w.Height-1)
	// Below, as many frames of whole responses as fit. The last row says how many more there are.
	rows := h - wireHead - w.Height - 1
	for i := range w.rows {
		r := w.rows[(w.At+i)%len(w.rows)]
		x := v.Exchange(r.turn.Exchange)
		if x == nil || rows-len(w.frames) < minAllFrames {
			return
		}
		n := x.Response.Frames()
		w.frames = append(w.frames, wireLine{}, wireLine{w.m.draw.Format("all frames of %s: %d", r.turn.Protocol, n), true})
		for at := range n {
			lines := display.Wrap(w.m.draw.CleanBytes(x.Response.Bytes(x.Response.FrameSpan(int32(at)))), max(1, width-2))
			if more := n - at; more > 1 && len(w.frames)+len(lines) >= rows || len(w.frames)+len(lines) > rows {
				if at == 0 {
					w.frames = w.frames[:len(w.frames)-2]
					return
				}
				w.frames = append(w.frames, wireLine{text: w.m.draw.Format("%d more", more)})
				return
			}
			for _, line := range lines {
				w.frames = append(w.frames, wireLine{text: line})
			}
		}
	}
}

// sameWires is the number of protocols in the scenario. wireHead is the number of rows above the list.
const (
	sameWires = 6
	wireHead  = 2
)

// Keys returns the keys of the page.
func (w *wirePage) Keys() []screen.Binding {
	return append([]screen.Binding{
		screen.Key("enter", "its call", "show the call", w.openSelected),
		screen.Key("esc q", "close", "close", w.m.modeStack.closeTop),
	}, w.CursorKeys("protocol", w.MoveTo)...)
}

func (w *wirePage) openSelected() {
	if w.At < len(w.rows) {
		w.m.modeStack.closeTop()
		modeHost{w.m}.Choose(w.rows[w.At].call.Ref())
	}
}

// Draw draws row y: the head, a protocol, or the bytes of the selected frame.
func (w *wirePage) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if len(w.rows) == 0 {
		return
	}
	switch under := y - wireHead - w.Height; {
	case y == 0:
		c := w.rows[w.At].call
		p.HeavyTitle(display.Lit("One call, six protocols"), p.Format("%s %s %s", p.Name(c.Name), p.Glyph.Dot, screen.Bytes(c.ArgsLen())), display.Text{})
	case y == 1:
		wide := p.Left >= wireFull
		if p.Text(screen.Muted, p.Pad(display.Lit(" PROTOCOL"), 1+wireProtocol)); wide {
			p.Text(screen.Muted, p.Pad(display.Lit("DELTAS    FINAL"), wireNumbers))
		}
		p.Text(screen.Muted, display.Lit("MADE FINAL BY"))
	case under < 0:
		if row := w.Top + y - wireHead; row < len(w.rows) {
			w.drawRow(p, w.rows[row], row == w.At)
		}
	case under > 0 && under <= len(w.frames):
		if line := w.frames[under-1]; line.isTitle {
			p.Caption(screen.Plain, line.text)
		} else {
			p.Text(screen.Plain, line.text.Between(" ", ""))
		}
	}
}

// layOutFrames makes the rows below the list: the bytes of the selected frame, then the bytes of as many
// other frames as fit.
func (w *wirePage) layOutFrames(width, rows int) {
	w.frames = w.frames[:0]
	for i := range w.rows {
		r := w.rows[(w.At+i)%len(w.rows)]
		if r.frame == nil {
			continue
		}
		lines := []wireLine{{w.m.draw.Format("frame %d of %s: %s", r.event.Frame+1, r.turn.Protocol, screen.Bytes(len(r.frame))), true}}
		for _, line := range display.Wrap(w.m.draw.CleanBytes(r.frame), max(1, width-2)) {
			lines = append(lines, wireLine{text: line})
		}
		if i > 0 && len(w.frames)+len(lines) > rows {
			return
		}
		w.frames = append(w.frames, lines...)
	}
}

// minAllFrames is the number of blank rows from which all frames of the selected protocol are shown, then those of the
// other protocols.
const minAllFrames = 6

// drawRow draws the call in one protocol.
func (w *wirePage) drawRow(p *screen.Pen, r wireRow, chosen bool) {
	g, mark := screen.Bare, display.Lit(" ")
	if chosen {
		g, mark = screen.Selected, p.Glyph.Mark
	}
	wide := p.Left >= wireFull
	p.TextOn(screen.Accent, g, mark)
	p.TextOn(screen.Plain, g, p.Pad(p.Clean(r.turn.Protocol), wireProtocol))
	if wide {
		at := display.Lit("-")
		if r.frame != nil {
			at = screen.Time(screen.Elapsed(r.turn.OpenedAt, r.event.At)).Between("+", "")
		}
		p.TextOn(screen.Muted, g, p.Pad(p.Format("%6d %8s", r.call.Deltas(), at), wireNumbers))
	}
	if mark, ok := finalMarks[r.turn.Protocol]; ok && bytes.Contains(r.frame, []byte(mark.bytes)) {
		if p.TextOn(screen.Good, g, p.Clean(mark.bytes)); wide {
			p.Spaces(g, max(1, wireMark-len(mark.bytes)))
			p.TextOn(screen.Muted, g, p.Clean(mark.says))
		}
	} else if r.frame != nil {
		p.TextOn(screen.Muted, g, p.Format("frame %d", r.event.Frame+1))
	}
	p.Fill(g)
}

// Widths of the page's columns, and the minimum width for all of them.
const (
	wireProtocol = 17
	wireNumbers  = 17
	wireMark     = 27
	wireFull     = 76
)
