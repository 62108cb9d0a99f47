package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"toolscope/stream"
	"toolscope/ui"
	"toolscope/ui/display"
	"toolscope/ui/present"
)

// columns is the width to which prose is wrapped.
const columns = 80

// lineWriter writes lines to a standard stream. A line is a sanitised display.Text, or a JSON object with sanitised
// strings. lineWriter is not an io.Writer, so that all output is sanitised. A plain line is written at once, unless
// it is so long that it is written in parts. The stream keeps any error.
type lineWriter struct {
	to   io.Writer
	pen  *colourPen // nil for plain text
	hang int        // indent of the continuation rows of a wrapped line; 0 for two cells more than the line
}

// writeLine writes one line.
func (l lineWriter) writeLine(t display.Text) { _, _ = io.WriteString(l.to, t.String()+"\n") }

// writeObject writes the remaining part of an object and ends the line. The object must not be used after that.
func (l lineWriter) writeObject(o *jsonObject) {
	o.b = append(o.end(), '\n')
	_, _ = l.to.Write(o.b)
	lineObjects.Put(o)
}

// lineObjects contains objects whose lines were written, because a new line can use their memory.
var lineObjects = sync.Pool{New: func() any { return new(jsonObject) }}

// printLine writes one sanitised line, without spaces at its end. Its arguments may be coloured.
func (l lineWriter) printLine(format string, args ...any) {
	if l.pen != nil {
		// Indent the continuation rows of a wrapped line by hang or, if hang is 0, by two cells more than the line.
		line := inkedLineOf(format, args)
		hang := l.hang
		if hang == 0 {
			hang = len(line.raw) - len(bytes.TrimLeft(line.raw, " ")) + 2
		}
		w := newInkedWriter(l, hang)
		rest, at := line.raw, 0
		for _, i := range line.inks {
			clean, left := display.CleanStart(rest, min(i.end, len(line.raw))-at)
			at += len(rest) - len(left)
			rest = left
			w.rows.Add(i.ink, clean)
		}
		w.endLine()
		return
	}
	for i := range args {
		args[i] = withoutInk(args[i])
	}
	l.writeLine(display.Clean(strings.TrimRight(fmt.Sprintf(format, args...), " ")))
}

// writeLongLine writes a line that is too long for one string. It writes the lead, followed by the parts.
func (l lineWriter) writeLongLine(lead display.Text, parts iter.Seq[display.Text]) {
	_, _ = io.WriteString(l.to, lead.String())
	for part := range parts {
		_, _ = io.WriteString(l.to, part.String())
	}
	l.writeLine(display.Text{})
}

// writeParts writes a line of sanitised JSON in parts.
func (l lineWriter) writeParts(of iter.Seq[[]byte]) {
	for part := range of {
		_, _ = l.to.Write(part)
	}
	l.writeLine(display.Text{})
}

// withBuffer returns a buffered writer to the same stream. The lines are written when the writer is flushed or its
// buffer is full.
func (l lineWriter) withBuffer() lineWriter {
	l.to = bufio.NewWriterSize(l.to, 64<<10)
	return l
}

// flush writes the buffered lines.
func (l lineWriter) flush() error {
	if b, ok := l.to.(*bufio.Writer); ok {
		return b.Flush()
	}
	return nil
}

// writeWrapped writes a lead and wrapped text. It indents all lines after the first by the width of the lead.
func (l lineWriter) writeWrapped(lead, text string) {
	words := strings.FieldsFunc(display.Clean(text).String(), func(c rune) bool { return c == ' ' })
	l.writeWrappedWords([]any{inMuted(lead)}, mapSlice(words, func(word string) any { return word }))
}

// writeWrappedWords is like writeWrapped, but the words may contain spaces, at which it doesn't break lines. The
// pieces of the lead and the words may be coloured.
func (l lineWriter) writeWrappedWords(lead, words []any) {
	widthOf := func(pieces ...any) int { return display.Clean(fmt.Sprint(mapSlice(pieces, withoutInk)...)).Width() }
	indent := widthOf(lead...)
	line := slices.Clone(lead)
	limit, used := columns, indent
	if l.onTerminal() {
		limit = min(limit, l.pen.cells)
		indent = min(indent, limit/2)
	}
	l = l.withHang(indent)
	for i, word := range words {
		cells := widthOf(word)
		switch {
		case i == 0:
		case used+1+cells <= limit:
			line, used = append(line, " "), used+1
		default:
			l.printPieces(line)
			line, used = []any{strings.Repeat(" ", indent)}, indent
		}
		line, used = append(line, word), used+cells
	}
	l.printPieces(line)
}

// printPieces writes the pieces of one line. The pieces may be coloured.
func (l lineWriter) printPieces(pieces []any) {
	l.printLine(strings.Repeat("%s", len(pieces)), pieces...)
}

// joinDots joins words with a dot between them. It leaves out empty words.
func joinDots(words ...string) string { return strings.Join(nonEmpty(words), " · ") }

// nonEmpty removes empty words.
func nonEmpty(words []string) []string {
	return slices.DeleteFunc(words, func(word string) bool { return word == "" })
}

// mapSlice applies a function to every item and returns the results.
func mapSlice[T, U any](items []T, of func(T) U) (all []U) {
	for _, item := range items {
		all = append(all, of(item))
	}
	return all
}

// textIf returns word if holds is true, else "".
func textIf(holds bool, word string) string { return ifElse(holds, word, "") }

// ifElse returns its second argument if yes is true, else its third.
func ifElse[T any](yes bool, this, that T) T {
	if yes {
		return this
	}
	return that
}

// jsonObject is a JSON object that is written field by field. Strings are sanitised with JSON escapes, so their
// values stay exact and they are safe on a terminal.
type jsonObject struct {
	b     []byte
	begun bool
}

// key writes the key of the next field.
func (o *jsonObject) key(name string) {
	if o.begun {
		o.b = append(o.b, ',')
	} else {
		o.b = append(o.b, '{')
	}
	o.begun = true
	o.b = append(display.AppendJSON(o.b, name), ':')
}

// text writes a field with a string.
func (o *jsonObject) text(name, value string) {
	o.key(name)
	o.b = display.AppendJSON(o.b, value)
}

// streamValue writes a value in parts. It writes the start of the object and the value directly to the line, so that
// a long value is never completely in memory.
func (o *jsonObject) streamValue(name string, value iter.Seq[[]byte], to lineWriter) {
	o.key(name)
	for part := range value {
		_, _ = to.to.Write(o.b)
		o.b = append(o.b[:0], part...)
	}
}

// optionalText writes a string, unless it is empty.
func (o *jsonObject) optionalText(name, value string) {
	if value != "" {
		o.text(name, value)
	}
}

// addMessage writes a message. If parts of the message are captured text, it also writes the byte ranges of
// these parts. The ranges refer to the bytes of the value that a JSON parser returns.
func (o *jsonObject) addMessage(text string, quoted stream.Spans) {
	o.text("message", text)
	if quoted == "" {
		return
	}
	offset := func(n int) (decoded int) {
		for _, r := range text[:n] { // a byte that is not UTF-8 becomes U+FFFD
			decoded += utf8.RuneLen(r)
		}
		return decoded
	}
	var all [][]byte
	for s := range quoted.All() {
		all = append(all, fmt.Appendf(nil, "[%d,%d]", offset(s.From), offset(s.To)))
	}
	o.raw("quoted", jsonArray(all))
}

// texts writes an array of strings.
func (o *jsonObject) texts(name string, values []string) {
	o.key(name)
	o.b = append(o.b, '[')
	for i, v := range values {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = display.AppendJSON(o.b, v)
	}
	o.b = append(o.b, ']')
}

// flagIf writes a field with true, or no field if the value is false.
func (o *jsonObject) flagIf(name string, is bool) {
	if is {
		o.raw(name, []byte("true"))
	}
}

// flag writes a field with true or false.
func (o *jsonObject) flag(name string, is bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, is)
}

// int writes a field with a number.
func (o *jsonObject) int(name string, n int) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, int64(n), 10)
}

// time writes a field with milliseconds, with up to three decimals. It writes no field for a negative time.
func (o *jsonObject) time(name string, d time.Duration) {
	if d >= 0 {
		o.key(name)
		o.b = strconv.AppendFloat(o.b, float64(d.Microseconds())/1000, 'f', -1, 64)
	}
}

// addFact writes the field for a fact, if the fact has one.
func (o *jsonObject) addFact(f present.Fact) {
	switch v := f.JSON.(type) {
	case present.AsText:
		o.text(f.Key, f.Text)
	case string:
		o.text(f.Key, v)
	case bool:
		o.flag(f.Key, v)
	case int:
		o.int(f.Key, v)
	case float64:
		o.raw(f.Key, strconv.AppendFloat(nil, v, 'f', -1, 64))
	case time.Duration:
		o.time(f.Key, v)
	case present.Message:
		o.addMessage(v.Text, v.Quoted)
	case []string:
		o.texts(f.Key, v)
	case present.Facts:
		o.addObject(f.Key, v)
	case []present.Facts:
		listOf(o, f.Key, v, (*jsonObject).addFacts)
	}
}

// addFacts writes the fields for facts.
func (o *jsonObject) addFacts(facts present.Facts) {
	for _, f := range facts {
		o.addFact(f)
	}
}

// addObject writes facts as an object.
func (o *jsonObject) addObject(name string, facts present.Facts) {
	o.key(name)
	o.begun = false
	o.addFacts(facts)
	o.b, o.begun = o.end(), true
}

// addFindings writes findings as an array.
func (o *jsonObject) addFindings(list []stream.Finding) {
	listOf(o, "findings", present.OfFindings(list), (*jsonObject).addFacts)
}

// raw writes a field with a JSON text on one line. The text may contain line breaks only between tokens.
func (o *jsonObject) raw(name string, text []byte) {
	o.key(name)
	start := len(o.b)
	o.b = display.AppendJSONText(o.b, text)
	for i, c := range o.b[start:] {
		if c == '\n' || c == '\r' {
			o.b[start+i] = ' '
		}
	}
}

// end returns the complete object.
func (o *jsonObject) end() []byte {
	if !o.begun {
		o.b = append(o.b, '{')
	}
	return append(o.b, '}')
}

// listOf writes an array with an object for each item.
func listOf[T any](o *jsonObject, name string, items []T, write func(o *jsonObject, item T)) {
	o.key(name)
	o.b = append(o.b, '[')
	for i, item := range items {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.begun = false
		write(o, item)
		o.b = o.end()
	}
	o.b, o.begun = append(o.b, ']'), true
}

// jsonArray returns an array of JSON texts.
func jsonArray(texts [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(texts, []byte{','})...), ']')
}

// messageOutput writes the program's notes and errors.
type messageOutput struct {
	stderr  lineWriter
	later   atomic.Pointer[deferredOutput] // receives notes and errors instead of stderr, if not nil
	journal ui.Journal
	notes   atomic.Int64 // number of printed notes
}

// printError writes an error on at most three lines, and adds it to the journal.
func (o *messageOutput) printError(err error) {
	o.journal.Note(time.Now(), err.Error())
	for _, line := range strings.SplitN("toolscope: "+err.Error(), "\n", 3) {
		o.messageWriter().writeLine(display.Clean(line))
	}
}

// printNote writes a note from the program itself on one line, and adds it to the journal.
func (o *messageOutput) printNote(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	o.notes.Add(1)
	o.journal.Note(time.Now(), text)
	o.messageWriter().writeLine(display.Clean("toolscope: " + text))
}

// printRefused prints that a request was refused.
func (o *messageOutput) printRefused(status int, why string) {
	o.printNote("refused with %d: %s", status, why)
}

// messageWriter returns the current writer for notes and errors.
func (o *messageOutput) messageWriter() lineWriter {
	if kept := o.later.Load(); kept != nil {
		return lineWriter{to: kept}
	}
	return o.stderr
}

// deferOutput holds back the notes and errors until release is called.
func (o *messageOutput) deferOutput() (release func()) {
	kept := new(deferredOutput)
	o.later.Store(kept)
	return func() {
		kept.mu.Lock()
		defer kept.mu.Unlock()
		_, _ = o.stderr.to.Write(kept.buffer.Bytes())
		kept.to = o.stderr.to
	}
}

// deferredOutput holds back output while a client owns the terminal.
type deferredOutput struct {
	mu     sync.Mutex
	buffer bytes.Buffer
	to     io.Writer // target after the release; nil while output is held back
}

// Write holds back p. After the release, it writes p.
func (l *deferredOutput) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to != nil {
		return l.to.Write(p)
	}
	return l.buffer.Write(p)
}
