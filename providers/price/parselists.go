package price

import (
	"encoding/json"
	"slices"
	"strings"
)

const (
	tierFields = "over, service, input, output, cache_read, cache_write, cache_write_hour"
	rightTier  = `list the prices above a number of input tokens, or for a service tier: [{"over":200000,"input":5},{"service":"fast","input":30}]`
)

func (r *reader) readTiers(to *[]Tier, field string, line int) error {
	if t, _ := r.in.Token(); t != json.Delim('[') {
		return &ParseError{line, field, "not a list", rightTier}
	}
	for r.in.More() {
		var t Tier
		line := r.nextLine()
		err := r.readObject(field, rightTier, func(name string, line int) error {
			switch name {
			case "over":
				return setInteger(&t.Over, name, r.readValue(), line)
			case "service":
				err := setText(&t.Service, name, r.readValue(), line, `use a service tier, e.g. "fast"`)
				t.Service = strings.ToLower(t.Service)
				return err
			}
			return t.Rates.setRate(name, r.readValue(), line, tierFields)
		})
		switch {
		case err != nil:
			return err
		case (t.Over == 0) == (t.Service == ""):
			return &ParseError{line, field, "a tier needs either over or service", rightTier}
		case t.Rates == Rates{}:
			return &ParseError{line, field, "a tier needs prices", rightTier}
		}
		*to = append(*to, t)
	}
	_, _ = r.in.Token()
	return nil
}

const (
	sinceFields = "day, input, output, cache_read, cache_write, cache_write_hour, tiers"
	rightSince  = `list all prices from each day on, the earliest day first: [{"day":"2026-09-01","input":3,"output":15}]`
)

func (r *reader) readChanges(to *[]Change, field string, line int) error {
	if t, _ := r.in.Token(); t != json.Delim('[') {
		return &ParseError{line, field, "not a list", rightSince}
	}
	for r.in.More() {
		var s Change
		line := r.nextLine()
		err := r.readObject(field, rightSince, func(name string, line int) error {
			switch name {
			case "day":
				return setDay(&s.Day, name, r.readValue(), line)
			case "tiers":
				return r.readTiers(&s.Tiers, name, line)
			}
			return s.Rates.setRate(name, r.readValue(), line, sinceFields)
		})
		switch {
		case err != nil:
			return err
		case s.Day == "" || !s.Input.Known || !s.Output.Known:
			return &ParseError{line, field, "needs day, input and output", rightSince}
		case len(*to) > 0 && (*to)[len(*to)-1].Day >= s.Day:
			return &ParseError{line, field, s.Day + " is not later than the previous day", rightSince}
		}
		*to = append(*to, s)
	}
	_, _ = r.in.Token()
	return nil
}

func setNames(to *[]string, field string, value json.RawMessage, line int) error {
	err := json.Unmarshal(value, to)
	if err != nil || slices.ContainsFunc(*to, func(name string) bool { return strings.Trim(name, "* ") == "" }) {
		return &ParseError{line, field, shortValue(value) + " is not a list of names", `list the model's other names: ["gpt-x-latest"]; "gpt-x*" also matches its snapshots`}
	}
	return nil
}
