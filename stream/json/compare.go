package json

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Same reports whether two JSON texts have the same value. White space, the order of fields, and the spelling of
// strings and numbers don't count. Numbers are compared exactly. Every field counts, even if its name is repeated. A
// text that isn't JSON is the same only as a text with identical bytes.
func Same(a, b []byte) bool { return SameIn(Exact, a, b) }

// SameIn reports whether two JSON texts have the same value for a reader with this mode.
func SameIn(mode Mode, a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, xOK := Canonical(a, mode)
	y, yOK := Canonical(b, mode)
	return xOK && yOK && bytes.Equal(x, y)
}

// Mode is the precision with which a reader of JSON reads values. Differences that the reader doesn't notice
// don't count.
type Mode uint8

const (
	Exact Mode = iota // everything counts: the mode of Same
	// Parsed reads values as most JSON libraries do, e.g. Python's. Numbers that are not integers become
	// doubles. If several fields have one name, the last counts.
	Parsed
	// AsDouble reads values as JavaScript does. It works like Parsed, but every number becomes a double. A number
	// that is too large becomes null, and invalid Unicode becomes U+FFFD.
	AsDouble
)

// Canonical returns the same form for all JSON texts with the same value. The form isn't JSON. The result ok is false
// if the text is not one complete JSON value.
func Canonical(text []byte, mode Mode) (form []byte, ok bool) {
	c := canonicalWriter{mode: mode, dst: make([]byte, 0, len(text)+16)}
	s := Scan(text)
	c.writeValue(&s)
	return c.dst, s.End() == nil
}

// CanonicalForms returns the results of Canonical in the modes Exact and AsDouble. A text without numbers, duplicate
// keys or invalid Unicode has the same form in both, and is read only once.
func CanonicalForms(text []byte) (exact, double []byte, ok bool) {
	c := canonicalWriter{mode: Exact, dst: make([]byte, 0, len(text)+16)}
	s := Scan(text)
	c.writeValue(&s)
	if ok = s.End() == nil; ok && c.differs {
		double, _ = Canonical(text, AsDouble)
		return c.dst, double, true
	}
	return c.dst, c.dst, ok
}

type canonicalWriter struct {
	mode    Mode
	dst     []byte
	fields  []canonicalField // fields of the open objects
	spare   []byte
	differs bool // another mode may write another form
}

// canonicalField contains the offsets of one field in dst.
type canonicalField struct{ start, nameEnd, end int }

func (c *canonicalWriter) writeValue(s *Scanner) {
	switch s.Kind() {
	case '{':
		c.writeObject(s)
		return
	case '[':
		c.dst = append(c.dst, '[')
		for ok := s.Array(); ok; ok = s.Element() {
			c.writeValue(s)
			c.dst = append(c.dst, ',')
		}
		c.dst = append(c.dst, ']')
		return
	}
	switch v := s.Value(); {
	case v.IsString():
		c.writeText(v[1 : len(v)-1])
	case v.IsNumber():
		c.writeNumber(v)
	default:
		c.dst = append(c.dst, v...)
	}
}

// writeObject writes an object with its fields in the order of their names.
func (c *canonicalWriter) writeObject(s *Scanner) {
	c.dst = append(c.dst, '{')
	first, start := len(c.fields), len(c.dst)
	for ok := s.Object(); ok; ok = s.Member() {
		f := canonicalField{start: len(c.dst)}
		c.writeUnquoted(s.Key())
		f.nameEnd = len(c.dst)
		c.writeValue(s)
		f.end = len(c.dst)
		c.fields = append(c.fields, f)
	}
	fields := c.fields[first:]
	name := func(f canonicalField) []byte { return c.dst[f.start:f.nameEnd] }
	sorted := true
	for i := 1; i < len(fields) && sorted; i++ {
		sorted = bytes.Compare(name(fields[i-1]), name(fields[i])) < 0
	}
	if !sorted {
		slices.SortStableFunc(fields, func(a, b canonicalField) int { return bytes.Compare(name(a), name(b)) })
		c.spare = c.spare[:0]
		for i, f := range fields {
			repeated := i+1 < len(fields) && bytes.Equal(name(f), name(fields[i+1]))
			c.differs = c.differs || repeated
			if c.mode == Exact || !repeated {
				c.spare = append(c.spare, c.dst[f.start:f.end]...)
			}
		}
		c.dst = append(c.dst[:start], c.spare...)
	}
	c.fields = c.fields[:first]
	c.dst = append(c.dst, '}')
}

// writeText writes a string, given the literal without its quotes.
func (c *canonicalWriter) writeText(lit []byte) {
	if bytes.IndexByte(lit, '\\') >= 0 {
		c.spare = AppendUnquoted(c.spare[:0], lit)
		lit = c.spare
	}
	c.writeUnquoted(lit)
}

// writeUnquoted writes the content of a string. It writes the length first, so the content needs no escapes.
func (c *canonicalWriter) writeUnquoted(text []byte) {
	if c.mode == AsDouble {
		text = ReplaceInvalid(text)
	} else {
		c.differs = c.differs || !utf8.Valid(text)
	}
	c.dst = append(strconv.AppendInt(append(c.dst, '"'), int64(len(text)), 10), ':')
	c.dst = append(c.dst, text...)
}

func (c *canonicalWriter) writeNumber(lit []byte) {
	c.differs = true
	if d := ParseDecimal(lit); c.mode == Exact || c.mode == Parsed && d.IsInteger() {
		c.dst = d.Append(c.dst)
		return
	}
	f, err := strconv.ParseFloat(string(lit), 64)
	switch {
	case err != nil && math.IsInf(f, 0):
		c.dst = append(c.dst, "null"...)
	case f == 0:
		c.dst = append(c.dst, '0') // and not -0
	default:
		c.dst = strconv.AppendUint(c.dst, math.Float64bits(f), 16)
	}
}

// ObjectMember is one field of an object.
type ObjectMember struct {
	Name  string
	Nth   int // number of earlier fields with this name
	Value Value
}

// SortedMembers returns the fields of an object, sorted by name. It returns nil if v is not an object.
func SortedMembers(v Value) (all []ObjectMember) {
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		all = append(all, ObjectMember{Name: string(s.Key()), Value: s.Value()})
	}
	slices.SortStableFunc(all, func(a, b ObjectMember) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(all); i++ {
		if all[i].Name == all[i-1].Name {
			all[i].Nth = all[i-1].Nth + 1
		}
	}
	return all
}

// MemberPairs yields the fields of two objects, paired by name. A field that only one of them has is paired
// with a zero ObjectMember.
func MemberPairs(a, b Value) func(yield func(x, y ObjectMember) bool) {
	return func(yield func(x, y ObjectMember) bool) {
		one, other := SortedMembers(a), SortedMembers(b)
		for len(one)+len(other) > 0 {
			order := 0
			switch {
			case len(one) == 0:
				order = 1
			case len(other) == 0:
				order = -1
			default:
				order = cmp.Or(strings.Compare(one[0].Name, other[0].Name), cmp.Compare(one[0].Nth, other[0].Nth))
			}
			var x, y ObjectMember
			if order <= 0 {
				x, one = one[0], one[1:]
			}
			if order >= 0 {
				y, other = other[0], other[1:]
			}
			if !yield(x, y) {
				return
			}
		}
	}
}

// FirstDifference returns the JSON pointer of the first value that differs according to Same. It returns ""
// if the values are the same or differ as a whole.
func FirstDifference(a, b Value) string {
	switch {
	case a.Kind() == '{' && b.Kind() == '{':
		for x, y := range MemberPairs(a, b) {
			if !Same(x.Value, y.Value) || (x.Value == nil) != (y.Value == nil) {
				return AppendPointer("", cmp.Or(x.Name, y.Name)) + FirstDifference(x.Value, y.Value)
			}
		}
	case a.Kind() == '[' && b.Kind() == '[':
		x, y := slices.Collect(a.Elements()), slices.Collect(b.Elements())
		for i := range min(len(x), len(y)) {
			if !Same(x[i], y[i]) {
				return "/" + strconv.Itoa(i) + FirstDifference(x[i], y[i])
			}
		}
	}
	return ""
}

// AppendPointer appends a field's name to a JSON pointer (RFC 6901).
func AppendPointer(pointer, name string) string { return pointer + "/" + pointerEscaper.Replace(name) }

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// Decimal is the exact value of a JSON number, independent of its spelling: 1, 1.0 and 10e-1 are equal. The
// zero value is 0. The sign of zero doesn't count.
type Decimal struct {
	Negative bool
	Digits   string // without zeros at either end
	Exponent int    // the number is 0.Digits × 10^Exponent
	huge     string // the exponent as written, if it is beyond ±2^40
}

// ParseDecimal returns the value of a JSON number.
func ParseDecimal(lit []byte) (d Decimal) {
	if len(lit) > 0 && lit[0] == '-' {
		d.Negative, lit = true, lit[1:]
	}
	mantissa := lit
	if i := bytes.IndexAny(lit, "eE"); i >= 0 {
		mantissa = lit[:i]
		exponent, err := strconv.Atoi(string(lit[i+1:]))
		if d.Exponent = exponent; err != nil || exponent > 1<<40 || exponent < -1<<40 {
			d.Exponent, d.huge = 0, string(lit[i+1:])
		}
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	digits := append(append([]byte(nil), whole...), fraction...)
	trimmed := bytes.TrimLeft(digits, "0")
	d.Exponent += len(whole) - (len(digits) - len(trimmed))
	if d.Digits = string(bytes.TrimRight(trimmed, "0")); d.Digits == "" {
		return Decimal{}
	}
	return d
}

// Append appends the value in a canonical form: equal values have equal forms.
func (d Decimal) Append(dst []byte) []byte {
	if d.Digits == "" {
		return append(dst, '0')
	}
	if d.Negative {
		dst = append(dst, '-')
	}
	dst = append(append(dst, d.Digits...), 'e')
	dst = strconv.AppendInt(dst, int64(d.Exponent), 10)
	return append(dst, d.huge...)
}

// IsInteger reports whether the number has no fraction.
func (d Decimal) IsInteger() bool {
	return d.Exponent >= len(d.Digits) && (d.huge == "" || d.huge[0] != '-')
}
