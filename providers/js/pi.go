package js

import (
	"fmt"
	"strings"
)

// ParseStreaming is the parser of pi for arguments that may still be arriving. It tries JSON, then JSON
// with repaired strings, then Partial on both. It always returns a value: {} if all fail.
func ParseStreaming(text string) Value {
	if Trim(text) == "" {
		return EmptyObject()
	}
	if v, ok := Parse(text); ok {
		return v
	}
	mended := escapeControls(text)
	if v, ok := Parse(mended); ok && mended != text {
		return v
	}
	for _, t := range []string{text, mended} {
		if v, ok := Partial(t); ok {
			if v.Kind == Null {
				break
			}
			return v
		}
	}
	return EmptyObject()
}

// escapeControls escapes control characters in strings, and backslashes that don't begin an escape.
func escapeControls(text string) string {
	var b strings.Builder
	in := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			in = !in
			b.WriteByte(c)
		case in && c == '\\':
			i += writeEscape(&b, text[i+1:])
		case in && c < ' ':
			b.WriteString(escapeControl(c))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// writeEscape writes a backslash and its escape, and returns how many bytes of rest it wrote.
func writeEscape(b *strings.Builder, rest string) int {
	switch {
	case len(rest) >= 5 && rest[0] == 'u' && isHex(rest[1]) && isHex(rest[2]) && isHex(rest[3]) && isHex(rest[4]):
		b.WriteString(`\` + rest[:5])
		return 5
	case rest != "" && strings.IndexByte(`"\/bfnrtu`, rest[0]) >= 0:
		b.WriteString(`\` + rest[:1])
		return 1
	}
	b.WriteString(`\\`)
	return 0
}

func escapeControl(c byte) string {
	if i := strings.IndexByte("\b\f\n\r\t", c); i >= 0 {
		return `\` + "bfnrt"[i:i+1]
	}
	return fmt.Sprintf(`\u%04x`, c)
}
