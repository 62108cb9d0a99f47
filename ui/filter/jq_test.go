package filter

import (
	"context"
	"strings"
	"testing"
	"time"
)

func answersOf(t *testing.T, expr, text string) (said []string, failed error) {
	t.Helper()
	e, err := ParseJQ(expr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	for value, err := range e.Run(ctx, []byte(text)) {
		if failed != nil {
			t.Error("something comes behind an error")
		}
		if failed = err; err == nil {
			said = append(said, string(value))
		}
	}
	return said, failed
}

// TestAsk checks that an expression reads only one JSON text, can't read anything from the system, and ends.
func TestAsk(t *testing.T) {
	for _, c := range []struct{ expr, text, want, fails string }{
		{".a", `{"a":12345678901234567890123}`, "12345678901234567890123", ""},
		{".a", `{"a":1} {"a":2}`, "", "not JSON: more text follows the value"},
		{".a", `{"a":`, "", "not JSON: the text ends too early"},
		{".a", `nope`, "", "not JSON: invalid character 'o' in literal null (expecting 'u')"},
		{"env, $ENV", `{}`, "{} {}", ""},
		{".[] | halt", `[1,2]`, "", ""},
		{".a[]", `{"a":"x"}`, "", `cannot iterate over: string ("x")`},
		{"1, last(repeat(1))", `{}`, "1", ErrTimeout.Error()},
	} {
		said, err := answersOf(t, c.expr, c.text)
		if got := strings.Join(said, " "); got != c.want || (err == nil) != (c.fails == "") || err != nil && err.Error() != c.fails {
			t.Errorf("%s of %s: %q, %v", c.expr, c.text, got, err)
		}
	}
	if _, err := answersOf(t, ".", "{"); !IsNotJSON(err) {
		t.Errorf("%T", err)
	}
}

// TestParse checks that an error contains the expression and the position of the fault in it.
func TestParse(t *testing.T) {
	for expr, want := range map[string]string{
		".guests[":       ".guests[: at byte 9: unexpected EOF",
		".a ^ .b":        `.a ^ .b: at byte 4: unexpected token "^"`,
		".a | }":         `.a | }: at byte 6: unexpected token "}"`,
		`"abc`:           `"abc: at byte 5: unterminated string literal`,
		"nope(1)":        "nope(1): function not defined: nope/1",
		`import "x"as x`: "",
	} {
		if _, err := ParseJQ(expr); err == nil || want != "" && err.Error() != want {
			t.Errorf("%s: %v", expr, err)
		}
	}
}
