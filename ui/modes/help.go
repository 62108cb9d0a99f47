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

// Help is the drawer that lists the keys of the current view, in columns across the screen, and explains the
// signs. It can run the selected key. The tab key shows the keys of other views.
type Help struct {
	screen.Window
	host   Host
	pen    *screen.Pen
	places []KeyContext
	place  int
	line   *screen.Input // the search text, or nil
	typed  bool          // the search text is being typed

	columns [][]helpCell // columns of keys; the signs are below
	width   int          // width of a column
	column  int          // the column with the cursor
	signs   []signRow
	laid    helpKey
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

// helpKey has the values that determine the layout.
type helpKey struct {
	w, place int
	query    string
	done     bool
}

// helpCell is a row in a column: the title of a group, a key, or a further line of a key's description. An empty
// cell separates groups.
type helpCell struct {
	title display.Text
	key   *screen.Binding
	text  display.Text // a line of the description
	left  int          // cells before the text
	place int          // the view that has the key
}

// signRow is the title of a part of the legend, or a row of signs.
type signRow struct {
	title display.Text
	signs []legendSign
}

// NewHelp returns the help. It opens with the first view.
func NewHelp(h Host, pen *screen.Pen, places []KeyContext) *Help {
	return &Help{host: h, pen: pen, places: places}
}

// Typing returns the search input while text is being typed, or nil otherwise.
func (h *Help) Typing() *screen.Input {
	if h.typed {
		return h.line
	}
	return nil
}

// Keys returns the keys that move, search, run and close.
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
	keys = append(keys, screen.Key("left h", "", "previous column", func() { h.moveColumn(-1) }), screen.Key("right l", "", "next column", func() { h.moveColumn(1) }))
	moves[2].Do, moves[3].Do = func() { h.movePage(-1) }, func() { h.movePage(1) }
	return append(keys, moves...)
}

// switchContext shows the keys of another view.
func (h *Help) switchContext(step int) {
	h.place, h.line = (h.place+step)%len(h.places), nil
	h.At, h.Top, h.column = 0, 0, 0
}

// keyAt returns the key in a row of a column, or nil.
func (h *Help) keyAt(column, row int) *helpCell {
	if column < len(h.columns) && row >= 0 && row < len(h.columns[column]) && h.columns[column][row].key != nil {
		return &h.columns[column][row]
	}
	return nil
}

// keyRows returns the number of rows in the longest column.
func (h *Help) keyRows() (rows int) {
	for _, c := range h.columns {
		rows = max(rows, len(c))
	}
	return rows
}

// stepToKey moves the cursor to the next key in the column, or else in the next column. After the last key, it
// scrolls to the signs.
func (h *Help) stepToKey(by int) {
	if by < 0 && h.At >= h.keyRows() && h.At > 0 {
		if h.MoveTo(h.At - 1); h.At < h.keyRows() {
			h.column = len(h.columns) - 1
			for row := h.keyRows() - 1; row >= 0; row-- {
				if h.keyAt(h.column, row) != nil {
					h.MoveTo(row)
					break
				}
			}
		}
		return
	}
	for column, row := h.column, h.At+by; column >= 0 && column < len(h.columns); {
		for ; row >= 0 && row < len(h.columns[column]); row += by {
			if h.keyAt(column, row) != nil {
				h.column = column
				h.MoveTo(row)
				return
			}
		}
		if column += by; by > 0 {
			row = 0
		} else if column >= 0 {
			row = len(h.columns[column]) - 1
		}
	}
	switch {
	case by > 0 && h.At < h.keyRows():
		h.MoveTo(h.keyRows())
	case by > 0:
		h.MoveTo(h.At + 1)
	default:
		h.Scroll(0)
		h.moveToFirstKey()
	}
}

// moveToFirstKey selects the first key in the cursor's column.
func (h *Help) moveToFirstKey() {
	for row := range h.keyRows() {
		if h.keyAt(h.column, row) != nil {
			h.MoveTo(row)
			h.Top = 0
			return
		}
	}
}

// moveColumn moves the cursor to the nearest key in another column.
func (h *Help) moveColumn(by int) {
	column := h.column + by
	if column < 0 || column >= len(h.columns) {
		return
	}
	for off := range h.keyRows() {
		for _, row := range []int{h.At - off, h.At + off} {
			if h.keyAt(column, row) != nil {
				h.column = column
				h.MoveTo(row)
				return
			}
		}
	}
}

// movePage scrolls by one row less than a page, and moves the cursor to a visible key.
func (h *Help) movePage(by int) {
	step := max(1, h.Height-1)
	if by < 0 {
		h.MoveTo(h.Top - step)
	} else {
		h.MoveTo(h.Top + h.Height - 1 + step)
	}
	for row := h.Top + h.Height - 1; row >= h.Top; row-- {
		if h.keyAt(h.column, row) != nil {
			h.MoveTo(row)
			return
		}
	}
}

// Click selects the key at a position in the drawer, and reports whether it was already selected.
func (h *Help) Click(x, y int) (again bool) {
	row := h.RowAt(y)
	column := min(x/max(1, h.width), len(h.columns)-1)
	for ; row > 0 && column >= 0 && row < len(h.columns[column]) && !h.columns[column][row].text.Empty() && h.columns[column][row].key == nil; row-- {
	}
	if column < 0 || h.keyAt(column, row) == nil {
		return false
	}
	again = row == h.At && column == h.column
	h.column = column
	h.MoveTo(row)
	return again
}

// runSelected closes the help and runs the selected key.
func (h *Help) runSelected() {
	cell := h.keyAt(h.column, h.At)
	if cell == nil {
		if h.queryText() != "" {
			h.host.Say(display.Lit("no matching key"))
			return
		}
		h.host.Say(display.Lit("no key selected: use up and down"))
		return
	}
	at := h.places[cell.place]
	if at.Press == nil {
		h.host.Say(display.Lit("that key belongs to another view"))
		return
	}
	key := cell.key.Keys[0]
	h.host.Close()
	at.Press(key)
}

// Extend lays out the drawer again if the view, query or width has changed.
func (h *Help) Extend(_ *providers.View, w, height int) {
	key := helpKey{w: w, place: h.place, done: true}
	key.query = h.queryText()
	if key != h.laid {
		anew := !h.laid.done || key.query != h.laid.query || key.w != h.laid.w || key.place != h.laid.place
		h.laid = key
		// If there is a query, matching keys of the other views are added.
		groups := h.groupCells(nil, key.place, key.query)
		for place := range h.places {
			if key.query != "" && place != key.place {
				groups = h.groupCells(groups, place, key.query)
			}
		}
		// Arrange the groups row by row, or each group in the shortest column if that needs fewer rows.
		columns := min(helpColumns(key.w), max(1, len(groups)))
		h.width = key.w / columns
		h.arrangeGroups(groups, columns, false)
		inColumns, rows := h.columns, h.keyRows()
		if h.arrangeGroups(groups, columns, true); h.keyRows() > rows {
			h.columns = inColumns
		}
		// The signs are below the keys in the first view or, if there is a query, in every view.
		if h.signs = nil; key.place == 0 || key.query != "" {
			h.signs = h.signRows(key)
		}
		if anew {
			h.At, h.Top, h.column = 0, 0, 0
			for h.column < len(h.columns)-1 && len(h.columns[h.column]) == 0 {
				h.column++
			}
		}
		h.Fit(h.keyRows()+len(h.signs), 1, h.WantedRows(height))
		if anew {
			h.moveToFirstKey()
		}
	}
	h.Fit(h.keyRows()+len(h.signs), 1, h.WantedRows(height))
}

// IsWide returns true, because the drawer covers the width of the screen.
func (h *Help) IsWide() bool { return true }

func (h *Help) queryText() string {
	if h.line == nil {
		return ""
	}
	return strings.ToLower(strings.TrimSpace(h.line.Value()))
}

// helpColumns returns the number of columns on a screen of width w.
func helpColumns(w int) int {
	switch {
	case w < 60:
		return 1
	case w < 80:
		return 2
	case w < 160:
		return 3
	}
	return 4
}

// arrangeGroups puts the groups into columns: row by row, or each into the shortest column.
func (h *Help) arrangeGroups(groups [][]helpCell, columns int, byRow bool) {
	h.columns = make([][]helpCell, columns)
	for n, g := range groups {
		at := n % columns
		if !byRow {
			at = 0
			for i, c := range h.columns {
				if len(c) < len(h.columns[at]) {
					at = i
				}
			}
		}
		if len(h.columns[at]) > 0 && g[0].title.Empty() {
			h.columns[at] = append(h.columns[at], helpCell{})
		}
		h.columns[at] = append(h.columns[at], h.wrapCells(g)...)
	}
}

// wrapCells returns the cells of a group. If a description is wider than the column, it uses the brief description,
// and wraps that if it is also too wide.
func (h *Help) wrapCells(g []helpCell) (all []helpCell) {
	left := keyColumn + minKeyWidth
	for _, cell := range g {
		if cell.key != nil {
			left = max(left, min(keyColumn+h.keyNames(cell.key).Width()+1, h.width/2))
		}
	}
	for _, cell := range g {
		if cell.left = left; cell.key == nil {
			all = append(all, cell)
			continue
		}
		does, width := cell.key.Does, max(8, h.width-left-1)
		if does.Width() > width {
			does = screen.Brief(does)
		}
		for i, line := range display.Wrap(does, width) {
			if i > 0 {
				cell.key = nil
			}
			cell.text = line
			all = append(all, cell)
		}
	}
	return all
}

// groupCells appends the groups of a view. For other views, it appends only keys that differ from the keys of
// the current view.
func (h *Help) groupCells(groups [][]helpCell, place int, query string) [][]helpCell {
	for _, g := range h.places[place].Groups {
		var keys []helpCell
		for i := range g.Keys {
			b := &g.Keys[i]
			twice := place != h.place && slices.ContainsFunc(groups, func(group []helpCell) bool {
				return slices.ContainsFunc(group, func(c helpCell) bool {
					return c.key != nil && c.key.Does == b.Does && slices.Equal(c.key.Keys, b.Keys)
				})
			})
			if !b.Does.Empty() && !twice && h.keyMatches(b, query) {
				keys = append(keys, helpCell{key: b, place: place})
			}
		}
		if len(keys) == 0 {
			continue
		}
		title := g.Title
		if place != h.place && h.places[place].Name != title {
			title = display.Join(title, h.places[place].Name.Between(", ", ""))
		}
		groups = append(groups, append([]helpCell{{title: title}}, keys...))
	}
	return groups
}

// signRows returns the rows of the legend that match the search query.
func (h *Help) signRows(k helpKey) (rows []signRow) {
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
			if i == 0 && !part.title.Empty() {
				rows = append(rows, signRow{title: part.title})
			}
			rows = append(rows, signRow{signs: row})
		}
	}
	if len(rows) > 0 {
		rows = append([]signRow{{}}, rows...)
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

// WantedRows returns the number of rows that the content needs, at most height. If there is a search query, it returns
// height.
func (h *Help) WantedRows(height int) int {
	if h.laid.query != "" {
		return height // otherwise the input row would move whenever the number of matches changes
	}
	return min(1+h.keyRows()+len(h.signs), height)
}

// Columns of the help, in cells.
const (
	keyColumn   = 3  // cells before a key
	maxKeyWidth = 10 // cells for the names of a binding's keys; names that don't fit are left out, except the first
	minKeyWidth = 4  // minimum number of cells for the names of a binding's keys and the blank before the description
)

// Draw draws row y.
func (h *Help) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if y == 0 {
		h.drawTitle(p)
		return
	}
	row := h.Top + y - 1
	if n := row - h.keyRows(); n >= 0 {
		if n < len(h.signs) {
			switch row := h.signs[n]; {
			case n == 0:
				p.Caption(screen.Plain, display.Lit("Symbols: a turn shows its first bad call"))
			case row.signs != nil:
				p.Spaces(screen.Bare, keyColumn)
				for _, m := range row.signs {
					p.Text(m.role, m.sign)
					p.Text(screen.Plain, m.word.Between(" ", ""))
					p.Spaces(screen.Bare, legendGap)
				}
			default:
				p.Text(screen.Muted, row.title.Between(" ", ""))
			}
		}
		return
	}
	rest := p.Left
	for i, column := range h.columns {
		cells := min(h.width, rest)
		p.Left = cells
		if row < len(column) {
			h.drawCell(p, column[row], i == h.column && row == h.At)
		}
		p.Fill(screen.Bare)
		rest -= cells
	}
	p.Left = rest
}

// drawCell draws a cell of a column.
func (h *Help) drawCell(p *screen.Pen, cell helpCell, chosen bool) {
	g, mark := screen.Bare, display.Lit(" ")
	if chosen {
		g, mark = screen.Selected, p.Glyph.Mark
	}
	if cell.text.Empty() {
		p.Text(screen.Muted, cell.title.Between(" ", ""))
		return
	}
	if cell.key == nil {
		p.Spaces(screen.Bare, cell.left)
	} else {
		p.TextOn(screen.Accent, g, mark)
		p.TextOn(screen.Accent, g, p.Pad(display.Join(display.Lit("  "), h.keyNames(cell.key)), cell.left-2))
		p.Spaces(g, 1)
	}
	p.TextOn(screen.Plain, g, cell.text)
}

// keyNames returns the name of the first key, and the names of the other keys that fit. If there are more than two
// keys, and the first and the last are digits, it returns the range of digits.
func (h *Help) keyNames(b *screen.Binding) (names display.Text) {
	if first, last := b.Keys[0], b.Keys[len(b.Keys)-1]; len(b.Keys) > 2 && isDigit(first) && isDigit(last) {
		return h.pen.Format("%s%s%s", first, h.pen.Glyph.Dash, last)
	}
	for _, key := range b.Keys {
		name := screen.NameKeys([]string{key}, h.pen.Drawer)
		switch {
		case names.Empty():
			names = name
		case !name.Empty() && names.Width()+1+name.Width() <= maxKeyWidth:
			names = display.Join(names, display.Lit(" "), name)
		}
	}
	return names
}

func isDigit(key string) bool { return len(key) == 1 && key[0] >= '0' && key[0] <= '9' }

// drawTitle draws the view's name and the visible range, or the search input.
func (h *Help) drawTitle(p *screen.Pen) {
	note := p.ScrollInfo(h.Visible())
	if h.typed {
		if h.Rows == 0 {
			note = display.Lit("nothing")
		}
		DrawInputRow(p, display.Lit("Keys /"), h.line, note)
		return
	}
	title := display.Lit("Keys")
	if h.place == 0 {
		title = display.Lit("Keys here")
	}
	hint := display.Join(display.Lit("/ finds "), p.Glyph.Dot, display.Lit(" tab other views "), p.Glyph.Dot, display.Lit(" esc"))
	if !note.Empty() {
		hint = note
	}
	p.HeavyTitle(title, h.places[h.place].Name, hint)
}

// legendSign is a sign on the screen and its meaning.
type legendSign struct {
	role screen.Role
	sign display.Text
	word display.Text
}

// legendParts returns the signs on the screen, in Unicode or ASCII, with one part for each kind of sign.
func legendParts(g *screen.Glyphs) []legendPart {
	calls := legendPart{} // no title, because the legend's own title is directly above
	for st := range stream.Status(stream.NumStatus) {
		calls.of = append(calls.of, legendSign{screen.StatusRoles[st], g.Status[st], display.Clean(st.String())})
	}
	found := legendPart{title: display.Lit("Findings")}
	for of := len(g.Severity) - 1; of >= 0; of-- {
		found.of = append(found.of, legendSign{screen.SeverityRoles[of], g.Severity[of], display.Clean(stream.Severity(of).String())})
	}
	side := legendPart{title: display.Lit("Comparison signs")}
	for i, word := range [screen.NumSides]display.Text{
		display.Lit("the same"), display.Lit("the same meaning"), display.Lit("differs"), display.Lit("absent, or unknown"), display.Lit("nothing sent"),
	} {
		side.of = append(side.of, legendSign{screen.SideRoles[i], g.Side[i], word})
	}
	text := legendPart{title: display.Lit("Text"), of: []legendSign{
		{screen.Live, g.Cursor, display.Lit("may grow")}, {screen.Bad, g.Status[stream.CutShort], display.Lit("cut here")},
		{screen.Bad, g.Status[stream.Aborted], display.Lit("aborted here")},
		{screen.Muted, g.Ghost.Between("", "}"), display.Lit("missing bracket")}, {screen.Muted, g.Wraps, display.Lit("row continues")},
		{screen.Muted, g.Fold, display.Lit("folded")}, {screen.Muted, g.Delta, display.Lit("start of a delta")},
	}}
	place := legendPart{title: display.Lit("Places"), of: []legendSign{
		{screen.Accent, g.Mark, display.Lit("the cursor")}, {screen.Muted, g.Change.Between("", "14"), display.Lit("delta of the call")},
		{screen.Muted, display.Lit("#21"), display.Lit("frame")}, {screen.Accent, display.Lit("[TAB]"), display.Lit("open tab")},
	}}
	line := legendPart{title: display.Lit("Timeline (a state is drawn where it begins)")}
	for _, s := range panes.TimeSigns(g) {
		line.of = append(line.of, legendSign{screen.Muted, s.Sign, s.Word})
	}
	figure := legendPart{title: display.Lit("Numbers"), of: []legendSign{
		{screen.Muted, display.Lit("~$"), display.Lit("estimated or not final")}, {screen.Muted, display.Lit("exact"), display.Lit("reported tokens at list price")}, {screen.Muted, display.Lit("byte 0"), display.Lit("the first")},
		{screen.Muted, display.Lit("+1"), display.Lit("one more finding")},
	}}
	return []legendPart{calls, found, side, text, line, place, figure}
}

// legendPart is a title and the signs of one kind.
type legendPart struct {
	title display.Text
	of    []legendSign
}

const legendGap = 2 // cells between two meanings

// wrapSigns arranges the signs in rows of the given width.
func (l legendPart) wrapSigns(cells int) (rows [][]legendSign) {
	left := 0
	for _, m := range l.of {
		if len(rows) == 0 || m.width() > left {
			rows, left = append(rows, nil), cells
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], m)
		left -= m.width() + legendGap
	}
	return rows
}

func (m legendSign) width() int { return m.sign.Width() + 1 + m.word.Width() }
