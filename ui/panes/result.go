package panes

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Result is the pane of the selected call's result, as a later request sent it back: its size, whether it is
// an error, and its text.
type Result struct {
	PaneRows
	key   resultKey
	lines []resultLine // above the text
	text  []byte
	size  int // bytes of the full result; -1 if there is none
	sheet *TextSheet
}

// resultLine is a line about the result.
type resultLine struct {
	role screen.Role
	text display.Text
}

// resultKey identifies the inputs for the rows. The rows are valid until the key changes.
type resultKey struct {
	of       stream.Ref
	event    int // the event of the result
	width    int
	raw      bool
	kept     stream.Retention
	answered stream.Code
	received int  // key of the tool runs
	there    bool // the request with the result is in memory
	events   int  // number of events, if a turn is selected
}

// maxResultBytes is the maximum number of bytes of a result that are laid out.
const maxResultBytes = 256 << 10

// maxCallsListed is the maximum number of calls of a turn that are listed.
const maxCallsListed = 200

// NewResult returns the pane.
func NewResult(h Host) *Result {
	r := &Result{sheet: new(TextSheet)}
	r.PaneRows = NewRows(h, r.rowText)
	return r
}

// Keys returns the keys that scroll.
func (r *Result) Keys() []screen.Binding {
	return r.keys(nil, r.ScrollKeys("scroll"), r.End, "zoom", "search", "next")
}

// Label returns the pane's name and the size of the result.
func (r *Result) Label() Label {
	l := Label{Name: display.Lit("Result"), Role: screen.Muted, Empty: r.size < 0}
	if r.size >= 0 {
		l.Count = screen.Bytes(r.size)
	}
	return l
}

// Click does nothing, because there is no cursor.
func (r *Result) Click(int, int) (again bool) { return false }

// GoTo scrolls to a row.
func (r *Result) GoTo(row int) { r.Scroll(row) }

// Cursor returns the first visible row.
func (r *Result) Cursor() int { return r.Top }

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
		key.answered, key.received = c.Call.ResultCode, toolRunsKey(s.View, c.Call)
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

// buildRows builds the rows for the selection: the facts about a result and its text, or a row for each call of
// a turn.
func (r *Result) buildRows(s *Context, c Selection, w int) {
	r.lines = nil
	say := func(role screen.Role, text display.Text) {
		for _, line := range display.Wrap(text, max(w-2, 8)) {
			r.lines = append(r.lines, resultLine{role, line.Between(" ", "")})
		}
	}
	var given *stream.SentBackCall
	if c.Call != nil {
		for _, g := range s.View.ToolRuns(c.Call) { // tool runs that received other arguments than the model wrote
			got := s.Pen.Format("the tool got %s, not %s: ", screen.Bytes(g.ArgsSize), screen.Bytes(c.Call.ArgsLen()))
			if g.IsPrefix {
				got = s.Pen.Format("the tool got only the first %s of %s: ", screen.Bytes(g.PrefixBytes), screen.Bytes(c.Call.ArgsLen()))
			}
			if g.IsPrefix || g.Altered {
				say(screen.SideRoles[screen.Differs], s.Pen.Truncate(display.Join(got, s.Pen.Clean(textStart(string(g.Args)))), max(r.key.width-2, 8)))
			}
		}
		given = c.Call.LatestResult()
	}
	switch {
	case c.Turn != nil && c.Turn.Retention == stream.Dropped:
		say(screen.Muted, display.Lit("the turn's tool results are not kept"))
	case c.Call == nil && (c.Turn == nil || len(c.Turn.Calls) == 0):
		say(screen.Muted, display.Lit("no call selected"))
	case c.Call == nil:
		r.listCalls(s.Pen, c.Turn, say)
	case given != nil:
		r.addResult(s, c.Call, given, w, say)
	case c.Call.RunByProvider && c.Call.ResultCode == stream.ResultFailed:
		say(screen.Caution, display.Lit("the provider ran the call, but the call failed: see the response"))
	case c.Call.RunByProvider:
		say(screen.Muted, display.Lit("the provider runs the call: the result is in the response"))
	default:
		say(screen.Muted, display.Lit("the result has not been sent back"))
	}
}

// listCalls adds a row for each call in a turn.
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

// addResult adds the rows of a result: its facts and its text.
func (r *Result) addResult(s *Context, c *stream.Call, given *stream.SentBackCall, w int, say func(screen.Role, display.Text)) {
	p, gave := s.Pen, &given.Result
	role, words := screen.Muted, "the tool's result, in "+SentBackRequest(s.View, given)
	if given.ResultCode == stream.ResultFailed {
		role, words = screen.Bad, "the tool's result: an error, in "+SentBackRequest(s.View, given)
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
		say(screen.Muted, display.Lit("the text of the result is not kept"))
	case n < gave.Bytes:
		say(screen.Muted, screen.Bytes(n).Between("the first ", ":"))
	}
	if len(r.text) > 0 {
		r.sheet.Add(NewBlock(display.Text{}, r.text, s.Raw || !isDocument(r.text), nil, max(w-2, 8), p.Drawer))
	}
}

// isDocument reports whether a text is a JSON object or array.
func isDocument(text []byte) bool {
	var lex json.Lexer
	lex.Write(text)
	lex.Close()
	return lex.Syntax() == json.SyntaxObject || lex.Syntax() == json.SyntaxOther && bytes.HasPrefix(bytes.TrimSpace(text), []byte("["))
}

// SentBackRequest names the request that sent a call back.
func SentBackRequest(v *providers.View, r *stream.SentBackCall) string {
	if t := v.TurnAfter(r); t != nil {
		return fmt.Sprintf("the request of turn %d", t.Number+1)
	}
	return RequestName(v, r.Exchange)
}

// Draw draws row y of the pane.
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

// toolLine is a line about a tool run. If the line is about a comparison, side is the result of the comparison.
type toolLine struct {
	side     screen.Side
	text     display.Text
	compared bool
}

// plainLine returns a line without a comparison.
func plainLine(side screen.Side, text display.Text) toolLine { return toolLine{side: side, text: text} }

// comparedLine returns a line with the result of a comparison.
func comparedLine(side screen.Side, text display.Text) toolLine {
	return toolLine{side: side, text: text, compared: true}
}

// maxLineText is the maximum number of bytes of captured text in a line.
const maxLineText = 400

// toolRunLines describes the tool runs of a call: arguments, times, results, and the parts of the results that were
// sent to the model.
func toolRunLines(v *providers.View, t *stream.Turn, c *stream.Call, p *screen.Pen) (lines []toolLine) {
	for _, g := range v.ToolRuns(c) {
		lines = append(lines, plainLine(screen.Alike, p.Name(fmt.Sprintf("server %s, tool %s (matched %s)", g.Server, g.Tool, g.How))))
		times := []string{g.SinceMoment(c.FirstArgAt, "its first byte")}
		if r := c.RuleRun(stream.ParsableObject); r.Event > 0 && !r.Replaced {
			times = append(times, g.SinceMoment(v.EventPrefix(r.Event, 0).At, "it looked done"))
		}
		times = append(times, g.SinceMoment(c.SealedAt, "its arguments were final"))
		if t.Closed() {
			times = append(times, g.SinceMoment(t.ClosedAt, "the turn's end"))
		}
		times = slices.DeleteFunc(times, func(s string) bool { return s == "" })
		side := screen.Alike
		if c.SealedAt >= 0 && g.At >= 0 && g.At < c.SealedAt {
			side = screen.Differs
		}
		lines = append(lines, plainLine(side, p.Clean(strings.Join(times, ", "))))
		args := display.Join(p.Format("%s B  ", screen.Count(g.ArgsSize)), p.Clean(textStart(string(g.Args))))
		switch {
		case g.IsPrefix:
			begun := p.Format("the first %s B of the model's arguments, as a JSON string: %s", screen.Count(g.PrefixBytes), p.Clean(textStart(string(g.Args))))
			lines = append(lines, comparedLine(screen.Differs, begun))
		case g.Altered && g.Path != "":
			lines = append(lines, comparedLine(screen.Differs, display.Join(display.Lit("other arguments, at "), p.Name(g.Path), display.Lit(": "), args)))
		case g.Altered:
			lines = append(lines, comparedLine(screen.Differs, display.Join(display.Lit("other arguments: "), args)))
		default:
			lines = append(lines, comparedLine(screen.Same, display.Join(display.Lit("the same arguments: "), args)))
		}
		lines = append(lines, toolAnswerLines(g, p)...)
	}
	return lines
}

// textStart returns the beginning of a text, as much as fits into a line.
func textStart(text string) string {
	if len(text) <= maxLineText {
		return text
	}
	n := maxLineText
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// toolAnswerLines describes the result of a tool, and the part of that result that was sent to the model.
func toolAnswerLines(g providers.ToolRun, p *screen.Pen) (lines []toolLine) {
	if g.Took < 0 {
		words := g.State
		switch words {
		case "no answer":
			words = "no response was seen"
		case "unknown":
			words = "the response is unknown: bytes are missing"
		}
		lines = append(lines, plainLine(screen.Nothing, p.Clean(words)))
	} else {
		what := "returned"
		if g.Failed {
			what = "returned an error"
		} else if g.State != "done" {
			what = g.State
		}
		sizes := fmt.Sprintf("%s in %s, %d B", what, screen.Time(g.Took), g.Size)
		if g.Shape > 0 {
			sizes += fmt.Sprintf(" and %d B structured", g.Shape)
		}
		lines = append(lines, plainLine(screen.Alike, display.Join(p.Clean(sizes+": "), p.Clean(textStart(g.Text)))))
	}
	if g.ResultSent {
		side, words := screen.Same, g.Verdict
		switch g.Verdict {
		case "cut", "altered", "none":
			side = screen.Differs
		case "half", "wrapped":
			side = screen.Alike
		case "":
			side, words = screen.Alike, "can't be compared"
		}
		lines = append(lines, comparedLine(side, p.Format("the model got %d B: %s", g.SentSize, words)))
	}
	return lines
}

// toolFindingLines returns the lines about a call's tool runs, which are below its findings.
func toolFindingLines(v *providers.View, t *stream.Turn, c *stream.Call, width int, p *screen.Pen) (lines []findingLine) {
	for i, s := range toolRunLines(v, t, c, p) {
		if i == 0 {
			lines = append(lines, findingLine{of: ours}, findingLine{of: ours, role: screen.Muted, text: display.Lit(" WHAT THE TOOL RECEIVED")})
		}
		sign := display.Lit("  ")
		if s.compared {
			sign = p.Clean(strings.TrimSpace(p.Glyph.Side[s.side].String())).Between("", " ")
		}
		for j, line := range display.Wrap(display.Join(sign, s.text), max(width-4, 8)) {
			if j > 0 {
				line = line.Between("  ", "")
			}
			lines = append(lines, findingLine{of: ours, role: screen.SideRoles[s.side], text: line.Between(" ", "")})
		}
	}
	return lines
}

// toolRunsKey returns a key that changes when there is new data about the tool runs of a call.
func toolRunsKey(v *providers.View, c *stream.Call) (key int) {
	for _, g := range v.ToolRuns(c) {
		key = 8*key + 1
		if g.Took >= 0 {
			key += 2
		}
		if g.ResultSent {
			key += 4
		}
	}
	return key
}
