package panes

import (
	"path"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// paneTitle has the parts of a title row.
type paneTitle struct {
	title  display.Text
	beside display.Text // muted; left out if there is too little room
	right  []titlePart  // right-aligned
}

type titlePart struct {
	role screen.Role
	text display.Text
}

// draw draws a title. If panes are stacked, the title is a line across the screen.
func (h paneTitle) draw(p *screen.Pen, piled, focused bool) {
	line, role := p.Glyph.Line, screen.Muted
	if focused {
		line, role = p.Glyph.Heavy, screen.Accent
	}
	edge := line
	if piled {
		edge = display.Join(line, line)
	}
	p.Text(role, edge)
	p.Spaces(screen.Bare, 1)
	right := edge.Width() + 1
	for _, part := range h.right {
		right += part.text.Width() + 1
	}
	titleRole := screen.Plain
	if focused {
		titleRole = screen.Accent
	}
	p.TextOn(titleRole, screen.Bare, p.Truncate(h.title, max(4, p.Left-right-1)))
	if room := p.Left - right - 4; !h.beside.Empty() && h.beside.Width() <= room {
		p.TextOn(screen.Muted, screen.Bare, h.beside.Between("  ", ""))
	}
	p.Spaces(screen.Bare, 1)
	p.Text(role, display.Repeat(line, max(0, p.Left-right)))
	for _, part := range h.right {
		p.Spaces(screen.Bare, 1)
		p.Text(part.role, part.text)
	}
	p.Spaces(screen.Bare, 1)
	p.Text(role, edge)
}

// drawCallHead draws the name of a call or of its open string, its turn, agent, model and file, and the verdict.
// If there is too little room, the middle is left out first.
func (s *Subject) drawCallHead(p *screen.Pen, c *stream.Call, focused bool) {
	v := present.VerdictOfCall(c)
	h := paneTitle{title: p.Name(present.CallName(c.Name)), right: []titlePart{verdictTitle(p, v, v.State.String())}}
	if seen := p.ScrollInfo(s.Visible()); !seen.Empty() && p.Left >= h.title.Width()+h.rightCells()+seen.Width()+minTitleLine {
		h.right = append([]titlePart{{screen.Muted, seen}}, h.right...)
	}
	if s.Raw {
		h.right = append([]titlePart{{screen.Plain, display.Lit("raw")}}, h.right...)
	}
	if s.string != nil {
		h.title = s.string.titleText(p, p.Left-h.rightCells()-8)
	} else {
		h.beside = joinFitting(p, s.titleFacts(p), p.Left-h.title.Width()-h.rightCells()-minTitleLine)
	}
	h.draw(p, s.scene.Piled, focused)
}

// minTitleLine is the number of cells that the edges of a title and the gaps use.
const minTitleLine = 10

// verdictTitle returns the verdict for the right end of a title. If the verdict has no words, it uses the words in
// healthy.
func verdictTitle(p *screen.Pen, v present.Verdict, healthy string) titlePart {
	role, words := v.Role, v.Words
	if words == "" {
		words = healthy
	}
	if v.Harm == present.Healthy && v.State == stream.Complete {
		role = screen.Good
	}
	return titlePart{role, display.Join(verdictSign(p, v), display.Lit(" "), p.Clean(words))}
}

// turnVerdictTitle returns the verdict for the right end of a turn's title. If a call is worse than the response, it is
// about the calls.
func turnVerdictTitle(p *screen.Pen, x *providers.Exchange, t *stream.Turn) titlePart {
	v := present.VerdictOfTurn(x, t)
	if words, worst := present.TroubledCalls(t); worst.Harm < v.Harm {
		return titlePart{worst.Role, display.Join(verdictSign(p, worst), p.Clean(words[0]).Between(" ", ""))}
	}
	_, _, word := screen.TurnLook(t)
	return verdictTitle(p, v, word)
}

// verdictSign returns the sign for a verdict. If a finding decides the verdict, it is the sign for the severity;
// otherwise, it is the sign for the state.
func verdictSign(p *screen.Pen, v present.Verdict) display.Text {
	switch v.Harm {
	case present.HarmError:
		return p.Glyph.Severity[stream.Error]
	case present.HarmWarn:
		return p.Clean(strings.TrimSpace(p.Glyph.Severity[stream.Warn].String()))
	}
	return p.Glyph.Status[v.State]
}

// titleFacts returns the turn of a call, its agent and its model. If there are several files, it also returns
// the file.
func (s *Subject) titleFacts(p *screen.Pen) (facts []display.Text) {
	t := s.currentSelection().Turn
	facts = append(facts, p.Format("turn %d", t.Number+1))
	switch name := agentName(t.Request); {
	case name != "":
		facts = append(facts, p.Name(name).Between("agent ", ""))
	case s.scene.Agents:
		facts = append(facts, display.Lit("agent not known"))
	}
	if t.Model != "" {
		facts = append(facts, p.Name(present.ShortModel(t.Model)))
	}
	if x := s.scene.View.Exchange(t.Exchange); s.scene.Files && x != nil && x.Head.File != "" {
		base := path.Base(x.Head.File)
		facts = append(facts, p.Name(strings.TrimSuffix(base, path.Ext(base))))
	}
	return facts
}

// rightCells returns the width of the right part.
func (h paneTitle) rightCells() (cells int) {
	for _, part := range h.right {
		cells += part.text.Width() + 1
	}
	return cells
}

// phaseFacts are the words for the phases of a call. The function callFacts adds the party that reported the phase:
// the provider, the agent or the user.
var phaseFacts = [...]string{
	stream.PhaseAnnounced: "not begun", stream.PhaseOpen: "not finished", stream.PhaseSealed: "finished", stream.PhaseEnded: "nothing",
	stream.PhaseTruncated: "cut", stream.PhaseAborted: "nothing", stream.PhaseRejected: "refused", stream.PhaseUnseen: "not seen",
}

// callFacts returns facts about a call, as many as fit: its size, facts that only some calls have, its phase, its
// times, and its id.
func (s *Subject) callFacts(p *screen.Pen, room int) display.Text {
	c, t := s.currentSelection().Call, s.currentSelection().Turn
	facts := []display.Text{screen.Bytes(c.ArgsLen()), screen.Plural(c.Deltas(), "delta")}
	if t.Retention == stream.Evicted {
		facts = append(facts, display.Lit("reloading from the file"))
	}
	if size, ok := s.scene.Typed(c.Ref()); ok {
		facts = append(facts, screen.Bytes(size).Between("your result ", ""))
	}
	for _, f := range present.AboutCall(c) {
		facts = append(facts, p.Name(f))
	}
	said := p.Clean(phaseFacts[c.Phase()])
	switch {
	case c.Phase() == stream.PhaseRejected && present.WasDenied(c):
		said = said.Between("user said: ", "")
	case t.Shown:
		said = said.Between("agent said: ", "")
	default:
		said = said.Between("provider said: ", "")
	}
	if finish := present.FinishText(t); finish != "" && !c.MayGrow() {
		said = display.Join(said, p.Name(finish).Between(" (", ")"))
	}
	facts = append(facts, said)
	facts = append(facts, s.timesText(c, t.OpenedAt, room-joinFitting(p, facts, room).Width()-3))
	if c.ID != "" {
		facts = append(facts, p.Name(screen.ElideMiddle(c.ID)).Between("id ", ""))
	}
	return joinFitting(p, facts, room)
}

// joinFitting joins the facts, as many as fit.
func joinFitting(p *screen.Pen, facts []display.Text, room int) (line display.Text) {
	sep := display.Text{}
	for _, f := range facts {
		switch {
		case f.Empty():
			continue
		case line.Width()+sep.Width()+f.Width() > room:
			return line
		}
		line = display.Join(line, sep, f)
		sep = p.Glyph.Dot.Between(" ", " ")
	}
	return line
}

// minWait is the shortest wait that is shown between the last byte of a call's arguments and the moment when they
// became final.
const minWait = 100 * time.Millisecond

// timesText returns when the name of a call arrived, and how long the call took. If the arguments became final later,
// it adds that wait separately, because some providers mark all calls as final only at the end of the turn. If there
// is too little room, it leaves out some of these times.
func (s *Subject) timesText(c *stream.Call, start time.Duration, room int) display.Text {
	named, took := screen.Elapsed(start, c.OpenedAt), screen.Time(screen.CallTime(c))
	if c.MayGrow() || took.Empty() {
		return took
	}
	took = took.Between("took ", "")
	var texts []display.Text
	if wait := screen.Elapsed(c.LastArgAt, c.SealedAt); wait >= minWait {
		texts = []display.Text{display.Join(screen.Time(screen.Elapsed(c.OpenedAt, c.LastArgAt)).Between("wrote ", ", final +"), screen.Time(wait))}
	}
	texts = append(texts, took)
	for _, text := range texts {
		if both := display.Join(screen.Time(named).Between("named ", ", "), text); named != stream.NoTime && both.Width() <= room {
			return both
		}
		if text.Width() <= room {
			return text
		}
	}
	return took
}

// LongName is the number of cells that are reserved for a name. Facts are shown next to the name only if there is
// more room.
const LongName = 24

// drawTurnHead draws the number and title of a turn, its agent and model, its cost, and its verdict.
func (s *Subject) drawTurnHead(p *screen.Pen, focused bool) {
	t := s.currentSelection().Turn
	x := s.scene.View.Exchange(t.Exchange)
	h := paneTitle{title: p.Format("turn %d", t.Number+1), right: []titlePart{turnVerdictTitle(p, x, t)}}
	facts := append(s.titleFacts(p)[1:], startedText(p, s.scene.View, t))
	if t.Refusal != nil {
		h.title, facts = display.Lit("request refused"), []display.Text{h.title}
		if x != nil {
			if line := strings.TrimSpace(x.Head.Method + " " + x.Path()); line != "" {
				facts = append(facts, p.Name(line))
			}
			if t.Refusal.Status > 0 {
				facts = append(facts, p.Format("HTTP %d", t.Refusal.Status))
			}
		}
	}
	if title := present.TurnTitle(x, t); title != t.Model {
		facts = append(facts, p.Name(title))
	}
	if cost := p.Clean(s.scene.Bill.CostOf(t).String()); !cost.Empty() && p.Left > LongName+cost.Width()+h.rightCells() {
		h.right = append([]titlePart{{screen.Plain, cost}}, h.right...)
	}
	h.beside = joinFitting(p, facts, p.Left-h.title.Width()-h.rightCells()-minTitleLine)
	h.draw(p, s.scene.Piled, focused)
}

// startedText names the agent that started the agent of a turn. It returns "" if there is none.
func startedText(p *screen.Pen, v *providers.View, t *stream.Turn) display.Text {
	if t.Request == nil || t.Request.StartedBy.Call == 0 {
		return display.Text{}
	}
	by, _ := v.Find(t.Request.StartedBy)
	if by == nil {
		return display.Text{}
	}
	if name := agentName(by.Request); name != "" {
		return p.Format("started by %s in turn %d", p.Name(name), by.Number+1)
	}
	return p.Format("started in turn %d", by.Number+1)
}

// paneEdge is the top edge of a pane: its title, and a right-aligned text. The focused pane has a heavy edge.
type paneEdge struct {
	title   display.Text
	beside  display.Text // muted; cut before any other text
	key     display.Text // the key that changes the text on the right
	right   display.Text
	focused bool
	stacked bool // the edge spans the width of the screen
}

// draw draws the edge across the rest of the row. If the title leaves too little room, the key and the right
// text are left out.
func (e paneEdge) draw(p *screen.Pen) {
	line, role, title := p.Glyph.Line, screen.Frame, screen.Plain
	if e.focused {
		line, role, title = p.Glyph.Heavy, screen.Accent, screen.Accent
	}
	end := 1
	if e.stacked {
		end = 2
	}
	right := display.Join(e.key.Between("", " "), e.right)
	if e.key.Empty() {
		right = e.right
	}
	room := p.Left - 2*end - 4
	if right.Width()+e.title.Width() > room {
		e.key, e.right, right = display.Text{}, display.Text{}, display.Text{}
	}
	p.Text(role, display.Repeat(line, end))
	p.Spaces(screen.Bare, 1)
	p.Text(title, p.Truncate(e.title, max(1, room)))
	if left := room - right.Width() - e.title.Width() - 2; !e.beside.Empty() && left >= minWords {
		p.Text(screen.Muted, p.Truncate(e.beside, left).Between("  ", ""))
	}
	p.Spaces(screen.Bare, 1)
	after := end
	if !right.Empty() {
		after += right.Width() + 2
	}
	p.Text(role, display.Repeat(line, max(0, p.Left-after)))
	if !right.Empty() {
		p.Spaces(screen.Bare, 1)
		p.Text(screen.Accent, e.key)
		if !e.key.Empty() {
			p.Spaces(screen.Bare, 1)
		}
		p.Text(screen.Plain, e.right)
		p.Spaces(screen.Bare, 1)
	}
	p.Text(role, display.Repeat(line, p.Left))
}
