package price

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// A ParseError is a problem in a price list, with its place and a remedy. Its text has two lines.
type ParseError struct {
	Line    int    // of the text, from 1
	Field   string // "" if the problem is not in a field
	Problem string
	Right   string
}

func (e *ParseError) Error() string {
	field := ""
	if e.Field != "" {
		field = e.Field + ": "
	}
	return fmt.Sprintf("line %d: %s%s\n%s", e.Line, field, e.Problem, e.Right)
}

const rightList = `use a list of prices in USD per million tokens: [{"provider":"openai","id":"gpt-x","input":2.5,"output":10,"as_of":"2026-08-21"}]`

// Parse reads a price list: a JSON list of objects like the rows of prices.json. Prices are in US
// dollars per million tokens. provider, id, input, output and as_of are required; a price that is
// absent or null is unknown. A tier has other prices "over" so many input tokens, or for a "service"
// tier. "since" has other prices from a day on. "names" are other names of the model. An unknown field
// is an error, because a misspelt price would be ignored.
func Parse(text []byte) ([]Price, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, syntaxError(text, err)
	}
	if list == nil {
		return nil, &ParseError{Line: 1, Problem: "null is not a list", Right: rightList}
	}
	r := reader{text: text, in: json.NewDecoder(bytes.NewReader(text))}
	_, _ = r.in.Token() // the bracket; the rest is known to be JSON
	var rows []Price
	at := map[rowKey]int{}
	for r.in.More() {
		p, line, err := r.readRow()
		if err != nil {
			return nil, err
		}
		k := p.key()
		if first, again := at[k]; again {
			return nil, &ParseError{line, "id", fmt.Sprintf("%s of %s is already on line %d", p.ID, p.Provider, first), "list each model of a provider once"}
		}
		at[k] = line
		rows = append(rows, p)
	}
	return rows, nil
}

func syntaxError(text []byte, err error) error {
	e := &ParseError{Line: 1, Problem: err.Error(), Right: rightList}
	var syntax *json.SyntaxError
	var mistyped *json.UnmarshalTypeError
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		e.Problem = "the file is empty"
	case errors.As(err, &syntax):
		e.Line, e.Problem = lineAt(text, syntax.Offset), "not JSON: "+syntax.Error()
	case errors.As(err, &mistyped):
		e.Problem = "a JSON " + mistyped.Value + " is not a list"
	}
	return e
}

// lineAt returns the line of a byte, from 1.
func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(max(0, offset), int64(len(text)))], []byte("\n"))
}

// reader reads a text that is known to be JSON.
type reader struct {
	text []byte
	in   *json.Decoder
	seen int64 // lines were counted up to this offset
	last int   // line breaks up to seen
}

// nextLine returns the line of the next value or name.
func (r *reader) nextLine() int {
	at := r.in.InputOffset()
	for at < int64(len(r.text)) && strings.IndexByte(" \t\r\n,:", r.text[at]) >= 0 {
		at++
	}
	r.last += bytes.Count(r.text[r.seen:at], []byte("\n"))
	r.seen = at
	return 1 + r.last
}

// readObject reads an object and calls set for each field.
func (r *reader) readObject(field, right string, set func(name string, line int) error) error {
	line := r.nextLine()
	if t, _ := r.in.Token(); t != json.Delim('{') {
		return &ParseError{line, field, "not an object", right}
	}
	seen := map[string]bool{}
	for r.in.More() {
		line := r.nextLine()
		t, _ := r.in.Token()
		name, _ := t.(string)
		if seen[name] {
			return &ParseError{line, name, "appears twice", "use each field once"}
		}
		seen[name] = true
		if err := set(name, line); err != nil {
			return err
		}
	}
	_, _ = r.in.Token()
	return nil
}

// readValue reads a complete value.
func (r *reader) readValue() (raw json.RawMessage) {
	_ = r.in.Decode(&raw)
	return raw
}

const rowFields = "provider, id, input, output, cache_read, cache_write, cache_write_hour, tiers, since, names, disputed, doubt, as_of"

// readRow reads one price.
func (r *reader) readRow() (p Price, line int, err error) {
	line = r.nextLine()
	err = r.readObject("", rightList, func(name string, line int) error {
		switch name {
		case "provider":
			return setText(&p.Provider, name, r.readValue(), line, `use a seller, e.g. "openai", or a host`)
		case "id":
			return setText(&p.ID, name, r.readValue(), line, `use the model as the wire names it, e.g. "gpt-x"`)
		case "as_of":
			return setDay(&p.AsOf, name, r.readValue(), line)
		case "disputed":
			return setDisputed(&p.Doubt, name, r.readValue(), line)
		case "doubt":
			return setText(&p.Doubt, name, r.readValue(), line, "say why the price may differ, in words")
		case "tiers":
			return r.readTiers(&p.Tiers, name, line)
		case "since":
			return r.readChanges(&p.Since, name, line)
		case "names":
			return setNames(&p.Names, name, r.readValue(), line)
		}
		return p.Rates.setRate(name, r.readValue(), line, rowFields)
	})
	missing := ""
	switch {
	case err != nil:
		return p, line, err
	case p.Provider == "":
		missing = "provider"
	case p.ID == "":
		missing = "id"
	case !p.Input.Known:
		missing = "input"
	case !p.Output.Known:
		missing = "output"
	case p.AsOf == "":
		missing = "as_of"
	default:
		return p, line, nil
	}
	return p, line, &ParseError{line, missing, "is missing", "a price needs provider, id, input, output and as_of"}
}

// setRate sets the price with that field name.
func (r *Rates) setRate(name string, value json.RawMessage, line int, fields string) error {
	to := map[string]*Rate{
		"input": &r.Input, "output": &r.Output, "cache_read": &r.CacheRead,
		"cache_write": &r.CacheWrite, "cache_write_hour": &r.CacheWriteHour,
	}[name]
	if to == nil {
		return &ParseError{line, name, "unknown field", "use " + fields}
	}
	if string(value) == "null" {
		return nil
	}
	var usd float64
	if err := json.Unmarshal(value, &usd); err != nil || usd < 0 || math.IsInf(usd, 0) {
		return &ParseError{line, name, shortValue(value) + " is not a price", "use US dollars per million tokens, 0 or more, e.g. 2.5; null if unknown"}
	}
	*to = Rate{usd, true}
	return nil
}

func setText(to *string, name string, value json.RawMessage, line int, right string) error {
	if err := json.Unmarshal(value, to); err != nil || strings.TrimSpace(*to) == "" {
		return &ParseError{line, name, shortValue(value) + " is not a name", right}
	}
	*to = strings.TrimSpace(*to)
	return nil
}

func setDay(to *string, name string, value json.RawMessage, line int) error {
	err := json.Unmarshal(value, to)
	if _, notADay := time.Parse(time.DateOnly, *to); err != nil || notADay != nil {
		return &ParseError{line, name, shortValue(value) + " is not a day", "use the day on which the price was valid, e.g. \"2026-08-21\""}
	}
	return nil
}

func setDisputed(to *string, name string, value json.RawMessage, line int) error {
	var yes bool
	if err := json.Unmarshal(value, &yes); err != nil {
		return &ParseError{line, name, shortValue(value) + " is neither true nor false", "use true if sources disagree about the price"}
	}
	if yes {
		*to = "sources disagree about this price"
	}
	return nil
}

func setInteger(to *int64, name string, value json.RawMessage, line int) error {
	if err := json.Unmarshal(value, to); err != nil || *to <= 0 {
		return &ParseError{line, name, shortValue(value) + " is not a number of tokens", "use a whole number above 0, e.g. 200000"}
	}
	return nil
}

// shortValue returns a value, shortened for an error.
func shortValue(value json.RawMessage) string {
	if len(value) > 40 {
		return string(value[:37]) + "…"
	}
	return string(value)
}
