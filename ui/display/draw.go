package display

import (
	"strconv"
	"unicode/utf8"
)

const (
	circle    = "◌"
	tagsOpen  = `⟨tags:"`
	tagsClose = `"⟩`

	// pictures are the Unicode control pictures of the C0 controls, three bytes each.
	pictures = "␀␁␂␃␄␅␆␇␈␉␊␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟"
)

// drawnText returns the drawn form of the altered unit p at the start of b.
func (d Drawer) drawnText(b []byte, p scannedUnit) string {
	if p.form == control && !d.ASCII {
		return pictures[3*p.r : 3*p.r+3]
	}
	var buf [3 * MaxCells]byte
	return string(d.appendUnit(buf[:0], b, p))
}

// appendUnit appends the drawn form of the unit p at the start of b.
func (d Drawer) appendUnit(dst, b []byte, p scannedUnit) []byte {
	switch p.form {
	case control:
		if d.ASCII {
			return appendControl(dst, p.r)
		}
		return append(dst, pictures[3*p.r:3*p.r+3]...)
	case octet:
		return appendHex(append(dst, `\x`...), p.r, 2)
	case surrogate:
		return appendHex(append(dst, `\u`...), p.r, 4)
	case point:
		return d.appendPoint(dst, p.r)
	case tags:
		return d.appendTags(dst, b[:p.n])
	case based:
		dst = append(dst, circle...)
	}
	dst = append(dst, b[:p.keep]...)
	if p.lost > 0 {
		dst = append(dst, "⟨+"...)
		dst = strconv.AppendInt(dst, int64(p.lost), 10)
		dst = append(dst, "⟩"...)
	}
	return dst
}

// appendControl appends a C0 control in ASCII.
func appendControl(dst []byte, r rune) []byte {
	switch r {
	case '\t':
		return append(dst, `\t`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	}
	return appendHex(append(dst, `\x`...), r, 2)
}

// appendPoint appends the number of a code point.
func (d Drawer) appendPoint(dst []byte, r rune) []byte {
	switch {
	case d.ASCII && r > 0xffff:
		return appendHex(append(dst, `\U`...), r, 8)
	case d.ASCII:
		return appendHex(append(dst, `\u`...), r, 4)
	}
	var buf [8]byte
	hex := appendHex(buf[:0], r, 4)
	dst = append(dst, "⟨U+"...)
	for _, c := range hex {
		if c >= 'a' {
			c -= 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return append(dst, "⟩"...)
}

// appendTags appends a run of tag characters, decoded.
func (d Drawer) appendTags(dst, run []byte) []byte {
	first, last := tagsOpen, tagsClose
	if d.ASCII {
		first, last = `<tags:"`, `">`
	}
	dst = append(dst, first...)
	for len(run) > 0 {
		r, n := utf8.DecodeRune(run)
		dst = appendTag(dst, r)
		run = run[n:]
	}
	return append(dst, last...)
}

// appendTag appends the ASCII character that the tag character r encodes.
func appendTag(dst []byte, r rune) []byte {
	switch c := r - 0xe0000; {
	case c == '"' || c == '\\':
		return append(dst, '\\', byte(c))
	case c >= 0x20 && c < 0x7f:
		return append(dst, byte(c))
	default:
		return appendHex(append(dst, `\x`...), c, 2)
	}
}

// appendHex appends r in lower-case hexadecimal, with at least width digits.
func appendHex(dst []byte, r rune, width int) []byte {
	for r>>(4*width) != 0 {
		width++
	}
	for shift := 4 * (width - 1); shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[r>>shift&0xf])
	}
	return dst
}
