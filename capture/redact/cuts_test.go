package redact

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// cutTexts are texts that are cut in every place: near misses, words, and secrets in several spellings.
var cutTexts = []string{
	"whisk-deployment-configuration of 2026", "ask task-{x32} and disk-{32}", "risk-ant-{24} whisk-ant-api03-{24}",
	"is sk-ant-api03-{24}.", "a\nAKIA{u16}\nb", "xAKIA{u16}", "key sk-{36}!", "Bearer {24}, Bearer token-based-authentication",
	`{"a":"sk-ant-{24}","b":"\"gh` + `p_{24}\""}`, `{\"client_secret\":\"{24}\",\"n\":1}`, `API_KEY=\u0041\u0042{20}`, `p=%73k-ant-{24}%2e`,
	`%2525%41 100%5C%22sk-ant-{24}`, "-----BEGIN PRIVATE KEY-----\n{64}\n{20}\n-----END PRIVATE KEY-----\nok", `x = "-----BEGIN PRIVATE KEY-----"; y = 1`,
	"https://u:{12}@h.example:80/p?key={20}&x=1", "машина sk-ant-{24}é \U0001f511gh" + "p_{24}", `\\\\nsk-ant-{24}\\\\" \ud83d\udd11\u00e9`, "bot123456789:A{34}",
	"\x1b[01;31m\x1b[KAKIA{u16}\x1b[m\x1b[K mAKIA{u16} \x1b[32msk-{48}",
}

// TestCutsOfDeltas checks that a text that is cut anywhere into deltas has the same redacted text as the undivided
// text. With TOOLSCOPE_LONG=1, it tries all ways to cut a text in three; otherwise, it tries some of them.
func TestCutsOfDeltas(t *testing.T) {
	for _, text := range cutTexts {
		text = sample(text)
		for _, asked := range []string{text, `{"x":` + quoted(text) + `}`} {
			want := argsSaid(t, redactor(), 1<<20, asked)
			if whole := redactor().Text(asked); whole != want && asked == text {
				t.Errorf("in a delta %q, as it is %q", want, whole)
			}
			try := func(pieces ...string) {
				if got := argsSaid(t, redactor(), 1<<20, pieces...); got != want {
					t.Fatalf("%q\nbecame %q,\nwant   %q", pieces, got, want)
				}
			}
			pieces := bytesOf(asked)
			try(pieces...)
			join := func(from, to int) string { return strings.Join(pieces[from:to], "") }
			for i := 1; i < len(pieces); i++ {
				try(join(0, i), join(i, len(pieces)))
				for j := i + 1 + i%third(); j < len(pieces) && len(pieces) < 70; j += 2 * third() {
					try(join(0, i), join(i, j), join(j, len(pieces)))
				}
			}
		}
	}
}

// third returns the step from one tested case to the next: 1 with TOOLSCOPE_LONG=1, and 3 otherwise.
func third() int {
	if os.Getenv("TOOLSCOPE_LONG") != "" {
		return 1
	}
	return 3
}

// bytesOf returns a text in the smallest possible deltas.
func bytesOf(s string) (list []string) {
	for _, c := range s {
		list = append(list, string(c))
	}
	return list
}

// TestCutsOfRecords checks that the output doesn't depend on the size of a body's records. It tries every size up to
// 16 bytes and some larger ones, or every size with TOOLSCOPE_LONG=1.
func TestCutsOfRecords(t *testing.T) {
	for _, text := range cutTexts {
		text = sample(text)
		for _, body := range []string{text, "data: {\"index\":0,\"delta\":{\"text\":" + quoted(text) + "}}\n\ndata: [DONE]\n\n"} {
			want := through(redactor(), body, len(body))
			for n := 1; n < len(body); n += 1 + n/16*(third()-1) {
				if got := through(redactor(), body, n); got != want {
					t.Fatalf("records of %d: %q, want %q", n, got, want)
				}
			}
		}
	}
}

// wires are the forms in which protocols send a delta of a text or of a call's arguments.
var wires = []string{
	`data: {"choices":[{"index":0,"delta":{"content":%s}}]}`, `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":%s}}]}}]}`,
	`data: {"choices":[{"index":0,"delta":{"reasoning_content":%s}}]}`, `data: {"choices":[{"text":%s,"index":0}]}`,
	`data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":%s}`,
	`data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":%s}}`,
	`data: {"candidates":[{"content":{"parts":[{"text":%s}]}}]}`,
	`data: {"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.a","stringValue":%s,"willContinue":true}]}}]}}]}`,
	`{"message":{"role":"assistant","content":%s}}`, `{"response":%s}`, `{"contentBlockIndex":0,"delta":{"toolUse":{"input":%s}}}`,
	`data: {"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":%s}}}}}`, `data: {"type":"tool-plan-delta","delta":{"message":{"tool_plan":%s}}}`,
	`0:%s`, `c:{"toolCallId":"call_1","argsTextDelta":%s}`, `data: {"type":"tool-input-delta","toolCallId":"call_1","inputTextDelta":%s}`,
	`data: {"type":"TOOL_CALL_ARGS","toolCallId":"call_1","delta":%s}`, `[[[[[[[[null,%s]],"model"]]]]]]`, `data: {"type":"text-delta","id":"0","delta":%s}`,
	`data: {"event_type":"content.delta","index":0,"delta":{"type":"arguments","partial_arguments":%s}}`,
}

// TestCutsOfEveryProtocol checks that a secret is found even if it is cut between two deltas, in whatever form a
// protocol sends them.
func TestCutsOfEveryProtocol(t *testing.T) {
	key := sample("sk-ant-api03-{60}")
	for _, wire := range wires {
		for cut := 1; cut < len(key); cut += 3 {
			body := ""
			for _, piece := range []string{"say " + key[:cut], key[cut:] + " now", "!"} {
				body += fmt.Sprintf(wire, quoted(piece)) + "\n\n"
			}
			got := through(redactor(), body, 33)
			if strings.Contains(got, key[:cut]) && cut > 20 || strings.Contains(got, key[cut:]) && len(key)-cut > 20 || strings.Count(got, "[redacted:anthropic-key:") != 1 {
				t.Errorf("cut at %d: %s", cut, got)
				break
			}
		}
	}
}

// FuzzCutsOfDeltas checks that any text with any secret has the same output however it is cut into three deltas. The
// text is in one of two calls whose deltas alternate.
func FuzzCutsOfDeltas(f *testing.F) {
	for i, text := range cutTexts {
		f.Add(sample(text), uint16(i), uint16(3*i), uint8(i))
	}
	f.Add("whi", uint16(3), uint16(3), uint8(0))
	rules := allRules()
	f.Fuzz(func(t *testing.T, text string, a, b uint16, which uint8) {
		text = strings.ToValidUTF8(text, "") + sample(rules[int(which)%len(rules)].hit)
		i, j := atRune(text, int(a)), atRune(text, int(b))
		i, j = min(i, j), max(i, j)
		want := textSaid(t, redactor(), 1<<20, text)
		got := textSaid(t, redactor(), int(which)+1, text[:i], text[i:j], text[j:])
		if got != want {
			t.Fatalf("%q %q %q became\n%q, want\n%q", text[:i], text[i:j], text[j:], got, want)
		}
	})
}

// atRune returns the place of a character at or after n, modulo the length of s.
func atRune(s string, n int) int {
	n %= len(s) + 1
	for n < len(s) && s[n]&0xc0 == 0x80 {
		n++
	}
	return n
}

// TestObjectsComeWhole checks that arguments that arrive as an object are complete, so that the next call's arguments
// don't continue them.
func TestObjectsComeWhole(t *testing.T) {
	secret, body := sample("AKIA{u16}"), ""
	for _, text := range []string{"abc", secret} {
		body += `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"write","args":{"content":"` + text + `"}}}]}}]}` + "\n\n"
	}
	if got := through(redactor(), body, 1<<20); strings.Contains(got, secret) || !strings.Contains(got, `"abc"`) {
		t.Error(got)
	}
}

// TestRepeatedByDocuments checks that a secret that is complete in each of several documents is found each time,
// whatever the field's name is.
func TestRepeatedByDocuments(t *testing.T) {
	for _, field := range []string{"text", "content", "id", "note"} {
		for _, kind := range []string{"sk-ant-{24}", "AKIA{u16}", "hf_{34}", "glpat-{20}"} {
			key, body := sample(kind), ""
			for range 5 {
				body += fmt.Sprintf("data: {%q:%q}\n\n", field, "use "+key)
			}
			if got := through(redactor(), body, 9); strings.Contains(got, key[8:]) || strings.Count(got, "[redacted:") != 5 {
				t.Errorf("%s: %s", field, got)
			}
		}
	}
}
