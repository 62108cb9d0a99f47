package formats

import "bytes"

// lineEndRestorer puts line ends back where curl --trace-ascii has dots: outside of JSON's strings, where a
// line of an event stream, or of JSON that is laid out, may begin behind them. What else became a
// dot is not known. The zero value is ready.
type lineEndRestorer struct {
	text    bool // inside a string
	escaped bool
}

// restore changes the bytes of a body that came at once.
func (d *lineEndRestorer) restore(p []byte) []byte {
	for i, c := range p {
		switch {
		case d.escaped:
			d.escaped = false
		case d.text && c == '\\':
			d.escaped = true
		case c == '"':
			d.text = !d.text
		case c == '.' && !d.text && endsLine(p[i+1:]):
			p[i] = '\n'
		}
	}
	return p
}

// endsLine reports whether what follows a dot says that it was a line end.
func endsLine(rest []byte) bool {
	if len(rest) == 0 || bytes.IndexByte([]byte(". \r\"{}[]:"), rest[0]) >= 0 {
		return true
	}
	for _, field := range []string{"data:", "event:", "id:", "retry:"} {
		if bytes.HasPrefix(rest, []byte(field)) {
			return true
		}
	}
	return false
}
