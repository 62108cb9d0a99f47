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

const (
	inQuotes = "[^\\x00-\\x1f\"\\\\\\x7f]{8,}"
	inSingle = "[^\\x00-\\x1f\"'`\\\\\\x7f]{8,}"
)

// values holds the rules for a value, by its test and its form.
var values = func() (all [isPrivate + 1][valueForms]*rule) {
	for test, is := range map[valueTest]struct{ bare, whole, field secretCheck }{
		isRandom: {looksRandom, looksRandom, looksRandom}, isPlausible: {maybeCredential, maybeCredential, maybeCredential},
		isMeant: {isCredentialWord, isCredentialWord, looksSecret}, isBasic: {isBasicAuth, isBasicAuth, isBasicAuth},
		isPassword: {isRandomPassword, isPasswordOrRandom, isPasswordOrRandom}, isSession: {looksSession, looksSession, looksSession},
		isCode: {looksCode, looksCode, looksCode}, isKeyPart: {isNothing, looksKeyPart, looksKeyPart},
		isPhrase: {isNothing, isNothing, isNothing}, isCookies: {isNothing, isNothing, isNothing}, isPrivate: {isNothing, isNothing, isNothing},
	} {
		rules := &all[test]
		bare := func(text []byte) bool { return !isExpression(text) && !isTypeName(text) && is.bare(text) }
		spoken := func(text []byte) bool {
			constant := bytes.IndexByte(text, '_') > 0 && countTrailing(text, inVariable) == len(text)
			return containsRange(text, '0', '9') && hasLetter(text) && !constant && looksRandom(text) && bare(text)
		}
		rules[spokenForm] = valueRule(rule{shape: visible + `{16,}`, fit: lenWithoutFullStop, is: spoken}, "([{", false)
		rules[bareForm] = valueRule(rule{shape: visible + `{8,}`, fit: lenWithoutFullStop, is: bare}, "([{", false)
		rules[pairForm] = rules[bareForm]
		rules[rowForm] = valueRule(rule{shape: "[^\\x00-\\x20\"'`,;<>\\\\\\x7f]{8,}", is: is.whole}, "([{", false)
		rules[quotedForm] = valueRule(rule{shape: inQuotes, is: inLine(is.bare)}, `"`, true)
		rules[singleForm] = valueRule(rule{shape: inSingle, is: inLine(is.bare)}, "'`", true)
		if test != isPassword {
			rules[lineForm] = valueRule(rule{shape: visible + `{8,}`, fit: lenWithoutFullStop, is: bare}, "([{", false)
			rules[envForm] = rules[lineForm]
			rules[cellForm] = valueRule(rule{shape: visible + `{8,}`, fit: lenWithoutFullStop, is: is.whole}, "([{", false)
			rules[memberForm] = valueRule(rule{shape: inQuotes, is: inLine(is.whole)}, `"`, true)
			rules[entryForm] = valueRule(rule{shape: inSingle, is: inLine(is.whole)}, "'`", true)
			rules[fieldForm] = valueRule(rule{shape: inQuotes, is: inLine(is.field)}, `"`, true)
			continue
		}
		rules[pairForm] = valueRule(rule{shape: "[^\\x00-\\x20\"'`<>|;&,(){}[\\]\\\\\\x7f]{8,}", is: isLine(is.whole)}, "([{|", false)
		rules[lineForm] = valueRule(rule{shape: `[^\x00-\x20"\x7f]{8,}`, is: isLine(is.whole), keep: true}, " \t\r\n\"", true)
		rules[envForm] = valueRule(rule{shape: `[^\x00-\x20"\x7f]{8,}`, is: is.whole, keep: true}, " \t\r\n\"", true)
		rules[cellForm] = valueRule(rule{shape: "[^\\x00-\\x20\"'<>|\\\\\\x7f]{8,}", is: is.whole}, "< |", true)
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

// assignedName returns the secretName to which a value is assigned, and the form of the value. The text must end like
// an assignment: NAME=, name: , "name":, &name=. The result ok is false if the name isn't that of a secret.
func assignedName(text []byte) (known secretName, form valueForm, ok bool) {
	sign := text[len(text)-1]
	rest := text[:len(text)-1]
	rest = trimColour(rest[:len(rest)-countTrailing(rest, beforeSign)])
	quoted := len(rest) > 0 && strings.IndexByte("\"'`]", rest[len(rest)-1]) >= 0
	if quoted {
		rest = bytes.TrimRight(rest[:len(rest)-1], "\"'`")
	}
	n := countTrailing(rest, inName)
	if colour := bytes.IndexByte(rest[len(rest)-n:], 'm'); colour > 0 && colour < 6 && bytes.HasSuffix(rest[:len(rest)-n], []byte("\x1b[")) {
		n -= colour + 1
	}
	name := rest[len(rest)-n:]
	if n == 0 {
		return secretName{}, 0, false
	}
	before := rest[:len(rest)-n]
	scope := inText
	if n := len(before); sign == '=' && n > 0 && (before[n-1] == '?' || before[n-1] == '&' || before[n-1] == ';' && bytes.EqualFold(name, []byte("jsessionid"))) {
		scope = inRequest
	} else if quoted && sign == ':' {
		scope, form = inKey, memberForm
	}
	known, ok = credentialName(name, scope)
	if !ok && scope == inText && sign == ':' && n > 3 && name[n-1] == 's' && endsName(name[:n-1]) && isLineStart(before, name, sign, true) { // api_keys:
		known, ok = credentialName(name, inKey)
	}
	if !ok && scope == inText && n > 3 && name[n-1]|0x20 == 's' && endsName(name[:n-1]) { // tokens: ["…"]
		known, ok = credentialName(name[:n-1], inText)
	}
	if !ok && isValueName(name) {
		known, ok = pairedName(before)
	}
	if n := len(before); !ok && scope == inKey && n > 1 && before[n-1] == ' ' { // "API Key":
		n -= countTrailing(before, inPhrase)
		if n > 0 && (before[n-1] == '"' || before[n-1] == '\'') {
			known, ok = credentialName(rest[n:], inKey)
		}
	}
	if n := len(before); !ok && scope == inText && sign == ':' && n > 1 && sortOf(name[0]) > 0 && before[n-1] == ' ' { // API key:
		n -= 1 + countTrailing(before[:n-1], inName)
		if known, ok = credentialName(rest[n:], inText); ok {
			name, before = rest[n:], rest[:n]
		}
	}
	switch {
	case !ok:
	case sign == ':' && string(name) == "PASS" && len(bytes.TrimLeft(before[bytes.LastIndexByte(before, '\n')+1:], " \t")) > 0: // PASS is the result of a test, not a password
		ok = false
	case scope == inRequest && known.value != isCookies:
		known.value = isPlausible
	case scope == inText && (sign == '=' || known.end != "pass" || len(name) > len("pass")) && isLineStart(before, name, sign, len(rest)+1 == len(text)):
		if form = lineForm; sign == '=' {
			form = envForm
		}
	case scope == inText && sign == '=' && !quoted && followsPair(before) && len(rest)+1 == len(text):
		form = pairForm
	}
	return known, form, ok && !isResourceName(known, before, sign)
}

// beforeSign are characters between a name, or the quote after it, and the sign of an assignment.
var beforeSign = classOf(" \t*?|")

// inPhrase are the characters of a name of several words.
var inPhrase = classOf("_-. ", "az", "AZ", "09")

// trimColour removes a terminal's colour code from the end of a text.
func trimColour(text []byte) []byte {
	if n := len(text); n > 0 && text[n-1] == 'm' {
		if at := bytes.LastIndexByte(text, escape); at > 0 && len(text)-at <= 6 {
			return text[:at]
		}
	}
	return text
}

// isLineStart reports whether a name begins a line of an environment or of YAML. If it does, the value is the rest of
// the line.
func isLineStart(before, name []byte, sign byte, tight bool) bool {
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	capitals := !containsRange(name, 'a', 'z')
	if sign == '=' && capitals && tight && (len(line) == 0 || strings.IndexByte(" \t\r:\"", line[len(line)-1]) >= 0) {
		return true
	}
	for _, prefix := range []string{"export ", "set ", "$env:", "ENV ", "ARG ", "setx "} {
		line = bytes.TrimSuffix(line, []byte(prefix))
	}
	if sign == '=' && !capitals && bytes.HasPrefix(line, []byte(" ")) || !tight && sign == '=' {
		return false
	}
	return len(line) == countTrailing(line, linePrefix)
}

// followsPair reports whether a text ends with name=value and a separator, as before the second name in
// User=app;Password= or in user=app password=.
func followsPair(before []byte) bool {
	n := len(before)
	if n < 4 || before[n-1] != ' ' && before[n-1] != ';' {
		return false
	}
	pair := bytes.TrimRight(before, " ;")
	pair = pair[bytes.LastIndexAny(pair, " ;\n\t")+1:]
	name, value, ok := bytes.Cut(pair, []byte("="))
	return ok && len(value) > 0 && countTrailing(name, inName) > 0 && !bytes.ContainsAny(value, "(){}[]=<>\"'`")
}

// isResourceName reports whether the name is a part of a longer name whose parts are separated by colons, as in
// arn:aws:secretsmanager:us-east-1:123456789012:secret:. The token in the URL of a badge is also public.
func isResourceName(known secretName, before []byte, sign byte) bool {
	return sign == ':' && known.end == "secret" && bytes.HasSuffix(before, []byte(":")) || known.end == "token" && bytes.HasSuffix(before, []byte("badge.svg?"))
}

// linePrefix is the set of characters that programs write before each line of a file.
var linePrefix = classOf(" \t-+>#|*:L\xe2\x86\x92\x94\x82", "09")

// valueNames are the names of fields that contain the value for a name in another field, and nameNames those of fields
// that contain the name. The last ones are arguments of tools that type a text into a field of a page.
var (
	valueNames = strings.Fields("value val text parametervalue")
	nameNames  = strings.Fields("name key label header field parameterkey optionname selector element")
)

// isValueName reports whether a field with this name contains the value for a name in another field.
func isValueName(name []byte) bool { return isOneOf(valueNames, name) }

// isNameName reports whether a field with this name contains the name of the value in another field.
func isNameName(name []byte) bool { return isOneOf(nameNames, name) }

// isOneOf reports whether a name is in a list, without regard to case.
func isOneOf(list []string, name []byte) bool {
	return slices.ContainsFunc(list, func(one string) bool { return len(one) == len(name) && strings.EqualFold(one, string(name)) })
}

// pairedName returns the secretName in the field before a value. Examples are "name":"x-api-key","value": and the
// line name: DB_PASSWORD above a line that begins with value:. The result ok is false if there is none.
func pairedName(text []byte) (known secretName, ok bool) {
	if known, ok = outerName(text); ok {
		return known, true
	}
	text = bytes.TrimRight(bytes.TrimSuffix(text, []byte("android:")), " \t\r\n\"',")
	n := countTrailing(text, inName)
	name := text[len(text)-n:]
	text = bytes.TrimRight(text[:len(text)-n], " \t\"':=")
	field := text[len(text)-countTrailing(text, inName):]
	if n == 0 || !isNameName(field) && (string(field) != "type" || string(name) != "password") {
		return secretName{}, false
	}
	return headerName(name)
}

// outerName returns the secretName of the object or section that a text is in, as in "password": {"value": and in
// [token] above value =. The result ok is false if there is none.
func outerName(text []byte) (known secretName, ok bool) {
	outer := bytes.TrimRight(text, " \t\r\n\"'")
	if len(outer) == 0 {
		return secretName{}, false
	}
	switch last := outer[len(outer)-1]; {
	case last == ',' && text[len(text)-1] == '"':
		if outer = outer[:max(0, bytes.LastIndexAny(outer, "{}"))]; len(text) == len(outer) || text[len(outer)] != '{' {
			return secretName{}, false
		}
	case last == '{' || (last == ':' || last == ']') && bytes.IndexByte(text[len(outer):], '\n') >= 0:
		outer = outer[:len(outer)-1]
	default:
		return secretName{}, false
	}
	outer = bytes.TrimRight(outer, " \t\r\n\"':")
	return credentialName(outer[len(outer)-countTrailing(outer, inName):], inKey)
}

// headerName returns the secretName of a name that may be the name of a header. The result ok is false if the
// value of such a name is not a credential.
func headerName(name []byte) (known secretName, ok bool) {
	if known, ok = credentialName(name, inKey); !ok && bytes.IndexByte(name, '-') > 0 {
		known, ok = credentialName(name, inRequest)
	}
	return known, ok
}

// listedName returns the secretName of a quoted name at the end of text, before a comma, e.g. in ["x-api-key", or in
// set("x-api-key", and a value. The result ok is false if the text doesn't end with the name of a secret.
func listedName(text []byte) (known secretName, ok bool) {
	text = bytes.TrimRight(text[:len(text)-1], " ")
	if n := len(text); n == 0 || text[n-1] != '"' && text[n-1] != '\'' {
		return secretName{}, false
	}
	text = bytes.TrimRight(text, "\"'")
	n := countTrailing(text, inName)
	if before := text[:len(text)-n]; n == 0 || !bytes.HasSuffix(before, []byte(`"`)) && !bytes.HasSuffix(before, []byte("'")) {
		return secretName{}, false
	}
	return headerName(text[len(text)-n:])
}

// elementName returns the secretName of an XML element whose start tag is at the end of a text. The result ok is
// false if there is none.
func elementName(text []byte) (known secretName, ok bool) {
	text = text[:len(text)-1]
	start := bytes.LastIndexByte(text, '<') + 1
	before := text[:max(0, start-1)]
	tag, attributes, _ := bytes.Cut(text[start:], []byte(" "))
	if name := tag[bytes.IndexByte(tag, ':')+1:]; len(name) > 0 && countTrailing(name, inName) == len(name) {
		known, ok = credentialName(name, inText)
	}
	for _, attribute := range []string{`name="`, `key="`} {
		if name, named := bytes.CutPrefix(attributes, []byte(attribute)); named && !ok { // <property name="password">
			name, _, _ = bytes.Cut(name, []byte(`"`))
			known, ok = credentialName(name, inText)
		}
	}
	if outer := bytes.TrimRight(before, " \t\r\n"); !ok && isValueName(tag) && bytes.HasSuffix(outer, []byte(">")) { // <setting name="password"><value>
		return elementName(outer)
	}
	return known, ok
}

// columnName returns the secretName of the table column at the end of a text: | password |. The result ok is false if
// there is none.
func columnName(text []byte) (known secretName, ok bool) {
	start := bytes.LastIndexByte(text, '\n') + 1
	row := bytes.TrimRight(text[:len(text)-1], " *`")
	n := countTrailing(row, inName)
	if n == 0 || start == 0 && len(text) == tailSize || !bytes.HasSuffix(bytes.TrimRight(row[:len(row)-n], " *`"), []byte("|")) {
		return secretName{}, false
	}
	if known, ok = credentialName(row[len(row)-n:], inText); !ok {
		return secretName{}, false
	}
	return known, bytes.TrimLeft(text[start:], " \t0123456789-+>→:")[0] == '|'
}

// tableRow is the current row of a table with a column of credentials: lines of values with commas or tabs between
// them, or the rows of an INSERT in SQL.
type tableRow struct {
	sign    byte       // the sign between values, or 0 if no table is being read
	name    secretName // the name of the column
	column  int        // number of the column
	columns int        // number of all columns, if known
	at      int        // number of the current value
	head    bool       // the names of the columns are being read
	sql     bool
	depth   int  // number of open brackets in SQL
	begins  bool // the next character begins a value
	loose   bool // the names may be words of a sentence
	cells   bool // the row has values, and is not a line between rows
	quote   byte // the quote before the current value, or 0
}

// beginTable begins a table if a text ends with names of columns and a sign, and the last name is that of a credential.
func (m *matcher) beginTable(text []byte) {
	n := len(text) - 1
	start := bytes.LastIndexByte(text[:n], '\n') + 1
	line := text[start:n]
	if size := countTrailing(line, inHeader); size < len(line) && size > 0 && line[len(line)-size-1] == ':' && bytes.HasPrefix(bytes.TrimLeft(line[len(line)-size:], " "), []byte(`"`)) { // in JSON
		line, start = bytes.TrimLeft(line[len(line)-size:], " ")[1:], 1
	}
	if m.row != nil || len(line) == 0 || start == 0 && len(text) == tailSize || countTrailing(line, inHeader) < len(line) {
		return
	}
	sign := byte(',')
	for _, other := range []byte("\t|;") {
		if text[n] == other || bytes.IndexByte(line, other) > 0 || other == '|' && line[0] == other {
			sign = other
		}
	}
	if sign != '|' && isProse(line, sign) {
		return
	}
	column := bytes.Count(line, []byte{sign})
	name, ok := credentialName(bytes.Trim(line[bytes.LastIndexByte(line, sign)+1:], "\" "), inText)
	if ends := text[n] == '\n' || text[n] == '\r'; ok && (!ends || column > 0) && (ends || text[n] == sign) {
		m.row = &tableRow{sign: sign, name: name, column: column, at: column, head: true, loose: sign == '|' || sign == ';' || bytes.IndexByte(line, ' ') >= 0}
		m.row.nextRule(text[n])
	}
}

// isProse reports whether a line with signs has spaces that the names of columns don't have.
func isProse(line []byte, sign byte) bool {
	if bytes.IndexByte(line, ' ') < 0 {
		return false
	}
	long := slices.ContainsFunc(bytes.Split(line, []byte{sign}), func(name []byte) bool { return bytes.Count(bytes.Trim(name, " "), []byte(" ")) > 2 })
	return sign != ',' || line[0] == ' ' || long
}

var space = classOf(" ")

// beginInsert begins a table if a text ends with names of columns in brackets and VALUES, and one of the names is
// that of a credential. A bracket, a space or a line break follows VALUES.
func (m *matcher) beginInsert(text []byte) {
	depth := bytes.Count(text[len(text)-1:], []byte("("))
	text = text[:len(text)-1]
	text = text[:len(text)-countTrailing(text, space)]
	n := len(text) - len("VALUES")
	if n < 0 || text[len(text)-1]|0x20 != 's' || !bytes.EqualFold(text[n:], []byte("VALUES")) {
		return
	}
	text, ok := bytes.CutSuffix(bytes.TrimRight(text[:n], " \r\n\t"), []byte(")"))
	open := bytes.LastIndexByte(text, '(')
	if !ok || open < 0 {
		return
	}
	for i, column := range bytes.Split(text[open+1:], []byte(",")) {
		if name, ok := credentialName(bytes.Trim(column, " \r\n\t\"`[]"), inText); ok {
			m.row = &tableRow{sign: ',', name: name, column: i, sql: true, depth: depth, begins: true}
			return
		}
	}
}

// nextRule returns the rule for a credential that begins with the character c, or nil.
func (t *tableRow) nextRule(c byte) *rule {
	begins := t.begins
	t.begins = false
	switch {
	case t.quote != 0 && c == t.quote:
		t.quote = 0
		return nil
	case t.quote != 0:
	case begins && c == ' ' && !t.sql && !t.head:
		t.begins = true
		return nil
	case begins && (c == '"' || c == '\''):
		t.quote, t.begins = c, true
		return nil
	case c == t.sign && t.depth < 2:
		t.at, t.begins = t.at+1, true
		return nil
	case t.sql:
		t.nextBracket(c, begins)
		return nil
	case c == '\n' && t.sign == '|' && !t.cells && !t.head: // a line between the header and the rows
		t.at, t.begins = 0, true
		return nil
	case c == '\n':
		t.cells = false
		if t.head {
			t.columns = t.at + 1
		}
		if t.at+1 != t.columns || t.columns == 1 || t.head && begins && t.sign != '|' {
			*t = tableRow{}
			return nil
		}
		t.at, t.begins, t.head = 0, true, false
		return nil
	case t.head:
		if !inHeader[c] && c != '\r' {
			*t = tableRow{}
		}
		return nil
	}
	t.cells = t.cells || strings.IndexByte("-+=: \r", c) < 0
	switch {
	case t.at != t.column || !begins || t.head:
		return nil
	case t.loose:
		return values[t.name.value][spokenForm]
	}
	form := rowForm
	switch t.quote {
	case '"':
		form = memberForm
	case '\'':
		form = entryForm
	}
	return values[t.name.value][form]
}

// nextBracket reads a character outside quotes in SQL.
func (t *tableRow) nextBracket(c byte, begins bool) {
	switch {
	case c == '(':
		if t.depth++; t.depth == 1 {
			t.at, t.begins = 0, true
		}
	case c == ')':
		t.depth--
	case c <= ' ':
		t.begins = begins
	case c == ';' || t.depth < 1:
		*t = tableRow{}
	}
}

// inHeader is the set of characters of names of columns and the signs between them.
var inHeader = classOf("_-.,;|\"\t ", "az", "AZ", "09")

// partName returns the secretName of a part of a multipart form, if a text ends with the headers of that part.
// Otherwise, the result ok is false.
func partName(text []byte) (known secretName, ok bool) {
	if body := bytes.TrimRight(text, "\r\n"); len(body) == 0 || len(text)-len(body) < 2 || body[len(body)-1] != '"' && !alnum[body[len(body)-1]] {
		return secretName{}, false
	}
	if !bytes.Contains(text, []byte(`form-data; name=`)) { // faster than LastIndex
		return secretName{}, false
	}
	head := bytes.LastIndex(text, []byte(`form-data; name=`))
	body := bytes.TrimRight(text, "\r\n")
	if bytes.Count(text[len(body):], []byte("\n")) != 2 {
		return secretName{}, false
	}
	name, _, _ := bytes.Cut(bytes.TrimLeft(text[head+len(`form-data; name=`):], `"`), []byte(`"`))
	name, _, _ = bytes.Cut(name, []byte("\r"))
	return credentialName(name, inRequest)
}

// expectation describes the secret that is expected because of the text before it.
type expectation struct {
	rule   *rule // if nil, no secret is expected
	kind   expectationKind
	name   secretName // the name that the value is assigned to
	form   valueForm
	sign   byte // the sign of an assignment whose value has not begun
	quoted bool // the name is in quotes, as in JSON; a value without quotes is then not text
	folded bool // the value is on the next line, as in YAML after >-
	colour bool // a terminal's colour code, which may precede the value, has begun
	tag    bool // an anchor or a tag of YAML, which may precede the value, has begun
	letter bool // the latest character may be the letter before a string in Python, Rust or C++
	gap    int  // number of characters since the context
	words  int  // number of words that were tried as an authorization
	quote  int  // length of the quote before the value
}

type expectationKind uint8

const (
	oneValue    expectationKind = iota
	looseValue                  // one value, which may follow spaces and quotes
	looseQuote                  // one value, which may follow a quote
	cookieLine                  // each value of a line
	authorities                 // the first two words: a scheme and a credential
	spokenValue                 // the next word, or the one after a word of linkWords
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
	if len(before) == 0 {
		return
	}
	last := before[len(before)-1]
	if rule := r.book.ruleAfter(before, m.gram); rule != nil {
		m.want = expectation{rule: rule, kind: rule.expects}
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
		name, ok = elementName(before)
	case '"', '\'':
		if form = spokenForm; bytes.HasSuffix(before[:len(before)-1], []byte("(")) {
			name, ok = spokenName(append(bytes.Clone(before[:len(before)-2]), ' '))
		}
	case '|':
		m.beginTable(before)
		name, ok = columnName(before)
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
	if ok && m.want.kind != cookieLine {
		m.expectValue(name, form, last, last != '>' && quotedName(before))
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
	case looseValue, looseQuote:
		if ((c == ' ' || c == '\t') && w.kind == looseValue || c == '"' || c == '\'' || c == '`') && w.gap <= maxSpaces {
			return nil
		}
	}
	rule := w.rule
	if w.letter {
		if w.letter = false; c != '"' && c != '\'' {
			*w = expectation{}
			return nil
		}
	}
	switch {
	case w.tag:
		w.tag = c != ' ' && c != '\n' && w.gap <= maxIndent
		return nil
	case w.colour || c == escape && w.gap <= maxSpaces:
		w.colour = c != 'm' && w.gap <= maxIndent
		return nil
	case w.sign == 0: // after a context, the secret begins immediately
	case (c == ' ' || c == '\t') && w.gap <= maxSpaces || w.folded && (c <= ' ' || c == '-' || c == '+') && w.gap <= maxIndent:
		return nil
	case c == '*' && w.sign == ':' && w.gap <= 3, c == '[' && w.gap <= 3, c == '(' && w.sign == '=' && w.gap <= 2: // Markdown, or a list
		return nil
	case c == '\n' && w.sign == '>' && w.gap == 1, c == '\n' && w.sign == ':' && !w.quoted && !w.folded: // on the next line
		w.folded, w.rule = true, values[w.name.value][spokenForm]
		return nil
	case w.folded && c == '`':
		return nil
	case (c == '&' || c == '!') && w.sign == ':' && !w.quoted && !w.folded: // an anchor or a tag in YAML
		w.tag = true
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
	if w.letter = w.sign != 0 && strings.IndexByte("fFrRbBuUL", c) >= 0; !w.letter {
		*w = expectation{}
	}
	if quoted {
		return nil
	}
	return rule
}

// linkWords are words between the name of a credential and its value in a sentence.
var linkWords = wordSet("is was to as value provided set been has now changed reset updated")

// afterName are signs of Markdown, and a colon, directly after the name of a credential in a sentence.
var afterName = classOf("`*:")

// spokenName returns the secretName before a space or a line break at the end of a text, as in "the API key X". The
// result ok is false if there is none.
func spokenName(text []byte) (known secretName, ok bool) {
	n := len(text) - 1
	sign := text[n]
	text = text[:n-countTrailing(text[:n], afterName)]
	size := countTrailing(text, inName)
	if size == 0 || sign == '\n' && n-len(text) > 1 {
		return secretName{}, false
	}
	name := text[len(text)-size:]
	if !endsName(name) {
		return secretName{}, false
	}
	if known, ok = credentialName(name, inText); !ok && size == len("key") && size < len(text) && text[len(text)-size-1] == ' ' { // API key
		before := text[:len(text)-size-1]
		known, ok = credentialName(text[len(before)-countTrailing(before, inName):], inText)
	}
	if !ok || known.value == isCookies || known.value == isPhrase {
		return secretName{}, false
	}
	known = known.orRandom()
	_, word := splitWord(text[:len(text)-size])
	return known, !plainBefore[word] // page token
}

// nextSpoken returns the rule for a value without a sign before it, at the beginning of one of the next words.
func (m *matcher) nextSpoken(c, last byte) *rule {
	w := &m.want
	between := func(c byte) bool {
		return c >= 0x80 || strings.IndexByte(" \t\r\"'`*-=<>|?:#([\\", c) >= 0 || c == '\n' && (w.sign == ':' || w.sign == '\n' && (last == '-' || last == '='))
	}
	switch {
	case w.gap > maxIndent || c == '\n' && w.words > 0 || !between(c) && !alnum[c]:
		*w = expectation{}
	case c <= ' ' || between(c):
	case w.gap == 1 || between(last) || last <= ' ':
		tail := m.recentTail()
		tail = bytes.TrimRight(tail[:len(tail)-min(1, len(tail))], " ")
		_, word := splitWord(tail)
		if w.words++; w.words > 1 && !linkWords[word] {
			*w = expectation{}
			return nil
		}
		return w.rule
	}
	return nil
}

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

// quotedName reports whether a text ends with a name in quotes and an assignment sign.
func quotedName(text []byte) bool {
	text = bytes.TrimRight(text[:len(text)-1], " \t")
	return bytes.HasSuffix(text, []byte(`"`)) || bytes.HasSuffix(text, []byte("'"))
}
