package panes

import (
	"bytes"
	"unicode/utf16"

	"toolscope/stream"
	"toolscope/stream/jsonbytes"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// openString is one string of the arguments, decoded for reading. It grows with the string: each Extend
// decodes the new bytes.
type openString struct {
	TextReader
	token    int // number of the string
	rewrites int // the call's, when it was opened
	path     string
	read     int  // bytes of the string's inside that are decoded
	replaced bool // the arguments were replaced: the string is gone
}

// openToken opens the string of token n.
func (d *Document) openToken(n int) *openString {
	o := &openString{token: n, rewrites: d.Call.Rewrites, path: d.Path(), TextReader: TextReader{hint: d.hintFor(n)}}
	o.Stick = d.Stick && n == d.callTokens().Len()-1 && d.Call.Lexer().Open() && d.Call.MayGrow()
	return o
}

// extendString decodes new bytes of the string, and drops bytes that are gone.
func (o *openString) extendString(c *stream.Call, w, h int, draw display.Drawer) {
	var toks stream.TokenList
	if c != nil {
		toks = c.Lexer().Tokens()
		o.replaced = c.Rewrites != o.rewrites || o.token < toks.Len() && toks.At(o.token).Kind != stream.String
	}
	var body []byte
	o.Complete = false
	if !o.replaced && o.token < toks.Len() {
		body, o.Complete = stringBody(c, toks, o.token)
	}
	if len(body) < o.read {
		o.read = 0
		o.resetText()
	}
	o.decode(body, o.Complete || c == nil || !c.MayGrow())
	o.LayOut(w, h, draw)
}

// stringBody returns the bytes between the quotes of a string, and whether the closing quote has arrived.
func stringBody(c *stream.Call, toks stream.TokenList, n int) (body []byte, closed bool) {
	s := TokenSpan(toks, n)
	body = bytes.TrimPrefix(c.Args()[s.Start:s.End], []byte(`"`))
	if n == toks.Len()-1 && c.Lexer().Open() {
		return body, false
	}
	if cut, ok := bytes.CutSuffix(body, []byte(`"`)); ok && jsonbytes.TrailingBackslashes(cut)%2 == 0 {
		return cut, true
	}
	return body, true
}

// decode appends the decoded new bytes. An escape or character that the end cuts waits for its rest.
func (o *openString) decode(body []byte, whole bool) {
	end := len(body)
	if !whole {
		end = jsonbytes.CompleteEscapes(body)
		if half, ok := jsonbytes.UnicodeEscape(body[max(0, end-6):end]); ok && end >= 6 && utf16.IsSurrogate(half) && half < 0xdc00 && jsonbytes.TrailingBackslashes(body[:end-6])%2 == 0 {
			end -= 6
		}
	}
	if end > o.read {
		o.Add(jsonbytes.AppendUnquoted(nil, body[o.read:end]))
		o.read = end
	}
}

// titleText returns the path, size and type in the given width. The start of a long path is cut.
func (o *openString) titleText(p *screen.Pen, room int) display.Text {
	path := p.Name(o.path)
	if o.path == "" {
		path = display.Lit("a string")
	}
	dot := p.Glyph.Dot.Between(" ", " ")
	rest := display.Join(dot, screen.Bytes(o.Size), dot, p.Clean(o.Kind()))
	if o.replaced {
		rest = rest.Between("", ", was replaced")
	}
	if over := path.Width() + rest.Width() - room; over > 0 {
		path = display.Skip(path, over+2).Between("..", "")
	}
	return display.Join(path, rest)
}

// asLiteral returns the string as it is now.
func (o *openString) asLiteral(c *stream.Call) Literal {
	l := Literal{Path: o.path, Hint: o.hint, Growing: !o.Complete}
	if toks := c.Lexer().Tokens(); o.token < toks.Len() && !o.replaced {
		l.Text = Unquoted(c.Args(), TokenSpan(toks, o.token))
	}
	return l
}
