package ui

import (
	"bytes"
	"cmp"
	"slices"

	"toolscope/providers/dialect"
	"toolscope/providers/replay"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// page is the preview of one cell as it is shown: what would be sent, what the
// model wrote, and what is lost between the two. It does not change once made.
type page struct {
	key      pageKey
	sent     sheet
	wrote    sheet
	notes    []noteLine
	body     []byte // what would be sent, as JSON
	messages int
	size     int  // bytes the model wrote
	gone     int  // of them, those that have no place
	added    int  // bytes that it did not write
	unknown  bool // what would be sent
}

// none is what stands where there is no body.
func (p *page) none() display.Text {
	if p.unknown {
		return display.Lit("not known")
	}
	return display.Lit("nothing")
}

// noteLine is a row about what is lost.
type noteLine struct {
	role screen.Role
	text display.Text
}

// makePage previews a source for one target under one policy.
func makePage(k pageKey, src source, to *dialect.Target, draw display.Drawer) *page {
	preview := src.Preview(to, &replay.Policies[k.policy])
	raw := k.raw != (to.Form == dialect.PositionalForm) // arrays in arrays say more in a line
	p := &page{key: k, body: joined(preview.Body), messages: len(preview.Body), unknown: preview.Outcome == replay.Unknown}
	p.notes = notesOf(&preview, k.version.scope, k.notes, draw)
	p.showSent(&preview, src.own, raw, draw)
	p.showWrote(&preview, src.own, draw)
	return p
}

// joined is messages as one JSON text: a list, unless it is one alone.
func joined(messages [][]byte) []byte {
	if len(messages) == 1 {
		return messages[0]
	}
	if len(messages) == 0 {
		return nil
	}
	return slices.Concat([]byte("["), bytes.Join(messages, []byte(",\n")), []byte("]"))
}

// showSent lays out the body, with the bytes marked that the model did not
// write.
func (p *page) showSent(preview *replay.Preview, own int, raw bool, draw display.Drawer) {
	marks := make([][]span, len(preview.Body))
	at, unfound := argsPlace{}, 0
	for i := range preview.Calls {
		c := &preview.Calls[i]
		added := addedTo(c)
		if c.Args == nil || unfound == mostUnfound {
			continue
		}
		found, ok := at.next(preview.Body, c)
		if !ok {
			unfound++ // such as arrays, in which arguments stand as something else
			continue
		}
		at = found
		spans := written(c, added)
		for _, s := range added {
			p.added += s.end - s.start
		}
		for _, s := range spans {
			marks[found.message] = append(marks[found.message], span{found.offset + s.start, found.offset + s.end})
		}
		if c.Call == own {
			p.sent.look, p.sent.lookAt = found.message, found.offset
			if len(spans) > 0 {
				p.sent.lookAt += spans[0].start
			}
		}
	}
	for i, m := range preview.Body {
		p.sent.add(newBlock(display.Text{}, m, raw, marks[i], p.key.sent, draw))
	}
	for i, m := range preview.Results {
		caption := display.Text{}
		if i == 0 {
			caption = display.Lit("then must follow")
		}
		p.sent.add(newBlock(caption, m, raw, nil, p.key.sent, draw))
	}
}

// mostUnfound is after how many calls that are not found in a body no more are
// looked for.
const mostUnfound = 3

// showWrote lays out the arguments as they came, with the bytes marked that
// have no place in what would be sent.
func (p *page) showWrote(preview *replay.Preview, own int, draw display.Drawer) {
	for i := range preview.Calls {
		c := &preview.Calls[i]
		gone := goneFrom(c)
		for _, s := range gone {
			p.gone += s.end - s.start
		}
		p.size += len(c.Original)
		caption := display.Text{}
		if p.key.version.scope != replay.OneCall {
			caption = draw.Format("call %d %s: %s", c.Call, screen.Short(c.Name), c.Outcome)
		}
		if c.Call == own && own > 0 {
			p.wrote.look = i
			if len(gone) > 0 {
				p.wrote.lookAt = gone[0].start
			}
		}
		p.wrote.add(newBlock(caption, c.Original, true, gone, p.key.wrote, draw))
	}
}

// mostNotes is how many losses are told: a long conversation may have one a call.
const mostNotes = 200

// notesOf says what would be refused and what is lost, worst first.
func notesOf(p *replay.Preview, s replay.Scope, width int, draw display.Drawer) (notes []noteLine) {
	add := func(r screen.Role, text display.Text) {
		for i, line := range display.Wrap(text, max(width-4, 8)) {
			if i > 0 {
				line = line.Between("  ", "")
			}
			notes = append(notes, noteLine{r, line})
		}
	}
	if p.Refused != "" {
		add(screen.Bad, draw.Clean(screen.Short(p.Refused)).Between("refused: ", ""))
	}
	switch {
	case p.Outcome == replay.Unknown:
	case p.Body == nil && p.Results == nil:
		add(screen.Plain, display.Lit("nothing is sent"))
	}
	for i := range p.Calls {
		c := &p.Calls[i]
		if c.Encoded == "" || i == mostNotes {
			continue
		}
		text := display.Text{}
		if s != replay.OneCall {
			text = draw.Format("call %d: ", c.Call)
		}
		add(screen.Caution, display.Join(text, draw.Clean(c.Encoded)))
	}
	losses := slices.Clone(p.Losses)
	slices.SortStableFunc(losses, func(a, b replay.Loss) int { return cmp.Compare(b.Severity, a.Severity) })
	for i, l := range losses {
		if i == mostNotes {
			add(screen.Muted, screen.Count(len(losses)-i).Between("and ", " more"))
			break
		}
		text := draw.Format("%s %s", l.Severity, l.Code)
		if s != replay.OneCall && l.Call > 0 {
			text = display.Join(text, draw.Format(", call %d", l.Call))
		}
		add(screen.LossRoles[l.Severity], display.Join(text, display.Lit(": "), draw.Clean(l.Message)))
	}
	if len(notes) == 0 {
		add(screen.Good, display.Lit("nothing is lost"))
	}
	return notes
}
