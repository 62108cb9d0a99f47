package panes

import (
	"cmp"
	"slices"

	"toolscope/providers/replay"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// LossNote is a row about a loss.
type LossNote struct {
	Role screen.Role
	Text display.Text
}

// lossSigns are the signs of losses, the same as for findings.
var lossSigns = [...]string{replay.Info: "i", replay.Low: "i", replay.Medium: "!", replay.High: "!!", replay.Critical: "!!"}

// maxNotes is the maximum number of losses that are shown. A long conversation may have one per call.
const maxNotes = 200

// LossNotes returns rows about refusals and losses, the worst first, each with a sign in the gutter.
func LossNotes(p *replay.Preview, s replay.Scope, width int, draw display.Drawer) (notes []LossNote) {
	add := func(r screen.Role, sign string, text display.Text) {
		for i, line := range display.Wrap(text, max(width-5, 8)) {
			if i > 0 {
				sign = ""
			}
			notes = append(notes, LossNote{r, draw.Format("%-3s%s", sign, line)})
		}
	}
	if p.Refused != "" {
		who := "the client fails"
		if p.Acceptance.Verdict == replay.Refused {
			who = p.Acceptance.String()
		}
		add(screen.Bad, "!!", draw.Format("%s: %s", who, draw.Clean(screen.ShortName(p.Refused))))
	}
	switch {
	case p.Outcome == replay.Unknown:
	case p.Body == nil && p.Results == nil:
		add(screen.Plain, "", display.Lit("nothing is sent"))
	}
	for i := range p.Calls {
		c := &p.Calls[i]
		if c.Encoded == "" || i == maxNotes {
			continue
		}
		text := display.Text{}
		if s != replay.OneCall {
			text = draw.Format("call %d: ", c.Call)
		}
		add(screen.Caution, "!", display.Join(text, draw.Clean(c.Encoded)))
	}
	losses := slices.Clone(p.Losses)
	slices.SortStableFunc(losses, func(a, b replay.Loss) int { return cmp.Compare(b.Severity, a.Severity) })
	for i, l := range losses {
		if i == maxNotes {
			add(screen.Muted, "", screen.Count(len(losses)-i).Between("and ", " more"))
			break
		}
		text := draw.Clean(l.Code)
		if s != replay.OneCall && l.Call > 0 {
			text = display.Join(text, draw.Format(" call %d", l.Call))
		}
		add(screen.LossRoles[l.Severity], lossSigns[l.Severity], display.Join(text, display.Lit("  "), draw.Clean(l.Message)))
	}
	if len(notes) == 0 {
		add(screen.Muted, "", display.Lit("nothing is lost"))
	}
	return notes
}

// DrawLossNotes draws row y of the notes in room rows. If there are more notes, the last row says how many
// and where to see them.
func DrawLossNotes(p *screen.Pen, notes []LossNote, y, room int, where display.Text) {
	switch {
	case y >= len(notes) || y >= room:
	case y == room-1 && len(notes) > room:
		p.Text(screen.Muted, p.Format("   +%s%s", screen.Plural(len(notes)-y, "line"), where))
	default:
		p.TextOn(notes[y].Role, screen.Bare, notes[y].Text)
	}
}
