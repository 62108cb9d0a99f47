package redact

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"toolscope/capture"
)

// canaries are secrets of every kind. None of them is real.
var canaries = map[string]string{
	"anthropic-key":     "sk-ant-api03-" + strings.Repeat("Ca9_", 20) + "-QAA",
	"openai-key":        "sk-proj-" + strings.Repeat("cAn4-rY_", 12),
	"openrouter-key":    "sk-or-v1-" + strings.Repeat("0c4a", 16),
	"google-key":        "AIza" + "SyCanary0123456789-canary_canary000",
	"xai-key":           "xai-" + strings.Repeat("C4nary", 12),
	"groq-key":          "gsk_" + strings.Repeat("C4nary", 8),
	"huggingface-token": "hf_" + strings.Repeat("cAnarY", 6),
	"aws-key-id":        "AKIACANARY0123456789",
	"github-token":      "github_pat_" + strings.Repeat("1CANARY_", 8),
	"jwt":               "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJlLWNhbmFyeQ",
	"private-key":       "-----BEGIN RSA PRIVATE KEY-----\nMIICANARY+canary/canary==\nCANARYcanary\n-----END RSA PRIVATE KEY-----",
	"bearer":            "Bearer canary.c4nAry9~canary+cana7y/0123=",
	"userinfo":          "postgres://canary:CANARY@canary,0@db.example:5432/x",
	"key":               "https://api.example/v1?key=CANARY0canary1-01",
	"x-amz-signature":   "https://s3.example/x?X-Amz-Date=1&X-Amz-Signature=0c4a0c4a0c4a",
	"x-api-key":         "curl -H 'x-api-key: canary7CANARY' https://api.example",
}

// core returns the part of a canary that must not be visible.
func core(kind, canary string) string {
	switch kind {
	case "bearer":
		return canary[len("Bearer "):]
	case "userinfo":
		return "canary:CANARY@canary,0"
	case "key", "x-amz-signature":
		return canary[strings.LastIndexByte(canary, '=')+1:]
	case "x-api-key":
		return "canary7CANARY"
	case "jwt":
		return canary[strings.IndexByte(canary, '.')+1:]
	case "private-key":
		return "CANARY"
	}
	return canary[3:]
}

func TestText(t *testing.T) {
	r := redactor()
	for kind, canary := range canaries {
		for _, around := range []string{"%s", "error: bad key %s.", "<%s>", "curl -H 'x: %s' http://h", `{"a":"%s"}`, "a\\n%s", "\n%s\n", "error\n%s", "{\"a\":\"error\\n%s\"}", "[\"a\n%s"} {
			got := r.Text(fmt.Sprintf(around, canary))
			if strings.Contains(got, core(kind, canary)) || !strings.Contains(got, "[redacted:"+kind+":") {
				t.Errorf("%s: %s", kind, got)
			}
			before, after, _ := strings.Cut(around, "%s")
			if !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) {
				t.Errorf("%s: %s changed to %s", kind, around, got)
			}
		}
	}
}

// TestSplitOverDeltas checks that a secret is found wherever its text is cut into deltas, and however the deltas are
// split into records.
func TestSplitOverDeltas(t *testing.T) {
	for kind, canary := range canaries {
		args := `{"key": ` + quoted(canary) + `, "n": 1}`
		for cut := 1; cut < len(args); cut++ {
			for _, n := range []int{1, 7, 1 << 20} {
				joined := argsSaid(t, redactor(), n, args[:cut], args[cut:])
				if strings.Contains(joined, core(kind, canary)) || !strings.Contains(joined, "[redacted:"+kind+":") || !json.Valid([]byte(joined)) {
					t.Fatalf("%s cut at %d, records of %d: %s", kind, cut, n, joined)
				}
			}
		}
	}
}

func TestKnownByValue(t *testing.T) {
	r := redactor()
	take(r, capture.Record{Exchange: 1, Side: capture.Request, Head: &capture.Head{
		URL:    "https://user:pa55w0rd-canary@h.example/v1?key=qu3ry-Canary01&x=1",
		Header: http.Header{"X-Api-Key": {"n0-pattErn7-canary"}, "Cookie": {"a=c0okie7-canary9x; b=2"}, "Accept": {"x"}},
	}})
	body := `{"error":"n0-pattErn7-canary pa55w0rd-canary qu3ry-Canary01 c0okie7-canary9x n0-pattErn7-cat"}`
	want := `{"error":"[redacted:x-api-key:`
	for n := 1; n < len(body); n++ {
		got := through(r, body, n)
		if strings.Contains(got, "canary") || !strings.HasPrefix(got, want) || !strings.HasSuffix(got, ` n0-pattErn7-cat"}`) {
			t.Errorf("records of %d: %s", n, got)
		}
	}
}

// TestTags checks that equal secrets have the same tag everywhere in one run, but not in another run.
func TestTags(t *testing.T) {
	key := canaries["anthropic-key"]
	r := redactor()
	h := r.Header(http.Header{"X-Api-Key": {key}, "Authorization": {"Bearer " + key}, "Idempotency-Key": {"one-two-three"}, "Sec-Websocket-Key": {"nonce"}})
	want := strings.TrimPrefix(h.Get("Authorization"), "Bearer ")
	for _, got := range []string{h.Get("X-Api-Key"), r.Text(key), strings.TrimPrefix(r.Text("Bearer "+key), "Bearer "), r.Text(key + ".")} {
		if strings.TrimSuffix(got, ".") != want {
			t.Errorf("%s is not %s", got, want)
		}
	}
	if got := through(r, `{"a":"`+key+`"}`, 3); got != `{"a":"`+want+`"}` {
		t.Errorf("%s in %s", want, got)
	}
	pattern := redactor().Text(key)
	if pattern[len(pattern)-6:] != want[len(want)-6:] {
		t.Errorf("%s has another tag than %s", pattern, want)
	}
	if h.Get("Idempotency-Key") != "one-two-three" || h.Get("Sec-Websocket-Key") != "nonce" {
		t.Error("an idempotency key is no secret, and neither is a nonce")
	}
	other := New([]byte("other"), Options{}).Text(key)
	if other == redactor().Text(key) || redactor().Text(key) == redactor().Text(canaries["openai-key"]) {
		t.Errorf("%s says too much", other)
	}
}

// TestEndOfRequest checks that a secret at the end of a request is replaced before the response is passed on.
func TestEndOfRequest(t *testing.T) {
	r := redactor()
	secret := sample("{36}")
	got := ""
	for _, rec := range append(take(r, capture.Record{Exchange: 1, Side: capture.Request, Data: []byte("a=b&client_secret=" + secret)}),
		take(r, capture.Record{Exchange: 1, Head: &capture.Head{Status: 200}})...) {
		got += string(rec.Data)
		if rec.Head != nil {
			got += "|"
		}
	}
	if want := "a=b&client_secret=" + r.formatTag(secret, "client_secret") + "|"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestNearMisses checks that a text that only resembles a secret stays.
func TestNearMisses(t *testing.T) {
	for _, s := range []string{
		"task-management-for-the-whole-team-of-2026", "sk-short", "risk-ant-colony", "AIzaShort", "eyJhbGciOiJIUzI1NiJ9",
		"eyJhbGciOiJIUzI1NiJ9.and.more", "-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----", "-----|-----|-----",
		"Bearer tokens are short-lived", "the Bearer ", "xAKIACANARY0123456789", "ghp_", "key=sk-ant-", `{"authorization":"none"}`,
		`{"api_key":{"type":"string"}}`, "anthropic-ratelimit-tokens-limit: 40000", strings.Repeat("-", 300), strings.Repeat("sk-", 6),
	} {
		for n := 1; n <= len(s); n++ {
			if got := through(redactor(), s, n); got != s {
				t.Errorf("%q in pieces of %d became %q", s, n, got)
				break
			}
		}
	}
}

// TestMessagesStayWhole checks that each record of a WebSocket stays one complete message.
func TestMessagesStayWhole(t *testing.T) {
	r := redactor()
	take(r, capture.Record{Exchange: 1, Side: capture.Request, Head: &capture.Head{Method: "GET"}})
	take(r, capture.Record{Exchange: 1, Head: &capture.Head{Status: 101}})
	key := canaries["openai-key"]
	var got []string
	for _, message := range []string{
		`{"type":"d","delta":"is ` + key[:9] + `"}`, `{"type":"d","delta":"` + key[9:] + `"}`, `{"type":"d","delta":" now"}`, `{"type":"done"}`,
	} {
		for _, rec := range take(r, capture.Record{Exchange: 1, Data: []byte(message)}) {
			got = append(got, tagPattern.ReplaceAllString(string(rec.Data), "${1}TAG"))
		}
	}
	want := []string{`{"type":"d","delta":"is [redacted:openai-key:TAG]"}`, `{"type":"d","delta":""}`, `{"type":"d","delta":" now"}`, `{"type":"done"}`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTimesAndOrder checks that the held bytes of a record keep their own time, and are passed on after the record's
// head and before the end.
func TestTimesAndOrder(t *testing.T) {
	r := redactor()
	var got []string
	for _, rec := range []capture.Record{
		{Exchange: 1, Side: capture.Request, At: 1, Head: &capture.Head{Method: "POST"}, Data: []byte("ask sk-")},
		{Exchange: 1, At: 2, Head: &capture.Head{Status: 200}, Data: []byte("a sk-")},
		{Exchange: 1, At: 3, Note: "slow"},
		{Exchange: 1, At: 4, Data: []byte("b q")},
		{Exchange: 1, At: 5, End: capture.EndEOF},
	} {
		for _, r := range take(r, rec) {
			got = append(got, fmt.Sprintf("%v%s %s%s head:%v %v", r.At, r.Side, r.Data, r.Note, r.Head != nil, r.End))
		}
	}
	want := []string{
		"1ns" + "request ask  head:true ", "1nsrequest sk- head:false ", "2ns a  head:true ", "3ns slow head:false ",
		"2ns sk- head:false ", "4ns b q head:false ", "5ns  head:false eof",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want\n%q", got, want)
	}
}

// TestSpacesBeforeCredential checks that a credential that follows its scheme after two spaces is learned
// without the spaces.
func TestSpacesBeforeCredential(t *testing.T) {
	r := redactor()
	r.Header(http.Header{"Authorization": {"Token  CANARY01-no-pattern "}})
	if got := r.Text(`"CANARY01-no-pattern"`); strings.Contains(got, "CANARY") {
		t.Error(got)
	}
}
