package replay

import (
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// spellings are the forms in which clients send a call's id to a target: as it is, joined with the
// id of its item, and each of these fitted to the target's rule.
func spellings(c *stream.Call, to *dialect.Target) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		ids := []string{c.ID, c.ID + "|" + c.Item}
		if c.Item == "" {
			ids = ids[:1]
		}
		for _, id := range ids {
			if id == "" || !yield(id) {
				return
			}
		}
		for _, id := range ids {
			for _, first := range []bool{false, true} {
				if to.IDs.Takes(id) {
					continue
				}
				x := newIDs(to, &Policy{firstOfID: first})
				if made, _ := x.fit(0, id); !yield(made) {
					return
				}
			}
		}
	}
}

// isCounter reports whether an id is just a number, perhaps with a word of the protocol: other
// turns have the same.
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

// isRandom reports whether letters and digits are neither words, nor a number, nor a word and a
// number.
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

// isWords reports whether letters are words in camel case: every capital has small letters behind
// it.
func isWords(s string) bool {
	for i := range len(s) {
		if isCapital(rune(s[i])) && (i+1 == len(s) || isCapital(rune(s[i+1]))) {
			return false
		}
	}
	return true
}
