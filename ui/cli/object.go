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

// An object is a JSON object being written, its members in order. Every string passes the
// sanitiser: the values stay exact and a terminal stays safe.
type object struct {
	b     []byte
	begun bool
}

func (o *object) key(name string) {
	if o.begun {
		o.b = append(o.b, ',')
	} else {
		o.b = append(o.b, '{')
	}
	o.begun = true
	o.b = strconv.AppendQuote(o.b, name)
	o.b = append(o.b, ':')
}

func (o *object) text(name, value string) {
	o.key(name)
	o.b = display.AppendJSON(o.b, value)
}

// long writes a value that comes in parts. It and what stands before it go to the lines that the
// object is one of, so that it needs no room.
func (o *object) long(name string, value iter.Seq[[]byte], to lines) {
	o.key(name)
	for part := range value {
		_, _ = to.to.Write(o.b)
		o.b = append(o.b[:0], part...)
	}
}

// some writes a string, unless it is empty.
func (o *object) some(name, value string) {
	if value != "" {
		o.text(name, value)
	}
}

func (o *object) texts(name string, values []string) {
	var all [][]byte
	for _, v := range values {
		all = append(all, display.AppendJSON(nil, v))
	}
	o.raw(name, array(all))
}

// yes writes true, unless it is not.
func (o *object) yes(name string, is bool) {
	if is {
		o.raw(name, []byte("true"))
	}
}

// flag writes a fact that is known, either way.
func (o *object) flag(name string, is bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, is)
}

func (o *object) int(name string, n int) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, int64(n), 10)
}

func (o *object) count(name string, c stream.Count) {
	if c.Reported {
		o.int(name, int(c.N))
	}
}

// time writes milliseconds with up to three places.
func (o *object) time(name string, d time.Duration) {
	if d >= 0 {
		o.key(name)
		o.b = strconv.AppendFloat(o.b, float64(d.Microseconds())/1000, 'f', -1, 64)
	}
}

// cost writes a figure, where there is one, and what it rests on.
func (o *object) cost(f price.Figure) {
	if !f.Known() {
		return
	}
	o.raw("cost_usd", strconv.AppendFloat(nil, f.USD, 'f', -1, 64))
	o.text("cost_source", f.Source.String())
	o.yes("cost_approximate", f.Approximate)
	o.some("prices_date", f.AsOf)
}

// raw writes a JSON text, on one line: line breaks that are left are between tokens.
func (o *object) raw(name string, text []byte) {
	o.key(name)
	start := len(o.b)
	o.b = display.AppendJSONText(o.b, text)
	for i, c := range o.b[start:] {
		if c == '\n' || c == '\r' {
			o.b[start+i] = ' '
		}
	}
}

func (o *object) end() []byte {
	if !o.begun {
		return []byte("{}")
	}
	return append(o.b, '}')
}

func (o *object) line() []byte { return append(o.end(), '\n') }

// listOf writes an array of objects, one an item.
func listOf[T any](o *object, name string, items []T, write func(o *object, item T)) {
	var all [][]byte
	for _, item := range items {
		var each object
		write(&each, item)
		all = append(all, each.end())
	}
	o.raw(name, array(all))
}

func array(texts [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(texts, []byte{','})...), ']')
}
