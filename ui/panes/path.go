package panes

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"

	"toolscope/stream"
	"toolscope/stream/jsonbytes"
	"toolscope/ui/layout"
	"toolscope/ui/screen"
)

// maxPathSteps is the maximum number of steps in a path. The outermost steps are dropped.
const maxPathSteps = 24

// Path returns the path of the document's cursor, e.g. .edits[0].new
func (d *Document) Path() string {
	if d.json == nil || d.Call == nil || len(d.layoutRows()) == 0 {
		return ""
	}
	rows := d.layoutRows()
	row := d.textRow(d.At)
	if row < 0 {
		row = len(rows) - 1
	}
	var parts []string
	for n := int32(row); rows[n].Parent >= 0; n = rows[n].Parent {
		r := rows[n]
		if r.Index == layout.Closer {
			continue
		}
		if len(parts) == maxPathSteps {
			parts = append(parts, "..")
			break
		}
		part := fmt.Sprintf("[%d]", r.Index)
		if toks := d.callTokens(); int(r.Token) < toks.Len() && toks.At(int(r.Token)).Kind == stream.Key {
			key := TokenSpan(toks, int(r.Token))
			key.End = min(key.End, key.Start+screen.MaxNameBytes)
			part = "." + Unquoted(d.Call.Args(), key)
		}
		parts = append(parts, part)
	}
	var b strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString(parts[i])
	}
	return b.String()
}

// stringAt returns the token of the string at token n, or of the value of key n, or -1.
func (d *Document) stringAt(n int) int {
	toks := d.callTokens()
	if d.Call == nil || n < 0 || n >= toks.Len() {
		return -1
	}
	if toks.At(n).Kind == stream.Key {
		for n++; n < toks.Len() && (toks.At(n).Kind == stream.Space || toks.At(n).Kind == stream.Colon); n++ {
		}
	}
	if n >= toks.Len() || toks.At(n).Kind != stream.String {
		return -1
	}
	return n
}

// valueAtCursor returns the value at the cursor, as far as it has arrived. On a key it returns the key's
// value, on a fold the folded value.
func (d *Document) valueAtCursor() (path string, value, raw []byte) {
	toks, args := d.callTokens(), d.Call.Args()
	n := d.tok
	if n < 0 || n >= toks.Len() {
		return "", nil, nil
	}
	if toks.At(n).Kind == stream.Key {
		for n++; n < toks.Len() && (toks.At(n).Kind == stream.Space || toks.At(n).Kind == stream.Colon); n++ {
		}
	}
	if n >= toks.Len() {
		return "", nil, nil
	}
	span := TokenSpan(toks, n)
	switch toks.At(n).Kind {
	case stream.ObjectOpen, stream.ArrayOpen:
		span.End = len(args)
		i := sort.Search(len(d.jsonBoxes()), func(i int) bool { return int(d.jsonBoxes()[i].Token) >= n })
		if i < len(d.jsonBoxes()) && d.jsonBoxes()[i].End >= 0 {
			span.End = int(toks.At(int(d.jsonBoxes()[i].Last)).End)
		}
	case stream.ObjectClose, stream.ArrayClose, stream.Space, stream.Colon, stream.Comma, stream.Junk:
		return "", nil, nil
	}
	raw = slices.Clone(args[span.Start:span.End])
	if value = raw; toks.At(n).Kind == stream.String {
		value = []byte(Unquoted(args, span))
	}
	if path = d.Path(); path == "" {
		path = "."
	}
	return path, value, raw
}

// keyBefore returns the key of value n, "" in an array.
func (d *Document) keyBefore(n int) string {
	toks := d.callTokens()
	for n--; n >= 0; n-- {
		switch toks.At(n).Kind {
		case stream.Space, stream.Colon:
		case stream.Key:
			return Unquoted(d.Call.Args(), TokenSpan(toks, n))
		default:
			return ""
		}
	}
	return ""
}

// valueAfter returns the string value of key n, "" for another value.
func (d *Document) valueAfter(n int) string {
	toks := d.callTokens()
	for n++; n < toks.Len(); n++ {
		switch toks.At(n).Kind {
		case stream.Space, stream.Colon:
		case stream.String:
			return Unquoted(d.Call.Args(), TokenSpan(toks, n))
		default:
			return ""
		}
	}
	return ""
}

// Unquoted decodes a string or key, as far as it has arrived.
func Unquoted(args []byte, s Span) string {
	lit := bytes.TrimPrefix(args[s.Start:s.End], []byte(`"`))
	if body, ok := bytes.CutSuffix(lit, []byte(`"`)); ok && jsonbytes.TrailingBackslashes(body)%2 == 0 {
		lit = body
	}
	return string(jsonbytes.AppendUnquoted(nil, lit))
}

// ContentHint has hints about the content of a string, from its surroundings.
type ContentHint struct {
	Key  string // the key it is the value of
	File string // a file name in a field next to it
}

// hintFor reads the key of a value, and the fields before it and before its containers.
func (d *Document) hintFor(value int) (h ContentHint) {
	toks, args := d.callTokens(), d.Call.Args()
	h.Key = d.keyBefore(value)
	depth, keys := 0, 0
	for n := value - 1; n >= 0; n-- {
		switch toks.At(n).Kind {
		case stream.ObjectClose, stream.ArrayClose:
			depth++
		case stream.ObjectOpen, stream.ArrayOpen:
			depth = max(0, depth-1)
		case stream.Key:
			if keys++; depth > 0 || keys == 1 && h.Key != "" {
				continue
			}
			if isFileKey(Unquoted(args, TokenSpan(toks, n))) {
				h.File = d.valueAfter(n)
				return h
			}
		}
	}
	return h
}

func isFileKey(key string) bool {
	key = strings.ToLower(key)
	return strings.Contains(key, "path") || strings.Contains(key, "file")
}

// Literal is a string of the arguments, decoded.
type Literal struct {
	Path    string // its path
	Text    string
	Hint    ContentHint
	Growing bool // it still grows
}

// Literal returns the selected string, or the string value of the selected key; false if there is none.
func (d *Document) Literal() (l Literal, ok bool) {
	n := d.stringAt(d.tok)
	if n < 0 {
		return Literal{}, false
	}
	toks := d.callTokens()
	return Literal{
		Path: d.Path(), Text: Unquoted(d.Call.Args(), TokenSpan(toks, n)), Hint: d.hintFor(n),
		Growing: n == toks.Len()-1 && d.Call.Lexer().Open(),
	}, true
}
