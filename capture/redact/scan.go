package redact

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp/syntax"
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
	follow  map[uint16][]*rule // contexts by their last two characters
	scanner *scanner           // scanner of a Redactor that has no known values
}

var sharedRules = sync.OnceValue(func() *ruleSet {
	b := &ruleSet{glued: map[uint32][]*rule{}, pairs: map[uint16][]*rule{}, follow: map[uint16][]*rule{}}
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
		n := len(rule.after) - 1
		for c := range 256 {
			if n == 0 || byte(c) == rule.after[n-1] { // any character may be before a context of one character
				pair := pairOf(byte(c), rule.after[n])
				b.follow[pair] = append(b.follow[pair], rule)
			}
		}
	}
	b.scanner = newScanner(all)
	return b
})

// scanner quickly finds places where a secret may begin.
type scanner struct {
	pairs [1 << 16]uint8
	grams fourGrams // hashes of the first three or four characters of words, and of the last four characters of contexts
}

func newScanner(shapes []*rule) *scanner {
	s := new(scanner)
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
				s.pairs[pairOf(head[2], head[3])] |= mayGlue
			}
		}
	}
	for _, rule := range contexts {
		switch n := len(rule.after); n {
		case 1:
			s.addDigitsBefore(rule.after)
		case 2:
			s.pairs[pairOf(rule.after[0], rule.after[1])] |= mayFollow
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
	}
	for _, end := range []string{"Key ", "Key\n", "&gt;", `ng">`, `xt">`} { // other ends of names, elements and calls
		s.addContext(end)
	}
	s.addAssignment(" ?=")
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
}

// addWordStart adds the first character of a word.
func (s *scanner) addWordStart(c byte) {
	for b := range 256 {
		if !alnum[b] || b == 'm' || b == 'K' { // the last character of a terminal's colour code
			s.pairs[pairOf(byte(b), c)] |= mayBegin
		}
	}
}

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
	three := headHash([]byte(head))
	s.grams.add(three)
	if len(head) == 3 {
		s.grams.add(three ^ 1) // any character may follow
	} else {
		s.grams.add(gramHash(gramOf([]byte(head))))
	}
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

// nextCandidate returns the first place in p, at or after i, where a secret or the end of a context may be, or len(p)
// if there is none. The result context reports that only the end of a context may be there.
func (r *Redactor) nextCandidate(m *matcher, p []byte, i int) (at int, context bool) {
	s, gram := r.scan, m.gram
	for ; i < len(p); i++ {
		gram = gram<<8 | uint32(p[i])
		f := s.pairs[uint16(gram)]
		if f&^mayHead == 0 {
			continue
		}
		switch {
		case f&mayBegin != 0 && (i+1 == len(p) || s.pairs[pairOf(p[i], p[i+1])]&mayHead != 0) && s.mayBeginAt(p[i:]):
			return i, false
		case s.endsContext(f, gram), f&mayGlue != 0 && s.grams.has(gramHash(gram)):
			return i, f&mayGlue == 0
		}
	}
	return i, false
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
	at := 0
	if !r.scan.endsContext(r.scan.pairs[uint16(m.gram)], m.gram) {
		at, _ = r.nextCandidate(m, text, 1)
	}
	m.gram = before
	return at == len(text)
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
	if !m.isIdle() || bytes.IndexByte(p, '%') >= 0 || bytes.IndexByte(p, '\\') >= 0 {
		return false
	}
	at, _ := r.nextCandidate(m, p, 0)
	return at+3 > len(p) // two characters are too short for a secret
}

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

// nextOf is like next, but the character may be a quote inside a quoted value.
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

// secretLen returns the number of characters of the matched text that are a secret, or 0 if there is no secret.
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
