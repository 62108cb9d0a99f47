package ui

import (
	"bytes"
	"fmt"
	"strings"

	"toolscope/stream"
	"toolscope/stream/jsonbytes"
	"toolscope/ui/layout"
	"toolscope/ui/screen"
)

// mostPath is how many steps of a path are shown: the innermost ones.
const mostPath = 24

// path is where the document's cursor is, as a person would write it:
// .edits[0].new
func (d *document) path() string {
	if d.json == nil || d.call == nil || len(d.rows()) == 0 {
		return ""
	}
	rows := d.rows()
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
		if len(parts) == mostPath {
			parts = append(parts, "..")
			break
		}
		part := fmt.Sprintf("[%d]", r.Index)
		if toks := d.tokens(); int(r.Token) < len(toks) && toks[r.Token].Kind == stream.Key {
			key := tokenSpan(toks, int(r.Token))
			key.end = min(key.end, key.start+screen.MostName)
			part = "." + unquoted(d.call.Args(), key)
		}
		parts = append(parts, part)
	}
	var b strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString(parts[i])
	}
	return b.String()
}

// stringAt is the string that token n is or that key n names, or -1.
func (d *document) stringAt(n int) int {
	toks := d.tokens()
	if d.call == nil || n < 0 || n >= len(toks) {
		return -1
	}
	if toks[n].Kind == stream.Key {
		for n++; n < len(toks) && (toks[n].Kind == stream.Space || toks[n].Kind == stream.Colon); n++ {
		}
	}
	if n >= len(toks) || toks[n].Kind != stream.String {
		return -1
	}
	return n
}

// keyBefore is the key whose value token n is, "" in an array.
func (d *document) keyBefore(n int) string {
	toks := d.tokens()
	for n--; n >= 0; n-- {
		switch toks[n].Kind {
		case stream.Space, stream.Colon:
		case stream.Key:
			return unquoted(d.call.Args(), tokenSpan(toks, n))
		default:
			return ""
		}
	}
	return ""
}

// valueAfter is the string that follows key n, "" if it is something else.
func (d *document) valueAfter(n int) string {
	toks := d.tokens()
	for n++; n < len(toks); n++ {
		switch toks[n].Kind {
		case stream.Space, stream.Colon:
		case stream.String:
			return unquoted(d.call.Args(), tokenSpan(toks, n))
		default:
			return ""
		}
	}
	return ""
}

// unquoted is what a string or key says, as far as it has come.
func unquoted(args []byte, s span) string {
	lit := bytes.TrimPrefix(args[s.start:s.end], []byte(`"`))
	if body, ok := bytes.CutSuffix(lit, []byte(`"`)); ok && jsonbytes.Backslashes(body)%2 == 0 {
		lit = body
	}
	return string(jsonbytes.AppendUnquoted(nil, lit))
}
