package redact

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
)

// fragments are parts of texts in which cuts are difficult: beginnings, signs, escapes, secrets, and parts of
// secrets.
var fragments = []string{
	" ", "\n", `"`, `\"`, `\\\"`, `\`, `\\`, "%", "%2", "%25", "%2F", "%41", `\u`, `\u00`, `\u0041`, `\n`, "=", ":", ": ", "'", "`", "{", "}", "[", "]", ",", ".", "/", "@", "-", "_",
	"a", "m", "sk-", "sk-ant-", "gh" + "p_", "AKIA", "eyJ", "hf_", "s.", "1//0", "Bearer ", "Basic ", "basic ", "://", "u:", "password", "_token", "API_KEY", `"client_secret"`, "?key=", "&sig=",
	" -u ", " password ", "login ", "-----BEGIN ", "PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n", "-----END", "123456789:A", "é", "\U0001f511", "\x1b[32m", "true", "12", "null",
	"{24}", "{x32}", "{64}", "{34}", "{d9}", "{u16}", "sk-ant-{24}", "AKIA{u16}", "sk-{48}", "gh" + "p_{36}", "eyJ{20}.eyJ{20}.{30}", "KNOWN", "KNOWN", "BASE64", "{300}", "{600}",
}

// madeOf returns a random text made of fragments.
func madeOf(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(14) {
		b.WriteString(fragments[r.IntN(len(fragments))])
	}
	text := sample(b.String())
	known := sample("{15}/{16}")
	text = strings.ReplaceAll(text, "BASE64", base64Forms(known)[r.IntN(3)])
	return strings.ReplaceAll(text, "KNOWN", []string{known, inner(inner(known)), strings.ReplaceAll(known, "/", `\/`), known[:20]}[r.IntN(4)])
}

func knowing() *Redactor { return asked("X-Api-Key", sample("{15}/{16}")) }

// TestCutsOfRandom checks that a text has the same output in any number of deltas as in one.
func TestCutsOfRandom(t *testing.T) {
	for seed := range uint64(700) {
		r := rand.New(rand.NewPCG(seed, 3))
		text := madeOf(r)
		want := textSaid(t, knowing(), 1<<20, text)
		var pieces []string
		for from := 0; from < len(text); {
			to := atRune(text, min(len(text), from+1+r.IntN(1+r.IntN(30))))
			pieces = append(pieces, text[from:max(to, from+1)])
			from = max(to, from+1)
		}
		got := textSaid(t, knowing(), 1+r.IntN(100), pieces...)
		if got != want {
			t.Fatalf("seed %d: %q\nbecame %q\nwant   %q", seed, pieces, got, want)
		}
		if again := textSaid(t, knowing(), 1<<20, want); again != want {
			t.Fatalf("seed %d: %q\nbecame %q", seed, want, again)
		}
	}
}

// TestTokensOfRandom checks that any text in JSON, and any damaged JSON, keeps its tokens. There is one exception: if
// a secret is outside a string, which is not valid JSON, the last token may be the bracket of the replacement.
func TestTokensOfRandom(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 4))
		text := quoted(madeOf(r))
		for range r.IntN(3) {
			text = quoted(`{"` + fmt.Sprint("n", r.IntN(9)) + `":` + text + `,"b":[1,` + quoted(madeOf(r)) + `]}`)
		}
		text = `{"a":` + text + `}`
		if r.IntN(2) == 0 {
			at := r.IntN(len(text))
			text = text[:at] + []string{"", `\`, `"`, "x"}[r.IntN(4)] + text[at+r.IntN(2):]
		}
		got := knowing().Text(text)
		if strings.ReplaceAll(shapeOf(got, 0), "[ !", "!") != strings.ReplaceAll(shapeOf(text, 0), "[ !", "!") {
			t.Fatalf("seed %d: %s\nbecame %s\nof shape %s\nwant %s", seed, text, got, shapeOf(got, 0), shapeOf(text, 0))
		}
	}
}

// TestOrdinaryTextStays checks that the value of a header never changes the output of an ordinary text.
func TestOrdinaryTextStays(t *testing.T) {
	r := redactor()
	r.Header(http.Header{"Authorization": {"Bearer the"}, "Cookie": {"a=quick; b=brown; c=" + proseLine}})
	if got := r.Text(proseLine); got != proseLine {
		t.Error(got)
	}
}
