package compare

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	rational "math/big"
	"slices"
	"strconv"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/panes"
)

// verdict is how the arguments of the same call, where they have all come, differ between turns.
type verdict struct {
	differs int                // values that are not the same in all of them
	marks   [most][]panes.Span // where
}

// mostCompared is how many tokens arguments may have whose values are compared one by one.
const mostCompared = 200_000

// judge says what differs, for calls of which nothing more comes.
func (c *comparison) judge(v *providers.View) {
	for _, g := range c.groups {
		set, n := g.calls.sealed(v)
		if n < 2 {
			continue
		}
		found, known := c.judged[set]
		if !known {
			found = differences(set.in(v))
			c.judged[set] = found
		}
		for i := range c.columns {
			if d := c.columns[i].calls[g.calls[i]]; d != nil {
				d.Marks = found.marks[i]
			}
		}
	}
}

// differences compares arguments by their values: the order of members and the way a value is
// written make no difference.
func differences(calls [most]*stream.Call) (v verdict) {
	var values [most]map[spot]leaf
	first, same, whole := -1, true, true
	for i, c := range calls {
		if c == nil {
			continue
		}
		if first < 0 {
			first = i
		}
		same = same && bytes.Equal(c.Args(), calls[first].Args())
		if c.Syntax() != stream.SyntaxObject && c.Syntax() != stream.SyntaxEmpty || c.Lexer().Tokens().Len() > mostCompared {
			whole = false
		}
	}
	switch {
	case same:
		return v
	case !whole:
		v.differs = 1
		return v
	}
	spots := map[spot]bool{}
	for i, c := range calls {
		if c != nil {
			values[i] = leaves(c.Args(), c.Lexer().Tokens())
			for at := range values[i] {
				spots[at] = true
			}
		}
	}
	for at := range spots {
		if agree(calls, values, at) {
			continue
		}
		v.differs++
		for i := range values {
			if l, ok := values[i][at]; ok {
				v.marks[i] = append(v.marks[i], l.Span)
			}
		}
	}
	for i := range v.marks {
		slices.SortFunc(v.marks[i], func(a, b panes.Span) int { return a.Start - b.Start })
	}
	return v
}

// agree reports whether a spot has the same value everywhere.
func agree(calls [most]*stream.Call, values [most]map[spot]leaf, at spot) bool {
	var first *leaf
	for i, c := range calls {
		if c == nil {
			continue
		}
		l, ok := values[i][at]
		if !ok || first != nil && l.value != first.value {
			return false
		}
		if first == nil {
			first = &l
		}
	}
	return true
}

// leaf is a value that holds no other.
type leaf struct {
	panes.Span
	value string // its kind, and what it is however it is written
}

// A spot is where a value stands in a JSON text: the hash of its path. Paths themselves would be as
// long together as the text is deep.
type spot uint64

// at is the spot of a member or an element inside of p.
func (p spot) at(name string) spot {
	sum := fnv.New64a()
	_, _ = sum.Write(binary.LittleEndian.AppendUint64(nil, uint64(p)))
	_, _ = sum.Write([]byte(name))
	return spot(sum.Sum64())
}

// container is an object or array that is open.
type container struct {
	spot
	array bool
	next  int // number of the element
}

// walk goes through a JSON text and gathers its values.
type walk struct {
	text []byte
	open []container
	key  string // of the value that comes
	out  map[spot]leaf
}

// leaves are the values of a JSON text, by their spots.
func leaves(text []byte, toks stream.TokenList) map[spot]leaf {
	w := walk{text: text, out: map[spot]leaf{}}
	for n, t := range toks.All() {
		at := panes.TokenSpan(toks, n)
		switch t.Kind {
		case stream.Key:
			w.key = panes.Unquoted(text, at)
		case stream.Comma:
			if n := len(w.open); n > 0 {
				w.open[n-1].next++
			}
		case stream.ObjectOpen, stream.ArrayOpen:
			if end, ok := closedAtOnce(toks, n); ok {
				w.add(panes.Span{Start: at.Start, End: end}, string(text[at.Start]))
			}
			w.open = append(w.open, container{spot: w.here(), array: t.Kind == stream.ArrayOpen})
		case stream.ObjectClose, stream.ArrayClose:
			w.open = w.open[:max(0, len(w.open)-1)]
		case stream.String:
			w.add(at, `"`+panes.Unquoted(text, at))
		case stream.Number:
			w.add(at, "0"+number(string(text[at.Start:at.End])))
		case stream.True, stream.False, stream.Null:
			w.add(at, string(text[at.Start:at.End]))
		}
	}
	return w.out
}

// here is the spot of the value that comes.
func (w *walk) here() spot {
	n := len(w.open)
	if n == 0 {
		return 0
	}
	in := &w.open[n-1]
	if in.array {
		return in.at(strconv.Itoa(in.next))
	}
	return in.at("." + w.key)
}

func (w *walk) add(s panes.Span, value string) { w.out[w.here()] = leaf{s, value} }

// closedAtOnce is where an empty container ends that token n opens.
func closedAtOnce(toks stream.TokenList, n int) (end int, ok bool) {
	for n++; n < toks.Len() && toks.At(n).Kind == stream.Space; n++ {
	}
	if n == toks.Len() || toks.At(n).Kind != stream.ObjectClose && toks.At(n).Kind != stream.ArrayClose {
		return 0, false
	}
	return int(toks.At(n).End), true
}

// number is a number in one way of writing: 1.0 is 1. One that is very long, or very large, stays
// as it is.
func number(text string) string {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || len(text) > 40 || f > 1e60 || f < -1e60 || f != 0 && f < 1e-60 && f > -1e-60 {
		return text
	}
	if f == 0 && strings.ContainsAny(text, "eE") {
		return text // 0e999999999, or too small for a double
	}
	if r, ok := new(rational.Rat).SetString(text); ok {
		return r.RatString()
	}
	return text
}
