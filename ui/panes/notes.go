package panes

import (
	"cmp"
	"slices"

	"toolscope/providers/replay"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Note is a row about what is lost.
type Note struct {
	Role screen.Role
	Text display.Text
}

// mostNotes is how many losses are told: a long conversation may have one a call.
const mostNotes = 200

// Notes says what would be refused and what is lost, worst first.
func Notes(p *replay.Preview, s replay.Scope, width int, draw display.Drawer) (notes []Note) {
	add := func(r screen.Role, text display.Text) {
		for i, line := range display.Wrap(text, max(width-4, 8)) {
			if i > 0 {
				line = line.Between("  ", "")
			}
			notes = append(notes, Note{r, line})
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

// NoteCaption is from how many rows on notes have a caption.
const NoteCaption = 3

// DrawNotes writes row y of so many rows about what is lost. Where more is lost than has room, the
// last row says so, and where to see it.
func DrawNotes(p *screen.Pen, notes []Note, y, room int, where display.Text) {
	if room >= NoteCaption {
		if y == 0 {
			p.Caption(screen.Muted, display.Lit("what is lost"))
			return
		}
		y, room = y-1, room-1
	}
	p.Spaces(screen.Bare, 1)
	switch {
	case y >= len(notes) || y >= room:
	case y == room-1 && len(notes) > room:
		p.Say(screen.Muted, p.Format("+%s%s", screen.Plural(len(notes)-y, "line"), where))
	default:
		p.Put(notes[y].Role, screen.Bare, notes[y].Text)
	}
}
