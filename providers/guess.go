package providers

import (
	"bytes"
	"cmp"
	stdjson "encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

// maxGuessed is the maximum number of bytes of an input that Guess reads.
const maxGuessed = 8 << 10

// Guess returns a description of an input without model traffic, according to its first bytes. It returns ""
// for white space alone.
func Guess(first []byte) string {
	first = first[:min(len(first), maxGuessed)]
	for _, m := range magics {
		if len(first) >= m.at+len(m.bytes) && string(first[m.at:m.at+len(m.bytes)]) == m.bytes {
			return m.is
		}
	}
	text := textOf(first)
	if len(text) == 0 {
		return ""
	}
	if !isText(text) {
		return "binary data"
	}
	if text[0] == '{' || text[0] == '[' {
		if is := guessJSON(text); is != "" {
			return is
		}
	}
	for _, g := range guesses {
		if g.like().Match(text) {
			return g.is
		}
	}
	return cmp.Or(guessTable(text), "text")
}

// magics lists the characteristic bytes of other kinds of files.
var magics = []struct {
	at    int
	bytes string
	is    string
}{
	{0, "PK\x03\x04", "a ZIP archive: unpack it first"},
	{257, "ustar", "a tar archive: unpack it first"},
	{0, "7z\xbc\xaf\x27\x1c", "a 7-Zip archive: unpack it first"},
	{0, "\xfd7zXZ\x00", "xz data: unpack it first"},
	{0, "SQLite format 3\x00", "an SQLite database: export the data with the program that writes it"},
	{0, "\xd4\xc3\xb2\xa1", "a network packet capture, which toolscope doesn't read: record with 'toolscope proxy'"},
	{0, "\xa1\xb2\xc3\xd4", "a network packet capture, which toolscope doesn't read: record with 'toolscope proxy'"},
	{0, "\x4d\x3c\xb2\xa1", "a network packet capture, which toolscope doesn't read: record with 'toolscope proxy'"},
	{0, "\xa1\xb2\x3c\x4d", "a network packet capture, which toolscope doesn't read: record with 'toolscope proxy'"},
	{0, "\x0a\x0d\x0d\x0a", "a network packet capture, which toolscope doesn't read: record with 'toolscope proxy'"},
	{0, "\x7fELF", "a program"}, {0, "MZ", "a program"}, {0, "\xcf\xfa\xed\xfe", "a program"},
	{0, "\x89PNG", "an image"}, {0, "\xff\xd8\xff", "an image"}, {0, "GIF8", "an image"}, {0, "%PDF-", "a PDF"},
	{0, "\x00asm", "a WebAssembly module"},
}

// guesses lists kinds of text with a pattern for each. The first pattern that matches decides.
var guesses = []struct {
	is   string
	like func() *regexp.Regexp
}{
	{"an HTML page", lazyregexp.New(`(?i)^(<!doctype html|<html|<head|<body)`)},
	{"XML", lazyregexp.New(`^<(\?xml|[A-Za-z][\w:.-]*[ >])`)},
	{"keys or certificates", lazyregexp.New(`^-----BEGIN `)},
	{"a script", lazyregexp.New(`^#!`)},
	{"an npm log", lazyregexp.New(`^(npm (ERR!|error|verb|warn|http)|\d+ (verbose|info|silly|timing|http) )`)},
	{"a web server log", lazyregexp.New(`^\S+ \S+ \S+ \[[^\]\n]+\] "[A-Z]+ [^"\n]*" \d{3} `)},
	{"a diff", lazyregexp.New(`^(diff --git |--- \S|Index: )`)},
	{"Go source", lazyregexp.New(`(?m)^package \w+$`)},
	{"source code", lazyregexp.New(`(?m)^(import [\w{"'*]|from \S+ import |def \w+\(|class \w+|function \w+\(|#include <|const \w+ = |use strict|public class )`)},
	{"keys for TLS connections", lazyregexp.New(`(?m)^(CLIENT|SERVER|EXPORTER|EARLY)_[A-Z0-9_]+ [0-9a-f]{64} [0-9a-f]{2}|^CLIENT_RANDOM [0-9a-f]{64} `)},
	{"Markdown", lazyregexp.New("\\A#{1,3} \\S[^\\n]*\\r?\\n(\\r?\\n|\\z)|\\A#{1,3} \\S[^\\n]*\\z|(?m:^```)")},
	{"log lines", lazyregexp.New(`^\[?(\d{4}[-/]\d\d[-/]\d\d[T ]|[A-Z][a-z]{2} [ \d]\d )\d\d:\d\d`)},
	{"YAML", lazyregexp.New(`^(---\n|[\w-]+:( \S[^\n]*)?\n([\w-]+:|  [\w-]+:|- |  - ))`)},
}

// guessJSON describes a text that is a JSON value, or one JSON value per line. It returns "" for any other text.
func guessJSON(text []byte) string {
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	more := len(bytes.TrimSpace(rest)) > 0
	switch d := json.Value(text); {
	case json.Valid(line) && more:
		return "JSON lines, each with " + keysOf(line)
	case text[0] == '[' && (len(text) == 1 || !strings.ContainsRune("{[\"0123456789-tfn] \r\n\t", rune(text[1]))):
		return "" // a bracket alone doesn't show that the text is JSON
	case d.Get("openapi").IsString(), d.Get("swagger").IsString():
		return "an API description"
	case d.Get("dependencies") != nil && d.Get("name").IsString():
		return "a package manifest"
	}
	if keys := keysOf(text); keys != "" {
		return "JSON with " + keys
	}
	return ""
}

// keysOf lists the first keys of an object, or of the first object in a list.
func keysOf(text []byte) string {
	d := stdjson.NewDecoder(bytes.NewReader(text))
	t, err := d.Token()
	if t == stdjson.Delim('[') {
		if !d.More() {
			return "an empty list"
		}
		t, err = d.Token()
	}
	if err != nil || t != stdjson.Delim('{') {
		return "a list"
	}
	var keys []string
	const named = 4
	for d.More() {
		key, err := d.Token()
		name, ok := key.(string)
		if err != nil || !ok {
			break
		}
		if keys = append(keys, name); len(keys) > named || d.Decode(new(stdjson.RawMessage)) != nil {
			break
		}
	}
	switch {
	case len(keys) == 0:
		return "no fields"
	case len(keys) > named:
		return strings.Join(keys[:named], ", ") + " …"
	}
	return strings.Join(keys, ", ")
}

// guessTable recognises a table: the second line has at least as many commas, tabs or semicolons as the
// first. It returns "" for any other text.
func guessTable(text []byte) string {
	lines := bytes.Split(text, []byte("\n"))
	for _, sep := range []string{",", "\t", ";"} {
		n := bytes.Count(lines[0], []byte(sep))
		if n == 0 || len(lines) < 3 || bytes.Count(lines[1], []byte(sep)) < n {
			continue
		}
		return fmt.Sprintf("a table of %d columns", n+1)
	}
	return ""
}

// isText reports whether bytes are UTF-8 with few control characters. The last rune may be cut off.
func isText(p []byte) bool {
	odd := 0
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && n == 1 && utf8.FullRune(p[i:]) || r < ' ' && !strings.ContainsRune("\t\n\r\x1b\f", r) {
			odd++
		}
		i += n
	}
	return odd*20 <= len(p)
}
