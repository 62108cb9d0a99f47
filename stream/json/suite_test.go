package json

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// suiteText is one file of the parsing tests of github.com/nst/JSONTestSuite, which is not part of this
// repository. The first letter of its name is the expected result of a parser: y accepts, n rejects, i is
// undefined.
type suiteText struct {
	name string
	data []byte
}

func readSuite(t *testing.T, prefix string, want int) []suiteText {
	t.Helper()
	corpus := os.Getenv("TOOLSCOPE_CORPUS")
	if corpus == "" {
		t.Skip("TOOLSCOPE_CORPUS is not set")
	}
	names, err := filepath.Glob(filepath.Join(corpus, "..", "suites", "JSONTestSuite", "test_parsing", prefix+"_*.json"))
	if err != nil || len(names) != want {
		t.Fatalf("%d files %s_*.json, want %d: %v", len(names), prefix, want, err)
	}
	var texts []suiteText
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, suiteText{strings.TrimSuffix(filepath.Base(name), ".json"), data})
	}
	return texts
}

func closedLexer(text []byte) *Lexer {
	l := new(Lexer)
	l.Write(text)
	l.Close()
	return l
}

func TestSuiteAccepted(t *testing.T) {
	for _, c := range readSuite(t, "y", 95) {
		checkLexer(t, c.data)
		if s := closedLexer(c.data).Syntax(); s != SyntaxObject && s != SyntaxOther {
			t.Errorf("%s is %v", c.name, s)
		}
	}
}

func TestSuiteRejected(t *testing.T) {
	got := map[Syntax]int{}
	for _, c := range readSuite(t, "n", 188) {
		checkLexer(t, c.data)
		l := closedLexer(c.data)
		got[l.Syntax()]++
		if s := l.Syntax(); s == SyntaxObject || s == SyntaxOther {
			t.Errorf("%s is %v", c.name, s)
		}
	}
	// 30 texts are unfinished or blank. Two of the wrong texts are wrong only because they nest too deeply.
	if wrong := got[SyntaxBroken] + got[SyntaxTrailing]; wrong != 158 || got[SyntaxEmpty]+got[SyntaxPrefix] != 30 {
		t.Errorf("%v", got)
	}
}

func TestSuitePrefixes(t *testing.T) {
	prefixes := 0
	for _, c := range readSuite(t, "y", 95) {
		for n := range c.data {
			prefixes++
			var l Lexer
			l.Write(c.data[:n])
			if s := l.Syntax(); s == SyntaxBroken || s == SyntaxTrailing || s == SyntaxConcat {
				t.Errorf("%s, first %d bytes: %v, %v", c.name, n, s, l.Err())
			}
		}
	}
	if prefixes != 1190 {
		t.Errorf("%d prefixes, want 1190", prefixes)
	}
}

// TestSuiteFree checks the lexer's behaviour where the standard leaves a choice. It accepts numbers of any size, and
// any surrogates and any bytes above ASCII in strings. It rejects a byte order mark and UTF-16.
func TestSuiteFree(t *testing.T) {
	refused := map[string]bool{
		"i_string_UTF-16LE_with_BOM":         true,
		"i_string_utf16BE_no_BOM":            true,
		"i_string_utf16LE_no_BOM":            true,
		"i_structure_UTF-8_BOM_empty_object": true,
	}
	for _, c := range readSuite(t, "i", 35) {
		checkLexer(t, c.data)
		l := closedLexer(c.data)
		t.Logf("%-50s %-9v %v", c.name, l.Syntax(), l.Err())
		if (l.Err() != nil) != refused[c.name] || l.Syntax() == SyntaxPrefix {
			t.Errorf("%s: %v, %v", c.name, l.Syntax(), l.Err())
		}
	}
}
