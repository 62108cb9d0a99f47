package panes

import (
	"fmt"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// Summary is the page about a turn, which the document pane shows while a turn is selected: prompt, text, calls,
// tokens, cost, time and file, with the details below. While the text grows, the view follows its end.
type Summary struct {
	screen.Window
	view   *providers.View
	of     stream.Ref // the turn; NoRef if there is none
	closed bool       // the turn has ended; in a view of an earlier moment, it is open again
	width  int
	calls  int
	inRow  []callItem // the calls, if they fit in one row
	facts  []fact
	head   []factLine // the rows before the text, made from the facts

	refused refusalKey
	refusal []factLine // the sections about the refusal of the request, at the top of the page
	foot    []factLine // the rows after the calls
	text    *layout.Text
}

// factLine is a row with a label and a text.
type factLine struct {
	rule  display.Text // the title of a section, for which text is a note; empty for an ordinary row
	sign  display.Text // on the left of the text
	word  string
	cells int // width of the label
	text  display.Text
	role  screen.Role
}

// callItem is a call in a row of calls.
type callItem struct {
	call  *stream.Call
	role  screen.Role
	sign  display.Text
	about display.Text // its name and size
}

// Cells before the labels, before the texts, and before the texts of the details.
const (
	pageLeft     = 3
	pageColumn   = 12
	detailColumn = 16
	narrowPage   = 60 // on a page narrower than this, there are two cells fewer before a label
	callGap      = 3  // cells between two calls
)

// labelsAt returns the number of cells before the labels.
func (s *Summary) labelsAt() int {
	if s.width < narrowPage {
		return 1
	}
	return pageLeft
}

// textsAt returns the number of cells before the texts of the page.
func (s *Summary) textsAt() int { return pageColumn - pageLeft + s.labelsAt() }

// Extend updates the summary of the turn.
func (s *Summary) Extend(facts []fact, v *providers.View, t *stream.Turn, width, height int, p *screen.Pen) {
	if reopened := s.closed && !t.Closed(); s.view == nil || t.Ref() != s.of || reopened {
		*s = Summary{of: t.Ref(), Window: screen.Window{Stick: !t.Closed()}}
	}
	resized := s.width != width
	s.view, s.closed, s.calls, s.width = v, t.Closed(), len(t.Calls), width
	room := max(width-s.textsAt(), 8)
	if s.text == nil || s.text.Width() != room || s.text.Len() > len(t.Text) {
		s.text = layout.NewText(room, p.Drawer)
	}
	s.text.Extend(t.Text, t.Closed())
	before := s.refused
	s.updateRefusal(v, t, height < shortPage, p)
	if resized || before != s.refused || !slices.Equal(facts, s.facts) {
		s.facts = facts
		s.head, s.foot = s.head[:0], s.foot[:0]
		if s.head = append(s.head, s.refusal...); len(s.refusal) > 0 {
			s.head = append(s.head, factLine{})
		}
		for _, word := range firstFacts {
			if word == "error" && len(s.refusal) > 0 {
				continue
			}
			s.head = s.appendFacts(s.head, s.textsAt(), p.Drawer, func(f fact) bool { return f.word == word })
		}
		for _, word := range laterFacts {
			s.foot = s.appendFacts(s.foot, s.textsAt(), p.Drawer, func(f fact) bool { return f.word == word })
		}
		page := len(s.foot)
		s.foot = s.appendFacts(append(s.foot, factLine{}), detailColumn-pageLeft+s.labelsAt(), p.Drawer, func(f fact) bool {
			return !slices.Contains(firstFacts, f.word) && !slices.Contains(laterFacts, f.word)
		})
		if len(s.foot) == page+1 {
			s.foot = s.foot[:page]
		}
	}
	s.inRow = callsInRow(p, t.Calls, room)
	s.Stick = s.Stick && !t.Closed()
	s.Beyond = len(s.foot) + 1 + s.callRows()
	s.Resize(s.callsAt()+s.callRows()+len(s.foot), height)
}

// maxCallsInRow is the maximum number of calls in one row.
const maxCallsInRow = 12

// callsInRow returns the calls as one row, or nil if they don't fit in room cells.
func callsInRow(p *screen.Pen, calls []*stream.Call, room int) (items []callItem) {
	if len(calls) > maxCallsInRow {
		return nil
	}
	for _, c := range calls {
		v := present.VerdictOfCall(c)
		item := callItem{c, v.Role, verdictSign(p, v), display.Join(p.Name(present.CallName(c.Name)), screen.Bytes(c.ArgsLen()).Between("  ", ""))}
		if room -= item.cellCount() + callGap; room+callGap < 0 {
			return nil
		}
		items = append(items, item)
	}
	return items
}

func (i *callItem) cellCount() int { return i.sign.Width() + 1 + i.about.Width() }

// callRows returns the number of rows for the calls.
func (s *Summary) callRows() int {
	if len(s.inRow) > 0 {
		return 1
	}
	return s.calls
}

// callAt returns the call in a cell, or nil.
func (s *Summary) callAt(x, y int) *stream.Call {
	if s.view == nil {
		return nil
	}
	t, _ := s.view.Find(s.of)
	row := s.RowAt(y) - s.callsAt()
	if t == nil || row < 0 || row >= s.callRows() {
		return nil
	}
	at := s.textsAt()
	for i := range s.inRow {
		if at += s.inRow[i].cellCount() + callGap; x < at {
			return s.inRow[i].call
		}
	}
	return t.Calls[min(row, len(t.Calls)-1)]
}

// callsAt returns the row of the first call.
func (s *Summary) callsAt() int { return len(s.head) + len(s.text.Rows()) }

// Labels of the facts before the text, and of the facts after the calls. All other facts are details.
var (
	firstFacts = []string{"error", "ended by", "asked"}
	laterFacts = []string{"tokens", "cost", "time", "file"}
)

// appendFacts adds the rows of the wanted facts. A fact without a label belongs to the previous fact.
func (s *Summary) appendFacts(to []factLine, column int, draw display.Drawer, wanted func(fact) bool) []factLine {
	is := false
	for _, f := range s.facts {
		if is = f.word == "" && is || f.word != "" && wanted(f); !is {
			continue
		}
		word := f.word
		for _, line := range wrapParts(draw, f.text, max(s.width-column, 8)) {
			to = append(to, factLine{word: word, cells: column - s.labelsAt(), text: line, role: f.role})
			word = ""
		}
	}
	return to
}

// wrapParts wraps a text between its parts where possible, so that no figure is split.
func wrapParts(draw display.Drawer, text string, width int) (lines []display.Text) {
	glyphs := screen.UnicodeGlyphs
	if draw.ASCII {
		glyphs = screen.ASCIIGlyphs
	}
	sep := glyphs.Dot.Between(" ", " ")
	line := display.Text{}
	for part := range strings.SplitSeq(text, sep.String()) {
		next := draw.Clean(part)
		if !line.Empty() {
			if both := display.Join(line, sep, next); both.Width() <= width {
				line = both
				continue
			}
			lines = append(lines, line)
		}
		wrapped := display.Wrap(next, width)
		lines, line = append(lines, wrapped[:len(wrapped)-1]...), wrapped[len(wrapped)-1]
	}
	return append(lines, line)
}

// fact is a label and its text.
type fact struct {
	word string
	text string
	role screen.Role
}

// TurnFacts returns the facts about a turn.
func TurnFacts(v *providers.View, b *Costs, t *stream.Turn, g *screen.Glyphs) []fact {
	var facts []fact
	add := func(word, text string) {
		if text != "" {
			facts = append(facts, fact{word, text, screen.Plain})
		}
	}
	if x := v.Exchange(t.Exchange); x != nil {
		add("request", strings.TrimSpace(x.Head.Method+" "+x.Head.URL))
		facts = append(facts, requestFacts(v, b, t, g)...)
		add("model", t.Model)
		add("file", x.Head.File)
		add("found in", x.Head.Wrappers)
		add("unknown", strings.Join(present.UnknownFacts(x), "; "))
		if others := v.Others(); others.Count > 0 && x.Head.Wrappers != "" {
			add("other lines", fmt.Sprintf("%d belong to no exchange; the last: %s", others.Count, others.LastLines()))
		}
		if x.Head.Status != 0 {
			add("http status", fmt.Sprint(x.Head.Status))
		}
		add("protocol", fmt.Sprintf("%s: %s", t.Protocol, x.Why))
		framed := x.Framing
		if x.Coding != "" {
			framed += " in " + x.Coding
		}
		add("framed as", framed)
	} else {
		add("model", t.Model)
	}
	add("parent call", t.Parent)
	add("response id", t.ID)
	add("tokens", usageText(t.Usage, g.Dot))
	if present.IsPlain(t) {
		return append(facts, plainFacts(v, t)...)
	}
	add("time", timeText(v, t, g))
	facts = append(facts, b.costFacts(t, g)...)
	if t.Retention == stream.Dropped {
		n := 0
		for _, were := range t.DroppedCounts() {
			n += int(were)
		}
		add("calls", screen.Count(n).String()+"; calls and text are not kept")
	}
	if t.SentBack {
		add("sent back", FirstSentBack(v, t))
	}
	add("events", screen.Count(t.Events).String())
	if len(t.Thinking) > 0 {
		add("reasoning", screen.Bytes(len(t.Thinking)).String())
	}
	if t.Failure != "" {
		facts = append(facts, fact{"error", t.Failure, screen.Bad})
	}
	if t.EndedBy != 0 && t.EndedBy != stream.Provider {
		add("ended by", t.EndedBy.String())
	}
	return facts
}

// timeText returns the times of a turn, measured from its request, and the turn's finish reason.
func timeText(v *providers.View, t *stream.Turn, g *screen.Glyphs) string {
	var parts []string
	add := func(word, text string) {
		if text != "" {
			parts = append(parts, word+" "+text)
		}
	}
	l := v.Latency(t, nil)
	add("first token", screen.Time(l.FirstToken).String())
	if t.Closed() {
		add("done", screen.Time(l.End).String())
	}
	add("finish", present.FinishText(t))
	return strings.Join(parts, g.Dot.Between(" ", " ").String())
}

// Draw draws row n of the summary.
func (s *Summary) Draw(p *screen.Pen, n int) {
	defer p.Fill(screen.Bare)
	if s.view == nil {
		return
	}
	t, _ := s.view.Find(s.of)
	if t == nil {
		return
	}
	row := s.Top + n
	if row < len(s.head) {
		s.head[row].draw(p, s.labelsAt())
		return
	}
	word := func(word string, first bool) {
		if !first {
			word = ""
		}
		(&factLine{word: word, cells: s.textsAt() - s.labelsAt()}).draw(p, s.labelsAt())
	}
	if n := row - len(s.head); n < len(s.text.Rows()) {
		r := s.text.Rows()[n]
		word("said", n == 0)
		p.Bytes(screen.Plain, screen.Bare, screen.TrimEnd(t.Text[r.Start:r.End]))
		return
	}
	switch n := row - s.callsAt(); {
	case n >= 0 && n < s.callRows() && len(s.inRow) > 0:
		word("calls", true)
		for i, item := range s.inRow {
			if i > 0 {
				p.Spaces(screen.Bare, callGap)
			}
			p.Text(item.role, item.sign.Between("", " "))
			p.Text(screen.Plain, item.about)
		}
	case n >= 0 && n < s.callRows():
		word("calls", n == 0)
		drawCallOf(p, t.Calls[n])
	case n-s.callRows() < len(s.foot):
		s.foot[n-s.callRows()].draw(p, s.labelsAt())
	}
}

func (l *factLine) draw(p *screen.Pen, left int) {
	if !l.rule.Empty() {
		var notes []display.Text
		if !l.text.Empty() {
			notes = append(notes, l.text)
		}
		p.Caption(screen.Plain, l.rule, notes...)
		return
	}
	p.Text(screen.Bad, l.sign)
	p.Spaces(screen.Bare, left-l.sign.Width())
	p.Text(screen.Muted, p.Format("%-*s", l.cells, l.word))
	p.TextOn(l.role, screen.Bare, l.text)
}

// drawCallOf draws a call of the turn: its sign, its name, its state unless it is complete, and the beginning
// of its arguments. If there is room, its size and time are on the right.
func drawCallOf(p *screen.Pen, c *stream.Call) {
	st, v := c.Status(), present.VerdictOfCall(c)
	p.Text(v.Role, verdictSign(p, v).Between("", " "))
	name, right := p.Name(present.CallName(c.Name)), sizeCells+tookCells
	if p.Left < 2*right {
		right = 0
	}
	room := p.Left - right
	p.Text(screen.Plain, p.Truncate(name, room))
	if word := p.Clean(st.String()); st != stream.Complete && room > name.Width()+2 {
		p.Text(v.Role, p.Truncate(word.Between("  ", ""), p.Left-right))
	}
	if args := c.Args(); len(args) > 0 && p.Left > right+4 {
		p.Spaces(screen.Bare, 2)
		p.Text(screen.Muted, p.Truncate(p.Name(string(args[:min(len(args), screen.MaxNameBytes)])), p.Left-right))
	}
	p.Spaces(screen.Bare, p.Left-right)
	if right > 0 {
		p.Text(screen.Plain, alignRight(p, screen.Bytes(c.ArgsLen()), sizeCells))
		p.Text(screen.Muted, alignRight(p, screen.Time(screen.CallTime(c)), tookCells))
	}
}

// refusalKey identifies the inputs for the sections about a refusal.
type refusalKey struct {
	turn             int32
	events, findings int
	width            int
	short            bool // only the message itself, without the messages around it
	session          int  // number of turns in the session; a later turn may repeat the request
}

// shortPage is the minimum height of a page that shows a refusal in full. On a shorter page, the refusal has fewer
// rows.
const shortPage = 14

// ShowsRefusal reports whether the page is about a refused request.
func (s *Summary) ShowsRefusal() bool { return len(s.refusal) > 0 }

// maxSaidRows is the maximum number of rows for the provider's words.
const maxSaidRows = 3

// updateRefusal builds the sections about the refusal of a turn: the provider's words, the place that these words
// name, and the origin of the block at that place. A section without facts is left out.
func (s *Summary) updateRefusal(v *providers.View, t *stream.Turn, short bool, p *screen.Pen) {
	key := refusalKey{t.Number, t.Events, len(t.Findings), s.width, short, len(v.Session().Turns)}
	if t.Refusal == nil {
		s.refused, s.refusal = key, nil
		return
	}
	if key == s.refused {
		return
	}
	s.refused, s.refusal = key, nil
	r, ok := present.RefusalOf(v, t)
	if !ok {
		return
	}
	room := max(8, s.width-pageLeft-1)
	number := 0
	title := func(text, beside display.Text) {
		number++
		s.refusal = append(s.refusal, factLine{rule: p.Format("%d %s", number, text), text: beside})
	}
	title(display.Lit("the provider's message"), display.Text{})
	for _, line := range cutLines(p, p.Clean(r.Words), room, maxSaidRows) {
		s.refusal = append(s.refusal, factLine{text: line})
	}
	if len(r.Around) > 0 {
		at := p.Clean(screen.ShortName(r.Path))
		if r.Byte >= 0 {
			at = p.Format("%s, byte %s", at, screen.Count(r.Byte))
		}
		if r.How != "" {
			at = display.Join(at, p.Clean(r.How).Between(", ", ""))
		}
		title(display.Lit("place in the request"), at)
		for _, part := range r.Around {
			if short && !part.Here {
				continue
			}
			text := p.Format("%-3d %s %s", part.Number, p.Pad(p.Truncate(p.Name(part.Role), 9), 9), p.Name(part.Text))
			line := factLine{text: p.Truncate(text, room), role: screen.Muted}
			if part.Here {
				line.sign, line.role = p.Glyph.Severity[stream.Error], screen.Plain
			}
			s.refusal = append(s.refusal, line)
		}
	}
	if len(r.Origin) > 0 || r.Again != "" {
		title(display.Lit("origin"), display.Text{})
		for _, row := range r.Origin {
			text := p.Clean(row.Text)
			if c := row.Call; c != nil {
				args := c.Args()
				args = args[:min(len(args), screen.MaxNameBytes)]
				sign := verdictSign(p, present.VerdictOfCall(c))
				id := p.Name(screen.ElideMiddle(row.Text)).Between("  ", "")
				text = display.Join(sign, p.Name(c.Name).Between(" ", " "), p.CleanBytes(args))
				text = display.Join(p.Truncate(text, max(8, room-originCells-id.Width())), id)
			}
			s.refusal = append(s.refusal, factLine{word: p.Format("turn %d", row.Turn+1).String(), cells: originCells, text: p.Truncate(text, room-originCells)})
		}
		if r.Again != "" {
			s.refusal = append(s.refusal, factLine{word: "again", cells: originCells, text: p.Truncate(p.Clean(r.Again), room-originCells)})
		}
	}
}

// originCells is the width of the labels in the section about the origin.
const originCells = 11
