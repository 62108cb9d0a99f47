package redact

import (
	"fmt"
	"strings"
	"testing"
)

// TestNoEscapes checks that an invalid escape is read as ordinary text, and that the text after it is searched.
func TestNoEscapes(t *testing.T) {
	key := sample("sk-ant-api03-{40}")
	for _, text := range []string{"100% of ", "100%", "100%, ", "%2 ", "%zz ", "5 %\n", `\u `, `\u00 `, `\u00g `, `C:\ `, "% % %"} {
		if got := normaliseText(text); got != text {
			t.Errorf("%q says %q", text, got)
		}
		for _, before := range []string{text, `{"a":"` + text} {
			whole := before + " " + key
			for _, n := range []int{1, len(whole)} {
				if got := through(redactor(), whole, n); !strings.HasPrefix(got, before+" [redacted:anthropic-key:") || strings.Contains(got, key[12:]) {
					t.Errorf("%q in pieces of %d became %q", whole, n, got)
				}
			}
		}
	}
}

// TestEscapedLetters checks that a key is found if one of its first letters is an escape.
func TestEscapedLetters(t *testing.T) {
	key := sample("sk-ant-api03-{40}")
	for i := range 5 {
		for _, escape := range []string{"%%%02x", "%%%02X", `\u%04x`, `\u%04X`} {
			text := "id: " + key[:i] + fmt.Sprintf(escape, key[i]) + key[i+1:]
			if got := redactor().Text(text); !strings.HasPrefix(got, "id: [redacted:anthropic-key:") || strings.Contains(got, key[12:]) {
				t.Errorf("%s became %s", text, got)
			}
		}
	}
}

// TestOutermostArray checks that the strings in a text's outermost array are separate texts: none of them continues
// the one before.
func TestOutermostArray(t *testing.T) {
	key := sample("sk-ant-api03-{40}")
	for text, goesOn := range map[string]bool{
		`["` + key + `"]` + "\n" + `["agent"]`:                   false,
		`["` + key + `","agent"]`:                                false,
		`{"text":"` + key + `"}` + "\n" + `{"text":"agent"}`:     true,
		`{"text":["` + key + `"]}` + "\n" + `{"text":["agent"]}`: true,
	} {
		if got := redactor().Text(text); strings.Contains(got, "agent") == goesOn || strings.Contains(got, key[12:]) {
			t.Errorf("%s became %s", text, got)
		}
	}
}
