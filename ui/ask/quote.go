// Package ask answers questions of agents and scripts about captures: the tools of toolscope's own MCP server.
// It reads no files. A Library has the runs, and redacts what it reads.
//
//	request ─▶ Server ─▶ tool ─▶ Library.Open ─▶ Run ─▶ rows ─▶ redacted, at most MaxAnswer bytes
//
// Captured text is always one JSON string on one line. Everything outside of quotes is toolscope's own.
package ask

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"toolscope/ui/display"
)

// quoteText returns captured text as a JSON string without controls, invisible characters and <, so that no markup
// of a client survives.
func quoteText(text string) string {
	return strings.ReplaceAll(string(display.AppendJSON(nil, text)), "<", `\u003c`)
}

// quoteStart quotes at most most bytes of a text of size bytes, and says how much that is if it is not all.
func quoteStart(text string, size, most int) string {
	start := cutText(text, most)
	if len(start) >= size {
		return quoteText(start)
	}
	return fmt.Sprintf("%s (first %d of %d B)", quoteText(start), len(start), size)
}

// cutText returns at most most bytes of a text, with complete characters.
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

// maxName is the longest name that needs no quotes.
const maxName = 64

// quoteName returns a captured name as it is, or quoted if it has other characters than names have.
func quoteName(text string) string {
	if text == "" || len(text) > maxName || strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/#-") != "" {
		return quoteStart(text, len(text), 4*maxName)
	}
	return text
}
