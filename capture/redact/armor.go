package redact

import "bytes"

const (
	maxArmorGap   = 1024     // characters between two lines of a private key
	maxArmorChars = 64 << 10 // characters of a private key
	sureArmorGap  = 64       // characters between two lines of one whose next line need not look random
)

// keyArmor is the text form of a private key that is being read. Every run of 20 characters of base64 belongs
// to it, whatever is between them: numbers of lines, quotes, tags. The first run is replaced, and the others
// are removed. Everything between the runs stays.
type keyArmor struct {
	open bool
	body bool // the first run was replaced
	gap  int  // characters since the latest run
	size int  // characters since its beginning
}

// The runs of a private key: the first, which must look random; later ones; and one that is too short for
// that, if the key ends in the next line.
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
	if !bytes.HasSuffix(text, []byte(" ----")) && !bytes.HasSuffix(text, []byte("-----")) {
		return false
	}
	line := text[bytes.LastIndexByte(text, '\n')+1:]
	for _, end := range []string{" PRIVATE KEY-----", " PRIVATE KEY BLOCK-----", " PRIVATE KEY ----"} {
		if bytes.HasSuffix(line, []byte(end)) && bytes.Contains(line, []byte("--BEGIN ")) || bytes.HasSuffix(line, []byte(end)) && bytes.Contains(line, []byte("-- BEGIN ")) {
			return true
		}
	}
	return false
}

// armorEnds are the beginnings of the last line of a private key.
var armorEnds = [][]byte{[]byte("--END"), []byte("-- END"), []byte("Private-MAC")}

// passChar follows a character that stays.
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

// nextRules returns the rules of a run that begins with c.
func (k *keyArmor) nextRules(last, c byte) []*rule {
	switch {
	case !inArmor[c] || inArmor[last] && last != '=' && last != '+' || c == '+' && last == '\n': // of a diff
		return nil
	case k.body && (last == '<' || last == '#' || last == '&'): // a tag, an entity
		return []*rule{armorNext}
	case k.body && k.gap <= sureArmorGap:
		return []*rule{armorNext, armorTail}
	case k.body:
		return []*rule{armorFirst, armorTail}
	}
	return []*rule{armorFirst}
}

// looksArmored reports whether a run of base64 is not the name of a variable or a function.
func looksArmored(text []byte) bool {
	return text[len(text)-1] == '=' || bytes.HasPrefix(text, []byte("MI")) || len(text) >= 56 && !isWords(text) && containsRange(text, 'A', 'Z') && containsRange(text, '0', 'z') ||
		countClassChanges(text)*4 >= len(text)
}

// armorTailLen returns the length of the short last run of a private key: no other run is in the rest of its
// line, and the end of the key is in the next.
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
