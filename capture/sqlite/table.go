package sqlite

import (
	"fmt"
	"slices"
	"strings"
)

// Table is a table of a database.
type Table struct {
	Name    string
	root    uint32
	columns []string // the stored columns, in the order in which rows store them
}

// Tables returns the tables of the database, without those of SQLite itself.
func (d *DB) Tables() (all []Table, err error) {
	err = d.walkTable(1, func(c []any) error { // type, name, tbl_name, rootpage, sql
		if len(c) < 5 || c[0] != "table" {
			return nil
		}
		name, isName := c[1].(string)
		root, isRoot := c[3].(int64)
		sql, isSQL := c[4].(string)
		if isName && isRoot && isSQL && root > 0 && root <= int64(d.pages) && !strings.HasPrefix(name, "sqlite_") {
			all = append(all, Table{name, uint32(root), columnNames(sql)})
		}
		return nil
	})
	return all, err
}

// Has reports whether the table has these columns.
func (t *Table) Has(columns ...string) bool {
	for _, name := range columns {
		if !slices.Contains(t.columns, name) {
			return false
		}
	}
	return true
}

// Rows calls the function row with the text of the named columns of each row, in the order of the rows. A value that
// is neither text nor an integer becomes "".
func (d *DB) Rows(t *Table, names []string, row func(texts []string) error) error {
	return d.readValues(t, names, func(values []any) error {
		texts := make([]string, len(values))
		for i, v := range values {
			switch v := v.(type) {
			case string:
				texts[i] = v
			case int64:
				texts[i] = fmt.Sprint(v)
			}
		}
		return row(texts)
	})
}

// readValues calls the function row with the values of the named columns of each row, in the order of the rows.
func (d *DB) readValues(t *Table, names []string, row func(values []any) error) error {
	var at []int
	for _, name := range names {
		i := slices.Index(t.columns, name)
		if i < 0 {
			return fmt.Errorf("the table %s has no column %s", t.Name, name)
		}
		at = append(at, i)
	}
	return d.walkTable(t.root, func(columns []any) error {
		values := make([]any, len(at))
		for i, c := range at {
			if c < len(columns) { // otherwise the column was added after the row
				values[i] = columns[c]
			}
		}
		return row(values)
	})
}

// columnNames returns the names of the stored columns in a CREATE TABLE statement.
func columnNames(sql string) (names []string) {
	_, list, _ := strings.Cut(sql, "(")
	for _, definition := range splitList(list) {
		name, rest := cutName(strings.TrimSpace(definition))
		upper := strings.ToUpper(rest)
		isConstraint := slices.Contains([]string{"PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT"}, strings.ToUpper(name))
		isComputed := strings.Contains(upper, " AS (") && !strings.Contains(upper, "STORED")
		if name != "" && !isConstraint && !isComputed {
			names = append(names, name)
		}
	}
	return names
}

// splitList splits a list at its commas, up to the parenthesis that ends it. Commas in parentheses and in quotes
// don't count.
func splitList(text string) (parts []string) {
	depth, from, quote := 0, 0, byte(0)
	for i := range len(text) {
		c := text[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '[':
			quote = ']'
		case c == '(':
			depth++
		case c == ')' && depth == 0:
			return append(parts, text[from:i])
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			parts, from = append(parts, text[from:i]), i+1
		}
	}
	return append(parts, text[from:])
}

// cutName cuts the name, which may be quoted, off a column's definition.
func cutName(text string) (name, rest string) {
	for open, end := range map[string]string{`"`: `"`, "`": "`", "[": "]", "'": "'"} {
		if inner, ok := strings.CutPrefix(text, open); ok {
			name, rest, _ = strings.Cut(inner, end)
			return name, rest
		}
	}
	if i := strings.IndexAny(text, " \t\r\n("); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}
