package json

import (
	"bytes"
	"errors"
	"iter"
	"strconv"
)

// Value contains the exact bytes of one JSON value; nil is a missing value.
type Value []byte

// Kind returns the first byte of the value, one of {["tfn-0…9, or 0 if it is missing.
func (r Value) Kind() byte {
	if len(r) == 0 {
		return 0
	}
	return r[0]
}

// IsPresent reports whether the value is neither missing nor null.
func (r Value) IsPresent() bool { return len(r) > 0 && r[0] != 'n' }

// IsString reports whether the value is a string.
func (r Value) IsString() bool { return r.Kind() == '"' }

// Word returns the content of a string without escapes, such as an enum value of a protocol. It returns nil for
// any other value.
func (r Value) Word() []byte {
	if !r.IsString() || bytes.IndexByte(r, '\\') >= 0 {
		return nil
	}
	return r[1 : len(r)-1]
}

// OrDefault returns the content of a string, or other if the value is an empty string or not a string.
func (r Value) OrDefault(other []byte) []byte {
	if !r.HasText() {
		return other
	}
	if word := r.Word(); word != nil {
		return word
	}
	return r.Append(nil)
}

// Append appends the value as text: the content of a string, or the exact bytes of any other value.
func (r Value) Append(dst []byte) []byte {
	if len(dst) == 0 && cap(dst) > 1<<20 && len(r) < cap(dst)/4 {
		dst = nil // drop the buffer if one value has made it large
	}
	if !r.IsString() {
		return append(dst, r...)
	}
	return AppendUnquoted(dst, r[1:len(r)-1])
}

// Text returns the content of a string, and "" for any other value.
func (r Value) Text() string {
	if !r.IsString() {
		return ""
	}
	if lit := r[1 : len(r)-1]; bytes.IndexByte(lit, '\\') < 0 {
		return string(lit)
	}
	return string(r.Append(nil))
}

// Unquoted returns the content of a string as bytes, and nil for any other value.
func (r Value) Unquoted() []byte {
	if !r.IsString() {
		return nil
	}
	return r.Append(nil)
}

// Is reports whether the value is the string s.
func (r Value) Is(s string) bool {
	if !r.IsString() {
		return false
	}
	lit := r[1 : len(r)-1]
	return string(lit) == s || bytes.IndexByte(lit, '\\') >= 0 && r.Text() == s
}

// Empty reports whether the value is the string "".
func (r Value) Empty() bool { return len(r) == 2 && r[0] == '"' }

// HasText reports whether the value is a string other than "".
func (r Value) HasText() bool { return len(r) > 2 && r[0] == '"' }

// IsTrue reports whether the value is true.
func (r Value) IsTrue() bool { return string(r) == "true" }

// EmptyObject reports whether the value is an object without fields.
func (r Value) EmptyObject() bool {
	s := r.Scan()
	return s.Kind() == '{' && !s.Object() && s.End() == nil
}

// Int returns the value of an integer. A number like 12.0 counts, because some providers write integers like that.
// The result ok is false for any other value.
func (r Value) Int() (n int64, ok bool) {
	if !r.IsNumber() {
		return 0, false
	}
	if len(r) == 1 && r[0] != '-' {
		return int64(r[0] - '0'), true
	}
	n, err := strconv.ParseInt(string(r), 10, 64)
	if err != nil {
		f, ok := r.Float()
		return int64(f), ok && f == float64(int64(f))
	}
	return n, true
}

// Int32 returns an integer value, such as the slot of a call, or 0 if the value is not an integer.
func (r Value) Int32() int32 {
	n, _ := r.Int()
	return int32(n)
}

// IsNumber reports whether the value is a number.
func (r Value) IsNumber() bool {
	k := r.Kind()
	return k == '-' || '0' <= k && k <= '9'
}

// BeyondDouble reports whether the value is an integer beyond ±2^53, where doubles can't represent every
// integer.
func (r Value) BeyondDouble() bool {
	const exact = 1 << 53
	if !r.IsNumber() || len(r) < len("9007199254740992") {
		return false
	}
	n, err := strconv.ParseInt(string(r), 10, 64)
	return errors.Is(err, strconv.ErrRange) || err == nil && (n > exact || n < -exact)
}

// Float returns the value of a number. It returns false for any other value, and for a number that is too large.
func (r Value) Float() (float64, bool) {
	if !r.IsNumber() {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(r), 64)
	return f, err == nil
}

// Get returns the value of the field name, or nil if there is none. If a key is repeated, the last one counts.
func (r Value) Get(name string) (value Value) {
	if r == nil {
		return nil
	}
	s := Scan(r)
	for ok := s.Object(); ok; ok = s.Member() {
		if string(s.Key()) == name {
			value = s.Value()
		}
	}
	return value
}

// Scan returns a Scanner of the value.
func (r Value) Scan() Scanner { return Scan(r) }

// Elements iterates over the elements of an array. Any other value has no elements. If the array is cut off,
// the last element may be nil.
func (r Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if r == nil {
			return
		}
		s := r.Scan()
		for ok := s.Array(); ok && yield(s.Value()); ok = s.Element() {
		}
	}
}
