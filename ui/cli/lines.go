package cli

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"toolscope/ui/display"
)

// columns is the width that prose is wrapped to.
const columns = 80

// lines writes text for people, every line of it clean.
type lines struct{ w *bufio.Writer }

func (l lines) flush() error { return l.w.Flush() }

// linef writes one clean line.
func (l lines) linef(format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	_, _ = l.w.WriteString(display.Clean(text).String())
	_ = l.w.WriteByte('\n')
}

// prose writes text behind a lead, which must be clean and is what the lines
// that follow are indented by.
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

// when is a word, or where it does not hold none.
func when(holds bool, word string) string { return either(holds, word, "") }

func either(yes bool, this, that string) string {
	if yes {
		return this
	}
	return that
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
