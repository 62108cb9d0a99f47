package panes

import (
	"toolscope/stream"
	"toolscope/ui/layout"
)

// maxSpacedRows is the maximum number of rows with blank rows between fields. A longer text is not meant
// to be read from a distance.
const maxSpacedRows = 512

// addBlankRows adds a blank row to cuts before each row that begins another field.
func (d *Document) addBlankRows(cuts []layout.RowEdit) (all []layout.RowEdit) {
	rows := len(d.layoutRows())
	for row := 0; row < rows; row++ {
		cut := layout.RowEdit{Row: row}
		if len(cuts) > 0 && cuts[0].Row == row {
			cut, cuts = cuts[0], cuts[1:]
		}
		if next := row + cut.Hide + 1; next < rows && d.beginsMember(next) {
			cut.Add++
		}
		if cut.Add+cut.Hide > 0 {
			all = append(all, cut)
		}
		row += cut.Hide
	}
	return all
}

// beginsMember reports whether a row begins a field or element other than the first.
func (d *Document) beginsMember(row int) bool {
	r, toks := d.layoutRows()[row], d.callTokens()
	if r.Wrapped {
		return false
	}
	n := int(r.Token) - 1
	for n >= 0 && toks.At(n).Kind == stream.Space {
		n--
	}
	return n >= 0 && toks.At(n).Kind == stream.Comma
}
