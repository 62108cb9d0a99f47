package display

import (
	"bytes"
	"unicode/utf8"

	"toolscope/stream/json"
)

// AppendJSON appends s as a JSON string that is safe to print. Characters that [Clean] would alter are
// written as escapes; all others, including <, > and &, are written as they are. A JSON parser returns
// exactly s, except that each byte that is not UTF-8 becomes U+FFFD.
func AppendJSON[T string | []byte](dst []byte, s T) []byte {
	start := len(dst) + 1
	dst = append(append(dst, '"'), s...)
	if text := dst[start:]; json.PlainRun(text) < len(text) || PlainLen(text) < len(text) {
		dst, _ = appendEscaped(dst[:start], bytes.Clone(text), len(text), true)
	}
	return append(dst, '"')
}

// AppendJSONText appends a JSON text in a form that is safe to print. Inside strings, characters that [Clean]
// would alter are escaped as by [AppendJSON], and escapes are kept. Text outside of strings is kept,
// including line breaks. A text that is not valid JSON is made safe too, but its meaning may change.
func AppendJSONText(dst, text []byte) []byte {
	for len(text) > 0 {
		n := 0
		for ; n < len(text) && text[n] != '"'; n++ {
			if c := text[n]; (c < 0x20 || c >= 0x7f) && c != '\n' && c != '\r' && c != '\t' {
				break
			}
		}
		dst = append(dst, text[:n]...)
		text = text[n:]
		switch {
		case len(text) == 0:
		case text[0] == '"':
			n, closed := json.StringEnd(text)
			inside := text[1:n]
			if closed {
				inside = text[1 : n-1]
			}
			dst, _ = appendEscaped(append(dst, '"'), inside, len(inside), false)
			if closed {
				dst = append(dst, '"')
			}
			text = text[n:]
		default:
			p := scan(text)
			dst = Drawer{}.appendUnit(dst, text, p)
			text = text[p.n:]
		}
	}
	return dst
}

// appendEscaped appends the content of a JSON string: the units that begin in src[:most]. It returns the
// bytes after those units as rest. If quote is set, src is the value of the string, and quotation marks and
// backslashes are escaped. Otherwise src is already the content of a JSON string.
func appendEscaped(dst, src []byte, most int, quote bool) (_, rest []byte) {
	for last := len(src) - most; len(src) > last; {
		n := plainLen(src, len(src)-last)
		if n > 0 {
			dst = appendPlain(dst, src[:n], quote)
		} else {
			p := scan(src)
			n = p.n
			keep := p.keep
			if p.form != asIs {
				keep = 0
			}
			dst = appendPlain(dst, src[:keep], quote)
			dst = appendEscapes(dst, src[keep:n])
		}
		src = src[n:]
	}
	return dst, src
}

// appendPlain appends characters that need no Unicode escape. If quote is set, it escapes quotation marks and
// backslashes.
func appendPlain(dst, src []byte, quote bool) []byte {
	if !quote {
		return append(dst, src...)
	}
	for {
		n := json.PlainRun(src)
		if dst = append(dst, src[:n]...); n == len(src) {
			return dst
		}
		dst = append(dst, '\\', src[n])
		src = src[n+1:]
	}
}

// appendEscapes appends every character of src as an escape.
func appendEscapes(dst, src []byte) []byte {
	for len(src) > 0 {
		r, n := utf8.DecodeRune(src)
		src = src[n:]
		switch {
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r > 0xffff:
			r -= 0x10000
			dst = appendHex(append(dst, `\u`...), 0xd800|r>>10, 4)
			dst = appendHex(append(dst, `\u`...), 0xdc00|r&0x3ff, 4)
		default:
			dst = appendHex(append(dst, `\u`...), r, 4)
		}
	}
	return dst
}
