package redact

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"toolscope/capture"
)

// asked returns a redactor that has seen a request with one header.
func asked(name, value string) *Redactor {
	r := redactor()
	r.Header(http.Header{name: {value}})
	return r
}

// TestWordsAreNotLearned checks that a value in a credential's place is replaced there, but is searched for elsewhere
// only if it is too random to occur by chance.
func TestWordsAreNotLearned(t *testing.T) {
	for _, c := range []struct{ name, value, word string }{
		{"Authorization", "Bearer undefined", "undefined"}, {"Authorization", "Bearer null", "null"},
		{"Authorization", "Bearer lm-studio", "lm-studio"}, {"Authorization", "Bearer token-based-authentication", "token-based-authentication"},
		{"X-Api-Key", "anything", "anything"}, {"Cookie", "consent=accepted", "accepted"}, {"X-Routing-Key", "production", "production"},
		{"X-Routing-Key", "eu-west-1-production-2026", "eu-west-1-production-2026"}, {"Authorization", "Basic dGVzdDp0ZXN0", "test:test"},
		{"Cookie", "model=gpt-4o-mini-2024-07-18", "gpt-4o-mini-2024-07-18"}, {"Cookie", "id=12345678901234567890", "12345678901234567890"},
		{"X-Routing-Key", "claude-3-5-sonnet-20241022", "claude-3-5-sonnet-20241022"}, {"X-Api-Key", "your-api-key-0123456789", "your-api-key-0123456789"}, {"X-Api-Key", "sk-1234", "sk-1234"},
		{"X-Api-Key", "aaaaaaaaaaaaaaaaaaa1", "aaaaaaaaaaaaaaaaaaa1"}, {"X-Api-Key", "a1", "a1"},
	} {
		r := redactor()
		header := r.Header(http.Header{c.name: {c.value}}).Get(c.name)
		if strings.Contains(header, c.word) || !strings.Contains(header, "[redacted:") {
			t.Errorf("%s: %s is shown", c.name, header)
		}
		text := `{"text":"it is ` + c.word + `, and ` + c.word + `","n":12345678901234567890}`
		if got := r.Text(text); got != text {
			t.Errorf("%s: %s: %s became %s", c.name, c.value, text, got)
		}
	}
}

// TestWordsStay checks that text that is not a credential is not replaced, even if it looks like a credential or is
// in the place of one.
func TestWordsStay(t *testing.T) {
	r := redactor()
	for _, text := range []string{
		`<div class="sk-folding-cube-animation sk-chase-dot-before-2 sk-cube-grid1">`, "GET /items?key=created_at_desc&token=next", "OAuth: Bearer token-based-authentication",
		sample("sha256:{x64}, sha512-{86}==, {x40}, {x32}"), sample("{x8}-{x4}-{x4}-{x4}-{x12}"),
		sample("toolu_{24} call_{24} fc_{x48} msg_{24} resp_{x48} rs_{x48} chatcmpl-{29} req_{24} ses_{26} gen-{d10}-{20}"),
		sample(`"thoughtSignature":"{300}==","signature":"{400}","encrypted_content":"gAAAAA{500}"`), sample("data:image/png;base64,iVBORw0KGgo{2000}="),
		`"max_tokens":40960000,"token_count":123456789,"input_tokens":1,"cache_key":"k1234567890abcdefg","prompt_cache_key":"x9y8z7w6v5u4t3s2r1"`,
		`"idempotency_key":"01J9ZQ3N5V8X2B4D6F8H0K2M4P","key":"k8J3mN5pQ7rT9vX1zB3d"`, `{"token":" internationalization","logprob":-0.25,"bytes":[32]}`,
		sample(`"nextPageToken":"{40}","continuation_token":"{40}","csrf_token":"{40}","page_token={40}"`), "sk-…, sk-xxx, sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"OPENAI_API_KEY=$KEY OPENAI_API_KEY=${OPENAI_API_KEY} api_key={{secrets.openai_key_2}} key: ${{ secrets.X1234567890 }}", "API_KEY=%OPENAI_API_KEY_2% TOKEN=<token1234567890>",
		"PASSWORD=password PASSWORD=placeholder-1234567 token: String = tokenFrom2Parts(a)", "os.environ['API_KEY_2_OF_3'], process.env.API_KEY2",
		`{"api_key":"abc-${KEY2026XYZ99QRS}"} {"api_key":"abc-{{KEY2026XYZ99QRS}}"}`, "if password == 'hunter': pass", `if a { h.Get("Authorization"); h.Get("Authentication") }`, `{"authorization", "authentication"}`, "password: Annotated[str, Field(min_length=8)]", "task-management-for-the-whole-team-of-2026", "disk-0123456789abcdef0123456789abcdef",
	} {
		for _, form := range []string{text, quoted(text), quoted(quoted(text))} {
			if got := r.Text(form); got != form {
				t.Errorf("%s\nbecame %s", form, got)
			}
		}
	}
}

// TestManyKnownValues checks that the key of a request is replaced even if the request has very many cookies.
func TestManyKnownValues(t *testing.T) {
	r := redactor()
	var cookies []string
	for i := range 560 {
		cookies = append(cookies, fmt.Sprintf("c%d=%s", i, sample(fmt.Sprint("{20}x", i))))
	}
	key := sample("{40}")
	head := http.Header{"Cookie": {strings.Join(cookies, "; ")}, "X-Zed-Key": {key}}
	r.Take(capture.Record{Exchange: 1, Side: capture.Request, Head: &capture.Head{Header: head}})
	_, first, _ := strings.Cut(cookies[0], "=")
	if got := through(r, `{"error":"bad `+key+` and `+first+`"}`, 5); strings.Contains(got, key) || strings.Contains(got, first) || r.Limit() != "" {
		t.Errorf("%s %s", got, r.Limit())
	}
}

// TestLimitOfKnownValues checks that secrets set by servers can't displace secrets of requests, and that reaching a
// limit is reported.
func TestLimitOfKnownValues(t *testing.T) {
	if maxRequestSecrets != 16384 || maxServerSecrets != 4096 {
		t.Error("ui/docs/proxy.md says other numbers")
	}
	r := redactor()
	value := func(i int) string { return sample(fmt.Sprint("{24}v", i)) }
	for i := 0; r.known.held[1] < maxServerSecrets; i++ {
		r.learnParts(value(i), "set-cookie", true)
	}
	if r.Limit() != "" {
		t.Error(r.Limit())
	}
	r.Take(capture.Record{Exchange: 1, Head: &capture.Head{Header: http.Header{"Set-Cookie": {"a=" + value(-1)}}}})
	want := fmt.Sprintf("too many secrets: toolscope searches for only 0 from requests and %d from responses", maxServerSecrets)
	if r.Limit() != want {
		t.Errorf("%q, want %q", r.Limit(), want)
	}
	r.Header(http.Header{"X-Api-Key": {value(-2)}})
	if got := r.Text(value(-2) + " " + value(7) + " " + value(-1)); strings.Contains(got, value(-2)) || strings.Contains(got, value(7)) || !strings.Contains(got, value(-1)) {
		t.Error(got)
	}
	other := redactor()
	for i := 0; other.Limit() == "" && i <= 2*maxRequestSecrets; i++ {
		other.learnParts(sample(fmt.Sprint("{16}w", i)), "x-api-key", false)
	}
	if want := fmt.Sprintf("too many secrets: toolscope searches for only %d from requests and 0 from", maxRequestSecrets); !strings.HasPrefix(other.Limit(), want) || other.Text(sample("{16}w0")) == sample("{16}w0") {
		t.Errorf("%q, want %q", other.Limit(), want)
	}
}

// TestLimitOfTexts checks that many texts can wait for the end of a secret at once, and that the limit is reported if
// there is one too many. Texts that have waited for a long time don't count.
func TestLimitOfTexts(t *testing.T) {
	for calls, limited := range map[int]bool{maxWaitingTexts: false, maxWaitingTexts + 1: true} {
		r := redactor()
		body := ""
		for i := range calls {
			body += fmt.Sprintf("{\"index\":%d,\"text\":\"sk-\"}", i)
		}
		through(r, body, 1<<20)
		if want := fmt.Sprintf("more than %d unfinished texts at once: a secret may be cut in the middle", maxWaitingTexts); (r.Limit() == want) != limited {
			t.Errorf("%d texts: %q", calls, r.Limit())
		}
		patient := redactor()
		for i := range calls {
			body := fmt.Sprintf("{\"index\":%d,\"text\":\"sk-\"}", i) + strings.Repeat(" ", maxIdleBytes+1<<10)
			patient.Take(capture.Record{Exchange: 1, Data: []byte(body)})
		}
		if patient.Limit() != "" {
			t.Errorf("%d texts one after the other: %q", calls, patient.Limit())
		}
	}
}

// TestSpellingsOfKnownValues checks that a known value is found in every spelling, even inside a word. The text
// around it must not change.
func TestSpellingsOfKnownValues(t *testing.T) {
	for _, value := range []string{sample("{12}/{12}+{6}=="), sample(`p%{6} {6}\{6}ä{6}`), sample("{40}"), sample(`{16}"{16}`), sample("{20}") + `\`, sample("{700}")} {
		r := asked("X-Api-Key", value)
		for name, spelled := range map[string]string{
			"raw": value, "json": strings.Trim(quoted(value), `"`), "json twice": inner(inner(value)), "json thrice": inner(inner(inner(value))),
			"slashes": strings.ReplaceAll(inner(value), "/", `\/`), "unicode": escaped(value), "UNICODE": strings.ToUpper(strings.ReplaceAll(escaped(value), `\u`, "\x00")),
			"query": url.QueryEscape(value), "path": url.PathEscape(value), "percent in json": inner(url.QueryEscape(url.QueryEscape(value))),
		} {
			spelled = strings.ReplaceAll(spelled, "\x00", `\u`)
			if !isASCII(value) && strings.Contains(spelled, `\u`) {
				continue // escaped writes bytes
			}
			for _, around := range []string{"key %s!", `{"a":"x %s y"}`, "?a=%s&b", "glued%s now"} {
				text := fmt.Sprintf(around, spelled)
				got := r.Text(text)
				if strings.Contains(normaliseText(got), normaliseText(value)[lead+1:9]) || strings.Count(got, "[redacted:x-api-key:") != 1+strings.Count(value, `"`) {
					t.Errorf("%s: %s became %s", name, text, got)
				}
				before, after, _ := strings.Cut(around, "%s")
				if !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) {
					t.Errorf("%s: %s changed to %s", name, around, got)
				}
			}
		}
	}
}

func isASCII(s string) bool { return !strings.ContainsFunc(s, func(c rune) bool { return c > 0x7f }) }

// TestKnownValuesInBase64 checks that a known value is found in base64, in both alphabets and after any text.
func TestKnownValuesInBase64(t *testing.T) {
	for n := range 40 {
		value := sample(fmt.Sprintf("{%d}v%d", 20+n%5, n))
		r := asked("Authorization", "Bearer "+value)
		for before := range 5 {
			for _, coding := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
				plain := []byte(strings.Repeat("?>\xff", 4)[:before] + value + "\xfe\xff>")
				text := `{"a":"` + coding.EncodeToString(plain) + `"}`
				for _, size := range []int{1 << 20, 1} {
					got := through(r, text, size)
					coded, ok := strings.CutPrefix(got, `{"a":"`)
					coded, _, _ = strings.Cut(coded, "[redacted:authorization:")
					said, _ := coding.DecodeString(coded[:min(len(coded), len(coded)/4*4)])
					if !ok || !strings.Contains(got, "[redacted:authorization:") || len(said) > before+lead {
						t.Fatalf("%s with %d before: %s became %s", value, before, text, got)
					}
				}
			}
		}
	}
}

// TestLongerKnownValue checks that two known values are both found even if one is the beginning of the other.
func TestLongerKnownValue(t *testing.T) {
	short := sample("{24}")
	long := short + sample("-{8}")
	r := asked("X-Api-Key", short)
	r.Header(http.Header{"X-Other-Key": {long}})
	for _, size := range []int{1, 5, 1 << 20} {
		got := through(r, `{"a":"`+long+` `+short+` `+short+`-xy"}`, size)
		want := `{"a":"` + r.formatTag(long, "x-other-key") + ` ` + r.formatTag(short, "x-api-key") + ` ` + r.formatTag(short, "x-api-key") + `-xy"}`
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := r.Text(long[:30]); strings.Contains(got, long[4:30]) {
		t.Errorf("a large part: %s", got)
	}
}

// TestLookingIsFast checks that searching for values doesn't take longer if there are more of them. It counts the
// places that are examined, and doesn't measure time.
func TestLookingIsFast(t *testing.T) {
	text := []byte(strings.Repeat("The quick brown fox asks whether they have enough tokens, e.g. for high risk tasks. ", 200))
	stops := func(values int) (n int) {
		r := redactor()
		for i := range values {
			r.learnParts(sample(fmt.Sprint("{32}s", i)), "cookie", false)
		}
		m := new(matcher)
		for i := 0; i < len(text); i++ {
			at, _ := r.nextCandidate(m, text[i:])
			m.passOver(text[i:min(i+at+1, len(text))])
			i += at
			n++
		}
		return n
	}
	if few, many := stops(0), stops(4000); many > few+len(text)/20 {
		t.Errorf("%d places are looked at with 4000 values, %d with none, of %d", many, few, len(text))
	}
}

// TestFewPlaces checks that a search for secrets examines few places of ordinary text. The counts are those of one line.
func TestFewPlaces(t *testing.T) {
	const lines = 100
	for _, test := range []struct {
		line          string
		stops, places int // places that may be of interest by the classes of their characters, and those that are examined
	}{
		{proseLine, 0, 0},
		{"\tif err := json.Unmarshal(data, &v); err != nil { return \"a: %w\" }\n", 2, 0},
		{"0123456789abcdef 2026-11-30 d41d8cd98f00b204e9800998ecf8427e abcdefabcdef ", 5, 0},
		{"skate sky glpi xoxo aiza ghost hfs eyes akin gskin dope npm pypi sgo AKI ", 12, 5},
	} {
		r, m, text := redactor(), new(matcher), []byte(strings.Repeat(test.line, lines))
		stops, places := -1, -1 // without the end of the text
		classes := uint32(0)
		for rest := text; rest != nil; stops++ {
			after, at := r.scan.stops.nextStop(classes, rest)
			if classes = after; at == len(rest) {
				rest = nil
			} else {
				rest = rest[at+1:]
			}
		}
		for rest := text; len(rest) > 0; places++ {
			at, _ := r.nextCandidate(m, rest)
			at = min(at+1, len(rest))
			m.passOver(rest[:at])
			rest = rest[at:]
		}
		if stops > test.stops*lines || places > test.places*lines {
			t.Errorf("%q: %d stops and %d places in %d lines", test.line, stops, places, lines)
		}
	}
}
