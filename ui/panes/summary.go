package panes

import (
	"fmt"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/screen"
)

// Summary is what the document pane shows while a turn is chosen: what is known of the response,
// and its text.
type Summary struct {
	screen.Window
	turn  *stream.Turn // as it is now; of says which it is
	of    stream.Ref
	facts []fact
	head  []headLine // the rows before the text, made from the facts
	text  *layout.Text
}

// headLine is a row about the response.
type headLine struct {
	word string
	text display.Text
	role screen.Role
}

const factColumn = 14 // cells before a fact

// Extend takes what is new of the turn.
func (s *Summary) Extend(facts []fact, t *stream.Turn, width, height int, p *screen.Pen) {
	if s.turn == nil || t.Ref() != s.of {
		*s = Summary{of: t.Ref()}
	}
	s.turn = t
	if s.text == nil || s.text.Width() != width || s.text.Len() > len(t.Text) {
		s.text, s.facts = layout.NewText(width, p.Drawer), nil
	}
	s.text.Extend(t.Text, t.Closed())
	if !slices.Equal(facts, s.facts) {
		s.facts = facts
		s.wrap(max(width-factColumn, 8), p.Drawer)
	}
	s.Resize(len(s.head)+len(s.text.Rows()), height)
}

// wrap makes the head.
func (s *Summary) wrap(width int, draw display.Drawer) {
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
	role screen.Role
}

// TurnFacts is what is known of a turn.
func TurnFacts(v *providers.View, b *Bill, t *stream.Turn, g *screen.Glyphs) []fact {
	var facts []fact
	add := func(word, text string) {
		if text != "" {
			facts = append(facts, fact{word, text, screen.Plain})
		}
	}
	if x := v.Exchange(t.Exchange); x != nil {
		add("request", strings.TrimSpace(x.Head.Method+" "+x.Head.URL))
		facts = append(facts, laneFacts(v, b, t, g)...)
		add("model", t.Model)
		add("from", x.Head.File) // a file, or who was asked
		add("found in", x.Head.Peeled)
		add("cannot tell", strings.Join(x.Head.Lacks, "; "))
		if others := v.Others(); others.Count > 0 && x.Head.Peeled != "" {
			add("other lines", fmt.Sprintf("%d are of no exchange; the last: %s", others.Count, others.Latest()))
		}
		if x.Head.Status != 0 {
			add("http status", fmt.Sprint(x.Head.Status))
		}
		add("dialect", fmt.Sprintf("%s: %s", t.Dialect, x.Why))
		framed := x.Framing
		if x.Coding != "" {
			framed += " in " + x.Coding
		}
		add("framed as", framed)
	} else {
		add("model", t.Model)
	}
	add("agent of call", t.Parent)
	add("response id", t.ID)
	add("finish", FinishText(t))
	add("usage", usageText(t.Usage, g.Dot))
	if IsPlain(t) {
		return append(facts, plainFacts(v, t)...)
	}
	facts = append(facts, b.facts(t, g.None)...)
	add("calls", callCount(t))
	if t.Returned {
		add("sent back", Onward(v, t))
	}
	add("events", screen.Count(t.Events).String())
	add("took", screen.Time(screen.Since(t.OpenedAt, t.ClosedAt)).String())
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

// callCount is how many calls a turn has, or had.
func callCount(t *stream.Turn) string {
	if t.Kept != stream.Dropped {
		return screen.Count(len(t.Calls)).String()
	}
	n := 0
	for _, were := range t.Was {
		n += int(were)
	}
	return screen.Count(n).String() + ", not kept, as is its text"
}

// FinishText is the provider's own word on why the response ended, with what it stands for where
// that is a number.
func FinishText(t *stream.Turn) string {
	if t.Means == "" {
		return t.Finish
	}
	return t.Finish + " (" + t.Means + ")"
}

// Draw writes row n of the pane into the field.
func (s *Summary) Draw(p *screen.Pen, n int) {
	defer p.Fill(screen.Bare)
	row := s.Top + n
	switch {
	case s.turn == nil:
	case row == len(s.head)-1 && len(s.turn.Text) == 0: // no title without a text
	case row < len(s.head):
		p.Say(screen.Muted, p.Format(" %-*s", factColumn-1, s.head[row].word))
		p.Put(s.head[row].role, screen.Bare, s.head[row].text)
	case row-len(s.head) < len(s.text.Rows()):
		r := s.text.Rows()[row-len(s.head)]
		p.Spaces(screen.Bare, 1)
		p.Raw(screen.Plain, screen.Bare, screen.TrimEnd(s.turn.Text[r.Start:r.End]))
	}
}
