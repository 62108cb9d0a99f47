package cli

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"toolscope/ui/display"
)

// columns is the width that prose is wrapped to.
const columns = 80

// lineWriter writes lines to a standard stream. A line is a sanitised display.Text, or a JSON object with
// sanitised strings. lineWriter is not an io.Writer, so that all output is sanitised. Each line is one write;
// the stream keeps its errors.
type lineWriter struct{ to io.Writer }

// writeLine writes one line.
func (l lineWriter) writeLine(t display.Text) { _, _ = io.WriteString(l.to, t.String()+"\n") }

// writeObject writes the remaining part of an object and ends its line.
func (l lineWriter) writeObject(o *jsonObject) { _, _ = l.to.Write(o.lineBytes()) }

// printLine writes one line, sanitised, without spaces at its end.
func (l lineWriter) printLine(format string, args ...any) {
	l.writeLine(display.Clean(strings.TrimRight(fmt.Sprintf(format, args...), " ")))
}

// writeLongLine writes a line in parts, after a lead. The line may be too long for one string.
func (l lineWriter) writeLongLine(lead display.Text, parts iter.Seq[display.Text]) {
	_, _ = io.WriteString(l.to, lead.String())
	for part := range parts {
		_, _ = io.WriteString(l.to, part.String())
	}
	l.writeLine(display.Text{})
}

// writeParts writes the parts of a line of sanitised JSON.
func (l lineWriter) writeParts(of iter.Seq[[]byte]) {
	for part := range of {
		_, _ = l.to.Write(part)
	}
	l.writeLine(display.Text{})
}

// withBuffer returns a buffered writer to the same stream. The lines are written when it is flushed or its
// buffer is full.
func (l lineWriter) withBuffer() lineWriter { return lineWriter{bufio.NewWriterSize(l.to, 64<<10)} }

// flush writes the buffered lines.
func (l lineWriter) flush() error {
	if b, ok := l.to.(*bufio.Writer); ok {
		return b.Flush()
	}
	return nil
}

// writeWrapped writes text after a lead, wrapped; further lines are indented by the width of the lead.
func (l lineWriter) writeWrapped(lead, text string) {
	l.writeWrappedWords(lead, strings.FieldsFunc(display.Clean(text).String(), func(c rune) bool { return c == ' ' }))
}

// writeWrappedWords is like writeWrapped for words that may contain spaces, at which it doesn't break lines.
func (l lineWriter) writeWrappedWords(lead string, words []string) {
	indent := display.Clean(lead).Width()
	line, used := lead, indent
	for i, word := range words {
		cells := display.Clean(word).Width()
		switch {
		case i == 0:
		case used+1+cells <= columns:
			line, used = line+" ", used+1
		default:
			l.printLine("%s", line)
			line, used = strings.Repeat(" ", indent), indent
		}
		line, used = line+word, used+cells
	}
	l.printLine("%s", line)
}

// joinDots joins the words that are not empty with a dot.
func joinDots(words ...string) string { return strings.Join(nonEmpty(words), " · ") }

// joinCommas joins the words that are not empty with a comma.
func joinCommas(words ...string) string { return strings.Join(nonEmpty(words), ", ") }

// nonEmpty removes empty words.
func nonEmpty(words []string) []string {
	return slices.DeleteFunc(words, func(word string) bool { return word == "" })
}

// mapSlice returns the results of calling of with every item.
func mapSlice[T, U any](items []T, of func(T) U) (all []U) {
	for _, item := range items {
		all = append(all, of(item))
	}
	return all
}

// textIf returns word if holds is true, else "".
func textIf(holds bool, word string) string { return ifElse(holds, word, "") }

// ifElse returns this if yes is true, else that.
func ifElse(yes bool, this, that string) string {
	if yes {
		return this
	}
	return that
}
