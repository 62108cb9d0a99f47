package layout

import (
	"toolscope/stream/jsonbytes"
	"toolscope/ui/display"
)

// breakRule says where a long row may be broken. Every rule also allows a break after the last unit.
type breakRule uint8

const (
	noBreaks      breakRule = iota
	plainBreaks             // after a blank; else after a slash or comma
	escapedBreaks           // after a blank, or before the token; else also after an escaped line end
)

// isTrailingBlank reports whether the byte at off is a blank that may be past the end of a full row, where
// it need not be visible.
func (f *lineBreaker) isTrailingBlank(off uint32) bool {
	return f.breaks != noBreaks && f.col == f.width && f.src[off] == ' '
}

// bestBreak returns the best break of the last row, and how many of its cells are after it. It ignores
// breaks in the first half, which would leave the row mostly empty. The result does not depend on how
// the text was cut into Extends: units are placed one by one, and only placed units count.
func (f *lineBreaker) bestBreak() (at, cells int) {
	row := &f.rows[len(f.rows)-1]
	end := int(row.End)
	if f.breaks == noBreaks {
		return end, 0
	}
	from := max(int(row.Start), f.from)
	half := int(row.Indent) + (f.width-int(row.Indent))/2
	if word := lastWord(f.src[from:end]); word < end-from && f.col-word > half {
		return end - word, word // most breaks are found without measuring
	}
	w := breakFinder{escaped: f.breaks == escapedBreaks}
	w.scanText(f.draw, f.src[from:end])
	before := f.col - w.cells // cells of the row before the breakable text
	for _, s := range w.lastBreaks() {
		if s.at > 0 && before+s.cells > half {
			return from + s.at, w.cells - s.cells
		}
	}
	if f.breaks == escapedBreaks && from > int(row.Start) && before > half {
		return from, w.cells
	}
	return end, 0
}

// lastWord returns the number of one-cell bytes after the last blank of a text. It returns the text's
// length if this simple count does not apply.
func lastWord(text []byte) int {
	for n := len(text); n > 0; n-- {
		switch c := text[n-1]; {
		case c == ' ':
			return len(text) - n
		case c < ' ' || c > '~':
			return len(text)
		}
	}
	return len(text)
}

// breakFinder finds the last break of each kind in a text.
type breakFinder struct {
	escaped     bool
	cells       int
	blank, soft breakPoint
}

// breakPoint is an offset into a text, in bytes and cells.
type breakPoint struct{ at, cells int }

func (w *breakFinder) lastBreaks() [2]breakPoint { return [2]breakPoint{w.blank, w.soft} }

func (w *breakFinder) scanText(draw display.Drawer, text []byte) {
	for at := 0; at < len(text); {
		n := display.PlainLen(text[at:])
		if n == 0 {
			k, cells := draw.Measure(text[at:])
			at, w.cells = at+k, w.cells+cells
			continue
		}
		for end := at + n; at < end; {
			k := 1
			switch c := text[at]; {
			case c == ' ':
				w.blank = breakPoint{at + 1, w.cells + 1}
			case c == '/' || c == ',':
				w.soft = breakPoint{at + 1, w.cells + 1}
			case c == '\\' && w.escaped:
				if k = min(jsonbytes.EscapeLen(text[at:]), end-at); k == 2 && text[at+1] == 'n' {
					w.soft = breakPoint{at + 2, w.cells + 2}
				}
			}
			at, w.cells = at+k, w.cells+k
		}
	}
}
