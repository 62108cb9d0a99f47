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

// lines is how this package writes to a standard stream: a line is a Text, which was cleaned, or a
// JSON object, whose strings were. It is no io.Writer, so what is not clean does not get past it.
// Each line is one write; what becomes of it, the stream knows.
type lines struct{ to io.Writer }

func (l lines) line(t display.Text) { _, _ = io.WriteString(l.to, t.String()+"\n") }

// object writes what was not written yet of an object, which ends its line.
func (l lines) object(o *object) { _, _ = l.to.Write(o.line()) }

// linef writes one clean line, whatever is in the arguments.
func (l lines) linef(format string, args ...any) {
	l.line(display.Clean(strings.TrimRight(fmt.Sprintf(format, args...), " ")))
}

// long writes a line that may be long: its parts behind a lead.
func (l lines) long(lead display.Text, parts iter.Seq[display.Text]) {
	_, _ = io.WriteString(l.to, lead.String())
	for part := range parts {
		_, _ = io.WriteString(l.to, part.String())
	}
	l.line(display.Text{})
}

// parts writes a line of clean JSON.
func (l lines) parts(of iter.Seq[[]byte]) {
	for part := range of {
		_, _ = l.to.Write(part)
	}
	l.line(display.Text{})
}

// buffered are lines that go on to the same place when they are flushed, or are many.
func (l lines) buffered() lines { return lines{bufio.NewWriterSize(l.to, 64<<10)} }

func (l lines) flush() error {
	if b, ok := l.to.(*bufio.Writer); ok {
		return b.Flush()
	}
	return nil
}

// prose writes text behind a lead, in lines that are indented as far as the lead is wide.
func (l lines) prose(lead, text string) {
	l.wrapped(lead, strings.FieldsFunc(display.Clean(text).String(), func(c rune) bool { return c == ' ' }))
}

// wrapped is prose of words that stay whole, whatever is in them.
func (l lines) wrapped(lead string, words []string) {
	indent := display.Clean(lead).Width()
	line, used := lead, indent
	for i, word := range words {
		cells := display.Clean(word).Width()
		switch {
		case i == 0:
		case used+1+cells <= columns:
			line, used = line+" ", used+1
		default:
			l.linef("%s", line)
			line, used = strings.Repeat(" ", indent), indent
		}
		line, used = line+word, used+cells
	}
	l.linef("%s", line)
}

// joined is the words that are not empty, with a dot between.
func joined(words ...string) string { return strings.Join(told(words), " · ") }

// list is the words that are not empty, with a comma between.
func list(words ...string) string { return strings.Join(told(words), ", ") }

// told are the words that are not empty.
func told(words []string) []string {
	return slices.DeleteFunc(words, func(word string) bool { return word == "" })
}

// each is what of makes of every item.
func each[T, U any](items []T, of func(T) U) (all []U) {
	for _, item := range items {
		all = append(all, of(item))
	}
	return all
}

// when is a word, or where it does not hold none.
func when(holds bool, word string) string { return either(holds, word, "") }

func either(yes bool, this, that string) string {
	if yes {
		return this
	}
	return that
}
