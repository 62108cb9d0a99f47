package panes

import (
	"bytes"
	"unicode/utf16"

	"toolscope/stream"
	"toolscope/stream/jsonbytes"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// opened is one string of the arguments, to be read as what it says. It grows as the string does: each
// Extend decodes what is new.
type opened struct {
	Reading
	token    int // number of the string
	rewrites int // the call's, when it was opened
	path     string
	read     int  // bytes of the string's inside that are decoded
	gone     bool // the arguments were replaced: it is not there any more
}

// openToken opens the string that token n is.
func (d *Document) openToken(n int) *opened {
	o := &opened{token: n, rewrites: d.Call.Rewrites, path: d.Path(), Reading: Reading{hint: d.hintFor(n)}}
	o.Stick = d.Stick && n == d.tokens().Len()-1 && d.Call.Lexer().Open() && d.Call.Arriving()
	return o
}

// extend takes what is new of the string, and forgets what is not there any more.
func (o *opened) extend(c *stream.Call, w, h int, draw display.Drawer) {
	var toks stream.TokenList
	if c != nil {
		toks = c.Lexer().Tokens()
		o.gone = c.Rewrites != o.rewrites || o.token < toks.Len() && toks.At(o.token).Kind != stream.String
	}
	var body []byte
	o.Whole = false
	if !o.gone && o.token < toks.Len() {
		body, o.Whole = inside(c, toks, o.token)
	}
	if len(body) < o.read {
		o.read = 0
		o.forget()
	}
	o.decode(body, o.Whole || c == nil || !c.Arriving())
	o.Lay(w, h, draw)
}

// inside is what stands between the quotes of a string, and whether the second has come.
func inside(c *stream.Call, toks stream.TokenList, n int) (body []byte, closed bool) {
	s := TokenSpan(toks, n)
	body = bytes.TrimPrefix(c.Args()[s.Start:s.End], []byte(`"`))
	if n == toks.Len()-1 && c.Lexer().Open() {
		return body, false
	}
	if cut, ok := bytes.CutSuffix(body, []byte(`"`)); ok && jsonbytes.Backslashes(cut)%2 == 0 {
		return cut, true
	}
	return body, true
}

// decode adds what is new of the string to what it says. What its end cuts waits for its rest.
func (o *opened) decode(body []byte, whole bool) {
	end := len(body)
	if !whole {
		end = jsonbytes.WholeEscapes(body)
		if half, ok := jsonbytes.Unit(body[max(0, end-6):end]); ok && end >= 6 && utf16.IsSurrogate(half) && half < 0xdc00 && jsonbytes.Backslashes(body[:end-6])%2 == 0 {
			end -= 6
		}
	}
	if end > o.read {
		o.Add(jsonbytes.AppendUnquoted(nil, body[o.read:end]))
		o.read = end
	}
}

// title is where it is, how long, and what, in so many cells. A long way keeps its end.
func (o *opened) title(p *screen.Pen, room int) display.Text {
	path := p.Name(o.path)
	if o.path == "" {
		path = display.Lit("a string")
	}
	dot := p.Glyph.Dot.Between(" ", " ")
	rest := display.Join(dot, screen.Bytes(o.Size), dot, p.Clean(o.Kind()))
	if o.gone {
		rest = rest.Between("", ", was replaced")
	}
	if over := path.Width() + rest.Width() - room; over > 0 {
		path = display.Skip(path, over+2).Between("..", "")
	}
	return display.Join(path, rest)
}

// literal is what it says now.
func (o *opened) literal(c *stream.Call) Literal {
	l := Literal{Path: o.path, Hint: o.hint, Growing: !o.Whole}
	if toks := c.Lexer().Tokens(); o.token < toks.Len() && !o.gone {
		l.Text = Unquoted(c.Args(), TokenSpan(toks, o.token))
	}
	return l
}
