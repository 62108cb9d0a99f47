package layout

import (
	"bytes"

	"toolscope/stream/json"
	"toolscope/ui/display"
)

// JSON lays out one JSON text that is still arriving, with indentation. There is one field or element per
// row. Empty containers are closed on the row where they open, and long strings are wrapped. White space
// between tokens is not shown; one cell stays blank after a colon. The text after the first byte that is not
// JSON is laid out unchanged.
type JSON struct {
	lineBreaker
	tok   int // token being laid out
	off   int // bytes laid out; less than the length of the text while its end is unsettled
	stack []container
	boxes []Box
	fresh bool // the innermost container has no field or element yet
	ready bool // a value or closing bracket may follow on the row: after a key's colon, or at the start
}

// container is an open object or array.
type container struct {
	row   int32 // row where it opened
	count int32 // fields or elements so far
	box   int32
}

// Box is an object or array.
type Box struct {
	Row, End    int32 // rows of its brackets; End is -1 until it has closed
	Token, Last int32 // token numbers of its brackets
	Count       int32 // number of fields or elements, once it has closed
}

// NewJSON returns a layout with the given width in cells.
func NewJSON(width int, draw display.Drawer) *JSON {
	return &JSON{lineBreaker: lineBreaker{draw: draw, width: max(width, 1), breaks: escapedBreaks}}
}

// Width returns the width of the layout in cells.
func (d *JSON) Width() int { return d.width }

// Len returns the number of bytes that are laid out. The few remaining bytes, if any, are an incomplete
// escape or character.
func (d *JSON) Len() int { return d.off }

// Boxes returns the objects and arrays so far, ordered by the row on which they open. No two of them open on
// the same row.
func (d *JSON) Boxes() []Box { return d.boxes }

// Extend lays out the new bytes. The lexer lex must have read exactly text. Between calls, both may only grow.
// An escape or character that is cut off at the end is laid out only when it is complete, or if whole is set.
func (d *JSON) Extend(text []byte, lex *json.Lexer, whole bool) {
	toks := lex.Tokens()
	d.src = text
	defer func() { d.src = nil }()
	for d.tok < toks.Len() {
		t := toks.At(d.tok)
		start := 0
		if d.tok > 0 {
			start = int(toks.At(d.tok - 1).End)
		}
		end := int(t.End)
		if d.off == start {
			d.beginToken(t.Kind, start)
		} else {
			d.off = d.retakeLast(text[:end], d.off)
		}
		growing := d.tok == toks.Len()-1
		if growing && !whole {
			end = d.off + settledToken(t.Kind, text[d.off:end])
		}
		switch k, b := t.Kind, text[d.off:end]; {
		case len(b) == 0:
		case k == json.Space:
			d.rows[len(d.rows)-1].End += uint32(len(b))
		case k == json.Colon:
			d.placeBytes(1, 2)
			d.ready = true
		case k == json.String || k == json.Key:
			d.placeString(b)
		case k == json.ObjectOpen || k == json.ArrayOpen:
			d.placeText(b)
			d.boxes[len(d.boxes)-1].Row = int32(len(d.rows) - 1)
		default:
			d.placeText(b)
		}
		d.off = end
		if growing {
			return // the last token may still grow, even if it is white space or junk
		}
		d.tok++
	}
}

// beginToken selects the row for a token.
func (d *JSON) beginToken(k json.TokenKind, off int) {
	d.last = glyphSize{}
	switch k {
	case json.Space:
		if len(d.rows) == 0 { // white space is not drawn, but every byte must be in a row
			d.startRow(off)
			d.ready = true
		}
		return
	case json.Colon, json.Comma:
		return
	}
	d.from = off
	switch k {
	case json.ObjectClose, json.ArrayClose:
		n := len(d.stack) - 1
		opener := d.stack[n]
		d.stack = d.stack[:n]
		if !d.fresh {
			d.newRow(off, Row{Token: int32(d.tok), Parent: opener.row, Index: Closer}, d.indentOf(n))
		}
		d.fresh = false
		b := &d.boxes[opener.box]
		b.End, b.Last, b.Count = int32(len(d.rows)-1), int32(d.tok), opener.count
		return
	case json.Junk:
		if len(d.rows) == 0 {
			d.startRow(off)
		}
		return
	case json.Key:
		d.startRow(off)
	default:
		if !d.ready {
			d.startRow(off)
		}
	}
	d.ready = false
	if k == json.ObjectOpen || k == json.ArrayOpen {
		d.stack = append(d.stack, container{row: int32(len(d.rows) - 1), box: int32(len(d.boxes))})
		d.boxes = append(d.boxes, Box{End: -1, Token: int32(d.tok)})
		d.fresh = true
		return
	}
	d.fresh = false
}

// startRow begins the row for a field, an element or the complete text.
func (d *JSON) startRow(off int) {
	r := Row{Token: int32(d.tok), Parent: -1}
	if n := len(d.stack); n > 0 {
		r.Parent, r.Index = d.stack[n-1].row, d.stack[n-1].count
		d.stack[n-1].count++
	}
	d.newRow(off, r, d.indentOf(len(d.stack)))
}

// placeString places part of a string. It does not split an escape if there is room.
func (d *JSON) placeString(b []byte) {
	for len(b) > 0 {
		n := bytes.IndexByte(b, '\\')
		if n < 0 || d.width < minRoom {
			n = len(b)
		}
		d.placeText(b[:n])
		if b = b[n:]; len(b) > 0 {
			n = json.EscapeLen(b)
			k, cells := d.draw.Measure(b[n-1:]) // a combining mark may follow the last character of the escape
			if n, cells = n-1+k, n-1+cells; cells <= minRoom {
				d.placeBytes(n, cells)
			} else {
				d.placeText(b[:n])
			}
			b = b[n:]
		}
	}
}

// settledToken returns the number of bytes of b before an escape or character that is cut off at its end. The bytes b
// are the end of a growing token.
func settledToken(k json.TokenKind, b []byte) int {
	if k != json.String && k != json.Key {
		return settledChar(b)
	}
	if n := json.CompleteEscapes(b); n < len(b) {
		return n
	}
	return settledChar(b)
}
