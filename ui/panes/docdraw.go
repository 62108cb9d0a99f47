package panes

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/screen"
)

// Draw draws the row at a place in the document.
func (d *Document) Draw(p *screen.Pen, place int, focused bool) {
	defer p.Fill(screen.Bare)
	if d.Call == nil {
		return
	}
	row, behind := d.rowAtPlace(place)
	switch {
	case row < 0:
		d.drawComing(p, place-d.view.Len(len(d.layoutRows())))
	case behind > 0:
		n := d.noteOf(row)
		if n == nil || behind > len(n.below) {
			return // blank
		}
		p.Spaces(screen.Bare, d.drawSign(p, n, behind == 1, n.below[behind-1].indent))
		p.TextOn(screen.SeverityRoles[n.worst], screen.Bare, n.below[behind-1].text)
		p.TextOn(screen.Muted, screen.Bare, n.below[behind-1].place)
	default:
		d.drawRow(p, row, focused && place == d.At)
	}
}

// drawSign draws the sign of a note if sign is set. It returns the number of blank cells before the text of
// the row. A sign that is wider than the gutter is drawn without blanks.
func (d *Document) drawSign(p *screen.Pen, n *findingNote, sign bool, indent int) int {
	if d.Gutter == 0 {
		return indent
	}
	if n == nil || !sign {
		return d.Gutter + indent
	}
	text := p.Glyph.Severity[n.worst]
	if text.Width() > d.Gutter {
		text = p.Clean(strings.TrimSpace(text.String()))
	}
	p.Text(screen.SeverityRoles[n.worst], text)
	return max(0, d.Gutter+indent-text.Width())
}

// drawRow draws a row of the layout, its fold and its findings.
func (d *Document) drawRow(p *screen.Pen, row int, chosen bool) {
	r, n := d.layoutRows()[row], d.noteOf(row)
	indent := d.drawSign(p, n, n != nil && len(n.below) == 0, int(r.Indent))
	if r.Wrapped && indent >= 2 {
		p.Spaces(screen.Bare, indent-2)
		p.Text(screen.Muted, p.Glyph.Wraps)
		p.Spaces(screen.Bare, 1)
	} else {
		p.Spaces(screen.Bare, indent)
	}
	if d.json == nil {
		// Raw text has a sign where a delta begins.
		toks := d.callTokens()
		text := d.Call.Args()
		for off := int(r.Start); off < int(r.End); {
			if d.Text.Marked(off) {
				p.Text(screen.Muted, p.Glyph.Delta)
			}
			end := d.Text.NextMark(off, int(r.End))
			role := screen.Plain
			if n := tokenAt(toks, off); n < toks.Len() {
				end = off + unitEnd(d.drawer, text[off:end], min(end, int(toks.At(n).End))-off)
				role = d.tokenRole(toks.At(n).Kind)
			}
			d.drawSpan(p, role, text[off:end], off, role == screen.Bad, chosen)
			off = end
		}
	} else {
		d.drawTokens(p, r, chosen)
	}
	if b := d.foldedBox(row); b != nil {
		p.Text(screen.Muted, d.foldText(*b))
		row = int(b.End)
		d.drawTokens(p, d.layoutRows()[row], false)
	}
	if row == len(d.layoutRows())-1 {
		// At the end is an incomplete escape or character, and the sign that shows how the text ended.
		if rest := d.Call.Args()[d.settledLen():]; len(rest) > 0 {
			p.Bytes(screen.Tentative, screen.Growing, rest)
		}
		role := screen.Live
		if !d.Call.MayGrow() {
			role = screen.CallRole(d.Call)
		}
		p.Text(role, d.endSign())
	}
	if n != nil && !n.behind.Empty() {
		p.TextOn(screen.SeverityRoles[n.worst], screen.Bare, n.behind.Between("  ", ""))
	}
}

// drawTokens draws the tokens of a row. A token that may grow is underlined on all its rows.
func (d *Document) drawTokens(p *screen.Pen, r layout.Row, chosen bool) {
	toks := d.callTokens()
	text, off := d.Call.Args(), int(r.Start)
	open := -1
	if d.Call.MayGrow() && d.Call.Lexer().Open() {
		open = toks.Len() - 1
	}
	for n := int(r.Token); n < toks.Len() && off < int(r.End); n++ {
		kind, end := toks.At(n).Kind, min(int(toks.At(n).End), int(r.End))
		if end <= off {
			continue
		}
		if kind != json.Space {
			role := d.tokenRole(kind)
			d.drawSpan(p, role, text[off:end], off, n == open || role == screen.Bad, chosen)
		}
		if kind == json.Colon {
			p.Spaces(screen.Bare, 1)
		}
		off = end
	}
}

// tokenRole returns the role of a token of arguments. Bytes from the first wrong byte on have the role Bad,
// unless toolscope missed bytes of the call.
func (d *Document) tokenRole(k json.TokenKind) screen.Role {
	if k == json.Junk && d.Call.Status() != stream.Unseen {
		return screen.Bad
	}
	return screen.TokenRoles[k]
}

// drawSpan draws bytes of one token, split where the background changes. An open token and wrong bytes are
// underlined.
func (d *Document) drawSpan(p *screen.Pen, r screen.Role, b []byte, off int, open, chosen bool) {
	for len(b) > 0 && p.Left > 0 {
		g, until := d.groundAt(off, off+len(b), chosen)
		until = off + unitEnd(d.drawer, b, until-off)
		if g == screen.Bare && open {
			g = screen.Growing
		}
		drawEscapes(p, r, g, b[:until-off])
		b = b[until-off:]
		off = until
	}
}

// groundAt returns the background of the byte at off, and the offset where that background ends.
func (d *Document) groundAt(off, limit int, chosen bool) (screen.Surface, int) {
	g, until := screen.Bare, limit
	consider := func(s Span, as screen.Surface) {
		switch {
		case s.Has(off):
			g, until = as, min(until, s.End)
		case s.Start > off:
			until = min(until, s.Start)
		}
	}
	if i := sort.Search(len(d.Marks), func(i int) bool { return d.Marks[i].End > off }); i < len(d.Marks) {
		consider(d.Marks[i], screen.Added)
	}
	consider(d.Light, screen.Linked)
	if chosen {
		consider(d.Chosen(), screen.Selected)
	}
	for _, at := range d.Hits.hitsNear(off) {
		consider(Span{at, at + d.Hits.length}, screen.Match)
	}
	return g, until
}

// hitsNear returns the first two matches that end after off.
func (h *Hits) hitsNear(off int) []int {
	if len(h.at) == 0 {
		return nil
	}
	lo, hi := 0, len(h.at)
	for lo < hi {
		if mid := (lo + hi) / 2; h.at[mid]+h.length > off {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return h.at[lo:min(lo+2, len(h.at))]
}

// unitEnd returns n or, if n would split a unit, the end of that unit. A change of style must not split a unit.
func unitEnd(draw display.Drawer, b []byte, n int) int {
	if n >= len(b) || b[n] < utf8.RuneSelf {
		return n
	}
	at := n - 1
	for at > 0 && b[at] >= utf8.RuneSelf {
		at--
	}
	for at < n {
		k, _ := draw.Measure(b[at:])
		at += k
	}
	return at
}

// cellsBefore returns how many cells of row r are before the byte at off.
func (d *Document) cellsBefore(r layout.Row, off int) (cells int) {
	toks := d.callTokens()
	at := int(r.Start)
	for n := int(r.Token); n < toks.Len() && at < off; n++ {
		end := min(int(toks.At(n).End), off)
		if end <= at {
			continue
		}
		switch toks.At(n).Kind {
		case json.Space:
		case json.Colon:
			cells += 2
		default:
			cells += d.drawer.CleanBytes(d.Call.Args()[at:end]).Width()
		}
		at = end
	}
	return cells
}

// findingNote is the note about a row's findings. It includes the findings of rows that this row hides.
type findingNote struct {
	row    int
	worst  stream.Severity
	behind display.Text // text after the text of the row; empty if the note is below
	below  []belowRow   // rows below the row; the first one has the sign
}

// belowRow is a row of a note below its row.
type belowRow struct {
	indent int
	text   display.Text
	place  display.Text // muted, after the text
}

// notesKey identifies the inputs for the notes. The notes are valid until the key changes.
type notesKey struct {
	findings, size, rows, width, deltas int
	last                                layout.Row
	status                              stream.Status
	made, few                           bool
}

// findingSpot is a finding and its place.
type findingSpot struct {
	*stream.Finding
	off   int
	row   int // the row that shows or hides the finding's byte
	loud  bool
	delta int // the delta in which the finding's byte arrived, from 1; 0 if unknown
}

// fewRows is the minimum height of a spaced document with notes below its rows. If the height is smaller, the
// findings are shown elsewhere.
const fewRows = 4

// maxSpots limits how many findings are marked in a call.
const maxSpots = 100

// minNote is the minimum room after a row for a note that must be cut to fit.
const minNote = 12

// decisive are the diagnoses that decide the state of a call. Notes about them are below their rows, as are notes
// about errors.
var decisive = []*stream.Diagnosis{
	stream.ArgsCut, stream.ArgsBroken, stream.ArgsTrailing, stream.ArgsMissingBrace, stream.ArgsConcat, stream.ArgsPlaceholder,
	stream.ArgsFinalDup, stream.ArgsDouble, stream.ArgsNotObject, stream.FinishContradicts,
}

// updateNotes rebuilds the notes and the view if their inputs have changed.
func (d *Document) updateNotes() {
	c, rows := d.Call, d.layoutRows()
	key := notesKey{len(c.Findings), len(c.Args()), len(rows), d.layoutWidth(), c.Deltas(), layout.Row{}, c.Status(), true, d.Spaced && d.Height < fewRows}
	if len(rows) > 0 {
		key.last = rows[len(rows)-1]
	}
	if key == d.noted && d.folds.resolved {
		return
	}
	d.noted = key
	cuts := d.cutFolds()
	d.view.Set(cuts)
	d.notes = d.notes[:0]
	spots := d.findingSpots()
	for len(spots) > 0 {
		n := 1
		for n < len(spots) && spots[n].row == spots[0].row {
			n++
		}
		d.notes = append(d.notes, d.makeNote(spots[:n]))
		spots = spots[n:]
	}
	if len(d.notes) > 0 {
		cuts = mergeCuts(cuts, d.notes)
		d.view.Set(cuts)
	}
	if d.Spaced && d.json != nil && len(rows) <= maxSpacedRows {
		d.view.Set(d.addBlankRows(cuts))
	}
}

// mergeCuts adds the rows of the notes to the row edits of the folds.
func mergeCuts(cuts []layout.RowEdit, notes []findingNote) (all []layout.RowEdit) {
	for _, n := range notes {
		for len(cuts) > 0 && cuts[0].Row < n.row {
			all, cuts = append(all, cuts[0]), cuts[1:]
		}
		cut := layout.RowEdit{Row: n.row, Add: len(n.below)}
		if len(cuts) > 0 && cuts[0].Row == n.row {
			cut.Hide, cuts = cuts[0].Hide, cuts[1:]
		}
		all = append(all, cut)
	}
	return append(all, cuts...)
}

// findingSpots returns the findings that have a place in the current text, by row, with the worst first. If toolscope
// missed bytes of the call, it returns none, because faults in the bytes that did arrive are then uncertain.
func (d *Document) findingSpots() (all []findingSpot) {
	c, size := d.Call, len(d.Call.Args())
	if len(d.layoutRows()) == 0 || c.Status() == stream.Unseen {
		return nil
	}
	since := int32(0) // findings before a rewrite are dropped
	if c.Rewrites > 0 {
		if n := c.DeltaAt(0); n < c.Deltas() {
			since = c.DeltaEvent(n)
		}
	}
	for i := range c.Findings[:min(len(c.Findings), maxSpots)] {
		f := &c.Findings[i]
		s := findingSpot{Finding: f, off: f.Offset, loud: f.Severity == stream.Error || slices.Contains(decisive, f.Diagnosis)}
		if f.Diagnosis == stream.FinishContradicts {
			s.off = size
		}
		if s.off < 0 || s.off > size || int32(f.Event) < since || s.loud && d.Text != nil {
			continue
		}
		s.row = d.rowAt(s.off)
		if h := d.view.Hidden(s.row); h >= 0 {
			s.row = h
		}
		if s.delta = c.DeltaOf(int32(f.Event)) + 1; s.delta == 0 && c.Deltas() > 0 {
			s.delta = min(c.DeltaAt(min(s.off, max(0, size-1))), c.Deltas()-1) + 1
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b findingSpot) int {
		return cmp.Or(a.row-b.row, int(b.Severity)-int(a.Severity), boolOrder(b.loud)-boolOrder(a.loud), a.off-b.off)
	})
	return all
}

func boolOrder(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// makeNote returns the note for a row's findings, which are sorted with the worst first.
func (d *Document) makeNote(of []findingSpot) findingNote {
	s := of[0]
	n := findingNote{row: s.row, worst: s.Severity}
	if d.Text != nil {
		return n // raw text has no notes below
	}
	more := display.Text{}
	if len(of) > 1 {
		more = screen.Count(len(of)-1).Between("  +", "")
	}
	if d.noted.few && s.loud {
		return n
	}
	if s.loud {
		n.below = d.rowsBelow(s, d.loudTexts(s, more))
		return n
	}
	short := display.Join(d.deltaText(s, " "), d.drawer.Clean(s.Brief()))
	room := d.layoutWidth() - d.usedCells(s.row) - 2 - more.Width()
	if room >= minNote || short.Width() <= room {
		if brief := display.Join(d.deltaText(s, " "), d.drawer.Clean(s.Diagnosis.Brief())); short.Width() > room && brief.Width() <= room {
			short = brief
		}
		n.behind = display.Join(d.drawer.Truncate(short, room), more)
		return n
	}
	if !d.noted.few {
		n.below = d.rowsBelow(s, []noteText{{short, more}})
	}
	return n
}

// deltaText returns the delta sign and the number of the delta in which a finding's byte arrived, followed by the
// given text. It returns "" if the delta is unknown.
func (d *Document) deltaText(s findingSpot, after string) display.Text {
	if s.delta == 0 {
		return display.Text{}
	}
	return display.Join(d.glyphSet().Change, screen.Count(s.delta), d.drawer.Clean(after))
}

// noteText is one wording of a note: what is wrong, and where.
type noteText struct{ what, place display.Text }

func (t noteText) cellCount() int { return t.what.Width() + t.place.Width() }

// loudTexts returns wordings for an error or a decisive finding, from long to short: with byte, delta and
// time; without time; and brief ones.
func (d *Document) loudTexts(s findingSpot, more display.Text) []noteText {
	at := screen.Count(s.off).Between("  byte ", "")
	if s.delta > 0 {
		at = display.Join(at, screen.Count(s.delta).Between(", delta ", ""))
	}
	when := display.Text{}
	if d.When != nil {
		if when = d.When(int32(s.Event)); !when.Empty() {
			when = when.Between(", +", "")
		}
	}
	short, brief := d.drawer.Clean(s.Brief()), d.drawer.Clean(s.Diagnosis.Brief())
	return []noteText{
		{short, display.Join(at, when, more)}, {short, display.Join(at, more)}, {brief, display.Join(at, more)},
		{brief, display.Join(screen.Count(s.off).Between("  byte ", ""), more)}, {brief, more},
	}
}

// rowsBelow returns the rows below the byte of a spot. It uses the first wording that fits after or before the sign
// under the byte. If none fits, the longest wording is wrapped below the sign.
func (d *Document) rowsBelow(s findingSpot, ways []noteText) []belowRow {
	width := d.layoutWidth()
	col := min(d.columnOf(s), width-1)
	for _, way := range ways {
		if col+2+way.cellCount() <= width+1 {
			return []belowRow{{col, way.what.Between("^ ", ""), way.place}}
		}
		if left := col - 1 - way.cellCount(); left >= 0 {
			return []belowRow{{left, display.Join(way.what, way.place, display.Lit(" ^")), display.Text{}}}
		}
	}
	rows := []belowRow{{indent: col, text: display.Lit("^")}}
	for _, line := range display.Wrap(display.Join(ways[0].what, ways[0].place), width) {
		rows = append(rows, belowRow{indent: max(0, min(col, width-line.Width())), text: line})
	}
	return rows
}

// columnOf returns the column of a spot's byte in its row.
func (d *Document) columnOf(s findingSpot) int {
	r := d.layoutRows()[s.row]
	if s.off < int(r.End) || s.off > d.settledLen() {
		return int(r.Indent) + d.cellsBefore(r, s.off)
	}
	if d.foldedBox(s.row) != nil { // the fold hides the byte
		return int(r.Indent) + d.cellsBefore(r, int(r.End))
	}
	return int(r.Indent) + d.cellsBefore(r, int(r.End)) + d.drawer.CleanBytes(d.Call.Args()[d.settledLen():]).Width()
}

// usedCells returns how many cells of a row are used.
func (d *Document) usedCells(row int) int {
	r := d.layoutRows()[row]
	cells := int(r.Indent) + d.cellsBefore(r, int(r.End))
	if b := d.foldedBox(row); b != nil {
		row = int(b.End)
		closer := d.layoutRows()[row]
		cells += d.foldText(*b).Width() + d.cellsBefore(closer, int(closer.End))
	}
	if row == len(d.layoutRows())-1 {
		cells += d.drawer.CleanBytes(d.Call.Args()[d.settledLen():]).Width() + d.endSign().Width()
	}
	return cells
}

// noteOf returns the note for a row, or nil.
func (d *Document) noteOf(row int) *findingNote {
	i, ok := slices.BinarySearchFunc(d.notes, row, func(n findingNote, row int) int { return n.row - row })
	if !ok {
		return nil
	}
	return &d.notes[i]
}
