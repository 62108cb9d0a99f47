package json

import "unicode/utf8"

// IsHalf reports whether text begins with half a surrogate pair in three bytes, as AppendUnquoted writes it.
func IsHalf[T ~string | ~[]byte](text T) bool {
	return len(text) >= 3 && text[0] == 0xed && text[1] >= 0xa0 && text[1] <= 0xbf && text[2]&0xc0 == 0x80
}

// CharLen returns the length of the first character of text, or of half a surrogate pair there. ok is false for a
// byte that is neither.
func CharLen(text []byte) (n int, ok bool) {
	if IsHalf(text) {
		return 3, true
	}
	r, n := utf8.DecodeRune(text)
	return n, r != utf8.RuneError || n > 1
}

// ReplaceInvalid replaces invalid Unicode by U+FFFD: bytes that are not UTF-8, and half a surrogate pair. It returns
// valid text itself.
func ReplaceInvalid(text []byte) []byte { return replaceInvalid(text, true) }

// ReplaceNonUTF8 replaces bytes that are not UTF-8 by U+FFFD. Half a surrogate pair stays: JSON can express it.
func ReplaceNonUTF8(text []byte) []byte { return replaceInvalid(text, false) }

func replaceInvalid(text []byte, halves bool) []byte {
	if utf8.Valid(text) {
		return text
	}
	out := make([]byte, 0, len(text)+8)
	for i := 0; i < len(text); {
		n, ok := CharLen(text[i:])
		if ok && !(halves && IsHalf(text[i:])) {
			out = append(out, text[i:i+n]...)
		} else {
			out = utf8.AppendRune(out, utf8.RuneError)
		}
		i += n
	}
	return out
}
