// Package js reproduces JavaScript's handling of JSON. It provides JSON.parse, JSON.stringify, and the parsers for
// incomplete JSON in clients that are written in JavaScript.
//
//	text ─▶ Parse, ParseClosed, … ─▶ Value ─▶ Append ─▶ text
//
// Texts are UTF-8. Half a surrogate pair is encoded as three bytes, the bytes that UTF-8 would have for it.
// Numbers are doubles. Fields have an order: the fields whose keys are array indexes come first, by value.
// The other fields follow in order of arrival.
package js

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolscope/stream/json"
)

// Kind is the type of a value, as in typeof, but with separate kinds for null and arrays.
type Kind uint8

// The kinds.
const (
	Undefined Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// A Value is undefined, or a JavaScript value that JSON can express. The zero Value is undefined.
type Value struct {
	Kind  Kind
	Text  string // text of a string
	num   float64
	yes   bool
	items []Value // elements of an array, or values of an object's fields
	keys  []string
	at    map[string]int // index of a key in keys
}

// StringValue returns s as a Value.
func StringValue(s string) Value { return Value{Kind: String, Text: s} }

// NumberValue returns f as a Value.
func NumberValue(f float64) Value { return Value{Kind: Number, num: f} }

// EmptyObject returns an object without fields.
func EmptyObject() Value { return Value{Kind: Object} }

// ObjectOf returns an object with one field.
func ObjectOf(key string, v Value) Value {
	o := EmptyObject()
	o.defineMember(key, v)
	return o
}

// WithMember returns the object with one field set.
func (v Value) WithMember(key string, member Value) Value {
	v.defineMember(key, member)
	return v
}

// Truthy reports whether JavaScript treats the value as true in a condition.
func (v Value) Truthy() bool {
	switch v.Kind {
	case Undefined, Null:
		return false
	case Bool:
		return v.yes
	case Number:
		return v.num != 0
	case String:
		return v.Text != ""
	}
	return true
}

// IsPlain reports whether the value is an object, not an array.
func (v Value) IsPlain() bool { return v.Kind == Object }

// Member returns the object's own field with the given key. If there is none, the second result is false.
func (v Value) Member(key string) (Value, bool) {
	i, ok := v.at[key]
	if !ok {
		return Value{}, false
	}
	return v.items[i], true
}

// defineMember sets a field of an object as JSON.parse does: an existing key keeps its position.
func (v *Value) defineMember(key string, member Value) {
	if i, ok := v.at[key]; ok {
		v.items[i] = member
		return
	}
	if v.at == nil {
		v.at = map[string]int{}
	}
	v.at[key] = len(v.keys)
	v.keys, v.items = append(v.keys, key), append(v.items, member)
}

// mapNested applies the function do to all nested values, and then to the value itself.
func (v Value) mapNested(do func(Value) Value) Value {
	items := make([]Value, len(v.items))
	for i := range v.items {
		items[i] = v.items[i].mapNested(do)
	}
	v.items = items
	return do(v)
}

// WellFormed replaces each half of a surrogate pair in the value's strings with U+FFFD.
func (v Value) WellFormed() Value {
	return v.mapNested(func(v Value) Value {
		v.Text = WellFormed(v.Text)
		return v
	})
}

// WithoutPrototypes returns the value without fields named __proto__.
func (v Value) WithoutPrototypes() Value {
	return v.mapNested(func(v Value) Value {
		if _, named := v.at["__proto__"]; !named {
			return v
		}
		rest := EmptyObject()
		for i, key := range v.keys {
			if key != "__proto__" {
				rest.defineMember(key, v.items[i])
			}
		}
		return rest
	})
}

// Append reproduces JSON.stringify. Undefined values and numbers that are not finite become null.
func (v Value) Append(dst []byte) []byte {
	switch v.Kind {
	case Bool:
		return strconv.AppendBool(dst, v.yes)
	case Number:
		if math.IsInf(v.num, 0) || math.IsNaN(v.num) {
			return append(dst, "null"...)
		}
		return AppendNumber(dst, v.num)
	case String:
		return json.AppendQuoted(dst, []byte(v.Text))
	case Array:
		dst = append(dst, '[')
		for i := range v.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = v.items[i].Append(dst)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for n, i := range v.memberOrder() {
			if n > 0 {
				dst = append(dst, ',')
			}
			dst = append(json.AppendQuoted(dst, []byte(v.keys[i])), ':')
			dst = v.items[i].Append(dst)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// JSON reproduces JSON.stringify.
func (v Value) JSON() []byte { return v.Append(nil) }

// memberOrder returns the indexes of an object's fields, in JavaScript's order.
func (v *Value) memberOrder() []int {
	var indexes, names []int
	for i, key := range v.keys {
		if IsIndex(key) {
			indexes = append(indexes, i)
		} else {
			names = append(names, i)
		}
	}
	slices.SortFunc(indexes, func(a, b int) int { return ArrayIndex(v.keys[a]) - ArrayIndex(v.keys[b]) })
	return append(indexes, names...)
}

// IsIndex reports whether JavaScript treats a key as an array index.
func IsIndex(key string) bool {
	if key == "" || len(key) > 10 || key[0] == '0' && len(key) > 1 {
		return false
	}
	for i := range len(key) {
		if key[i] < '0' || key[i] > '9' {
			return false
		}
	}
	return len(key) < 10 || key < "4294967295"
}

// ArrayIndex returns the number in a key for which IsIndex is true.
func ArrayIndex(key string) int {
	n, _ := strconv.Atoi(key)
	return n
}

// AppendNumber writes v as ECMAScript does (Number::toString).
func AppendNumber(dst []byte, v float64) []byte {
	if a := math.Abs(v); v != 0 && (a < 1e-6 || a >= 1e21) {
		dst = strconv.AppendFloat(dst, v, 'e', -1, 64)
		// ECMAScript writes e-07 as e-7.
		if n := len(dst); n >= 4 && dst[n-4] == 'e' && dst[n-2] == '0' {
			dst[n-2] = dst[n-1]
			dst = dst[:n-1]
		}
		return dst
	}
	if v == 0 {
		return append(dst, '0')
	}
	return strconv.AppendFloat(dst, v, 'f', -1, 64)
}

// unitsOf iterates over the characters of a text, with the size of each in bytes and in UTF-16 units. Half a
// surrogate pair counts as a character.
func unitsOf(text string) func(yield func(bytes, units int) bool) {
	return func(yield func(bytes, units int) bool) {
		for i := 0; i < len(text); {
			r, n := utf8.DecodeRuneInString(text[i:])
			units := 1
			switch {
			case json.IsHalf(text[i:]):
				n = 3
			case r > 0xffff:
				units = 2
			}
			if !yield(n, units) {
				return
			}
			i += n
		}
	}
}

// UTF16Len returns the length of a string in UTF-16 units.
func UTF16Len(text string) (n int) {
	for _, units := range unitsOf(text) {
		n += units
	}
	return n
}

// UTF16Prefix returns the first n UTF-16 units of a string. If this cuts a surrogate pair, the first half is omitted.
func UTF16Prefix(text string, most int) string {
	end := 0
	for bytes, units := range unitsOf(text) {
		if most -= units; most < 0 {
			break
		}
		end += bytes
	}
	return text[:end]
}

// WellFormed replaces each half of a surrogate pair with U+FFFD.
func WellFormed(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	i := 0
	for bytes := range unitsOf(text) {
		if piece := text[i : i+bytes]; json.IsHalf(piece) {
			b.WriteRune(utf8.RuneError)
		} else {
			b.WriteString(piece)
		}
		i += bytes
	}
	return b.String()
}
