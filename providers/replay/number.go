package replay

import (
	"bytes"
	"math"
	"strconv"

	"toolscope/providers/js"
)

// numberLoss is what becomes of a number that goes through a double.
type numberLoss uint8

const (
	spelledSame     numberLoss = iota
	spelledOther               // the same value, in other characters
	roundedInteger             // an integer that no double holds
	roundedFraction            // a fraction with more digits than a double
	beyond                     // larger than every double
)

// asDouble is a JSON number after it was a double, as JavaScript and most JSON libraries write it:
// the shortest digits that give the same double again.
func asDouble(lit []byte) (text []byte, how numberLoss) {
	if plainInteger(lit) {
		return lit, spelledSame
	}
	v, err := strconv.ParseFloat(string(lit), 64)
	if err != nil && math.IsInf(v, 0) {
		return lit, beyond
	}
	text = js.AppendNumber(nil, v)
	switch {
	case bytes.Equal(text, lit):
		return text, spelledSame
	case sameDecimal(text, lit):
		return text, spelledOther
	case isIntegral(lit):
		return text, roundedInteger
	}
	return text, roundedFraction
}

// plainInteger reports whether lit is an integer so small that nothing happens to it.
func plainInteger(lit []byte) bool {
	if len(lit) > 15 || string(lit) == "-0" {
		return false
	}
	for i, c := range lit {
		if (c < '0' || c > '9') && (c != '-' || i > 0) {
			return false
		}
	}
	return true
}

// decimal is a number as its digits, without zeros at either end, and the power of ten of the
// first: what does not depend on how it is spelled.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

func parseDecimal(lit []byte) (d decimal) {
	if len(lit) > 0 && lit[0] == '-' {
		d.negative, lit = true, lit[1:]
	}
	mantissa, exponent := lit, 0
	if i := bytes.IndexAny(lit, "eE"); i >= 0 {
		mantissa = lit[:i]
		exponent, _ = strconv.Atoi(string(lit[i+1:]))
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	digits := append(append([]byte(nil), whole...), fraction...)
	exponent += len(whole)
	trimmed := bytes.TrimLeft(digits, "0")
	exponent -= len(digits) - len(trimmed)
	d.digits = string(bytes.TrimRight(trimmed, "0"))
	if d.digits == "" {
		return decimal{} // zero has no sign that counts
	}
	d.exponent = exponent
	return d
}

func sameDecimal(a, b []byte) bool { return parseDecimal(a) == parseDecimal(b) }

// isIntegral reports whether a number has no fraction.
func isIntegral(lit []byte) bool {
	d := parseDecimal(lit)
	return d.exponent >= len(d.digits)
}
