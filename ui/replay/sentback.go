package replay

import (
	"fmt"
	"slices"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// sentBackMode shows how a later request sent a call back, next to what the model wrote. It is evidence,
// not a preview. Closing it returns to the call.
type sentBackMode struct {
	screen.Window
	host   modes.Host
	outlet modes.Exporter
	draw   display.Drawer
	w, h   int

	of      stream.Ref   // the call
	name    display.Text // of its tool
	wrote   []byte       // its arguments
	free    bool         // they are not JSON by design
	all     []stream.SentBackCall
	at      int // in all
	carried providers.CarriedCall
	read    bool // the request can be read
	finding stream.Finding
	found   []display.Text // the finding's text, by row

	made    int  // width of the current layout of the sides
	right   bool // the request's side is selected for copying
	sides   [2]panes.TextSheet
	request *fullRequest // while it is shown
}

const sidesFrom = 72 // width from which the sides are next to each other

// SentBack opens the mode for the selected call, or for the first call of the selected turn that was sent
// back.
func SentBack(outlet modes.Exporter, draw display.Drawer) modes.Entry {
	key := screen.Binding{Keys: []string{"o"}, Does: display.Lit("show the call as sent back")}
	return modes.Entry{Binding: key, New: func(h modes.Host) (modes.Mode, display.Text) {
		t, c := h.View().Find(h.Chosen())
		if c == nil && t != nil {
			if i := slices.IndexFunc(t.Calls, func(c *stream.Call) bool { return len(c.SentBack) > 0 }); i >= 0 {
				c = t.Calls[i]
			}
		}
		switch {
		case c == nil || len(c.SentBack) == 0:
			return nil, display.Lit("no captured request sent it back")
		case t.Retention != stream.InMemory:
			return nil, display.Lit("the arguments of its calls are not kept")
		}
		m := &sentBackMode{host: h, outlet: outlet, draw: draw, of: c.Ref(), name: draw.Clean(screen.ShortName(c.Name)), wrote: c.Args(), free: c.Freeform(), all: c.SentBack, right: true}
		m.showRequest(0)
		return m, display.Text{}
	}}
}

// showRequest reads the call from request number at.
func (m *sentBackMode) showRequest(at int) {
	m.at, m.made, m.Top = at, 0, 0
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

// Extend lays the sides out for a body of w × h cells.
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
		m.made = w
	}
	m.Rows, m.Height = m.scrollRows(), max(m.h-m.headRows()-m.footRows(), 1)
	m.Scroll(m.Top)
}

// Click does nothing: there is no cursor.
func (m *sentBackMode) Click(int, int) (again bool) { return false }

// Roll scrolls the full request, or else the sides.
func (m *sentBackMode) Roll(rows int) {
	if m.request != nil {
		m.request.Roll(rows)
		return
	}
	m.Window.Roll(rows)
}

// headRows returns the number of rows above the scrolling part.
func (m *sentBackMode) headRows() int {
	if m.isSideBySide() {
		return 3
	}
	return 2
}

func (m *sentBackMode) footRows() int {
	if m.finding.Diagnosis == nil || m.h < 6 {
		return 0
	}
	return min(len(m.found), 1+m.h/8)
}

// scrollRows returns the number of rows to scroll: of the longer side, or of both sides with their
// captions.
func (m *sentBackMode) scrollRows() int {
	left, right := max(m.sides[0].Rows, 1), max(m.sides[1].Rows, 1)
	if m.isSideBySide() {
		return max(left, right)
	}
	return left + right + 2
}

// sideWidths returns the widths of the sides without the rule between them.
func (m *sentBackMode) sideWidths() (left, right int) {
	if !m.isSideBySide() {
		return m.w, m.w
	}
	left = m.w * 5 / 12
	return left, m.w - 1 - left
}

// signWidth returns the width of the sign on a side. Without Unicode, a blank follows it.
func (m *sentBackMode) signWidth() int {
	if m.draw.ASCII {
		return 3
	}
	return 2
}

// layOut lays out the sides and marks the differences. They are indented only if both are objects.
// Otherwise they are raw, because every byte may matter.
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
	raw := !isObject(wrote) || !isObject(sent) || m.free
	m.found = m.findingRows()
	m.sides = [2]panes.TextSheet{}
	m.sides[0].Add(panes.NewBlock(display.Text{}, wrote, raw, gone, max(left-m.signWidth(), 1), m.draw))
	if m.hasCall() {
		m.sides[1].Add(panes.NewBlock(display.Text{}, sent, raw, added, max(right-m.signWidth(), 1), m.draw))
	}
}

func isObject(text []byte) bool {
	s := protocol.Scan(text)
	object := s.Kind() == '{'
	s.Value()
	return object && s.End() == nil
}

// Keys returns the key bindings of the mode, or of the full request.
func (m *sentBackMode) Keys() []screen.Binding {
	if m.request != nil {
		keys := []screen.Binding{
			{Keys: []string{"esc", "q"}, Hint: display.Lit("esc back"), Does: display.Lit("back to the call"), Do: func() { m.request = nil }},
		}
		keys = append(keys, m.request.ScrollKeys(display.Lit("j k scroll"))...)
		return append(keys, m.outlet.Keys(m.host, m.draw, m.requestBody)...)
	}
	side := func(right bool) func() { return func() { m.right = right } }
	keys := []screen.Binding{
		{Keys: []string{"n"}, Hint: display.Lit("n N difference"), Does: display.Lit("next difference"), Do: func() { m.goToDifference(1) }},
		{Keys: []string{"N"}, Does: display.Lit("previous difference"), Do: func() { m.goToDifference(-1) }},
		{Keys: []string{"left", "h"}, Hint: display.Lit("h l side"), Does: display.Lit("select the model's side"), Do: side(false)},
		{Keys: []string{"right", "l"}, Does: display.Lit("select the request's side"), Do: side(true)},
		{Keys: []string{"enter"}, Hint: display.Lit("enter full request"), Does: display.Lit("show the full request"), Do: m.openRequest},
	}
	keys = append(keys, m.outlet.Keys(m.host, m.draw, m.sideBody)...)
	if n := len(m.all); n > 1 {
		next := func(by int) func() { return func() { m.showRequest((m.at + by + n) % n) } }
		keys = append(keys,
			screen.Binding{Keys: []string{"tab"}, Hint: display.Lit("tab next request"), Does: display.Lit("next request with the call"), Do: next(1)},
			screen.Binding{Keys: []string{"shift+tab"}, Does: display.Lit("previous request"), Do: next(-1)})
	}
	keys = append(keys, screen.Binding{Keys: []string{"esc", "q", "o"}, Hint: display.Lit("esc back"), Does: display.Lit("back"), Do: m.host.Close})
	return append(keys, m.ScrollKeys(display.Text{})...)
}

// sideBody returns the text of the selected side.
func (m *sentBackMode) sideBody() modes.Body {
	switch {
	case !m.right:
		return modes.Body{Data: m.wrote, What: display.Lit("what the model wrote,"), File: m.fileName("wrote")}
	case !m.hasCall():
		return modes.Body{What: display.Lit("the request doesn't have it")}
	}
	return modes.Body{Data: m.carried.Args, What: display.Lit("what the request carried,"), File: m.fileName("carried")}
}

func (m *sentBackMode) requestBody() modes.Body {
	return modes.Body{Data: m.carried.Body, What: display.Lit("the request,"), File: m.fileName("request")}
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

// stackedRow returns the side and row at row n if one side is below the other.
func (m *sentBackMode) stackedRow(n int) (side, row int, caption bool) {
	if first := max(m.sides[0].Rows, 1) + 1; n >= first {
		side, n = 1, n-first
	}
	return side, n - 1, n == 0
}
