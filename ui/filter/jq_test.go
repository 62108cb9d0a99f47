package filter

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/itchyny/gojq"
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

// TestMemory checks that an endless expression ends when it exceeds its memory limit. A long expression that only
// creates garbage must not end early.
func TestMemory(t *testing.T) {
	for expr, want := range map[string]error{
		"[repeat(1)]":          ErrMemory,
		"def f: [., .] | f; f": ErrMemory,
		"last(range(100000) | [range(10)] | length)":    nil,
		"reduce range(40) as $i ([1]; [., .]) | length": nil,
		"reduce range(40) as $i ([1]; [., .])":          ErrMemory, // 2^40 ones, in 40 arrays
		`"x" * 10000000`:                                ErrMemory,
		`"x" * 1000000 | length`:                        nil,
		`[range(100000)] | length`:                      nil,
	} {
		checkMemory(t, expr, want)
	}
}

// TestStepMemory checks that a single step that would create a huge value does not begin.
func TestStepMemory(t *testing.T) {
	for expr, want := range map[string]error{
		`"x" * 2000000000 | length`:                                      ErrMemory,
		`2000000000 * "x" | length`:                                      ErrMemory,
		`{a: "x"} | .a *= 2000000000 | .a | length`:                      ErrMemory,
		`def f: "x" * .; [9e8 | f] | length`:                             ErrMemory,
		`if 1 then (("x" * 2e9) | length) else 0 end`:                    ErrMemory,
		`("x" * 100000) as $s | [limit(1000; repeat($s))] | join("")`:    ErrMemory,
		`("x" * 100000) as $s | [limit(1000; repeat($s))] | add | .[:1]`: ErrMemory,
		`("x" * 100000) as $s | [limit(1000; repeat($s))] | @csv`:        ErrMemory,
		`reduce range(40) as $i (1; [., .]) | tojson`:                    ErrMemory,
		`reduce range(40) as $i (1; [., .]) | "a\(.)"`:                   ErrMemory,
		`reduce range(40) as $i (1; [., .]) | @json "\(.)"`:              ErrMemory,
		`reduce range(40) as $i (1; [., .]) | flatten`:                   ErrMemory,
		`.[500000000] = 1 | length`:                                      ErrMemory,
		`5e8 as $i | .[$i] = 1 | length`:                                 ErrMemory,
		`.a[500000000] |= 1 | .a | length`:                               ErrMemory,
		`setpath(["a", 500000000]; 1) | .a | length`:                     ErrMemory,
		`"x" * 1000000 | [., .] | join(",") | length`:                    nil,
		`.[1000] = 1 | length`:                                           nil,
	} {
		checkMemory(t, expr, want)
	}
}

// checkMemory runs an expression with a limit of 8 MiB.
func checkMemory(t *testing.T, expr string, want error) {
	t.Helper()
	e, err := ParseJQ(expr)
	if err != nil {
		t.Fatal(err)
	}
	e.maxMemory = 8 << 20
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // no expression here takes this long
	var got error
	for _, err := range e.Run(ctx, []byte("null")) {
		got = err
	}
	if cancel(); got != want {
		t.Errorf("%s: %v, want %v", expr, got, want)
	}
}

// TestLimitedSteps compares the results of expressions with added steps with the results of plain gojq.
func TestLimitedSteps(t *testing.T) {
	const input = `{"a":[1,2,[3,[4]]],"s":"ab","n":3,"o":{"k":{"x":1}}}`
	for _, expr := range []string{
		`.s * .n`, `.n * .s`, `.n * (1, 2) * (3, 4)`, `(1, 2) * (3, 4)`, `.o * {k: {y: 2}}`, `.s * 0`,
		`.s * -1`, `.n *= 2`, `.a[0] *= .n`, `(.n, .a[1]) *= (2, 3)`, `.a * 2`, `try (.a * 2) catch .`,
		`.a | flatten`, `.a | flatten(1)`, `[.s, .s] | join("-")`, `.a | tojson`, `.n | tostring`,
		`"\(.a) and \(.s)"`, `@json`, `@base64 "x\(.s)"`, `[.s, .s] | add`, `add(.a[:2][])`,
		`[[1, 2], [3]] | transpose`, `.a[2][1][0]`, `.a[.n - 1]`, `.a[-1]`, `.a["x"]?`, `.["s"]`, `.a[1:]`,
		`.a[5] = 1`, `.a[.n] = 1`, `.a[-9] = 1`, `path(.a[.n - 1])`, `[paths]`, `setpath(["o", "k"]; 1)`,
		`.s | @html`, `def add: 1; add`, `. as {s: $v} | $v * 2`, `reduce .a[:2][] as $i (1; . * $i)`,
		`[foreach .a[:2][] as $i (1; . * $i; tostring)]`, `[.a[] | tostring?]`, `[.s | explode | implode]`,
		`.o.k.x * 2 | . * 3`, `-(.n * 2)`, `{(.s * 2): 1}`, `[1, 2] | .[0] * .[1]`,
		`try error("a\(.n)") catch .`, `first(.a[] * 2)`, `.n as $__by | .n *= $__by`,
		`label $f | (1, break $f) * 2`, `if .n * 2 > 5 then .s * 2 else 0 end`, `.a | .[0:2] * 2`,
	} {
		e, err := ParseJQ(expr)
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		q, err := gojq.Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for value, err := range e.Run(t.Context(), []byte(input)) {
			got = append(got, fmt.Sprintf("%s %v", value, err))
		}
		in, _ := decode([]byte(input))
		for values := q.Run(in); ; {
			v, more := values.Next()
			if !more {
				break
			}
			if err, failed := v.(error); failed {
				want = append(want, fmt.Sprintf(" %v", err))
				break
			}
			text, err := gojq.Marshal(v)
			want = append(want, fmt.Sprintf("%s %v", text, err))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}
