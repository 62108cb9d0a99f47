package redact

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"
)

// These are flags for two consecutive characters. They say what may begin or end there.
const (
	mayBegin      = 1 << iota // the second character begins a word that may be a shape
	mayFollow                 // the two may end a context
	mayFollowMore             // the two may be the last characters of a context; grams decides, together with the two characters before them
	mayHead                   // the two may begin a word that has a shape
	mayAssign                 // the two may be the last characters of an assignment; grams decides, together with the letter before them
	mayGlue                   // the two may be characters 3 and 4 of a secret inside a word; grams decides
)

// ruleSet is the index of all rules. It is created on first use and never changes after that.
type ruleSet struct {
	begins  [256][]*rule       // shapes by their first character
	pairs   map[uint16][]*rule // shapes by their first two characters
	glued   map[uint32][]*rule // shapes that are found in the middle of a word, by their first four characters
	follow  map[uint32][]*rule // contexts of four or more characters by their last four
	near    [256][]*rule       // shorter contexts by their last character
	scanner *scanner           // scanner of a Redactor that has no known values
}

var sharedRules = sync.OnceValue(func() *ruleSet {
	b := &ruleSet{glued: map[uint32][]*rule{}, pairs: map[uint16][]*rule{}, follow: map[uint32][]*rule{}}
	all := compileRules(shapes)
	for _, rule := range all {
		for _, one := range firstCharacters(rule.parts, 1) {
			b.begins[one[0]] = append(b.begins[one[0]], rule)
		}
		for _, two := range firstCharacters(rule.parts, 2) {
			pair := pairOf(two[0], two[1])
			b.pairs[pair] = append(b.pairs[pair], rule)
		}
		for _, head := range rule.heads {
			if rule.canGlue() {
				gram := gramOf([]byte(head))
				b.glued[gram] = append(b.glued[gram], rule)
			}
		}
	}
	for _, rule := range compileRules(contexts) {
		if n := len(rule.after); n < 4 {
			b.near[rule.after[n-1]] = append(b.near[rule.after[n-1]], rule)
		} else {
			gram := gramOf([]byte(rule.after[n-4:]))
			b.follow[gram] = append(b.follow[gram], rule)
		}
	}
	b.scanner = newScanner(all)
	return b
})

// ruleAfter returns the first rule whose context ends a text, or nil. The parameter gram contains the last four
// characters of the text.
func (b *ruleSet) ruleAfter(text []byte, gram uint32) *rule {
	for _, rules := range [2][]*rule{b.follow[gram], b.near[byte(gram)]} {
		for _, rule := range rules {
			if bytes.HasSuffix(text, []byte(rule.after)) && (rule.where == nil || rule.where(text)) && (!rule.begins || rule.startsCommand(text)) {
				return rule
			}
		}
	}
	return nil
}

// scanner quickly finds places where a secret may begin.
type scanner struct {
	stops stops
	pairs [1 << 16]uint8
	grams fourGrams // hashes of the first three or four characters of words, and of the last four characters of contexts
}

func newScanner(shapes []*rule) *scanner {
	s := new(scanner)
	s.stops.addEnd("\\")
	for _, rule := range shapes {
		for _, one := range firstCharacters(rule.parts, 1) {
			s.addWordStart(one[0])
		}
		for _, two := range firstCharacters(rule.parts, 2) {
			s.pairs[pairOf(two[0], two[1])] |= mayHead
		}
		for _, head := range rule.heads {
			s.addBeginning(head)
			if rule.canGlue() {
				s.addGlued(head)
			}
		}
	}
	for _, head := range firstCharacters(parseShape(digestHead), 3) {
		s.stops.addWord(head)
	}
	for _, rule := range contexts {
		switch n := len(rule.after); n {
		case 1:
			s.addDigitsBefore(rule.after)
		case 2:
			s.pairs[pairOf(rule.after[0], rule.after[1])] |= mayFollow
			s.stops.addEnd(rule.after)
		case 3:
			s.addAssignment(rule.after)
		default:
			s.addContext(rule.after[n-4:])
		}
	}
	for _, end := range []string{"nes:", "----"} { // the ends of "Private-Lines:" and "-----", which come before a private key
		s.addContext(end)
	}
	for _, sign := range []byte("=:|") {
		for _, between := range []string{"", " ", "\"", "'", "`", "*"} {
			s.addNameEnds(between + string(sign))
		}
		for _, before := range []string{"  ", "\" ", "' ", "` ", "] ", "\"]", "']", "**", "* ", "\t\t", " \t", "e\t", "d\t", "n\t", "t\t", "y\t"} {
			s.addAssignment(before + string(sign))
		}
	}
	for _, colour := range []string{"[0m", "39m", "22m", "\x1b[m"} { // the ends of a terminal's colours
		s.addAssignment(colour[len(colour)-3:] + "=")
		s.addAssignment(colour[len(colour)-3:] + ":")
	}
	for _, name := range secretNames {
		if len(name.end) == 1 {
			s.addAssignment(`"` + name.end + `":`)
		}
	}
	for _, signs := range []string{"\",", "',", ">"} {
		s.addNameEnds(signs)
	}
	for _, end := range []string{"ord", "swd", "ken", "key", "ret"} { // the ends of a column's name: password, passwd, token, key, secret
		for _, sign := range []string{",", ";", "\t", "\n", "\r", " "} {
			s.addContext(end + sign)
			s.addContext(strings.ToUpper(end) + sign)
		}
		for _, signs := range []string{`("`, "('", `">`, "]=", "` "} {
			if end != "ret" || signs[0] != '(' { // Get(" is not the end of a name
				s.addContext(end[1:] + signs)
			}
		}
		s.addContext(strings.ToUpper(end[1:]) + "` ")
		s.addContext(strings.ToUpper(end[1:]) + "('")
		s.addAssignment(end[1:] + "\"\n")
		s.addContext(end[1:] + " \n")
	}
	for _, end := range []string{"Key ", "Key\n", "&gt;", `ng">`, `xt">`, "ass\n", "<td>", "<dd>", "ode>", "ong>", "ed]=", "te]="} { // other ends of names, elements and calls
		s.addContext(end)
	}
	s.addAssignment("<b>")
	s.pairs[pairOf('"', '>')] |= mayFollow // the end of an element with attributes
	s.stops.addEnd("\">")
	for _, end := range []string{" ?=", "||=", `-u",`, `-u',`, `ss":`, `sh":`} { // signs, a flag, and the ends of exactKeys
		s.addAssignment(end)
	}
	for _, end := range []string{"UES(", "UES ", "UES\n", "ues(", "ues "} { // the ends of VALUES
		s.addContext(end)
	}
	for _, end := range []string{"\n\r\n", "\"\n\n"} { // the ends of the header lines in a part of a form
		s.addAssignment(end)
	}
	return s
}

// addNameEnds adds the last two letters of all names of credentials, followed by signs.
func (s *scanner) addNameEnds(signs string) {
	for a := range 256 {
		for b := 0; b < 256 && inName[a]; b++ {
			if !alnum[b] || !endsName([]byte{byte(a), byte(b)}) {
				continue
			}
			s.addAssignment(string([]byte{byte(a), byte(b)}) + signs)
		}
	}
}

// addAssignment adds the end of an assignment: three or four characters.
func (s *scanner) addAssignment(end string) {
	n := len(end)
	s.pairs[pairOf(end[n-2], end[n-1])] |= mayAssign
	s.grams.add(endHash(end))
	s.stops.addEnd(end)
}

// endHash returns a hash of the last two letters of a name and the sign after it, with or without a quote.
func endHash(end string) uint32 {
	if len(end) == 3 {
		return headHash([]byte(end))
	}
	return gramHash(gramOf([]byte(end)))
}

// addDigitsBefore adds the end of a context after three hexadecimal digits.
func (s *scanner) addDigitsBefore(end string) {
	before := []string{end}
	for range 3 {
		var longer []string
		for c := range 256 {
			for i := 0; lowerHex[c] && i < len(before); i++ {
				longer = append(longer, string([]byte{byte(c)})+before[i])
			}
		}
		before = longer
	}
	for _, context := range before {
		s.addContext(context)
	}
}

// addContext adds the last four characters of a context.
func (s *scanner) addContext(end string) {
	s.pairs[pairOf(end[2], end[3])] |= mayFollowMore
	s.grams.add(gramHash(gramOf([]byte(end))))
	s.stops.addEnd(end)
}

// addWordStart adds the first character of a word.
func (s *scanner) addWordStart(c byte) {
	for b := range 256 {
		if mayPrecedeWord(byte(b)) {
			s.pairs[pairOf(byte(b), c)] |= mayBegin
		}
	}
}

// mayPrecedeWord reports whether a word may begin after a character. A terminal's colour code ends in m or K.
func mayPrecedeWord(c byte) bool { return !alnum[c] || c == 'm' || c == 'K' }

// digestHead is the beginning of the shapes that begin with 32 hexadecimal digits and a hyphen or a full stop.
// Numbers and many words have the same beginning.
const (
	digestHead = "[0-9a-f][0-9a-f][0-9a-f][0-9a-f]{29}"
	digestSize = 32
)

// mayBeginDigest reports whether p may begin a shape that starts with digestHead.
func mayBeginDigest(p []byte) bool {
	if len(p) > digestSize && p[digestSize] != '-' && p[digestSize] != '.' {
		return false
	}
	for i := range min(len(p), digestSize) {
		if !lowerHex[p[i]] {
			return false
		}
	}
	return true
}

var lowerHex = classOf("", "09", "af")

// addHead adds the beginning of a word.
func (s *scanner) addHead(head string) {
	s.addWordStart(head[0])
	s.pairs[pairOf(head[0], head[1])] |= mayHead
	s.addBeginning(head)
}

// addBeginning adds the hashes of the beginning of a word.
func (s *scanner) addBeginning(head string) {
	if len(head) == 2 {
		for c := range 256 {
			s.addBeginning(head + string([]byte{byte(c)}))
		}
		return
	}
	s.stops.addWord(head[:3])
	three := headHash([]byte(head))
	s.grams.add(three)
	if len(head) == 3 {
		s.grams.add(three ^ 1) // any character may follow
	} else {
		s.grams.add(gramHash(gramOf([]byte(head))))
	}
}

// addGlued adds the beginning of a secret that is found in the middle of a word.
func (s *scanner) addGlued(head string) {
	s.pairs[pairOf(head[2], head[3])] |= mayGlue
	s.stops.addEnd(head)
}

// fourGrams is a set of hashes of four characters. It has many more bits than are ever set, so that false hits are
// rare.
type fourGrams [1 << 16]uint64

func (s *fourGrams) add(h uint32)      { s[h/64] |= 1 << (h % 64) }
func (s *fourGrams) has(h uint32) bool { return s[h/64]>>(h%64)&1 == 1 }

func gramOf(p []byte) uint32      { return binary.BigEndian.Uint32(p) }
func gramHash(gram uint32) uint32 { return gram * 2654435761 >> 10 }

// headHash returns an even number as the hash of three characters. The next odd number means that any character may
// follow them.
func headHash(p []byte) uint32 {
	return gramHash(uint32(p[0])<<24|uint32(p[1])<<16|uint32(p[2])<<8) &^ 1
}

func pairOf(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

// mayBeginAt reports whether a secret may begin with p. The parameter p is the beginning of a word whose first
// two characters have the flag mayHead.
func (s *scanner) mayBeginAt(p []byte) bool {
	return s.mayBeginWith(p) || lowerHex[p[0]] && mayBeginDigest(p)
}

// mayBeginWith reports whether a secret may begin with p.
func (s *scanner) mayBeginWith(p []byte) bool {
	if len(p) < 3 {
		return true
	}
	three := headHash(p)
	return s.grams.has(three) && (len(p) < 4 || s.grams.has(three^1) || s.grams.has(gramHash(gramOf(p))))
}

// stops is a set of places where a secret or the end of a context may be, given by the classes of four characters. A
// word that may be a secret begins two characters before its place in the set. One look for each character skips nearly
// all of a text. The index is the classes of the last three characters, and each bit is a group of eight classes of the
// character before them.
type stops [1 << (3 * stopBits)]uint8

const (
	stopBits    = 6 // size of a class in bits
	otherClass  = 8
	escapeClass = 10
)

// stopClasses are the classes of characters. The signs that contexts have are in the first group, the others and the
// ends of a terminal's colour codes in the second one: a word may begin after any of them. An escape begins with a
// character of escapeClass.
var stopClasses = func() (class [256]uint8) {
	for c := range class {
		class[c] = otherClass
	}
	n := uint8(0)
	for _, same := range []string{"_-./", " ", "=", ":", ",;", "\"'`", "\n\r", "\t", "" /* all others */, "(|>?", "\\%", "" /* other alphabets */} {
		for i := range len(same) {
			class[same[i]] = n
		}
		n++
	}
	for _, letter := range []byte("mKQX0ABCDEFGHIJLMNOPRSTUVWYabcdefghijklnopqrstuvwxyz") {
		class[letter] = n
		n++
	}
	for digit := range 10 {
		class['0'+digit] = class['0']
	}
	class['Z'] = class['X']
	for c := 0x80; c < len(class); c++ {
		class[c] = escapeClass + 1
	}
	return class
}()

// afterWord has the groups of the characters that a word may follow.
const afterWord = 1<<0 | 1<<1

// nextStop returns the index of the first character in p that is in the set, or len(p). The parameter before has the
// classes of the characters before p in its upper bits, the first of them on top. The result after has those up to the
// index.
//
//go:noinline // inlined, its variables would be kept in memory
func (s *stops) nextStop(before uint32, p []byte) (after uint32, at int) {
	for at, c := range p {
		before = before<<stopBits | uint32(stopClasses[c])<<(32-4*stopBits)
		if uint32(s[before>>(32-4*stopBits)%uint32(len(s))])&(1<<(before>>29)) != 0 {
			return before, at
		}
	}
	return before, len(p)
}

// addEnd adds the last four characters of a text. If the text is shorter, any characters may precede it.
func (s *stops) addEnd(text string) {
	if len(text) < 3 {
		for c := range 0x81 { // these have all classes
			s.addEnd(string([]byte{byte(c)}) + text)
		}
		return
	}
	before := uint8(1<<8 - 1)
	if n := len(text) - 4; n >= 0 {
		before = 1 << (stopClasses[text[n]] / 8)
	}
	s.add(before, text[len(text)-3:])
}

// addWord adds the first three characters of a word.
func (s *stops) addWord(head string) {
	s.add(afterWord, head)
}

// add adds three characters after the characters of some groups.
func (s *stops) add(before uint8, text string) {
	classes := 0
	for i := range 3 {
		classes = classes<<stopBits | int(stopClasses[text[i]])
	}
	s[classes] |= before
}

// candidateKind says why a search stops at a place in a text.
type candidateKind int

const (
	noCandidate   candidateKind = iota // the text ends
	wordCandidate                      // a secret may begin
	endCandidate                       // a context may end with the character there
	escapeThere                        // an escape begins
)

// nextCandidate returns the first place in p where a secret, the end of a context or an escape may be, or len(p) if
// there is none.
func (r *Redactor) nextCandidate(m *matcher, p []byte) (at int, kind candidateKind) {
	s := r.scan
	classes := uint32(0)
	for shift := 16; shift >= 0; shift -= 8 {
		classes = classes<<stopBits | uint32(stopClasses[byte(m.gram>>shift)])<<(32-4*stopBits)
	}
	for from := 0; ; from = at + 1 {
		after, n := s.stops.nextStop(classes, p[from:])
		classes, at = after, from+n
		words := at - 1 // the words before this place are decided
		switch {
		case at == len(p):
			words, kind = at, noCandidate
		case stopClasses[p[at]] == escapeClass && (p[at] == '\\' || !isPlainPercent(p[at+1:])):
			words, kind = at, escapeThere
		default:
			gram := gramAt(m.gram, p, at)
			flags := s.pairs[uint16(gram)]
			switch glued := flags&mayGlue != 0 && s.grams.has(gramHash(gram)); {
			case s.endsContext(flags, gram) && flags&mayGlue == 0:
				words, kind = at+1, endCandidate
			case glued || s.endsContext(flags, gram):
				words, kind = at+1, wordCandidate
			}
		}
		for word := max(0, at-2); word < words; word++ {
			if s.mayBeginWord(m.gram, p, word) {
				return word, wordCandidate
			}
		}
		if words >= at {
			return at, kind
		}
	}
}

// gramAt returns four characters: the one at a place in p, and those before it. The parameter before contains the
// characters before p.
func gramAt(before uint32, p []byte, at int) uint32 {
	if at >= 3 {
		return gramOf(p[at-3:])
	}
	for _, c := range p[:at+1] {
		before = before<<8 | uint32(c)
	}
	return before
}

// mayBeginWord reports whether a word that may be a secret begins at a place in p. The parameter before contains the
// characters before p.
func (s *scanner) mayBeginWord(before uint32, p []byte, at int) bool {
	last := byte(before)
	if at > 0 {
		last = p[at-1]
	}
	if s.pairs[pairOf(last, p[at])]&mayBegin == 0 || at+1 < len(p) && p[at+1] != '\\' && p[at+1] != '%' && s.pairs[pairOf(p[at], p[at+1])]&mayHead == 0 {
		return false
	}
	word := p[at:min(len(p), at+digestSize+1)]
	return s.mayBeginAt(word[:literalRun(word)])
}

// tryCandidate compares the word at a candidate with the shapes. For a candidate of any other kind, it returns
// secret, because the place may have a secret.
func (r *Redactor) tryCandidate(m *matcher, p []byte) decision {
	switch flags := r.scan.pairs[uint16(m.gram)<<8|uint16(p[0])]; {
	case flags&mayGlue != 0 || flags&mayBegin == 0:
		return secret
	case !m.isWordStart():
		return clean
	}
	return r.tryWord(p[:min(len(p), maxTrial+1)])
}

// canPass reports whether a character can be passed on: it can't begin a secret, and no secret is expected after it.
func (r *Redactor) canPass(m *matcher, c byte) bool {
	gram := m.gram<<8 | uint32(c)
	flags := r.scan.pairs[uint16(gram)]
	return flags&(mayBegin|mayGlue) == 0 && !r.scan.endsContext(flags, gram)
}

// canPassAll reports whether a text can be passed on: no secret may begin in it, and none is expected after it. The
// first character isn't checked, because the caller knows that it doesn't begin a secret.
func (r *Redactor) canPassAll(m *matcher, text []byte) bool {
	before := m.gram
	m.gram = before<<8 | uint32(text[0])
	kind := wordCandidate
	if !r.scan.endsContext(r.scan.pairs[uint16(m.gram)], m.gram) {
		_, kind = r.nextCandidate(m, text[1:])
	}
	m.gram = before
	return kind == noCandidate
}

// endsContext reports whether a secret may be expected after four characters. The parameter f contains the flags of
// the last two.
func (s *scanner) endsContext(f uint8, gram uint32) bool {
	return f&mayFollow != 0 || f&mayAssign != 0 && s.grams.has(gramHash(gram<<8)&^1) ||
		f&(mayAssign|mayFollowMore) != 0 && s.grams.has(gramHash(gram))
}

// canSkip reports whether a self-contained string can't contain a secret. It returns false for a string with
// escapes.
func (r *Redactor) canSkip(m *matcher, p []byte) bool {
	if !m.isIdle() {
		return false
	}
	at, kind := r.nextCandidate(m, p)
	return kind != escapeThere && at+3 > len(p) // two characters are too short for a secret
}
