package redact

import (
	"fmt"
	"regexp/syntax"
)

// shapePart is a repeated character class.
type shapePart struct {
	class    *[256]bool
	min, max int // max -1: no limit
}

// parseShape parses a regular expression into parts. It knows literals, classes and repeats, and each
// part is greedy: a repeated class must not contain the beginning of the next part. A test checks the
// tables for that.
func parseShape(shape string) []shapePart {
	re, err := syntax.Parse(shape, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return appendParts(nil, re)
}

func appendParts(list []shapePart, re *syntax.Regexp) []shapePart {
	switch re.Op {
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			list = appendParts(list, sub)
		}
	case syntax.OpLiteral:
		for _, c := range re.Rune {
			list = append(list, shapePart{classOf(string(c)), 1, 1})
		}
	case syntax.OpCharClass:
		class := new([256]bool)
		for i := 0; i < len(re.Rune); i += 2 {
			for c := re.Rune[i]; c <= min(re.Rune[i+1], 255); c++ {
				class[c] = true
			}
		}
		list = append(list, shapePart{class, 1, 1})
	case syntax.OpRepeat, syntax.OpPlus, syntax.OpStar, syntax.OpQuest:
		repeated := appendParts(nil, re.Sub[0])
		if len(repeated) != 1 {
			panic(fmt.Sprintf("%v repeats more than a class", re))
		}
		repeated[0].min, repeated[0].max = repeatBounds(re)
		list = append(list, repeated[0])
	case syntax.OpEmptyMatch:
	default:
		panic(fmt.Sprintf("a shape can't have %v", re.Op))
	}
	return list
}

func repeatBounds(re *syntax.Regexp) (least, most int) {
	switch re.Op {
	case syntax.OpPlus:
		return 1, -1
	case syntax.OpStar:
		return 0, -1
	case syntax.OpQuest:
		return 0, 1
	}
	return re.Min, re.Max
}

const maxHeads = 4096 // beginnings of a shape

// firstCharacters returns all possible first characters of a shape: up to n, and fewer if the next part
// has too many possibilities.
func firstCharacters(shape []shapePart, n int) []string {
	list := []string{""}
	for _, p := range shape[:min(n, len(shape))] {
		var one []byte
		for c := range 256 {
			if p.class[c] {
				one = append(one, byte(c))
			}
		}
		if p.min != 1 || p.max != 1 || len(one)*len(list) > maxHeads {
			break
		}
		var longer []string
		for _, head := range list {
			for _, c := range one {
				longer = append(longer, head+string(c))
			}
		}
		list = longer
	}
	return list
}

// ruleMatch is a text that has matched the shape of a rule so far.
type ruleMatch struct {
	rule  *rule
	part  int
	count int // characters of the part
	quote int // bytes of the quote before it: longer ones are part of the value
	size  int // characters of all parts
	state candidateState
}

type candidateState uint8

const (
	alive candidateState = iota // it matches, and may continue
	ended                       // it matched, and does not continue with the latest character
	dead                        // it does not match
)

// next takes the next character.
func (c *ruleMatch) next(b byte) {
	for {
		p := &c.rule.parts[c.part]
		switch {
		case p.class[b] && c.count != p.max:
			c.count++
			c.size++
			return
		case c.count < p.min:
			c.state = dead
			return
		case c.part < len(c.rule.parts)-1:
			c.part++
			c.count = 0
			continue
		case !c.rule.endsBefore(b):
			c.state = dead
			return
		}
		c.state = ended
		return
	}
}

// nextOf takes the next character, which may be a quote in a quote.
func (c *ruleMatch) nextOf(u *character) {
	if b := u.c; b == '"' && c.quote > 0 && u.spelledWidth() > c.quote {
		c.next(deeperQuote)
	} else {
		c.next(b)
	}
}

// isComplete reports whether the match satisfies the complete shape.
func (c *ruleMatch) isComplete() bool {
	if c.count < c.rule.parts[c.part].min {
		return false
	}
	for _, p := range c.rule.parts[c.part+1:] {
		if p.min > 0 {
			return false
		}
	}
	return true
}

// secretLen returns how much of the matched text is a secret.
func (c *ruleMatch) secretLen(text []byte) int {
	text = text[:c.size]
	if c.rule.fit != nil {
		text = text[:c.rule.fit(text)]
	}
	if c.rule.is != nil && !c.rule.is(text) {
		return 0
	}
	return len(text)
}

// classOf returns the class of the characters in single and in the ranges.
func classOf(single string, ranges ...string) *[256]bool {
	var c [256]bool
	for i := range len(single) {
		c[single[i]] = true
	}
	for _, r := range ranges {
		for b := r[0]; b <= r[1]; b++ {
			c[b] = true
		}
	}
	return &c
}

var alnum = classOf("", "az", "AZ", "09")
