package textcall

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// A Call is a tool call that a model wrote into its text.
type Call struct {
	Form    string // name of the form in machine output
	Title   string // title of the form for people
	Tool    string
	Offset  int    // offset of the call's first byte in the text
	Opening string // the text with which the call begins
}

// Tools are the tools that a request declares.
type Tools struct {
	Known bool // whether the request is known
	Has   func(name string) bool
}

const (
	maxTail       = 64 << 10 // number of bytes at the end of a text that are searched for a call
	maxCandidates = 48       // maximum number of openings that are tried
)

// Find returns the call at the end of a text. If there is none, the second result is false. The parameter otherCalls
// says whether the response also has real calls. If so, a form without markup doesn't count as a call.
func Find(text []byte, tools func() Tools, otherCalls bool) (Call, bool) {
	end := len(bytes.TrimRight(text, " \t\r\n"))
	if end == 0 || !mayEndCall(text[:end]) {
		return Call{}, false
	}
	from := max(0, end-maxTail)
	var declared *Tools
	tried := 0
	for at := from; at < end && tried < maxCandidates; at++ {
		for _, open := range openers[text[at]] {
			if !bytes.HasPrefix(text[at:end], []byte(open.text)) {
				continue
			}
			start := at
			if open.form.named {
				start = nameStart(text, at)
			}
			if open.form.bare && (otherCalls || start > 0 && text[start-1] != '\n') {
				continue
			}
			tried++
			tool, ok := readToEnd(text[:end], start, at, open)
			if !ok {
				continue
			}
			before := wordsBefore(text, start)
			if isQuoted(before) {
				return Call{}, false
			}
			if declared == nil {
				t := tools()
				declared = &t
			}
			switch {
			case declared.Known && !declared.Has(tool):
			case !declared.Known && (open.form.bare || open.form.offer || !endsSentence(before)):
			case isFenced(text, start), isInQuotingTag(text[max(0, start-maxTail):start]):
			default:
				return Call{open.form.name, open.form.title, tool, start, clipOpening(text[start:end])}, true
			}
		}
	}
	return Call{}, false
}

// mayEndCall reports whether text ends in a way in which a call can end: with > } ] ) or a backquote, or with *** End
// Patch.
func mayEndCall(text []byte) bool {
	return strings.IndexByte(">}])`", text[len(text)-1]) >= 0 || bytes.HasSuffix(text, []byte("*** End Patch"))
}

// clipOpening returns the beginning of a call, for a message. It ends with the first line, with the first > or after
// maxOpening bytes.
func clipOpening(text []byte) string {
	if i := bytes.IndexAny(text, "\r\n"); i >= 0 {
		text = text[:i]
	}
	text = text[:min(len(text), maxOpening)]
	if i := bytes.IndexByte(text, '>'); i >= 0 {
		text = text[:i+1]
	}
	return strings.ToValidUTF8(string(text), "")
}

const maxOpening = 48

// nameStart returns the start of the name that ends at a given offset.
func nameStart(text []byte, at int) int {
	start := at
	for start > 0 && at-start < maxName && isNameByte(text[start-1]) {
		start--
	}
	for start < at && strings.IndexByte("-.:/", text[start]) >= 0 {
		start++
	}
	return start
}

// readToEnd reads the form that begins at start and has its opening at the given offset, and the text after it. It
// returns the tool of the first call. If anything but calls and closing markup follows, ok is false.
func readToEnd(text []byte, start, at int, open opener) (tool string, ok bool) {
	for {
		c := cursor{text: text, at: at + len(open.text), opened: open.text, before: plainName(string(text[start:at])), by: &openers}
		name := open.form.read(&c)
		if name == "" || c.at <= start {
			return "", false
		}
		if tool == "" {
			tool = name
		}
		at = c.at + closersLen(text[c.at:])
		if at == len(text) {
			return tool, true
		}
		if start, at, open, ok = openingAt(text, at); !ok {
			return "", false
		}
	}
}

// openingAt returns the opening of the form that begins at the given offset. The result opens is the offset of the
// opening, which may follow a name. If no form with markup begins there, ok is false.
func openingAt(text []byte, at int) (start, opens int, open opener, ok bool) {
	for _, open := range openers[text[at]] {
		if !open.form.bare && !open.form.named && bytes.HasPrefix(text[at:], []byte(open.text)) {
			return at, at, open, true
		}
	}
	n := 0
	for n < maxName && at+n < len(text) && isNameByte(text[at+n]) {
		n++
	}
	if at+n < len(text) {
		for _, open := range openers[text[at+n]] {
			if open.form.named && bytes.HasPrefix(text[at+n:], []byte(open.text)) {
				return at, at + n, open, true
			}
		}
	}
	return 0, 0, opener{}, false
}

// closersLen returns the length of white space, separators, closing tags and tokens at the beginning of text.
func closersLen(text []byte) int {
	c := cursor{text: text}
	for {
		c.skipSpace()
		p := c.restOfText()
		n := bytes.IndexByte(p[:min(len(p), maxOpening)], '>')
		switch {
		case c.skipAny("[/TOOL_CALLS]", "[/INST]", minimaxToken, ";", ","):
		case n > 0 && isCloser(string(p[:n+1])):
			c.at += n + 1
		default:
			return c.at
		}
	}
}

// isCloser reports whether a tag is a closing tag, or a token with which no form begins.
func isCloser(tag string) bool {
	for _, open := range openers['<'] {
		if strings.HasPrefix(open.text, tag) {
			return false
		}
	}
	switch {
	case strings.Contains(tag[1:], "<"):
		return false
	case strings.HasPrefix(tag, "</"), strings.Contains(tag, "end"):
		return true
	}
	return tag == "<eos>" || strings.HasPrefix(tag, "<|") || strings.HasPrefix(tag, "<｜") || strings.HasSuffix(tag, "|>")
}

// strayWords are words that models write before a call.
var strayWords = []string{"court", "call", "count", "assistant", "function"}

// wordsBefore returns the text before a form on the same line, without tags and tokens directly before the form. It has
// white space at its end only if it consists of white space.
func wordsBefore(text []byte, at int) string {
	line := text[max(0, at-maxTail):at]
	before := string(line[bytes.LastIndexByte(line, '\n')+1:])
	for {
		trimmed := strings.TrimRight(before, " \t")
		open := strings.LastIndexByte(trimmed, '<')
		if n := len(trimmed); n > 0 && (trimmed[n-1] != '>' || open < 0 || n-open > maxOpening) {
			return trimmed
		} else if n == 0 {
			return before
		}
		before = trimmed[:open]
	}
}

// isQuoted reports whether a form that follows the given text on its line is in backticks, directly after a quotation
// mark, or in a line of a quotation, a list, a comment, a patch, a log, a search result or an indented code block.
func isQuoted(before string) bool {
	return strings.Count(before, "`")%2 == 1 || hasAnySuffix(before, `"`, "'", "“", "„", "«", "‘") || quotedLine.MatchString(before)
}

// hasAnySuffix reports whether text ends with one of the suffixes.
func hasAnySuffix(text string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(text, s) })
}

// quotedLine matches the beginning of a line that quotes the rest.
var quotedLine = regexp.MustCompile(`^(?:[ \t]*>|[ \t]*(?:[-+*;]|--|#+|//+|/\*+|<!--|\d+[.)])[ \t]*$|(?: {4}|\t)[ \t]*$|[^\s:]+:\d+:[ \t]*$|\[\d[^\]]*\][ \t]*$)`)

// quotingTags are elements in which documents quote texts.
var quotingTags = []string{"code", "pre", "kbd", "samp", "example", "examples", "blockquote", "li", "td", "p", "details"}

// isInQuotingTag reports whether text has an open element of quotingTags.
func isInQuotingTag(text []byte) bool {
	return slices.ContainsFunc(quotingTags, func(tag string) bool {
		open := max(bytes.LastIndex(text, []byte("<"+tag+">")), bytes.LastIndex(text, []byte("<"+tag+" ")))
		return open > bytes.LastIndex(text, []byte("</"+tag+">"))
	})
}

// endsSentence reports whether the text before a call is empty, ends like a sentence, or is one of strayWords, which
// models write by mistake.
func endsSentence(before string) bool {
	before = strings.TrimSpace(before)
	return before == "" || slices.Contains(strayWords, before) || strings.HasSuffix(before, "…") ||
		strings.IndexByte(".!?:)]}", before[len(before)-1]) >= 0
}

// isFenced reports whether an offset is inside a fenced code block.
func isFenced(text []byte, at int) (fenced bool) {
	for line := range bytes.Lines(text[:bytes.LastIndexByte(text[:at], '\n')+1]) {
		if l := bytes.TrimLeft(line, " \t>-+*.0123456789"); bytes.HasPrefix(l, []byte("```")) || bytes.HasPrefix(l, []byte("~~~")) {
			fenced = !fenced
		}
	}
	return fenced
}
