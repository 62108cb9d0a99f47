package ui

import (
	"fmt"

	"toolscope/ui/screen"
)

// Await is what a live source waits for: clients that have to be sent to it.
type Await struct {
	URL  string      // where it listens
	Ways [][2]string // clients, and the line that sends each there
	More string      // a line for all others; may be empty
}

// awaitLines say how to have something arrive: a line to paste for each client, as much of it as
// there is room for.
func (m *Model) awaitLines() []line {
	a, names := m.opt.Await, 0
	for _, way := range a.Ways {
		names = max(names, len(way[0]))
	}
	lines := []line{{text: "Waiting for requests at " + m.pen.Name(a.URL).String(), role: screen.Accent}}
	if m.w < 60 {
		names, lines[0].text = 0, "Waiting at "+m.pen.Name(a.URL).String()
	} else {
		lines = append(lines, line{text: "Paste one line where your agent runs:", role: screen.Muted})
	}
	for _, way := range a.Ways {
		text := m.pen.Name(way[1]).String()
		if names > 0 {
			text = fmt.Sprintf("%-*s  %s", names, m.pen.Name(way[0]), text)
		}
		lines = append(lines, line{text: text})
	}
	if a.More != "" && names > 0 {
		lines = append(lines, line{text: m.pen.Name(a.More).String(), role: screen.Muted}, line{})
	}
	for _, w := range m.words() {
		if w.Why != "" {
			lines = append(lines, line{text: m.pen.Name(w.Text + ": " + w.Why).String(), role: screen.Caution})
		}
	}
	return append(lines, line{text: "? help   q quit", role: screen.Muted})
}

// A Word is something to know about the source besides what it brings.
type Word struct {
	Text  string
	Why   string // for the screen that has nothing else to show; may be empty
	Alarm bool   // something is wrong
}

// drawStatus writes the words of the source, those that are alarms first, as many as there is room
// for.
func (m *Model) drawStatus(p *screen.Pen) {
	words := m.words()
	for _, alarm := range []bool{true, false} {
		for _, w := range words {
			text := m.pen.Name(w.Text).Between("  ", "")
			if w.Alarm != alarm || !alarm && text.Width() >= p.Left {
				continue
			}
			r := screen.Muted
			if alarm {
				r = screen.Bad
			}
			p.Put(r, screen.Bare, text)
		}
	}
}

func (m *Model) words() []Word {
	if m.opt.Status == nil {
		return nil
	}
	return m.opt.Status()
}
