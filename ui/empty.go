package ui

import (
	"fmt"

	"toolscope/ui/screen"
)

// drawEmpty draws row y of the empty screen: what toolscope is, what it waits for, and commands to try.
func (m *Model) drawEmpty(p *screen.Pen, y, height int) {
	lines := m.emptyLines()
	widest := emptyWidth
	top := max(0, (height-len(lines))/3)
	if n := y - top; n >= 0 && n < len(lines) {
		left := max(1, (m.w-widest)/2)
		p.Spaces(screen.Bare, left)
		p.Text(lines[n].role, p.Clean(lines[n].text))
	}
}

const emptyWidth = 62 // width of the widest line

func (m *Model) emptyLines() []line {
	lines := []line{
		{text: "LLM tool calls, while they stream", role: screen.Accent},
		{},
	}
	source := m.draw.Truncate(m.pen.Name(m.opt.Source), 28).String()
	switch others := int(m.in.Others.Count); {
	case others > 0:
		text := screen.Plural(others, "line").String() + " of " + source + ", none from a model"
		if !m.ended {
			text += " yet"
		}
		lines = append(lines, line{text: text, role: screen.Caution})
	case m.ended:
		lines = append(lines, line{text: "The source ended without any data.", role: screen.Caution})
	case m.opt.Inbox != nil:
		lines = append(lines, line{text: "Waiting for the first bytes of " + source, role: screen.Plain})
	}
	for _, f := range lastOf(m.in.Session().Findings, maxNotes) { // of the source itself
		lines = append(lines, line{text: f.Message, role: screen.Caution})
	}
	for _, way := range [][2]string{
		{"toolscope agent.sse", "a body saved by curl -N"},
		{"toolscope -f proxy.log", "a growing file"},
		{"curl -N ... | toolscope", "a stream, live"},
		{"toolscope demo", "see it at work"},
	} {
		text := "  " + way[0]
		if m.w >= emptyWidth {
			text = fmt.Sprintf("  %-32s %s", way[0], way[1])
		}
		lines = append(lines, line{text: text})
	}
	lines = append(lines, line{})
	last := "? help   q quit"
	if m.canDemo() {
		last = "d plays the demo   " + last
	}
	return append(lines, line{text: last, role: screen.Muted})
}

// maxNotes is the maximum number of notes about the source on the empty screen. It shows the latest.
const maxNotes = 3

func lastOf[T any](list []T, most int) []T { return list[max(0, len(list)-most):] }

// line is a line of the empty screen.
type line struct {
	text string
	role screen.Role
}
