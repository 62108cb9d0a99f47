package replay

import (
	"iter"
	"strings"

	"toolscope/providers/protocol"
)

// idSpellings yields the forms in which clients send a call's id to a target with a rule for ids: unchanged,
// joined with the id of its item, and each of these fitted to the rule.
func idSpellings(id, item string, rule protocol.IDRule) iter.Seq[string] {
	return func(yield func(string) bool) {
		for plain := range plainSpellings(id, item) {
			if !yield(plain) {
				return
			}
		}
		for fitted := range fittedSpellings(id, item, rule) {
			if !yield(fitted) {
				return
			}
		}
	}
}

// plainSpellings yields the forms without a rule.
func plainSpellings(id, item string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if id != "" && yield(id) && item != "" {
			yield(id + "|" + item)
		}
	}
}

// fittedSpellings yields the forms that are fitted to a rule.
func fittedSpellings(id, item string, rule protocol.IDRule) iter.Seq[string] {
	return func(yield func(string) bool) {
		for plain := range plainSpellings(id, item) {
			if rule.Takes(plain) {
				continue
			}
			for _, first := range []bool{false, true} {
				x := idMapper{rule: rule, first: first, keepJoined: true}
				if made, _ := x.fitID(0, plain); !yield(made) {
					return
				}
			}
		}
	}
}

// isCounter reports whether an id is only a number, perhaps with a word of the protocol. Other turns have the
// same id.
func isCounter(id, tool string) bool {
	if tool != "" {
		id = strings.ReplaceAll(id, tool, "_")
	}
	for piece := range strings.FieldsFuncSeq(id, func(r rune) bool { return !isDigit(r) && !isSmall(r) && !isCapital(r) }) {
		if isRandom(piece) {
			return false
		}
	}
	return true
}

func isDigit(r rune) bool   { return r >= '0' && r <= '9' }
func isSmall(r rune) bool   { return r >= 'a' && r <= 'z' }
func isCapital(r rune) bool { return r >= 'A' && r <= 'Z' }

// isRandom reports whether letters and digits are not words, a number, or a word with a number.
func isRandom(piece string) bool {
	word := strings.TrimRightFunc(piece, isDigit)
	number := len(piece) - len(word)
	switch {
	case len(piece) < 6:
		return false
	case strings.ContainsFunc(word, isDigit), word == "" && number >= 10, word != "" && number >= 6:
		return true
	}
	return strings.ContainsFunc(word, isSmall) && !isWords(word)
}

// isWords reports whether letters are words in camel case: each capital is followed by a small letter.
func isWords(s string) bool {
	for i := range len(s) {
		if isCapital(rune(s[i])) && (i+1 == len(s) || isCapital(rune(s[i+1]))) {
			return false
		}
	}
	return true
}
