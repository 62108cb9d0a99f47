package cli

import (
	"bytes"
	"fmt"
	"iter"
	"strconv"
	"time"
	"unicode/utf8"

	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/display"
)

// jsonObject is a JSON object that is being written, field by field. Every string passes the sanitiser:
// values stay exact and a terminal stays safe.
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
	o.b = strconv.AppendQuote(o.b, name)
	o.b = append(o.b, ':')
}

// text writes a string.
func (o *jsonObject) text(name, value string) {
	o.key(name)
	o.b = display.AppendJSON(o.b, value)
}

// streamValue writes a value that comes in parts. It writes the value, and what precedes it in the object,
// directly to the line, so that a long value needs no memory.
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

// addMessage writes a message and, unless there are none, the byte ranges of it that are captured text.
// The ranges count the bytes of the value that a JSON parser returns.
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
	var all [][]byte
	for _, v := range values {
		all = append(all, display.AppendJSON(nil, v))
	}
	o.raw(name, jsonArray(all))
}

// flagIf writes true, or nothing.
func (o *jsonObject) flagIf(name string, is bool) {
	if is {
		o.raw(name, []byte("true"))
	}
}

// flag writes true or false.
func (o *jsonObject) flag(name string, is bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, is)
}

// int writes a number.
func (o *jsonObject) int(name string, n int) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, int64(n), 10)
}

// addCount writes a count, if it was reported.
func (o *jsonObject) addCount(name string, c stream.Count) {
	if c.Reported {
		o.int(name, int(c.N))
	}
}

// time writes milliseconds with up to three decimals; nothing for a negative time.
func (o *jsonObject) time(name string, d time.Duration) {
	if d >= 0 {
		o.key(name)
		o.b = strconv.AppendFloat(o.b, float64(d.Microseconds())/1000, 'f', -1, 64)
	}
}

// addCost writes a cost and its source, if the cost is known.
func (o *jsonObject) addCost(f price.Figure) {
	if !f.Known() {
		return
	}
	o.raw("cost_usd", strconv.AppendFloat(nil, f.USD, 'f', -1, 64))
	o.text("cost_source", f.Source.String())
	o.flagIf("cost_approximate", f.Approximate)
	o.optionalText("prices_date", f.AsOf)
}

// raw writes a JSON text on one line: line breaks can only be between tokens.
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
		return []byte("{}")
	}
	return append(o.b, '}')
}

// lineBytes returns the complete object as a line.
func (o *jsonObject) lineBytes() []byte { return append(o.end(), '\n') }

// listOf writes an array with an object for each item.
func listOf[T any](o *jsonObject, name string, items []T, write func(o *jsonObject, item T)) {
	var all [][]byte
	for _, item := range items {
		var each jsonObject
		write(&each, item)
		all = append(all, each.end())
	}
	o.raw(name, jsonArray(all))
}

// jsonArray returns an array of JSON texts.
func jsonArray(texts [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(texts, []byte{','})...), ']')
}
