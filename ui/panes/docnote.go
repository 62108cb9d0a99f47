package panes

import (
	"cmp"
	"slices"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/screen"
)

// findingNote is what was found of what a row of the layout shows, or hides.
type findingNote struct {
	row    int
	worst  stream.Severity
	behind display.Text // behind what the row shows; empty where it stands below
	below  []belowRow   // rows under it, of which the first has the sign then
}

// belowRow is one of them.
type belowRow struct {
	indent int
	text   display.Text
}

// notesKey says what notes were made from: while it is the same they stand.
type notesKey struct {
	findings, size, rows, width, deltas int
	last                                layout.Row
	status                              stream.Status
	made, few                           bool
}

// findingSpot is a finding at its place.
type findingSpot struct {
	*stream.Finding
	off   int
	row   int // that shows it, or what hides it
	loud  bool
	delta int // that brought it, from 1; 0 if unknown
}

// fewRows is up to how many rows of a document that has much room there is none for a note below: what
// it says stands elsewhere then.
const fewRows = 4

// maxSpots is how many findings of a call are marked in it.
const maxSpots = 100

// minNote is how many cells a note has beside what it is about, at least.
const minNote = 12

// decisive are the diagnoses that make a call what its state says. They are never only beside.
var decisive = []*stream.Diagnosis{
	stream.ArgsCut, stream.ArgsBroken, stream.ArgsTrailing, stream.ArgsMissingBrace, stream.ArgsConcat, stream.ArgsPlaceholder,
	stream.ArgsFinalDup, stream.ArgsDouble, stream.ArgsNotObject, stream.FinishContradicts,
}

// updateNotes makes the notes, if something has changed of what they are about, and the view with them.
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

// mergeCuts is the cuts of what is folded, with room for the rows of notes.
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

// findingSpots are the findings that have a place in what is there now, by row, the worst first. Of a call
// of which bytes were not seen nobody knows what is wrong with the rest.
func (d *Document) findingSpots() (all []findingSpot) {
	c, size := d.Call, len(d.Call.Args())
	if len(d.layoutRows()) == 0 || c.Status() == stream.Unseen {
		return nil
	}
	since := int32(0) // of what was there before it was replaced
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

// makeNote is what is said of a row's findings, the worst first.
func (d *Document) makeNote(of []findingSpot) findingNote {
	s := of[0]
	n := findingNote{row: s.row, worst: s.Severity}
	if d.Text != nil {
		return n // as it came: nothing stands between
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

// deltaText is which brought it, "" if that is not known.
func (d *Document) deltaText(s findingSpot, after string) display.Text {
	if s.delta == 0 {
		return display.Text{}
	}
	return display.Join(d.glyphSet().Change, screen.Count(s.delta), d.drawer.Clean(after))
}

// loudTexts are ways to say what makes a call bad, where, and when, each shorter than the one before,
// and one that is brief.
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

// rowsBelow are the rows under the byte of a spot: the first way to say it that fits behind the sign under
// the byte, or before it; what is brief only where nothing else does. Or else all of it, below that.
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

// columnOf is the cell of a row that shows the byte of a spot.
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

// usedCells is how many cells of a row are not free.
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

// noteOf is the note of a row, nil without one.
func (d *Document) noteOf(row int) *findingNote {
	i, ok := slices.BinarySearchFunc(d.notes, row, func(n findingNote, row int) int { return n.row - row })
	if !ok {
		return nil
	}
	return &d.notes[i]
}
