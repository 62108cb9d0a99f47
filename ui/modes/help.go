package modes

import (
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// Help is the overlay that explains the signs and lists the keys of the current view. It can run the
// selected key, and tab shows the keys of other views.
type Help struct {
	screen.Window
	host   Host
	pen    *screen.Pen
	places []KeyContext
	place  int
	line   *screen.Input // the search text, or nil
	typed  bool          // the search text is being typed
	rows   []helpRow
	laid   helpKey
}

// KeyContext is a view and its keys.
type KeyContext struct {
	Name   display.Text
	Groups []KeyGroup
	Press  func(key string) // runs a key of this view; nil if the view is not open
}

// KeyGroup is a titled list of keys.
type KeyGroup struct {
	Title display.Text
	Keys  []screen.Binding
}

// helpKey identifies the inputs of the layout.
type helpKey struct {
	w, place int
	query    string
	done     bool
}

// helpRow is a title, a row of signs, or a key. An empty row separates groups.
type helpRow struct {
	title display.Text
	signs []legendSign
	key   *screen.Binding
	place int // of the view that has the key
}

// NewHelp returns the help, which starts with the first view.
func NewHelp(h Host, pen *screen.Pen, places []KeyContext) *Help {
	return &Help{host: h, pen: pen, places: places}
}

// Typing returns the search input while it is typed, else nil.
func (h *Help) Typing() *screen.Input {
	if h.typed {
		return h.line
	}
	return nil
}

// Keys returns the keys that move, find, run and close.
func (h *Help) Keys() []screen.Binding {
	do := screen.Key("enter", "run", "run the key", h.runSelected)
	up := screen.Key("up", "", "up", func() { h.stepToKey(-1) })
	down := screen.Key("down", "", "down", func() { h.stepToKey(1) })
	if h.typed {
		return []screen.Binding{do, up, down, screen.Key("esc", "show all", "show all", func() {
			h.line, h.typed = nil, false
		})}
	}
	keys := []screen.Binding{do,
		screen.Key("/", "find", "find in the help", func() {
			h.line, h.typed = screen.NewInput(display.Text{}, "", 80), true
		}),
		screen.Key("tab", "other views", "keys of the next view", func() { h.switchContext(1) }),
		screen.Key("shift+tab", "", "keys of the previous view", func() { h.switchContext(len(h.places) - 1) }),
		screen.Key("esc q ?", "close", "close", h.host.Close),
	}
	moves := h.CursorKeys("", h.MoveTo)
	moves[0].Do, moves[1].Do = up.Do, down.Do
	moves[2].Do, moves[3].Do = func() { h.movePage(-1) }, func() { h.movePage(1) }
	return append(keys, moves...)
}

// switchContext shows the keys of another view.
func (h *Help) switchContext(step int) {
	h.place, h.line = (h.place+step)%len(h.places), nil
	h.At, h.Top = 0, 0
}

// stepToKey goes to the next key, or scrolls if there is none.
func (h *Help) stepToKey(by int) {
	for row := h.At + by; row >= 0 && row < len(h.rows); row += by {
		if h.rows[row].key != nil {
			h.MoveTo(row)
			return
		}
	}
	if by < 0 {
		h.MoveTo(0)
	}
}

// movePage moves the view by a page less one row, and the cursor to a visible key.
func (h *Help) movePage(by int) {
	step := max(1, h.Height-1)
	if by < 0 {
		h.MoveTo(h.Top - step)
	} else {
		h.MoveTo(h.Top + h.Height - 1 + step)
	}
	for row := h.Top + h.Height - 1; row >= h.Top; row-- {
		if row < len(h.rows) && h.rows[row].key != nil {
			h.MoveTo(row)
			return
		}
	}
}

// runSelected closes the help and runs the selected key.
func (h *Help) runSelected() {
	if h.At >= len(h.rows) || h.rows[h.At].key == nil {
		if h.queryText() != "" {
			h.host.Say(display.Lit("no matching key"))
			return
		}
		h.host.Say(display.Lit("no key selected: use up and down"))
		return
	}
	at := h.places[h.rows[h.At].place]
	if at.Press == nil {
		h.host.Say(display.Lit("that key belongs to another view"))
		return
	}
	key := h.rows[h.At].key.Keys[0]
	h.host.Close()
	at.Press(key)
}

// Extend lays out the rows again if the view, query or width changed.
func (h *Help) Extend(_ *providers.View, w, height int) {
	key := helpKey{w: min(w, OverlayWidth), place: h.place, done: true}
	key.query = h.queryText()
	if key != h.laid {
		anew := key.query != h.laid.query
		h.laid = key
		if h.rows = h.layOut(key); anew {
			h.At, h.Top = 0, 0
		}
	}
	h.Fit(len(h.rows), 1, h.WantedRows(height))
	if key.query != "" && (h.At >= len(h.rows) || h.rows[h.At].key == nil) {
		h.stepToKey(1)
	}
}

func (h *Help) queryText() string {
	if h.line == nil {
		return ""
	}
	return strings.ToLower(strings.TrimSpace(h.line.Value()))
}

// layOut returns the signs, for the first view only, and then the keys. A query is also searched in the
// other views.
func (h *Help) layOut(k helpKey) (rows []helpRow) {
	if k.place == 0 || k.query != "" {
		rows = h.signRows(k)
	}
	rows = h.layPlace(rows, k.place, k.query)
	for place := range h.places {
		if k.query != "" && place != k.place {
			rows = h.layPlace(rows, place, k.query)
		}
	}
	return rows
}

// layPlace appends the keys of a view. For other views it appends only keys that differ from those of this
// view.
func (h *Help) layPlace(rows []helpRow, place int, query string) []helpRow {
	for _, g := range h.places[place].Groups {
		var keys []helpRow
		for i := range g.Keys {
			b := &g.Keys[i]
			twice := place != h.place && slices.ContainsFunc(rows, func(r helpRow) bool {
				return r.key != nil && r.key.Does == b.Does && slices.Equal(r.key.Keys, b.Keys)
			})
			if !b.Does.Empty() && !twice && h.keyMatches(b, query) {
				keys = append(keys, helpRow{key: b, place: place})
			}
		}
		if len(keys) == 0 {
			continue
		}
		if len(rows) > 0 {
			rows = append(rows, helpRow{})
		}
		title := g.Title
		if place != h.place && h.places[place].Name != title {
			title = display.Join(title, h.places[place].Name.Between(", ", ""))
		}
		rows = append(append(rows, helpRow{title: title}), keys...)
	}
	return rows
}

// signRows returns the rows of the legend that match the query.
func (h *Help) signRows(k helpKey) (rows []helpRow) {
	for _, part := range legendParts(h.pen.Glyph) {
		if k.query != "" {
			var fit []legendSign
			for _, m := range part.of {
				if strings.Contains(m.word.String(), k.query) || m.sign.String() == k.query {
					fit = append(fit, m)
				}
			}
			part.of = fit
		}
		for i, row := range part.wrapSigns(k.w - keyColumn) {
			if i == 0 {
				rows = append(rows, helpRow{title: part.title})
			}
			rows = append(rows, helpRow{signs: row})
		}
	}
	return rows
}

// keyMatches reports whether the query matches a key's name or description.
func (h *Help) keyMatches(b *screen.Binding, query string) bool {
	if query == "" || strings.Contains(strings.ToLower(b.Does.String()), query) {
		return true
	}
	for name := range strings.FieldsSeq(b.Name(h.pen.Drawer).String()) {
		if strings.ToLower(name) == query {
			return true
		}
	}
	return false
}

// WantedRows returns the number of rows, at most three quarters of the body.
func (h *Help) WantedRows(height int) int {
	most := max(height*3/4, min(height, 6))
	if h.laid.query != "" {
		return most // the input row doesn't move with the number of matches
	}
	return min(1+len(h.rows), most)
}

// Columns of the help, in cells.
const (
	keyColumn  = 3  // before a key
	doesColumn = 16 // before its description
)

// Draw draws row y.
func (h *Help) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if y == 0 {
		h.drawTitle(p)
		return
	}
	n := h.Top + y - 1
	if n >= len(h.rows) {
		return
	}
	switch row := h.rows[n]; {
	case row.key != nil:
		g, mark := screen.Bare, display.Lit(" ")
		if n == h.At {
			g, mark = screen.Selected, p.Glyph.Mark
		}
		p.TextOn(screen.Accent, g, mark)
		p.TextOn(screen.Accent, g, p.Pad(display.Join(display.Lit("  "), p.Truncate(row.key.Name(p.Drawer), doesColumn-keyColumn-1)), doesColumn-1))
		p.TextOn(screen.Plain, g, row.key.Does)
		p.Fill(g)
	case row.signs != nil:
		p.Spaces(screen.Bare, keyColumn)
		for _, m := range row.signs {
			m.draw(p)
		}
	default:
		p.Text(screen.Muted, row.title.Between(" ", ""))
	}
}

// drawTitle draws the view's name and the visible range, or the search input.
func (h *Help) drawTitle(p *screen.Pen) {
	last := min(h.Top+h.Height, len(h.rows))
	note := p.Format("%d%s%d of %d", min(h.Top+1, last), p.Glyph.Dash, last, len(h.rows))
	switch {
	case len(h.rows) == 0:
		note = display.Lit("nothing")
	case last < len(h.rows):
		note = display.Join(note, display.Lit(" "), p.Glyph.Below)
	}
	if h.typed {
		DrawInputRow(p, display.Lit("HELP /"), h.line, note)
		return
	}
	p.Text(screen.Accent, display.Lit(" HELP  "))
	p.Text(screen.Plain, h.places[h.place].Name)
	p.Right(screen.Muted, screen.Bare, note.Between("  ", " "))
}

// legendSign is a sign of the screen and its meaning.
type legendSign struct {
	role screen.Role
	sign display.Text
	word display.Text
}

// legendParts returns the signs of the screen, in Unicode or ASCII, one part per kind.
func legendParts(g *screen.Glyphs) []legendPart {
	calls := legendPart{title: display.Lit("Call states; a turn: its first bad call")}
	for st := range stream.Status(stream.NumStatus) {
		calls.of = append(calls.of, legendSign{screen.StatusRoles[st], g.Status[st], display.Clean(st.String())})
	}
	found := legendPart{title: display.Lit("A finding")}
	for of := len(g.Severity) - 1; of >= 0; of-- {
		found.of = append(found.of, legendSign{screen.SeverityRoles[of], g.Severity[of], display.Clean(stream.Severity(of).String())})
	}
	side := legendPart{title: display.Lit("Comparison signs")}
	for i, word := range [screen.NumSides]display.Text{
		display.Lit("the same"), display.Lit("the same meaning"), display.Lit("differs"), display.Lit("absent, or unknown"), display.Lit("nothing sent"),
	} {
		side.of = append(side.of, legendSign{screen.SideRoles[i], g.Side[i], word})
	}
	text := legendPart{title: display.Lit("A text"), of: []legendSign{
		{screen.Live, g.Cursor, display.Lit("may grow")}, {screen.Bad, g.Status[stream.CutShort], display.Lit("cut here")},
		{screen.Bad, g.Status[stream.Aborted], display.Lit("aborted here")},
		{screen.Muted, g.Ghost.Between("", "}"), display.Lit("missing closer")}, {screen.Muted, g.Wraps, display.Lit("row continues")},
		{screen.Muted, g.Fold, display.Lit("folded")}, {screen.Muted, g.Delta, display.Lit("start of a delta")},
	}}
	place := legendPart{title: display.Lit("A place"), of: []legendSign{
		{screen.Accent, g.Mark, display.Lit("the cursor")}, {screen.Muted, g.Change.Between("", "14"), display.Lit("delta of the call")},
		{screen.Muted, display.Lit("#21"), display.Lit("frame")}, {screen.Accent, display.Lit("[TAB]"), display.Lit("open tab")},
	}}
	line := legendPart{title: display.Lit("Timeline (a state is drawn where it begins)")}
	for _, s := range panes.TimeSigns(g) {
		if s.Sign == g.Usable {
			s.Word = display.Lit("actionable: has all required keys")
		}
		line.of = append(line.of, legendSign{screen.Muted, s.Sign, s.Word})
	}
	figure := legendPart{title: display.Lit("A figure"), of: []legendSign{
		{screen.Muted, display.Lit("~$"), display.Lit("approximate or unfinished")}, {screen.Muted, display.Lit("byte 0"), display.Lit("the first")},
		{screen.Muted, display.Lit("+1"), display.Lit("one more finding")},
	}}
	return []legendPart{calls, found, side, text, line, place, figure}
}

// legendPart is a title and the signs of one kind.
type legendPart struct {
	title display.Text
	of    []legendSign
}

const legendGap = 3 // cells between two meanings

// wrapSigns arranges the signs in rows of the given width.
func (l legendPart) wrapSigns(cells int) (rows [][]legendSign) {
	left := 0
	for _, m := range l.of {
		if width := m.width(); len(rows) == 0 || width > left {
			rows, left = append(rows, []legendSign{m}), cells-width
		} else {
			rows[len(rows)-1] = append(rows[len(rows)-1], m)
			left -= width
		}
	}
	return rows
}

func (m legendSign) width() int { return m.sign.Width() + 1 + m.word.Width() + legendGap }

func (m legendSign) draw(p *screen.Pen) {
	p.Text(m.role, m.sign)
	p.Text(screen.Plain, m.word.Between(" ", ""))
	p.Spaces(screen.Bare, legendGap)
}
