// Package count counts things and formats the counts for messages: "1 byte", "2 bytes".
package count

import (
	"fmt"
	"strings"
)

// If returns 1 if the condition is true, and 0 otherwise. A sum of such numbers is a count.
func If(holds bool) int {
	if holds {
		return 1
	}
	return 0
}

// Of returns the number and its noun: "2 bytes".
func Of[N ~int | ~int32 | ~int64 | ~uint32 | ~uint64](n N, thing string) string {
	return fmt.Sprintf("%d %s", n, Noun(n, thing))
}

// Noun returns the noun for n things, without the number. The parameter thing is the singular.
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

// WasWere returns the number, its noun and the verb: "2 bytes were".
func WasWere[N ~int | ~int32 | ~int64 | ~uint32 | ~uint64](n N, thing string) string {
	if n == 1 {
		return Of(n, thing) + " was"
	}
	return Of(n, thing) + " were"
}
