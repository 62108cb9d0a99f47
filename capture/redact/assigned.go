package redact

import (
	"bytes"
	"slices"
	"strings"
)

// assignedName returns the secretName to which a value is assigned, and the form of the value. The text must end like
// an assignment: NAME=, name: , "name":, &name=. The result ok is false if the name isn't that of a secret.
func assignedName(text []byte) (known secretName, form valueForm, ok bool) {
	sign := text[len(text)-1]
	rest := text[:len(text)-1]
	rest = trimColour(rest[:len(rest)-countTrailing(rest, beforeSign)])
	quoted := len(rest) > 0 && strings.IndexByte("\"'`]", rest[len(rest)-1]) >= 0
	if quoted {
		if rest = rest[:len(rest)-1]; len(rest) > 0 && alnum[rest[len(rest)-1]] && text[len(rest)] == ']' {
			rest = trimVisibility(rest)
		}
		rest = bytes.TrimRight(rest, "\"'`")
	}
	n := countTrailing(rest, inName)
	if colour := bytes.IndexByte(rest[len(rest)-n:], 'm'); colour > 0 && colour < 6 && bytes.HasSuffix(rest[:len(rest)-n], []byte("\x1b[")) {
		n -= colour + 1
	}
	name := rest[len(rest)-n:]
	if n == 0 {
		return secretName{}, bareForm, false
	}
	before := rest[:len(rest)-n]
	scope := inText
	if n := len(before); sign == '=' && n > 0 && (before[n-1] == '?' || before[n-1] == '&' || before[n-1] == '~' || before[n-1] == ';' && bytes.EqualFold(name, []byte("jsessionid"))) {
		scope = inRequest
	} else if quoted && sign == ':' {
		scope, form = inKey, memberForm
	}
	known, ok = credentialName(name, scope)
	if !ok && scope == inText && n > 3 && name[n-1]|0x20 == 's' && endsName(name[:n-1]) { // tokens: ["…"], and a line api_keys:
		known, ok = credentialName(name[:n-1], inText)
	}
	if !ok && scope == inKey && exactKeys[string(name)] {
		known, ok = secretName{called: "secret", value: isRandom}, true
	}
	if !ok && (isValueName(name) || (scope == inKey || sign == '=' && string(name) == "content") && isOneOf(laterNames, name)) {
		known, ok = pairedName(before, scope == inKey)
	}
	if list := bytes.TrimRight(before, " "); !ok && sign == '=' && bytes.HasSuffix(list, []byte(",")) && string(name) == "default" { // add_argument("--token", default=
		known, ok = listedName(list)
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
			if known.value == isBasic && !containsRange(name, 'a', 'z') { // NPM_AUTH
				known.value = isRandom
			}
		}
	case scope == inText && sign == '=' && !quoted && followsPair(before) && len(rest)+1 == len(text):
		form = pairForm
	}
	return known, form, ok && !isResourceName(known, before, sign)
}

// trimVisibility removes what PHP writes after the name of a property that is not public, as in ["token":protected].
func trimVisibility(text []byte) []byte {
	if rest, ok := bytes.CutSuffix(text, []byte(":protected")); ok {
		return rest
	}
	rest, ok := bytes.CutSuffix(text, []byte(":private"))
	if class := bytes.LastIndex(rest, []byte(`":"`)); ok && class > 0 {
		rest = rest[:class]
	}
	return rest
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
	valueNames = strings.Fields("value val text parametervalue outputvalue")
	nameNames  = strings.Fields("name key label header field parameterkey outputkey optionname selector element variable param secret_name")
	laterNames = strings.Fields("content default example new_value key stringvalue")
)

// secretTypes are the types of objects whose value is a credential.
var secretTypes = strings.Fields("password securestring concealed api apikey api_key secret token")

// isSecretType reports whether an object with this type contains a credential. The type may be part of a larger one.
func isSecretType(name []byte) bool {
	return isOneOf(secretTypes, name[bytes.LastIndexByte(name, '.')+1:])
}

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
func pairedName(text []byte, inObject bool) (known secretName, ok bool) {
	if known, ok = outerName(text); ok {
		return known, true
	}
	text = bytes.TrimSuffix(text, []byte("android:"))
	if known, ok = namedField(bytes.TrimRight(text, " \t\r\n\"',")); ok {
		return known, true
	}
	if tag := text[bytes.LastIndexByte(text, '<')+1:]; !inObject && len(tag) < len(text) && bytes.IndexByte(tag, '>') < 0 {
		for _, attribute := range bytes.Fields(tag) {
			if known, ok = namedField(bytes.TrimRight(attribute, "\"'")); ok {
				return known, true
			}
		}
	}
	if !inObject {
		return secretName{}, false
	}
	for _, field := range bytes.Split(text[bytes.LastIndexByte(text, '{')+1:], []byte(",")) { // other fields of the object
		if known, ok = namedField(bytes.TrimRight(field, " \t\r\n\"'")); ok {
			return known, true
		}
	}
	return secretName{}, false
}

// namedField returns the secretName in a field such as "name":"x-api-key". The result ok is false if there is none.
func namedField(text []byte) (known secretName, ok bool) {
	n := countTrailing(text, inName)
	name := text[len(text)-n:]
	if phrase := countTrailing(text, inPhrase); phrase < len(text) && (text[len(text)-phrase-1] == '"' || text[len(text)-phrase-1] == '\'') {
		n, name = phrase, text[len(text)-phrase:] // "API token"
	}
	text = text[:len(text)-n]
	for bytes.HasSuffix(text, []byte(":")) && n > 0 && len(text) > 1 && alnum[text[len(text)-2]] { // Section:ApiKey
		text = text[:len(text)-1]
		text = text[:len(text)-countTrailing(text, inName)]
	}
	text = bytes.TrimRight(text, " \t\"':=#")
	field := text[len(text)-countTrailing(text, inName):]
	switch {
	case n == 0:
		return secretName{}, false
	case isOneOf([]string{"type", "kind", "object"}, field) && isSecretType(name), isOneOf([]string{"keyname"}, field):
		return secretName{called: "secret", value: isRandom}, true
	case !isNameName(field):
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
	outer = bytes.TrimRight(outer, " \t\r\n\"':[")
	name := outer[len(outer)-countTrailing(outer, inName):]
	if known, ok = credentialName(name, inKey); !ok && holders[string(bytes.ToLower(name))] {
		return secretName{called: "key", value: isRandom}, true
	}
	return known.orRandom(), ok
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
		return argumentName(text)
	}
	text = bytes.TrimRight(text, "\"'")
	n := countTrailing(text, inName)
	if n == 2 && text[len(text)-2] == '-' && text[len(text)-1] == 'u' { // ["-u","name:password"]
		return secretName{called: "userinfo", value: isBasic}, true
	}
	if n < len(text) && text[len(text)-n-1] == '#' { // fill("#password", "…")
		return credentialName(text[len(text)-n:], inKey)
	}
	if before := text[:len(text)-n]; n == 0 || !bytes.HasSuffix(before, []byte(`"`)) && !bytes.HasSuffix(before, []byte("'")) {
		return secretName{}, false
	}
	return headerName(text[len(text)-n:])
}

// argumentName returns the secretName of a name without quotes that is the first argument of a call, as in
// assertEqual(user.password, or put(:token,. The result ok is false if there is none.
func argumentName(text []byte) (known secretName, ok bool) {
	n := countTrailing(text, inName)
	before := bytes.TrimSuffix(text[:len(text)-n], []byte(":"))
	if n < 3 || len(before) == 0 || before[len(before)-1] != '(' && len(before) == len(text)-n && before[len(before)-1] != ' ' {
		return secretName{}, false
	}
	if known, ok = credentialName(text[len(text)-n:], inText); ok && known.value != isCookies {
		known.value = isArgument
	}
	return known, ok
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

// labelName returns the secretName that the tags at the end of a text follow, as in <td>password</td><td>. The result
// ok is false if there is none.
func labelName(text []byte) (known secretName, ok bool) {
	for bytes.HasSuffix(text, []byte(">")) {
		open := bytes.LastIndexByte(text, '<')
		if open < 0 {
			return secretName{}, false
		}
		text = bytes.TrimRight(text[:open], " \t\r\n:")
	}
	if before, word := splitWord(text); linkWords[word] {
		text = bytes.TrimRight(before, " ")
	}
	known, ok = credentialName(text[len(text)-countTrailing(text, inPhrase):], inText)
	return known.orRandom(), ok
}

// columnName returns the secretName of the table column at the end of a text: | password |. The result ok is false if
// there is none.
func columnName(text []byte) (known secretName, ok bool) {
	start := bytes.LastIndexByte(text, '\n') + 1
	row := bytes.TrimRight(text[:len(text)-1], " *`")
	n := countTrailing(row, inPhrase)
	n -= len(row[len(row)-n:]) - len(bytes.TrimLeft(row[len(row)-n:], " "))
	if n > 0 && len(row)-n == start && start > 0 && len(row) == len(text)-1 { // name|value
		return credentialName(row[start:], inText)
	}
	if n == 0 || start == 0 && len(text) == tailSize || !bytes.HasSuffix(bytes.TrimRight(row[:len(row)-n], " *`"), []byte("|")) {
		return secretName{}, false
	}
	if known, ok = credentialName(row[len(row)-n:], inText); !ok {
		return secretName{}, false
	}
	return known, bytes.TrimLeft(text[start:], " \t0123456789-+>→:")[0] == '|'
}

// partName returns the secretName of a part of a multipart form, if a text ends with the headers of that part.
// Otherwise, the result ok is false.
func partName(text []byte) (known secretName, ok bool) {
	const disposition = "form-data; name="
	body := bytes.TrimRight(text, "\r\n")
	if n := len(body); n == 0 || body[n-1] != '"' && !alnum[body[n-1]] || bytes.Count(text[n:], []byte("\n")) != 2 {
		return secretName{}, false
	}
	if !bytes.Contains(text, []byte(disposition)) { // much faster than LastIndex
		return secretName{}, false
	}
	name := text[bytes.LastIndex(text, []byte(disposition))+len(disposition):]
	name, _, _ = bytes.Cut(bytes.TrimLeft(name, `"`), []byte(`"`))
	name, _, _ = bytes.Cut(name, []byte("\r"))
	return credentialName(name, inRequest)
}

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

// quotedName reports whether a text ends with a name in quotes and an assignment sign.
func quotedName(text []byte) bool {
	text = bytes.TrimRight(text[:len(text)-1], " \t")
	return bytes.HasSuffix(text, []byte(`"`)) || bytes.HasSuffix(text, []byte("'"))
}
