package panes

import (
	"toolscope/providers"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// maxTimedDeltas is the maximum number of deltas of a growing call whose times are shown, because every
// silence between deltas must be read.
const maxTimedDeltas = 1000

// latencyLines returns the lines below the run rules about the times and silences of a call.
func latencyLines(s *Context, c Selection, w int) (lines []runRuleLine) {
	if c.Call.MayGrow() && c.Call.Deltas() > maxTimedDeltas {
		return nil
	}
	l := s.View.Latency(c.Turn, c.Call)
	var words []display.Text
	for _, m := range l.TimePoints() {
		if at := screen.Time(m.At); !at.Empty() {
			words = append(words, display.Format("%s %s", m.Name, at))
		}
	}
	if len(words) == 0 {
		return nil
	}
	add := func(role screen.Role, text display.Text) {
		for _, line := range display.Wrap(text, max(w-findingLeft, 8)) {
			lines = append(lines, runRuleLine{of: noRule, role: role, text: line.Between("   ", "")})
		}
	}
	from := sinceText(&l).Between("", ": ")
	if !l.RequestSeen {
		from = sinceText(&l).Between("", " (the request was not seen): ")
	}
	for i, word := range words {
		if i > 0 {
			from = display.Join(from, s.Pen.Glyph.Dot.Between(" ", " "))
		}
		from = display.Join(from, word)
	}
	add(screen.Muted, from)
	if l.Gap > 0 {
		role := screen.Muted
		text := display.Format("longest silence %s, before %s", screen.Time(l.Gap), deltaName(s.Pen.Drawer, l.GapAt))
		if l.Stalls > 0 {
			role = screen.Caution
			text = display.Join(text, display.Format("; %s of %s or more, %s in total", screen.Plural(l.Stalls, "stall"), screen.Time(providers.StallAfter), screen.Time(l.Stalled)))
		}
		add(role, text)
	}
	return lines
}

// sinceText says where the times of a call count from.
func sinceText(l *providers.Latency) display.Text {
	if l.RequestSeen {
		return display.Lit("since the request")
	}
	return display.Lit("since the response began")
}
