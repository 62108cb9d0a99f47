package modes

import (
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// legendSign is a sign of the screen and its meaning.
type legendSign struct {
	role screen.Role
	sign display.Text
	word display.Text
}

// legendParts returns the signs of the screen, in Unicode or ASCII, one part per kind.
func legendParts(g *screen.Glyphs) []legendPart {
	calls := legendPart{title: display.Lit("Call states; a turn: its first bad call")}
	for st := range stream.Status(stream.NumStatus) {
		calls.of = append(calls.of, legendSign{screen.StatusRoles[st], g.Status[st], display.Clean(st.String())})
	}
	found := legendPart{title: display.Lit("A finding")}
	for of := len(g.Severity) - 1; of >= 0; of-- {
		found.of = append(found.of, legendSign{screen.SeverityRoles[of], g.Severity[of], display.Clean(stream.Severity(of).String())})
	}
	side := legendPart{title: display.Lit("Comparison signs")}
	for i, word := range [screen.NumSides]display.Text{
		display.Lit("the same"), display.Lit("the same meaning"), display.Lit("differs"), display.Lit("absent, or unknown"), display.Lit("nothing sent"),
	} {
		side.of = append(side.of, legendSign{screen.SideRoles[i], g.Side[i], word})
	}
	text := legendPart{title: display.Lit("A text"), of: []legendSign{
		{screen.Live, g.Cursor, display.Lit("may grow")}, {screen.Bad, g.Status[stream.CutShort], display.Lit("cut here")},
		{screen.Bad, g.Status[stream.Aborted], display.Lit("aborted here")},
		{screen.Muted, g.Ghost.Between("", "}"), display.Lit("missing closer")}, {screen.Muted, g.Wraps, display.Lit("row continues")},
		{screen.Muted, g.Fold, display.Lit("folded")}, {screen.Muted, g.Delta, display.Lit("start of a delta")},
	}}
	place := legendPart{title: display.Lit("A place"), of: []legendSign{
		{screen.Accent, g.Mark, display.Lit("the cursor")}, {screen.Muted, g.Change.Between("", "14"), display.Lit("delta of the call")},
		{screen.Muted, display.Lit("#21"), display.Lit("frame")}, {screen.Accent, display.Lit("[TAB]"), display.Lit("open tab")},
	}}
	line := legendPart{title: display.Lit("Timeline (a state is drawn where it begins)")}
	for _, s := range panes.TimeSigns(g) {
		if s.Sign == g.Usable {
			s.Word = display.Lit("actionable: has all required keys")
		}
		line.of = append(line.of, legendSign{screen.Muted, s.Sign, s.Word})
	}
	figure := legendPart{title: display.Lit("A figure"), of: []legendSign{
		{screen.Muted, display.Lit("~$"), display.Lit("approximate or unfinished")}, {screen.Muted, display.Lit("byte 0"), display.Lit("the first")},
		{screen.Muted, display.Lit("+1"), display.Lit("one more finding")},
	}}
	return []legendPart{calls, found, side, text, line, place, figure}
}

// legendPart is a title and the signs of one kind.
type legendPart struct {
	title display.Text
	of    []legendSign
}

const legendGap = 3 // cells between two meanings

// wrapSigns arranges the signs in rows of the given width.
func (l legendPart) wrapSigns(cells int) (rows [][]legendSign) {
	left := 0
	for _, m := range l.of {
		if width := m.width(); len(rows) == 0 || width > left {
			rows, left = append(rows, []legendSign{m}), cells-width
		} else {
			rows[len(rows)-1] = append(rows[len(rows)-1], m)
			left -= width
		}
	}
	return rows
}

func (m legendSign) width() int { return m.sign.Width() + 1 + m.word.Width() + legendGap }

func (m legendSign) draw(p *screen.Pen) {
	p.Text(m.role, m.sign)
	p.Text(screen.Plain, m.word.Between(" ", ""))
	p.Spaces(screen.Bare, legendGap)
}
