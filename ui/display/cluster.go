package display

import "unicode/utf8"

// Limits of one cluster. Written language stays far below them. Text that is meant to cover its neighbours
// exceeds them.
const (
	maxMarks  = 8   // combining marks on one base
	maxPoints = 32  // code points
	maxWindow = 160 // bytes that are searched for the end of a cluster; more than maxPoints need
)

const (
	zwj        = '\u200d'
	vs16       = '\ufe0f'
	keycapMark = '\u20e3'
)

// clusterWindow returns the start of b, up to the maximum length of a cluster. Without a limit, a text that is
// one long cluster would be searched again at each character.
func clusterWindow(b []byte) []byte {
	if len(b) <= maxWindow {
		return b
	}
	n := maxWindow
	for n > maxWindow-utf8.UTFMax && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}

// wellFormed returns how many bytes of the cluster c may be drawn as they are: all bytes, or those before
// the first character that is not allowed at its place. full is true if that character only exceeds a limit.
//
// Emoji sequences follow https://unicode.org/reports/tr51/#def_emoji_sequence, without tag sequences.
func wellFormed(c []byte) (keep int, full bool) {
	last, keep := utf8.DecodeRune(c)
	marks := 0
	if isMark(last) {
		marks = 1
	}
	for points := 1; keep < len(c); points++ {
		r, n := utf8.DecodeRune(c[keep:])
		ok := r != utf8.RuneError || n > 1
		switch {
		case r == zwj:
			next, _ := utf8.DecodeRune(c[keep+n:])
			ok = (isEmoji(last) || isSkinTone(last) || last == vs16) && isEmoji(next)
		case r == vs16:
			next, _ := utf8.DecodeRune(c[keep+n:])
			ok = isEmoji(last) || isKeycapBase(last) && next == keycapMark
		case isSkinTone(r):
			ok = canHaveSkinTone(last)
		default:
			ok = ok && isDrawable(r)
		}
		if !ok {
			return keep, false
		}
		if isMark(r) {
			marks++
		} else {
			marks = 0
		}
		if marks > maxMarks || points >= maxPoints {
			return keep, true
		}
		last, keep = r, keep+n
	}
	return keep, false
}

// skipStacked counts the characters from at on that would be drawn on top of a full cluster, which ends at
// end. It returns the offset after the last of them.
func skipStacked(b []byte, at, end int) (n, lost int) {
	for at < len(b) {
		r, size := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && size == 1 || !isDrawable(r) || isSkinTone(r) || at >= end && !joinsPrevious(r) {
			break
		}
		at += size
		lost++
	}
	return at, lost
}

// tagRun returns the length of the run of tag characters at the start of b, up to the limit of one unit.
func tagRun(b []byte) int {
	n, cells := 0, cellWidth(tagsOpen+tagsClose)
	for n < len(b) {
		r, size := utf8.DecodeRune(b[n:])
		if !isTag(r) {
			break
		}
		var buf [4]byte
		cells += len(appendTag(buf[:0], r))
		if cells > MaxCells {
			break
		}
		n += size
	}
	return n
}

// decodeSurrogate decodes a surrogate from the three bytes that UTF-8 would have for it. Such bytes are
// invalid UTF-8.
func decodeSurrogate(b []byte) (rune, bool) {
	if len(b) < 3 || b[0] != 0xed || b[1]&0xe0 != 0xa0 || b[2]&0xc0 != 0x80 {
		return 0, false
	}
	return 0xd000 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f), true
}
