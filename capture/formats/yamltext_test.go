package formats

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// yamlJSON is what a text of YAML says, with its long texts taken out before, or not at all.
func yamlJSON(text []byte, least int) (said string, taken int, err error) {
	var doc yaml.Node
	rest, texts := takeTexts(text, least)
	if err := yaml.Unmarshal(rest, &doc); err != nil || len(doc.Content) == 0 {
		return "", len(texts), err
	}
	return string(yamlValue(doc.Content[0], texts).asJSON()), len(texts), nil
}

const never = 1 << 30

// checkTaken compares both ways to read.
func checkTaken(t *testing.T, text string) (taken int) {
	t.Helper()
	want, _, err := yamlJSON([]byte(text), never)
	if err != nil {
		return 0
	}
	got, taken, err := yamlJSON([]byte(text), 0)
	if err != nil || got != want {
		t.Errorf("of %q\ngot  %s (%v)\nwant %s", text, got, err, want)
	}
	return taken
}

func TestTextsTakenOut(t *testing.T) {
	for _, test := range []struct {
		text  string
		taken int
	}{
		{"- a: |\n    x\n     y\n\n    z\n\n\n  b: 1\n", 1},
		{"- a: |+\n    x\n\n\n  b: 1\n", 1},
		{"- a: |-\n    x\n\n", 1},
		{"a: |2+\n   x\n  y\n", 1},
		{"a: |\n\n  x\nb: y\n", 1},
		{"- - 'x\n  b: \"y'\n- c: \"z\"\n", 0}, // what is inside something is not looked at, nor behind it
		{"a: !!binary |\n  aGVs\n  bG8=\n", 1},
		{"a: 'x\n  y\n\n\n  z  \n   '' w'\nb: c\n", 1},
		{"a: 'it''s'\n", 1},
		{"a: \"x \\\n  \\ y\\n\\u00e4\\x41\\U0001F600 \n  z\\t\n  w\"\n", 1},
		{"a: \"x\" # c\nb: 'y' \n", 0},
		{"a: >\n  x\n  y\n", 0},
		{"a: [\"x\"]\nb: &n 'x'\nc: *n\n", 0},
		{"a:\n- b: 'x'\n  - c\n", 0},
	} {
		if taken := checkTaken(t, test.text); taken != test.taken {
			t.Errorf("%q: %d taken out, want %d", test.text, taken, test.taken)
		}
	}
}

func TestTextsOfCassettes(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.y*ml")
	if corpus := os.Getenv("TOOLSCOPE_CORPUS"); corpus != "" {
		more, _ := filepath.Glob(filepath.Join(corpus, "formats", "*", "*.yaml"))
		files = append(files, more...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if taken := checkTaken(t, string(text)); taken == 0 && !strings.Contains(file, "httpmock") {
			t.Errorf("%s: nothing taken out", file)
		}
	}
}

func FuzzTextsTakenOut(f *testing.F) {
	f.Add("- a: |\n    x\n     y\n\n    z\n\n  b: 'x\n    y\n\n    z'\n  c: \"x \\\n    y \\u00e4\n    z\"\n")
	f.Add("a: |2-\n   x\n  y\nb: !!binary |\n  aGVs\n")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "&*?%\t") { // what is left out must have no name
			return
		}
		checkTaken(t, text)
	})
}
