package panes

import (
	"bytes"
	"fmt"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Result is the pane of the selected call's result, as a later request carries it: its size, whether it is
// an error, and its text.
type Result struct {
	screen.Window
	host  Host
	key   resultKey
	lines []resultLine // above the text
	text  []byte
	size  int // bytes of the full result
	sheet *TextSheet
}

// resultLine is a line about the result.
type resultLine struct {
	role screen.Role
	text display.Text
}

// resultKey identifies the inputs of the rows. While it is equal, they are valid.
type resultKey struct {
	of       stream.Ref
	event    int // the event of the result
	width    int
	raw      bool
	kept     stream.Retention
	answered stream.Code
	there    bool // the request with the result is in memory
	events   int  // of a turn
}

// maxResultBytes is the maximum number of bytes of a result that are laid out.
const maxResultBytes = 256 << 10

// maxCallsListed is the maximum number of a turn's calls that are listed.
const maxCallsListed = 200

// NewResult returns the pane.
func NewResult(h Host) *Result { return &Result{host: h, sheet: new(TextSheet)} }

// Keys returns the keys that scroll.
func (r *Result) Keys() []screen.Binding {
	return append([]screen.Binding{helpHint, zoomHint, findHint, tabHint, backKey(r.host)}, cursorKeys(r.host, r.ScrollKeys(display.Lit("j k scroll")), r.End)...)
}

// Label returns the name, once there is a result, and its size.
func (r *Result) Label() Label {
	l := Label{Short: display.Lit("RESULT"), Role: screen.Plain}
	if r.size >= 0 {
		l.Name, l.Count = l.Short, screen.Bytes(r.size)
	}
	return l
}

// WantedRows returns a row for each line.
func (r *Result) WantedRows() int { return r.Rows }

// Click does nothing: there is no cursor.
func (r *Result) Click(int, int) (again bool) { return false }

// GoTo scrolls to a row.
func (r *Result) GoTo(row int) { r.Scroll(row) }

// Find returns the rows in which a match of query begins.
func (r *Result) Find(query string) (rows []int, cursor int) {
	if query == "" {
		return nil, r.Top
	}
	n := newTextQuery(query)
	for row := range r.Rows {
		if containsQuery(n, r.rowText(row)) {
			rows = append(rows, row)
		}
	}
	return rows, r.Top
}

// rowText returns the text of a row.
func (r *Result) rowText(row int) string {
	if row < len(r.lines) {
		return r.lines[row].text.String()
	}
	return string(r.sheet.Shows(row - len(r.lines)))
}

// Extend updates the pane for the selection.
func (r *Result) Extend(s *Context, w, h int) {
	c := s.Of()
	key := resultKey{of: c.asRef(), width: w, raw: s.Raw}
	if c.Turn != nil {
		if key.kept = c.Turn.Retention; c.Call == nil {
			key.events = c.Turn.Events
		}
	}
	if c.Call != nil {
		key.answered = c.Call.ResultCode
		if given := c.Call.LatestResult(); given != nil {
			x := s.View.Exchange(given.Exchange)
			key.event, key.there = given.Event, x != nil && x.Request.Size() > 0
		}
	}
	if key != r.key || r.lines == nil {
		if key.of != r.key.of {
			r.Window = screen.Window{}
		}
		r.key, r.sheet, r.text, r.size = key, new(TextSheet), nil, -1
		r.buildRows(s, c, w)
	}
	r.Fit(len(r.lines)+r.sheet.Rows, titleRow, h)
}

// buildRows builds the rows.
func (r *Result) buildRows(s *Context, c Selection, w int) {
	r.lines = nil
	say := func(role screen.Role, text display.Text) {
		for _, line := range display.Wrap(text, max(w-2, 8)) {
			r.lines = append(r.lines, resultLine{role, line.Between(" ", "")})
		}
	}
	switch given := c.sentBackResult(); {
	case c.Turn != nil && c.Turn.Retention == stream.Dropped:
		say(screen.Muted, display.Lit("its tool results are not kept"))
	case c.Call == nil && (c.Turn == nil || len(c.Turn.Calls) == 0):
		say(screen.Muted, display.Lit("no call selected"))
	case c.Call == nil:
		r.listCalls(s.Pen, c.Turn, say)
	case given != nil:
		r.addResult(s, c.Call, given, w, say)
	case c.Call.RunByProvider && c.Call.ResultCode == stream.ResultFailed:
		say(screen.Caution, display.Lit("the provider ran it and it failed: see the response"))
	case c.Call.RunByProvider:
		say(screen.Muted, display.Lit("the provider runs it: its result is in the response"))
	default:
		say(screen.Muted, display.Lit("no request has sent its result back"))
	}
}

// listCalls adds a row for each call of a turn.
func (r *Result) listCalls(p *screen.Pen, t *stream.Turn, say func(screen.Role, display.Text)) {
	for _, c := range t.Calls[:min(len(t.Calls), maxCallsListed)] {
		given := c.LatestResult()
		switch {
		case c.RunByProvider:
			say(screen.Muted, display.Join(p.Name(c.Name), display.Lit("  run by the provider")))
		case given == nil:
			say(screen.Muted, display.Join(p.Name(c.Name), display.Lit("  no known result")))
		case given.ResultCode == stream.ResultFailed:
			say(screen.Bad, display.Join(p.Name(c.Name), screen.Bytes(given.Result.Bytes).Between("  an error, ", "")))
		default:
			say(screen.Plain, display.Join(p.Name(c.Name), screen.Bytes(given.Result.Bytes).Between("  ", "")))
		}
	}
	if n := len(t.Calls) - maxCallsListed; n > 0 {
		say(screen.Muted, screen.Count(n).Between("and ", " more calls"))
	}
}

// sentBackResult returns the latest result of the selected call in a request, or nil.
func (c Selection) sentBackResult() *stream.SentBackCall {
	if c.Call == nil {
		return nil
	}
	return c.Call.LatestResult()
}

// addResult adds the rows of a result: its facts and its text.
func (r *Result) addResult(s *Context, c *stream.Call, given *stream.SentBackCall, w int, say func(screen.Role, display.Text)) {
	p, gave := s.Pen, &given.Result
	role, words := screen.Muted, "in "+SentBackRequest(s.View, given)
	if given.ResultCode == stream.ResultFailed {
		role, words = screen.Bad, "an error, "+words
	}
	if gave.Media > 0 {
		words += ", and " + screen.Plural(gave.Media, "part").String() + " other than text"
	}
	say(role, p.Clean(words))
	r.size = gave.Bytes
	r.text = []byte(gave.Text)
	if whole, ok := s.View.Result(c); ok {
		r.text = whole.Text[:min(len(whole.Text), maxResultBytes)]
	}
	switch n := len(r.text); {
	case n == 0 && gave.Bytes > 0:
		say(screen.Muted, display.Lit("its text is not kept"))
	case n < gave.Bytes:
		say(screen.Muted, screen.Bytes(n).Between("the first ", ":"))
	}
	if len(r.text) > 0 {
		r.sheet.Add(NewBlock(display.Text{}, r.text, s.Raw || !isDocument(r.text), nil, max(w-2, 8), p.Drawer))
	}
}

// isDocument reports whether a text is a JSON object or array.
func isDocument(text []byte) bool {
	var lex stream.Lexer
	lex.Write(text)
	lex.Close()
	return lex.Syntax() == stream.SyntaxObject || lex.Syntax() == stream.SyntaxOther && bytes.HasPrefix(bytes.TrimSpace(text), []byte("["))
}

// SentBackRequest names the request that sent a call back.
func SentBackRequest(v *providers.View, r *stream.SentBackCall) string {
	if t := v.TurnAfter(r); t != nil {
		return fmt.Sprintf("the request of turn %d", t.Number+1)
	}
	return RequestName(v, r.Exchange)
}

// Draw draws row y of the pane into the field.
func (r *Result) Draw(p *screen.Pen, y int, focused bool) {
	if y == 0 {
		return
	}
	defer p.Fill(screen.Bare)
	row := r.Top + y - titleRow
	if row < len(r.lines) {
		p.TextOn(r.lines[row].role, screen.Bare, r.lines[row].text)
		return
	}
	p.Spaces(screen.Bare, 1)
	r.sheet.Draw(p, row-len(r.lines), screen.Bare)
}
