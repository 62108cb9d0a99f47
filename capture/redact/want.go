package redact

import (
	"bytes"
	"strings"
)

// expectation is the expectation of a secret because of the text before it.
type expectation struct {
	rule   *rule // nil: no secret is expected
	kind   expectationKind
	name   secretName // the name that the value is assigned to
	form   valueForm
	sign   byte // of an assignment whose value has not begun
	quoted bool // the name is in quotes, as in JSON, where a value without quotes is not text
	folded bool // the value is in the next line, as in YAML after >-
	gap    int  // characters since the context
	words  int  // words of an authorization that were tried
	quote  int  // bytes of the quote before the value
}

type expectationKind uint8

const (
	oneValue    expectationKind = iota
	looseValue                  // after spaces, and in quotes
	looseQuote                  // in quotes
	cookieLine                  // each value of a line
	authorities                 // the first two words: a scheme, and the credential
)

const (
	maxSpaces = 16 // spaces before a value
	maxIndent = 64 // characters before a value in the next line
)

// expectSecret checks whether the passed text ends with a context or an assignment to a credential.
func (m *matcher) expectSecret(r *Redactor) {
	before := m.recentTail()
	if len(before) == 0 {
		return
	}
	last := before[len(before)-1]
	for _, rule := range r.book.follow[last] {
		if bytes.HasSuffix(before, []byte(rule.after)) && (rule.where == nil || rule.where(before)) {
			m.want = expectation{rule: rule, kind: rule.expects}
			return
		}
	}
	var name secretName
	form, ok := cellForm, false
	switch last {
	case '-':
		if startsArmor(before) {
			*m.armor = keyArmor{open: true}
		}
	case '=', ':':
		if bytes.HasSuffix(before, []byte("Private-Lines:")) {
			*m.armor = keyArmor{open: true}
			return
		}
		name, form, ok = assignedName(before)
	case ',':
		form = quotedForm
		name, ok = listedName(before)
	case '>':
		name, ok = elementName(before)
	case '|':
		name, ok = columnName(before)
	case '\n':
		if n := len(before); n > 1 && before[n-2] < ' ' {
			form = lineForm
			name, ok = partName(before)
		}
	}
	if ok && m.want.kind != cookieLine {
		m.expectValue(name, form, last, quotedName(before))
	}
}

// expectValue expects the value of a name after a sign.
func (m *matcher) expectValue(name secretName, form valueForm, sign byte, quoted bool) {
	m.want = expectation{rule: values[name.value][form], name: name, form: form, sign: sign, quoted: quoted}
	switch {
	case name.value == isCookies:
		m.want.kind = cookieLine
	case name.value == isMeant && (form == bareForm || form == lineForm || form == envForm) && !quoted:
		m.want.kind = authorities
	case form == memberForm || form == entryForm:
		m.want.rule = values[name.value][bareForm]
	}
}

// expectField expects the value of a JSON string.
func (m *matcher) expectField(name secretName) {
	m.want = expectation{rule: values[name.value][fieldForm], name: name, form: fieldForm}
	if name.value == isCookies {
		m.want.kind = cookieLine
	}
}

// nextRule returns the rule of a secret that begins with u after last, or nil. It accepts spaces, quotes and
// signs before the secret. Any other character ends the expectation.
func (m *matcher) nextRule(u character) *rule {
	w, c, last := &m.want, u.c, m.lastPassed()
	w.gap++
	switch w.kind {
	case cookieLine:
		switch {
		case c == '\n' || c == '\r' || (c == '"' || c == '\'') && w.gap > 4:
			*w = expectation{}
		case last == '=':
			return cookieValue
		}
		return nil
	case authorities:
		return m.nextAuthority(u, last)
	case looseValue, looseQuote:
		if ((c == ' ' || c == '\t') && w.kind == looseValue || c == '"' || c == '\'') && w.gap <= maxSpaces {
			return nil
		}
	}
	rule := w.rule
	switch {
	case w.sign == 0: // after a context, the secret begins at once
	case (c == ' ' || c == '\t') && w.gap <= maxSpaces || w.folded && (c <= ' ' || c == '-' || c == '+') && w.gap <= maxIndent:
		return nil
	case c == '*' && w.sign == ':' && w.gap <= 3: // Markdown
		return nil
	case c == '=' && w.sign == ':', c == '>' && w.sign == '=' && w.gap == 1:
		w.sign, w.form, w.rule = c, bareForm, values[w.name.value][bareForm]
		return nil
	case (c == '>' || c == '|') && w.sign == ':' && !w.folded:
		w.folded, w.form = true, lineForm
		w.rule = values[w.name.value][lineForm]
		return nil
	case c == '"':
		w.rule, w.sign = values[w.name.value][w.quotedForm(memberForm, quotedForm)], 0
		w.quote = u.spelledWidth()
		return nil
	case c == '\'' || c == '`':
		w.rule, w.sign = values[w.name.value][w.quotedForm(entryForm, singleForm)], 0
		return nil
	}
	quoted := w.quoted && w.sign != 0
	*w = expectation{}
	if quoted {
		return nil
	}
	return rule
}

// quotedForm returns the form of a value in quotes, after a name in quotes or another one.
func (w *expectation) quotedForm(named, other valueForm) valueForm {
	if w.quoted && w.sign == ':' {
		return named
	}
	return other
}

// nextAuthority returns the rule of an authorization where one of its words begins.
func (m *matcher) nextAuthority(u character, last byte) *rule {
	w, c := &m.want, u.c
	rule := w.rule
	switch {
	case c == '\n' || strings.IndexByte(",;([{.", c) >= 0 || w.gap > maxIndent:
		*w = expectation{}
	case c == '"' || c == '\'' || c == '`':
		if w.words > 0 {
			*w = expectation{}
			return nil
		}
		w.kind, w.gap = oneValue, w.gap-1
		return m.nextRule(u)
	case c == ' ' || c == '\t' || c == '*' || c == '=' || c == '>' || last != ' ' && last != '\t' && last != ':' && last != '=' && last != '*' && last != '>':
	default:
		if w.words++; w.words == 2 {
			*w = expectation{}
		}
		return rule
	}
	return nil
}

// cookieValue is the value of a cookie in a text.
var cookieValue = valueRule(rule{shape: `[^\x00-\x20;,"'\\<>` + "`" + `]{8,}`, is: looksRandom}, "", false)

// quotedName reports whether a text ends with a name in quotes, and the sign of an assignment.
func quotedName(text []byte) bool {
	text = bytes.TrimRight(text[:len(text)-1], " \t")
	return bytes.HasSuffix(text, []byte(`"`)) || bytes.HasSuffix(text, []byte("'"))
}
