package redact

import (
	"bytes"
	"strings"
)

// letterPairs are the 300 most frequent pairs of letters in the words of Go's and npm's documentation: each
// letter, and those that follow it. 83 % of the words of eight letters and more have no other pair, and 1 %
// of random texts of eight letters.
var letterPairs = func() (is [26][26]bool) {
	for _, one := range strings.Fields(`abcdfgiklmnprstuvwxy baeilorsuy cacehiklorstuy dadefilorsuy eabcdefghilmnopqrstuvwxy fadefilorstuy gaceghilnorsu
		haeimortu iabcdefglmnoprstvxz je kaeis ladeilostuvy mabeikmopsu nabcdefgiklmnoprstuv oabcdfgiklmnoprstuvw pacehiloprstu qu rabcdefgiklmnoprstuvy
		saceghiklmopstuwy tacdefhilmoprstuy uabcdefgilmnoprst vaeimos waehinors xaceiptv yeimnps zaei`) {
		for i := 1; i < len(one); i++ {
			is[one[0]-'a'][one[i]-'a'] = true
		}
	}
	return is
}()

const minWordLetters = 3

// looksLikeWord reports whether letters could be a word of a language.
func looksLikeWord(letters []byte) bool {
	for i := 1; i < len(letters); i++ {
		if !letterPairs[(letters[i-1]|0x20)-'a'][(letters[i]|0x20)-'a'] {
			return false
		}
	}
	return len(letters) >= minWordLetters
}

// isWords reports whether a text is one word, or words and short numbers with signs between them, or with a
// capital each, as names, paths and sentences are.
func isWords(text []byte) bool {
	letters, short := 0, 0 // in words, and in those too short to judge
	joined := false        // a letter or digit follows
	for len(text) > 0 {
		if c := text[len(text)-1]; !alnum[c] {
			if strings.IndexByte(" _-./:'|", c) < 0 {
				return false
			}
			text, joined = text[:len(text)-1], false
			continue
		}
		before, word := splitWord(text)
		run := text[len(before):]
		switch {
		case sortOf(run[0]) == 0:
			if len(word) > 4 || joined || len(before) > 0 && alnum[before[len(before)-1]] {
				return false
			}
		case len(run) < minWordLetters:
			short += len(run)
		case !looksLikeWord(run):
			return false
		default:
			letters += len(run)
		}
		joined = len(before) > 0 && alnum[before[len(before)-1]]
		text = before
	}
	return letters > short
}

// looksPassword reports whether the complete value of a password is one: not short, not a placeholder, not a
// reference to another place, and not one word. Passwords of several words have hyphens; other words are
// names in a program, or a sentence.
func looksPassword(text []byte) bool {
	lower := bytes.ToLower(text)
	switch {
	case len(text) < minPlausibleChars || isTemplate(text) || hasPlaceholder(lower):
		return false
	case bytes.IndexByte(text, ' ') >= 0:
		return isAppPassword(text)
	case isWords(text):
		return bytes.Count(text, []byte("-")) >= 3 && bytes.Equal(lower, text) && len(text) == len(bytes.Trim(text, "./:_"))
	}
	plain := strings.TrimRight(string(lower), "0123456789!")
	return !commonPasswords[plain] && !strings.Contains(plain, "password") && bytes.Count(text, text[:1]) < len(text)
}

func isPasswordOrRandom(text []byte) bool { return looksPassword(text) || looksRandom(text) }

// isAppPassword reports whether a text is four groups of four small letters, as mail providers show the
// password of a program.
func isAppPassword(text []byte) bool {
	groups := bytes.Fields(text)
	words := 0
	for _, g := range groups {
		if len(g) != 4 || countTrailing(g, small) != 4 {
			return false
		}
		if looksLikeWord(g) {
			words++
		}
	}
	return len(groups) == 4 && words < 4
}

var small = classOf("", "az")

// isTemplate reports whether a text stands for a value that is elsewhere: $NAME, ${…}, {{…}}, %NAME%, <…>.
func isTemplate(text []byte) bool {
	first, last := text[0], text[len(text)-1]
	switch first {
	case '$':
		rest := text[1:]
		return len(rest) > 0 && (rest[0] == '{' || rest[0] == '(') || isWords(rest) || countTrailing(rest, inVariable) == len(rest)
	case '%', '@':
		return last == first && countTrailing(text[1:len(text)-1], inWord) == len(text)-2 || first == '%' && strings.IndexByte("dqsvx", text[1]) >= 0 && !alnum[text[2]]
	case '<', '{', '[', '(':
		return last == map[byte]byte{'<': '>', '{': '}', '[': ']', '(': ')'}[first]
	}
	_, inBraces, _ := bytes.Cut(text, []byte("{"))
	return bytes.ContainsAny(text, "$%{") && bytes.IndexByte(inBraces, '}') >= 0 || bytes.Contains(text, []byte("://"))
}

// inVariable are the characters of a variable of an environment.
var inVariable = classOf("_", "AZ", "09")

// isExpression reports whether an unquoted value is an expression of a program: names that are joined by dots, the
// first character of each a letter, or the id of a call. A long name in random order is not one.
func isExpression(text []byte) bool {
	names := bytes.Split(text, []byte("."))
	for _, name := range names {
		if len(name) == 0 || sortOf(name[0]) == 0 || countTrailing(name, inWord) != len(name) || len(name) >= 20 && countClassChanges(name)*3 > len(name) {
			return false
		}
	}
	return len(names) > 1
}

// callIDs are the beginnings of ids that providers give to calls, messages and sessions.
var callIDs = strings.Fields("toolu_ srvtoolu_ call_ fc_ msg_ resp_ rs_ chatcmpl- req_ ses_ gen- run_ thread_ asst_ file- batch_")

func isCallID(text []byte) bool {
	for _, id := range callIDs {
		if bytes.HasPrefix(text, []byte(id)) {
			return true
		}
	}
	return false
}

// looksSession reports whether the id of a session is a credential: it is random, and not one that programs
// show, as a UUID.
func looksSession(text []byte) bool {
	return looksRandom(text) && bytes.Count(text, []byte("-")) != 4
}

// looksCode reports whether the value of a field "code" is an authorization code, and not a program or the
// code of an error.
func looksCode(text []byte) bool {
	return len(text) >= 16 && countTrailing(text, bearingClass) == len(text) && looksRandom(text) && !isExpression(text)
}

// looksKeyPart reports whether the value of a JSON Web Key is one of its secret numbers.
func looksKeyPart(text []byte) bool {
	return len(text) >= 42 && countTrailing(text, base64URL) == len(text) && isScattered(text)
}

var (
	bearingClass = classOf("_.~+/=-", "az", "AZ", "09")
	base64URL    = classOf("_-", "az", "AZ", "09")
)
