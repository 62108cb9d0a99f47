package schema

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// repeated returns text n times, separated by commas.
func repeated(text string, n int) string {
	return strings.TrimSuffix(strings.Repeat(text+",", n), ",")
}

// numbered returns n copies of a template, each with its own number, separated by commas.
func numbered(template string, n int) string {
	var list []string
	for i := range n {
		list = append(list, strings.ReplaceAll(template, "@", fmt.Sprint(i)))
	}
	return strings.Join(list, ",")
}

func nested(n int, inner string) string {
	return strings.Repeat("[", n) + inner + strings.Repeat("]", n)
}

// chain returns definitions, each of which refers twice to the next one.
func chain(n int) string {
	var list []string
	for i := range n {
		ref := fmt.Sprintf(`{"$ref":"#/$defs/a%d"}`, i+1)
		list = append(list, fmt.Sprintf(`"a%d":{"anyOf":[%s,%s]}`, i, ref, ref))
	}
	return strings.Join(list, ",")
}

// hostile lists schemas and arguments that are designed to be slow. If no other limit applies, validation ends when
// the budget is spent.
var hostile = []struct{ name, schema, args string }{
	{"alternatives of alternatives", `{"$defs":{"a":{"anyOf":[{"items":{"$ref":"#/$defs/a"}},{"items":{"$ref":"#/$defs/a"}},{"type":"null"}],"not":{"const":0}}},"$ref":"#/$defs/a"}`, nested(150, "0")},
	{"under not", `{"not":{"$ref":"#/$defs/a"},"$defs":{"a":{"type":"array","items":{"$ref":"#/$defs/a"},"contains":{"$ref":"#/$defs/a"}}}}`, nested(150, "0")},
	{"alternatives of one value", `{"$defs":{` + chain(22) + `,"a22":{"type":"null"}},"items":{"$ref":"#/$defs/a0"}}`, "[" + repeated("0", 100) + "]"},
	{"a long list for each of many", `{"items":{"enum":[` + numbered("@", 20_000) + `]}}`, "[" + repeated("1.5", 50_000) + "]"},
	{"a long list for each of many that fit", `{"items":{"enum":[` + numbered("@", 20_000) + `]}}`, "[" + repeated("19999", 50_000) + "]"},
	{"large texts in a list", `{"items":{"enum":[` + repeated(`"`+strings.Repeat("x", 1000)+`"`, 200) + `]}}`, "[" + repeated(`"`+strings.Repeat("x", 1000)+`y"`, 5_000) + "]"},
	{"all different", `{"uniqueItems":true,"items":{"uniqueItems":true,"items":{"uniqueItems":true}}}`, "[" + numbered("["+numbered("[@,1,2,3]", 20)+",[@]]", 2000) + "]"},
	{"a pattern for a long text", `{"properties":{"a":{"pattern":"^(a|b|ab|ba){1,150}$"}}}`, `{"a":"` + strings.Repeat("ab", 1<<20) + `"}`},
	{"a pattern for each key", `{"patternProperties":{"^(a|b|ab|ba){1,150}c$":{}},"additionalProperties":false}`, `{` + numbered(`"`+strings.Repeat("ab", 100)+`@":1`, 5_000) + `}`},
	{"numbers", `{"items":{"type":"integer","multipleOf":7e-300}}`, "[" + repeated("1e400", 50_000) + "]"},
	{"wrong everywhere", `{"items":{"type":"string"}}`, "[" + repeated("0", 120_000) + "]"},
	{"wrong deep down", `{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/a"},"type":"array"}}}`, nested(190, repeated("0", 100_000))},
	{"many keys", `{"additionalProperties":{"type":"string"},"unevaluatedProperties":false,"allOf":[` + repeated(`{"properties":{"a":{}}}`, 45) + `]}`, `{` + numbered(`"k@":""`, 60_000) + `}`},
	{"one long text", `{"properties":{"a":{"type":"string","maxLength":1}}}`, `{"a":"` + strings.Repeat("x", 7<<20) + `"}`},
	{"too long a text", `{}`, `{"a":"` + strings.Repeat("x", 9<<20) + `"}`},
	{"many objects", `{"properties":{` + numbered(`"p@":{"type":"string"}`, 1990) + `}}`, `{"p0":1}`},
	{"deep schema", strings.Repeat(`{"items":`, 60) + "{}" + strings.Repeat("}", 60), `[]`},
	{"deep and many", `{"allOf":[` + repeated(strings.Repeat(`{"items":`, 60)+"{}"+strings.Repeat("}", 60), 32) + `]}`, `[]`},
	{"odd references", `{"x":{` + numbered(`"p@":{}`, 1800) + `},"properties":{` + numbered(`"p@":{"$ref":"#/x/p@"}`, 100) + `}}`, `{"p0":1}`},
	{"names of schemas", `{"properties":{` + numbered(`"p@":{"$id":"/p@"}`, 1990) + `}}`, `{"p0":1}`},
	{"patterns", `{"properties":{` + numbered(`"p@":{"pattern":"((a{30}){30})@"}`, 1990) + `}}`, `{"p0":"a"}`},
	{"exploding patterns", `{"properties":{` + numbered(`"p@":{"pattern":"(((a{100}){100}){100})@"}`, 1990) + `}}`, `{"p0":"a"}`},
}

// TestLimits checks that compilation and validation always end, and do so within 250 ms on an idle machine. With
// TOOLSCOPE_TIMES, it prints each time. The test fails only if every attempt takes too long.
func TestLimits(t *testing.T) {
	const (
		tries    = 5
		patience = 20 * 250 * time.Millisecond // allowance for busy machines and the race detector
	)
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			for try := 1; ; try++ {
				took, what := longest(t, h.schema, h.args)
				if took <= patience {
					return
				}
				if try == tries {
					t.Fatalf("%s in %v, and no faster in %d tries", what, took, tries)
				}
			}
		})
	}
}

// longest returns the longest of three times: the time to compile a schema, to follow arguments, and to validate
// them.
func longest(t *testing.T, schema, args string) (took time.Duration, what string) {
	start := time.Now()
	lap := func(now string) {
		if d := time.Since(start); d >= took {
			took, what = d, now
		}
		if os.Getenv("TOOLSCOPE_TIMES") != "" {
			t.Logf("%s in %v", now, time.Since(start))
		}
		start = time.Now()
	}
	c := compileSchema(json.Value(schema))
	lap("compiled")
	set := Compile([]protocol.Tool{{Name: "f", Kind: "function", Schema: json.Value(schema)}}, false)
	set.find("", "f").check = c
	tr := begin(set, stream.CallInfo{Name: "f"})
	start = time.Now()
	tr.event(stream.Args, args)
	lap("followed")
	tr.event(stream.Seal, "")
	lap("sealed")
	return took, what
}

// TestSteady checks that following a call allocates no memory once the call has begun.
func TestSteady(t *testing.T) {
	set := one(`{"type":"object","properties":{"rows":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"unit":{"enum":["a","b"]},"text":{"type":"string","maxLength":50}},"additionalProperties":false}}}}`)
	tr := begin(set, stream.CallInfo{Name: "f"})
	tr.event(stream.Args, `{"rows":[`)
	row := `{"id":12,"unit":"b","text":"some text"},`
	for range 100 {
		tr.event(stream.Args, row)
	}
	w := tr.watch
	w.next, w.stack, w.active = tr.call.Lexer().Tokens().Len()-13*5, w.stack[:2], w.active[:2]
	before := w.next
	w.stack[1].count -= 5
	got := testing.AllocsPerRun(20, func() {
		w.next = before
		w.Extend()
	})
	if got > 0 {
		t.Errorf("%g allocations for five rows", got)
	}
}
