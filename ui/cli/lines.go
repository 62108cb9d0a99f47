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

// lineWriter is how this package writes to a standard stream: a line is a Text, which was cleaned, or a
// JSON object, whose strings were. It is no io.Writer, so what is not clean does not get past it.
// Each line is one write; what becomes of it, the stream knows.
type lineWriter struct{ to io.Writer }

func (l lineWriter) writeLine(t display.Text) { _, _ = io.WriteString(l.to, t.String()+"\n") }

// writeObject writes what was not written yet of an object, which ends its line.
func (l lineWriter) writeObject(o *jsonObject) { _, _ = l.to.Write(o.lineBytes()) }

// printLine writes one clean line, whatever is in the arguments.
func (l lineWriter) printLine(format string, args ...any) {
	l.writeLine(display.Clean(strings.TrimRight(fmt.Sprintf(format, args...), " ")))
}

// writeLongLine writes a line that may be long: its parts behind a lead.
func (l lineWriter) writeLongLine(lead display.Text, parts iter.Seq[display.Text]) {
	_, _ = io.WriteString(l.to, lead.String())
	for part := range parts {
		_, _ = io.WriteString(l.to, part.String())
	}
	l.writeLine(display.Text{})
}

// writeParts writes a line of clean JSON.
func (l lineWriter) writeParts(of iter.Seq[[]byte]) {
	for part := range of {
		_, _ = l.to.Write(part)
	}
	l.writeLine(display.Text{})
}

// withBuffer are lines that go on to the same place when they are flushed, or are many.
func (l lineWriter) withBuffer() lineWriter { return lineWriter{bufio.NewWriterSize(l.to, 64<<10)} }

func (l lineWriter) flush() error {
	if b, ok := l.to.(*bufio.Writer); ok {
		return b.Flush()
	}
	return nil
}

// writeWrapped writes text behind a lead, in lines that are indented as far as the lead is wide.
func (l lineWriter) writeWrapped(lead, text string) {
	l.writeWrappedWords(lead, strings.FieldsFunc(display.Clean(text).String(), func(c rune) bool { return c == ' ' }))
}

// writeWrappedWords is prose of words that stay whole, whatever is in them.
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

// joinDots is the words that are not empty, with a dot between.
func joinDots(words ...string) string { return strings.Join(nonEmpty(words), " · ") }

// joinCommas is the words that are not empty, with a comma between.
func joinCommas(words ...string) string { return strings.Join(nonEmpty(words), ", ") }

// nonEmpty are the words that are not empty.
func nonEmpty(words []string) []string {
	return slices.DeleteFunc(words, func(word string) bool { return word == "" })
}

// mapSlice is what of makes of every item.
func mapSlice[T, U any](items []T, of func(T) U) (all []U) {
	for _, item := range items {
		all = append(all, of(item))
	}
	return all
}

// textIf is a word, or where it does not hold none.
func textIf(holds bool, word string) string { return ifElse(holds, word, "") }

func ifElse(yes bool, this, that string) string {
	if yes {
		return this
	}
	return that
}
