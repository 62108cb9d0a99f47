package cli

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// cellDiffWriter is the terminal to which the screen writes. Bubble Tea rewrites a row if anything in it has
// changed. Often only one of several panes has changed, or only a number. This writer knows the cells that the
// terminal shows, and writes only the cells that differ. A style is only written where it changes, and blank
// cells are erased or skipped.
//
// The cells are known only after a complete frame. After any other write, and in a frame that redraws everything,
// all cells are written again.
type cellDiffWriter struct {
	stdStream
	on      []*cellRow // rows on the terminal; nil if unknown
	out     []byte
	tries   [4][]byte // the current row, written with each tactic
	same    []bool    // for each column of the current row: the terminal shows it already
	styles  styleTable
	style   *cellStyle // the terminal's current style
	written atomic.Int64
}

// Write writes only the changes of a frame. It writes all other output unchanged.
func (w *cellDiffWriter) Write(p []byte) (int, error) {
	out := p
	if frame, ok := cutFrame(p); ok {
		out = w.diffFrame(frame)
	} else {
		w.on, out = nil, withWheel(p)
	}
	n, err := w.stdStream.Write(out)
	w.written.Add(int64(n))
	if err != nil {
		w.on = nil
		return min(n, len(p)), err
	}
	return len(p), nil
}

// These constants make the mouse wheel work while the mouse is not captured. With alternate scroll, a
// terminal sends wheel movements as arrow keys while it shows the alternate screen. At the end, the
// terminal's previous mode is restored.
const (
	alternateScroll = "\x1b[?1007s\x1b[?1007h"
	restoreScroll   = "\x1b[?1007r"
)

// withWheel enables alternate scroll after the start of the alternate screen, and restores the previous mode
// before its end.
func withWheel(p []byte) []byte {
	switch {
	case bytes.Contains(p, []byte(ansi.SetModeAltScreenSaveCursor)):
		return append(bytes.Clone(p), alternateScroll...)
	case bytes.Contains(p, []byte(ansi.ResetModeAltScreenSaveCursor)):
		return append([]byte(restoreScroll), p...)
	}
	return p
}

const toStart = ansi.CursorHomePosition

// frame is a frame that Bubble Tea writes. Rows that are empty in it have not changed.
type frame struct {
	anew bool // the frame redraws everything, because the content is unknown
	rows [][]byte
	last []byte // the last sequence, which moves the cursor
}

// cutFrame splits a frame into rows. The result ok is false for other output.
func cutFrame(p []byte) (f frame, ok bool) {
	p, ok = bytes.CutPrefix(p, []byte(toStart))
	end := bytes.LastIndexByte(p, ansi.ESC)
	if !ok || end < 0 {
		return f, false
	}
	p, f.last = p[:end], p[end:]
	p, f.anew = bytes.CutPrefix(p, []byte("\r"))
	f.rows = bytes.Split(p, []byte("\n"))
	for i, row := range f.rows {
		f.rows[i] = bytes.TrimSuffix(row, []byte("\r"))
	}
	return f, string(f.last) == ansi.CursorPosition(0, len(f.rows))
}

// diffFrame returns the bytes that must be written for a frame, and keeps the frame's cells for the next comparison.
// The result is valid until the next call.
func (w *cellDiffWriter) diffFrame(f frame) []byte {
	if f.anew || len(w.on) != len(f.rows) {
		w.on = make([]*cellRow, len(f.rows))
	}
	w.style = w.styles.styleOf(nil)
	b := append(w.out[:0], toStart...)
	for i, row := range f.rows {
		if i > 0 {
			b = append(b, '\n')
		}
		if len(row) == 0 || w.on[i] != nil && bytes.Equal(row, w.on[i].text) {
			continue
		}
		now, start := w.styles.parseRow(row), len(b)
		if now == nil { // the row has other sequences
			b = append(w.changeStyle(b, w.styles.styleOf(nil)), row...)
		} else {
			b = w.appendRow(b, w.on[i], now)
		}
		if w.on[i] = now; len(b) > start {
			b = append(b, '\r')
		}
	}
	w.out = append(w.changeStyle(b, w.styles.styleOf(nil)), f.last...)
	return w.out
}

// tactic is a way to write the changes of a row.
type tactic struct {
	erase   bool // the row is erased from its first change on, and only cells that are not blank are written
	grouped bool // cells of the same style are written together, so the cursor moves more often
}

// appendRow appends the bytes that turn the old row, was, into the new one. The old row is nil if it is unknown. The
// cursor must be at the start of the row. The tactic is the one that takes the fewest bytes.
func (w *cellDiffWriter) appendRow(b []byte, was, now *cellRow) []byte {
	style, best, after := w.style, len(w.tries), w.style
	for i, t := range [len(w.tries)]tactic{{}, {erase: true}, {grouped: true}, {erase: true, grouped: true}} {
		if t.grouped && now.certain < len(now.cells) {
			continue
		}
		w.style = style
		w.tries[i] = w.appendChanges(w.tries[i][:0], was, now, t)
		if best == len(w.tries) || len(w.tries[i]) < len(w.tries[best]) {
			best, after = i, w.style
		}
	}
	w.style = after
	return append(b, w.tries[best]...)
}

// appendChanges appends the bytes for the changes of a row with one tactic.
func (w *cellDiffWriter) appendChanges(b []byte, was, now *cellRow, t tactic) []byte {
	w.same = now.compareCells(was, w.same[:0])
	at := 0
	if first := slices.Index(w.same, false); first >= 0 && t.erase {
		b = w.eraseRight(w.moveCursor(b, now, 0, first))
		at, was = first, &cellRow{certain: len(now.cells), erased: true}
		w.same = now.compareCells(was, w.same[:0])
	}
	for left := true; left; {
		b, at, left = w.appendPass(b, now, at, t.grouped)
	}
	if now.erased && (was == nil || !was.erased || len(was.cells) > len(now.cells)) {
		b = w.eraseRight(w.moveCursor(b, now, at, len(now.cells)))
	}
	return b
}

// appendPass appends the cells that differ, from a column on in which the cursor must be. If grouped is true, these
// are only the cells whose style is that of the first one. The result at is the column of the cursor. The result
// left reports whether other cells are left.
func (w *cellDiffWriter) appendPass(b []byte, row *cellRow, from int, grouped bool) (_ []byte, at int, left bool) {
	blank, at := row.blankEnd(), from
	var style *cellStyle
	for x := range row.cells {
		cell := row.cells[x]
		if w.same[x] || cell.width == 0 {
			continue
		}
		if style == nil {
			style = cell.style
		}
		if grouped && cell.style != style {
			left = true
			continue
		}
		if x < at {
			b, at = append(b, '\r'), 0
		}
		b = w.moveCursor(b, row, at, x)
		if !grouped && x >= blank && len(row.cells)-x > len(ansi.EraseLineRight) {
			return w.eraseRight(b), x, false
		}
		b = w.appendCell(b, row, cell)
		at = x + cell.width
		for i := x; i < at; i++ {
			w.same[i] = true
		}
	}
	return b, at, left
}

// moveCursor appends the bytes that move the cursor to the right, over cells that have not changed. It writes these
// cells again if that takes fewer bytes than a sequence for the cursor.
func (w *cellDiffWriter) moveCursor(b []byte, row *cellRow, from, to int) []byte {
	if from == to {
		return b
	}
	start, style := len(b), w.style
	move := ansi.CursorForward(to - from)
	for x := from; x < to; x += max(row.cells[x].width, 1) {
		if b = w.appendCell(b, row, row.cells[x]); len(b)-start > len(move) {
			w.style = style
			return append(b[:start], move...)
		}
	}
	return b
}

// appendCell appends a cell. The style changes before it, unless a blank cell looks the same in the current style.
func (w *cellDiffWriter) appendCell(b []byte, row *cellRow, c rowCell) []byte {
	if !row.isBlank(c) || c.style.onBlank() != w.style.onBlank() {
		b = w.changeStyle(b, c.style)
	}
	return append(b, row.text[c.from:c.to]...)
}

// eraseRight appends the bytes that make the cells from the cursor to the end of the row blank.
func (w *cellDiffWriter) eraseRight(b []byte) []byte {
	if plain := w.styles.styleOf(nil); w.style.onBlank() != plain.onBlank() {
		b = w.changeStyle(b, plain)
	}
	return append(b, ansi.EraseLineRight...)
}

// changeStyle appends the sequence for a style, unless the terminal has it already.
func (w *cellDiffWriter) changeStyle(b []byte, to *cellStyle) []byte {
	if w.style != to {
		pair := [2]*cellStyle{w.style, to}
		if _, known := w.styles.changes[pair]; !known {
			w.styles.changes[pair] = w.style.sequenceTo(to)
		}
		b = append(b, w.styles.changes[pair]...)
		w.style = to
	}
	return b
}

// cellRow is a row of the terminal.
type cellRow struct {
	text    []byte
	cells   []rowCell // one for each column
	certain int       // the number of columns before the first cell whose width depends on the terminal
	erased  bool      // the row is erased after its cells
}

// rowCell is a cell. The second column of a wide character has no text, and its width is 0.
type rowCell struct {
	from, to int // offsets of its text
	width    int
	style    *cellStyle
}

func (r *cellRow) isBlank(c rowCell) bool { return c.to-c.from == 1 && r.text[c.from] == ' ' }

// blankEnd returns the column from which all cells are blank and have no background.
func (r *cellRow) blankEnd() int {
	x := len(r.cells)
	for x > 0 && r.isBlank(r.cells[x-1]) && r.cells[x-1].style.onBlank() == (blankStyle{}) {
		x--
	}
	return x
}

// compareCells appends whether each column already looks as in this row. After the first cell of uncertain width,
// either all columns look the same, or none. Nothing looks the same as an unknown row, which is nil.
func (r *cellRow) compareCells(was *cellRow, same []bool) []bool {
	if was == nil {
		return append(same, make([]bool, len(r.cells))...)
	}
	certain := min(r.certain, was.certain, len(r.cells))
	tail := true
	for x := certain; x < max(len(r.cells), len(was.cells)) && tail; x++ {
		tail = looksAlike(r, was, x)
	}
	for x := range r.cells {
		same = append(same, x < certain && looksAlike(r, was, x) || x >= certain && tail)
	}
	return same
}

// looksAlike reports whether a column looks the same in two rows. Columns after the end of a row are blank.
func looksAlike(r, was *cellRow, x int) bool {
	var a, b rowCell
	var under [2]blankStyle
	blank := [2]bool{true, true}
	for i, row := range []*cellRow{r, was} {
		if x < len(row.cells) {
			c := row.cells[x]
			a, b = b, c
			under[i], blank[i] = c.style.onBlank(), row.isBlank(c)
		}
	}
	if blank[0] || blank[1] {
		return blank[0] && blank[1] && under[0] == under[1]
	}
	return a.style == b.style && a.width == b.width && bytes.Equal(r.text[a.from:a.to], was.text[b.from:b.to])
}

// cellStyle is the style of a cell: its colours as SGR parameters, for example "38;2;255;0;0", and its attributes.
type cellStyle struct {
	text, back string // "" for the terminal's own colour
	attributes uint16 // bit n is the SGR parameter n, from 1 to 9
}

// blankStyle is the part of a style that is visible on a blank cell.
type blankStyle struct {
	back       string
	attributes uint16
}

// visibleOnBlank has the attributes that are visible on a blank cell: underlined, blinking, reversed and struck out.
const visibleOnBlank = 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<9

func (s *cellStyle) onBlank() blankStyle {
	b := blankStyle{s.back, s.attributes & visibleOnBlank}
	if s.attributes&(1<<7) != 0 {
		b.back += "/" + s.text
	}
	return b
}

// endParameters has the SGR parameter that ends each attribute.
var endParameters = [10]string{1: "22", 2: "22", 3: "23", 4: "24", 5: "25", 6: "25", 7: "27", 8: "28", 9: "29"}

// sequenceTo returns the shortest sequence that changes this style into another one.
func (s *cellStyle) sequenceTo(to *cellStyle) string {
	var anew, change []string
	for n, end := range endParameters {
		if s.attributes&^to.attributes&(1<<n) != 0 && !slices.Contains(change, end) {
			change = append(change, end)
		}
	}
	ends := len(change)
	for n, end := range endParameters {
		if to.attributes&(1<<n) == 0 {
			continue
		}
		anew = append(anew, strconv.Itoa(n))
		if s.attributes&(1<<n) == 0 || slices.Contains(change[:ends], end) { // one parameter may end two attributes
			change = append(change, strconv.Itoa(n))
		}
	}
	for _, c := range [...]struct{ from, to, none string }{{s.text, to.text, "39"}, {s.back, to.back, "49"}} {
		if c.to != "" {
			anew = append(anew, c.to)
		}
		if c.to != c.from {
			change = append(change, cmp.Or(c.to, c.none))
		}
	}
	if len(anew) > 0 {
		anew = slices.Insert(anew, 0, "0")
	}
	parameters := strings.Join(change, ";")
	if whole := strings.Join(anew, ";"); len(whole) < len(parameters) {
		parameters = whole
	}
	return "\x1b[" + parameters + "m"
}

// parsePaint returns the style after SGR sequences. The result ok is false if they have parameters that a cellStyle
// can't represent.
func parsePaint(paint []byte) (s cellStyle, ok bool) {
	for _, sequence := range bytes.SplitAfter(paint, []byte("m")) {
		if len(sequence) == 0 {
			continue
		}
		parameters := strings.Split(string(sequence[2:len(sequence)-1]), ";")
		for len(parameters) > 0 {
			size := s.setParameter(parameters)
			if size == 0 {
				return cellStyle{}, false
			}
			parameters = parameters[size:]
		}
	}
	return s, true
}

// setParameter applies the first SGR parameter, and returns the number of parameters that it consists of. It returns 0
// if the parameter is unknown.
func (s *cellStyle) setParameter(parameters []string) int {
	n, err := strconv.Atoi(cmp.Or(parameters[0], "0"))
	switch {
	case err != nil:
		return 0
	case n == 0:
		*s = cellStyle{}
	case n < len(endParameters):
		s.attributes |= 1 << n
	case slices.Contains(endParameters[:], parameters[0]):
		for i, end := range endParameters {
			if end == parameters[0] {
				s.attributes &^= 1 << i
			}
		}
	case n >= 30 && n < 38, n >= 90 && n < 98:
		s.text = parameters[0]
	case n >= 40 && n < 48, n >= 100 && n < 108:
		s.back = parameters[0]
	case n == 39:
		s.text = ""
	case n == 49:
		s.back = ""
	case n == 38 || n == 48:
		size := 0
		if len(parameters) >= 3 && parameters[1] == "5" {
			size = 3
		} else if len(parameters) >= 5 && parameters[1] == "2" {
			size = 5
		}
		if colour := strings.Join(parameters[:size], ";"); n == 38 {
			s.text = colour
		} else {
			s.back = colour
		}
		return size
	default:
		return 0
	}
	return 1
}

// styleTable has the styles of the program, and the sequences between them. Equal styles have equal pointers.
type styleTable struct {
	styles  map[cellStyle]*cellStyle
	painted map[string]*cellStyle // by the sequences since the last reset; nil if parsePaint doesn't know them
	changes map[[2]*cellStyle]string
}

// styleOf returns the style after SGR sequences. It returns nil if parsePaint doesn't know them.
func (t *styleTable) styleOf(paint []byte) *cellStyle {
	s, known := t.painted[string(paint)]
	if known {
		return s
	}
	if t.painted == nil {
		t.styles, t.painted, t.changes = map[cellStyle]*cellStyle{}, map[string]*cellStyle{}, map[[2]*cellStyle]string{}
	}
	if style, ok := parsePaint(paint); ok {
		if s = t.styles[style]; s == nil {
			s = &style
			t.styles[style] = s
		}
	}
	t.painted[string(paint)] = s
	return s
}

// parseRow returns the cells of a row. It returns nil if the row has control sequences other than styles and a final
// erase.
func (t *styleTable) parseRow(row []byte) *cellRow {
	r := &cellRow{text: bytes.Clone(row), certain: -1}
	var paint []byte // since the last reset
	style := t.styleOf(nil)
	text, erased := bytes.CutSuffix(r.text, []byte(ansi.EraseLineRight))
	r.erased = erased
	for at := 0; at < len(text); {
		switch c := text[at]; {
		case c == ansi.ESC:
			size := paintLen(text[at:])
			if size == 0 {
				return nil
			}
			if paint = append(paint, text[at:at+size]...); string(text[at:at+size]) == paintOff {
				paint = paint[:0]
			}
			if style = t.styleOf(paint); style == nil {
				return nil
			}
			at += size
			continue
		case c < ' ' || c == 0x7F:
			return nil
		case c < utf8.RuneSelf && (at+1 == len(text) || text[at+1] < utf8.RuneSelf):
			r.cells = append(r.cells, rowCell{at, at + 1, 1, style})
			at++
			continue
		}
		_, width, size, _ := ansi.DecodeSequence(text[at:], ansi.NormalState, nil)
		if first, one := utf8.DecodeRune(text[at:]); r.certain < 0 && (one < size || first == utf8.RuneError) {
			r.certain = len(r.cells)
		}
		if width == 0 {
			return nil
		}
		r.cells = append(r.cells, rowCell{at, at + size, width, style})
		for range width - 1 {
			r.cells = append(r.cells, rowCell{at + size, at + size, 0, style})
		}
		at += size
	}
	if r.certain < 0 {
		r.certain = len(r.cells)
	}
	return r
}

const paintOff = "\x1b[0m"

// paintLen returns the length of the SGR sequence at the start of b. It returns 0 if b does not start with one.
func paintLen(b []byte) int {
	if len(b) < 2 || b[1] != '[' {
		return 0
	}
	for i, c := range b[2:] {
		switch {
		case c == 'm':
			return i + 3
		case (c < '0' || c > '9') && c != ';' && c != ':':
			return 0
		}
	}
	return 0
}
