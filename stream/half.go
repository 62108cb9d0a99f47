package stream

import "unicode/utf16"

// halfPair returns how many bytes at the end of s are the first half of a surrogate pair, the high one: 3
// or 0. A provider that cuts text by UTF-16 units cuts emoji there.
func halfPair(s string) int {
	n := len(s)
	if n >= 3 && s[n-3] == 0xed && s[n-2]&0xf0 == 0xa0 {
		return 3
	}
	return 0
}

// joinPair returns the character that the surrogate high makes with the first three bytes of s; false if
// those are not a low surrogate.
func joinPair(high, s string) (string, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1]&0xf0 != 0xb0 {
		return "", false
	}
	unit := func(t string) rune { return 0xd000 | rune(t[1]&0x3f)<<6 | rune(t[2]&0x3f) }
	return string(utf16.DecodeRune(unit(high), unit(s))), true
}
