package panes

import (
	"slices"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// Request is the pane of the selected turn's request: its URL and its size, its parts, and its body. The body is
// folded except for the last message and the tool of the selected call.
type Request struct {
	PaneRows
	key    requestKey // the inputs from which doc was made
	making requestKey // the inputs of the layout that runs in the background
	look   unfoldKey  // the inputs for which the folds were set
	doc    *foldableDocument
	head   display.Text
	parts  breakdownTable
	edits  requestEdits
	notes  []display.Text // hints about the settings, below the head
	noted  noteKey        // the inputs from which notes were made
	why    []display.Text // the text to show if there is no body
	size   int            // size of the body; -1 if there is none
	hits   map[int32]bool
}

// requestKey identifies the inputs for the layout.
type requestKey struct {
	exchange, turn int
	size           int64
	width          int
}

// noteKey identifies the inputs for the hints. The usage of the turn is complete when the turn has ended.
type noteKey struct {
	doc   *foldableDocument
	turn  *stream.Turn
	ended bool
	width int
}

// unfoldKey identifies the inputs for the folds.
type unfoldKey struct {
	doc  *foldableDocument
	tool string
}

// NewRequest returns the pane.
func NewRequest(h Host) *Request { return &Request{PaneRows: NewRows(h, nil), size: -1} }

// Keys returns the keys that move the cursor and fold rows.
func (r *Request) Keys() []screen.Binding {
	fold := func(shut bool) func() { return func() { r.setFolded(shut) } }
	return r.keys([]screen.Binding{
		screen.Key("enter", "fold", "fold or unfold the row", r.toggleFold),
		screen.Key("-", "fold", "fold the row, or its parent", fold(true)).Show("- +"),
		screen.Key("+", "", "unfold the row", fold(false)),
		screen.Key("*", "all", "unfold or fold all", func() {
			if r.doc != nil {
				row := max(r.selectedRow(), 0)
				r.doc.foldAll(!slices.Contains(r.doc.shut, true))
				r.goTo(row)
			}
		}),
		screen.Key("o", "what changed", "changes since the previous request", func() {
			r.edits = requestEdits{shown: !r.edits.shown}
			r.MoveTo(0)
		}),
	}, r.CursorKeys("", r.MoveTo), r.End, "copy", "search", "zoom", "next")
}

// selectedRow returns the document row at the cursor, or -1.
func (r *Request) selectedRow() int32 {
	if n := r.At - r.headRows(); r.doc != nil && n >= 0 && n < r.doc.shownCount() {
		return r.doc.rowAtPlace(n)
	}
	return -1
}

// headRows returns the number of rows above the document.
func (r *Request) headRows() int {
	if r.head.Empty() {
		return 0
	}
	return 1 + len(r.notes) + r.shownTable().rowCount()
}

// bodyTable is a table above the body, whose rows are about parts of the body.
type bodyTable interface {
	rowCount() int
	partAt(row int) int // offset of the part, or -1
	drawRow(p *screen.Pen, row int)
}

// shownTable returns the table that is shown: the breakdown, or the differences from the previous request.
func (r *Request) shownTable() bodyTable {
	if r.edits.shown {
		return &r.edits
	}
	return &r.parts
}

// toggleFold folds or unfolds the row at the cursor. If the cursor is in the table above the body, it moves to the
// selected part of the body.
func (r *Request) toggleFold() {
	if at := r.shownTable().partAt(r.At - 1 - len(r.notes)); at >= 0 && r.doc != nil {
		r.GoTo(at)
	} else if row := r.selectedRow(); row >= 0 {
		r.setFolded(!r.doc.shut[row])
	}
}

// setFolded folds the row at the cursor, or else its parent. If shut is false, it unfolds the row.
func (r *Request) setFolded(shut bool) {
	row := r.selectedRow()
	for row >= 0 && shut && (r.doc.end[row] == row || r.doc.shut[row]) {
		row = r.doc.rows[row].Parent
	}
	if row >= 0 && r.doc.setFolded(row, shut) {
		r.goTo(row)
	}
}

func (r *Request) goTo(row int32) {
	r.Rows = r.headRows() + r.doc.shownCount()
	r.MoveTo(r.headRows() + r.doc.view.Place(int(row)))
}

// Label returns the pane's name and the size of the body.
func (r *Request) Label() Label {
	l := Label{Name: display.Lit("Request"), Role: screen.Muted, Empty: true} // its layout is costly, so it is shown only when the user opens the tab
	if r.size >= 0 {
		l.Count = screen.Bytes(r.size)
	}
	return l
}

// WantedRows returns the number of shown rows, but at least 1.
func (r *Request) WantedRows() int { return max(r.Rows, 1) }

// GoTo unfolds the containers around a byte, and moves the cursor to the byte's row.
func (r *Request) GoTo(off int) {
	if r.doc != nil {
		row := r.doc.rowAt(off)
		r.doc.unfoldRow(row, false)
		for head := row; head >= 0 && r.doc.rows[head].Wrapped; head-- {
			r.doc.shut[head-1] = false
		}
		r.doc.updateView()
		r.goTo(row)
	}
}

// Find returns the offsets at which query occurs in the body, including folded parts, and keeps their rows for
// drawing.
func (r *Request) Find(query string, _ int, _ func() bool) (hits []int, next int) {
	if r.hits = nil; r.doc == nil || query == "" {
		return nil, AllFound
	}
	hits, r.hits = FindAll(r.doc.text, query), map[int32]bool{}
	for _, off := range hits {
		r.hits[r.doc.rowAt(off)] = true
	}
	return hits, AllFound
}

// Cursor returns the offset of the first byte in the cursor's row.
func (r *Request) Cursor() int {
	if row := r.selectedRow(); row >= 0 {
		return int(r.doc.rows[row].Start)
	}
	return 0
}

// Extend updates the pane for the selection. A long body is laid out in the background.
func (r *Request) Extend(s *Context, w, h int) {
	c := s.Of()
	var x *providers.Exchange
	if c.Turn != nil {
		x = s.View.Exchange(c.Turn.Exchange)
	}
	r.size = -1
	if x != nil && (x.Request.Size() > 0 || len(x.RequestBody()) > 0) {
		r.size = int(max(x.Request.Size(), int64(len(x.RequestBody()))))
	}
	if h > 0 {
		r.layOut(s, c, x, w)
		r.updateNotes(c, x, w)
		r.updateEdits(s.View, c, x, s.Pen.Drawer)
	}
	if s.News.All {
		r.parts.called = calledNames{}
	}
	switch {
	case r.doc == nil:
		r.parts.Breakdown = nil
	case h > 0:
		r.parts.updateUsage(s, c.Turn)
	}
	rows := r.headRows() + len(r.why)
	if r.doc != nil {
		rows = r.headRows() + r.doc.shownCount()
	}
	r.Fit(rows, titleRow, h)
}

// layOut starts the layout of the body if it is not up to date.
func (r *Request) layOut(s *Context, c Selection, x *providers.Exchange, w int) {
	key := requestKey{exchange: -1, width: w}
	if x != nil {
		key = requestKey{x.Number, 0, x.Request.Size(), w}
		if x.HasManyRequests() {
			key.turn = int(c.Turn.Number)
		}
	}
	if key == r.key && (r.doc != nil || r.why != nil) && (c.Turn == nil || c.Turn.Retention != stream.Evicted) {
		r.unfoldFor(c)
		return
	}
	body, why := bodyOf(c, x)
	r.why = display.Wrap(why, max(w-2, 8))
	if body == nil {
		r.key, r.doc, r.head = key, nil, display.Text{}
		return
	}
	if r.key.exchange != key.exchange || r.key.turn != key.turn {
		r.doc, r.Window = nil, screen.Window{}
	}
	draw, width := s.Pen.Drawer, max(w-3, 8)
	var target *protocol.Target // nil if the captured request is not in the form in which the client sent it
	var change stream.RequestChange
	if !x.Head.Incremental && !x.Head.Reconstructed && x.Protocol != nil {
		target = providers.TargetOf(x.Protocol.Name)
		if c.Turn.Request != nil {
			change = c.Turn.Request.Change
		}
	}
	readParts := func() *present.Breakdown { return present.ReadBreakdown(body, target, change) }
	if len(body) <= maxSyncBytes {
		r.key, r.doc = key, newFolded(body, width, draw)
		r.head = requestLine(x, r.doc, draw)
		r.parts.setBreakdown(readParts(), change)
		r.unfoldFor(c)
		return
	}
	r.why = []display.Text{screen.Bytes(len(body)).Between("laying out ", "")}
	if r.making != (requestKey{}) {
		return // Extend checks again when the running layout is done
	}
	r.making = key
	r.host.Do(func() func() {
		doc, parts := newFolded(body, width, draw), readParts()
		return func() {
			r.making, r.key = requestKey{}, key
			r.parts.setBreakdown(parts, change)
			r.doc, r.head, r.why = doc, requestLine(x, doc, draw), nil
		}
	})
}

// maxSyncBytes is the maximum size of a body that is laid out at once, not in the background.
const maxSyncBytes = 16 << 10

// bodyOf returns the body of a turn's request, or the reason why there is none.
func bodyOf(c Selection, x *providers.Exchange) (body []byte, why display.Text) {
	switch {
	case c.Turn == nil:
		return nil, display.Lit("no turn selected")
	case x == nil || c.Turn.Retention == stream.Dropped:
		return nil, display.Lit("not kept")
	case c.Turn.Retention == stream.Evicted:
		return nil, display.Lit("reloading from the file …")
	}
	switch body = x.RequestOf(c.Turn); {
	case body != nil:
		return body, display.Text{}
	case x.Request.Size() > 0:
		return nil, display.Lit("toolscope missed bytes: the rest is not a complete body")
	case x.Head.Reconstructed:
		return nil, display.Lit("the log doesn't contain the request")
	case x.Head.Method != "":
		return nil, display.Lit("the request has no body")
	}
	return nil, display.Lit("no request: the source has only the response")
}

// updateNotes updates the hints about the settings of the shown request.
func (r *Request) updateNotes(c Selection, x *providers.Exchange, w int) {
	if r.doc == nil {
		r.notes, r.noted = nil, noteKey{}
	}
	if r.doc == nil || c.Turn == nil || c.Turn.Retention != stream.InMemory {
		return
	}
	key := noteKey{r.doc, c.Turn, c.Turn.Closed(), w}
	if key == r.noted {
		return
	}
	r.noted, r.notes = key, nil
	for _, note := range x.RequestNotes(c.Turn) {
		r.notes = append(r.notes, display.Wrap(display.Clean(note), max(w-3, 8))...)
	}
}

// requestLine describes a request: its URL and its counts.
func requestLine(x *providers.Exchange, doc *foldableDocument, draw display.Drawer) display.Text {
	line := screen.Bytes(len(doc.text))
	if x.Head.Method != "" {
		line = display.Join(draw.Clean(screen.ShortName(x.Head.Method+" "+x.Path())), line.Between("  ", ""))
	}
	if n := doc.countElements(messageKeys); n > 0 {
		line = display.Join(line, screen.Plural(n, "message").Between("  ", ""))
	}
	if n := doc.countElements(toolKeys); n > 0 {
		line = display.Join(line, screen.Plural(n, "tool").Between("  ", ""))
	}
	if x.Request.Size() == 0 {
		line = display.Join(line, display.Lit("  from --request: the request was not recorded"))
	}
	return line
}

// unfoldFor folds everything except the last message and the tool of the selected call. It does so only if
// the document or the tool has changed.
func (r *Request) unfoldFor(c Selection) {
	look := unfoldKey{doc: r.doc}
	if c.Call != nil {
		look.tool = c.Call.Name
	}
	if r.doc == nil || look == r.look {
		return
	}
	r.look = look
	r.doc.foldAll(true)
	if last := r.doc.lastMessage(); last >= 0 {
		r.doc.unfoldRow(last, true)
	}
	if tool := r.doc.toolRow(look.tool); tool >= 0 {
		r.doc.unfoldRow(tool, true)
	}
	r.doc.updateView()
}

// Draw draws row y of the pane.
func (r *Request) Draw(p *screen.Pen, y int, focused bool) {
	defer p.Fill(screen.Bare)
	row := r.Top + y - titleRow
	switch {
	case y == 0:
	case row == 0 && r.headRows() > 0:
		r.drawCursor(p, row)
		p.TextOn(screen.Plain, screen.Bare, r.head)
	case r.doc != nil && row <= len(r.notes):
		r.drawCursor(p, row)
		p.TextOn(screen.Muted, screen.Bare, r.notes[row-1])
	case r.doc != nil && row < r.headRows():
		if row < r.headRows()-1 || row == r.At { // the title of the body begins at the edge
			r.drawCursor(p, row)
		}
		r.shownTable().drawRow(p, row-1-len(r.notes))
	case r.doc == nil:
		if n := row - r.headRows(); n >= 0 && n < len(r.why) {
			p.Spaces(screen.Bare, 1)
			p.TextOn(screen.Muted, screen.Bare, r.why[n])
		}
	case row-r.headRows() < r.doc.shownCount():
		r.drawCursor(p, row)
		r.doc.draw(p, r.doc.rowAtPlace(row-r.headRows()), func(row int32) bool { return r.hits[row] })
	}
}

// drawCursor draws the cell for the cursor.
func (r *Request) drawCursor(p *screen.Pen, row int) {
	if row == r.At {
		p.TextOn(screen.Accent, screen.Bare, p.Glyph.Mark)
	} else {
		p.Spaces(screen.Bare, 1)
	}
}
