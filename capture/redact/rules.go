package redact

import (
	"slices"
	"strings"
)

// rule describes one kind of secret: a shape, and the text required before it.
type rule struct {
	name  string                   // in the replacement
	after string                   // the text required before the secret, which stays; "" if the shape suffices
	shape string                   // a regular expression, see parseShape
	fit   func(text []byte) int    // length of the part to check, 0 for none; nil: all of it
	is    secretCheck              // whether that part is a secret; nil: it is
	alone bool                     // only at the beginning of a word, since words end like its beginning
	keep  bool                     // quotes, and the character after a backslash, stay
	where func(before []byte) bool // whether the text before, which ends with after, is right; nil: it is

	// A text that the rule finds, a similar one that it doesn't, and the source of the facts. {n} stands
	// for n random letters and digits, {xn} for hexadecimal ones, {un} for upper case ones, {dn} for
	// digits. So this file contains no real key, and nothing that a scanner takes for one. G and T are
	// the rules of gitleaks and trufflehog, K is vendors' documentation or their keys.
	hit, miss, from string

	expects expectationKind // how a value after that text begins

	parts []shapePart     // of the shape
	heads []string        // its possible beginnings, up to four characters
	ends  func(byte) bool // what may follow; nil: anything
}

// secretCheck reports whether a text with a rule's shape is a secret.
type secretCheck func(text []byte) bool

// compileRules returns rules that are ready for use, one for each alternative of a shape.
func compileRules(rules []*rule) (list []*rule) {
	for _, r := range rules {
		for _, shape := range expandShape(r.shape) {
			one := *r
			one.shape, one.parts = shape, parseShape(shape)
			one.heads = firstCharacters(one.parts, 4)
			list = append(list, &one)
		}
	}
	return list
}

// canGlue reports whether the rule also finds secrets directly after a letter or a digit: its beginning
// is too specific to be the end of another word.
func (r *rule) canGlue() bool {
	sign := strings.IndexAny(r.shape, "-_")
	return len(r.heads[0]) == 4 && !r.alone && sign > 0 && sign < strings.IndexByte(r.shape+"[", '[')
}

// canBegin reports whether c can be the first character.
func (r *rule) canBegin(c byte) bool {
	return slices.ContainsFunc(r.heads, func(head string) bool { return head[0] == c })
}

// endsBefore reports whether c may follow the secret.
func (r *rule) endsBefore(c byte) bool { return r.ends == nil || r.ends(c) }

// noName excludes characters that continue an identifier, noCall also those that make it a call or a
// field of a program.
func noName(c byte) bool { return !alnum[c] && c != '_' }
func noCall(c byte) bool { return noName(c) && c != '(' && c != '.' && c != '[' }

// expandShape returns all variants of a shape with groups, (?:a|b) or (?:a)?.
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
