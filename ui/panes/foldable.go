package panes

import (
	"slices"
	"sort"

	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/screen"
)

// foldableDocument is a complete document with folds. It is laid out once. Folded rows are skipped when it is
// drawn. A row can be folded if it opens a container or has a long value.
type foldableDocument struct {
	block
	end   []int32 // for each row: the last row that folding it hides, or the row itself
	count []int32 // for each row that opens a container: the number of its fields or elements
	shut  []bool  // for each row: whether it is folded
	cuts  []layout.RowEdit
	view  layout.FoldedRows // the rows that are not hidden
}

// foldsFrom is the minimum number of wrapped rows of a long value that can be folded.
const foldsFrom = 4

// newFolded lays out a document. This can be slow, so it can run in the background.
func newFolded(text []byte, width int, draw display.Drawer) *foldableDocument {
	f := &foldableDocument{block: NewBlock(display.Text{}, text, !isDocument(text), nil, width, draw)}
	f.end, f.count, f.shut = make([]int32, len(f.rows)), make([]int32, len(f.rows)), make([]bool, len(f.rows))
	for i := range f.rows {
		f.end[i] = int32(i)
	}
	head := int32(0) // the first row of the current value
	for i, r := range f.rows {
		switch {
		case r.Wrapped:
			if f.end[head] < int32(i) && int32(i) >= head+foldsFrom {
				f.end[head] = int32(i)
			}
			continue
		case r.Parent >= 0 && r.Index == layout.Closer:
			f.end[r.Parent] = int32(i)
		case r.Parent >= 0:
			f.count[r.Parent]++
		}
		head = int32(i)
	}
	for i, r := range f.rows { // a long value ends at the end of its last row
		if !r.Wrapped && f.end[i] > int32(i) && f.count[i] == 0 {
			for int(f.end[i])+1 < len(f.rows) && f.rows[f.end[i]+1].Wrapped {
				f.end[i]++
			}
		}
	}
	return f
}

// opensContainer reports whether a row opens a container.
func (f *foldableDocument) opensContainer(row int32) bool { return f.count[row] > 0 }

// updateView computes which rows are shown.
func (f *foldableDocument) updateView() {
	f.cuts = f.cuts[:0]
	for i, shut := range f.shut {
		if shut {
			f.cuts = append(f.cuts, layout.RowEdit{Row: i, Hide: int(f.end[i]) - i})
		}
	}
	f.view.Set(f.cuts)
}

// shownCount returns the number of rows that are shown.
func (f *foldableDocument) shownCount() int { return f.view.Len(len(f.rows)) }

// rowAtPlace returns the row at a place.
func (f *foldableDocument) rowAtPlace(place int) int32 {
	row, _ := f.view.At(place)
	return int32(row)
}

// setFolded folds or unfolds a row. It reports whether that changed anything.
func (f *foldableDocument) setFolded(row int32, shut bool) bool {
	if f.end[row] == row || f.shut[row] == shut {
		return false
	}
	f.shut[row] = shut
	f.updateView()
	return true
}

// foldAll folds all rows that can be folded, except the outermost container, or unfolds all rows.
func (f *foldableDocument) foldAll(shut bool) {
	for i := range f.end {
		f.shut[i] = shut && f.end[i] > int32(i) && f.rows[i].Parent >= 0
	}
	f.updateView()
}

// unfoldRow unfolds a row and its parents. If deep is set, it also unfolds all rows inside it. The caller
// must update the view.
func (f *foldableDocument) unfoldRow(row int32, deep bool) {
	if deep {
		clear(f.shut[row : f.end[row]+1])
	}
	for ; row >= 0; row = f.rows[row].Parent {
		f.shut[row] = false
	}
}

// rowAt returns the row that shows a byte, or else the last row before that byte.
func (f *foldableDocument) rowAt(off int) int32 {
	n := sort.Search(len(f.rows), func(i int) bool { return int(f.rows[i].Start) > off })
	return int32(max(0, n-1))
}

// memberKey returns the key of the field that begins in a row, or "".
func (f *foldableDocument) memberKey(row int32) string {
	n := int(f.rows[row].Token)
	if n < 0 || n >= f.toks.Len() || f.toks.At(n).Kind != json.Key || f.rows[row].Wrapped {
		return ""
	}
	s := TokenSpan(f.toks, n)
	s.End = min(s.End, s.Start+screen.MaxNameBytes)
	return Unquoted(f.text, s)
}

// memberString returns the string value of the field that begins in a row, or "".
func (f *foldableDocument) memberString(row int32) string {
	for n := int(f.rows[row].Token) + 1; n < f.toks.Len(); n++ {
		switch f.toks.At(n).Kind {
		case json.Space, json.Colon:
			continue
		case json.String:
			s := TokenSpan(f.toks, n)
			s.End = min(s.End, s.Start+screen.MaxNameBytes)
			return Unquoted(f.text, s)
		}
		break
	}
	return ""
}

// containerName returns a name that identifies a container: the role of a message, the name of a tool, or
// a type.
func (f *foldableDocument) containerName(row int32) (kind string) {
	for i := row + 1; i < min(f.end[row], row+maxRowsForName); i++ {
		switch f.memberKey(i) {
		case "role", "name":
			if said := f.memberString(i); said != "" {
				return said
			}
		case "type":
			if kind == "" && f.rows[i].Parent == row {
				kind = f.memberString(i)
			}
		}
	}
	return kind
}

// maxRowsForName limits how many rows of a container are searched for its name.
const maxRowsForName = 32

// draw draws a row and, if it is folded, the size of the fold.
func (f *foldableDocument) draw(p *screen.Pen, row int32, hit func(row int32) bool) {
	r := f.rows[row]
	g := screen.Bare
	if hit(row) {
		p.TextOn(screen.Accent, screen.Match, p.Glyph.Mark)
	} else {
		p.Spaces(g, 1)
	}
	if !f.shut[row] {
		f.block.draw(p, r, g)
		return
	}
	last := f.rows[f.end[row]]
	size := int(last.End) - int(r.Start)
	if !f.opensContainer(row) {
		note := display.Join(display.Lit(" "), p.Glyph.Fold, screen.Bytes(size).Between(" ", ""))
		p.Left = max(0, p.Left-note.Width())
		f.block.draw(p, r, g)
		p.Left += note.Width()
		p.TextOn(screen.Muted, g, note)
		return
	}
	f.block.draw(p, r, g)
	p.TextOn(screen.Muted, g, display.Join(display.Lit(" "), p.Glyph.Fold, display.Lit(" ")))
	if name := f.containerName(row); name != "" {
		p.TextOn(screen.StringToken, g, p.Truncate(p.Name(name), 32).Between("", ", "))
	}
	p.TextOn(screen.Muted, g, display.Join(screen.Plural(int(f.count[row]), "item"), screen.Bytes(size).Between(", ", " ")))
	last.Indent = 0
	f.block.draw(p, last, g)
}

// messageKeys are the fields of a request that contain the history. toolKeys are the fields that contain
// tools.
var (
	messageKeys = []string{"messages", "input", "contents"}
	toolKeys    = []string{"tools", "toolConfig", "functions"}
)

// memberRow returns the row of the first top-level field with one of these keys, or -1.
func (f *foldableDocument) memberRow(keys []string) int32 {
	for i := 1; i < len(f.rows); i = int(f.end[i]) + 1 {
		if f.rows[i].Parent == 0 && slices.Contains(keys, f.memberKey(int32(i))) {
			return int32(i)
		}
	}
	return -1
}

// countElements returns the number of elements in the first top-level field with one of these keys. If an
// element has a functionDeclarations list, the elements of that list are counted instead.
func (f *foldableDocument) countElements(keys []string) (n int) {
	row := f.memberRow(keys)
	if row < 0 {
		return 0
	}
	for i := row + 1; i < f.end[row]; i++ {
		r := f.rows[i]
		switch up := r.Parent; {
		case r.Wrapped || r.Index == layout.Closer || up < 0:
		case up == row && f.nestedList(i) >= 0:
			n += int(f.count[f.nestedList(i)])
		case up == row:
			n++
		}
	}
	return n
}

// nestedList returns the row of an element's functionDeclarations, or -1.
func (f *foldableDocument) nestedList(row int32) int32 {
	for i := row + 1; i < f.end[row]; i++ {
		if f.rows[i].Parent == row && f.memberKey(i) == "functionDeclarations" {
			return i
		}
	}
	return -1
}

// lastMessage returns the first row of the last message, or the row of the history if the history is empty.
// Without a history, it returns -1.
func (f *foldableDocument) lastMessage() int32 {
	row := f.memberRow(messageKeys)
	last := row
	for i := row + 1; row >= 0 && i < f.end[row]; i++ {
		if r := f.rows[i]; r.Parent == row && !r.Wrapped && r.Index != layout.Closer && f.opensContainer(row) {
			last = i
		}
	}
	return last
}

// toolRow returns the first row of the tool with the given name, or -1.
func (f *foldableDocument) toolRow(name string) int32 {
	top := f.memberRow(toolKeys)
	if top < 0 || name == "" {
		return -1
	}
	for i := top + 1; i < f.end[top]; i++ {
		if f.memberKey(i) == "name" && f.memberString(i) == name {
			return f.rows[i].Parent
		}
	}
	return -1
}
