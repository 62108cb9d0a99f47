package redact

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"toolscope/stream/json"
)

const (
	maxRequestSecrets = 16 << 10 // maximum number of secrets of requests that are searched for by value
	maxServerSecrets  = 4 << 10  // maximum number of secrets set by servers; they can't displace secrets of requests
	maxKnownChars     = window   // maximum number of characters of a secret that are compared
)

// knownValues holds the secrets that are searched for by value. They are in the form in which texts are compared:
// each secret as it is, and in every spelling in base64, hexadecimal digits, HTML and form encoding. They are kept
// until the end. The time to find a secret hardly depends on their number, because the sorted list is searched only
// if the first four characters match.
type knownValues struct {
	sorted []*knownValue
	first  [256]bool
	grams  *fourGrams // hashes of the first four characters of the values
	held   [2]int     // number of secrets of requests and of responses
}

// knownValue is one spelling of one secret.
type knownValue struct {
	text   string // the characters that are compared
	rest   string // the characters of a long spelling that are not compared
	secret string // the secret that this spelling stands for
	where  string // name of the place where the secret was first seen
}

func (k *knownValues) find(text string) (at int, found bool) {
	return slices.BinarySearchFunc(k.sorted, text, func(v *knownValue, text string) int { return strings.Compare(v.text, text) })
}

// match returns the known value that is equal to a text, or nil. The result longer reports whether the text is the
// beginning of a longer one.
func (k *knownValues) match(text []byte) (exact *knownValue, longer bool) {
	at, found := k.find(string(text))
	if found {
		exact = k.sorted[at]
		at++
	}
	return exact, at < len(k.sorted) && strings.HasPrefix(k.sorted[at].text, string(text))
}

// findSecret returns the known value for the literal spelling of a secret, or nil.
func (k *knownValues) findSecret(secret string) *knownValue {
	at, found := k.find(truncateValue(secret))
	if !found || k.sorted[at].secret != secret {
		return nil
	}
	return k.sorted[at]
}

// add adds a secret. It returns false if there is no room.
func (k *knownValues) add(secret, where string, answered bool) bool {
	if k.findSecret(secret) != nil {
		return true
	}
	party, limit := 0, maxRequestSecrets
	if answered {
		party, limit = 1, maxServerSecrets
	}
	if k.held[party] == limit {
		return false
	}
	k.held[party]++
	for _, text := range spellings(secret) {
		k.insertValue(&knownValue{text: truncateValue(text), rest: text[len(truncateValue(text)):], secret: secret, where: where})
	}
	return true
}

func (k *knownValues) insertValue(v *knownValue) {
	at, found := k.find(v.text)
	switch {
	case !found:
		k.sorted = slices.Insert(k.sorted, at, v)
	case v.text == truncateValue(v.secret): // the literal spelling of a secret takes precedence over an encoding of another secret
		k.sorted[at] = v
	}
	k.first[v.text[0]] = true
	if k.grams == nil {
		k.grams = new(fourGrams)
	}
	k.grams.add(gramHash(gramOf([]byte(v.text))))
}

// mayBegin reports whether a known value may begin with four given characters.
func (k *knownValues) mayBegin(gram uint32) bool {
	return k.grams != nil && k.grams.has(gramHash(gram))
}

func truncateValue(text string) string { return text[:min(len(text), maxKnownChars)] }

// htmlForms are the ways in which programs escape a text in HTML.
var htmlForms = []*strings.Replacer{
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;"),
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;"),
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "+", "&#43;"),
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;", "/", "&#x2F;", "`", "&#x60;", "=", "&#x3D;"),
}

// spellings returns the texts that are compared to find a secret: the secret itself, and its spellings in form
// encoding, hexadecimal digits, HTML and base64.
func spellings(secret string) []string {
	digits := hex.EncodeToString([]byte(secret))
	list := append(base64Forms(secret), secret, digits, strings.ToUpper(digits))
	for _, form := range htmlForms {
		if text := form.Replace(secret); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if strings.Contains(secret, " ") {
		list = append(list, strings.ReplaceAll(secret, " ", "+"))
	}
	return list
}

// base64Forms returns the base64 characters of a secret, in either alphabet, that don't depend on the bytes before
// and after the secret. Three bytes become four characters, so there are three forms.
func base64Forms(secret string) (list []string) {
	for before := range 3 {
		padded := make([]byte, before, before+len(secret))
		coded := base64.RawStdEncoding.EncodeToString(append(padded, secret...))
		from := (before*8 + 5) / 6
		to := (before + len(secret)) * 8 / 6
		coded = coded[from:to]
		list = append(list, coded)
		if strings.ContainsAny(coded, "+/") {
			list = append(list, strings.NewReplacer("+", "-", "/", "_").Replace(coded))
		}
	}
	return list
}

// character is one decoded character of a text, with the place of its spelling in the input. An escape that is cut
// between two deltas has several places. A character beyond ASCII becomes several bytes: the first byte has all
// places, and the others have none.
type character struct {
	c    byte
	at   span
	more []span
}

// unescaper decodes the escapes of a text: JSON in JSON in JSON, and percent-encoding. It doesn't need to know
// the depth. JSON doubles the backslashes of the text that it quotes and puts one before each quote. So a run
// of backslashes and the character after it are one character at every depth. For a search for secrets, `\n`,
// `\\n` and `\\\\n` all decode to the same line break.
//
// It is tolerant: it also finds a line break in a text that contains a backslash and an n. That does no harm,
// because the decoded text is only searched, and never written.
type unescaper struct {
	state  unescapeState
	pieces []character // characters of an unfinished escape
	digits int         // number of digits of the code so far
	code   rune        // value of those digits
}

type unescapeState uint8

const (
	spellNone    unescapeState = iota
	spellSlashes               // a run of backslashes
	spellCode                  // a run of backslashes, a u and maybe digits
	spellPercent               // a percent sign, and maybe a digit
)

const maxBackslashes = 64 // maximum length of a run of backslashes

var escapeMeans = [256]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': ' ', 'f': ' ', '"': '"', '\'': '\'', '/': '/', '`': '`'}

func (p *unescaper) isIdle() bool { return p.state == spellNone }

// read reads the next character in its escaped form, and passes the decoded characters to the function out.
func (p *unescaper) read(u character, out func(character)) {
	switch p.state {
	case spellSlashes:
		p.afterSlash(u, out)
	case spellCode:
		p.inCode(u, out)
	case spellPercent:
		p.inPercent(u, out)
	default:
		p.readPlain(u, out)
	}
}

func (p *unescaper) readPlain(u character, out func(character)) {
	switch u.c {
	case '\\':
		p.state, p.pieces = spellSlashes, append(p.pieces[:0], u)
	case '%':
		p.state, p.digits, p.code = spellPercent, 0, 0
		p.pieces = append(p.pieces[:0], u)
	default:
		out(u)
	}
}

func (p *unescaper) afterSlash(u character, out func(character)) {
	switch {
	case u.c == '\\' && len(p.pieces) < maxBackslashes:
		p.pieces = append(p.pieces, u)
	case u.c == 'u':
		p.ownSlashes(out)
		p.state, p.digits, p.code = spellCode, 0, 0
		p.pieces = append(p.pieces, u)
	case u.c == '"':
		p.pieces = append(p.pieces, u)
		p.emitRune('"', out)
	case escapeMeans[u.c] != 0:
		p.ownSlashes(out)
		p.pieces = append(p.pieces, u)
		p.emitRune(rune(escapeMeans[u.c]), out)
	default:
		slashes := mergeCharacters(p.pieces, '\\')
		p.state = spellNone
		out(slashes)
		p.readPlain(u, out)
	}
}

// ownSlashes passes on the backslashes of a run that are not part of the escape. JSON doubles all backslashes at each
// depth, so the escape itself has 1, 2, 4 or 8.
func (p *unescaper) ownSlashes(out func(character)) {
	n := len(p.pieces)
	if own := n - n&-n; own > 0 {
		slashes := mergeCharacters(p.pieces[:own], '\\')
		p.pieces = append(p.pieces[:0], p.pieces[own:]...)
		out(slashes)
	}
}

// inCode reads the four digits of \uXXXX.
func (p *unescaper) inCode(u character, out func(character)) {
	if p.readDigit(u, 4, out) {
		p.emitDecoded(p.code, out)
	}
}

// readDigit reads the next hexadecimal digit of a code, and reports whether it was the last one.
func (p *unescaper) readDigit(u character, of int, out func(character)) bool {
	digit := json.HexValue(u.c)
	if digit < 0 {
		p.emitLiteral(u, out)
		return false
	}
	p.pieces = append(p.pieces, u)
	p.code = p.code<<4 | digit
	p.digits++
	return p.digits == of
}

// inPercent reads the two digits of %XX.
func (p *unescaper) inPercent(u character, out func(character)) {
	if !p.readDigit(u, 2, out) {
		return
	}
	if p.code >= utf8.RuneSelf { // a byte, not a character
		whole := mergeCharacters(p.pieces, byte(p.code))
		p.state = spellNone
		out(whole)
		return
	}
	p.emitDecoded(p.code, out)
}

// emitDecoded passes on a decoded character, unless it begins another escape.
func (p *unescaper) emitDecoded(c rune, out func(character)) {
	p.digits, p.code = 0, 0
	switch whole := mergeCharacters(p.pieces, byte(c)); c {
	case '\\':
		p.state, p.pieces = spellSlashes, append(p.pieces[:0], whole)
	case '%':
		p.state, p.pieces = spellPercent, append(p.pieces[:0], whole)
	default:
		p.emitRune(c, out)
	}
}

func (p *unescaper) emitRune(c rune, out func(character)) {
	var bytes [utf8.UTFMax]byte
	n := utf8.EncodeRune(bytes[:], c)
	whole := mergeCharacters(p.pieces, bytes[0])
	p.state = spellNone
	out(whole)
	for _, c := range bytes[1:n] {
		out(character{c: c, at: passed})
	}
}

// emitLiteral passes on the characters of an invalid escape unchanged, followed by u.
func (p *unescaper) emitLiteral(u character, out func(character)) {
	pieces := append([]character(nil), p.pieces...)
	slashes := 0
	for p.state == spellCode && slashes < len(pieces) && pieces[slashes].c == '\\' {
		slashes++
	}
	p.state = spellNone
	if slashes > 0 {
		out(mergeCharacters(pieces[:slashes], '\\'))
	}
	for _, piece := range pieces[slashes:] {
		out(piece)
	}
	p.readPlain(u, out)
}

// finish passes on the characters of an unfinished escape.
func (p *unescaper) finish(out func(character)) {
	if p.state == spellNone {
		return
	}
	pieces := append([]character(nil), p.pieces...)
	p.state = spellNone
	for _, piece := range pieces {
		out(piece)
	}
}

// pendingFrom returns the place where the unfinished escape begins, or limit if there is none.
func (p *unescaper) pendingFrom(limit int64) int64 {
	if p.state == spellNone {
		return limit
	}
	return firstPending(p.pieces, limit)
}

// mergeCharacters returns one character with the places of several characters.
func mergeCharacters(pieces []character, c byte) character {
	whole := pieces[0]
	whole.c, whole.more = c, append([]span(nil), whole.more...)
	for _, piece := range pieces[1:] {
		whole.addSpan(piece.at)
		for _, at := range piece.more {
			whole.addSpan(at)
		}
	}
	return whole
}

func (u *character) addSpan(at span) {
	last := &u.at
	if len(u.more) > 0 {
		last = &u.more[len(u.more)-1]
	}
	if last.from >= 0 && at.from == last.to {
		last.to = at.to
		return
	}
	u.more = append(u.more, at)
}

// places iterates over the places of a character that have not been passed on.
func (u *character) places(yield func(span) bool) {
	if u.at.from >= 0 && !yield(u.at) {
		return
	}
	for _, at := range u.more {
		if at.from >= 0 && !yield(at) {
			return
		}
	}
}

// spelledWidth returns the number of bytes in the spelling of a character.
func (u *character) spelledWidth() int {
	n := int(u.at.to - u.at.from)
	for _, at := range u.more {
		n += int(at.to - at.from)
	}
	return n
}

// firstPending returns the first of the characters' places that has not been passed on, or limit if there is none.
func firstPending(units []character, limit int64) int64 {
	for i := range units {
		for at := range units[i].places {
			return min(limit, at.from)
		}
	}
	return limit
}

// markPassed marks characters as having been passed on.
func markPassed(units []character) {
	for i := range units {
		units[i].at, units[i].more = passed, nil
	}
}

// normaliseText returns a text in the decoded form in which texts are compared.
func normaliseText(text string) string {
	var p unescaper
	out := make([]byte, 0, len(text))
	put := func(u character) { out = append(out, u.c) }
	for i := range len(text) {
		p.read(character{c: text[i], at: span{int64(i), int64(i) + 1}}, put)
	}
	p.finish(put)
	return string(out)
}
