package panes

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/screen"
)

// folds are the folded objects and arrays. Only the opening row of each is shown. Each is identified by the number of
// its first token, so it stays folded when the layout changes. A container that is still growing is shown until it
// has closed.
type folds struct {
	tokens   []int32 // ascending
	cuts     []layout.RowEdit
	resolved bool // cuts contains all folds and is up to date
	rewrites int  // rewrites of the call when the folds were set
}

func (d *Document) jsonBoxes() []layout.Box {
	if d.json == nil {
		return nil
	}
	return d.json.Boxes()
}

// boxFrom returns the index of the first object or array that opens on a row or after it, or the total number if
// there is none.
func (d *Document) boxFrom(row int) int {
	return sort.Search(len(d.jsonBoxes()), func(i int) bool { return int(d.jsonBoxes()[i].Row) >= row })
}

// canFold reports whether a container has closed on a later row than the one on which it opened.
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

// setFolds sets the folded tokens, and keeps the cursor on its row.
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

// Fold folds the container that begins on the cursor's row, or else the container around the cursor. If neither can
// be folded, it returns the reason.
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
		return display.Lit("can't fold this while it grows")
	}
	d.setFolded(boxes[i], true, int(boxes[i].Row))
	return display.Text{}
}

// Unfold unfolds the container on the cursor's row. If nothing can be unfolded, it returns the reason.
func (d *Document) Unfold() (why display.Text) {
	row := d.cursorRow()
	if row < 0 || d.foldedBox(row) == nil {
		return display.Lit("nothing is folded here")
	}
	d.setFolded(*d.foldedBox(row), false, row)
	return display.Text{}
}

// FoldAll unfolds everything. If nothing is folded, it folds the containers directly inside the outermost one, except
// the one with the cursor. If that is not possible, it returns the reason.
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
			break // only the last container can be growing
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

// foldText returns the text that is shown for a folded container.
func (d *Document) foldText(b layout.Box) display.Text {
	toks, thing, g := d.callTokens(), "item", d.glyphSet()
	if toks.At(int(b.Token)).Kind == json.ObjectOpen {
		thing = "key"
	}
	size := screen.Bytes(int(toks.At(int(b.Last)).End) - toks.Start(int(b.Token)))
	return display.Join(display.Lit(" "), g.Fold, display.Lit(" "), screen.Plural(int(b.Count), thing), display.Lit(", "), size, display.Lit(" "))
}

// maxPathSteps is the maximum number of steps in a path. If there are more, the outermost steps are dropped.
const maxPathSteps = 24

// Path returns the path of the document's cursor, such as .edits[0].new, or "" if the arguments are not shown
// as JSON.
func (d *Document) Path() string {
	if d.json == nil || d.Call == nil || len(d.layoutRows()) == 0 {
		return ""
	}
	rows := d.layoutRows()
	row := d.textRow(d.At)
	if row < 0 {
		row = len(rows) - 1
	}
	var parts []string
	for n := int32(row); rows[n].Parent >= 0; n = rows[n].Parent {
		r := rows[n]
		if r.Index == layout.Closer {
			continue
		}
		if len(parts) == maxPathSteps {
			parts = append(parts, "..")
			break
		}
		part := fmt.Sprintf("[%d]", r.Index)
		if toks := d.callTokens(); int(r.Token) < toks.Len() && toks.At(int(r.Token)).Kind == json.Key {
			key := TokenSpan(toks, int(r.Token))
			key.End = min(key.End, key.Start+screen.MaxNameBytes)
			part = "." + Unquoted(d.Call.Args(), key)
		}
		parts = append(parts, part)
	}
	var b strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString(parts[i])
	}
	return b.String()
}

// stringAt returns the token of the string at token n, or of the string value of key n. It returns -1 if
// there is none.
func (d *Document) stringAt(n int) int {
	toks := d.callTokens()
	if d.Call == nil || n < 0 || n >= toks.Len() {
		return -1
	}
	if toks.At(n).Kind == json.Key {
		for n++; n < toks.Len() && (toks.At(n).Kind == json.Space || toks.At(n).Kind == json.Colon); n++ {
		}
	}
	if n >= toks.Len() || toks.At(n).Kind != json.String {
		return -1
	}
	return n
}

// valueAtCursor returns the value at the cursor, as received so far. On a key, it returns the key's value. On
// a fold, it returns the folded value.
func (d *Document) valueAtCursor() (path string, value, raw []byte) {
	toks, args := d.callTokens(), d.Call.Args()
	n := d.tok
	if n < 0 || n >= toks.Len() {
		return "", nil, nil
	}
	if toks.At(n).Kind == json.Key {
		for n++; n < toks.Len() && (toks.At(n).Kind == json.Space || toks.At(n).Kind == json.Colon); n++ {
		}
	}
	if n >= toks.Len() {
		return "", nil, nil
	}
	span := TokenSpan(toks, n)
	switch toks.At(n).Kind {
	case json.ObjectOpen, json.ArrayOpen:
		span.End = len(args)
		i := sort.Search(len(d.jsonBoxes()), func(i int) bool { return int(d.jsonBoxes()[i].Token) >= n })
		if i < len(d.jsonBoxes()) && d.jsonBoxes()[i].End >= 0 {
			span.End = int(toks.At(int(d.jsonBoxes()[i].Last)).End)
		}
	case json.ObjectClose, json.ArrayClose, json.Space, json.Colon, json.Comma, json.Junk:
		return "", nil, nil
	}
	raw = slices.Clone(args[span.Start:span.End])
	if value = raw; toks.At(n).Kind == json.String {
		value = []byte(Unquoted(args, span))
	}
	if path = d.Path(); path == "" {
		path = "."
	}
	return path, value, raw
}

// keyBefore returns the key of value n, or "" in an array.
func (d *Document) keyBefore(n int) string {
	toks := d.callTokens()
	for n--; n >= 0; n-- {
		switch toks.At(n).Kind {
		case json.Space, json.Colon:
		case json.Key:
			return Unquoted(d.Call.Args(), TokenSpan(toks, n))
		default:
			return ""
		}
	}
	return ""
}

// valueAfter returns the string value of key n, or "" if the value is not a string.
func (d *Document) valueAfter(n int) string {
	toks := d.callTokens()
	for n++; n < toks.Len(); n++ {
		switch toks.At(n).Kind {
		case json.Space, json.Colon:
		case json.String:
			return Unquoted(d.Call.Args(), TokenSpan(toks, n))
		default:
			return ""
		}
	}
	return ""
}

// Unquoted decodes a string or key, as received so far.
func Unquoted(args []byte, s Span) string {
	content, _ := json.Content(args[s.Start:s.End])
	return string(json.AppendUnquoted(nil, content))
}

// ContentHint has hints about the content of a string, taken from the fields around it.
type ContentHint struct {
	Key  string // the key whose value is the string
	File string // a file name in a nearby field
}

// hintFor returns the key of a value, and the file name in the nearest earlier field of the containers around
// it.
func (d *Document) hintFor(value int) (h ContentHint) {
	toks, args := d.callTokens(), d.Call.Args()
	h.Key = d.keyBefore(value)
	depth, keys := 0, 0
	for n := value - 1; n >= 0; n-- {
		switch toks.At(n).Kind {
		case json.ObjectClose, json.ArrayClose:
			depth++
		case json.ObjectOpen, json.ArrayOpen:
			depth = max(0, depth-1)
		case json.Key:
			if keys++; depth > 0 || keys == 1 && h.Key != "" {
				continue
			}
			if key := strings.ToLower(Unquoted(args, TokenSpan(toks, n))); strings.Contains(key, "path") || strings.Contains(key, "file") {
				h.File = d.valueAfter(n)
				return h
			}
		}
	}
	return h
}

// Literal is a decoded string from the arguments.
type Literal struct {
	Path    string // the path of the string in the arguments
	Text    string
	Hint    ContentHint
	Growing bool // the closing quotation mark has not arrived
}

// Literal returns the selected string, or the string value of the selected key. It returns false if there is
// none.
func (d *Document) Literal() (l Literal, ok bool) {
	n := d.stringAt(d.tok)
	if n < 0 {
		return Literal{}, false
	}
	toks := d.callTokens()
	return Literal{
		Path: d.Path(), Text: Unquoted(d.Call.Args(), TokenSpan(toks, n)), Hint: d.hintFor(n),
		Growing: n == toks.Len()-1 && d.Call.Lexer().Open(),
	}, true
}
