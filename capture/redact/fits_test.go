package redact

import (
	"encoding/base64"
	"regexp"
	"testing"
)

// TestWords checks which segments count as words: letters with a capital only at the beginning of each word, capitals
// only, or digits as in dates.
func TestWords(t *testing.T) {
	for segment, want := range map[string]bool{
		"folding": true, "Folding": true, "FOLDING": true, "foldingCube": true, "OpenAI": true, "ABCd": true, "20260731": true,
		"abcdefghijklmnopqrstuvw": true, "abcdefghijklmnopqrstuvwx": false, // longer than any word
		"123456789": false, "abc1": false,
		"xKQZWPab": false, "ABCDefghijklmnopq": false, // more capitals than words
		"aBcDeFgH": false, // words of only two letters
	} {
		if got := isWord([]byte(segment)); got != want {
			t.Errorf("%s: %v", segment, got)
		}
	}
}

// TestBasic checks which base64 texts count as a name and a password: printable text with a name and a colon.
func TestBasic(t *testing.T) {
	for plain, want := range map[string]bool{
		"user:pass": true, "user:pass word~": true, "user:": true,
		":password": false, "no colon here": false, "user:\x1fpass": false, "user:\x7fpass": false, "us\xffer:pass": false,
	} {
		coded := base64.StdEncoding.EncodeToString([]byte(plain))
		if got := isBasicAuth([]byte(coded)); got != want {
			t.Errorf("%q: %v", plain, got)
		}
	}
	if isBasicAuth([]byte("user:pass")) {
		t.Error("no base64")
	}
}

// TestUserinfo checks which passwords before a host count: those with at least three characters, except those that
// are common in examples.
func TestUserinfo(t *testing.T) {
	for text, want := range map[string]int{
		"u:x7q@h": 5, "u:x7@h": 0, "u:x7q@y@h": 7, "u:Password@h": 0, "u:${PW}@h": 0, "user@h": 0, "u:x7q": 0,
	} {
		if got := userinfoLen([]byte(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// TestWhole checks that a match is complete if its text satisfies the complete shape, and only then. It compares the
// result with that of a regular expression.
func TestWhole(t *testing.T) {
	for _, shape := range []string{"ab", "a[0-9]{2}b", "a[0-9]+-[a-f]+", "a[0-9]*b?", "a[0-9]{1,3}={0,2}"} {
		re := regexp.MustCompile("^(?:" + shape + ")$")
		for _, text := range []string{"a", "ab", "a1", "a12", "a12b", "a1b", "a1-", "a1-f", "a12-ff", "a123", "a123=", "a1=="} {
			c := ruleMatch{rule: &rule{parts: parseShape(shape)}}
			for i := 0; i < len(text) && c.state == alive; i++ {
				c.next(text[i])
			}
			if c.state == alive && c.size == len(text) && c.isComplete() != re.MatchString(text) {
				t.Errorf("%s has the shape %s: %v", text, shape, c.isComplete())
			}
		}
	}
}
