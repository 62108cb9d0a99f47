package panes

import (
	"slices"

	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/screen"
)

// Subject is the pane of the selection. It shows the arguments of a call, one open string of the arguments,
// or the summary of a turn.
type Subject struct {
	Document
	Summary Summary
	host    Host
	scene   *Context
	width   int
	height  int
	callout callout
	facts   bool        // there is room for the facts below the arguments
	string  *openString // nil if no string is open
}

// NewSubject returns the pane.
func NewSubject(h Host) *Subject { return &Subject{host: h} }

// documentGutter is the number of cells before the arguments, for the signs of findings.
const documentGutter = 3

// Extend updates the pane for the selection.
func (s *Subject) Extend(scene *Context, w, h int) {
	s.scene, s.width, s.height = scene, w, h
	c, t := s.currentSelection().Call, s.currentSelection().Turn
	s.Raw, s.Spaced, s.When = scene.Raw, scene.Spaced, func(event int32) display.Text { return EventTime(scene.View, event) }
	s.Gutter = documentGutter
	s.callout.updateRows(scene, s.currentSelection(), w)
	s.Head, s.Summary.Head = s.headRows(), s.headRows()
	before := s.of
	s.Wants = ""
	if c != nil {
		if x := scene.View.Exchange(t.Exchange); x != nil && len(c.Args()) == 0 {
			s.Wants = x.RequiredArgs(c)
		}
	}
	s.Show(c, max(1, w-s.Gutter-Margin), scene.Pen.Drawer)
	s.Document.Extend(max(1, h-s.headRows()))
	if c != nil && s.of != before && !c.MayGrow() && s.FullHeight() > s.Document.Height {
		if f := s.callout.finding; f != nil && f.Offset >= 0 && s.Text == nil {
			s.Document.GoTo(min(f.Offset, max(0, len(c.Args())-1)))
			s.Document.showNote()
		}
	}
	if s.facts = c != nil && h-s.headRows() >= s.FullHeight()+factRows && !scene.Bare; s.facts {
		s.Document.Extend(max(1, h-s.headRows()-factRows))
	}
	if s.string != nil && (s.of != before || c == nil) {
		s.string = nil
	}
	if s.string != nil {
		s.string.Head = s.Head
		s.string.extendString(c, w, max(1, h-s.headRows()), scene.Pen.Drawer)
		s.string.Colour(scene.Pen.Ink, s.host.Do)
	}
	if t != nil && c == nil {
		facts := TurnFacts(scene.View, scene.Bill, t, scene.Pen.Glyph)
		if x := scene.View.Exchange(t.Exchange); scene.Capture != nil && x != nil && x.Head.File == "" {
			facts = append(facts, fact{word: "file", text: "recorded to " + scene.Capture()})
		}
		s.Summary.Extend(facts, scene.View, t, max(1, w-Margin), max(1, h-s.headRows()), scene.Pen)
	}
}

// currentSelection returns the turn and call that the current frame shows.
func (s *Subject) currentSelection() Selection { return s.scene.Of() }

// factRows is the number of rows for the facts, including a blank row before and after them.
const factRows = 3

// headRows returns the number of rows above the content: the title, the callout and a blank row.
func (s *Subject) headRows() int {
	rows := len(s.callout.lines)
	switch {
	case s.scene.Large:
		return 0
	case s.scene.Bare:
		return min(rows, max(0, s.height-2))
	case rows > 0:
		rows++
	}
	return min(s.titleRows()+rows, max(1, s.height-2))
}

// titleRows returns the number of rows above the callout: the title and, in a tall separate column, a blank row.
func (s *Subject) titleRows() int {
	switch {
	case s.scene.Bare:
		return 0
	case !s.scene.Piled && s.scene.Rows >= riskRows && len(s.callout.lines) > 0:
		return 2
	}
	return 1
}

// Keys returns the keys for the selection. For a call, the keys move in the arguments by row and by token, fold rows,
// and open strings. For a turn, they scroll the summary.
func (s *Subject) Keys() []screen.Binding {
	switch {
	case s.currentSelection().Call == nil:
		scrolls := cursorKeys(s.host, s.Summary.ScrollKeys("scroll"), s.toEnd)
		return slices.Concat(screen.Can("help"), scrolls[1:2], screen.Can("next", "zoom"), []screen.Binding{backKey(s.host)}, scrolls[:1], scrolls[2:])
	case s.string != nil:
		keys := s.string.CursorKeys("scroll", s.string.MoveTo)
		keys[len(keys)-1].Does = display.Lit("to the end, and stay there")
		keys[len(keys)-1].Do = s.string.End
		back := screen.Key("left h", "", "close", func() { s.Back() })
		return slices.Concat(screen.Can("help", "escape", "search", "copy", "zoom"), []screen.Binding{back}, keys)
	}
	left, right := backKey(s.host), func() { s.host.Follow(false); s.MoveToken(1) }
	left = left.Hinted("token").Show("h l")
	left.Does = display.Lit("previous token; back to the list")
	left.Do = func() {
		if s.host.Follow(false); !s.MoveToken(-1) {
			s.host.Focus(Left)
		}
	}
	fold := func(do func() display.Text) func() {
		return func() {
			s.host.Follow(false)
			if why := do(); !why.Empty() {
				s.host.Say(why)
			}
		}
	}
	var next []screen.Binding
	if s.scene.Verdicts.Counts.Bad() > 0 {
		next = []screen.Binding{screen.Can("next-finding")[0].Hinted("next")}
	}
	return slices.Concat(screen.Can("help"), []screen.Binding{
		left,
		screen.Key("right l", "", "next token", right),
		screen.Key("-", "fold", "fold here", fold(s.Fold)).Show("- +"),
		screen.Key("+", "", "unfold here", fold(s.Unfold)),
		screen.Key("*", "", "fold or unfold all", fold(s.FoldAll)),
		screen.Key("enter", "open", "open the selection", s.openSelected),
	}, screen.Can("raw"), next, screen.Can("copy", "replay", "search", "next", "result"), cursorKeys(s.host, s.CursorKeys("", s.MoveRow), s.toEnd))
}

// openSelected opens the selected string, or unfolds the fold at the cursor. The selection then stays on this
// call.
func (s *Subject) openSelected() {
	if row := s.cursorRow(); row >= 0 && s.foldedBox(row) != nil {
		s.host.Follow(false)
		s.Unfold()
		return
	}
	n := s.stringAt(s.tok)
	if n < 0 {
		s.host.Say(display.Lit("no string here: enter opens string values"))
		return
	}
	s.string = &openString{token: n, rewrites: s.Call.Rewrites, path: s.Document.Path(), TextReader: TextReader{hint: s.hintFor(n)}}
	s.string.Stick = s.Document.Stick && n == s.callTokens().Len()-1 && s.Call.Lexer().Open() && s.Call.MayGrow()
	s.host.Follow(false)
}

// HasOpenString reports whether a string is open.
func (s *Subject) HasOpenString() bool { return s.string != nil }

// Back closes the open string, and reports whether one was open.
func (s *Subject) Back() (closed bool) {
	closed, s.string = s.string != nil, nil
	return closed
}

// Follow keeps the end in view, or stops doing so. Following closes an open string, so that the end of the
// arguments is visible.
func (s *Subject) Follow(on bool) {
	if on {
		s.string = nil
	}
	s.Document.Follow(on)
}

// toEnd goes to the end of the content and, if more data may arrive, follows it.
func (s *Subject) toEnd() {
	s.End()
	s.Summary.Scroll(s.Summary.Rows)
	if s.host.Moving() {
		s.host.Follow(true)
	}
}

// Find returns the offsets at which query occurs in the arguments, or in the open string, and keeps them for drawing.
func (s *Subject) Find(query string, _ int, _ func() bool) (offsets []int, next int) {
	if s.string != nil {
		return s.string.Find(query), AllFound
	}
	return s.Document.Find(query), AllFound
}

// Cursor returns the offset of the byte at the cursor.
func (s *Subject) Cursor() int {
	if s.string != nil {
		return s.string.Offset()
	}
	return s.Offset()
}

// Label returns the name of the document.
func (s *Subject) Label() Label { return Label{Name: display.Lit("the document")} }

// Spans returns nothing, because the document scrolls to a highlight.
func (*Subject) Spans(*screen.Pen) display.Text { return display.Text{} }

// WantedRows returns the number of rows, including the rows above and below the content.
func (s *Subject) WantedRows() int {
	if s.scene != nil && s.currentSelection().Call != nil && s.string == nil && !s.scene.Bare {
		return s.RowsWithoutFacts() + factRows
	}
	return s.RowsWithoutFacts()
}

// RowsWithoutFacts returns the number of rows, without the facts below the arguments.
func (s *Subject) RowsWithoutFacts() int {
	switch {
	case s.scene == nil:
		return 1
	case s.string != nil:
		return s.headRows() + s.string.Rows
	case s.currentSelection().Call == nil:
		return s.headRows() + s.Summary.Rows
	}
	// The result doesn't depend on the current height, because otherwise the rows of a frame would depend on earlier
	// frames.
	n := len(s.missingClosers())
	if s.textRows() < 3*n {
		n = min(n, 1)
	}
	return s.headRows() + max(1, s.textRows()+n)
}

// GoTo moves the cursor to a match from Find.
func (s *Subject) GoTo(hit int) {
	if s.string != nil {
		s.string.Show(hit)
		return
	}
	s.Document.GoTo(hit)
}

// GoToByte moves the cursor to a byte of the arguments.
func (s *Subject) GoToByte(off int) {
	s.string = nil
	s.Document.GoTo(off)
}

// Path returns the path at the cursor.
func (s *Subject) Path() string {
	if s.string != nil {
		return s.string.path
	}
	return s.Document.Path()
}

// Literal returns the open string, or else the selected one.
func (s *Subject) Literal() (Literal, bool) {
	if s.string != nil && s.Call != nil {
		return s.string.asLiteral(s.Call), true
	}
	return s.Document.Literal()
}

// Spot returns the token at the cursor, and its value.
func (s *Subject) Spot() Spot {
	spot := Spot{Span: s.Chosen()}
	if s.Call != nil {
		spot.Value = s.shownValue
	}
	return spot
}

// shownValue returns the value at the cursor, or the open string: the path, the decoded value, and the JSON
// text as captured.
func (s *Subject) shownValue() (path string, value, raw []byte) {
	if s.string != nil {
		raw = slices.Clone(s.Call.Args()[TokenSpan(s.callTokens(), s.string.token).Start:TokenSpan(s.callTokens(), s.string.token).End])
		return s.string.path, []byte(s.string.asLiteral(s.Call).Text), raw
	}
	return s.valueAtCursor()
}

// Visible returns the first and last visible row, and the number of rows.
func (s *Subject) Visible() (first, last, of int) {
	switch {
	case s.string != nil:
		return s.string.Visible()
	case s.currentSelection().Call == nil:
		return s.Summary.Visible()
	}
	return s.Document.Visible()
}

// Draw draws row y: the title, the callout, the arguments of the call or the summary of the turn, and the facts.
func (s *Subject) Draw(p *screen.Pen, y int, focused bool) {
	defer p.Fill(screen.Bare)
	head, title := s.headRows(), s.titleRows()
	switch c, t := s.currentSelection().Call, s.currentSelection().Turn; {
	case y >= title && y < head:
		if y-title < len(s.callout.lines) {
			s.callout.draw(p, y-title)
		}
	case c != nil && y >= head && s.string != nil:
		s.drawString(p, c, y-head)
	case c != nil && s.facts && y == head+s.FullHeight()+1:
		p.Spaces(screen.Bare, s.Gutter)
		p.TextOn(screen.Muted, screen.Bare, s.callFacts(p, p.Left-1))
	case c != nil && y >= head:
		s.Document.Draw(p, s.Top+y-head, focused)
	case c != nil && y == 0:
		s.drawCallHead(p, c, focused)
	case t != nil && y >= head:
		s.Summary.Draw(p, y-head)
	case t != nil && y == 0:
		s.drawTurnHead(p, focused)
	case t == nil && y < title && !s.scene.Piled:
		p.Text(screen.Frame, display.Repeat(p.Glyph.Line, p.Left))
	}
}

// drawString draws row y of the open string, and a sign that shows how it ends.
func (s *Subject) drawString(p *screen.Pen, c *stream.Call, y int) {
	end, r := display.Text{}, screen.Live
	if !s.string.Complete {
		if end = s.endSign(); !c.MayGrow() {
			r = screen.CallRole(c)
		}
	}
	s.string.Draw(p, y, end, r)
}

// Roll scrolls the shown content.
func (s *Subject) Roll(rows int) {
	switch {
	case s.string != nil:
		s.string.Roll(rows)
	case s.currentSelection().Call == nil:
		s.Summary.Roll(rows)
	default:
		s.Document.Roll(rows)
	}
}

// Click moves the cursor to the clicked row. In the summary of a turn, it selects the call in that row.
func (s *Subject) Click(x, y int) (again bool) {
	if s.string != nil {
		s.string.Click(x, y)
		return false
	}
	if s.currentSelection().Call != nil {
		return s.Document.Click(x, y)
	}
	if c := s.Summary.callAt(x, y); c != nil {
		s.host.Choose(c.Ref())
	}
	return false
}

// Click moves the cursor to the clicked row, and selects the clicked token, if there is one.
func (d *Document) Click(x, y int) (again bool) {
	place := d.RowAt(y)
	if place < 0 || d.Call == nil {
		return false
	}
	at, tok := d.At, d.tok
	d.MoveRow(place)
	if n := d.textRow(place); n >= 0 {
		d.selectAt(d.layoutRows()[n], x-d.Gutter-int(d.layoutRows()[n].Indent))
	}
	return d.At == at && d.tok == tok
}

// selectAt selects the token in a cell of a row, unless the token is white space, a colon or a comma.
func (d *Document) selectAt(r layout.Row, x int) {
	toks := d.callTokens()
	for off := int(r.Start); off < int(r.End) && x >= 0 && toks.Len() > 0; {
		n := tokenAt(toks, off)
		kind, end := toks.At(n).Kind, min(int(r.End), int(toks.At(n).End))
		if end <= off {
			return
		}
		between := kind == json.Space || kind == json.Colon || kind == json.Comma
		if cells := d.tokenCells(off, end, kind); x >= cells {
			x, off = x-cells, end
			continue
		}
		if !between {
			d.tok = n
		}
		return
	}
}

// tokenCells returns the number of cells that bytes of one token use in a row.
func (d *Document) tokenCells(off, end int, kind json.TokenKind) (cells int) {
	if d.json != nil && kind == json.Space {
		return 0
	}
	for text := d.Call.Args(); off < end; {
		if d.Text != nil && d.Text.Marked(off) {
			cells++
		}
		n, wide := d.drawer.Measure(text[off:end])
		off, cells = off+n, cells+wide
	}
	if d.json != nil && kind == json.Colon {
		cells++
	}
	return cells
}
