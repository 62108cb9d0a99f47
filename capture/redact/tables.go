package redact

import (
	"bytes"
	"slices"
	"strings"
)

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
	if n < 0 || !bytes.EqualFold(text[n:], []byte("VALUES")) {
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
		if t.at+1 != t.columns || t.head && begins && t.sign != '|' {
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
