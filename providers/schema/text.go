package schema

import (
	"bytes"
	"encoding/json"
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"toolscope/stream/jsonbytes"
)

// stringProgress follows the content of one string literal as it grows: the listed words that it can still
// become, and its length. It decodes characters as encoding/json does, which the validator uses.
type stringProgress struct {
	at       int // offset of the first unread byte
	size     int // bytes of the current character
	runes    int
	lists    []wordRange
	maxRunes int // runes allowed
	long     bool
}

// wordRange holds the words of a sorted list that begin with the bytes read so far.
type wordRange struct {
	of   *schemaNode
	left []string
	read int // bytes of each word
}

// goOn keeps only words that continue with s.
func (w *wordRange) goOn(s string) {
	lo := sort.Search(len(w.left), func(i int) bool { return w.left[i][w.read:] >= s })
	n := sort.Search(len(w.left)-lo, func(i int) bool { return !strings.HasPrefix(w.left[lo+i][w.read:], s) })
	w.left = w.left[lo : lo+n]
	w.read += len(s)
}

// is reports whether the bytes read so far are one of the words.
func (w *wordRange) is() bool { return len(w.left) > 0 && len(w.left[0]) == w.read }

// startLiteral starts to read the literal at start.
func (r *stringProgress) startLiteral(start, most int) {
	*r = stringProgress{at: start + 1, lists: r.lists[:0], maxRunes: most}
}

// isIdle reports whether nothing is left to check.
func (r *stringProgress) isIdle() bool {
	return len(r.lists) == 0 && (r.maxRunes == unbounded || r.long)
}

// next reads one character of args[:end], if it is there. It calls fail when a list has no word left, and
// long when there are too many characters. more means that the literal may continue.
func (r *stringProgress) next(args []byte, end int, more bool, fail func(*wordRange), long func()) bool {
	c, size := firstChar(args[r.at:end], more)
	if size == 0 {
		return false
	}
	r.size = size
	var buf [utf8.UTFMax]byte
	s := string(buf[:utf8.EncodeRune(buf[:], c)])
	kept := r.lists[:0]
	for i := range r.lists {
		w := r.lists[i]
		if w.goOn(s); len(w.left) == 0 {
			fail(&w)
			continue
		}
		kept = append(kept, w)
	}
	r.lists = kept
	if r.runes++; r.runes > r.maxRunes && !r.long {
		r.long = true
		long()
	}
	r.at += size
	return true
}

// firstChar returns the first character of p, the inside of a literal, and its size there. The size is 0 if
// later bytes decide which character it is.
func firstChar(p []byte, more bool) (c rune, size int) {
	switch {
	case len(p) == 0:
		return 0, 0
	case p[0] == '\\':
		return decodeEscape(p, more)
	case more && !utf8.FullRune(p):
		return 0, 0
	}
	return utf8.DecodeRune(p)
}

// decodeEscape is firstChar for an escape sequence.
func decodeEscape(p []byte, more bool) (c rune, size int) {
	if len(p) < 2 {
		return 0, 0
	}
	if p[1] != 'u' {
		return rune(jsonbytes.UnescapeByte(p[1])), 2
	}
	c, ok := jsonbytes.UnicodeEscape(p)
	switch {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(c):
		return c, 6
	case c >= 0xdc00: // a second half without a first
		return utf8.RuneError, 6
	}
	low, ok := jsonbytes.UnicodeEscape(p[6:])
	switch pair := utf16.DecodeRune(c, low); {
	case ok && pair != utf8.RuneError:
		return pair, 12
	case !ok && more && strings.HasPrefix(`\u`, string(p[6:min(len(p), 8)])):
		return 0, 0
	}
	return utf8.RuneError, 6
}

// literalContent returns the content of a complete literal.
func literalContent(literal []byte) string {
	inside := literal[1 : len(literal)-1]
	if utf8.Valid(inside) && bytes.IndexByte(inside, '\\') < 0 {
		return string(inside)
	}
	var s string
	_ = json.Unmarshal(literal, &s)
	return s
}
