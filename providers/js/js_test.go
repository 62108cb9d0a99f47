package js

import (
	"encoding/json"
	"testing"
)

// TestStringify checks the output of JSON.stringify for values that JSON.parse has read. The expected texts were
// printed by Node.js.
func TestStringify(t *testing.T) {
	for text, want := range map[string]string{
		` {"b" : 1.0, "10":2, "2":3, "a":[ ] } `:   `{"2":3,"10":2,"b":1,"a":[]}`,
		`{"a":1,"b":2,"a":3}`:                      `{"a":3,"b":2}`,
		`[-0, 1e400, 1E-7, 123456789012345680000]`: `[0,null,1e-7,123456789012345680000]`,
		`{"__proto__":{"x":1}}`:                    `{"__proto__":{"x":1}}`,
		`"\ud83d\ude00 \ud83d \u2028 \/"`:          "\"\U0001f600 \\ud83d \u2028 /\"",
		`[true,false,null]`:                        `[true,false,null]`,
	} {
		v, ok := Parse(text)
		if got := string(v.JSON()); !ok || got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

// TestParsers checks the result of each parser for incomplete or invalid texts. The result is "" if the parser
// throws. The expected texts were printed by the parsers themselves.
func TestParsers(t *testing.T) {
	for _, test := range []struct{ text, repaired, langChain, closed string }{
		{`{"a":"x`, ``, `{"a":"x"}`, `{}`},
		{`{"a":1,"b`, ``, `{"a":1}`, `{"a":1}`},
		{`{"a":1 "b":2}`, ``, ``, ``},
		{`{"a":[1,2`, ``, `{"a":[1,2]}`, `{"a":[1]}`},
		{"{\"a\":\"x\ny\"}", `{"a":"x\ny"}`, `{"a":"x\ny"}`, ``},
		{`words`, ``, ``, ``},
		{`nul`, ``, `null`, ``},
		{`{"a":1}}`, ``, ``, ``},
		{`{"__proto__":1,"a":`, ``, `{}`, `{"__proto__":1}`},
	} {
		check := func(which string, v Value, ok bool, want string) {
			t.Helper()
			got := ""
			if ok {
				got = string(v.JSON())
			}
			if got != want {
				t.Errorf("%s of %s: %s, want %s", which, test.text, got, want)
			}
		}
		v, ok := ParseRepaired(test.text)
		check("repaired", v, ok, test.repaired)
		v, ok = LangChain(test.text)
		check("LangChain's", v, ok, test.langChain)
		v, ok = ParseClosed(test.text)
		check("closed", v, ok, test.closed)
	}
}

// TestComplaint checks the errors of JSON.parse. The expected texts were printed by Bun.
func TestComplaint(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}`:        "",
		`{"a":1`:         "Expected '}'",
		`{"a" 1}`:        "Expected ':' before value in object property definition",
		`{"a":1,}`:       "Property name must be a string literal",
		`{a:1}`:          "Expected '}'",
		`[1 2]`:          "Expected ']'",
		`[1,]`:           "Unexpected comma at the end of array expression",
		`{"a":tr`:        `Unexpected identifier "tr"`,
		`{"a":`:          "Unexpected EOF",
		`{"a":}`:         "Unexpected token '}'",
		`{"a":-}`:        "Invalid number",
		`{"a":1.}`:       "Invalid digits after decimal point",
		`{"a":1e"}`:      "Expected '}'",
		`0e`:             "Unable to parse JSON string",
		`{} and`:         "Unable to parse JSON string",
		"{}`":            "Unrecognized token '`'",
		"\U0001f600":     "Unrecognized token '\xed\xa0\xbd'",
		`{'a':1}`:        "Single quotes (') are not allowed in JSON",
		"{\"a\":\"b\n\"": "Unterminated string",
		`{"a":"\d"}`:     "Invalid escape character d",
		`{"a":"\u00`:     `\u must be followed by 4 hex digits`,
		`{"a":"\u00 1"`:  `"\u00 1" is not a valid unicode escape`,
		`truefalse`:      "Unable to parse JSON string",
	} {
		if got := ParseErrorText(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// FuzzParsers checks that no text makes a parser panic or run forever. It also checks that Parse accepts exactly the
// valid JSON texts, and that its values are written as JSON.
func FuzzParsers(f *testing.F) {
	for _, text := range []string{`{"a":[1,{"b":"\u00`, `-`, `"\`, `{]`, `[}`, `{"a":-Inf`, `1e`, "\ufeff{", `{"a" 1`, `t}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := Parse(text)
		if ok != json.Valid([]byte(text)) {
			t.Fatalf("%q: taken %v", text, ok)
		}
		ParseSecure(text)
		if said := ParseErrorText(text); ok != (said == "") {
			t.Fatalf("%q: %s", text, said)
		}
		all := []Value{v}
		for _, parse := range []func(string) (Value, bool){LangChain, ParseClosed, ParseRepaired} {
			if v, ok := parse(text); ok {
				all = append(all, v)
			}
		}
		for _, v := range all {
			if out := v.JSON(); !json.Valid(out) {
				t.Fatalf("%q becomes %q", text, out)
			}
		}
	})
}
