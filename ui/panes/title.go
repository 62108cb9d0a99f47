package panes

import (
	"fmt"
	"strings"
	"time"

	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// titleRole returns the role of a title.
func titleRole(focused bool) screen.Role {
	if focused {
		return screen.Accent
	}
	return screen.Plain
}

// paneTitle has the parts of a title row.
type paneTitle struct {
	title  display.Text
	beside display.Text // muted; the first to be cut
	right  []titlePart  // flush right
}

type titlePart struct {
	role screen.Role
	text display.Text
}

// draw draws a title: a line across the screen if panes are stacked.
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
	p.TextOn(titleRole(focused), screen.Bare, p.Truncate(h.title, max(4, p.Left-right-1)))
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

// besideSeen is the number of cells of a title that its edges and findings take when the visible range is
// shown.
const besideSeen = 16

// drawCallHead draws the name of a call or of its open string, its state, and its findings.
func (s *Subject) drawCallHead(p *screen.Pen, c *stream.Call, focused bool) {
	state := display.Join(p.Glyph.Status[c.Status()], display.Lit(" "), p.Clean(c.Status().String()))
	h := paneTitle{title: p.Name(c.Name), right: []titlePart{{screen.CallRole(c), state}}}
	if seen := p.ScrollInfo(s.Visible()); !seen.Empty() && (p.Left >= aboutBelow || p.Left >= h.title.Width()+h.rightCells()+seen.Width()+besideSeen) {
		h.right = append([]titlePart{{screen.Muted, seen.Between("", " ")}}, h.right...)
	}
	if s.Raw {
		h.right = append([]titlePart{{screen.Plain, display.Lit(" raw ")}}, h.right...)
	}
	if n := len(c.Findings); n > 0 {
		worst := s.worst.severity
		sign := strings.TrimSpace(p.Glyph.Severity[worst].String())
		h.right = append(h.right, titlePart{screen.SeverityRoles[worst], display.Join(display.Lit(" "), p.Clean(sign), display.Lit(" "), screen.Count(n))})
	}
	switch {
	case s.string != nil:
		h.title = s.string.titleText(p, p.Left-h.rightCells()-8)
	case c.Name == "":
		h.title = display.Lit("(no name)")
	}
	if s.string == nil {
		room := p.Left - h.title.Width() - h.rightCells() - 8
		h.beside = screen.ShortID(p.Name(screen.ElideMiddle(c.ID)), room)
		if room -= h.beside.Width() + 4; s.width >= aboutAside && !s.scene.Piled {
			h.beside = display.Join(h.beside, s.callFacts(p, room).Between("  ", ""))
		}
	}
	h.draw(p, s.scene.Piled, focused)
}

// rightCells returns the width of the right part.
func (h paneTitle) rightCells() (cells int) {
	for _, part := range h.right {
		cells += part.text.Width() + 1
	}
	return cells
}

// worstFinding caches the worst finding of a call. Each finding is read once.
type worstFinding struct {
	of       stream.Ref
	seen     int
	severity stream.Severity
}

func (g *worstFinding) addFindings(c *stream.Call) {
	if c.Ref() != g.of || len(c.Findings) < g.seen {
		*g = worstFinding{of: c.Ref()}
	}
	for _, f := range c.Findings[g.seen:] {
		g.severity = max(g.severity, f.Severity)
	}
	g.seen = len(c.Findings)
}

// callFacts returns the phase and syntax of a call, its size and times, as many as fit.
func (s *Subject) callFacts(p *screen.Pen, room int) display.Text {
	c, start := s.currentSelection().Call, s.currentSelection().Turn.OpenedAt
	size := display.Join(screen.Bytes(c.ArgsLen()), display.Lit(", "), screen.Count(c.Deltas()), display.Lit(" "), p.Glyph.Change)
	if s.currentSelection().Turn.Retention == stream.Evicted {
		size = display.Join(screen.Bytes(c.ArgsLen()), display.Lit(", reloading from the file"))
	}
	facts := []display.Text{p.Format("provider: %s, bytes: %s", c.Phase().String(), bytesSay(c)), size}
	return joinFitting(p, append(facts, s.timesText(c, start, room-display.Join(facts...).Width()-6)), room)
}

// moreFacts returns the facts that only some calls have.
func (s *Subject) moreFacts(p *screen.Pen, room int) display.Text {
	c := s.currentSelection().Call
	var facts []display.Text
	if size, ok := s.scene.Typed(c.Ref()); ok {
		facts = append(facts, screen.Bytes(size).Between("your result ", ""))
	}
	for _, f := range present.AboutCall(c) {
		facts = append(facts, p.Name(f))
	}
	return joinFitting(p, facts, room)
}

// joinFitting joins as many facts as fit.
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

// minWait is the minimum wait between a call's last byte and the seal that is shown.
const minWait = 100 * time.Millisecond

// timesText returns when the name of a call arrived, and how long the call took. If the arguments became
// final later, it shows that wait separately, because some providers seal all calls at the end of the
// turn. With less room it shows less.
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

// bytesSay describes the syntax of a call's arguments.
func bytesSay(c *stream.Call) string {
	toks, lex := c.Lexer().Tokens(), c.Lexer()
	switch c.Syntax() {
	case json.SyntaxEmpty:
		return "none"
	case json.SyntaxObject:
		return "an object"
	case json.SyntaxDouble:
		return "a string of JSON"
	case json.SyntaxConcat:
		return fmt.Sprintf("%d objects", lex.Docs()+min(1, lex.Depth()))
	case json.SyntaxTrailing:
		return "an object, then more"
	case json.SyntaxFreeform:
		return "free text"
	case json.SyntaxBroken:
		if err := lex.Err(); err != nil {
			return "not JSON from byte " + screen.Count(err.Offset).String()
		}
		return "not JSON"
	case json.SyntaxOther:
		for _, t := range toks.All() {
			if word := valueWords[t.Kind]; word != "" {
				return word
			}
		}
		return "not an object"
	}
	if word := valueWords[lastKind(toks)]; lex.Open() && word != "" {
		return "inside " + word
	}
	if d := lex.Depth(); d > 0 && lex.Closer(d) == ']' {
		return "inside an array"
	}
	return "inside an object"
}

var valueWords = map[json.TokenKind]string{
	json.ObjectOpen: "an object", json.ArrayOpen: "an array", json.Key: "a key", json.String: "a string", json.Number: "a number",
	json.True: "true", json.False: "false", json.Null: "null",
}

func lastKind(toks json.TokenList) json.TokenKind {
	if toks.Len() == 0 {
		return json.Space
	}
	return toks.At(toks.Len() - 1).Kind
}

// LongName is the width that a name keeps before the facts next to it are shown.
const LongName = 24

// drawTurnHead draws the number and title of a turn, its cost, and its state.
func (s *Subject) drawTurnHead(p *screen.Pen, focused bool) {
	t := s.currentSelection().Turn
	st, look, word := screen.TurnLook(t)
	h := paneTitle{right: []titlePart{{look, display.Join(p.Glyph.Status[st], display.Lit(" response "), p.Clean(word))}}}
	if cost := p.Clean(s.scene.Bill.CostOf(t).String()); !cost.Empty() && p.Left > LongName+cost.Width()+h.rightCells() {
		h.right = append([]titlePart{{screen.Plain, cost.Between("", " ")}}, h.right...)
	}
	h.title = p.Format("turn %d  %s", t.Number+1, p.Name(present.TurnTitle(s.scene.View.Exchange(t.Exchange), t)))
	h.draw(p, s.scene.Piled, focused)
}
