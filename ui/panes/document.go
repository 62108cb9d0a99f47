package panes

import (
	"bytes"
	"unicode/utf16"

	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/screen"
)

// Document shows the growing arguments of one call: indented and highlighted by token, or raw with the
// boundaries of its deltas. Findings are marked where they occur.
//
// It keeps the Ref of the call. The next call that is shown may be longer, shorter or a different one, for
// example in a view of the past. The layout stays valid while its bytes are a prefix of the call's arguments.
//
//	bytes, tokens ─▶ layout: rows ─▶ layout.FoldedRows: folded and inserted rows ─▶ a row is drawn
type Document struct {
	screen.Window
	Call   *stream.Call // the call in its current state, or nil; of is its Ref
	of     stream.Ref
	drawer display.Drawer
	Raw    bool
	Spaced bool         // blank rows between fields, unless there are very many rows
	Gutter int          // cells before each row, for the sign of its findings
	Wants  string       // fields of the tool's schema, shown while there are no arguments
	json   *layout.JSON // either json or Text is in use
	Text   *layout.Text
	laid   cachedLayout
	tok    int  // number of the selected token
	Light  Span // bytes that another pane points at
	Hits   Hits
	Marks  []Span // values that differ from the compared call, in order
	view   layout.FoldedRows
	folds  folds
	notes  []findingNote                  // by row
	noted  notesKey                       // inputs for the notes
	When   func(event int32) display.Text // time of an event since its turn began; "" if unknown
}

// cachedLayout is the current layout.
type cachedLayout struct {
	deltas   int  // number of deltas whose boundaries are marked in text
	rewrites int  // rewrites of the call at the time of the layout
	complete bool // the layout includes the end of arguments that can no longer grow
}

// Span is a range of argument bytes.
type Span struct{ Start, End int }

// Has reports whether the span contains an offset.
func (s Span) Has(off int) bool { return s.Start <= off && off < s.End }

// Hits are the matches of a search in the document.
type Hits struct {
	at     []int // offsets, ascending
	length int
}

// Show sets the call in its current state. If the layout is not a prefix of the arguments, or the width has
// changed, it starts a new layout.
func (d *Document) Show(c *stream.Call, width int, draw display.Drawer) {
	of := Selection{Call: c}.asRef()
	same := of == d.of && (c == nil) == (d.Call == nil)
	if !same {
		*d = Document{of: of, Raw: d.Raw, Spaced: d.Spaced, Gutter: d.Gutter, Wants: d.Wants, When: d.When, Marks: d.Marks, Window: screen.Window{Stick: c != nil && c.MayGrow()}}
	}
	d.Call = c
	if same && d.isLayoutValid(width) {
		return
	}
	off := d.Offset()
	d.json, d.Text, d.laid, d.drawer = nil, nil, cachedLayout{}, draw
	if d.plainText() {
		d.Text = layout.NewText(width, draw)
	} else {
		d.json = layout.NewJSON(width, draw)
	}
	if c != nil {
		if d.laid.rewrites = c.Rewrites; d.folds.rewrites != c.Rewrites {
			d.folds = folds{rewrites: c.Rewrites}
		}
	}
	d.folds.resolved, d.noted = false, notesKey{}
	if same {
		d.Extend(d.Height)
		if !d.Stick {
			d.GoTo(off)
		}
	}
}

// plainText reports whether the arguments are shown raw.
func (d *Document) plainText() bool {
	return d.Raw || d.Call != nil && d.Call.Syntax() == json.SyntaxFreeform
}

// isLayoutValid reports whether the layout has the given width and is a prefix of the arguments.
func (d *Document) isLayoutValid(width int) bool {
	if d.json == nil && d.Text == nil || d.plainText() != (d.Text != nil) || d.layoutWidth() != width {
		return false
	}
	c := d.Call
	return c == nil || c.Rewrites == d.laid.rewrites && d.settledLen() <= len(c.Args()) && !(d.laid.complete && c.MayGrow())
}

func (d *Document) layoutWidth() int {
	switch {
	case d.json != nil:
		return d.json.Width()
	case d.Text != nil:
		return d.Text.Width()
	}
	return 0
}

// Extend lays out the new bytes.
func (d *Document) Extend(height int) {
	if d.Call == nil {
		return
	}
	d.laid.complete = !d.Call.MayGrow()
	if d.json != nil {
		d.json.Extend(d.Call.Args(), d.Call.Lexer(), d.laid.complete)
	} else {
		for ; d.laid.deltas < d.Call.Deltas(); d.laid.deltas++ {
			if d.laid.deltas == 0 {
				continue
			}
			if _, end := d.Call.DeltaSpan(d.laid.deltas - 1); end > 0 {
				d.Text.Mark(end)
			}
		}
		d.Text.Extend(d.Call.Args(), d.laid.complete)
	}
	d.Height = max(height, 1)
	d.refreshRows()
	d.tok = min(d.tok, max(0, d.callTokens().Len()-1))
	if d.Stick {
		d.tok = d.callTokens().Len() - 1
	}
}

// refreshRows updates the folds and notes for the layout.
func (d *Document) refreshRows() {
	d.updateNotes()
	d.Beyond = d.closerRows()
	d.Resize(d.FullHeight(), d.Height)
}

// FullHeight returns the number of rows of the document as it is drawn.
func (d *Document) FullHeight() int { return max(1, d.textRows()+d.closerRows()) }

// textRows returns the number of rows, without the rows for missing closers.
func (d *Document) textRows() int { return d.view.Len(len(d.layoutRows())) }

func (d *Document) layoutRows() []layout.Row {
	switch {
	case d.json != nil:
		return d.json.Rows()
	case d.Text != nil:
		return d.Text.Rows()
	}
	return nil
}

// rowAt returns the layout row with the byte at off, or the last row before it.
func (d *Document) rowAt(off int) int {
	if d.json != nil {
		return d.json.RowAt(off)
	}
	return d.Text.RowAt(off)
}

func (d *Document) settledLen() int {
	if d.json != nil {
		return d.json.Len()
	}
	return d.Text.Len()
}

// rowAtPlace returns the layout row at a place. The second result is 0 for the row itself, or n for the nth
// row inserted after it. For a missing closer, row is -1.
func (d *Document) rowAtPlace(place int) (row, behind int) {
	if row, behind = d.view.At(place); d.Call == nil || row >= len(d.layoutRows()) {
		return -1, 0
	}
	return row, behind
}

// textRow returns the layout row at a place, or -1 if the place does not show a row of the layout.
func (d *Document) textRow(place int) int {
	if row, behind := d.rowAtPlace(place); behind == 0 {
		return row
	}
	return -1
}

// callTokens returns the call's tokens; free text has none.
func (d *Document) callTokens() json.TokenList {
	if d.Call == nil {
		return json.TokenList{}
	}
	return d.Call.Lexer().Tokens()
}

// TokenSpan returns the byte range of token n.
func TokenSpan(toks json.TokenList, n int) Span {
	if n < 0 || n >= toks.Len() {
		return Span{}
	}
	return Span{toks.Start(n), int(toks.At(n).End)}
}

// tokenAt returns the number of the token that contains the byte at off, or of the last token if off is after
// it.
func tokenAt(toks json.TokenList, off int) int {
	lo, hi := 0, toks.Len()
	for lo < hi {
		if mid := (lo + hi) / 2; int(toks.At(mid).End) > off {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return max(0, min(lo, toks.Len()-1))
}

// Chosen returns the byte range of the selected token on the cursor's row. In free text, it returns the range
// of the whole row. If the cursor is not on a row of text, it returns the whole token.
func (d *Document) Chosen() Span {
	s, n := TokenSpan(d.callTokens(), d.tok), d.textRow(d.At)
	if n < 0 {
		return s
	}
	row := Span{int(d.layoutRows()[n].Start), int(d.layoutRows()[n].End)}
	if d.callTokens().Len() == 0 {
		return row
	}
	if part := (Span{max(s.Start, row.Start), min(s.End, row.End)}); part.Start < part.End {
		return part
	}
	return s
}

// Offset returns the byte offset of the cursor.
func (d *Document) Offset() int {
	if d.Call == nil {
		return 0
	}
	s := d.Chosen()
	if n := d.textRow(d.At); n >= 0 {
		if row := d.layoutRows()[n]; s.Start < int(row.Start) || s.Start >= int(row.End) {
			return int(row.Start)
		}
	}
	return s.Start
}

// Margin is the number of blank cells next to a document.
const Margin = 2

// openString is one string in the arguments, decoded for reading. It grows with the string: each Extend
// decodes the new bytes.
type openString struct {
	TextReader
	token    int // number of the string's token
	rewrites int // rewrites of the call when the string was opened
	path     string
	read     int  // bytes of the string's content that are decoded
	replaced bool // the arguments were replaced, so the string no longer exists
}

// extendString decodes new bytes of the string, and drops bytes that no longer exist.
func (o *openString) extendString(c *stream.Call, w, h int, draw display.Drawer) {
	var toks json.TokenList
	if c != nil {
		toks = c.Lexer().Tokens()
		o.replaced = c.Rewrites != o.rewrites || o.token < toks.Len() && toks.At(o.token).Kind != json.String
	}
	var body []byte
	o.Complete = false
	if !o.replaced && o.token < toks.Len() {
		body, o.Complete = stringBody(c, toks, o.token)
	}
	if len(body) < o.read {
		o.read = 0
		o.Size, o.text, o.lines, o.prose, o.colours = 0, nil, nil, nil, colours{}
	}
	// An escape or character that is cut off at the end is decoded when its remaining bytes arrive.
	end := len(body)
	if !o.Complete && c != nil && c.MayGrow() {
		end = json.CompleteEscapes(body)
		if half, ok := json.UnicodeEscape(body[max(0, end-6):end]); ok && end >= 6 && utf16.IsSurrogate(half) && half < 0xdc00 && json.TrailingBackslashes(body[:end-6])%2 == 0 {
			end -= 6
		}
	}
	if end > o.read {
		o.Add(json.AppendUnquoted(nil, body[o.read:end]))
		o.read = end
	}
	o.LayOut(w, h, draw)
}

// stringBody returns the bytes between the quotation marks of a string, and whether the string has ended.
func stringBody(c *stream.Call, toks json.TokenList, n int) (body []byte, closed bool) {
	s := TokenSpan(toks, n)
	body = bytes.TrimPrefix(c.Args()[s.Start:s.End], []byte(`"`))
	if n == toks.Len()-1 && c.Lexer().Open() {
		return body, false
	}
	if cut, ok := bytes.CutSuffix(body, []byte(`"`)); ok && json.TrailingBackslashes(cut)%2 == 0 {
		return cut, true
	}
	return body, true
}

// titleText returns the path, size and type in at most room cells. A long path is cut at its start.
func (o *openString) titleText(p *screen.Pen, room int) display.Text {
	path := p.Name(o.path)
	if o.path == "" {
		path = display.Lit("a string")
	}
	dot := p.Glyph.Dot.Between(" ", " ")
	rest := display.Join(dot, screen.Bytes(o.Size), dot, p.Clean(o.Kind()))
	if o.replaced {
		rest = rest.Between("", ", replaced later")
	}
	if over := path.Width() + rest.Width() - room; over > 0 {
		path = display.Skip(path, over+2).Between("..", "")
	}
	return display.Join(path, rest)
}

// asLiteral returns the string as it is now.
func (o *openString) asLiteral(c *stream.Call) Literal {
	l := Literal{Path: o.path, Hint: o.hint, Growing: !o.Complete}
	if toks := c.Lexer().Tokens(); o.token < toks.Len() && !o.replaced {
		l.Text = Unquoted(c.Args(), TokenSpan(toks, o.token))
	}
	return l
}

// endSign returns the sign after the last byte. The sign shows that more bytes may arrive, or why no more did.
func (d *Document) endSign() display.Text {
	g, c := d.glyphSet(), d.Call
	switch st := c.Status(); {
	case c.MayGrow():
		return g.Cursor
	case st == stream.CutShort, st == stream.Aborted, st == stream.Unseen, st == stream.Rejected && c.Syntax() == json.SyntaxPrefix:
		return g.Status[st]
	}
	return display.Text{}
}

// maxClosers is the maximum number of closing brackets that are shown before they have arrived. More would leave no
// room for the text.
const maxClosers = 8

// missingClosers returns the closing brackets that have not arrived, innermost first.
func (d *Document) missingClosers() []byte {
	if d.Call == nil || d.json == nil || d.Call.Lexer().Err() != nil {
		return nil
	}
	lex := d.Call.Lexer()
	var closers []byte
	for depth := lex.Depth(); depth > 0 && len(closers) < maxClosers; depth-- {
		closers = append(closers, lex.Closer(depth))
	}
	return closers
}

// closerRows returns the number of rows for missing closers: one each, or one for all if the document is
// short or the pane is not tall enough.
func (d *Document) closerRows() int {
	n := len(d.missingClosers())
	if n > 1 && (d.Height < 4*n || d.textRows() < 3*n) {
		return 1
	}
	return n
}

// drawComing draws row n of the missing closers.
func (d *Document) drawComing(p *screen.Pen, n int) {
	ghosts, rows := d.missingClosers(), d.closerRows()
	if n < 0 || n >= rows {
		if n == 0 && len(d.Call.Args()) == 0 {
			p.Spaces(screen.Bare, d.Gutter)
			text := "no argument bytes yet"
			switch {
			case d.Call.ArgsLen() > 0:
				text = "reloading the arguments"
			case !d.Call.MayGrow():
				text = "no argument bytes"
			}
			p.Text(screen.Muted, p.Clean(text))
			if d.Wants != "" && d.Call.MayGrow() {
				p.TextOn(screen.Muted, screen.Bare, p.Truncate(p.Name(d.Wants).Between("; the schema needs ", ""), p.Left))
			}
		}
		return
	}
	depth := d.Call.Lexer().Depth() - n - 1
	p.Spaces(screen.Bare, d.Gutter+max(0, min(depth*2, d.json.Width()-12)))
	closers := ghosts[n : n+1]
	if rows == 1 {
		closers, depth = ghosts, d.Call.Lexer().Depth()-len(ghosts)
	}
	p.Text(screen.Tentative, display.Join(p.Glyph.Ghost, p.Clean(string(closers))))
	if n == rows-1 && depth > 0 {
		p.Text(screen.Tentative, p.Format(" and %d more", depth))
	}
}

// maxSpacedRows is the maximum number of rows in a document with blank rows between fields. A longer document has no
// blank rows, because it is not meant to be read from a distance.
const maxSpacedRows = 512

// addBlankRows adds blank rows to cuts: one before each row that begins another field.
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
	for n >= 0 && toks.At(n).Kind == json.Space {
		n--
	}
	return n >= 0 && toks.At(n).Kind == json.Comma
}

// GoTo moves the cursor to the byte at off, and unfolds the containers that hide it.
func (d *Document) GoTo(off int) {
	if d.Call == nil || len(d.layoutRows()) == 0 {
		return
	}
	row := d.rowAt(off)
	for box := d.hidingBox(row); box != nil; box = d.hidingBox(row) {
		d.setFolded(*box, false, row)
	}
	d.tok = tokenAt(d.callTokens(), off)
	if place := d.view.Place(row); place < d.Top || place >= d.Top+d.Height {
		d.Center(place)
	} else {
		d.MoveTo(place)
	}
}

// showNote scrolls so that the note below the cursor's row is visible.
func (d *Document) showNote() {
	if n := d.noteOf(d.textRow(d.At)); n != nil {
		d.Top = min(d.At, max(d.Top, d.At+len(n.below)-d.Height+1))
	}
}

// MoveRow moves the cursor to another place and selects the first token there.
func (d *Document) MoveRow(place int) {
	d.MoveTo(place)
	n := d.textRow(d.At)
	toks := d.callTokens()
	if n < 0 || toks.Len() == 0 {
		return
	}
	d.tok = tokenAt(toks, int(d.layoutRows()[n].Start))
	for d.tok+1 < toks.Len() && toks.At(d.tok).Kind == json.Space && TokenSpan(toks, d.tok).End < int(d.layoutRows()[n].End) {
		d.tok++
	}
}

// MoveToken moves by step tokens. It skips white space, colons, commas and folded tokens. It reports whether
// there was a token to move to.
func (d *Document) MoveToken(step int) bool {
	toks := d.callTokens()
	for n := d.tok + step; n >= 0 && n < toks.Len(); n += step {
		switch toks.At(n).Kind {
		case json.Space, json.Colon, json.Comma:
			continue
		}
		if box := d.hidingBox(d.rowAt(toks.Start(n))); box != nil {
			if n = int(box.Last); step < 0 {
				n = int(box.Token) + 1
			}
			continue
		}
		d.GoTo(toks.Start(n))
		return true
	}
	return false
}

// Point highlights bytes of the arguments and scrolls to the first of them. If they don't fit on a screen, it
// highlights only their first row.
func (d *Document) Point(s Span) {
	if d.Light = s; s.End <= s.Start {
		return
	}
	d.GoTo(s.Start)
	if rows := d.layoutRows(); d.Call != nil && len(rows) > 0 {
		if first := d.rowAt(s.Start); d.rowAt(s.End-1)-first >= d.Height {
			d.Light.End = min(s.End, int(rows[first].End))
		}
	}
}

// Follow keeps the end in view, or stops doing so. When it stops, the cursor moves from a row of missing
// closers to the last text row.
func (d *Document) Follow(on bool) {
	if !on && d.Stick && len(d.layoutRows()) > 0 {
		d.MoveTo(d.view.Place(len(d.layoutRows()) - 1))
	}
	d.Stick = on
}

// Find returns the offsets at which query occurs in the arguments, and keeps them for drawing. It returns nil
// if there is no call or no query. A query without capitals ignores case.
func (d *Document) Find(query string) []int {
	d.Hits = Hits{length: len(query)}
	if d.Call == nil || query == "" {
		return nil
	}
	d.Hits.at = FindAll(d.Call.Args(), query)
	return d.Hits.at
}
