package cli

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

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
