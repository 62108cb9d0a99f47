package price

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Sum is a sum of figures. It also counts the figures that are free and those that are unknown.
type Sum struct {
	USD         float64
	Paid        int // number of figures that are neither free nor unknown
	Free        int
	Unknown     int
	Approximate bool
	AsOf        string // the oldest date of the prices; "" if there is none
}

// Add adds a figure to the sum.
func (t *Sum) Add(f Figure) {
	switch f.Source {
	case Unknown:
		t.Unknown++
	case Free:
		t.Free++
	default:
		t.USD += f.USD
		t.Paid++
		t.Approximate = t.Approximate || f.Approximate
		if f.AsOf != "" && (t.AsOf == "" || f.AsOf < t.AsOf) {
			t.AsOf = f.AsOf
		}
	}
}

// AddSum adds another sum.
func (t *Sum) AddSum(other Sum) {
	t.USD += other.USD
	t.Paid, t.Free, t.Unknown = t.Paid+other.Paid, t.Free+other.Free, t.Unknown+other.Unknown
	t.Approximate = t.Approximate || other.Approximate
	if other.AsOf != "" && (t.AsOf == "" || other.AsOf < t.AsOf) {
		t.AsOf = other.AsOf
	}
}

// String returns the sum in words: "$0.0123 + 2 unknown", "free", or "" if the sum contains no known figure.
func (t Sum) String() string {
	s := ""
	switch {
	case t.Paid > 0:
		s = Figure{USD: t.USD, Source: FromTable, Approximate: t.Approximate}.String()
	case t.Free > 0:
		s = "free"
	}
	if t.Unknown > 0 && s != "" {
		s += fmt.Sprintf(" + %d unknown", t.Unknown)
	}
	return s
}

// Dated returns the sum in words, with the oldest date of the prices that it is based on.
func (t Sum) Dated() string {
	s := t.String()
	if s != "" && t.AsOf != "" {
		s += ", prices as of " + t.AsOf
	}
	return s
}

// USD formats an amount. Amounts of ten dollars or more have cents, smaller amounts have four decimals, and amounts
// below a cent have four significant digits. Zeros after the cents are omitted. An amount below a billionth of a
// dollar is written with a < sign.
func USD(amount float64) string {
	size := math.Abs(amount)
	sign := ""
	if amount < 0 {
		sign = "-"
	}
	decimals := 2
	switch {
	case size == 0:
	case size < 1e-9:
		return sign + "<$0.000000001"
	case size < 0.01:
		decimals = 3 - int(math.Floor(math.Log10(size)))
	case size < 10:
		decimals = 4
	}
	s := strconv.FormatFloat(size, 'f', decimals, 64)
	whole, cents, _ := strings.Cut(s, ".")
	for len(cents) > 2 && cents[len(cents)-1] == '0' {
		cents = cents[:len(cents)-1]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + "$" + whole + "." + cents
}
