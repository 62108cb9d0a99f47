package replay

import (
	"bytes"
	"math"
	"strconv"

	"toolscope/providers/js"
)

// numberLoss is the change of a number that becomes a double.
type numberLoss uint8

const (
	spelledSame     numberLoss = iota
	spelledOther               // the same value with another spelling
	roundedInteger             // an integer that doesn't fit a double
	roundedFraction            // a fraction with more digits than a double
	beyond                     // too large for a double
)

// asDouble returns a JSON number after it was a double, as JavaScript and most JSON libraries write it: with
// the fewest digits that give the same double.
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

// plainInteger reports whether lit is a small integer, which a double doesn't change.
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

// decimal is the value of a number, independent of its spelling: its digits without zeros at either end, and
// the power of ten of the first.
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
		return decimal{} // the sign of zero doesn't count
	}
	d.exponent = exponent
	return d
}

// sameDecimal reports whether two numbers have exactly the same value.
func sameDecimal(a, b []byte) bool { return parseDecimal(a) == parseDecimal(b) }

// isIntegral reports whether a number has no fraction.
func isIntegral(lit []byte) bool {
	d := parseDecimal(lit)
	return d.exponent >= len(d.digits)
}
