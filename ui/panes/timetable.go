package panes

import (
	"time"

	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// timeTable formats rows of times with as many columns as fit. The first row has times, the others the
// differences from it.
type timeTable struct {
	p      *screen.Pen
	name   int // cells of the names
	shown  [numTimes]bool
	manner bool
}

// timeHeads are the titles of the columns, the same words as in providers.Latency. timeRanks say which
// column is dropped last if there is little room.
var (
	timeHeads = [numTimes]string{"headers", "first token", "named", "first byte", "actionable", "parses", "last byte", "sealed", "end", "silence"}
	timeRanks = [numTimes + 1]int{firstByteTime, 7, 4, numTimes, 5, 8, silence, 2, 1, 0, 6}
)

// Cells of the table.
const (
	minTimeCells = 9  // of a column, with the blanks before it
	mannerCells  = 11 // "in bursts"
	timesName    = 28
	timesShort   = 18 // if there is less room than wideTimes
	wideTimes    = 100
	timesGutter  = 2
	mannerTitle  = "arrives"
)

func newTimeTable(p *screen.Pen, w int) *timeTable {
	t := &timeTable{p: p, name: timesName}
	if w < wideTimes {
		t.name = timesShort
	}
	left := w - timesGutter - t.name - 1
	for _, of := range timeRanks {
		need := mannerCells
		if of < numTimes {
			need = columnCells(of)
		}
		if left -= need; left < 0 {
			break
		}
		if of == numTimes {
			t.manner = true
		} else {
			t.shown[of] = true
		}
	}
	return t
}

func columnCells(of int) int { return max(minTimeCells, len(timeHeads[of])+2) }

// titleText returns the row of titles.
func (t *timeTable) titleText() display.Text {
	title := display.Lit("how long it took")
	return t.joinCells(title, func(of int) display.Text { return display.Clean(timeHeads[of]) }, display.Lit(mannerTitle))
}

// rowText returns a row of the table. The first row, for which beside is nil, has times. Other rows have
// differences from it.
func (t *timeTable) rowText(r timesRow, beside *timesRow) display.Text {
	name := t.p.Clean(r.name)
	switch {
	case r.many > 0:
		name = t.p.Format("%s, %s", name, screen.Plural(r.many, "call"))
	case beside != nil && r.of.Turn != beside.of.Turn:
		name = t.p.Format("turn %d, %s", r.of.Turn+1, t.p.Clean(r.from))
	case name.Empty():
		name = t.p.Format("call %d", r.of.Call)
	}
	return t.joinCells(name, func(of int) display.Text {
		at := r.took[of]
		if beside == nil || beside.took[of] < 0 {
			return t.orUnknown(screen.Time(at))
		}
		return t.orUnknown(laterText(at, beside.took[of]))
	}, t.orUnknown(t.p.Clean(r.how.String())))
}

// orUnknown returns a text, or the sign for unknown.
func (t *timeTable) orUnknown(text display.Text) display.Text {
	if text.Empty() {
		return t.p.Glyph.None
	}
	return text
}

// laterText formats how much later or sooner a time is than another, to the millisecond; "" for no time.
func laterText(at, than time.Duration) display.Text {
	switch d := at - than; {
	case at < 0:
		return display.Text{}
	case d >= time.Millisecond:
		return screen.Time(d).Between("+", "")
	case d <= -time.Millisecond:
		return screen.Time(-d).Between("-", "")
	}
	return display.Lit("=")
}

// joinCells joins the cells of a row.
func (t *timeTable) joinCells(name display.Text, cell func(of int) display.Text, how display.Text) display.Text {
	row := display.Join(display.Lit("  "), t.p.Pad(t.p.Truncate(name, t.name), t.name))
	for of := range numTimes {
		if t.shown[of] {
			row = display.Join(row, alignRight(t.p, cell(of), columnCells(of)))
		}
	}
	if t.manner {
		row = display.Join(row, display.Lit("  "), how)
	}
	return row
}
