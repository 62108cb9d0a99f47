package schema

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"toolscope/stream"
	"toolscope/stream/json"
)

// author writes random schemas, values and continuations. It uses few names and words, so that schemas and values
// often share them.
type author struct{ *rand.Rand }

func (a author) pick(words ...string) string { return words[a.IntN(len(words))] }

func (a author) name() string { return a.pick("a", "ab", "abc", "b", `\u0061`, "é") }

func (a author) word() string {
	return a.pick(`"a"`, `"ab"`, `"abc"`, `"b"`, `""`, `"\u0061b"`, `"é"`, `"ê"`, `"\ud83d\ude00"`, `"\ud83d"`, `"x\ny"`)
}

func (a author) number() string { return a.pick("1", "1.0", "1e2", "1.5", "-0", "10", "0.1e1", "2E-1") }

// schema writes a schema. A simple schema has only keywords that the early check covers.
func (a author) schema(depth int, simple bool) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	sub := func() string { return a.schema(depth-1, simple) }
	if depth <= 0 || a.IntN(3) == 0 {
		add(`"type":%s`, a.pick(`"string"`, `"integer"`, `"number"`, `"object"`, `"array"`, `["string","null"]`, `["object","null"]`, `"boolean"`))
	}
	if a.IntN(6) == 0 {
		add(`"enum":[%s,%s,%s]`, a.word(), a.word(), a.pick(a.word(), a.number(), "null", "true", "{}"))
	}
	if a.IntN(20) == 0 {
		add(`"const":%s`, a.pick(a.word(), a.number(), "false"))
	}
	if depth > 0 && a.IntN(4) > 0 {
		add(`"properties":{"a":%s,"ab":%s,"é":%s}`, sub(), sub(), sub())
		if a.IntN(2) == 0 {
			add(`"additionalProperties":%s`, a.pick("false", "true", sub()))
		}
	}
	if depth > 0 && a.IntN(3) == 0 {
		add(`"items":%s`, sub())
	}
	if depth > 0 && a.IntN(8) == 0 {
		add(`"%s":[%s,%s]`, a.pick("allOf", "prefixItems"), sub(), sub())
	}
	if a.IntN(10) == 0 {
		add(`"$ref":"#/$defs/%s"`, a.pick("x", "y"))
	}
	if a.IntN(12) == 0 {
		add(`"%s":%d`, a.pick("maxLength", "maxItems", "maxProperties"), a.IntN(3))
	}
	if simple {
		return "{" + strings.Join(parts, ",") + "}"
	}
	switch {
	case depth > 0 && a.IntN(5) == 0:
		add(`"%s":[%s,%s]`, a.pick("anyOf", "oneOf"), sub(), sub())
	case depth > 0 && a.IntN(8) == 0:
		add(`"patternProperties":{"%s":%s}`, a.pick("^a", "b$", "."), sub())
	case depth > 0 && a.IntN(8) == 0:
		add(`"%s":%s`, a.pick("not", "if", "then", "else", "contains", "unevaluatedProperties", "propertyNames"), sub())
	case a.IntN(10) == 0:
		return a.pick("true", "false", "{}")
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (a author) whole(simple bool) string {
	s := a.schema(3, simple)
	if !strings.HasPrefix(s, "{") || s == "{}" {
		s = `{"type":"object"}`
	}
	return strings.TrimSuffix(s, "}") + fmt.Sprintf(`,"$defs":{"x":%s,"y":%s}}`, a.schema(1, simple), a.schema(1, simple))
}

func (a author) value(depth int) string {
	if depth == 0 {
		return a.pick(a.word(), a.number(), "null", "true", "false")
	}
	switch a.IntN(6) {
	case 0, 1, 2:
		return a.object(depth)
	case 3:
		var elements []string
		for range a.IntN(4) {
			elements = append(elements, a.value(depth-1))
		}
		return "[" + strings.Join(elements, ", ") + "]"
	}
	return a.value(0)
}

func (a author) object(depth int) string {
	var members []string
	taken := map[string]bool{}
	for range a.IntN(4) {
		if name := a.name(); !taken[strings.ReplaceAll(name, `\u0061`, "a")] {
			taken[strings.ReplaceAll(name, `\u0061`, "a")] = true
			members = append(members, fmt.Sprintf("\"%s\":%s%s", name, a.pick("", " "), a.value(depth-1)))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// goOn completes a text that may end anywhere. The keys that it adds are new, so no earlier value is replaced.
func (a author) goOn(prefix []byte) []byte {
	text := bytes.Clone(prefix)
	var lex json.Lexer
	lex.Write(text)
	for n := 0; lex.Syntax() == json.SyntaxPrefix || lex.Syntax() == json.SyntaxEmpty; n++ {
		tries := []string{`"`, "}", "]", ":", "1", "e", "r", "u", "l", "a", "s", "0", "d", "\\", "b"}
		if n < 20 {
			tries = append(tries, ",", a.word(), a.value(1), fmt.Sprintf(`"new%d":`, n), "b", "é", `\ude00`, ".5", "e1")
		}
		try := tries[a.IntN(len(tries))]
		next := lex
		next.Write(nil)
		probe := append(bytes.Clone(text), try...)
		next = json.Lexer{}
		if next.Write(probe); next.Err() == nil && next.Docs() < 2 {
			text, lex = probe, next
		}
	}
	return text
}

// fits reports whether a complete text has no duplicate keys and the validator accepts it.
func fits(c *compiledSchema, text []byte) bool {
	var lex json.Lexer
	lex.Write(text)
	lex.Close()
	all, why := c.validate(text, lex.Tokens())
	return len(all) == 0 && why.Text == "" && !doubled(string(text))
}

// TestNeverAFalseAlarm checks that the validator confirms every early finding, for any continuation of the
// call.
func TestNeverAFalseAlarm(t *testing.T) {
	alarms, rounds := 0, 1_000
	switch {
	case testing.Short():
		rounds = 500
	case os.Getenv("TOOLSCOPE_LONG") != "":
		rounds = 4_000
	}
	for seed := range uint64(rounds) {
		a := author{rand.New(rand.NewPCG(seed, 1))}
		text := a.whole(seed%2 == 0)
		set, args := one(text), a.object(3)
		tr := begin(set, stream.CallInfo{Name: "f"})
		c := set.find("", "f").check
		if c.note.Text != "" {
			continue
		}
		for i := range len(args) {
			before := len(tr.found)
			tr.event(stream.Args, args[i:i+1])
			if len(tr.found) == before {
				continue
			}
			alarms++
			for range 5 {
				if whole := a.goOn(tr.call.Args()); stdjson.Valid(whole) && fits(c, whole) {
					t.Fatalf("seed %d: %s\nschema %s\nof   %s\nfits %s", seed, tr.lines(), text, tr.call.Args(), whole)
				}
			}
		}
	}
	if alarms < rounds/4 {
		t.Errorf("%d alarms in %d rounds", alarms, rounds)
	}
}

// TestNothingLate checks that errors in types, lists and keys are found at the byte that causes them, if the schema
// is simple. The validator must find no further errors of these kinds.
func TestNothingLate(t *testing.T) {
	judged, rounds := 0, 1_000
	switch {
	case testing.Short():
		rounds = 500
	case os.Getenv("TOOLSCOPE_LONG") != "":
		rounds = 10_000
	}
	for seed := range uint64(rounds) {
		a := author{rand.New(rand.NewPCG(seed, 2))}
		text := a.whole(true)
		set, args := one(text), a.object(3)
		tr := begin(set, stream.CallInfo{Name: "f"}).bytewise(args)
		c := set.find("", "f").check
		if c.note.Text != "" || len(tr.found) >= maxFindings {
			continue
		}
		all, _ := c.validate([]byte(args), tr.call.Lexer().Tokens())
		for _, e := range all {
			switch k := e.ErrorKind.(type) {
			case *kind.Enum:
				if reflect.ValueOf(k.Got).Kind() >= reflect.Map {
					continue // objects and arrays are compared when they are complete
				}
			case *kind.Type, *kind.Const, *kind.AdditionalProperties:
			default:
				continue
			}
			judged++
			{
				for i, f := range tr.found {
					if f.Diagnosis == Invalid && strings.Contains(f.Message, problemWord(e)) && !enclosed(f, tr.found[:i]) {
						t.Fatalf("seed %d: late %d: %s\nschema %s\nargs %s", seed, i, tr.lines(), text, args)
					}
				}
			}
		}
		for i, f := range tr.found {
			if late := tr.cut[i] - f.Offset - 1; tr.cut[i] >= 0 && late > 0 && !strings.ContainsAny(args[f.Offset:tr.cut[i]], `\.eE`) &&
				args[f.Offset:tr.cut[i]-1] != "é" && !isWord(args[f.Offset:]) && args[f.Offset] < 0x80 && f.Diagnosis != NotListed && f.Diagnosis != TooMany {
				t.Fatalf("seed %d: %d bytes late: %s\nschema %s\nargs %s", seed, late, tr.lines(), text, args)
			}
		}
	}
	if judged < rounds/4 {
		t.Errorf("%d errors judged in %d rounds", judged, rounds)
	}
}

// enclosed reports whether a finding is about a part of a value that already has a finding.
func enclosed(f stream.Finding, before []stream.Finding) bool {
	path, _, _ := strings.Cut(f.Message, ": ")
	for _, b := range before {
		outer, _, _ := strings.Cut(b.Message, ": ")
		if (b.Diagnosis == WrongType || b.Diagnosis == NotListed) && (outer == top || path == outer || strings.HasPrefix(path, outer+"/")) {
			return true
		}
	}
	return false
}

func problemWord(e *jsonschema.ValidationError) string {
	if _, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
		return "is not allowed"
	}
	return problemText(e).Text
}

// isWord reports whether s begins with a number or a literal, which is checked only when it ends.
func isWord(s string) bool { return strings.ContainsRune("-0123456789tfn", rune(s[0])) }

// FuzzFollow checks any schema with any arguments. The findings must not depend on how the arguments are split into
// deltas, the validator must confirm them, and nothing may panic.
func FuzzFollow(f *testing.F) {
	f.Add(weather, `{"city":"Oslo","dayz":3}`, uint8(3))
	for seed := range uint64(20) {
		a := author{rand.New(rand.NewPCG(seed, 3))}
		f.Add(a.whole(seed%2 == 0), a.object(3), uint8(seed))
	}
	f.Fuzz(func(t *testing.T, schema, args string, size uint8) {
		if !stdjson.Valid([]byte(schema)) || strings.Contains(schema, "json-schema.org") {
			return
		}
		set := one(schema)
		whole, pieces := begin(set, stream.CallInfo{Name: "f"}), begin(set, stream.CallInfo{Name: "f"})
		whole.event(stream.Args, args)
		early := len(whole.found)
		for rest := args; rest != ""; {
			n := min(int(size)%7+1, len(rest))
			pieces.event(stream.Args, rest[:n])
			rest = rest[n:]
		}
		for _, tr := range []*trial{whole, pieces} {
			tr.event(stream.Seal, "")
		}
		if a, b := fmt.Sprint(whole.found), fmt.Sprint(pieces.found); a != b {
			t.Errorf("in one piece %s\nin several %s", a, b)
		}
		c := set.find("", "f").check
		if early == 0 || c == nil || c.note.Text != "" || !stdjson.Valid([]byte(args)) || doubled(args) {
			return
		}
		if all, why := c.validate([]byte(args), whole.call.Lexer().Tokens()); len(all) == 0 && why.Text == "" {
			t.Errorf("a false alarm: %s", whole.lines())
		}
	})
}

// doubled reports whether an object in args may have a duplicate key.
func doubled(args string) bool {
	var v, back any
	if stdjson.Unmarshal([]byte(args), &v) != nil {
		return true
	}
	text, _ := stdjson.Marshal(v)
	_ = stdjson.Unmarshal(text, &back)
	count := func(s string) (n int) {
		var lex json.Lexer
		lex.Write([]byte(s))
		for _, t := range lex.Tokens().All() {
			if t.Kind == json.Key {
				n++
			}
		}
		return n
	}
	return count(args) != count(string(text))
}
