package redact

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolscope/capture"
)

// kinds are the names of the canaries, in order.
var kinds = slices.Sorted(maps.Keys(canaries))

// FuzzCuts checks that the output is the same however a text is split into records, and that it doesn't contain a
// canary, wherever the canary is in the text.
func FuzzCuts(f *testing.F) {
	f.Add(`{"a":"x `, ` y"}`, uint8(0), uint8(3))
	f.Add("data: {\"a\":\"", "\"}\n\ndata: {\"a\":\"sk-\"}\n\n", uint8(9), uint8(1))
	f.Add(`\u00`, `\`, uint8(2), uint8(5))
	f.Add("\"", "\n\n", uint8(10), uint8(2))
	f.Add("", "sk-ant-", uint8(4), uint8(1))
	f.Add("\xff\xfe", "", uint8(0), uint8(1))
	f.Add("\xfe\xff\x00{\x00\"", "\"}", uint8(6), uint8(2))
	f.Fuzz(func(t *testing.T, before, after string, which, step uint8) {
		kind := kinds[int(which)%len(kinds)]
		body := before + " " + canaries[kind] + " " + after
		want := through(redactor(), body, len(body))
		for _, n := range []int{1, int(step)%64 + 1} {
			if got := through(redactor(), body, n); got != want {
				t.Fatalf("records of %d:\n%q\nwhole:\n%q", n, got, want)
			}
		}
		if strings.Contains(want, core(kind, canaries[kind])) {
			t.Fatalf("%s in %q", kind, want)
		}
	})
}

// plain removes or replaces the characters that every secret needs.
var plain = strings.NewReplacer("-", ".", "_", ".", "J", "j", "K", "k", "I", "i", "er ", "er.", "uthor", "", `\u`, `\\`)

// FuzzPlain checks that text without secrets is passed on byte for byte.
func FuzzPlain(f *testing.F) {
	f.Add("data: {\"index\":0,\"delta\":{\"t\":\"as\"}}\n\ndata: {\"index\":0,\"delta\":{\"t\":\"k me\"}}\n\n", uint8(7))
	f.Add(`{"a":["x",{"b":"\\\"\n"}],"b":"\ud83d"}`, uint8(1))
	f.Add("[[[\"\x00\xff", uint8(2))
	f.Fuzz(func(t *testing.T, body string, step uint8) {
		for body != plain.Replace(body) {
			body = plain.Replace(body)
		}
		if got := through(redactor(), body, int(step)+1); got != body {
			t.Fatalf("%q became %q", body, got)
		}
	})
}

var otherCall = regexp.MustCompile(`(?m)^data: \{"index":1.*$`)

// FuzzDeltas checks that no canary is in the output, wherever its text is cut into deltas. The canary is in the
// arguments of one of two calls whose deltas alternate.
func FuzzDeltas(f *testing.F) {
	f.Add("say ", " now", uint8(0), uint64(0x5555), uint8(3))
	f.Add("a\n\"", "sk-", uint8(9), uint64(1<<40-1), uint8(1))
	f.Add("", "", uint8(10), uint64(0), uint8(200))
	f.Fuzz(func(t *testing.T, before, after string, which uint8, cuts uint64, step uint8) {
		kind := kinds[int(which)%len(kinds)]
		text := before + " " + canaries[kind] + " " + after
		var sse strings.Builder
		for i, from := 0, 0; i < len(text); i++ {
			if cuts>>(i%64)&1 == 0 && i < len(text)-1 {
				continue
			}
			fmt.Fprintf(&sse, "data: {\"index\":0,\"delta\":{\"partial_json\":%s}}\n\n", quoted(text[from:i+1]))
			fmt.Fprintf(&sse, "data: {\"index\":1,\"delta\":{\"partial_json\":\"x%d\"}}\n\n", i)
			from = i + 1
		}
		want := through(redactor(), sse.String(), sse.Len())
		if got := through(redactor(), sse.String(), int(step)+1); got != want {
			t.Fatalf("records of %d:\n%s\nwhole:\n%s", int(step)+1, got, want)
		}
		if strings.Count(want, "\n") != strings.Count(sse.String(), "\n") {
			t.Fatalf("lines lost:\n%s", want)
		}
		if joined := rejoined(t, otherCall.ReplaceAllString(want, "")); strings.Contains(joined, core(kind, canaries[kind])) {
			t.Fatalf("%s in %s", kind, joined)
		}
	})
}

// TestHeldBack checks that only a few bytes are held back, and that the display of a stream doesn't wait for them.
func TestHeldBack(t *testing.T) {
	delta := func(s string) string {
		return "data: {\"index\":0,\"delta\":{\"text\":" + quoted(s) + "}}\n\n"
	}
	for _, test := range []struct {
		name, body string
		held       int // maximum number of held bytes
	}{
		{"text", delta("as") + delta("k the") + delta("risk"), 0},
		{"one character of a key", delta("s"), len("s\"}}\n\n")},
		{"the last character of a word", delta("tokens"), 0},
		{"the beginning of a key", delta("is sk-"), len("sk-\"}}\n\n")},
		{"a percent sign", delta("it is all %"), len("%\"}}\n\n")},
		{"a number, which may begin a key of digits", delta("it is 100"), len("100\"}}\n\n")},
		{"a percent sign, then other things", delta("it is 100%") + strings.Repeat("data: {\"ping\":1}\n\n", 400), 0},
		{"what a key is behind", delta("API_KEY: "), 0},
		{"a key, then the end of its call", delta("sk-ant-"+strings.Repeat("k", 30)) + strings.Repeat("data: {\"ping\":1}\n\n", 400), 0},
		{"a beginning, then other things", delta("is sk-ant-") + strings.Repeat("data: {\"ping\":1}\n\n", 400), 0},
	} {
		r := redactor()
		out := 0
		for _, rec := range take(r, capture.Record{Exchange: 1, Data: []byte(test.body)}) {
			out += len(rec.Data)
		}
		rest := 0
		for _, rec := range flushed(r) {
			rest += len(rec.Data)
		}
		if rest > test.held {
			t.Errorf("%s: %d bytes held back, %d allowed", test.name, rest, test.held)
		}
	}
}
