package ui

import (
	"fmt"
	"slices"
	"strings"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/layout"
)

// summary is what the document pane shows while a turn is chosen: what is
// known of the response, and its text.
type summary struct {
	window
	turn  *stream.Turn
	facts []fact
	head  []headLine // the rows before the text, made from the facts
	text  *layout.Text
}

// headLine is a row about the response.
type headLine struct {
	word string
	text display.Text
	role role
}

const factColumn = 14 // cells before a fact

// extend takes what is new of the turn.
func (s *summary) extend(facts []fact, t *stream.Turn, width, height int, p *pen) {
	if t != s.turn {
		*s = summary{turn: t}
	}
	if s.text == nil || s.text.Width() != width {
		s.text, s.facts = layout.NewText(width, p.draw), nil
	}
	s.text.Extend(t.Text, t.Closed())
	if !slices.Equal(facts, s.facts) {
		s.facts = facts
		s.wrap(max(width-factColumn, 8), p.draw)
	}
	s.resize(len(s.head)+len(s.text.Rows()), height)
}

// wrap makes the head.
func (s *summary) wrap(width int, draw display.Drawer) {
	s.head = s.head[:0]
	for _, f := range s.facts {
		word := f.word
		for _, line := range display.Wrap(draw.Clean(f.text), width) {
			s.head = append(s.head, headLine{word, line, f.role})
			word = ""
		}
	}
	s.head = append(s.head, headLine{}, headLine{word: "TEXT"})
}

// fact is one thing that is known, in a word and its text.
type fact struct {
	word string
	text string
	role role
}

// turnFacts is what is known of a turn.
func (m *Model) turnFacts(t *stream.Turn) []fact {
	var facts []fact
	add := func(word, text string) {
		if text != "" {
			facts = append(facts, fact{word, text, plain})
		}
	}
	if x := m.in.Exchange(t.Exchange); x != nil {
		add("request", strings.TrimSpace(x.Head.Method+" "+x.Head.URL))
		add("file", x.Head.File)
		if x.Head.Status != 0 {
			add("http status", fmt.Sprint(x.Head.Status))
		}
		add("dialect", fmt.Sprintf("%s: %s", t.Dialect, x.Why))
		framed := x.Framing
		if x.Coding != "" {
			framed += " in " + x.Coding
		}
		add("framed as", framed)
	}
	add("model", t.Model)
	add("agent of call", t.Parent)
	add("response id", t.ID)
	add("finish", FinishText(t))
	add("usage", usageText(t.Usage, m.pen.glyph.dot))
	facts = append(facts, m.costFacts(t)...)
	add("calls", commas(len(t.Calls)).String())
	if t.Returned {
		add("sent back", onwardText(m.in.Session(), t))
	}
	add("events", commas(t.Events).String())
	add("took", timeText(since(t.OpenedAt, t.ClosedAt)).String())
	if len(t.Thinking) > 0 {
		add("reasoning", bytesText(len(t.Thinking)).String())
	}
	if t.Failure != "" {
		facts = append(facts, fact{"error", t.Failure, bad})
	}
	if t.EndedBy != 0 && t.EndedBy != stream.Provider {
		add("ended by", t.EndedBy.String())
	}
	return facts
}

// FinishText is the provider's own word on why the response ended, with what it
// stands for where that is a number.
func FinishText(t *stream.Turn) string {
	if t.Means == "" {
		return t.Finish
	}
	return t.Finish + " (" + t.Means + ")"
}

// draw writes row n of the pane into the field.
func (s *summary) draw(p *pen, n int) {
	defer p.fill(bare)
	row := s.top + n
	switch {
	case row == len(s.head)-1 && len(s.turn.Text) == 0: // no title without a text
	case row < len(s.head):
		p.say(muted, p.draw.Format(" %-*s", factColumn-1, s.head[row].word))
		p.put(s.head[row].role, bare, s.head[row].text)
	case row-len(s.head) < len(s.text.Rows()):
		r := s.text.Rows()[row-len(s.head)]
		p.spaces(bare, 1)
		p.raw(plain, bare, trimEnd(s.turn.Text[r.Start:r.End]))
	}
}
