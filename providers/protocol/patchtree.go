package protocol

import (
	"errors"
	"fmt"
	"strconv"

	"toolscope/stream/jsonbytes"
)

// elementAt returns the element that s names, or nil.
func (n *node) elementAt(s step) *node {
	switch {
	case n.kind != s.containerKind():
	case s.name == nil:
		if s.index < len(n.kids) {
			return n.kids[s.index]
		}
	case n.index != nil:
		if i, ok := n.index[string(s.name)]; ok {
			return n.kids[i]
		}
	default:
		for i, name := range n.names {
			if name == string(s.name) {
				return n.kids[i]
			}
		}
	}
	return nil
}

// addElement adds the element that s names, and empty elements before it if needed.
func (n *node) addElement(s step) *node {
	kid := new(node)
	if s.name == nil {
		for len(n.kids) <= s.index {
			n.kids = append(n.kids, nil)
		}
		n.kids[s.index] = kid
		return kid
	}
	n.names, n.kids = append(n.names, string(s.name)), append(n.kids, kid)
	switch {
	case n.index != nil:
		n.index[string(s.name)] = len(n.kids) - 1
	case len(n.names) > manyNames:
		n.index = map[string]int{}
		for i, name := range n.names {
			n.index[name] = i
		}
	}
	return kid
}

// lastElement returns the last element, or nil.
func (n *node) lastElement() *node {
	if len(n.kids) == 0 {
		return nil
	}
	return n.kids[len(n.kids)-1]
}

// appendTo appends the JSON text of n. If open is set, the last value and the containers around it stay
// open.
func (n *node) appendTo(dst []byte, open bool) []byte {
	if n == nil {
		return append(dst, "null"...)
	}
	switch n.kind {
	case '"':
		dst = append(append(dst, '"'), n.text...)
		if !open || !n.more {
			dst = append(dst, '"')
		}
		return dst
	case '{', '[':
	default:
		return append(dst, n.text...)
	}
	dst = append(dst, n.kind)
	for i, kid := range n.kids {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.kind == '{' {
			dst = appendKey(dst, n.names[i])
		}
		dst = kid.appendTo(dst, open && i == len(n.kids)-1)
	}
	if !open {
		dst = append(dst, n.kind+2)
	}
	return dst
}

func appendKey(dst []byte, name string) []byte {
	return append(AppendString(dst, []byte(name)), ':')
}

// AppendString appends text as a JSON string.
func AppendString(dst, text []byte) []byte {
	return append(appendEscaped(append(dst, '"'), text), '"')
}

// appendEscaped appends the content of the JSON string for text. It escapes half a surrogate pair,
// because the other half may be in the next delta.
func appendEscaped(dst, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\b':
			dst = append(dst, `\b`...)
		case c == '\f':
			dst = append(dst, `\f`...)
		case c < ' ':
			dst = fmt.Appendf(dst, `\u%04x`, c)
		case c == 0xed && i+2 < len(text) && text[i+1] >= 0xa0:
			dst = fmt.Appendf(dst, `\u%04x`, 0xd000|int(text[i+1]&0x3f)<<6|int(text[i+2]&0x3f))
			i += 2
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

var errNoPlace = errors.New("the path doesn't name exactly one place")

// parsePath reads a path to one place: $ and then .name, [index], ['name'] or ["name"]. The $ may be
// missing. The names borrow from path.
func parsePath(path []byte, steps []step) ([]step, error) {
	rest := path
	switch {
	case len(rest) == 0:
		return steps, errNoPlace
	case rest[0] == '$':
		rest = rest[1:]
	case rest[0] != '.' && rest[0] != '[':
		rest = append([]byte{'.'}, rest...)
	}
	for len(rest) > 0 {
		var s step
		var n int
		switch {
		case rest[0] == '.':
			s.name, n = dotName(rest)
		case rest[0] == '[' && len(rest) > 1 && (rest[1] == '\'' || rest[1] == '"'):
			s.name, n = quotedName(rest)
		case rest[0] == '[':
			s.index, n = arrayIndex(rest)
		}
		if n == 0 {
			return steps, fmt.Errorf("%w: can't read %q in %q", errNoPlace, rest, path)
		}
		steps, rest = append(steps, s), rest[n:]
	}
	return steps, nil
}

// dotName reads ".name"; n is its length, or 0 if there is none.
func dotName(p []byte) (name []byte, n int) {
	for n = 1; n < len(p) && p[n] != '.' && p[n] != '['; n++ {
	}
	if n == 1 || string(p[1:n]) == "*" {
		return nil, 0
	}
	return p[1:n], n
}

// arrayIndex reads "[12]"; n is its length, or 0 if there is none.
func arrayIndex(p []byte) (index, n int) {
	for n = 1; n < len(p) && '0' <= p[n] && p[n] <= '9'; n++ {
	}
	index, err := strconv.Atoi(string(p[1:n]))
	if err != nil || n == len(p) || p[n] != ']' {
		return 0, 0
	}
	return index, n + 1
}

// quotedName reads "['name']", or the same with double quotes; n is its length, or 0 if there is none.
func quotedName(p []byte) (name []byte, n int) {
	quote, escaped := p[1], false
	for n = 2; n < len(p) && p[n] != quote; n++ {
		if p[n] == '\\' {
			escaped = true
			n++
		}
	}
	if n+1 >= len(p) || p[n+1] != ']' {
		return nil, 0
	}
	name = p[2:n:n]
	if !escaped {
		return name, n + 2
	}
	lit := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ { // convert the escapes to JSON's
		switch {
		case name[i] == '\\':
			if i++; name[i] != '\'' {
				lit = append(lit, '\\')
			}
		case name[i] == '"':
			lit = append(lit, '\\')
		}
		lit = append(lit, name[i])
	}
	s := Scan(append(append([]byte{'"'}, lit...), '"'))
	if s.scanString(); s.End() != nil {
		return nil, 0
	}
	return jsonbytes.AppendUnquoted([]byte{}, lit), n + 2
}
