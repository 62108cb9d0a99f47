package cli

import (
	"bytes"
	"iter"
	"strconv"
	"time"

	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/display"
)

// An jsonObject is a JSON object being written, its members in order. Every string passes the
// sanitiser: the values stay exact and a terminal stays safe.
type jsonObject struct {
	b     []byte
	begun bool
}

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

func (o *jsonObject) text(name, value string) {
	o.key(name)
	o.b = display.AppendJSON(o.b, value)
}

// streamValue writes a value that comes in parts. It and what stands before it go to the lines that the
// object is one of, so that it needs no room.
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

func (o *jsonObject) texts(name string, values []string) {
	var all [][]byte
	for _, v := range values {
		all = append(all, display.AppendJSON(nil, v))
	}
	o.raw(name, jsonArray(all))
}

// flagIf writes true, unless it is not.
func (o *jsonObject) flagIf(name string, is bool) {
	if is {
		o.raw(name, []byte("true"))
	}
}

// flag writes a fact that is known, either way.
func (o *jsonObject) flag(name string, is bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, is)
}

func (o *jsonObject) int(name string, n int) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, int64(n), 10)
}

func (o *jsonObject) addCount(name string, c stream.Count) {
	if c.Reported {
		o.int(name, int(c.N))
	}
}

// time writes milliseconds with up to three places.
func (o *jsonObject) time(name string, d time.Duration) {
	if d >= 0 {
		o.key(name)
		o.b = strconv.AppendFloat(o.b, float64(d.Microseconds())/1000, 'f', -1, 64)
	}
}

// addCost writes a figure, where there is one, and what it rests on.
func (o *jsonObject) addCost(f price.Figure) {
	if !f.Known() {
		return
	}
	o.raw("cost_usd", strconv.AppendFloat(nil, f.USD, 'f', -1, 64))
	o.text("cost_source", f.Source.String())
	o.flagIf("cost_approximate", f.Approximate)
	o.optionalText("prices_date", f.AsOf)
}

// raw writes a JSON text, on one line: line breaks that are left are between tokens.
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

func (o *jsonObject) end() []byte {
	if !o.begun {
		return []byte("{}")
	}
	return append(o.b, '}')
}

func (o *jsonObject) lineBytes() []byte { return append(o.end(), '\n') }

// listOf writes an array of objects, one an item.
func listOf[T any](o *jsonObject, name string, items []T, write func(o *jsonObject, item T)) {
	var all [][]byte
	for _, item := range items {
		var each jsonObject
		write(&each, item)
		all = append(all, each.end())
	}
	o.raw(name, jsonArray(all))
}

func jsonArray(texts [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(texts, []byte{','})...), ']')
}
