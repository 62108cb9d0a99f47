package ui

import (
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// captionRows returns the height of the caption below the panes: a line across if there is room, and the
// text.
func (m *Model) captionRows() int {
	switch {
	case m.h < tallCaption:
		return 1
	case m.w >= wideCaption && m.h < ruledCaption:
		return 2
	}
	return 3
}

// The minimum screen heights for a caption of several rows, and for a line above it. On a narrow screen
// each sentence takes one more row.
const (
	tallCaption  = 14
	ruledCaption = 20
	wideCaption  = 72
)

// drawCaption draws row y of the caption.
func (m *Model) drawCaption(p *screen.Pen, y int) {
	rows := m.captionRows()
	if rows == 3 && p.Left >= wideCaption {
		if y == 0 {
			p.Text(screen.Muted, display.Repeat(p.Glyph.Line, p.Left))
			return
		}
		y, rows = y-1, 2
	}
	place := m.sceneProgress().Between(" ", "  ")
	lines := m.captionLines(p.Left-place.Width()-1, rows)
	if y == 0 {
		p.Text(screen.Accent, place)
	} else {
		p.Spaces(screen.Bare, place.Width())
	}
	if y < len(lines) {
		p.Text(lines[y].Role, lines[y].Text)
	}
}

// sceneProgress returns the number of the shown or next scene.
func (m *Model) sceneProgress() display.Text {
	return display.Join(screen.Count(m.sceneNumber()), display.Lit("/"), screen.Count(len(tourScenes)))
}

func (m *Model) sceneNumber() int {
	if s := m.tour; s.shown {
		return s.at + 1
	}
	return min(m.tour.at+2, len(tourScenes))
}

// captionLines returns the caption in the given number of rows: complete if it fits, or else a short
// caption with or without the reason.
func (m *Model) captionLines(width, rows int) (lines []screen.StyledText) {
	if !m.tour.shown {
		c := &tourScenes[m.sceneNumber()-1]
		if a, ok := c.of.subjectIn(m.view); ok && a.call.MayGrow() && a.call.ArgsLen() > 0 {
			now := display.Join(m.pen.Name(a.call.Name), display.Lit(" streams: "), c.coming)
			if now.Width() > width {
				now = display.Join(display.Lit("now: "), c.coming)
			}
			return []screen.StyledText{{Role: screen.Live, Text: now}}
		}
		return []screen.StyledText{{Role: screen.Muted, Text: display.Join(display.Lit("next: "), c.coming)}}
	}
	a, ok := m.shownSubject()
	if !ok {
		return nil
	}
	c := tourScenes[m.tour.at].caption(a)
	ways := [][]screen.StyledText{
		{{Role: screen.Accent, Text: c.what}, {Role: screen.Plain, Text: c.why}},
		{{Role: screen.Accent, Text: c.short}, {Role: screen.Plain, Text: c.why}},
		{{Role: screen.Accent, Text: c.what}},
		{{Role: screen.Accent, Text: c.short}},
	}
	for _, way := range ways {
		lines = lines[:0]
		for _, part := range way {
			for _, line := range display.Wrap(part.Text, width) {
				lines = append(lines, screen.StyledText{Role: part.Role, Text: line})
			}
		}
		if len(lines) <= rows {
			break
		}
	}
	return lines
}

// shownSubject returns the subject of the shown scene, as it is now.
func (m *Model) shownSubject() (a sceneSubject, ok bool) {
	s := m.tour
	if a.view = m.view; s.at < 0 {
		return a, false
	}
	a.turn, a.call = m.view.Find(s.about[s.at])
	return a, a.call != nil
}

// drawOpening draws row y of the title screen before the demo plays.
func (m *Model) drawOpening(p *screen.Pen, y, height int) {
	width := min(p.Left-4, openingWidth)
	var lines []screen.StyledText
	for i, text := range []screen.StyledText{
		{Role: screen.Accent, Text: display.Lit("toolscope: LLM tool calls, while they stream")},
		{Role: screen.Plain, Text: display.Lit("A model calls a tool by writing JSON, a few bytes at a time. toolscope shows each call as it streams: its open parts, its cost, and the byte that breaks it.")},
		{Role: screen.Plain, Text: display.Lit("This demo is scripted: no network, no API key. Any key continues, esc lets you explore.")},
	} {
		if i > 0 && height >= tallOpening {
			lines = append(lines, screen.StyledText{})
		}
		for _, line := range display.Wrap(text.Text, width) {
			lines = append(lines, screen.StyledText{Role: text.Role, Text: line})
		}
	}
	if n := y - max(0, (height-len(lines))/3); n >= 0 && n < len(lines) {
		p.Spaces(screen.Bare, max(1, (p.Left-width)/2))
		p.Text(lines[n].Role, lines[n].Text)
	}
}

// The width of the title screen, and the height from which blank rows separate its parts.
const (
	openingWidth = 64
	tallOpening  = 12
)
