package panes

import (
	"slices"
	"sort"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/screen"
)

// folds are the folded objects and arrays, of which only the opening row is shown. They are identified by
// the number of their first token, so they stay folded when the layout changes. A container that still
// grows is shown until it has closed.
type folds struct {
	tokens   []int32 // ascending
	cuts     []layout.RowEdit
	resolved bool // cuts contains all of them and is unchanged
	rewrites int  // rewrites of the call when the folds were set
}

func (d *Document) jsonBoxes() []layout.Box {
	if d.json == nil {
		return nil
	}
	return d.json.Boxes()
}

// boxFrom returns the first object or array that opens on a row or after it.
func (d *Document) boxFrom(row int) int {
	return sort.Search(len(d.jsonBoxes()), func(i int) bool { return int(d.jsonBoxes()[i].Row) >= row })
}

// canFold reports whether there is anything to hide.
func canFold(b layout.Box) bool { return b.End > b.Row }

// cutFolds returns the row edits of the folds. They stay valid while the text grows.
func (d *Document) cutFolds() []layout.RowEdit {
	if d.folds.resolved {
		return d.folds.cuts
	}
	d.folds.resolved, d.folds.cuts = true, d.folds.cuts[:0]
	boxes := d.jsonBoxes()
	for _, token := range d.folds.tokens {
		i := sort.Search(len(boxes), func(i int) bool { return boxes[i].Token >= token })
		if i == len(boxes) || boxes[i].Token != token || !canFold(boxes[i]) {
			d.folds.resolved = false
			continue
		}
		b := boxes[i]
		d.folds.cuts = append(d.folds.cuts, layout.RowEdit{Row: int(b.Row), Hide: int(b.End - b.Row)})
	}
	return d.folds.cuts
}

// foldedBox returns the folded container on a row, or nil.
func (d *Document) foldedBox(row int) *layout.Box {
	if len(d.folds.tokens) == 0 {
		return nil
	}
	i := d.boxFrom(row)
	if i == len(d.jsonBoxes()) {
		return nil
	}
	b := &d.jsonBoxes()[i]
	if _, ok := slices.BinarySearch(d.folds.tokens, b.Token); !ok || int(b.Row) != row || !canFold(*b) {
		return nil
	}
	return b
}

// hidingBox returns the folded container that hides a row, or nil.
func (d *Document) hidingBox(row int) *layout.Box {
	if h := d.view.Hidden(row); h >= 0 {
		return d.foldedBox(h)
	}
	return nil
}

// setFolds sets the folded tokens, and keeps the cursor where it is.
func (d *Document) setFolds(tokens []int32, cursor int) {
	d.folds.tokens, d.folds.resolved, d.noted = tokens, false, notesKey{}
	d.refreshRows()
	d.MoveRow(d.view.Place(cursor))
}

// setFolded folds or unfolds a container.
func (d *Document) setFolded(b layout.Box, fold bool, cursor int) {
	i, had := slices.BinarySearch(d.folds.tokens, b.Token)
	switch {
	case fold && !had:
		d.setFolds(slices.Insert(d.folds.tokens, i, b.Token), cursor)
	case !fold && had:
		d.setFolds(slices.Delete(d.folds.tokens, i, i+1), cursor)
	}
}

// revealRow unfolds the container that hides a row.
func (d *Document) revealRow(row int) {
	for box := d.hidingBox(row); box != nil; box = d.hidingBox(row) {
		d.setFolded(*box, false, row)
	}
}

// Fold folds the container that begins on the cursor's row, or else the container around the cursor. If it
// can't, it returns the reason.
func (d *Document) Fold() (why display.Text) {
	row := d.cursorRow()
	if row < 0 {
		return display.Lit("nothing to fold here")
	}
	i, boxes := d.boxFrom(row), d.jsonBoxes()
	if i == len(boxes) || int(boxes[i].Row) != row || boxes[i].End == boxes[i].Row || d.foldedBox(row) != nil {
		parent := d.layoutRows()[row].Parent
		if parent < 0 || d.layoutRows()[parent].Parent < 0 && d.layoutRows()[row].Index != layout.Closer {
			return display.Lit("nothing to fold here")
		}
		i = d.boxFrom(int(parent))
	}
	if !canFold(boxes[i]) {
		return display.Lit("can't fold it while it grows")
	}
	d.setFolded(boxes[i], true, int(boxes[i].Row))
	return display.Text{}
}

// Unfold unfolds the container on the cursor's row. If it can't, it returns the reason.
func (d *Document) Unfold() (why display.Text) {
	row := d.cursorRow()
	if row < 0 || d.foldedBox(row) == nil {
		return display.Lit("nothing folded here")
	}
	d.setFolded(*d.foldedBox(row), false, row)
	return display.Text{}
}

// FoldAll unfolds everything. If nothing is folded, it folds all containers in the outermost one, except
// the one with the cursor. If it can't, it returns the reason.
func (d *Document) FoldAll() (why display.Text) {
	row := d.cursorRow()
	if row < 0 {
		return display.Lit("nothing to fold here")
	}
	if len(d.folds.tokens) > 0 {
		d.setFolds(nil, row)
		return display.Text{}
	}
	var tokens []int32
	boxes := d.jsonBoxes()
	for i := 0; i < len(boxes); {
		b := boxes[i]
		if d.layoutRows()[b.Row].Parent < 0 {
			i++
			continue
		}
		if canFold(b) && !(int(b.Row) < row && row <= int(b.End)) {
			tokens = append(tokens, b.Token)
		}
		if b.End < 0 {
			break // only the last one grows
		}
		i = d.boxFrom(max(int(b.End), int(b.Row)) + 1)
	}
	if len(tokens) == 0 {
		return display.Lit("nothing to fold here")
	}
	d.setFolds(tokens, row)
	return display.Text{}
}

// cursorRow returns the layout row of the cursor, or -1.
func (d *Document) cursorRow() int {
	row, _ := d.rowAtPlace(d.At)
	if d.json == nil {
		return -1
	}
	return row
}

// glyphSet returns the signs of the drawer, Unicode or ASCII.
func (d *Document) glyphSet() *screen.Glyphs {
	if d.drawer.ASCII {
		return screen.ASCIIGlyphs
	}
	return screen.UnicodeGlyphs
}

// foldText returns the text shown for a folded container.
func (d *Document) foldText(b layout.Box) display.Text {
	toks, thing, g := d.callTokens(), "item", d.glyphSet()
	if toks.At(int(b.Token)).Kind == stream.ObjectOpen {
		thing = "key"
	}
	size := screen.Bytes(int(toks.At(int(b.Last)).End) - toks.Start(int(b.Token)))
	return display.Join(display.Lit(" "), g.Fold, display.Lit(" "), screen.Plural(int(b.Count), thing), display.Lit(", "), size, display.Lit(" "))
}
