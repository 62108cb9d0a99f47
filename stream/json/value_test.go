package json

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestRawText(t *testing.T) {
	for _, test := range []struct{ raw, text, appended string }{
		{`"abc"`, "abc", "abc"},
		{`""`, "", ""},
		{`"a\"b\\c\/d\b\f\n\r\t"`, "a\"b\\c/d\b\f\n\r\t", "a\"b\\c/d\b\f\n\r\t"},
		{`"\u00e5\u20AC"`, "å€", "å€"},
		{`"\ud83d\ude00"`, "😀", "😀"},
		{`"\ud83d"`, "\xed\xa0\xbd", "\xed\xa0\xbd"}, // half a character is kept
		{`"\ude00\ud83d"`, "\xed\xb8\x80\xed\xa0\xbd", "\xed\xb8\x80\xed\xa0\xbd"},
		{`"\u0000"`, "\x00", "\x00"},
		{"\"\xff\"", "\xff", "\xff"}, // bytes that are not UTF-8 are kept as well
		{`12`, "", "12"},
		{`{"a": 1}`, "", `{"a": 1}`},
		{`null`, "", "null"},
		{``, "", ""},
	} {
		r := Value(test.raw)
		if got := r.Text(); got != test.text {
			t.Errorf("%s: Text() = %q, want %q", r, got, test.text)
		}
		if got := string(r.Append([]byte("x"))); got != "x"+test.appended {
			t.Errorf("%s: Append = %q, want %q", r, got, "x"+test.appended)
		}
		if got := r.Is(test.text); got != r.IsString() {
			t.Errorf("%s: Is(%q) = %v", r, test.text, got)
		}
		if r.Is(test.text + "x") {
			t.Errorf("%s is more than itself", r)
		}
	}
}

func TestRawKind(t *testing.T) {
	for _, test := range []struct {
		raw                      string
		kind                     byte
		given, isString, isEmpty bool
	}{
		{``, 0, false, false, false},
		{`null`, 'n', false, false, false},
		{`false`, 'f', true, false, false},
		{`""`, '"', true, true, true},
		{`"a"`, '"', true, true, false},
		{`10`, '1', true, false, false},
		{`{}`, '{', true, false, false},
	} {
		r := Value(test.raw)
		if r.Kind() != test.kind || r.IsPresent() != test.given || r.IsString() != test.isString || r.Empty() != test.isEmpty {
			t.Errorf("%q: kind %q, given %v, string %v, empty %v", r, r.Kind(), r.IsPresent(), r.IsString(), r.Empty())
		}
	}
}

func TestRawNumbers(t *testing.T) {
	for _, test := range []struct {
		raw     string
		n       int64
		isInt   bool
		f       float64
		isFloat bool
	}{
		{`0`, 0, true, 0, true},
		{`-1`, -1, true, -1, true},
		{`12.0`, 12, true, 12, true},
		{`1.2e1`, 12, true, 12, true},
		{`12.5`, 0, false, 12.5, true},
		{`9223372036854775807`, math.MaxInt64, true, math.MaxInt64, true},
		{`9007199254740993`, 9007199254740993, true, 9007199254740992, true}, // a float can't have this value
		{`1e19`, 0, false, 1e19, true},
		{`1e400`, 0, false, 0, false},
		{`"12"`, 0, false, 0, false},
		{`true`, 0, false, 0, false},
		{`null`, 0, false, 0, false},
		{`[1]`, 0, false, 0, false},
		{``, 0, false, 0, false},
	} {
		r := Value(test.raw)
		if n, ok := r.Int(); ok != test.isInt || ok && n != test.n {
			t.Errorf("%s: Int() = %d, %v", r, n, ok)
		}
		if f, ok := r.Float(); ok != test.isFloat || ok && f != test.f {
			t.Errorf("%s: Float() = %v, %v", r, f, ok)
		}
	}
}

func TestRawGet(t *testing.T) {
	r := Value(`{"a":{"b":"c"},"n":null,"x":1,"x":2,"\u0065scaped":true}`)
	for _, test := range []struct{ got, want Value }{
		{r.Get("a"), Value(`{"b":"c"}`)},
		{r.Get("a").Get("b"), Value(`"c"`)},
		{r.Get("n"), Value(`null`)},
		{r.Get("x"), Value(`2`)}, // the last one counts, as everywhere
		{r.Get("escaped"), Value(`true`)},
		{r.Get("missing"), nil},
		{r.Get("missing").Get("deeper"), nil},
		{r.Get("x").Get("deeper"), nil},
		{Value(`[{"a":1}]`).Get("a"), nil},
		{Value(`{"a":1,"b`).Get("a"), Value(`1`)}, // the fields before an error are kept
	} {
		if string(test.got) != string(test.want) || (test.got == nil) != (test.want == nil) {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func TestEmptyObject(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: true, ` { } `: true, "": false, `null`: false, `[]`: false, `""`: false, `{"a":1}`: false, `{`: false, `{}}`: false,
	} {
		if got := Value(text).EmptyObject(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestFieldReader reads complete, cut off and wrong texts. It checks the fields, and whether the end was seen.
func TestFieldReader(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{` {"a": 1 , "b":[2,{"c":"}"}]} x`, `a=1 b=[2,{"c":"}"}] 29 true`},
		{`{}`, ` 2 true`},
		{`{"\u0061":"x\"","a":null}`, `a="x\"" a=null 25 true`},
		{`{"a":1,}`, `a=1 8 true`},
		{`{"a":1 "b":2}`, `a=1 7 false`},
		{`{"a":1,"b`, `a=1 9 false`},
		{`{"a":1,"b"`, `a=1 10 false`},
		{`{"a":1,"b":`, `a=1 b= 11 false`},
		{`{"a":"x`, `a="x 7 false`},
		{`{"a"}`, ` 4 false`},
		{`{1}`, ` 1 false`},
		{`[1, "x" ,[]]`, `=1 ="x" =[] 12 true`},
		{`[ ]`, ` 3 true`},
		{`[1 2]`, `=1 3 false`},
		{`[1,`, `=1 3 false`},
		{`"a"`, ` 0 false`},
		{``, ` 0 false`},
	} {
		got, sep := "", ""
		r := ReadFields([]byte(test.text))
		if strings.HasPrefix(test.text, "[") {
			r = ReadElements([]byte(test.text))
		}
		for r.Next() {
			got += fmt.Sprintf("%s%s=%s", sep, r.Name(), r.Value())
			sep = " "
		}
		if got += fmt.Sprintf(" %d %t", r.At, r.Closed); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.text, got, test.want)
		}
	}
}

// TestEachMemberOfOthers checks that EachMember skips a value that is not an object.
func TestEachMemberOfOthers(t *testing.T) {
	seen := ""
	n := EachMember([]byte(`{"a":null,"b":{"c":1},"d":2} x`), func(key string, rest []byte) int {
		seen += key
		return EachMember(rest, func(key string, _ []byte) int {
			seen += "/" + key
			return 0
		})
	})
	if seen != "ab/cd" || n != 28 {
		t.Errorf("read %s, %d bytes", seen, n)
	}
}

// TestFieldIndex checks that an index finds the same values as Get, wherever the text ends, and that it knows whether
// the text is complete.
func TestFieldIndex(t *testing.T) {
	texts := []string{
		`{"a":1,"b":{"a":2},"\u0061b":"x","a":[3, {}],"c":null}`, ` { "b" : "y" , "c" : true } `,
		`{"a":1,"a":{"b":}`, `{}`, `[{"a":1}]`, `"a"`, `{"a":1}{"b":2}`, ``,
	}
	for _, text := range texts {
		for end := range len(text) + 1 {
			data := []byte(text[:end])
			index := IndexFields(data)
			for _, name := range []string{"a", "b", "ab", "c", ""} {
				if got, want := index.Get(name), Value(data).Get(name); string(got) != string(want) || (got == nil) != (want == nil) {
					t.Errorf("%s: field %q is %q in the index, and %q in the text", data, name, got, want)
				}
			}
			if got, want := index.Err() == nil, Read(data) == nil; got != want {
				t.Errorf("%s: complete is %v, want %v", data, got, want)
			}
		}
	}
}
