// Package count says how many there are of something: "1 byte", "2 bytes". Every sentence that has such
// a number has it from here.
package count

import (
	"fmt"
	"strings"
)

// Of is so many things.
func Of[N ~int | ~int32 | ~int64 | ~uint32 | ~uint64](n N, thing string) string {
	return fmt.Sprintf("%d %s", n, Noun(n, thing))
}

// Noun is the word for so many things, without the number: thing is the word for one.
func Noun[N ~int | ~int32 | ~int64 | ~uint32 | ~uint64](n N, thing string) string {
	if n == 1 {
		return thing
	}
	stem, ok := strings.CutSuffix(thing, "y")
	switch {
	case ok && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou"):
		return stem + "ies"
	case strings.HasSuffix(thing, "s") || strings.HasSuffix(thing, "x") || strings.HasSuffix(thing, "ch"):
		return thing + "es"
	}
	return thing + "s"
}

// WasWere is so many things, and the verb behind them.
func WasWere[N ~int | ~int32 | ~int64 | ~uint32 | ~uint64](n N, thing string) string {
	if n == 1 {
		return Of(n, thing) + " was"
	}
	return Of(n, thing) + " were"
}
