package panes

import (
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

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
