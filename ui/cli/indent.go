package cli

import (
	"bytes"
	"math"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/layout"
)

// deepest is how far lines are indented at most, in cells.
const deepest = 40

// indented is a text as the screen lays out JSON, in lines that are clean: a
// member or element a line. From where it is no JSON it stays as it is.
func indented(text []byte) (out []string) {
	var lex stream.Lexer
	lex.Write(text)
	lex.Close()
	doc := layout.NewJSON(math.MaxInt32, display.Drawer{})
	doc.Extend(text, &lex, true)
	for _, row := range doc.Rows() {
		out = append(out, rowLines(text, lex.Tokens(), row)...)
	}
	return out
}

// rowLines is one row as text: one line, unless it holds line breaks that are no
// JSON.
func rowLines(text []byte, tokens []stream.Token, row layout.Row) (out []string) {
	line := []byte(strings.Repeat(" ", min(int(row.Indent), deepest)))
	off := row.Start
	for n := int(row.Token); n < len(tokens) && off < row.End; n++ {
		end := min(tokens[n].End, row.End)
		if end <= off {
			continue
		}
		piece := text[off:end]
		off = end
		switch tokens[n].Kind {
		case stream.Space:
		case stream.Colon:
			line = append(line, ": "...)
		case stream.Junk:
			line = append(line, piece...)
		default:
			line = display.AppendJSONText(line, piece)
		}
	}
	for _, l := range strings.Split(string(line), "\n") {
		out = append(out, string(display.Clean(l)))
	}
	return out
}

// argumentsDiff is a unified diff of what the model wrote and what is sent, line
// by line of both as they are laid out; nothing where these are the same.
func argumentsDiff(original, sent []byte) []string {
	if bytes.Equal(original, sent) {
		return nil
	}
	diff := udiff.Unified("as the model wrote them", "as they are sent", lined(original), lined(sent))
	if diff == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
}

// lined ends each line, so that no diff is about the end of a text.
func lined(text []byte) string {
	return strings.Join(append(indented(text), ""), "\n")
}
