package redact

import "bytes"

// expectation is the expectation of a secret because of the text before it.
type expectation struct {
	rule   *rule      // nil: no secret is expected
	name   secretName // the name that the value is assigned to
	sign   byte       // of an assignment whose value has not begun
	quoted bool       // the name is in quotes, as in JSON, where a value without quotes is not text
	gap    int        // characters since the context
}

const (
	maxSpaces         = 16   // spaces before a value
	maxKeyHeaderChars = 1024 // characters between the first line of a private key and its body
	armorWord         = 16   // minimum characters of a word of that body, if several are in one line
)

// armorRule is the body of a private key. Its line breaks stay, and so do the lines around it.
var armorRule = compileRules([]*rule{{name: "private-key", after: "KEY-----", shape: `[A-Za-z0-9+/=]{20,}[A-Za-z0-9+/= \t\r\n]*`, fit: privateKeyLen}})[0]

// expectSecret checks whether the passed text ends with a context or an assignment to a credential.
func (m *matcher) expectSecret(r *Redactor) {
	before := m.recentTail()
	if len(before) == 0 {
		return
	}
	last := before[len(before)-1]
	for _, rule := range r.book.follow[last] {
		if bytes.HasSuffix(before, []byte(rule.after)) && (rule.where == nil || rule.where(before)) {
			m.want = expectation{rule: rule}
			return
		}
	}
	switch last {
	case '-':
		if line := before[bytes.LastIndexByte(before, '\n')+1:]; bytes.Contains(line, []byte("-----BEGIN ")) &&
			(bytes.HasSuffix(line, []byte(" PRIVATE KEY-----")) || bytes.HasSuffix(line, []byte(" PRIVATE KEY BLOCK-----"))) {
			m.want = expectation{rule: armorRule}
		}
	case '=', ':':
		if name, ok := assignedName(before); ok {
			m.want = expectation{rule: values[name.value].bare, name: name, sign: last, quoted: quotedName(before)}
		}
	}
}

// nextRule returns the rule of a secret that begins with c, or nil. It accepts spaces, quotes and signs
// before the secret. Any other character ends the expectation.
func (w *expectation) nextRule(c byte) *rule {
	rule := w.rule
	w.gap++
	switch {
	case rule == armorRule:
		switch {
		case rule.parts[0].class[c]:
			return rule
		case w.gap > maxKeyHeaderChars || bytes.IndexByte([]byte(" \t\r\n:-,."), c) < 0:
			*w = expectation{}
		}
		return nil
	case w.sign == 0: // after a context, the secret begins at once
	case (c == ' ' || c == '\t') && w.gap <= maxSpaces:
		return nil
	case c == '=' && w.sign == ':', c == '>' && w.sign == '=' && w.gap == 1:
		w.sign = c
		return nil
	case c == '"':
		w.rule, w.sign = values[w.name.value].quoted, 0
		return nil
	case c == '\'' || c == '`':
		w.rule, w.sign = values[w.name.value].single, 0
		return nil
	}
	quoted := w.quoted && w.sign != 0
	*w = expectation{}
	if quoted {
		return nil
	}
	return rule
}

// quotedName reports whether a text ends with a name in quotes, and the sign of an assignment.
func quotedName(text []byte) bool {
	text = bytes.TrimRight(text[:len(text)-1], " \t")
	return bytes.HasSuffix(text, []byte(`"`))
}

// privateKeyLen returns the length of the part of a text that is the body of a private key: lines, or
// long words in a line.
func privateKeyLen(text []byte) int {
	words := bytes.FieldsFunc(text, func(c rune) bool { return c <= ' ' })
	if kinds := words[0]; !containsRange(kinds, 'A', 'Z') || !containsRange(kinds, 'a', 'z') && !containsRange(kinds, '0', '9') {
		return 0
	}
	line, to := 0, 0 // start of the latest line, and end of its latest word
	for i, word := range words {
		from := to + bytes.Index(text[to:], word)
		switch newLine := bytes.ContainsAny(text[to:from], "\r\n"); {
		case i > 0 && newLine:
			line = to
		case i > 0 && len(word) < armorWord && from+len(word) < len(text): // prose
			if len(words[i-1]) < armorWord {
				return line
			}
			return to
		}
		to = from + len(word)
	}
	return len(text)
}
