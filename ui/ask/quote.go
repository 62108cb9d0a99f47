// Package ask implements the tools of toolscope's own MCP server. The tools answer questions from agents and
// scripts about captures. The package reads no files: a Library has the runs and redacts text.
//
//	request ─▶ Server ─▶ tool ─▶ Library.Open ─▶ Run ─▶ rows ─▶ redacted, at most MaxAnswer bytes
//
// Captured text is a JSON string on one line, except short names of plain characters, which have no quotes.
// All other text outside quotes comes from toolscope itself.
package ask

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"toolscope/ui/display"
)

// quoteText returns captured text as a JSON string. It escapes control characters, invisible characters and
// <, so that a client can't mistake the text for markup.
func quoteText(text string) string {
	return strings.ReplaceAll(string(display.AppendJSON(nil, text)), "<", `\u003c`)
}

// quoteStart quotes the beginning of text. The parameter most is the maximum number of bytes, and size is the size of
// the complete text. If the quote is shorter than the complete text, quoteStart adds both sizes.
func quoteStart(text string, size, most int) string {
	start := cutText(text, most)
	if len(start) >= size {
		return quoteText(start)
	}
	return fmt.Sprintf("%s (first %d of %d B)", quoteText(start), len(start), size)
}

// cutText returns the beginning of text, at most the given number of bytes. It does not split a character.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	n := max(most, 0)
	for n > 0 && n > most-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// maxName is the maximum length of a name without quotes.
const maxName = 64

// quoteName returns a captured name. It quotes a name that is long or has unusual characters.
func quoteName(text string) string {
	if text == "" || len(text) > maxName || strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/#-") != "" {
		return quoteStart(text, len(text), 4*maxName)
	}
	return text
}
