package panes

import (
	"cmp"
	"slices"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/screen"
)

// findingNote is the note about the findings of a row, or of the rows that it hides.
type findingNote struct {
	row    int
	worst  stream.Severity
	behind display.Text // after the text of the row; empty if the note is below
	below  []belowRow   // rows under it; the first one has the sign
}

// belowRow is a row of a note below its row.
type belowRow struct {
	indent int
	text   display.Text
}

// notesKey identifies the inputs of the notes. While it is equal, the notes are valid.
type notesKey struct {
	findings, size, rows, width, deltas int
	last                                layout.Row
	status                              stream.Status
	made, few                           bool
}

// findingSpot is a finding and its place.
type findingSpot struct {
	*stream.Finding
	off   int
	row   int // the row that shows or hides it
	loud  bool
	delta int // the delta that brought it, from 1; 0 if unknown
}

// fewRows is the document height up to which there are no notes below rows, because the findings are shown
// elsewhere.
const fewRows = 4

// maxSpots is the maximum number of findings that are marked in a call.
const maxSpots = 100

// minNote is the minimum width of a note after its row.
const minNote = 12

// decisive are the diagnoses that decide the state of a call. Their notes also have rows below.
var decisive = []*stream.Diagnosis{
	stream.ArgsCut, stream.ArgsBroken, stream.ArgsTrailing, stream.ArgsMissingBrace, stream.ArgsConcat, stream.ArgsPlaceholder,
	stream.ArgsFinalDup, stream.ArgsDouble, stream.ArgsNotObject, stream.FinishContradicts,
}

// updateNotes rebuilds the notes and the view, if their inputs changed.
func (d *Document) updateNotes() {
	c, rows := d.Call, d.layoutRows()
	key := notesKey{len(c.Findings), len(c.Args()), len(rows), d.layoutWidth(), c.Deltas(), layout.Row{}, c.Status(), true, d.Spaced && d.Height < fewRows}
	if len(rows) > 0 {
		key.last = rows[len(rows)-1]
	}
	if key == d.noted && d.folds.resolved {
		return
	}
	d.noted = key
	cuts := d.cutFolds()
	d.view.Set(cuts)
	d.notes = d.notes[:0]
	spots := d.findingSpots()
	for len(spots) > 0 {
		n := 1
		for n < len(spots) && spots[n].row == spots[0].row {
			n++
		}
		d.notes = append(d.notes, d.makeNote(spots[:n]))
		spots = spots[n:]
	}
	if len(d.notes) > 0 {
		cuts = mergeCuts(cuts, d.notes)
		d.view.Set(cuts)
	}
	if d.Spaced && d.json != nil && len(rows) <= maxSpacedRows {
		d.view.Set(d.addBlankRows(cuts))
	}
}

// mergeCuts adds the rows of notes to the row edits of folds.
func mergeCuts(cuts []layout.RowEdit, notes []findingNote) (all []layout.RowEdit) {
	for _, n := range notes {
		for len(cuts) > 0 && cuts[0].Row < n.row {
			all, cuts = append(all, cuts[0]), cuts[1:]
		}
		cut := layout.RowEdit{Row: n.row, Add: len(n.below)}
		if len(cuts) > 0 && cuts[0].Row == n.row {
			cut.Hide, cuts = cuts[0].Hide, cuts[1:]
		}
		all = append(all, cut)
	}
	return append(all, cuts...)
}

// findingSpots returns the findings with a place in the current text, by row, the worst first. If
// toolscope missed bytes of a call, faults in the rest are unknown.
func (d *Document) findingSpots() (all []findingSpot) {
	c, size := d.Call, len(d.Call.Args())
	if len(d.layoutRows()) == 0 || c.Status() == stream.Unseen {
		return nil
	}
	since := int32(0) // findings before a rewrite are dropped
	if c.Rewrites > 0 {
		if n := c.DeltaAt(0); n < c.Deltas() {
			since = c.DeltaEvent(n)
		}
	}
	for i := range c.Findings[:min(len(c.Findings), maxSpots)] {
		f := &c.Findings[i]
		s := findingSpot{Finding: f, off: f.Offset, loud: slices.Contains(decisive, f.Diagnosis)}
		if f.Diagnosis == stream.FinishContradicts {
			s.off = size
		}
		if s.off < 0 || s.off > size || int32(f.Event) < since || s.loud && d.Text != nil {
			continue
		}
		s.row = d.rowAt(s.off)
		if h := d.view.Hidden(s.row); h >= 0 {
			s.row = h
		}
		if s.delta = c.DeltaOf(int32(f.Event)) + 1; s.delta == 0 && c.Deltas() > 0 {
			s.delta = min(c.DeltaAt(min(s.off, max(0, size-1))), c.Deltas()-1) + 1
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b findingSpot) int {
		return cmp.Or(a.row-b.row, int(b.Severity)-int(a.Severity), boolOrder(b.loud)-boolOrder(a.loud), a.off-b.off)
	})
	return all
}

func boolOrder(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// makeNote returns the note for a row's findings, the worst first.
func (d *Document) makeNote(of []findingSpot) findingNote {
	s := of[0]
	n := findingNote{row: s.row, worst: s.Severity}
	if d.Text != nil {
		return n // raw text has no notes below
	}
	more := display.Text{}
	if len(of) > 1 {
		more = screen.Count(len(of)-1).Between("  +", "")
	}
	if d.noted.few && s.loud {
		return n
	}
	if s.loud {
		ways, brief := d.loudTexts(s, more)
		n.below = d.rowsBelow(s, ways, brief)
		return n
	}
	short := display.Join(d.deltaText(s, " "), d.drawer.Clean(s.Brief()))
	room := d.layoutWidth() - d.usedCells(s.row) - 2 - more.Width()
	if room >= minNote || short.Width() <= room {
		if brief := display.Join(d.deltaText(s, " "), d.drawer.Clean(s.Diagnosis.Brief())); short.Width() > room && brief.Width() <= room {
			short = brief
		}
		n.behind = display.Join(d.drawer.Truncate(short, room), more)
		return n
	}
	if !d.noted.few {
		n.below = d.rowsBelow(s, []display.Text{display.Join(short, more)}, nil)
	}
	return n
}

// deltaText returns the delta that brought a finding, or "".
func (d *Document) deltaText(s findingSpot, after string) display.Text {
	if s.delta == 0 {
		return display.Text{}
	}
	return display.Join(d.glyphSet().Change, screen.Count(s.delta), d.drawer.Clean(after))
}

// loudTexts returns two lists of wordings for a decisive finding, each shorter than the previous: with
// place and time, and brief ones.
func (d *Document) loudTexts(s findingSpot, more display.Text) (ways, brief []display.Text) {
	at := screen.Count(s.off).Between(": byte ", "")
	if s.delta > 0 {
		at = display.Join(at, display.Lit(", "), d.deltaText(s, ""))
	}
	when := display.Text{}
	if d.When != nil {
		if when = d.When(int32(s.Event)); !when.Empty() {
			when = when.Between(", +", "")
		}
	}
	short := d.drawer.Clean(s.Brief())
	ways = []display.Text{display.Join(short, at, when, more), display.Join(short, at, more)}
	return ways, []display.Text{display.Join(d.drawer.Clean(s.Diagnosis.Brief()), at, more)}
}

// rowsBelow returns the rows under the byte of a spot. It uses the first wording that fits after or before
// the sign under the byte, and a brief one only if no other fits. If none fits, the full text follows
// below.
func (d *Document) rowsBelow(s findingSpot, ways, brief []display.Text) []belowRow {
	width := d.layoutWidth()
	col := min(d.columnOf(s), width-1)
	for _, ways := range [][]display.Text{ways, brief} {
		for _, way := range ways {
			if col+2+way.Width() <= width+1 {
				return []belowRow{{col, way.Between("^ ", "")}}
			}
		}
		for _, way := range ways {
			if left := col - 1 - way.Width(); left >= 0 {
				return []belowRow{{left, way.Between("", " ^")}}
			}
		}
	}
	rows := []belowRow{{col, display.Lit("^")}}
	for _, line := range display.Wrap(ways[0], width) {
		rows = append(rows, belowRow{max(0, min(col, width-line.Width())), line})
	}
	return rows
}

// columnOf returns the cell of the byte of a spot in its row.
func (d *Document) columnOf(s findingSpot) int {
	r := d.layoutRows()[s.row]
	if s.off < int(r.End) || s.off > d.settledLen() {
		return int(r.Indent) + d.cellsBefore(r, s.off)
	}
	if d.foldedBox(s.row) != nil { // it hides the byte
		return int(r.Indent) + d.cellsBefore(r, int(r.End))
	}
	return int(r.Indent) + d.cellsBefore(r, int(r.End)) + d.drawer.CleanBytes(d.Call.Args()[d.settledLen():]).Width()
}

// usedCells returns how many cells of a row are taken.
func (d *Document) usedCells(row int) int {
	r := d.layoutRows()[row]
	cells := int(r.Indent) + d.cellsBefore(r, int(r.End))
	if b := d.foldedBox(row); b != nil {
		row = int(b.End)
		closer := d.layoutRows()[row]
		cells += d.foldText(*b).Width() + d.cellsBefore(closer, int(closer.End))
	}
	if row == len(d.layoutRows())-1 {
		cells += d.drawer.CleanBytes(d.Call.Args()[d.settledLen():]).Width() + d.endSign().Width()
	}
	return cells
}

// noteOf returns the note of a row, or nil.
func (d *Document) noteOf(row int) *findingNote {
	i, ok := slices.BinarySearchFunc(d.notes, row, func(n findingNote, row int) int { return n.row - row })
	if !ok {
		return nil
	}
	return &d.notes[i]
}
