package replay

import (
	"fmt"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/providers/client"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// sentBackMode shows a call as a later request sent it back, next to the arguments that the model wrote. It shows
// evidence, not a preview. Closing the mode returns to the call.
type sentBackMode struct {
	screen.Window
	host   modes.Host
	outlet modes.Exporter
	draw   display.Drawer
	w, h   int

	of      stream.Ref   // the call
	name    display.Text // name of the call's tool
	wrote   []byte       // the call's arguments
	free    bool         // the arguments are free text by design, not JSON
	all     []stream.SentBackCall
	at      int // index in all
	carried providers.CarriedCall
	read    bool // the request can be read
	finding stream.Finding
	says    []display.Text // rows of the sentence about the call's outcome

	made    int  // width for which the sides were laid out
	right   bool // the request's side is selected, for copying
	sides   [2]panes.TextSheet
	request *fullRequest // nil unless the full request is shown
	around  *fullRequest // the request below the sides; nil if there is too little room
}

const sidesFrom = 72 // minimum width at which the sides are next to each other

// SentBack returns the entry that opens the mode for the selected call. If a turn is selected, the mode shows its
// first call that was sent back.
func SentBack(outlet modes.Exporter, draw display.Drawer) modes.Entry {
	key := screen.Key("o", "", "show the call as sent back", nil)
	return modes.Entry{Binding: key, New: func(h modes.Host) (modes.Mode, display.Text) {
		t, c := h.View().Find(h.Chosen())
		if c == nil && t != nil {
			if i := slices.IndexFunc(t.Calls, func(c *stream.Call) bool { return len(c.SentBack) > 0 }); i >= 0 {
				c = t.Calls[i]
			}
		}
		switch {
		case c == nil || len(c.SentBack) == 0:
			return nil, display.Lit("no captured request sent the call back")
		case t.Retention != stream.InMemory:
			return nil, display.Lit("the arguments of the turn's calls are not kept")
		}
		m := &sentBackMode{host: h, outlet: outlet, draw: draw, of: c.Ref(), name: draw.Clean(screen.ShortName(c.Name)), wrote: c.Args(), free: c.Freeform(), all: c.SentBack, right: true}
		m.showRequest(0)
		return m, display.Text{}
	}}
}

// showRequest selects request number at and reads the call from it.
func (m *sentBackMode) showRequest(at int) {
	m.at, m.made, m.Top, m.around = at, 0, 0, nil
	r := m.all[at]
	m.carried, m.read = providers.CarriedCall{}, false
	if _, c := m.host.View().Find(m.of); c != nil {
		m.carried, m.read = m.host.View().Carried(c, r.Exchange)
	}
	m.finding = stream.PayloadOf[stream.SentBackReport](m.host.View().Event(r.Event)).Finding
}

func (m *sentBackMode) currentSentBack() stream.SentBackCall { return m.all[m.at] }

// hasCall reports whether the request contains the call itself.
func (m *sentBackMode) hasCall() bool { return m.read && m.carried.Part != nil }

func (m *sentBackMode) isSideBySide() bool { return m.w >= sidesFrom }

// Extend lays out the sides for a body of w × h cells.
func (m *sentBackMode) Extend(v *providers.View, w, h int) {
	m.w, m.h = w, h
	if _, c := v.Find(m.of); c != nil && len(c.SentBack) > len(m.all) {
		m.all = c.SentBack
	}
	if m.request != nil {
		m.request.extend(w, h)
		return
	}
	if m.made != w {
		m.layOut()
		m.made, m.around = w, nil
	}
	left, right := max(m.sides[0].Rows, 1), max(m.sides[1].Rows, 1)
	m.Rows, m.Height = left+right+2, max(m.h-m.headRows(), 1) // both sides and their captions
	if m.isSideBySide() {
		m.Rows = max(left, right)
	}
	if rest := m.Height - m.Rows - 1; rest >= minAroundRows && m.read && len(m.carried.Body) > 0 {
		if m.around == nil {
			m.around = m.newFullRequest()
		}
		m.around.extend(w, rest)
		m.Height = m.Rows
	} else {
		m.around = nil
	}
	m.Scroll(m.Top)
}

// minAroundRows is the minimum number of rows for the request below the sides, including its caption.
const minAroundRows = 6

// Click does nothing, because the mode has no cursor.
func (m *sentBackMode) Click(int, int) (again bool) { return false }

// Roll scrolls the full request if it is open, or else the sides.
func (m *sentBackMode) Roll(rows int) {
	if m.request != nil {
		m.request.Roll(rows)
		return
	}
	m.Window.Roll(rows)
}

// headRows returns the number of rows above the part that scrolls: the title, the callout, and the captions.
func (m *sentBackMode) headRows() int {
	rows := 2 + m.saysRows()
	if m.isSideBySide() {
		rows++
	}
	return rows
}

// saysRows returns the number of rows for the sentence.
func (m *sentBackMode) saysRows() int {
	if m.h < minSaysRows {
		return 0
	}
	return min(len(m.says), 1+m.h/minSaysRows)
}

// minSaysRows is the minimum height at which the sentence is shown.
const minSaysRows = 7

// sideWidths returns the widths of the sides without the rule between them.
func (m *sentBackMode) sideWidths() (left, right int) {
	if !m.isSideBySide() {
		return m.w, m.w
	}
	left = m.w * 5 / 12
	return left, m.w - 1 - left
}

// signWidth returns the width of a side's sign and a blank, in cells.
func (m *sentBackMode) signWidth() int {
	if m.draw.ASCII {
		return 3
	}
	return 2
}

// layOut lays out the sides and marks the differences. It indents the sides only if both are objects and the call
// takes JSON. Otherwise it leaves them unchanged, because every byte may matter.
func (m *sentBackMode) layOut() {
	left, right := m.sideWidths()
	wrote, sent := m.wrote, m.carried.Args
	var gone, added []panes.Span
	switch {
	case m.hasCall() && m.currentSentBack().Outcome == string(replay.WasEncoded):
		added = []panes.Span{{End: len(sent)}}
	case m.hasCall():
		gone, added = panes.DiffSpans(wrote, sent, m.carried.To.Form)
	case len(wrote) > 0:
		gone = []panes.Span{{End: len(wrote)}}
	}
	raw := !json.IsObject(wrote) || !json.IsObject(sent) || m.free
	words := "sent back " + m.currentSentBack().Outcome
	if m.finding.Diagnosis != nil {
		words = m.finding.Message
		if _, after, ok := strings.Cut(words, ": "); ok && strings.HasPrefix(words, "a later request ") {
			words = after
		}
	}
	m.says = display.Wrap(m.draw.Clean(present.AsSentence(screen.ShortName(words))), max(m.w-8, 8))
	m.sides = [2]panes.TextSheet{}
	m.sides[0].Add(panes.NewBlock(display.Text{}, wrote, raw, gone, max(left-m.signWidth(), 1), m.draw))
	if m.hasCall() {
		m.sides[1].Add(panes.NewBlock(display.Text{}, sent, raw, added, max(right-m.signWidth(), 1), m.draw))
	}
}

// Keys returns the key bindings for the mode, or for the full request.
func (m *sentBackMode) Keys() []screen.Binding {
	if m.request != nil {
		keys := []screen.Binding{
			screen.Key("esc q", "back", "back to the call", func() { m.request = nil }),
		}
		keys = append(keys, m.request.ScrollKeys("scroll")...)
		return append(keys, m.outlet.Keys(m.host, m.draw, m.requestBody)...)
	}
	side := func(right bool) func() { return func() { m.right = right } }
	keys := []screen.Binding{
		screen.Key("n", "difference", "next difference", func() { m.goToDifference(1) }).Show("n N"),
		screen.Key("N", "", "previous difference", func() { m.goToDifference(-1) }),
		screen.Key("left h", "side", "select the model's side", side(false)).Show("h l"),
		screen.Key("right l", "", "select the request's side", side(true)),
		screen.Key("enter", "full request", "show the full request", func() {
			if m.read && len(m.carried.Body) > 0 {
				m.request = m.newFullRequest()
			} else {
				m.host.Say(display.Lit("the request can't be read"))
			}
		}),
	}
	keys = append(keys, m.outlet.Keys(m.host, m.draw, m.sideBody)...)
	if n := len(m.all); n > 1 {
		next := func(by int) func() { return func() { m.showRequest((m.at + by + n) % n) } }
		keys = append(keys,
			screen.Key("tab", "next request", "next request with the call", next(1)),
			screen.Key("shift+tab", "", "previous request", next(-1)))
	}
	keys = append(keys, screen.Key("esc q o", "back", "back", m.host.Close))
	return append(keys, m.ScrollKeys("")...)
}

// sideBody returns the text of the selected side.
func (m *sentBackMode) sideBody() modes.Body {
	switch {
	case !m.right:
		return modes.Body{Data: m.wrote, What: display.Lit("the model's arguments"), File: m.fileName("wrote")}
	case !m.hasCall():
		return modes.Body{What: display.Lit("the request doesn't contain the call")}
	}
	return modes.Body{Data: m.carried.Args, What: display.Lit("the request's arguments"), File: m.fileName("carried")}
}

func (m *sentBackMode) requestBody() modes.Body {
	return modes.Body{Data: m.carried.Body, What: display.Lit("the request"), File: m.fileName("request")}
}

func (m *sentBackMode) fileName(what string) string {
	return fmt.Sprintf("sent-back-%d-%d-%s.json", m.of.Turn+1, m.of.Call, what)
}

// goToDifference scrolls to the next difference, or to the previous one if by is -1.
func (m *sentBackMode) goToDifference(by int) {
	for row := m.Top + by; row >= 0 && row < m.Rows; row += by {
		if m.hasDifference(row) && !m.hasDifference(row-1) {
			m.Scroll(row)
			if m.Top != row {
				m.host.Say(display.Lit("all differences are visible"))
			}
			return
		}
	}
	m.host.Say(display.Lit("no more differences"))
}

// hasDifference reports whether a row has a difference on either side.
func (m *sentBackMode) hasDifference(row int) bool {
	if m.isSideBySide() {
		return m.sides[0].Marked(row) || m.sides[1].Marked(row)
	}
	side, row, caption := m.stackedRow(row)
	return !caption && m.sides[side].Marked(row)
}

// stackedRow returns the side at row n, and the row within that side, when one side is below the other.
func (m *sentBackMode) stackedRow(n int) (side, row int, caption bool) {
	if first := max(m.sides[0].Rows, 1) + 1; n >= first {
		side, n = 1, n-first
	}
	return side, n - 1, n == 0
}

// Draw writes row y.
func (m *sentBackMode) Draw(p *screen.Pen, y int) {
	defer func() { p.Fill(screen.Bare) }()
	row, says := m.Top+y-m.headRows(), m.saysRows()
	switch {
	case m.request != nil:
		m.request.draw(p, y)
	case y == 0:
		m.drawTitle(p)
	case y <= says:
		m.drawSentence(p, y-1)
	case y == says+1:
		m.drawWho(p)
	case m.around != nil && row == m.Rows:
	case m.around != nil && row > m.Rows:
		m.around.drawBelow(p, row-m.Rows-1)
	case m.isSideBySide():
		left, right := m.sideWidths()
		caption := y == m.headRows()-1
		m.drawSide(p, 0, row, left, caption)
		p.Field(1)
		rule := p.Glyph.Rule
		if caption {
			rule = p.Glyph.Line
		}
		p.Text(screen.Muted, rule)
		m.drawSide(p, 1, row, right, caption)
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
	name := m.name
	if name.Empty() {
		name = display.Lit("(no name)")
	}
	role, sign := m.outcomeLook(p)
	fate := display.Join(sign, p.Name(r.Outcome))
	heavy := func(cells int) { p.Text(screen.Accent, display.Repeat(p.Glyph.Coming, max(cells, 0))) }
	heavy(2)
	p.Text(screen.Accent, display.Lit(" Sent back  "))
	p.TextOn(screen.Plain, screen.Bare, p.Truncate(name, max(p.Left-fate.Width()-6, 4)))
	from := p.Format("  turn %d ", m.of.Turn+1)
	for _, way := range []display.Text{display.Join(from, p.Glyph.Onward, display.Lit(" "), where), from} {
		if way.Width()+fate.Width()+6 <= p.Left {
			p.Text(screen.Muted, way)
			break
		}
	}
	p.Spaces(screen.Bare, 1)
	heavy(p.Left - fate.Width() - 4)
	p.Spaces(screen.Bare, 1)
	p.Text(role, p.Truncate(fate, p.Left))
	p.Spaces(screen.Bare, 1)
	heavy(p.Left)
}

// outcomeLook returns the role and the sign for the outcome. A finding about the outcome may make them more severe.
func (m *sentBackMode) outcomeLook(p *screen.Pen) (screen.Role, display.Text) {
	as := m.currentSentBack().Outcome
	if m.findingSeverity() > worthKnowing && as == string(replay.WasReformatted) {
		as = string(replay.WasAltered) // a rounded number is a different value
	}
	role, sign := panes.SentBackLook(p, as)
	return max(role, m.findingSeverity().role()), sign
}

// drawSentence writes a row of the sentence, with a bar if there is a fault.
func (m *sentBackMode) drawSentence(p *screen.Pen, n int) {
	role, sign := m.outcomeLook(p)
	m.drawBar(p, role)
	if n > 0 {
		sign = display.Repeat(display.Lit(" "), sign.Width())
	}
	p.Text(role, sign)
	if m.findingSeverity() <= worthKnowing {
		role = screen.Muted
	}
	says := m.says[n]
	if n == m.saysRows()-1 && n+1 < len(m.says) { // rows are left out: the blanks make Truncate add its sign
		says = p.Truncate(display.Join(says, display.Lit("  ")), min(says.Width()+1, p.Left))
	}
	p.TextOn(role, screen.Bare, says)
}

// drawBar writes the cells to the left of the callout.
func (m *sentBackMode) drawBar(p *screen.Pen, role screen.Role) {
	p.Spaces(screen.Bare, 1)
	if m.findingSeverity() > worthKnowing {
		p.Text(role, p.Glyph.Bar)
	} else {
		p.Spaces(screen.Bare, 1)
	}
	p.Spaces(screen.Bare, 1)
}

// findingSeverity returns the severity of the finding about the outcome.
func (m *sentBackMode) findingSeverity() rowSeverity {
	if m.finding.Diagnosis == nil {
		return noSeverity
	}
	return [...]rowSeverity{stream.Info: worthKnowing, stream.Warn: worthCare, stream.Error: bad}[m.finding.Severity]
}

// drawWho writes the party that caused the finding, the clients that send calls back in the same way, and
// whether the provider accepted the request.
func (m *sentBackMode) drawWho(p *screen.Pen) {
	side, sign := m.outcomeLook(p)
	m.drawBar(p, side)
	p.Spaces(screen.Bare, sign.Width())
	if m.finding.Diagnosis != nil {
		p.Text(screen.Muted, display.Lit("cause  "))
		p.Text(screen.Plain, p.Clean(m.finding.CausedBy()).Between("the ", "  "))
		if x := m.host.View().Exchange(m.currentSentBack().Exchange); x != nil {
			if c, err := client.Find(x.Client); err == nil && p.Left > len(c.Title)+sidesFrom/2 {
				p.Text(screen.Plain, p.Clean(c.Title).Between("", "  "))
			}
		}
	}
	verdict, how := m.host.View().VerdictOn(m.currentSentBack())
	role, words := screen.VerdictRoles[verdict], p.Format("%s (%s, %s)", verdict, replay.Seen, p.Name(how))
	if verdict == replay.Unproven {
		words = p.Format("%s: %s", verdict, p.Name(how))
	}
	for _, who := range clientNames(m.currentSentBack().Policies) {
		if lead := p.Clean(who).Between("", "; "); lead.Width()+min(words.Width(), 30) <= p.Left {
			p.Text(screen.Plain, lead)
			break
		}
	}
	p.TextOn(role, screen.Bare, p.Truncate(words, p.Left-1))
	result := map[stream.Code]display.Text{stream.ResultOK: display.Lit("with its result"), stream.ResultFailed: display.Lit("its result is an error")}
	p.Right(screen.Muted, screen.Bare, result[m.currentSentBack().ResultCode])
}

// clientNames returns texts with the names of the policies that have the same effect, the longest text first. If
// there is only one policy, the texts name the client that was seen to use it.
func clientNames(policies string) []string {
	if policies == "" {
		return nil
	}
	names := strings.Split(policies, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	short := "as " + strings.Join(names, ", ")
	if len(names) > 1 {
		return []string{short, fmt.Sprintf("as %s +%d", names[0], len(names)-1)}
	}
	p, err := replay.FindPolicy(names[0])
	switch {
	case err != nil:
		return []string{short}
	case p.Client != nil:
		long := strings.TrimSpace("like " + p.Client.Title + " " + p.Client.Version)
		return []string{long + " (" + names[0] + ")", long, "like " + p.Client.Title, short}
	}
	seen, _, _ := strings.Cut("like "+p.Seen, ",")
	return []string{seen + " (" + names[0] + ")", seen, short}
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
		p.Caption(role, [...]display.Text{display.Lit("the model wrote"), display.Lit("the request carried")}[side], m.sizesOf(side)...)
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

// sizesOf returns the size of a side, and the place of the arguments in the body. It returns the longest form
// first, and nil if the request doesn't contain the call.
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

// whyEmpty returns the reason why a side has no text.
func (m *sentBackMode) whyEmpty(side int) display.Text {
	switch {
	case side == 0:
		return display.Lit("no argument bytes")
	case m.currentSentBack().KeptByProvider:
		return display.Lit("the request doesn't contain this call: the provider keeps the history")
	case !m.read:
		return display.Lit("the request can't be read")
	case m.carried.Part == nil:
		return display.Lit("the request doesn't contain the call")
	}
	return display.Lit("no argument bytes")
}

// fullRequest shows the request's body with the call's arguments marked.
type fullRequest struct {
	screen.Window
	title display.Text
	sheet *panes.TextSheet // nil until the body is laid out
}

// newFullRequest lays out the full request and scrolls to the arguments. It lays out a large request in another
// goroutine.
func (m *sentBackMode) newFullRequest() *fullRequest {
	b, width, draw := m.carried, m.w-1, m.draw
	whole := &fullRequest{title: display.Format("the full request, %s", screen.Bytes(len(b.Body)))}
	lay := func() *panes.TextSheet {
		s := &panes.TextSheet{LookAt: max(b.At, 0)}
		var marks []panes.Span
		if b.At >= 0 && b.Part != nil {
			marks = []panes.Span{{Start: b.At, End: b.End}}
		}
		s.Add(panes.NewBlock(display.Text{}, b.Body, false, marks, width, draw))
		return s
	}
	if len(b.Body) < modes.MaxSyncBytes {
		whole.sheet = lay()
		return whole
	}
	m.host.Do(func() func() {
		s := lay()
		return func() { whole.sheet = s }
	})
	return whole
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

// drawBelow writes row y below the sides: a caption, then the request.
func (w *fullRequest) drawBelow(p *screen.Pen, y int) {
	if y > 0 {
		w.draw(p, y)
		return
	}
	p.Caption(screen.Plain, w.title, p.ScrollInfo(w.Visible()))
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
