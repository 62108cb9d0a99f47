package panes

import (
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// callout has the rows that explain a verdict, under the title of a call or turn. It is rebuilt only when its inputs
// change, because repairing arguments is costly.
type callout struct {
	key     calloutKey
	role    screen.Role     // role of the bar
	finding *stream.Finding // the finding that the callout is about; valid until the next update
	lines   []calloutLine
}

// calloutKey identifies the inputs of a callout.
type calloutKey struct {
	of                           stream.Ref
	view                         *providers.View
	width, rows                  int
	size, findings, turnFindings int
	sentBack, status             int
	events                       int // number of events in the turn
	at                           findingKey
}

// findingKey identifies a finding of a call or turn.
type findingKey struct {
	code, message string
	event         int
}

// calloutLine is a row: an optional bar, blanks and texts.
type calloutLine struct {
	bar   bool
	left  int // cells before the texts, after the bar if there is one
	texts []screen.StyledText
}

// Screen heights that decide how many rows the callout has.
const (
	bareRows = 14 // with fewer rows: only the sentence, and one row for cause and advice
	wideRows = 24 // from this height on, the sentence may have two rows
	riskRows = 30 // from this height on, the risk is shown too
)

// calloutLeft is the number of cells for the bar and the blanks around it.
const calloutLeft = 3

// updateRows rebuilds the rows for the selection if their inputs have changed.
func (o *callout) updateRows(s *Context, c Selection, width int) {
	key := calloutKey{of: c.asRef(), view: s.View, width: width, rows: s.Rows}
	if s.Finding != nil {
		key.at = findingKey{s.Finding.Code, s.Finding.Message, s.Finding.Event}
	}
	if t := c.Turn; t != nil {
		key.turnFindings, key.events = len(t.Findings), t.Events
	}
	if c.Call != nil {
		key.size, key.findings = len(c.Call.Args()), len(c.Call.Findings)
		key.sentBack, key.status = len(c.Call.SentBack), int(c.Call.Status())
	}
	if key == o.key {
		return
	}
	o.key, o.lines, o.finding = key, nil, nil
	var says present.Callout
	switch {
	case c.Call != nil && c.Turn.Retention == stream.InMemory && c.Call.ArgsLen() == len(c.Call.Args()):
		says = present.CalloutOfCall(s.View, c.Turn, c.Call, s.Finding)
	case c.Call == nil && c.Turn != nil:
		var ok bool
		if says, ok = present.CalloutOfTurn(s.View, c.Turn, s.Finding); !ok {
			return
		}
	default:
		return
	}
	o.finding = says.Finding
	o.layOut(s, says, width)
}

// layOut builds the rows of the callout.
func (o *callout) layOut(s *Context, says present.Callout, width int) {
	p, v, bare := s.Pen, &says.Verdict, s.Rows < bareRows
	sign := p.Glyph.Status[v.State]
	if f := says.Finding; f != nil && !f.ExplainsState {
		sign = p.Clean(strings.TrimSpace(p.Glyph.Severity[f.Severity].String()))
	}
	left := sign.Width() + 1
	room := max(8, width-calloutLeft-left-1)
	o.role = v.Role
	role, most := v.Role, 2
	if role == screen.Muted && len(says.Rows) > 0 {
		role = screen.Plain
	}
	if s.Rows < wideRows {
		most = 1
	}
	sentence := p.Clean(says.Sentence)
	if says.Short != "" && len(display.Wrap(sentence, room)) > most {
		sentence = p.Clean(says.Short)
	}
	if len(display.Wrap(sentence, room)) > most {
		if part, ok := fittingBeginning(p, says.Sentence, room, most); ok {
			sentence = part
		}
	}
	if len(says.Rows) == 0 {
		sentence, most = fittingSentences(p, says.Sentence, room), 1
	}
	for i, line := range cutLines(p, sentence, room, most) {
		texts := []screen.StyledText{{Role: v.Role, Text: sign.Between("", " ")}, {Role: role, Text: line}}
		o.addLine(left, i, texts, len(says.Rows) > 0)
	}
	switch {
	case len(says.Rows) == 0:
	case bare:
		text := p.Clean(says.Row("cause"))
		if do := says.Row("do"); do != "" {
			text = display.Join(text, p.Glyph.Dot.Between(" ", " "))
			text = display.Join(text, shortAdvice(p, do, room-text.Width()))
		}
		o.addLine(left, 1, []screen.StyledText{{}, {Text: p.Truncate(text, room)}}, true)
	default:
		for _, row := range says.Rows {
			if row.Label == "risk" && s.Rows < riskRows {
				continue
			}
			text := p.Clean(row.Text)
			if row.Label == "cause" && says.More > 0 {
				text = display.Join(text, screen.Count(says.More).Between("  +", " more"))
			}
			for i, line := range cutLines(p, text, max(8, room-labelCells), 2) {
				texts := []screen.StyledText{{Role: screen.Muted, Text: p.Pad(p.Clean(row.Label), labelCells)}, {Text: line}}
				if i > 0 {
					texts[0].Text = display.Repeat(display.Lit(" "), labelCells)
				}
				o.lines = append(o.lines, calloutLine{true, left, texts})
			}
		}
	}
}

// fittingSentences returns as many sentences of text as fit into one row, but at least one.
func fittingSentences(p *screen.Pen, text string, room int) display.Text {
	for p.Clean(text).Width() > room {
		at := strings.LastIndex(strings.TrimSuffix(text, "."), ". ")
		if at < 0 {
			break
		}
		text = text[:at+1]
	}
	return p.Clean(text)
}

// adviceEnds are the strings before which advice can be cut.
var adviceEnds = []string{". ", "; ", ": ", " (", ", ", " or ", " and ", " to ", " in "}

// adviceOpenings begin advice whose first part only says where, when or for what purpose to follow it.
var adviceOpenings = []string{"In ", "To ", "Before "}

// shortAdvice returns as much of the advice as fits into a row, cut before one of adviceEnds. Advice that doesn't fit
// loses its opening, so that what to do is never cut off. If no cut makes it short enough, shortAdvice returns all of
// the rest.
func shortAdvice(p *screen.Pen, advice string, room int) display.Text {
	opens := func(with string) bool { return strings.HasPrefix(advice, with) }
	if _, rest, ok := strings.Cut(advice, ", "); ok && p.Clean(advice).Width() > room && slices.ContainsFunc(adviceOpenings, opens) {
		advice = strings.ToUpper(rest[:1]) + rest[1:]
	}
	for part := advice; p.Clean(part).Width() > room; {
		at := -1
		for _, end := range adviceEnds {
			at = max(at, strings.LastIndex(part, end))
		}
		if at <= 0 {
			return p.Clean(advice)
		}
		if part = strings.TrimRight(part[:at], ",;:"); p.Clean(part).Width() <= room {
			return p.Clean(part)
		}
	}
	return p.Clean(advice)
}

// fittingBeginning cuts text before a semicolon, a colon or a parenthesis, so that as much as possible fits into the
// given number of rows. The result ok is false if that would leave fewer than room/2 bytes.
func fittingBeginning(p *screen.Pen, text string, room, most int) (part display.Text, ok bool) {
	for {
		at := max(strings.LastIndex(text, "; "), strings.LastIndex(text, ": "), strings.LastIndex(text, " ("))
		if at < room/2 {
			return part, false
		}
		text = text[:at]
		if part = p.Clean(text + "."); len(display.Wrap(part, room)) <= most {
			return part, true
		}
	}
}

// addLine adds a row of the sentence. The first row begins with the sign, the others with blanks.
func (o *callout) addLine(left, n int, texts []screen.StyledText, bar bool) {
	if n == 0 {
		left = 0
	} else {
		texts = texts[1:]
	}
	o.lines = append(o.lines, calloutLine{bar, left, texts})
}

// labelCells is the width of a label and the gap after it.
const labelCells = 7

// cutLines wraps text into at most the given number of rows. If text is left out, the last row ends with an ellipsis.
func cutLines(p *screen.Pen, text display.Text, width, most int) []display.Text {
	lines := display.Wrap(text, width)
	if len(lines) > most {
		lines[most-1] = p.Truncate(display.Join(lines[most-1], display.Lit(" "), lines[most]), width)
		lines = lines[:most]
	}
	return lines
}

// draw draws row n: the bar if the row has one, blanks and the texts.
func (o *callout) draw(p *screen.Pen, n int) {
	l := &o.lines[n]
	if l.bar {
		p.Spaces(screen.Bare, 1)
		p.Text(o.role, p.Glyph.Bar)
		p.Spaces(screen.Bare, 1)
	} else {
		p.Spaces(screen.Bare, calloutLeft)
	}
	p.Spaces(screen.Bare, l.left)
	for _, t := range l.texts {
		p.TextOn(t.Role, screen.Bare, t.Text)
	}
}
