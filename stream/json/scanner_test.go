package json

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// walk reads a text as decoders do, and writes the values to out.
func walk(s *Scanner, out *strings.Builder) {
	switch s.Kind() {
	case '{':
		out.WriteByte('{')
		for ok := s.Object(); ok; ok = s.Member() {
			fmt.Fprintf(out, "%s=", s.Key())
			if string(s.Key()) == "skip" {
				continue
			}
			walk(s, out)
			out.WriteByte(' ')
		}
		out.WriteByte('}')
	case '[':
		out.WriteByte('[')
		for ok := s.Array(); ok; ok = s.Element() {
			walk(s, out)
			out.WriteByte(' ')
		}
		out.WriteByte(']')
	default:
		out.Write(s.Value())
	}
}

func TestScanner(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`1`, `1`},
		{` "a" `, `"a"`},
		{`{}`, `{}`},
		{` { } `, `{}`},
		{`[]`, `[]`},
		{"\t[\r\n]\n", `[]`},
		{`{"a":1,"b":[true,false,null]}`, `{a=1 b=[true false null ] }`},
		{` { "a" : { "b" : [ ] , "c" : { } } , "d" : -0.5e+3 } `, `{a={b=[] c={} } d=-0.5e+3 }`},
		{`{"skip":{"x":[1,{"y":2}]},"a":1}`, `{skip=a=1 }`},
		{`{"a":{"skip":1},"skip":2}`, `{a={skip=} skip=}`},
		{`[[],[[]],{}]`, `[[] [[] ] {} ]`},
		{`{"\u0061\n":"\u0061"}`, "{a\n=\"\\u0061\" }"},
		{`{"a":1,"a":2}`, `{a=1 a=2 }`},
	} {
		s := Scan([]byte(test.text))
		var got strings.Builder
		walk(&s, &got)
		if err := s.End(); err != nil || got.String() != test.want {
			t.Errorf("%s\n got %s (%v)\nwant %s", test.text, got.String(), err, test.want)
		}
	}
}

func TestScannerErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{``, "byte 0: expected a value, got the end"},
		{`}`, "byte 0: expected a value, got '}'"},
		{`{`, "byte 1: expected a key, got the end"},
		{`{"a"`, "byte 4: expected a colon, got the end"},
		{`{"a":`, "byte 5: expected a value, got the end"},
		{`{"a":1`, "byte 6: expected a comma or }, got the end"},
		{`{"a":1,`, "byte 7: expected a key, got the end"},
		{`{"a":1,}`, "byte 7: expected a key, got '}'"},
		{`{1:2}`, "byte 1: expected a key, got '1'"},
		{`[1 2]`, "byte 3: expected a comma or ], got '2'"},
		{`[1,]`, "byte 3: expected a value, got ']'"},
		{`"ab`, "byte 3: expected the end of the string, got the end"},
		{`"a` + "\n" + `"`, `byte 2: expected an escaped control character in a string, got '\n'`},
		{`"\x"`, `byte 2: expected one of "\/bfnrtu after a backslash, got 'x'`},
		{`"\u12g4"`, "byte 5: expected a hex digit, got 'g'"},
		{`"\`, "byte 2: expected an escape, got the end"},
		{`nul`, "byte 0: expected null, got 'n'"},
		{`01`, "byte 0: expected a value, got '0'"},
		{`1.`, "byte 0: expected a value, got '1'"},
		{`{} {}`, "byte 3: expected the end of the text, got '{'"},
		{strings.Repeat("[", 10001), "byte 10000: expected at most 10000 levels of nesting, got '['"},
	} {
		skipped := Scan([]byte(test.text))
		skipped.Value()
		if err := skipped.End(); err == nil || err.Error() != test.want {
			t.Errorf("%.20q skipped: %v\nwant %s", test.text, err, test.want)
		}
		walked := Scan([]byte(test.text))
		walk(&walked, new(strings.Builder))
		if err := walked.End(); err == nil || err.Error() != test.want {
			t.Errorf("%.20q walked: %v\nwant %s", test.text, err, test.want)
		}
	}
}

// TestScannerWrongType checks that a value of the wrong type reads as empty, and that the remaining text is read as
// usual.
func TestScannerWrongType(t *testing.T) {
	s := Scan([]byte(`{"object":[1,2],"array":{"a":1},"after":3}`))
	var after Value
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "object":
			if s.Object() {
				t.Error("a list was entered as an object")
			}
		case "array":
			if s.Array() {
				t.Error("an object was entered as a list")
			}
		case "after":
			after = s.Value()
		}
	}
	if err := s.End(); err != nil || string(after) != "3" {
		t.Errorf("after = %s, %v", after, err)
	}
}

func TestScannerDepth(t *testing.T) {
	for _, pair := range []string{"[]", "{}"} {
		opener, inner := pair[:1], ""
		if opener == "{" {
			opener, inner = `{"a":`, "{}"
		}
		levels := MaxDepth - len(inner)/2
		deep := strings.Repeat(opener, levels) + inner + strings.Repeat(pair[1:], levels)
		s := Scan([]byte(deep))
		if s.Value(); s.End() != nil || !json.Valid([]byte(deep)) {
			t.Errorf("%d levels of %s: %v", MaxDepth, pair, s.End())
		}
	}
}

func TestNumberLen(t *testing.T) {
	for _, test := range []struct {
		text string
		want int
	}{
		{"", 0}, {"-", 0}, {"0", 1}, {"-0", 2}, {"00", 0}, {"01", 0}, {"10,", 2}, {"1.5}", 3}, {"1.", 0}, {".5", 0},
		{"1e5", 3}, {"1E+05 ", 5}, {"1e", 0}, {"1e+", 0}, {"+1", 0}, {"0.0e-0", 6}, {"1x", 1}, {"--1", 0},
	} {
		if got := numberLen([]byte(test.text)); got != test.want {
			t.Errorf("numberLen(%q) = %d, want %d", test.text, got, test.want)
		}
	}
}

// TestNumberLenAgrees compares numberLen with encoding/json for every text of up to six characters that can occur in
// numbers.
func TestNumberLenAgrees(t *testing.T) {
	const alphabet = "01-+.e"
	var try func(text []byte)
	try = func(text []byte) {
		if got, want := len(text) > 0 && numberLen(text) == len(text), json.Valid(text); got != want {
			t.Errorf("%q is a number: %v, want %v", text, got, want)
		}
		for i := 0; len(text) < 6 && i < len(alphabet); i++ {
			try(append(text[:len(text):len(text)], alphabet[i]))
		}
	}
	try(nil)
}

// FuzzScan checks that the scanner accepts the same texts as encoding/json and cuts them into the same values.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-2.5e3,"x\u00e9\n\ud83d\ude00",true,false,null,{}],"b":{"c":[]}}`, ` [ ] `, `"\ud800"`, `{"a":1,"a":2}`,
		`{"":0}`, `[1,]`, `{"a"}`, `"` + "\xff" + `"`, `1e400`, "\x00", `{"\u0041":{"\ud83d\ude00":1}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := Scan(data)
		value := s.Value()
		err := s.End()
		if json.Valid(data) != (err == nil) {
			t.Fatalf("%q: %v", data, err)
		}
		if err == nil {
			sameValues(t, value)
		}
		for ok := s.Object(); ok; ok = s.Member() {
			t.Fatal("a scanner at its end has a member")
		}
	})
}

// sameValues compares a value and all values in it with the results of encoding/json.
func sameValues(t *testing.T, value Value) {
	switch value.Kind() {
	case '{':
		sameMembers(t, value)
	case '[':
		var want []json.RawMessage
		unmarshal(t, value, &want)
		s, got := value.Scan(), []Value{}
		for ok := s.Array(); ok; ok = s.Element() {
			got = append(got, s.Value())
		}
		if !slices.EqualFunc(got, want, func(a Value, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			t.Fatalf("%q has elements %q, want %q", value, got, want)
		}
		for _, v := range got {
			sameValues(t, v)
		}
	case '"':
		var want string
		unmarshal(t, value, &want)
		if got := value.Text(); utf8.ValidString(got) && got != want {
			t.Fatalf("%q is %q, want %q", value, got, want)
		}
	}
}

func sameMembers(t *testing.T, value Value) {
	var want map[string]json.RawMessage
	unmarshal(t, value, &want)
	got := map[string]json.RawMessage{}
	s := value.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		key := string(s.Key())
		if !utf8.ValidString(key) {
			return // encoding/json replaces text that is not UTF-8, so the keys differ
		}
		got[key] = json.RawMessage(s.Value())
	}
	if !maps.EqualFunc(got, want, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		t.Fatalf("%q has members %q, want %q", value, got, want)
	}
	for key, v := range got {
		if !bytes.Equal(value.Get(key), v) {
			t.Fatalf("%q: %q is %q, want %q", value, key, value.Get(key), v)
		}
		sameValues(t, Value(v))
	}
}

func unmarshal(t *testing.T, data []byte, to any) {
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatalf("%q: %v", data, err)
	}
}
