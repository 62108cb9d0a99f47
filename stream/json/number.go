package json

import (
	"bytes"
	"strconv"
)

// Decimal is the exact value of a JSON number, independent of its spelling: 1, 1.0 and 10e-1 are equal. The zero
// value is 0; the sign of zero doesn't count.
type Decimal struct {
	Negative bool
	Digits   string // without zeros at either end
	Exponent int    // the number is 0.Digits × 10^Exponent
	huge     string // the exponent in the text, if it doesn't fit an int
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

// Append appends the value in one form: equal values have equal texts.
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
