package replay

import (
	"fmt"
	"strings"

	"toolscope/providers"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// Draw writes row y.
func (m *sentBackMode) Draw(p *screen.Pen, y int) {
	defer func() { p.Fill(screen.Bare) }()
	row := m.Top + y - m.headRows()
	switch {
	case m.request != nil:
		m.request.draw(p, y)
	case y == 0:
		m.drawTitle(p)
	case y == 1:
		m.drawWho(p)
	case y >= m.h-m.footRows():
		p.TextOn(m.findingSeverity().role(), screen.Bare, m.found[y-m.h+m.footRows()])
	case m.isSideBySide():
		left, right := m.sideWidths()
		m.drawSide(p, 0, row, left, y == 2)
		p.Field(1)
		rule := p.Glyph.Rule
		if y == 2 {
			rule = p.Glyph.Tee
		}
		p.Text(screen.Muted, rule)
		m.drawSide(p, 1, row, right, y == 2)
	case row < m.Rows:
		side, row, caption := m.stackedRow(row)
		m.drawSide(p, side, row, m.w, caption)
	}
}

// drawTitle writes the call, the request that sent it back, and the outcome.
func (m *sentBackMode) drawTitle(p *screen.Pen) {
	r := m.currentSentBack()
	where := p.Clean(panes.RequestName(m.host.View(), r.Exchange))
	if t := m.host.View().TurnAfter(&r); t != nil {
		where = p.Format("request of turn %d", t.Number+1)
	}
	if n := len(m.all); n > 1 {
		where = display.Join(where, p.Format(", %d of %d", m.at+1, n))
	}
	as := r.Outcome
	if m.findingSeverity() > worthKnowing && as == string(replay.WasReformatted) {
		as = string(replay.WasAltered) // a rounded number is another value
	}
	role, sign := panes.SentBackLook(p, as)
	fate := display.Join(p.Clean(m.findingSeverity().sign()), display.Lit(" "), sign, p.Name(r.Outcome))
	name := m.name
	if name.Empty() {
		name = display.Lit("(no name)")
	}
	p.Text(screen.Muted, display.Lit(" SENT BACK "))
	p.TextOn(screen.Plain, screen.Bare, p.Truncate(name, max(p.Left-fate.Width()-2, 4)))
	from := p.Format("  turn %d call %d ", m.of.Turn+1, m.of.Call)
	for _, way := range []display.Text{display.Join(from, p.Glyph.Onward, display.Lit(" "), where), from} {
		if way.Width()+fate.Width()+2 <= p.Left {
			p.Text(screen.Muted, way)
			break
		}
	}
	p.Right(max(role, m.findingSeverity().role()), screen.Bare, fate)
}

// findingSeverity returns the severity of the finding about the outcome.
func (m *sentBackMode) findingSeverity() rowSeverity {
	if m.finding.Diagnosis == nil {
		return noSeverity
	}
	return [...]rowSeverity{stream.Info: worthKnowing, stream.Warn: worthCare, stream.Error: bad}[m.finding.Severity]
}

// drawWho writes the clients that send calls back in this way, and whether the provider accepted the
// request.
func (m *sentBackMode) drawWho(p *screen.Pen) {
	role, words := m.verdictText(p)
	for _, who := range clientNames(m.currentSentBack().Policies) {
		if lead := p.Clean(who).Between(" as ", " "); lead.Width()+min(words.Width(), 30) <= p.Left {
			p.Text(screen.Muted, lead)
			break
		}
	}
	p.TextOn(role, screen.Bare, p.Truncate(words, p.Left-1))
	result := map[stream.Code]display.Text{stream.ResultOK: display.Lit("with its result"), stream.ResultFailed: display.Lit("its result is an error")}
	p.Right(screen.Muted, screen.Bare, result[m.currentSentBack().ResultCode])
}

// verdictText describes the provider's response to the request.
func (m *sentBackMode) verdictText(p *screen.Pen) (screen.Role, display.Text) {
	verdict, how := m.host.View().VerdictOn(m.currentSentBack())
	if verdict == replay.Unproven {
		return screen.VerdictRoles[verdict], p.Format(" %s: %s", verdict, p.Name(how))
	}
	return screen.VerdictRoles[verdict], p.Format(" %s %s: %s", verdict, replay.Seen, p.Name(how))
}

// clientNames lists the policies that have the same effect, the longest form first. A single policy is
// shown with the client that was seen to use it.
func clientNames(policies string) []string {
	if policies == "" {
		return nil
	}
	names := strings.Split(policies, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	short := strings.Join(names, ", ")
	if len(names) > 1 {
		return []string{short, fmt.Sprintf("%s +%d", names[0], len(names)-1)}
	}
	p, err := replay.FindPolicy(short)
	switch {
	case err != nil:
		return []string{short}
	case p.Client != nil:
		return []string{strings.TrimSpace(p.Client.Title+" "+p.Client.Version) + " (" + short + ")", short}
	}
	seen, _, _ := strings.Cut(p.Seen, ",")
	return []string{seen + " (" + short + ")", short}
}

// drawSide writes a row of a side, or its caption.
func (m *sentBackMode) drawSide(p *screen.Pen, side, row, width int, caption bool) {
	p.Field(width)
	defer func() { p.Fill(screen.Bare) }()
	s, ground := &m.sides[side], [...]screen.Surface{screen.Removed, screen.Added}[side]
	switch {
	case caption:
		role := screen.Muted
		if m.right == (side == 1) {
			role = screen.Accent
		}
		p.Caption(role, m.captionOf(side), m.sizesOf(side)...)
	case row == 0 && s.Rows == 0:
		p.TextOn(screen.SideRoles[screen.Absent], screen.Bare, p.Pad(p.Glyph.Side[screen.Absent], m.signWidth()))
		p.TextOn(screen.Muted, screen.Bare, p.Truncate(m.whyEmpty(side), p.Left))
	case row < s.Rows:
		sign := display.Text{}
		if s.Marked(row) {
			sign = p.Glyph.Side[screen.Differs]
		}
		p.TextOn(screen.SideRoles[screen.Differs], screen.Bare, p.Pad(sign, m.signWidth()))
		s.Draw(p, row, ground)
	}
}

func (m *sentBackMode) captionOf(side int) display.Text {
	return [...]display.Text{display.Lit("the model wrote"), display.Lit("the request carried")}[side]
}

// sizesOf returns the size of a side and the place of the arguments in the body, the longest form first.
func (m *sentBackMode) sizesOf(side int) []display.Text {
	if side == 0 {
		return []display.Text{screen.Bytes(len(m.wrote))}
	}
	if !m.hasCall() {
		return nil
	}
	size := screen.Bytes(len(m.carried.Args))
	if m.carried.At < 0 {
		return []display.Text{size}
	}
	return []display.Text{display.Format("%s, body byte %s", size, screen.Count(m.carried.At)), size}
}

// whyEmpty says why a side has no text.
func (m *sentBackMode) whyEmpty(side int) display.Text {
	switch {
	case side == 0:
		return display.Lit("no argument bytes")
	case m.currentSentBack().KeptByProvider:
		return display.Lit("the provider keeps the history with this call")
	case !m.read:
		return display.Lit("the request can't be read")
	case m.carried.Part == nil:
		return display.Lit("the request doesn't have the call")
	}
	return display.Lit("no argument bytes")
}

// findingRows returns the finding's text in rows, without the outcome, which is in the title.
func (m *sentBackMode) findingRows() (rows []display.Text) {
	if m.finding.Diagnosis == nil {
		return nil
	}
	words, sign := m.finding.Message, m.findingSeverity().sign()
	if _, after, ok := strings.Cut(words, ": "); ok && strings.HasPrefix(words, "a later request ") {
		words = after
	}
	for _, line := range display.Wrap(m.draw.Format("%s  %s", m.finding.Code, m.draw.Clean(screen.ShortName(words))), max(m.w-4, 8)) {
		rows = append(rows, m.draw.Format("%-3s%s", sign, line))
		sign = ""
	}
	return rows
}

// fullRequest shows the body of the request with the call's arguments marked.
type fullRequest struct {
	screen.Window
	title display.Text
	sheet *panes.TextSheet // nil while it is being laid out
}

// openRequest lays out the request, in another goroutine if it is large, and scrolls to the arguments.
func (m *sentBackMode) openRequest() {
	if !m.read || len(m.carried.Body) == 0 {
		m.host.Say(display.Lit("the request can't be read"))
		return
	}
	b, width, draw := m.carried, m.w-1, m.draw
	whole := &fullRequest{title: display.Format("the full request, %s", screen.Bytes(len(b.Body)))}
	m.request = whole
	lay := func() *panes.TextSheet {
		s := &panes.TextSheet{LookAt: max(b.At, 0)}
		s.Add(panes.NewBlock(display.Text{}, b.Body, false, argsAt(&b), width, draw))
		return s
	}
	if len(b.Body) < modes.MaxSyncBytes {
		whole.sheet = lay()
		return
	}
	m.host.Do(func() func() {
		s := lay()
		return func() { whole.sheet = s }
	})
}

// argsAt returns the span of the arguments in the body.
func argsAt(b *providers.CarriedCall) []panes.Span {
	if b.At < 0 || b.Part == nil {
		return nil
	}
	return []panes.Span{{Start: b.At, End: b.End}}
}

func (w *fullRequest) extend(_, h int) {
	if w.sheet == nil {
		return
	}
	if w.Height == 0 {
		w.Top = max(w.sheet.LookRow()-h/3, 0)
	}
	w.Rows, w.Height = w.sheet.Rows, max(h-1, 1)
	w.Scroll(w.Top)
}

func (w *fullRequest) draw(p *screen.Pen, y int) {
	switch {
	case y == 0:
		p.Text(screen.Accent, w.title.Between(" ", ""))
		p.Right(screen.Muted, screen.Bare, p.ScrollInfo(w.Visible()).Between("", " "))
	case w.sheet == nil:
		if y == 1 {
			p.Text(screen.Muted, display.Lit(" ..."))
		}
	case w.Top+y-1 < w.Rows:
		p.Spaces(screen.Bare, 1)
		w.sheet.Draw(p, w.Top+y-1, screen.Linked)
	}
}
