package ui

import (
	"fmt"

	"toolscope/ui/screen"
)

// Await is what a live source waits for: clients that have to be sent to it.
type Await struct {
	URL  string      // where it listens
	Ways [][2]string // how a client is sent there: a variable of its environment, and what its value has behind URL
	More string      // a line for those that have no such variable; may be empty
}

// awaitLines say how to have something arrive. Where a variable with its whole value is too wide,
// the URL stands once, above.
func (m *Model) awaitLines() []line {
	a, widest, names := m.opt.Await, 0, 0
	for _, way := range a.Ways {
		widest = max(widest, len("  =")+len(way[0])+len(a.URL)+len(way[1]))
		names = max(names, len(way[0]))
	}
	url := m.pen.Name(a.URL).String()
	lines := []line{{text: "Waiting for requests at " + url, role: screen.Accent}}
	whole := max(widest, len(lines[0].text)) < m.w
	if !whole {
		lines[0].text = "Waiting at " + url
	}
	for _, way := range a.Ways {
		text := fmt.Sprintf("%-*s  ...%s", names, m.pen.Name(way[0]), m.pen.Name(way[1]))
		if whole {
			text = fmt.Sprintf("  %s=%s%s", m.pen.Name(way[0]), url, m.pen.Name(way[1]))
		}
		lines = append(lines, line{text: text})
	}
	if a.More != "" && whole {
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
