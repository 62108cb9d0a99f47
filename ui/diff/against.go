package diff

import (
	"fmt"
	"slices"

	"toolscope/stream"
)

// Weight says how serious a side's differences are.
type Weight uint8

const (
	Equal  Weight = iota // no differences so far
	Other                // other values
	Uneven               // other fields or types, or more calls
	Fault                // the side has no response, a missing or broken call, or a value that breaks the schema
)

// sideCounts counts a side's differences from the base.
type sideCounts struct {
	own, missing, more  int // numbers of calls that the side makes, lacks, and adds
	states              int
	state               stream.Status // state of the first call whose state differs
	types, values       int           // number of fields that differ
	badTypes, badValues int           // number of fields that differ and break the schema
	absent, added       int
}

// Against describes the most serious difference of side i from the base in a few words, e.g. "one call fewer".
func (p *Comparison) Against(i int) (words string, weight Weight) {
	s, b := &p.Sides[i], &p.Sides[p.Base]
	switch {
	case s.Fails != "":
		return s.Fails, Fault
	case i == p.Base:
		return "base", Equal
	case b.Fails != "":
		return "did not fail", Other
	}
	n := p.countSide(i)
	switch {
	case n.missing > 0 && n.own == 0:
		return "no call", Fault
	case n.missing > 0 && n.more > 0:
		return "other calls", Fault
	case n.missing > 0:
		return callsText(n.missing) + " fewer", Fault
	case n.states == 1 && n.state != stream.Complete:
		return n.state.String(), Fault
	case n.states > 0:
		return countWords(n.states, "other state"), Uneven
	case n.badTypes > 0:
		return countWords(n.badTypes, "wrong type"), Fault
	case n.badValues > 0:
		return countWords(n.badValues, "wrong value"), Fault
	case n.more > 0:
		return callsText(n.more) + " more", Uneven
	case n.types > 0:
		return countWords(n.types, "other type"), Uneven
	case n.absent > 0:
		return countWords(n.absent, "field") + " fewer", Uneven
	case n.added > 0:
		return countWords(n.added, "field") + " more", Uneven
	case n.values > 0:
		return countWords(n.values, "other value"), Other
	case !s.Over || !b.Over:
		return "", Equal
	}
	return "same", Equal
}

// countSide counts a side's differences from the base.
func (p *Comparison) countSide(i int) (n sideCounts) {
	for at := range p.Sets {
		set := &p.Sets[at]
		c, b := set.Calls[i], set.Calls[p.Base]
		if c != nil {
			n.own++
		}
		switch {
		case c == nil && b != nil && p.Sides[i].Over:
			n.missing++
		case c != nil && b == nil && p.Sides[p.Base].Over:
			n.more++
		}
		if p.otherState(set, i) {
			if n.states++; n.states == 1 {
				n.state = c.Status()
			}
		}
		for r := range set.Rows {
			if row := &set.Rows[r]; !row.Split {
				n.countField(set, row, i, p.Base)
			}
		}
	}
	return n
}

// countField counts the difference of one field.
func (n *sideCounts) countField(set *CallSet, r *Row, i, base int) {
	is := changeOf(set, r, i, base)
	if is == noChange {
		return
	}
	breaks := slices.ContainsFunc(CellFindings(set.Calls[i], &r.Cells[i]), BreaksSchema)
	switch is {
	case otherType:
		n.types++
		if breaks {
			n.badTypes++
		}
	case leftOut:
		n.absent++
	case added:
		n.added++
	case otherValue:
		n.values++
	}
	if breaks && is != otherType {
		n.badValues++
	}
}

// countWords returns a number and a noun, e.g. "1 wrong type" or "2 wrong types".
func countWords(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
