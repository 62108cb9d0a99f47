package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestShapeStays checks that a replacement never breaks the text around it, such as a quote, an escape or a line
// break.
func TestShapeStays(t *testing.T) {
	key := sample("sk-ant-api03-{40}")
	for _, text := range []string{
		`{"c":"x = \"-----BEGIN PRIVATE KEY-----\"; y = 1"}`,
		`{"c":"x = \"-----BEGIN PRIVATE KEY-----` + sample(`\\n{64}\\n{20}`) + `\\n-----END PRIVATE KEY-----\\n\"; y = 1"}`,
		`{"c":"PASSWORD=` + sample("{16}") + `\\"}`, `{"c":"PASSWORD=\"` + sample("{16}") + `\""}`, `{"c":"` + key + `\u00e9\\` + key + `\\\\"}`,
		`{"c":"{\"password\":\"` + sample("{16}") + `\",\"n\":[1,{\"token\":12345678901234567890}]}"}`, `{"api_token":12345678901234567890,"b":[true,null]}`,
		`{"c":"\ud83d\udd11` + key + `\ud83d\udd11"}`, `{"` + key + `":"` + key + `"}`, `{"credentials":"{\"type\":\"a\",\"id\":\"` + key + `\"}"}`,
		`{"c":"%5C%22` + key + `%5C%22%7D"}`, `["` + key + `","` + key + `",{"a":["` + key + `"]}]`, `"` + key + `"`,
	} {
		for n := 1; n <= len(text); n++ {
			got := through(redactor(), text, n)
			if want := shapeOf(text, 0); shapeOf(got, 0) != want {
				t.Fatalf("%s became %s\nof shape %s\nwant     %s", text, got, shapeOf(got, 0), want)
			}
		}
	}
}

// TestMalformedStays checks that malformed text stays malformed in the same place.
func TestMalformedStays(t *testing.T) {
	key := sample("sk-ant-api03-{40}")
	for _, text := range []string{
		`{"a":"` + key, `{"a":"` + key + `\`, `{"a":"` + key + `\q"}`, `{"a":"` + key + `\u00`, `{"a":"` + key + `"`, `{"a":` + key + `}`, `{a: "` + key + `"}`,
		`{"a":"` + key + `"}}`, `{"a":"` + key + `"} trailing`, "{\"a\":\"" + key + "\nb\"}", `{'password': '` + sample("{16}") + `'}`,
		"{\"a\":\"-----BEGIN PRIVATE KEY-----\n" + sample("{64}\n{64}") + "\n-----END PRIVATE KEY-----\"}",
	} {
		for _, wrapped := range []bool{false, true} {
			got := redactor().Text(text)
			if wrapped {
				got = unquoted(t, redactor().Text(quoted(text)))
			}
			if strings.Contains(got, key) || !strings.Contains(got, "[redacted:") || syntaxOf(got) != syntaxOf(text) {
				t.Errorf("%q became %q: %s, and was %s", text, got, syntaxOf(got), syntaxOf(text))
			}
		}
	}
}

// syntaxOf returns the syntax error of a text, without its byte offset, because replacements change the offset.
func syntaxOf(text string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	said := fmt.Sprint(d.Decode(&v), d.More())
	return regexp.MustCompile(`character '.*?'`).ReplaceAllString(said, "character")
}

// shapeOf describes a text, and the JSON inside it at every depth: the kinds of tokens in their order, and all parts
// that are not secrets.
func shapeOf(text string, depth int) string {
	var b strings.Builder
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			if err.Error() != "EOF" {
				b.WriteString("!")
			}
			return b.String()
		}
		inner, isString := token.(string)
		switch {
		case !isString:
			fmt.Fprint(&b, token, " ")
		case depth < 4 && strings.IndexByte("{[\"", (inner + " ")[0]) >= 0 && json.Valid([]byte(inner)):
			fmt.Fprintf(&b, "<%s> ", shapeOf(inner, depth+1))
		default:
			b.WriteString("string ")
		}
	}
}

// tree makes random JSON values that contain secrets, some of them in JSON inside strings.
type tree struct {
	*rand.Rand
	kinds   []rule
	planted []string
}

func (r *tree) value(depth int) any {
	switch r.IntN(8) {
	case 0:
		return r.IntN(1 << 40)
	case 1:
		return []any{true, nil, r.plain()}[r.IntN(3)]
	case 2, 3:
		if depth > 0 {
			list := []any{}
			for range r.IntN(4) {
				list = append(list, r.value(depth-1))
			}
			return list
		}
	case 4, 5:
		if depth > 0 {
			object := map[string]any{}
			for range r.IntN(4) {
				object[r.plain()] = r.value(depth - 1)
			}
			return object
		}
	case 6:
		if depth > 0 {
			inner, _ := json.Marshal(r.value(depth - 1))
			return string(inner)
		}
	}
	return r.plain() + " " + r.secret() + " " + r.plain()
}

var plainTexts = []string{"", "ordinary words", "a\nb\tc", `say "hi" \o/`, "é \U0001f511", "100% of sk-folding-cube", "5e8f0c1a9b7d4e6f8a0b2c4d6e8f0a1b", "toolu_01A09q90qw90lq917835lq9"}

func (r *tree) plain() string { return plainTexts[r.IntN(len(plainTexts))] }

// secret returns a new secret that any text may contain. Sometimes it is percent-encoded.
func (r *tree) secret() string {
	kind := r.kinds[r.IntN(len(r.kinds))].hit
	text := sample(fmt.Sprintf("%s\x00%d", kind, r.Int()))
	text, _, _ = strings.Cut(text, "\x00")
	secret := text[len(text)-12:]
	r.planted = append(r.planted, secret)
	if r.IntN(4) == 0 {
		return url.QueryEscape(text)
	}
	return text
}

// spelled writes a value as JSON, and also escapes characters that don't need it.
func spelled(r *rand.Rand, text []byte) []byte {
	var out bytes.Buffer
	inString, slash := false, false
	for _, c := range text {
		switch {
		case slash:
			slash = false
		case c == '\\':
			slash = true
		case c == '"':
			inString = !inString
		case inString && c < 0x80 && r.IntN(9) == 0:
			fmt.Fprintf(&out, `\u%04x`, c)
			continue
		}
		out.WriteByte(c)
	}
	return out.Bytes()
}

// TestShapeOfRandom checks that, for random JSON with secrets at every depth and in every spelling, the output has
// the same shape as the input, all of its other text, and no secret.
func TestShapeOfRandom(t *testing.T) {
	kinds := slices.DeleteFunc(allRules(), func(r rule) bool {
		return !strings.HasPrefix(r.shape, "sk-") && !strings.HasPrefix(r.shape, "gl") && !strings.HasPrefix(r.shape, "AKIA")
	})
	for seed := range uint64(1500) {
		r := &tree{Rand: rand.New(rand.NewPCG(seed, 2)), kinds: kinds}
		plain, err := json.Marshal(map[string]any{"a": r.value(5), "b": r.value(5)})
		if err != nil {
			t.Fatal(err)
		}
		text := string(spelled(r.Rand, plain))
		got := through(redactor(), text, 1+r.IntN(400))
		if shapeOf(got, 0) != shapeOf(text, 0) {
			t.Fatalf("seed %d: %s\nbecame %s", seed, text, got)
		}
		said := normaliseText(got)
		for _, secret := range r.planted {
			if strings.Contains(said, secret) {
				t.Fatalf("seed %d: %s in %s", seed, secret, got)
			}
		}
		if want, clean := wordsOf(normaliseText(text)), wordsOf(said); want != clean {
			t.Fatalf("seed %d: %s\nsays %s\nwant %s", seed, got, clean, want)
		}
	}
}

// wordsOf counts how often each plain word occurs in a text.
func wordsOf(text string) (counts string) {
	for _, plain := range plainTexts[1:] {
		counts += fmt.Sprint(strings.Count(text, normaliseText(plain)), " ")
	}
	return counts
}
