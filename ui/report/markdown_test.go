package report

import (
	"strings"
	"testing"
)

// TestFenced checks that no content ends its code block or controls the terminal.
func TestFenced(t *testing.T) {
	for _, text := range []string{"x", "```\n# heading", "a ````` b\r\n```", "\x1b[31m"} {
		got := fenceCode("json", []byte(text), 100)
		fence, rest, _ := strings.Cut(got, "json\n")
		inside, end, ok := strings.Cut(rest, "\n"+fence+"\n")
		if !ok || end != "" || strings.Contains(inside, fence) || strings.ContainsRune(got, '\x1b') {
			t.Errorf("%q: %q", text, got)
		}
	}
	if got := fenceCode("", []byte("abcdef"), 3); !strings.Contains(got, "abc\n```\n\n(3 of 6 bytes)") {
		t.Errorf("%q", got)
	}
}

// TestEscaped checks that text from outside can't be Markdown, HTML, a link or a mention.
func TestEscaped(t *testing.T) {
	const text = "<img src=x> @team [a](https://b) `c` *d* _e_ #1 ![x](y)"
	got := escapeMarkdown(text)
	for _, bad := range []string{"<img", "@team", "](", "://", " `c", " *d", " _e", " #1"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q is in %q", bad, got)
		}
	}
}

// TestFenceMarked checks that the mark is under its byte, measured in cells. A byte that is cut off has no mark.
func TestFenceMarked(t *testing.T) {
	for _, c := range []struct {
		text string
		at   int
		want string
	}{
		{`{"a": 30s}`, 8, "{\"a\": 30s}\n        ^ here\n"},
		{"{\n\"é\": x}", 8, "{\n\"é\": x}\n     ^ here\n"},
		{"x", 0, "x\n^ here\n"},
		{"\x1b[1m x", 5, "␛[1m x\n     ^ here\n"},
		{`{"a": 30s}`, -1, "{\"a\": 30s}\n"},
		{strings.Repeat(" ", 100) + "x", 100, strings.Repeat(" ", 100) + "\n"},
	} {
		got := fenceMarked("json", []byte(c.text), 100, c.at, "^ here")
		if inside := strings.TrimPrefix(strings.Split(got, "```")[1], "json\n"); inside != c.want {
			t.Errorf("%q at %d is %q, want %q", c.text, c.at, inside, c.want)
		}
	}
}
