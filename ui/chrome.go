package ui

import (
	"path"
	"strings"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// drawTop draws the first row: the path to the selection, and on the right alarms, notes about the source,
// and whether data is arriving. With little room, the notes are dropped first, then the start of the path.
// Alarms and the end of the path stay.
func (m *Model) drawTop(p *screen.Pen) {
	right, way := m.sourceStatus(), m.breadcrumb()
	room := p.Left - 2 - screen.Width(right)
	alarms, facts, words := display.Text{}, display.Text{}, m.statusNotes()
	for _, w := range words {
		if w.Alarm {
			alarms = display.Join(alarms, p.Name(w.Text).Between("", "  "))
		}
	}
	short := min(minBreadcrumb, 1+way.parts[len(way.parts)-1].Width())
	if most := max(0, room-short); alarms.Width() > most {
		alarms = p.Pad(p.Truncate(alarms, max(0, most-2)), most)
	}
	room -= alarms.Width()
	for _, stays := range []bool{true, false} {
		for _, w := range words {
			if w.Alarm || w.Stays != stays {
				continue
			}
			least := way.width()
			if stays {
				least = short
			}
			for _, text := range []string{w.Text, w.Brief} {
				if text := p.Name(text).Between("", "  "); text.Width() > 2 && least+2+facts.Width()+text.Width() <= room {
					facts = display.Join(facts, text)
					break
				}
			}
		}
	}
	keep := p.Left
	p.Left = max(0, room+1-facts.Width())
	left := p.Left
	m.drawBreadcrumb(p, way)
	p.Left = keep - (left - p.Left)
	p.Spaces(screen.Bare, p.Left-alarms.Width()-facts.Width()-screen.Width(right))
	p.Text(screen.Bad, alarms)
	p.Text(screen.Muted, facts)
	p.Texts(right)
}

// minBreadcrumb is the minimum width of the path next to alarms and lasting notes.
const minBreadcrumb = 12

// breadcrumb is the path to the selection: the source, the containers, and a place in the last of them.
type breadcrumb struct {
	parts []display.Text
	place display.Text
}

func (t breadcrumb) width() int {
	cells := 1
	for i, part := range t.parts {
		if cells += part.Width(); i > 0 {
			cells += 3
		}
	}
	if !t.place.Empty() {
		cells += 1 + t.place.Width()
	}
	return cells
}

// lastWithPlace returns the last part and the place in it.
func (t breadcrumb) lastWithPlace() display.Text {
	last := t.parts[len(t.parts)-1]
	if t.place.Empty() {
		return last
	}
	return display.Join(last, display.Lit(" "), t.place)
}

// breadcrumb returns the path to the selection.
func (m *Model) breadcrumb() (w breadcrumb) {
	source := m.pen.Name(m.opt.Source)
	t, c := m.selectedTurn(), m.selectedCall()
	switch {
	case m.isSummaryOpen():
		return breadcrumb{parts: []display.Text{display.Lit("DEMO what you saw")}}
	case m.isTourShown():
		return m.tourBreadcrumb(source, c)
	}
	if m.isWaitingForClients() || t == nil {
		return breadcrumb{parts: []display.Text{source}}
	}
	if x := m.view.Exchange(t.Exchange); x != nil && x.Head.File != "" && m.list.SeveralFiles() {
		if source = m.pen.Name(path.Base(x.Head.File)); x.Head.Origin != nil {
			source = m.pen.Name(x.Head.File)
		}
	}
	w.parts = []display.Text{source, m.draw.Format("turn %d", t.Number+1)}
	if agent := m.list.AgentOf(t); agent != "" {
		w.parts = append(w.parts, m.pen.Name(agent))
	}
	if c == nil {
		return w
	}
	name := m.pen.Name(c.Name)
	if name.Empty() {
		name = m.draw.Format("call %d", c.Number)
	}
	w.parts = append(w.parts, name)
	if path := m.doc.Path(); path != "" {
		w.place = m.pen.Name(path)
	}
	return w
}

// tourBreadcrumb returns the path of the demo: its scene, and the call.
func (m *Model) tourBreadcrumb(source display.Text, c *stream.Call) (w breadcrumb) {
	w.parts = []display.Text{source, m.sceneProgress()}
	if c != nil && !m.isTourOpening() {
		w.parts = append(w.parts, m.pen.Name(c.Name))
	}
	return w
}

// drawBreadcrumb draws as much of the path as fits. The source and the last part are dropped last; a name
// is cut at its end, a place at its start.
func (m *Model) drawBreadcrumb(p *screen.Pen, w breadcrumb) {
	for len(w.parts) > 2 && w.width() > p.Left {
		w.parts = append(w.parts[:1:1], w.parts[2:]...)
	}
	if s := w.parts[0].String(); w.width() > p.Left && len(w.parts) > 1 {
		if w.parts[0] = p.Clean(s[strings.LastIndexByte(s, ' ')+1:]); w.width() > p.Left {
			w.parts = w.parts[1:]
		}
	}
	p.Spaces(screen.Bare, 1)
	for i, part := range w.parts {
		if i > 0 {
			p.Text(screen.Muted, p.Glyph.Sep.Between(" ", " "))
		}
		p.TextOn(screen.Accent, screen.Bare, part)
	}
	if room := p.Left - 1; !w.place.Empty() && room > 1 {
		p.Spaces(screen.Bare, 1)
		p.Text(screen.Accent, placeEnd(p, w.place, room))
	}
}

// placeEnd cuts a place to its last cells.
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

// sourceStatus says whether data is arriving, and whether the panes follow it. It is empty if the timeline
// is drawn, which shows the same.
func (m *Model) sourceStatus() (right []screen.StyledText) {
	if m.stripRows() > 0 && !m.isTourShown() {
		return nil
	}
	if m.follow && (m.isLive() && !m.isPaused() && !m.isWaitingForClients() || m.isTourShown() && m.moment.playing) {
		right = append(right, screen.StyledText{Role: screen.Live, Text: display.Lit("FOLLOW  ")})
		if m.w < wideTop {
			right[0].Text = display.Lit("FOLLOW ")
		}
	}
	return append(right, m.motionWord())
}

// wideTop is the minimum screen width for the normal speed in the first row.
const wideTop = 60

// motionWord returns the state of the source in one word.
func (m *Model) motionWord() screen.StyledText {
	switch p := m.opt.Playback; {
	case m.isSummaryOpen():
		return screen.StyledText{Role: screen.Muted, Text: display.Lit("END")}
	case m.isTourShown() && !m.tour.waits:
		return screen.StyledText{Role: screen.Live, Text: m.speedText("PLAY", m.moment.speed)}
	case m.isPaused():
		return m.playWord()
	case m.isLive() && m.hasSourceEnded():
		return screen.StyledText{Role: screen.Live, Text: display.Lit("LIVE")}
	case m.failure != nil:
		return screen.StyledText{Role: screen.Bad, Text: display.Lit("LOST")}
	case m.ended:
		return screen.StyledText{Role: screen.Muted, Text: display.Lit("END")}
	case m.opt.Inbox == nil:
		return screen.StyledText{}
	case p != nil && p.Paused():
		return screen.StyledText{Role: screen.Caution, Text: m.speedText("PAUSED", p.Speed())}
	case p != nil:
		return screen.StyledText{Role: screen.Live, Text: m.speedText("PLAY", p.Speed())}
	case m.isWaitingForClients() || m.turnCount() == 0:
		return screen.StyledText{Role: screen.Muted, Text: display.Lit("WAITING")}
	}
	return screen.StyledText{Role: screen.Live, Text: display.Lit("LIVE")}
}

// speedText returns a word and a speed. On a narrow screen it omits the normal speed.
func (m *Model) speedText(word string, speed float64) display.Text {
	if speed == 1 && (m.w < wideTop || word == "PAUSED") {
		return m.draw.Clean(word)
	}
	return display.Join(m.draw.Format("%s %g", word, speed), m.pen.Glyph.Times)
}

// statusNotes returns the notes about the state of the source.
func (m *Model) statusNotes() (words []StatusNote) {
	if m.opt.Status != nil {
		words = append(words, m.opt.Status()...)
	}
	if m.failure != nil {
		words = append(words, StatusNote{Text: m.failure.Error(), Alarm: true})
	}
	if m.quitPending {
		text := m.draw.Format("quits when %s end", screen.Plural(len(m.openExchanges()), "stream"))
		if len(m.openExchanges()) == 0 {
			text = display.Lit("quits when the client ends")
		}
		words = append(words, StatusNote{Text: text.String()})
	}
	if n := m.in.Dropped(); n > 0 {
		words = append(words, StatusNote{Text: m.draw.Format("%s dropped (--memory %s)", screen.Plural(n, "turn"), asFlag(m.opt.Keep)).String()})
	}
	if n := m.in.Others.Count; n > 0 {
		words = append(words, StatusNote{Text: screen.Plural(int(n), "other line").String()})
	}
	if m.rate.last > 0 && m.isLive() {
		words = append(words, StatusNote{Text: screen.Bytes(m.rate.last).Between("", "/s").String()})
	}
	return words
}
