package json

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestPlainRun(t *testing.T) {
	for c := range 256 {
		stops := c < ' ' || c == '"' || c == '\\'
		for at := range 20 {
			// 0xff and 0x80 differ from the stop bytes in the bits that the word-wide test reads.
			p := []byte(strings.Repeat("\xff\x80a", 8))
			p[at] = byte(c)
			want := len(p)
			if stops {
				want = at
			}
			if got := PlainRun(p); got != want {
				t.Fatalf("byte %#x at %d: run of %d, want %d", c, at, got, want)
			}
		}
	}
}

func TestHex(t *testing.T) {
	const digits = "0123456789abcdef"
	for c := range 256 {
		want := rune(strings.IndexByte(digits, byte(c)))
		if 'A' <= c && c <= 'F' {
			want = rune(c-'A') + 10
		}
		if got := HexValue(byte(c)); got != want {
			t.Errorf("%q: %d, want %d", c, got, want)
		}
	}
}

func TestStringEnd(t *testing.T) {
	for _, c := range []struct {
		text   string
		n      int
		closed bool
	}{
		{`""`, 2, true}, {`"a",`, 3, true}, {`"\"" "`, 4, true}, {`"\\"x"`, 4, true}, {`"{[,"}`, 5, true},
		{`"`, 1, false}, {`"a`, 2, false}, {`"\`, 2, false}, {`"\"`, 3, false}, {`"\\\"`, 5, false},
	} {
		if n, closed := StringEnd([]byte(c.text)); n != c.n || closed != c.closed {
			t.Errorf("%s: %d, %v", c.text, n, closed)
		}
	}
}

func TestValueEnd(t *testing.T) {
	for text, want := range map[string]string{
		`12,`: `12`, `-1.5e+3]`: `-1.5e+3`, `true}`: `true`, "null\n": `null`, `"a,b" `: `"a,b"`, `"key":1`: `"key"`,
		`{"a":[1,"}"]},2`: `{"a":[1,"}"]}`, `[[],{}] ]`: `[[],{}]`, `{}`: `{}`,
		``: ``, `{"a":[1`: `{"a":[1`, `["a`: `["a`, `["a\`: `["a\`, `,`: ``, `]`: ``,
	} {
		if got := text[:ValueEnd([]byte(text))]; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestWholeEscapes(t *testing.T) {
	for text, want := range map[string]string{
		``: ``, `abc`: `abc`, `a\`: `a`, `a\\`: `a\\`, `a\\\`: `a\\`, `a\n`: `a\n`, `\u`: ``, `\u12`: ``, `x\u123`: `x`,
		`\u1234`: `\u1234`, `\\u12`: `\\u12`, `\n12`: `\n12`, `\u0041\u`: `\u0041`, `\\\u`: `\\`,
	} {
		if got := text[:CompleteEscapes([]byte(text))]; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// FuzzValid compares the results for valid texts with encoding/json. It also checks that the results for a text that
// is cut off are within the text.
func FuzzValid(f *testing.F) {
	for _, text := range []string{`{"a\\":["\u00e9\"",-1.5e3,true,null,{}]}`, ` "\ud83d\ude00" `, `[[[]],""]`, "0"} {
		f.Add([]byte(text), uint(4))
	}
	for _, c := range unquoteCases {
		f.Add([]byte(`"`+c.lit+`"`), uint(len(c.lit)))
	}
	f.Fuzz(func(t *testing.T, text []byte, cut uint) {
		n := int(cut % uint(len(text)+1))
		checkBounds(t, text[:n])
		if !json.Valid(text) {
			return
		}
		value := bytes.Trim(text, " \t\r\n")
		if text = text[SpaceLen(text):]; !bytes.HasPrefix(text, value) {
			t.Fatalf("%q begins no later than %q", value, text)
		}
		for _, rest := range []string{"", ",1", "]", "}", " 1", ": 1"} {
			if got := ValueEnd(append(bytes.Clone(value), rest...)); got != len(value) {
				t.Fatalf("%q%s: value of %d", value, rest, got)
			}
		}
		if value[0] != '"' {
			return
		}
		if got, closed := StringEnd(append(bytes.Clone(value), `"x`...)); got != len(value) || !closed {
			t.Fatalf("%q: string of %d, %v", value, got, closed)
		}
		checkUnquote(t, string(value[1:len(value)-1]))
		checkCut(t, value[1:len(value)-1], n)
	})
}

// checkBounds checks that all results are within the text, for any bytes.
func checkBounds(t *testing.T, p []byte) {
	if n := ValueEnd(p); n < 0 || n > len(p) {
		t.Fatalf("%q: value of %d", p, n)
	}
	AppendUnquoted(nil, p)
	checkString(t, append([]byte(`"`), p...))
	if len(p) == 0 {
		return
	}
	if n, closed := StringEnd(p); n < 1 || n > len(p) || !closed && n < len(p) {
		t.Fatalf("%q: string of %d, %v", p, n, closed)
	}
}

// checkCut checks that the content of a string that is cut off is valid without the escape at the cut, and that
// nothing more is removed.
func checkCut(t *testing.T, lit []byte, cut int) {
	p := lit[:min(cut, len(lit))]
	whole := CompleteEscapes(p)
	if !json.Valid([]byte(`"` + string(p[:whole]) + `"`)) {
		t.Fatalf("%q is cut to %q", p, p[:whole])
	}
	if rest := p[whole:]; len(rest) > 0 && (rest[0] != '\\' || EscapeLen(rest) != len(rest) || EscapeLen(lit[whole:]) <= len(rest)) {
		t.Fatalf("%q: %q is not half an escape", p, rest)
	}
	if got, want := AppendUnquoted(nil, p), AppendUnquoted(nil, p[:whole]); !bytes.Equal(got, want) {
		t.Fatalf("%q says %q, without its end %q", p, got, want)
	}
}
