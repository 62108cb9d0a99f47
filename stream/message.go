package stream

import (
	"encoding/binary"
	"fmt"
	"iter"
	"reflect"
	"strings"
)

// A Span is a range of bytes of a text: From is its first byte, To the byte after its last.
type Span struct{ From, To int }

// Spans is a list of ranges in a form that can be compared: two uvarints for each.
type Spans string

// appended returns the list with one more range.
func (s Spans) appended(x Span) Spans {
	b := binary.AppendUvarint([]byte(s), uint64(x.From))
	return Spans(binary.AppendUvarint(b, uint64(x.To)))
}

// All iterates over the ranges in order.
func (s Spans) All() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for b := []byte(s); len(b) > 0; {
			from, n := binary.Uvarint(b)
			to, m := binary.Uvarint(b[n:])
			b = b[n+m:]
			if !yield(Span{int(from), int(to)}) {
				return
			}
		}
	}
}

// A Message is a sentence of the program that may quote captured text.
type Message struct {
	Text   string
	Quoted Spans  // the ranges of Text that are captured text, in order, without overlaps
	Facts  string // the facts in it, each with a NUL after it
}

// String returns the text.
func (m Message) String() string { return m.Text }

// Types of the arguments of Messagef. An argument that is a string, a []byte or an error counts as
// captured text, and so does every other value of these kinds; a number does not.
type (
	// Own is text of the program, not captured text.
	Own string
	// Fact is captured text that tells a finding from others with its code, such as a JSON pointer,
	// a field or a finish reason. Values that differ from run to run, such as ids, are not facts.
	Fact string
	// OwnFact is text of the program that tells a finding from others with its code, such as a
	// schema keyword.
	OwnFact string
)

// Messagef formats a message as fmt.Sprintf does, and notes which of its bytes are captured text.
// An argument that is a Message keeps its own ranges and facts. Argument indexes are not supported.
func Messagef(format string, args ...any) Message {
	var b messageBuilder
	text := fmt.Sprintf(format, args...)
	for len(format) > 0 {
		i := strings.IndexByte(format, '%')
		if i < 0 || i+1 == len(format) {
			b.text.WriteString(format)
			break
		}
		b.text.WriteString(format[:i])
		end := i + 1 + verbEnd(format[i+1:])
		verb := format[i:end]
		format = format[end:]
		if verb == "%%" {
			b.text.WriteByte('%')
			continue
		}
		if len(args) == 0 {
			return Message{Text: text, Quoted: Spans("").appended(Span{0, len(text)})}
		}
		b.add(verb, args[0])
		args = args[1:]
	}
	return Message{b.text.String(), b.quoted, b.facts}
}

// verbEnd returns the length of a verb without its percent sign: flags, width, precision, letter.
func verbEnd(s string) int {
	return min(len(s)-len(strings.TrimLeft(s, "+-# .0123456789"))+1, len(s))
}

// messageBuilder builds a Message.
type messageBuilder struct {
	text   strings.Builder
	quoted Spans
	facts  string
}

// add appends an argument, formatted by verb.
func (b *messageBuilder) add(verb string, arg any) {
	start := b.text.Len()
	switch a := arg.(type) {
	case Message:
		for s := range a.Quoted.All() {
			b.quoted = b.quoted.appended(Span{start + s.From, start + s.To})
		}
		b.facts += a.Facts
		b.text.WriteString(a.Text)
		return
	case Fact:
		b.facts += string(a) + "\x00"
	case OwnFact:
		b.facts += string(a) + "\x00"
	}
	fmt.Fprintf(&b.text, verb, arg)
	if !isCaptured(arg) {
		return
	}
	end := b.text.Len()
	if strings.HasSuffix(verb, "q") && end-start >= 2 {
		start, end = start+1, end-1
	}
	if start < end {
		b.quoted = b.quoted.appended(Span{start, end})
	}
}

// isCaptured reports whether an argument of Messagef counts as captured text.
func isCaptured(arg any) bool {
	switch arg.(type) {
	case Own, OwnFact:
		return false
	case error:
		return true
	}
	switch reflect.ValueOf(arg).Kind() {
	case reflect.String, reflect.Slice:
		return true
	case reflect.Struct, reflect.Map, reflect.Pointer, reflect.Array:
		_, ours := arg.(fmt.Stringer)
		return !ours
	}
	return false
}
