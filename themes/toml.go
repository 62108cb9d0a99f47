package themes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// ReadTOML reads TOML files into a list of values with their positions, so that an error can name its line
// and column.
//
// Invariants:
//   - The values are complete, and in the order of the file.
//   - Lines and columns count from 1; a column is a character, as in editors.

// Position is a line and column in a file.
type Position struct{ Line, Column int }

// Setting is one value: a string, bool, int64, float64, []any, or another TOML type.
type Setting struct {
	Table string // the table that contains the key; "" at the top level
	Key   string
	Value any
	Position
}

// Name returns the key with its table.
func (s Setting) Name() string { return SettingName(s.Table, s.Key) }

// SettingName returns a key with its table.
func SettingName(table, key string) string {
	if table == "" {
		return key
	}
	return table + "." + key
}

// SyntaxError is an error in TOML syntax.
type SyntaxError struct {
	Position
	What string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.What) }

// ReadTOML reads a file. The error is a [*SyntaxError].
func ReadTOML(data []byte) ([]Setting, error) {
	if at := findInvalid(data); at >= 0 {
		return nil, &SyntaxError{positionOf(data, at), "a byte that is not UTF-8"}
	}
	values := map[string]any{}
	if err := toml.Unmarshal(data, &values); err != nil {
		var wrong *toml.DecodeError
		if !errors.As(err, &wrong) {
			return nil, &SyntaxError{Position{1, 1}, strings.TrimPrefix(err.Error(), "toml: ")}
		}
		line, column := wrong.Position()
		return nil, &SyntaxError{Position{line, column}, strings.TrimPrefix(wrong.Error(), "toml: ")}
	}
	r := reader{data: data}
	r.p.Reset(data)
	for r.p.NextExpression() {
		switch n := r.p.Expression(); n.Kind {
		case unstable.Table, unstable.ArrayTable:
			r.table, _ = r.keyPath(n)
		case unstable.KeyValue:
			r.addKeyValue(n, r.table, values)
		}
	}
	return r.settings, nil
}

// reader reads the settings in a file that is known to be valid.
type reader struct {
	data     []byte
	p        unstable.Parser
	table    []string
	settings []Setting
}

// keyPath returns the names in a node's key, and the position of the first name.
func (r *reader) keyPath(n *unstable.Node) (names []string, at Position) {
	for i := n.Key(); i.Next(); {
		if key := i.Node(); len(names) == 0 {
			at = positionOf(r.data, int(key.Raw.Offset))
		}
		names = append(names, string(i.Node().Data))
	}
	return names, at
}

// addKeyValue adds a value or, for an inline table, each of its values.
func (r *reader) addKeyValue(n *unstable.Node, table []string, values map[string]any) {
	names, at := r.keyPath(n)
	all := slices.Concat(table, names)
	if of := n.Value(); of.Kind == unstable.InlineTable {
		for i := of.Children(); i.Next(); {
			r.addKeyValue(i.Node(), all, values)
		}
		return
	}
	last := len(all) - 1
	r.settings = append(r.settings, Setting{strings.Join(all[:last], "."), all[last], valueAt(values, all), at})
}

// valueAt returns the value for a path of names. Inside a list of tables, it returns nil.
func valueAt(values map[string]any, names []string) any {
	for _, name := range names[:len(names)-1] {
		inner, ok := values[name].(map[string]any)
		if !ok {
			return nil
		}
		values = inner
	}
	return values[names[len(names)-1]]
}

// positionOf returns the position of a byte.
func positionOf(data []byte, offset int) Position {
	before := string(data[:offset])
	return Position{1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])}
}

// findInvalid returns the offset of the first byte that is not UTF-8, or -1.
func findInvalid(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}
