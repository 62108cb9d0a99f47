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

// Summary is the content of the document pane while a turn is selected: its purpose and faults, its text,
// a row for each call, and other facts of the response. While the text grows, the view follows its end.
type Summary struct {
	screen.Window
	view   *providers.View
	of     stream.Ref // the turn, NoRef for none
	closed bool       // the turn has ended; at an earlier moment it is open again
	texted bool       // it has text
	calls  int
	facts  []fact
	head   []factLine // the rows before the text, made from the facts
	foot   []factLine // and those after the calls
	text   *layout.Text
}

// factLine is a row about the response.
type factLine struct {
	word string
	text display.Text
	role screen.Role
}

const factColumn = 14 // cells before a fact

// Extend updates the summary of the turn.
func (s *Summary) Extend(facts []fact, v *providers.View, t *stream.Turn, width, height int, p *screen.Pen) {
	if reopened := s.closed && !t.Closed(); s.view == nil || t.Ref() != s.of || reopened {
		*s = Summary{of: t.Ref(), Window: screen.Window{Stick: !t.Closed()}}
	}
	s.view, s.closed, s.texted, s.calls = v, t.Closed(), len(t.Text) > 0, len(t.Calls)
	if s.text == nil || s.text.Width() != width || s.text.Len() > len(t.Text) {
		s.text, s.facts = layout.NewText(width, p.Drawer), nil
	}
	s.text.Extend(t.Text, t.Closed())
	if !slices.Equal(facts, s.facts) {
		s.facts = facts
		s.wrapFacts(max(width-factColumn, 8), p.Drawer)
	}
	s.Stick = s.Stick && !t.Closed()
	s.Beyond = len(s.foot) + 1 + len(t.Calls)
	s.Resize(s.callsAt()+len(t.Calls)+len(s.foot), height)
}

// callAt returns the call of row y, or nil.
func (s *Summary) callAt(y int) *stream.Call {
	if s.view == nil {
		return nil
	}
	t, _ := s.view.Find(s.of)
	if row := s.RowAt(y); t != nil && row >= s.callsAt() && row < s.callsAt()+len(t.Calls) {
		return t.Calls[row-s.callsAt()]
	}
	return nil
}

// callsAt returns the row of the first call.
func (s *Summary) callsAt() int {
	n := len(s.head) + len(s.text.Rows())
	if s.texted {
		n++ // a blank row
	}
	return n
}

// firstFacts are the facts before the text; laterFacts come right after the calls.
var (
	firstFacts = []string{"error", "ended by", "prompt", "responds to", "purpose"}
	laterFacts = []string{"usage", "cost", "rates", "all turns", "finish", "took", "from"}
)

// wrapFacts builds the rows of the facts.
func (s *Summary) wrapFacts(width int, draw display.Drawer) {
	s.head, s.foot = s.head[:0], s.foot[:0]
	for _, word := range firstFacts {
		s.head = s.appendFacts(s.head, width, draw, func(f fact) bool { return f.word == word })
	}
	if len(s.head) > 0 {
		s.head = append(s.head, factLine{})
	}
	if s.calls > 0 {
		s.foot = append(s.foot, factLine{})
	}
	for _, word := range laterFacts {
		s.foot = s.appendFacts(s.foot, width, draw, func(f fact) bool { return f.word == word })
	}
	s.foot = s.appendFacts(s.foot, width, draw, func(f fact) bool {
		return !slices.Contains(firstFacts, f.word) && !slices.Contains(laterFacts, f.word)
	})
}

// appendFacts adds the rows of some facts; a fact without a label belongs to the previous one.
func (s *Summary) appendFacts(to []factLine, width int, draw display.Drawer, wanted func(fact) bool) []factLine {
	is := false
	for _, f := range s.facts {
		if is = f.word == "" && is || f.word != "" && wanted(f); !is {
			continue
		}
		word := f.word
		for _, line := range display.Wrap(draw.Clean(f.text), width) {
			to = append(to, factLine{word, line, f.role})
			word = ""
		}
	}
	return to
}

// fact is a label and its text.
type fact struct {
	word string
	text string
	role screen.Role
}

// TurnFacts returns the facts of a turn.
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
		add("from", x.Head.File) // a file, or the provider
		add("found in", x.Head.Wrappers)
		add("unknown", strings.Join(x.Head.Lacks, "; "))
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
	add("finish", present.FinishText(t))
	add("usage", usageText(t.Usage, g.Dot))
	if present.IsPlain(t) {
		return append(facts, plainFacts(v, t)...)
	}
	facts = append(facts, b.costFacts(t, g.None)...)
	if t.Retention == stream.Dropped {
		add("calls", callCount(t))
	}
	if t.SentBack {
		add("sent back", FirstSentBack(v, t))
	}
	add("events", screen.Count(t.Events).String())
	add("took", screen.Time(screen.Elapsed(t.OpenedAt, t.ClosedAt)).String())
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

// callCount returns the number of calls of a turn, as text.
func callCount(t *stream.Turn) string {
	n := 0
	for _, were := range t.DroppedCounts() {
		n += int(were)
	}
	return screen.Count(n).String() + ", not kept; nor is the text"
}

// Draw draws row n of the summary into the field.
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
		s.head[row].draw(p)
		return
	}
	if n := row - len(s.head); n < len(s.text.Rows()) {
		r := s.text.Rows()[n]
		p.Spaces(screen.Bare, 1)
		p.Bytes(screen.Plain, screen.Bare, screen.TrimEnd(t.Text[r.Start:r.End]))
		return
	}
	switch n := row - s.callsAt(); {
	case n >= 0 && n < len(t.Calls):
		drawCallOf(p, t.Calls[n])
	case n >= len(t.Calls) && n-len(t.Calls) < len(s.foot):
		s.foot[n-len(t.Calls)].draw(p)
	}
}

func (l factLine) draw(p *screen.Pen) {
	p.Text(screen.Muted, p.Format(" %-*s", factColumn-1, l.word))
	p.TextOn(l.role, screen.Bare, l.text)
}

// drawCallOf draws a call of the turn: its state, its name, and its arguments or its fault; on the right
// its size, and its time.
func drawCallOf(p *screen.Pen, c *stream.Call) {
	st, look := c.Status(), screen.CallRole(c)
	if st == stream.Complete {
		look = screen.Muted
	}
	p.Spaces(screen.Bare, 1)
	p.Text(look, p.Glyph.Status[st].Between("", " "))
	name, right := p.Name(c.Name), sizeCells+tookCells
	if name.Empty() {
		name = display.Lit("(no name)")
	}
	if p.Left < 2*right {
		right = 0
	}
	room := p.Left - right
	p.Text(screen.Plain, p.Truncate(name, room))
	if word := p.Clean(st.String()); st != stream.Complete && room > name.Width()+2 {
		p.Text(look, p.Truncate(word.Between("  ", ""), p.Left-right))
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
