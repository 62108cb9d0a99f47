package redact

import (
	"bytes"
	"slices"
)

const (
	maxArmorGap   = 1024     // maximum number of characters between two lines of a private key
	maxArmorChars = 64 << 10 // maximum number of characters of a private key
	sureArmorGap  = 64       // a line need not look random after a gap of at most this many characters
)

// keyArmor is the state of a private key in text form that is being read. Every run of at least 20 base64 characters
// is part of the key. Other text may be between the runs: line numbers, quotes, or tags. The first run is replaced,
// and the other runs are removed. All text between the runs stays.
type keyArmor struct {
	open bool
	body bool // the first run was replaced
	gap  int  // number of characters since the latest run
	size int  // number of characters since the beginning of the key
}

// The rules for the runs of a private key are below. The first run must look random, but later runs need not. The
// last run may be too short for these rules if the key ends on the next line.
var (
	armorFirst = armorRule(rule{shape: `[A-Za-z0-9+/=]{20,}`, is: looksArmored})
	armorNext  = armorRule(rule{shape: `[A-Za-z0-9+/=]{20,}`})
	armorTail  = armorRule(rule{shape: `[\x00-\xff]{8,64}`, fit: armorTailLen})
)

var inArmor = classOf("+/=", "az", "AZ", "09")

func armorRule(r rule) *rule {
	r.name, r.after = "private-key", "KEY-----"
	return compileRules([]*rule{&r})[0]
}

// startsArmor reports whether a text ends with the first line of a private key.
func startsArmor(text []byte) bool {
	if !slices.ContainsFunc(armorFirstLines, func(end string) bool { return bytes.HasSuffix(text, []byte(end)) }) {
		return false
	}
	line := text[bytes.LastIndexByte(text, '\n')+1:]
	begin := max(bytes.LastIndex(line, []byte("--BEGIN ")), bytes.LastIndex(line, []byte("-- BEGIN ")))
	return begin >= 0 && !bytes.Contains(line[begin:], []byte("--END ")) && !bytes.Contains(line[begin:], []byte("-- END "))
}

// armorFirstLines are the ends of the first line of a private key.
var armorFirstLines = []string{" PRIVATE KEY-----", " PRIVATE KEY BLOCK-----", " PRIVATE KEY ----", " Static key V1-----", " NKEY SEED-----"}

// armorEnds are the beginnings of the last line of a private key.
var armorEnds = [][]byte{[]byte("--END"), []byte("-- END"), []byte("Private-MAC")}

// passChar updates k after a character that is not removed.
func (k *keyArmor) passChar(before []byte) {
	if k.gap++; k.gap > maxArmorGap || k.size > maxArmorChars {
		*k = keyArmor{}
		return
	}
	k.size++
	for _, end := range armorEnds {
		if bytes.HasSuffix(before, end) {
			*k = keyArmor{}
		}
	}
}

// nextRules returns the rules for a run that begins with c, or nil if no run can begin here.
func (k *keyArmor) nextRules(last, c byte) []*rule {
	switch {
	case !inArmor[c] || inArmor[last] && last != '=' && last != '+' || c == '+' && last == '\n': // a + may begin a line of a diff
		return nil
	case k.body && (last == '<' || last == '#' || last == '&'): // the run is inside a tag or after an entity
		return []*rule{armorNext}
	case k.body && k.gap <= sureArmorGap:
		return []*rule{armorNext, armorTail}
	case k.body:
		return []*rule{armorFirst, armorTail}
	}
	return []*rule{armorFirst}
}

// looksArmored reports whether a run of base64 looks like part of a key, and not like a path or the name of a
// variable or function.
func looksArmored(text []byte) bool {
	return (containsRange(text, 'A', 'Z') || len(text) >= 32 && countTrailing(text, lowerHex) == len(text)) && looksEncoded(text)
}

func looksEncoded(text []byte) bool {
	return text[len(text)-1] == '=' || bytes.HasPrefix(text, []byte("MI")) || len(text) >= 56 && !isWords(text) && containsRange(text, 'A', 'Z') && containsRange(text, '0', 'z') ||
		countClassChanges(text)*4 >= len(text)
}

// armorTailLen returns the length of a short run that ends a private key. No other run may follow on its line, and
// the key must end on the next line. For any other run, it returns 0.
func armorTailLen(text []byte) int {
	n := 0
	for n < len(text) && inArmor[text[n]] {
		n++
	}
	rest := text[n:]
	for _, end := range armorEnds {
		if at := bytes.Index(rest, end); at >= 0 {
			line, lines := rest[:at], n > 0 && text[n-1] == '='
			for _, lineBreak := range []string{"\n", "\r", "<br", "&#10;"} {
				if i := bytes.Index(line, []byte(lineBreak)); i >= 0 {
					line, lines = line[:i], true
				}
			}
			if n >= 2 && lines && !bytes.ContainsFunc(line, func(c rune) bool { return c < 128 && alnum[c] }) {
				return n
			}
		}
	}
	return 0
}

// streamPrefix is the beginning of a line in an event stream, up to the quote of the first text that continues from
// event to event. It contains no secret. Most events of a stream begin with the same text. If the text before an
// event and the known values are the same too, searching the event's beginning again would find nothing new, so it is
// skipped.
type streamPrefix struct {
	line   []byte      // the prefix in its escaped form, with the quote
	before []byte      // the last characters outside strings before the prefix
	known  int         // number of known spellings of secrets
	after  []byte      // the last characters outside strings before the quote
	stack  []container // open containers at the end of the prefix
}

// streamPrefixes holds the latest prefixes of a stream.
type streamPrefixes struct {
	list [4]streamPrefix
	next int // index to replace

	line   []byte // the bytes read since the beginning of a line that may have a new prefix, or nil
	at     int64  // place of the line
	before []byte // the characters before the line
	edits  int    // number of edits before the line
}

// atLine reports whether c begins a line of an event stream, and whether searching the line depends only on the state
// in streamPrefix.
func (l *lexer) atLine(c byte) bool {
	return l.bol && l.prefix == 0 && !l.keyed && eventLines[c] && l.s.outside.isIdle()
}

// eventLines are the first characters of the lines of an event stream.
var eventLines = classOf("deir:")

// skipPrefix skips a known prefix and returns its length. If there is none, it records the place where the line
// begins.
func (l *lexer) skipPrefix(p []byte, at int64) int {
	o, out := &l.openings, l.s.outside
	before, known := out.recentTail(), len(l.s.r.known.sorted)
	for i := range o.list {
		if one := &o.list[i]; len(one.line) > 0 && bytes.HasPrefix(p, one.line) && one.known == known && bytes.Equal(one.before, before) {
			out.tail, out.gram = out.tail[:0], 0
			out.passOver(one.after)
			l.stack, l.beyond = append(l.stack[:0], one.stack...), 0
			l.bol, l.before = false, p[len(one.line)-2]
			l.openString()
			return len(one.line)
		}
	}
	o.line, o.at, o.before, o.edits = p, at, append(o.before[:0], before...), len(l.s.edits)
	return 0
}

// openStringAt begins the string after a quote that ends at the place in the parameter end. It stores the prefix of
// the line if the string's text continues in later events and no secret is before the string.
func (l *lexer) openStringAt(end int64) {
	o := &l.openings
	plain := l.s.outside.isIdle() && len(l.s.edits) == o.edits
	l.openString()
	if o.line == nil || !l.joined {
		return
	}
	if plain {
		one := &o.list[o.next]
		o.next = (o.next + 1) % len(o.list)
		one.line, one.before = append(one.line[:0], o.line[:end-o.at]...), append(one.before[:0], o.before...)
		one.after, one.stack = append(one.after[:0], l.s.outside.recentTail()...), append(one.stack[:0], l.stack...)
		one.known = len(l.s.r.known.sorted)
	}
	o.line = nil
}
