package redact

import (
	"bytes"
	"encoding/base64"
	"math"
	"strings"
)

const (
	minPlausibleChars = 8  // minimum length of a possible credential
	minRandomBits     = 32 // minimum information of a random string in bits, by Shannon's measure
	minRandomChars    = 8  // minimum number of characters of a random string that are outside words
	maxWordLetters    = 23 // maximum length of a word
	maxSpacedChars    = 96 // maximum length of a secret with spaces
	maxNumberDigits   = 8  // maximum length of a number: the length of a date
)

// maybeCredential reports whether a string may be a credential in a place where one is expected. The string must have
// a letter. It must not be short, a placeholder or a number, or consist only of words and numbers.
func maybeCredential(text []byte) bool {
	return nonWordChars(text) > 0 && hasLetter(text) && looksSecret(text) && !isHexNumber(text)
}

// isCredentialWord is like maybeCredential, but rejects the name of a scheme that signs requests, because the
// credential follows it.
func isCredentialWord(text []byte) bool {
	lower := bytes.ToLower(text)
	isScheme := len(text) < 32 && (bytes.Contains(lower, []byte("hmac")) || bytes.HasSuffix(lower, []byte("-sha256")) || bytes.HasSuffix(lower, []byte("-sha1")))
	return maybeCredential(text) && !isScheme
}

// isBearing is like maybeCredential, but requires a random string with the signs of a password if it is short.
func isBearing(text []byte) bool {
	return maybeCredential(text) && (len(text) >= 16 || isLoginWord(text))
}

// isHexNumber reports whether a string begins with 0x and is short enough for a 64-bit number.
func isHexNumber(text []byte) bool {
	digits, ok := bytes.CutPrefix(bytes.TrimLeft(text, "-"), []byte("0x"))
	return ok && len(digits) <= 16
}

// looksSecret reports whether a string in a credential's place looks like a credential: it is neither short nor a
// placeholder.
func looksSecret(text []byte) bool { return len(text) >= minPlausibleChars && !isPlaceholder(text) }

// looksRandom reports whether a string is unlikely to occur by chance. Only such a string is searched for elsewhere,
// or counts as a secret because of the name before it.
func looksRandom(text []byte) bool {
	if isSignRich(text) {
		return true
	}
	return maybeCredential(text) && nonWordChars(text) >= minRandomChars && !isIdentifier(text) && !isCallID(text) && !isNumberedName(text) &&
		bytes.Count(text, []byte(" ")) < 3 && entropy(text)*float64(len(text)) >= minRandomBits
}

// isSignRich reports whether a string has so many different signs that it is a generated password or salt. A regular
// expression, a list of characters, or code has not.
func isSignRich(text []byte) bool {
	if len(text) < 32 || len(text) > maxSpacedChars || !containsRange(text, '0', '9') || isPlaceholder(text) {
		return false
	}
	var seen [256]bool
	signs, kinds, letters, run := 0, 0, 0, 0
	for _, c := range text {
		if isLetter := hasLetter([]byte{c}); isLetter {
			if run++; run > letters {
				letters = run
			}
			continue
		}
		run = 0
		if !alnum[c] && c > ' ' {
			signs++
			if !seen[c] {
				kinds++
			}
			seen[c] = true
		}
	}
	return kinds >= 7 && signs*5 >= len(text) && letters < 8 && !bytes.Contains(text, []byte("-Z")) && !bytes.Contains(text, []byte("-z")) && !bytes.Contains(text, []byte("-9"))
}

// isNumberedName reports whether a string is a name in a program that consists of words and numbers, such as
// NonEmptyString128.
func isNumberedName(text []byte) bool { return isWordsAndNumbers(text) && isLongWords(text) }

// isTypeName reports whether a text is the name of a type with a number, such as SomeType2048.
func isTypeName(text []byte) bool {
	return 'A' <= text[0] && text[0] <= 'Z' && len(text) >= 10 && hasBothCases(text) && isWordsAndNumbers(text)
}

// isWordsAndNumbers reports whether a string consists of words and at most two numbers.
func isWordsAndNumbers(text []byte) bool {
	if len(text) > 40 || countTrailing(text, inWord) < len(text) || !hasLetter(text) {
		return false
	}
	letters := make([]byte, 0, 40)
	numbers := 0
	for i, c := range text {
		if sortOf(c) == 0 && c != '_' {
			if i == 0 || sortOf(text[i-1]) != 0 {
				numbers++
			}
			c = '_'
		}
		letters = append(letters, c)
	}
	return numbers <= 2 && isWords(bytes.Trim(letters, "_"))
}

// isLongWords reports whether a string has more letters than signs and a word of at least five letters.
func isLongWords(text []byte) bool {
	longest, letters := 0, 0
	for len(text) > 0 {
		before, word := splitWord(text)
		if word != "" && word[0] > '9' {
			longest, letters = max(longest, len(word)), letters+len(word)
		}
		if len(before) == 0 {
			break
		}
		text = before
	}
	return longest >= 5 && letters > 6
}

// looksPhrase reports whether a string consists of at least 12 words, as a wallet's phrase does.
func looksPhrase(text []byte) bool {
	words := bytes.Fields(text)
	for _, w := range words {
		if len(w) < 3 || len(w) > 8 {
			return false
		}
	}
	return len(words) >= 12 && len(words) <= 25
}

// isVaried reports whether a string has a digit, or letters of both cases.
func isVaried(text []byte) bool { return containsRange(text, '0', '9') || hasBothCases(text) }

// mixedCheck returns a check that requires letters and digits that don't form words, and a minimum number of bits per
// character.
func mixedCheck(bits float64) secretCheck {
	return func(text []byte) bool {
		return nonWordChars(text) >= minRandomChars && containsRange(text, '0', '9') && hasLetter(text) && entropy(text) >= bits && !isPlaceholder(text)
	}
}

// isScattered reports whether a string has letters of both cases and digits in random order. isShuffled doesn't
// require digits.
func isScattered(text []byte) bool {
	return countClassChanges(text)*5 >= len(text)*2 && hasBothCases(text) && mixedCheck(3)(text)
}
func isShuffled(text []byte) bool {
	return countClassChanges(text)*10 >= len(text)*3 && hasBothCases(text) && nonWordChars(text) >= minRandomChars && entropy(text) >= 3 && !isPlaceholder(text)
}

// isShuffledAfter returns a check like isShuffled that also rejects binary data with zeros in base64 (AAAA) after the
// first characters.
func isShuffledAfter(first int) secretCheck {
	return func(text []byte) bool { return isShuffled(text) && !bytes.Contains(text[first:], []byte("AAAA")) }
}

func isMixedOrShuffled(text []byte) bool { return isShuffled(text) || mixedCheck(3)(text) }

// isShuffledAfterDigest requires a random string after 32 hexadecimal digits and a full stop.
func isShuffledAfterDigest(text []byte) bool {
	return isMixedOrShuffled(text[digestSize+1:]) && mixedCheck(3)(text[:digestSize])
}

// isKeyRun reports whether a string has at least 20 letters and digits without signs between them, in random order.
func isKeyRun(text []byte) bool {
	for _, run := range bytes.FieldsFunc(text, func(c rune) bool { return c == '_' || c == '-' }) {
		if len(run) >= 20 && countClassChanges(run)*4 >= len(run) && mixedCheck(3)(run) {
			return true
		}
	}
	return false
}

// isScatteredRun is like isKeyRun, but requires letters of both cases.
func isScatteredRun(text []byte) bool { return hasBothCases(text) && isKeyRun(text) }

// isShuffledPart requires a random string after a name and a colon.
func isShuffledPart(text []byte) bool {
	_, part, _ := bytes.Cut(text, []byte(":"))
	return isShuffled(part)
}

// hasOpenAIMark requires the mark that all keys of OpenAI have in their middle.
func hasOpenAIMark(text []byte) bool { return bytes.Contains(text, []byte("T3BlbkFJ")) }

// isTwitterBearer requires an equals sign with many characters on both sides. Binary data in base64 has none there.
func isTwitterBearer(text []byte) bool {
	before, after, ok := bytes.Cut(bytes.TrimRight(text, "="), []byte("="))
	return ok && len(before) > 40 && len(after) > 20 && isShuffled(after)
}

func hasLetter(text []byte) bool {
	return containsRange(text, 'a', 'z') || containsRange(text, 'A', 'Z')
}
func hasBothCases(text []byte) bool {
	return containsRange(text, 'a', 'z') && containsRange(text, 'A', 'Z')
}

func containsRange(text []byte, from, to byte) bool {
	return bytes.ContainsFunc(text, func(c rune) bool { return rune(from) <= c && c <= rune(to) })
}

// nonWordChars returns the number of characters of a string that are neither in a word nor in a number. A segment
// between signs counts as words or a number if it consists of capitals only, of digits only, or of letters with a
// capital only at the beginning of each word.
func nonWordChars(text []byte) (n int) {
	for len(text) > 0 {
		size := countTrailing(text, alnum)
		if segment := text[len(text)-size:]; size > 0 && !isWord(segment) {
			n += size
		}
		text = text[:len(text)-max(size, 1)]
	}
	return n
}

func isWord(segment []byte) bool {
	var lower, upper, digits, turns int
	for i, c := range segment {
		switch {
		case c <= '9':
			digits++
		case c <= 'Z':
			upper++
			if i > 0 && segment[i-1] >= 'a' {
				turns++
			}
		default:
			lower++
		}
	}
	switch {
	case digits > 0:
		return digits == len(segment) && digits <= maxNumberDigits
	case lower == 0 || upper == 0:
		return len(segment) <= maxWordLetters
	}
	return turns*4 <= len(segment) && upper <= turns+3
}

// isIdentifier reports whether a string looks like an identifier in code, e.g. testRSA2048Key. It must have letters
// of both cases, and seldom change between classes of characters.
func isIdentifier(text []byte) bool {
	return countTrailing(text, inWord) == len(text) && hasBothCases(text) && countClassChanges(text)*3 <= len(text) && hasUsualPairs(text)
}

// hasUsualPairs reports whether most pairs of letters in a string are frequent ones.
func hasUsualPairs(text []byte) bool {
	rare, pairs := 0, 0
	for i := 1; i < len(text); i++ {
		if a, b := text[i-1], text[i]; sortOf(a) == sortOf(b) && a > '9' && a != '_' && b != '_' {
			if pairs++; !letterPairs[(a|0x20)-'a'][(b|0x20)-'a'] {
				rare++
			}
		}
	}
	return rare*3 < pairs
}

var inWord = classOf("_", "az", "AZ", "09")

// countClassChanges returns the number of changes between capitals, other letters and digits in a string.
func countClassChanges(text []byte) (n int) {
	for i := 1; i < len(text); i++ {
		if sortOf(text[i]) != sortOf(text[i-1]) {
			n++
		}
	}
	return n
}

func sortOf(c byte) int {
	switch {
	case c <= '9':
		return 0
	case c <= 'Z':
		return 1
	}
	return 2
}

// entropy returns the bits per character of a string, calculated from the frequencies of its own characters.
func entropy(text []byte) (bits float64) {
	var count [256]int
	for _, c := range text {
		count[c]++
	}
	for _, n := range count {
		if n > 0 {
			share := float64(n) / float64(len(text))
			bits -= share * math.Log2(share)
		}
	}
	return bits
}

// placeholders are words that people write instead of a credential.
var placeholders = []string{
	"xxxx", "***", "...", "placeholder", "changeme", "change_me", "change-me", "your_", "your-", "yourapikey", "my_api_key", "my-api-key",
	"redacted", "dummy", "undefined", "lm-studio", "insert_", "insert-", "replace_", "replace-",
}

// isPlaceholder reports whether a string is a placeholder for a credential.
func isPlaceholder(text []byte) bool {
	if len(text) == 0 || strings.IndexByte("$%{<@[(", text[0]) >= 0 || isJoined(text) || bytes.Contains(text, []byte("${")) ||
		bytes.Contains(text, []byte("{{")) || bytes.Contains(text, []byte("EXAMPLE")) {
		return true
	}
	return hasPlaceholder(bytes.ToLower(text))
}

// hasPlaceholder reports whether a lower-case string contains a word from the list of placeholders.
func hasPlaceholder(lower []byte) bool {
	for _, p := range placeholders {
		if bytes.Contains(lower, []byte(p)) {
			return true
		}
	}
	return false
}

// noExample excludes the keys in Amazon's manuals, and binary data with zeros in base64.
func noExample(text []byte) bool {
	isZeros := bytes.Contains(text, []byte("AAAA")) && !bytes.ContainsAny(text, "0123456789")
	return !bytes.HasSuffix(text, []byte("EXAMPLE")) && !isZeros
}

// lenWithoutFullStop returns the length of a string without the full stops and colons at its end. These are part of
// the sentence around a secret.
func lenWithoutFullStop(text []byte) int { return len(bytes.TrimRight(text, ".:")) }

// bareLen returns the length of a value without quotes. The value ends before the next parameter of a form, and before
// the end of the sentence.
func bareLen(text []byte) int {
	for at := bytes.IndexByte(text, '&'); at >= 0; {
		after := text[at+1:]
		n := countLeading(after, inName)
		if letter := n > 0 && sortOf(after[0]) > 0; n == 0 || letter && n == len(after) || letter && n > 1 && after[n] == '=' || bytes.HasPrefix(after, []byte("0x")) {
			text = text[:at]
			break
		}
		next := bytes.IndexByte(after, '&')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return lenWithoutFullStop(text)
}

// countLeading returns the number of characters of a class at the beginning of a text.
func countLeading(text []byte, class *[256]bool) (n int) {
	for n < len(text) && class[text[n]] {
		n++
	}
	return n
}

// wordLen returns the length of a value without quotes, without signs after it that belong to the text around it.
func wordLen(text []byte) int { return len(bytes.TrimRight(text, ".:,;)]}|>")) }

// inLine returns a check for quoted text. The text must pass the check in the parameter is, and must not contain
// spaces if it is long.
func inLine(is secretCheck) secretCheck {
	return func(text []byte) bool {
		return (len(text) <= maxSpacedChars || bytes.IndexByte(text, ' ') < 0) && is(text)
	}
}

// isBasicAuth reports whether a string is a name and a password in base64.
func isBasicAuth(text []byte) bool {
	plain, err := base64.StdEncoding.DecodeString(string(text))
	return err == nil && bytes.IndexByte(plain, ':') >= 1 && !exampleLogins[string(plain)] && !bytes.ContainsFunc(plain, func(c rune) bool { return c < ' ' || c > '~' })
}

// isLogin reports whether a string is a name and a password, in base64 or with a colon between them. A password in
// that form is random.
func isLogin(text []byte) bool {
	name, password, ok := bytes.Cut(text, []byte(":"))
	return ok && len(name) > 0 && countTrailing(name, inHost) == len(name) && isSpoken(password) || isBasicAuth(text)
}

// exampleLogins are the logins in the examples of RFC 2617 and RFC 7617, which many texts copy.
var exampleLogins = map[string]bool{"Aladdin:open sesame": true, "aladdin:opensesame": true, "foo:bar": true}

// userinfoLen returns the length of a name and a password, up to the last @ before the host. It returns 0 if the
// password is missing, short, common or a placeholder.
func userinfoLen(text []byte) int {
	n := bytes.LastIndexByte(text, '@')
	if n < 0 {
		return 0
	}
	_, password, ok := bytes.Cut(text[:n], []byte(":"))
	if !ok && isLoginWord(text[:n]) { // a token
		return n
	}
	if !ok || isPlaceholder(password) || len(password) < 3 || isCommonPassword(string(bytes.ToLower(password))) {
		return 0
	}
	return n
}

// commonPasswords are passwords that people use in examples.
var commonPasswords = map[string]bool{
	"pass": true, "password": true, "passwd": true, "passw0rd": true, "pwd": true, "secret": true, "user": true, "test": true, "guest": true, "token": true,
	"example": true, "opensesame": true, "foo": true, "bar": true, "abc": true, "xyz": true, "xxx": true, "key": true, "pw": true,
}

// signsAsLetters replaces the signs and digits that people write instead of letters in common passwords.
var signsAsLetters = strings.NewReplacer("@", "a", "0", "o", "3", "e", "$", "s", "1", "i", "^", "", "?", "s")

// isCommonPassword reports whether a password in lower case is one of commonPasswords, even with signs instead
// of letters or between them.
func isCommonPassword(lower string) bool {
	return commonPasswords[lower] || commonPasswords[signsAsLetters.Replace(lower)] || len(lower) <= maxNameChars && commonPasswords[plainForm([]byte(lower))]
}

// afterColon requires a name, a colon or a percent sign, and a string that is random, or that looks like a password and isn't made of
// words.
func afterColon(text []byte) bool {
	n := bytes.IndexAny(text, ":%")
	if n < 0 {
		return false
	}
	password := text[n+1:]
	return looksRandom(password) || looksPassword(password) && !isWords(password)
}

// letterPairs are the 300 most frequent pairs of letters in the words of Go's and npm's documentation: each letter,
// and the letters that follow it. 83 % of the words with at least eight letters contain only these pairs. The same is
// true of only 1 % of random strings of eight letters.
var letterPairs = func() (is [26][26]bool) {
	for _, one := range strings.Fields(`abcdfgiklmnprstuvwxy baeilorsuy cacehiklorstuy dadefilorsuy eabcdefghilmnopqrstuvwxy fadefilorstuy gaceghilnorstu
		haeimortu iabcdefglmnoprstvxz je kaeis ladeilostuvy mabeikmopsu nabcdefgiklmnoprstuv oabcdfgiklmnoprstuvw pacehiloprstu qu rabcdefgiklmnoprstuvy
		saceghiklmopstuwy tacdefhilmoprstuy uabcdefgilmnoprst vaeimos waehinors xaceiptv yeimnps zaei`) {
		for i := 1; i < len(one); i++ {
			is[one[0]-'a'][one[i]-'a'] = true
		}
	}
	return is
}()

const minWordLetters = 3

// looksLikeWord reports whether letters could form a word.
func looksLikeWord(letters []byte) bool {
	for i := 1; i < len(letters); i++ {
		if !letterPairs[(letters[i-1]|0x20)-'a'][(letters[i]|0x20)-'a'] {
			return false
		}
	}
	return len(letters) >= minWordLetters
}

// isWords reports whether a string is one word, or consists of words and short numbers. Words are separated by signs,
// or each begins with a capital, as in names, paths and sentences.
func isWords(text []byte) bool {
	letters, short := 0, 0 // number of letters in words, and in words that are too short to judge
	joined := false        // a letter or digit follows directly
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

// looksPassword reports whether the complete value after a password's name looks like a password. It must not be
// short, a placeholder, a reference to another place, a common password, or one repeated character. A password of
// words consists of lower-case words with at least three hyphens. A password with spaces is an app password. Any
// other combination of words counts as a name in a program, or as a sentence.
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
	return !isCommonPassword(plain) && !strings.Contains(plain, "password") && bytes.Count(text, text[:1]) < len(text)
}

func isPasswordOrRandom(text []byte) bool { return looksPassword(text) || isRandomPassword(text) }

// isRandomPassword reports whether a password in code is random, and not a common password with a number.
func isRandomPassword(text []byte) bool {
	plain := strings.TrimRight(string(bytes.ToLower(text)), "0123456789!")
	isExample := strings.Contains(plain, "password") && countTrailing([]byte(plain), small) == len(plain)
	return looksRandom(text) && !isCommonPassword(plain) && !isExample
}

// isAppPassword reports whether a string is four groups of four lower-case letters, not all of which could be words.
// Mail providers write app passwords in this form.
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

// isTemplate reports whether a string refers to a value that is elsewhere, such as $NAME, ${…}, {{…}}, %NAME%, <…> or
// a URL.
func isTemplate(text []byte) bool {
	first, last := text[0], text[len(text)-1]
	if isJoined(text) {
		return true
	}
	switch first {
	case '$':
		rest := text[1:]
		return len(rest) > 0 && (rest[0] == '{' || rest[0] == '(') || isWords(rest) || countTrailing(rest, inVariable) == len(rest)
	case '%', '@':
		return last == first && countTrailing(text[1:len(text)-1], inWord) == len(text)-2 || first == '%' && strings.IndexByte("dqsvx", text[1]) >= 0 && !alnum[text[2]]
	case '/', '~': // a path, which PWD contains
		return bytes.Count(text, []byte("/")) > 1 || first == '~'
	case '<', '{', '[', '(':
		return first == '<' && bytes.IndexByte(text, '>') > 1 && hasLetter(text[1:2]) || last == map[byte]byte{'<': '>', '{': '}', '[': ']', '(': ')'}[first]
	}
	_, inBraces, _ := bytes.Cut(text, []byte("{"))
	return bytes.ContainsAny(text, "$%{") && bytes.IndexByte(inBraces, '}') >= 0 || bytes.Contains(text, []byte("://"))
}

// isJoined reports whether a string is code between two literals, as in '"token":"'+token+'"'.
func isJoined(text []byte) bool {
	quote := text[0]
	inner := bytes.Trim(text, "\"'`")
	return (quote == '"' || quote == '\'' || quote == '`') && len(inner) < len(text) && bytes.HasPrefix(bytes.TrimLeft(inner, " "), []byte("+")) && bytes.HasSuffix(bytes.TrimRight(inner, " "), []byte("+"))
}

// inVariable is the set of characters that the name of an environment variable may have.
var inVariable = classOf("_", "AZ", "09")

// isExpression reports whether an unquoted value is an expression in a program: names that begin with a letter and
// are joined by dots. A long random name is not part of an expression.
func isExpression(text []byte) bool {
	text = bytes.TrimLeft(text, "!")
	if name, value, ok := bytes.Cut(text, []byte("=")); ok && len(value) > 1 && hasLetter(value[:1]) && bytes.IndexByte(name, '.') > 0 { // a chain of assignments
		text = name
	}
	names := bytes.Split(text, []byte("."))
	for _, name := range names {
		if len(name) == 0 || sortOf(name[0]) == 0 || countTrailing(name, inWord) != len(name) || len(name) >= 20 && countClassChanges(name)*3 > len(name) {
			return false
		}
	}
	return len(names) > 1
}

// callIDs are the beginnings of ids that providers assign to calls, messages and sessions.
var callIDs = strings.Fields("toolu_ srvtoolu_ call_ fc_ msg_ resp_ rs_ chatcmpl- req_ ses_ gen- run_ sesn_ thread_ asst_ file- batch_ arn:")

func isCallID(text []byte) bool {
	for _, id := range callIDs {
		if bytes.HasPrefix(text, []byte(id)) {
			return true
		}
	}
	return false
}

// looksSession reports whether a session id looks like a credential. It must be random, and not an id that programs
// display, such as a UUID.
func looksSession(text []byte) bool {
	return looksRandom(text) && bytes.Count(text, []byte("-")) != 4
}

// looksCode reports whether the value of a field "code" is an authorization code, and not a program or an error code.
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
