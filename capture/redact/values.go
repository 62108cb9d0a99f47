package redact

import (
	"bytes"
	"slices"
	"strings"
)

// valueTest is the condition that a name's value must meet.
type valueTest int

const (
	isRandom    valueTest = iota // unlikely to occur by chance
	isPlausible                  // may be a credential
	isMeant                      // any complete value of a JSON key, because a request may contain credentials for other servers
	isBasic                      // a name and a password, in base64
	isPassword                   // a complete value except a word or a placeholder; in code, only a random one
	isSession                    // random, but not a UUID
	isCode                       // random, but not part of a program
	isKeyPart                    // a secret number of a JSON Web Key
	isPhrase                     // at least 12 words from which a wallet's keys are derived
	isCookies                    // names and values, each of them a credential
	isArgument                   // random, and in quotes
	isPrivate                    // not a credential, but replaced in headers
)

// valueForm is the form in which a value is written.
type valueForm int

const (
	bareForm   valueForm = iota // without quotes, in any text
	pairForm                    // without quotes, after another name and value: in a connection string or a log line
	lineForm                    // without quotes, up to the end of a line: in YAML or in a form
	envForm                     // like lineForm, in an environment, which doesn't contain code
	cellForm                    // between tags, or in a column of a table
	rowForm                     // without quotes, in a row whose values are separated by commas or tabs
	quotedForm                  // in double quotes
	singleForm                  // in single quotes or backquotes
	memberForm                  // in double quotes, after a name in quotes: JSON in a text
	entryForm                   // in single quotes or backquotes, after a name in quotes
	fieldForm                   // all of a JSON string
	spokenForm                  // after a name in a sentence, a command or a table, without a sign
	valueForms
)

// deeperQuote is read instead of a quote that has more backslashes than the quote at the beginning of the value. Such
// a quote is part of the value.
const deeperQuote = '\x7f'

// passwordSigns are signs that passwords have, but names in programs don't.
const passwordSigns = "!#&@*+?%~^$="

const (
	inQuotes = "[^\\x00-\\x1f\"\\\\\\x7f]{8,}"
	cell     = "[^\\x00-\\x20\"'<>|\\\\\\x7f]{8,}"
	inSingle = "[^\\x00-\\x1f\"'`\\\\\\x7f]{8,}"
)

// values holds the rules for a value, by its test and its form.
var values = func() (all [isPrivate + 1][valueForms]*rule) {
	for test, is := range map[valueTest]struct{ bare, whole, field secretCheck }{
		isRandom: {looksRandom, looksRandom, looksRandom}, isPlausible: {maybeCredential, maybeCredential, maybeCredential},
		isMeant: {isCredentialWord, isCredentialWord, looksSecret}, isBasic: {isLogin, isLogin, isLogin},
		isPassword: {isRandomPassword, isPasswordOrRandom, isPasswordOrRandom}, isSession: {looksSession, looksSession, looksSession},
		isCode: {looksCode, looksCode, looksCode}, isKeyPart: {isNothing, looksKeyPart, looksKeyPart},
		isPhrase: {isNothing, isNothing, isNothing}, isCookies: {isNothing, isNothing, isNothing}, isPrivate: {isNothing, isNothing, isNothing},
		isArgument: {isSpoken, isSpoken, isSpoken},
	} {
		rules := &all[test]
		bare := func(text []byte) bool { return !isExpression(text) && !isTypeName(text) && is.bare(text) }
		spoken := func(text []byte) bool {
			constant := bytes.IndexByte(text, '_') > 0 && countTrailing(text, inVariable) == len(text)
			short := len(text) < 16 && !bytes.ContainsAny(text, passwordSigns)
			return containsRange(text, '0', '9') && hasLetter(text) && !constant && !short && !bytes.Contains(text, []byte("-----")) && looksRandom(text) && bare(text)
		}
		rules[spokenForm] = valueRule(rule{shape: loose + `{8,}`, fit: wordLen, is: spoken}, "([{", false)
		rules[bareForm] = valueRule(rule{shape: loose + `{8,}`, fit: bareLen, is: bare}, "([{", false)
		rules[pairForm] = rules[bareForm]
		rules[rowForm] = valueRule(rule{shape: "[^\\x00-\\x20\"'`,;<>\\\\\\x7f]{8,}", is: is.whole}, "([{", false)
		rules[quotedForm] = valueRule(rule{shape: inQuotes, is: inLine(is.bare)}, `"`, true)
		rules[singleForm] = valueRule(rule{shape: inSingle, is: inLine(is.bare)}, "'`", true)
		if test != isPassword {
			rules[lineForm] = valueRule(rule{shape: loose + `{8,}`, fit: bareLen, is: bare}, "([{", false)
			rules[envForm] = rules[lineForm]
			rules[cellForm] = valueRule(rule{shape: "[^\\x00-\\x20\"'`\\\\<>(){}[\\]|\\x7f-\\xff]{8,}", is: is.whole}, "< |", true)
			rules[memberForm] = valueRule(rule{shape: inQuotes, is: inLine(is.whole)}, `"`, true)
			rules[entryForm] = valueRule(rule{shape: inSingle, is: inLine(is.whole)}, "'`", true)
			rules[fieldForm] = valueRule(rule{shape: inQuotes, is: inLine(is.field)}, `"`, true)
			continue
		}
		rules[pairForm] = valueRule(rule{shape: "[^\\x00-\\x20\"'`<>|;&,(){}[\\]\\\\\\x7f]{8,}", is: isLine(is.whole)}, "([{|", false)
		rules[lineForm] = valueRule(rule{shape: `[^\x00-\x20"\x7f]{8,}`, is: isLine(is.whole), keep: true}, " \t\r\n\"\x1b", true)
		rules[envForm] = valueRule(rule{shape: `[^\x00-\x20"\x7f]{8,}`, is: is.whole, keep: true}, " \t\r\n\"\x1b", true)
		rules[cellForm] = valueRule(rule{shape: cell, is: is.whole}, "< |", true)
		rules[memberForm] = valueRule(rule{shape: `[^\x00-\x1f"]{8,}`, is: inLine(is.whole), keep: true}, `"`, true)
		rules[entryForm] = valueRule(rule{shape: "[^\\x00-\\x1f\"'`\\x7f]{8,}", is: inLine(is.whole), keep: true}, "'`", true)
		rules[fieldForm] = valueRule(rule{shape: `[^\r\n\x7f]{8,}`, is: inLine(is.whole), keep: true}, "", true)
	}
	for form := range all[isPhrase] {
		all[isPhrase][form] = valueRule(rule{shape: `[a-z ]{40,300}`, is: looksPhrase}, "", false)
	}
	return all
}()

func isNothing([]byte) bool { return false }

// isLine returns a check for a value that ends at the end of a line. The check rejects text that looks like code. To
// any other text, it applies the check in the parameter is.
func isLine(is secretCheck) secretCheck {
	return func(text []byte) bool {
		last := text[len(text)-1]
		return last != ',' && last != ';' && last != '\'' && last != '`' && !isTyped(text) && is(text)
	}
}

// isTyped reports whether a text is an expression in a program, or has one before its first bracket.
func isTyped(text []byte) bool {
	if n := bytes.IndexAny(text, "([{"); n > 0 && text[0] != ']' {
		literal := text[n] == '{' && n == len(text)-1 && 'A' <= text[0] && text[0] <= 'Z' && countTrailing(text[:n], inWord) == n
		return isWords(text[:n]) || isExpression(text[:n]) || text[n] == '(' || literal
	}
	return isExpression(text) || text[0] == '!' && isWords(bytes.TrimLeft(text, "!")) || text[0] == ']'
}

// valueRule completes the rule of a value. If must is set, the value must be followed by one of the ends; otherwise,
// none of them may follow it.
func valueRule(r rule, ends string, must bool) *rule {
	r.name, r.after = "value", "="
	r.ends = func(c byte) bool { return strings.IndexByte(ends, c) >= 0 == must }
	return compileRules([]*rule{&r})[0]
}

// expectation describes the secret that is expected because of the text before it.
type expectation struct {
	rule    *rule // if nil, no secret is expected
	kind    expectationKind
	name    secretName // the name that the value is assigned to
	form    valueForm
	sign    byte  // the sign of an assignment whose value has not begun
	quoted  bool  // the name is in quotes, as in JSON; a value without quotes is then not text
	folded  bool  // the value is on the next line, as in YAML after >-
	colour  bool  // a terminal's colour code, which may precede the value, has begun
	skips   byte  // the end of a tag, an anchor or a type that has begun before the value, or 0
	letter  bool  // the latest character may be the letter before a string in Python, Rust or C++
	gap     int   // number of characters since the context
	words   int   // number of words that were tried as an authorization
	depth   int8  // number of open brackets of a call
	list    bool  // the values of a list are expected
	closes  bool  // a value of the list was replaced, and its quote has not ended
	rest    uint8 // the index of the rest of a table's entry that is being compared
	matched uint8 // number of its characters that were read
	waits   bool  // the rest of a context has not been read
	far     bool  // more words may be between a name and its value
	quote   int   // length of the quote before the value
}

type expectationKind uint8

const (
	oneValue    expectationKind = iota
	looseValue                  // one value, which may follow spaces and quotes
	looseQuote                  // one value, which may follow a quote
	cookieLine                  // each value of a line
	authorities                 // the first two words: a scheme and a credential
	spokenValue                 // the next word, or the one after a word of linkWords
	lineWords                   // each word in the rest of a line: a command
	mapEntries                  // each value of a map: the data of a Secret in Kubernetes
	arguments                   // each string among the arguments of a call
	nextLine                    // the beginning of the next line
)

// escape is the first character of a terminal's colour code. The last one is m.
const escape = '\x1b'

const (
	maxSpaces = 16 // maximum number of spaces before a value
	maxIndent = 64 // maximum number of characters before a value on the next line
)

// expectSecret checks whether the passed text ends with a context or with an assignment to a credential.
func (m *matcher) expectSecret(r *Redactor) {
	before := m.recentTail()
	if len(before) == 0 || m.want.waits {
		return
	}
	last := before[len(before)-1]
	if rule := r.book.ruleAfter(before, m.gram); rule != nil && (m.want.kind < lineWords || rule.where != nil || rule.rests != nil) {
		m.want = expectation{rule: rule, kind: rule.expects, name: secretName{called: rule.name}}
		m.want.beginValue(slices.Contains(rule.rests, "") || rule.rests == nil, last)
		return
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
	case ',', '\t', '\r':
		m.beginTable(before)
		if form = quotedForm; last == ',' {
			name, ok = listedName(before)
		} else if last == '\t' {
			form = spokenForm
			name, ok = spokenName(before)
		}
	case '(', ' ':
		m.beginInsert(before)
		name, ok = spokenName(before)
		form = spokenForm
	case ';':
		m.beginTable(before)
		if text, escaped := bytes.CutSuffix(before, []byte("&gt;")); escaped {
			name, ok = elementName(slices.Concat(bytes.ReplaceAll(text, []byte("&lt;"), []byte("<")), []byte(">")))
		}
	case '>':
		if name, ok = elementName(before); !ok {
			name, ok = labelName(before)
		}
	case '"', '\'':
		if form = spokenForm; bytes.HasSuffix(before[:len(before)-1], []byte("(")) {
			name, ok = spokenName(append(bytes.Clone(before[:len(before)-2]), ' '))
		}
	case '|':
		m.beginTable(before)
		if name, ok = columnName(before); bytes.Count(lastLine(before), []byte("|")) == 1 {
			form = lineForm
		}
	case '\n':
		m.beginTable(before)
		m.beginInsert(before)
		if n := len(before); n > 1 && before[n-2] < ' ' {
			form = lineForm
			name, ok = partName(before)
		} else {
			form = spokenForm
			if name, ok = spokenName(before); n > 1 && before[n-2] == ':' { // more lines may be between
				last = ':'
			}
		}
	}
	if name.value == isArgument {
		form = quotedForm
	}
	if form == spokenForm && m.want.kind == oneValue && (m.want.sign == ':' || m.want.sign == '=') { // a space after the sign
		return
	}
	if ok && m.want.kind != cookieLine && (m.want.kind < lineWords || form != spokenForm && last != ',') {
		m.expectValue(name, form, last, last != '>' && (quotedName(before) || name.value == isArgument))
	}
}

// beginValue begins an expectation after a complete context that ends with the character last, or waits for the rest of the
// context.
func (w *expectation) beginValue(whole bool, last byte) {
	if w.waits = !whole; whole {
		w.gap, w.quoted, w.depth = 0, last == '"', 0
		if last == '(' {
			w.depth = 1
		}
	}
}

// expectValue sets the expectation for the value of a name after a sign.
func (m *matcher) expectValue(name secretName, form valueForm, sign byte, quoted bool) {
	m.want = expectation{rule: values[name.value][form], name: name, form: form, sign: sign, quoted: quoted}
	switch {
	case name.value == isCookies:
		m.want.kind = cookieLine
	case form == spokenForm:
		m.want.kind = spokenValue
	case name.value == isMeant && (form == bareForm || form == lineForm || form == envForm) && !quoted:
		m.want.kind = authorities
	case form == memberForm || form == entryForm:
		m.want.rule = values[name.value][bareForm]
	}
}

// expectField sets the expectation for the value of a name in a JSON string.
func (m *matcher) expectField(name secretName) {
	m.want = expectation{rule: values[name.value][fieldForm], name: name, form: fieldForm}
	if name.value == isCookies {
		m.want.kind = cookieLine
	}
}

// nextRule returns the rule for a secret that begins with the character u, or nil. Spaces, quotes and signs may
// precede the secret. Any other character ends the expectation.
func (m *matcher) nextRule(u character) *rule {
	w, c, last := &m.want, u.c, m.lastPassed()
	if w.waits {
		whole, ok := w.followsRest(c)
		if !ok {
			*w = expectation{}
			return nil
		}
		w.beginValue(whole, c)
		return nil
	}
	w.gap++
	switch w.kind {
	case cookieLine:
		switch {
		case c == '\n' || c == '\r' || (c == '"' || c == '\'') && w.gap > 4:
			*w = expectation{}
		case last == '=' && !isAnalytics(m.recentTail()):
			return cookieValue
		}
		return nil
	case authorities:
		return m.nextAuthority(u, last)
	case spokenValue:
		return m.nextSpoken(c, last)
	case lineWords:
		return m.nextWord(c, last)
	case arguments:
		return m.nextArgument(c, last)
	case mapEntries:
		return m.nextEntry(c, last)
	case nextLine:
		return m.nextBelow(c)
	case looseValue, looseQuote:
		if ((c == ' ' || c == '\t') && w.kind == looseValue || c == '"' || c == '\'' || c == '`') && w.gap <= maxSpaces {
			return nil
		}
	}
	return m.nextSign(u)
}

// nextSign reads a character between the name of a credential and its value: spaces, signs, brackets and quotes. It
// returns the rule for the value that begins with the character, or nil if none begins.
func (m *matcher) nextSign(u character) *rule {
	w, c := &m.want, u.c
	rule := w.rule
	if w.letter {
		if w.letter = false; c != '"' && c != '\'' {
			*w = expectation{}
			return nil
		}
	}
	switch {
	case w.closes:
		switch c {
		case '\n':
			*w = expectation{}
		case '"', '\'', '`':
			w.closes, w.sign, w.gap = false, '=', 0
		}
		return nil
	case w.list && (c == ',' || c == '\n') && w.gap <= maxSpaces:
		return nil
	}
	switch {
	case w.skips != 0:
		if c == w.skips || c == '\n' {
			w.skips, w.gap = 0, 0
		}
		return nil
	case w.colour || c == escape && w.gap <= maxSpaces:
		w.colour = c != 'm' && w.gap <= maxIndent
		return nil
	case w.sign == 0: // after a context, the secret begins immediately
	case c == ' ' && w.depth == 1:
		w.quoted, w.depth = true, 0
		return nil
	case (c == ' ' || c == '\t') && w.gap <= maxSpaces || w.folded && (c <= ' ' || c == '-' || c == '+') && w.gap <= maxIndent:
		return nil
	case c == '[' && w.gap <= 3:
		w.list = true
		return nil
	case c == '*' && w.sign == ':' && w.gap <= 3, c == '{' && w.gap <= 3, c == '(' && w.sign == '=' && w.gap <= 2: // Markdown, a list or braces
		return nil
	case c == '=' && w.sign == '=' && w.gap <= 2: // a comparison, with a literal after a space
		w.depth = 1
		return nil
	case c == '\n' && w.sign == '>' && w.gap <= 2, c == '\n' && w.sign == ':' && !w.quoted && !w.folded: // on the next line
		w.folded, w.rule = true, values[w.name.value][spokenForm]
		return nil
	case w.folded && c == '`':
		return nil
	case (c == '&' || c == '!') && w.sign == ':' && !w.quoted && !w.folded: // an anchor or a tag in YAML
		w.skips = ' '
		return nil
	case c == '<' && w.sign == ':' && !w.quoted && w.gap <= maxSpaces: // an element of HTML
		w.skips = '>'
		return nil
	case c == '(' && w.sign == ':' && w.gap <= 2: // a type of Go
		w.skips = ')'
		return nil
	case c == 's' && w.sign == '>' && w.folded: // a type of PHP, as in string(20) "…"
		w.skips = ' '
		return nil
	case c == '=' && w.sign == ':', c == '>' && w.sign == '=' && w.gap == 1:
		w.sign, w.form, w.rule = c, bareForm, values[w.name.value][bareForm]
		return nil
	case (c == '>' || c == '|') && w.sign == ':' && !w.folded:
		w.folded, w.form = true, lineForm
		w.rule = values[w.name.value][lineForm]
		return nil
	case c == '"':
		w.rule, w.sign, w.form = values[w.name.value][w.quotedForm(memberForm, quotedForm)], 0, w.quotedForm(memberForm, quotedForm)
		w.quote = u.spelledWidth()
		return nil
	case c == '\'' || c == '`':
		w.rule, w.sign = values[w.name.value][w.quotedForm(entryForm, singleForm)], 0
		return nil
	}
	quoted := w.quoted && w.sign != 0
	switch w.letter = w.sign != 0 && strings.IndexByte("fFrRbBuUL", c) >= 0; {
	case w.letter:
	case w.list && w.sign == 0:
		*w = expectation{rule: w.rule, name: w.name, list: true, closes: true}
	default:
		*w = expectation{}
	}
	if quoted {
		return nil
	}
	return rule
}

// linkWords are words between the name of a credential and its value in a sentence.
var linkWords = wordSet("created rotated issued should must will by with is was to as value provided set been has now changed reset updated from generated successfully be ist lautet war est es era son eh it")

// farWords are words after the name of a credential that say what it is for. More words may follow them, as in "the
// password for the database is".
var farWords = wordSet("you we it that which i for of from für pour para per de del da do von zu с для")

// nextSpoken returns the rule for a value without a sign before it, at the beginning of one of the next words.
func (m *matcher) nextSpoken(c, last byte) *rule {
	w := &m.want
	between := func(c byte) bool {
		return c >= 0x80 || strings.IndexByte(" \t\r\"'`*-=<>|?:#([\\", c) >= 0 || c == ')' && w.far || c == '.' && (last == '.' || last == ' ') || c == '\n' && (w.sign == ':' || w.sign == '\n' && (last == '-' || last == '='))
	}
	switch {
	case w.gap > maxIndent || c == '\n' && w.words > 0 || !between(c) && !alnum[c]:
		*w = expectation{}
	case c == '(':
		w.far = true
	case c <= ' ' || between(c):
	case w.gap == 1 || between(last) || last <= ' ':
		tail := m.recentTail()
		_, word := splitWord(tail)
		w.far = w.far || w.words == 1 && farWords[word]
		w.words++
		switch {
		case w.words == 1 || linkWords[word] || word != "" && word[0] <= '9' || (w.far || w.rule.rests != nil) && followsSign(tail):
			return w.rule
		case !w.far || w.words > 6:
			*w = expectation{}
		}
	}
	return nil
}

// followsSign reports whether a text ends with a colon of any alphabet, before spaces and quotes.
func followsSign(text []byte) bool {
	text = text[:len(text)-countTrailing(text, spaceOrQuote)]
	return bytes.HasSuffix(text, []byte(":")) || bytes.HasSuffix(text, []byte("："))
}

var spaceOrQuote = classOf(" \"'`*")

// quotedForm returns the form of a value in quotes. It returns the parameter named if the value follows a name in
// quotes and a colon, and the parameter other if not.
func (w *expectation) quotedForm(named, other valueForm) valueForm {
	if w.quoted && w.sign == ':' {
		return named
	}
	return other
}

// nextAuthority returns the rule for an authorization at the beginning of one of its words, and nil elsewhere.
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

// cookieValue is the rule for the value of a cookie in a text.
var cookieValue = valueRule(rule{shape: `[^\x00-\x20;,"'\\<>(){}[\]?` + "`" + `]{8,}`, is: looksRandom}, "([{?", false)

// isAnalytics reports whether a text ends with the name of a cookie that only counts visits, and the sign after the
// name.
func isAnalytics(text []byte) bool {
	name := text[:len(text)-1]
	return bytes.HasPrefix(name[len(name)-countTrailing(name, inName):], []byte("__utm"))
}
