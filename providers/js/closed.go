package js

import (
	"regexp"
	"strings"

	"toolscope/stream/jsonbytes"
)

// ParseClosed is the parser of Anthropic's library. A text that is cut off loses an incomplete last token,
// and every open bracket is closed. If the text has another error, the library throws and ok is false.
func ParseClosed(text string) (v Value, ok bool) {
	if tokens, ok := splitTokens(text); ok {
		if whole, ok := closeAll(dropIncomplete(tokens)); ok {
			return Parse(whole)
		}
	}
	return Parse(text)
}

// token is a JSON token. Its sort is the byte of a bracket or separator, or one of "1a for strings,
// numbers and words.
type token struct {
	sort byte
	text string
	last bool // a number at the end of the text
}

// splitTokens returns the tokens of a text. It drops a string or word that is cut off. ok is false if the
// text contains anything else.
func splitTokens(text string) (all []token, ok bool) {
	for i := 0; i < len(text); {
		c, n := text[i], 1
		switch {
		case jsonbytes.IsSpace(c):
		case strings.IndexByte("{}[]:,", c) >= 0:
			all = append(all, token{sort: c, text: text[i : i+1]})
		case c == '"':
			end, closed := jsonbytes.StringEnd([]byte(text[i:]))
			if !closed {
				return all, true
			}
			n = end
			all = append(all, token{sort: '"', text: text[i : i+n]})
		case isDigit(c) || c == '-' || c == '.':
			n = numberLen(text[i:])
			all = append(all, token{'1', text[i : i+n], i+n == len(text)})
		case isLetter(c):
			for n < len(text)-i && isLetter(text[i+n]) {
				n++
			}
			word := text[i : i+n]
			if _, is := words[word]; is {
				all = append(all, token{sort: 'a', text: word})
			} else if !isWordPrefix(word) || strings.Trim(text[i+n:], " \t\n\r") != "" {
				return nil, false
			}
		default:
			return nil, false
		}
		i += n
	}
	return all, true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isWordPrefix(s string) bool {
	for word := range words {
		if strings.HasPrefix(word, s) {
			return true
		}
	}
	return false
}

// numberLen returns how many bytes the library reads as a number.
func numberLen(text string) int {
	n := 0
	if text[0] == '-' {
		n++
	}
	for ; n < len(text); n++ {
		c := text[n]
		sign := (c == '-' || c == '+') && n > 0 && text[n-1]|0x20 == 'e'
		if !isDigit(c) && c != '.' && c|0x20 != 'e' && !sign {
			break
		}
	}
	return max(n, 1)
}

var numberPattern = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// dropIncomplete removes tokens at the end that may be incomplete: a number, a key without a value, a comma.
func dropIncomplete(all []token) []token {
	var open []byte
	for _, t := range all {
		switch t.sort {
		case '{', '[':
			open = append(open, t.sort)
		case '}', ']':
			open = open[:max(0, len(open)-1)]
		}
	}
	inObject := len(open) > 0 && open[len(open)-1] == '{'
	for n := len(all); n > 0; n-- {
		switch t := all[n-1]; {
		case t.sort == ':':
		case t.sort == '1' && (t.last || !numberPattern.MatchString(t.text)):
		case t.sort == '"' && inObject && n > 1 && (all[n-2].sort == ',' || all[n-2].sort == '{'):
		case t.sort == ',':
			return all[:n-1]
		default:
			return all[:n]
		}
	}
	return nil
}

// closeAll returns the text of tokens, with every open bracket closed. ok is false if a bracket closes
// one that is not open.
func closeAll(all []token) (text string, ok bool) {
	var b, closers []byte
	for i, t := range all {
		switch t.sort {
		case '{', '[':
			closers = append(closers, t.sort+2) // } is two after {, ] two after [
		case '}', ']':
			n := len(closers) - 1
			if n < 0 || closers[n] != t.sort {
				return "", false
			}
			closers = closers[:n]
		case '"', '1', 'a':
			if i > 0 && strings.IndexByte(`"1a`, all[i-1].sort) >= 0 {
				b = append(b, ' ')
			}
		}
		b = append(b, t.text...)
	}
	for i := len(closers) - 1; i >= 0; i-- {
		b = append(b, closers[i])
	}
	return string(b), true
}
