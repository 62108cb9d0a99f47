package replay

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"toolscope/providers/protocol"
)

// A valueHash is a hash of the value of arguments, independent of their spelling. Texts with the same value
// by judgeText share it, and so do texts that differ by rounded numbers or sanitised Unicode. Texts that share
// a hash may be equal and must be compared. The hash is valid within one run only.
type valueHash uint64

// seed is the seed of all hashes of this run.
var seed = maphash.MakeSeed()

const (
	nothing valueHash = 0 // empty arguments
	null    valueHash = 1 // also numbers too large for a double, for which JavaScript writes null
)

// valueOf returns the hash of a text's value. Text that is not JSON is its own value.
func valueOf(text []byte) valueHash {
	text = bytes.TrimSpace(text)
	if saysNothing(text) {
		return nothing
	}
	var r valueReader
	s := protocol.Scan(text)
	v := r.read(&s)
	if s.End() != nil {
		return hashOf('?', replaceInvalid(text))
	}
	return v
}

// valueReader holds buffers that are reused from one value to the next.
type valueReader struct {
	members []memberValue // of the open objects
	text    []byte
}

type memberValue struct{ key, value valueHash }

func (r *valueReader) read(s *protocol.Scanner) (v valueHash) {
	switch s.Kind() {
	case '{':
		return r.readObject(s)
	case '[':
		v = '['
		for ok := s.Array(); ok; ok = s.Element() {
			v = v.combine(r.read(s))
		}
		return v.combine(']')
	}
	raw := s.Value()
	switch {
	case raw.IsString():
		r.text = raw.Append(r.text[:0])
		return hashOf('"', cleanedText(r.text))
	case raw.IsNumber():
		return valueOfNumber(raw)
	case string(raw) == "null":
		return null
	}
	return hashOf('x', raw)
}

// readObject reads an object. The order of fields doesn't count; the last value of a duplicate key does.
func (r *valueReader) readObject(s *protocol.Scanner) valueHash {
	first := len(r.members)
	for ok := s.Object(); ok; ok = s.Member() {
		key := hashOf('k', cleanedText(s.Key()))
		r.members = append(r.members, memberValue{key, r.read(s)})
	}
	all := r.members[first:]
	slices.SortStableFunc(all, func(a, b memberValue) int { return cmp.Compare(a.key, b.key) })
	v := valueHash('{')
	for i, m := range all {
		if i+1 == len(all) || all[i+1].key != m.key {
			v = v.combine(m.key).combine(m.value)
		}
	}
	r.members = r.members[:first]
	return v.combine('}')
}

func valueOfNumber(lit []byte) valueHash {
	f, err := strconv.ParseFloat(string(lit), 64)
	if err != nil {
		return null
	}
	if f == 0 {
		f = 0 // and not -0
	}
	return valueHash('0').combine(valueHash(math.Float64bits(f)))
}

// cleanedText replaces invalid Unicode by U+FFFD. It returns valid text itself.
func cleanedText(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	return replaceInvalid(text)
}

func hashOf(kind valueHash, text []byte) valueHash {
	return kind.combine(valueHash(maphash.Bytes(seed, text)))
}

// combine returns the hash of v followed by other.
func (v valueHash) combine(other valueHash) valueHash {
	const a, b = 0x9e3779b97f4a7c15, 0xff51afd7ed558ccd
	v = (v ^ other*a) * b
	return v ^ v>>32
}

// hashesIn returns the hashes of all values that sent arguments may hold: the arguments themselves, the
// contents of a string, and the value of an object's only field. The first is that of the text itself.
func hashesIn(p *protocol.Part, to *protocol.Target) []valueHash {
	all := []valueHash{valueOf(p.Args)}
	if p.Form == protocol.TextForm && to.Form != protocol.TextForm {
		all = append(all, valueOf(protocol.AppendString(nil, p.Args)))
	}
	text := p.Args
	for range 3 {
		inner, ok := inString(text)
		if !ok {
			break
		}
		all, text = append(all, valueOf(inner)), inner
	}
	if only := onlyMember(p.Args); only != nil {
		if all = append(all, valueOf(only)); only.IsString() {
			all = append(all, valueOf(only.Append(nil)))
		}
	}
	return all
}

// onlyMember returns the value of an object's only field, nil if text is not such an object.
func onlyMember(text []byte) protocol.Raw {
	s := protocol.Scan(text)
	if !s.Object() {
		return nil
	}
	only := s.Value()
	if s.Member() || s.End() != nil {
		return nil
	}
	return only
}
