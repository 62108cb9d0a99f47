package redact

import (
	"fmt"
	"regexp/syntax"
	"strings"
)

// rule describes one kind of secret: its shape, and the text required before it.
type rule struct {
	name  string                   // name of this kind of secret in the replacement
	after string                   // the text required before the secret, which is not replaced; "" if the shape suffices
	shape string                   // a regular expression; see parseShape
	fit   func(text []byte) int    // returns the length of the part to check, or 0 for none; if nil, the complete text is checked
	is    secretCheck              // reports whether that part is a secret; if nil, it always is
	alone bool                     // match only at the beginning of a word, because the ends of some words look like the beginning of the secret
	keep  bool                     // don't replace quotes, or the character after a backslash
	where func(before []byte) bool // reports whether the text before the secret is right (it ends with after); if nil, it always is

	// hit is a text that the rule finds, and miss is a similar text that it doesn't find. In both, {n} stands for n
	// random letters and digits, {xn} for hexadecimal digits, {un} for upper-case letters and digits, {dn} for
	// digits, {ln} for lower-case letters, {bn} for base32 in lower case, {Bn} for base58, and {kn} for bech32. So
	// this file contains no real key, and no text that a scanner mistakes for one. from is the source of the rule: a
	// standard, a vendor's page that shows the shape, or a note about where else the shape was seen.
	hit, miss, from string

	begins bool     // the text in the field after must begin a word
	rests  []string // the texts that may follow the one in the field after; "" if none must

	expects expectationKind // form of the value that is expected after the text in the field after

	parts []shapePart     // the parsed shape
	heads []string        // possible beginnings of the shape, up to four characters; empty for a digest
	ends  func(byte) bool // reports whether a character may follow; if nil, any character may
}

// secretCheck reports whether a string with a rule's shape is a secret.
type secretCheck func(text []byte) bool

// compileRules returns rules that are ready for use, one for each alternative of a shape.
func compileRules(rules []*rule) (list []*rule) {
	for _, r := range rules {
		for _, shape := range expandShape(r.shape) {
			one := *r
			one.shape, one.parts = shape, parseShape(shape)
			if !strings.HasPrefix(shape, digestHead) {
				one.heads = firstCharacters(one.parts, 4)
			}
			list = append(list, &one)
		}
	}
	return list
}

// canGlue reports whether the rule also finds secrets directly after a letter or a digit. It does if a secret begins
// with characters that no other word is likely to contain.
func (r *rule) canGlue() bool {
	sign := strings.IndexAny(r.shape, "-_")
	return len(r.heads[0]) == 4 && !r.alone && sign > 0 && sign < strings.IndexByte(r.shape+"[", '[')
}

// endsBefore reports whether c may follow the secret.
func (r *rule) endsBefore(c byte) bool { return r.ends == nil || r.ends(c) }

// noName excludes characters that continue an identifier. noCall also excludes characters that would make the
// identifier a call or the beginning of a field access.
func noName(c byte) bool { return !alnum[c] && c != '_' }
func noCall(c byte) bool { return noName(c) && c != '(' && c != '.' && c != '[' }

// noData excludes characters that continue an identifier, or binary data in base64.
func noData(c byte) bool { return noName(c) && c != '+' && c != '-' }

// expandShape returns all variants of a shape that has groups such as (?:a|b) or (?:a)?.
func expandShape(shape string) []string {
	before, rest, ok := strings.Cut(shape, "(?:")
	if !ok {
		return []string{shape}
	}
	group, rest, _ := strings.Cut(rest, ")")
	choices := strings.Split(group, "|")
	if after, ok := strings.CutPrefix(rest, "?"); ok {
		choices, rest = append(choices, ""), after
	}
	var list []string
	for _, choice := range choices {
		list = append(list, expandShape(before+choice+rest)...)
	}
	return list
}

const (
	bearing      = `[\w.~+/=-]`                                        // a token in a header
	looseBearing = `[\w.~+/=!&#?%*@-]{12,}`                            // a token in a header that may be a password
	visible      = "[^\\x00-\\x20\"'`\\\\<>[\\](){}&;,|$^\\x7f-\\xff]" // a value in a line of text
	loose        = "[^\\x00-\\x20\"'`\\\\<>[\\](){};,|\\x7f-\\xff]"    // a value that may have the signs of a password
)

// word, pgpassField and sqlText are shapes of values on a command line, in a PostgreSQL password file and in
// SQL.

// shapePart is a character class, with the minimum and maximum number of its repetitions.
type shapePart struct {
	class    *[256]bool
	min, max int // a max of -1 means no limit
}

// parseShape parses a regular expression into parts. It accepts literals, classes and repeats. Each part is greedy,
// so a repeated class must not contain the beginning of the next part. A test checks this for all rules.
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

const maxHeads = 4096 // maximum number of beginnings of a shape

// firstCharacters returns all possible beginnings of a shape. Each has n characters, or fewer if the next part is
// repeated or has too many possibilities.
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
	count int // number of characters that matched the current part
	quote int // length of the quote before the text; longer quotes are part of the value
	size  int // number of characters that matched all parts
	state candidateState
}

type candidateState uint8

const (
	alive candidateState = iota // the text matches, and may continue
	ended                       // the text matched, but the latest character is not part of the match
	dead                        // the text does not match
)

// next adds the next character to the match.
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

// nextOf is like next, but the character may be a quote inside a quoted value, or a sign that is escaped in a URL. Such
// a sign belongs to the value.
func (c *ruleMatch) nextOf(u *character) {
	b := u.c
	if p := &c.rule.parts[c.part]; p.class[b] && c.count != p.max && b != '"' { // nearly always
		c.count++
		c.size++
		return
	}
	switch last := len(c.rule.parts) - 1; {
	case b == '"' && c.quote > 0 && u.spelledWidth() > c.quote:
		b = deeperQuote
	case c.part == last && !c.rule.parts[last].class[b] && urlSigns[b] && u.spelledWidth() == len("%26"):
		b = '%'
	}
	c.next(b)
}

// urlSigns are signs that separate the parts of a URL, or end a value in a text.
var urlSigns = classOf("?&;,|$^(){}[]<>#@:+=/")

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

// secretLen returns the number of characters of the matched text that are a secret, or 0 if there is no secret.
func (c *ruleMatch) secretLen(text []byte) int {
	text = text[:c.size]
	if c.rule.fit != nil {
		text = text[:c.rule.fit(text)]
	}
	if len(text) == 0 || c.rule.is != nil && !c.rule.is(text) {
		return 0
	}
	return len(text)
}

// classOf returns the class with the characters in single and the characters in the ranges.
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
