package filter

import (
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
)

// written returns a source of four turns: one with a complete call, one with a malformed and a complete call,
// one with a call that is cut short, and one with only text.
func written(t testing.TB) *Source {
	in := new(providers.Inspector)
	for n, body := range []string{
		chat("gpt-5", call(0, "list_tickets", `{"state":"open"}`), finish("tool_calls")),
		chat("gpt-5-mini", call(0, "run_shell", `{"timeout": 30s}`), call(1, "notify", `{"to":"me"}`), finish("tool_calls")),
		chat("claude-sonnet-4-5", call(0, "run_shell", `{"command":"gre`), finish("length")),
		chat("claude-sonnet-4-5", `{"choices":[{"index":0,"delta":{"content":"all is well"}}]}`, finish("stop")),
	} {
		in.Write(stream.Record{
			Exchange: n, At: time.Duration(n) * time.Minute, Data: []byte(body), End: true,
			Head: &stream.Head{Method: "POST", URL: "https://api.example.com/v1/chat/completions", Status: 200, File: "runs/a.tsc", Start: time.Date(2026, 11, 20, 14, n, 0, 0, time.Local)},
		})
	}
	if n := len(in.Session().Turns); n != 4 {
		t.Fatalf("%d turns", n)
	}
	return &Source{View: in.View(), Now: 3 * time.Minute, Cost: func(t *stream.Turn) price.Figure {
		return [...]price.Figure{{USD: 0.02, Source: price.FromTable}, {USD: 0.001, Source: price.FromTable}, {}, {Source: price.Free}}[t.Number]
	}}
}

func chat(model string, chunks ...string) string {
	var b strings.Builder
	b.WriteString(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","model":"` + model + `","choices":[]}` + "\n\n")
	for _, c := range chunks {
		b.WriteString("data: " + c + "\n\n")
	}
	return b.String() + "data: [DONE]\n\n"
}

func call(index int, name, args string) string {
	i := string(rune('0' + index))
	return `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":` + i + `,"id":"call_` + name + `","type":"function","function":{"name":"` + name + `","arguments":` + quote(args) + `}}]}}]}`
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }

func finish(word string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + word + `"}]}`
}

// TestTurn checks which turns match, counted from 1.
func TestTurn(t *testing.T) {
	src := written(t)
	for text, want := range map[string][]int{
		"": {1, 2, 3, 4}, "   ": {1, 2, 3, 4},
		"state:bad": {2, 3}, "-state:bad": {1, 4}, "state:malf": {2}, "state:MALFORMED": {2}, "state:cut": {3}, "state:cut-short": {3},
		"state:complete": {1, 2, 4}, "state:complete tool:run_shell": {}, "state:open": {}, "state:stopped": {},
		"tool:run": {2, 3}, "tool:RUN_SHELL": {2, 3}, "tool=run_shell": {2, 3}, "tool=run": {}, "-tool:run": {1, 4}, "tool:run -tool:notify": {3},
		"tool:notify state:bad": {}, "tool:run state:bad": {2, 3},
		"model:sonnet": {3, 4}, "model=gpt-5": {1}, "model:gpt -model:mini": {1},
		"cost>0.01": {1}, "cost>$0.0005": {1, 2}, "cost<0.01": {2, 4}, "cost=0": {4}, "cost<=0.001": {2, 4}, "cost>=0.02": {1},
		"bytes>15": {1, 2}, "bytes>1k": {}, "bytes<12": {2}, "bytes=15": {3},
		"took<1s": {1, 2, 3, 4}, "took>1m30s": {},
		"since:90s": {3, 4}, "since:1m": {3, 4}, "since:1h": {1, 2, 3, 4}, "since:14:02": {3, 4}, "since:14:02:30": {4},
		"host:example": {1, 2, 3, 4}, "host=api.example.com": {1, 2, 3, 4}, "host:chat": {}, "file:a.tsc": {1, 2, 3, 4}, "agent:main": {},
		"finding:error": {2, 3}, "finding:args": {2, 3}, "-finding:args": {1, 4}, "sent:changed": {}, "sent:back": {},
		"malformed": {2}, "run_shell sonnet": {3}, "sonnet": {3, 4}, "call_notify": {2}, "ARGS_": {2, 3}, `"cut short"`: {3}, `"tool:run"`: {}, "-sonnet": {1, 2},
		`tool:"run_shell"`: {2, 3}, `"cut short`: {3}, "-": {1, 2, 3, 4}, "nothing_like_it": {}, "--state:bad": {1, 2, 3, 4},
	} {
		f, faults := Parse(text)
		got := []int{}
		for _, turn := range src.View.Session().Turns {
			if f.MatchesTurn(src, turn) {
				got = append(got, int(turn.Number)+1)
			}
		}
		if len(faults) > 0 || !slices.Equal(got, want) {
			t.Errorf("%q means %v, want %v; %v", text, got, want, faults)
		}
	}
}

// TestCall checks that other calls of the turn do not affect the match of a call.
func TestCall(t *testing.T) {
	src := written(t)
	turn := src.View.Session().Turns[1]
	for text, want := range map[string][2]bool{
		"state:bad": {true, false}, "tool:notify": {false, true}, "-tool:run_shell": {false, true}, "model:mini": {true, true}, "malformed mini": {true, false},
	} {
		f, _ := Parse(text)
		for i, c := range turn.Calls {
			if got := f.MatchesCall(src, turn, c); got != want[i] {
				t.Errorf("%q of %s: %v", text, c.Name, got)
			}
		}
	}
}

// TestFaults checks that an error contains the reason and a correct example.
func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"costs>0.01":   "costs: unknown field; cost?",
		"stat:bad":     "stat: unknown field; state?",
		"http://x":     `http: unknown field; to search for text, quote it: "http://x"`,
		"state:":       "state: no value; e.g. state:bad",
		"state:broken": "state:broken: unknown state; use bad open stopped waiting streaming looks-done complete no-arguments cut-short malformed not-an-object aborted rejected unseen; e.g. state:bad",
		"state>bad":    "state>bad: use state:bad",
		"cost:1":       "cost:1: use cost>0.01",
		"cost>much":    "cost>much: not a number; e.g. cost>0.01",
		"took>2x":      "took>2x: not a number; e.g. took>2s",
		"bytes>1x":     "bytes>1x: not a number; e.g. bytes>1k",
		"cost>1e999":   "cost>1e999: not a number; e.g. cost>0.01",
		"since:5":      "since:5: not a time; e.g. since:10m or since:14:05",
		"since:-5m":    "since:-5m: not a time; e.g. since:10m or since:14:05",
		"finding:zzz":  "finding:zzz: unknown code; e.g. finding:SCHEMA",
		"sent:gone":    "sent:gone: unknown outcome; use changed back intact reformatted emptied repaired double-encoded wrapped altered dropped orphaned moved; e.g. sent:changed",
	} {
		f, faults := Parse(text)
		if len(faults) != 1 || faults[0].Error() != want || !f.Empty() {
			t.Errorf("%q: %v, want %q", text, faults, want)
		}
	}
	f, faults := Parse("state:bad costs>1 sonnet")
	if len(faults) != 1 || len(f.terms) != 2 || f.String() != "state:bad costs>1 sonnet" {
		t.Errorf("%v of %q", faults, f)
	}
	if f, _ := Parse("since:2h since:10m"); f.Since() != 10*time.Minute {
		t.Error(f.Since())
	}
}

// TestFieldExamples checks that the examples of fields are valid.
func TestFieldExamples(t *testing.T) {
	for _, field := range Fields() {
		for way := range strings.SplitSeq(field.Example, " or ") {
			if f, faults := Parse(way); len(faults) > 0 || f.Empty() {
				t.Errorf("%s: %v", way, faults)
			}
		}
		if field.values == nil {
			continue
		}
		for _, v := range field.values() {
			if f, faults := Parse(field.Name + ":" + v); len(faults) > 0 || f.Empty() {
				t.Errorf("%s:%s: %v", field.Name, v, faults)
			}
		}
	}
}

func TestComplete(t *testing.T) {
	seen := func(field string) []string {
		return map[string][]string{"tool": {"run_shell", "run_tests", "two words"}}[field]
	}
	for text, want := range map[string]string{
		"": "", "st": "state:", "s": "s", "ST": "state:", "co": "cost>", "state:ma": "state:malformed", "state:b": "state:bad",
		"tool:": "tool:", "tool:r": "tool:run_", "tool:run_s": "tool:run_shell", "tool:t": "tool:t", `tool:"t`: `tool:"two words"`, "model:x": "model:x", "state:bad mo": "state:bad model:",
		"-to": "-too", "-tool": "-tool:", "-tool:run_t": "-tool:run_tests", "finding:war": "finding:warn", "finding:schema_e": "finding:SCHEMA_ENUM", "state:bad ": "state:bad ", "xyz": "xyz",
	} {
		if got, _ := Complete(text, seen); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if _, all := Complete("s", nil); !slices.Equal(all, []string{"state:", "since:", "sent:"}) {
		t.Error(all)
	}
}

// FuzzParse checks that every text is a filter, and that its String parses to the same filter.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"state:bad", `-tool:"a b" cost>0.01 -`, "since:14:05 took<=2m", "\x00\xff:", `"`, "a:b:c", "é:ü -é", "-\"-\"", "bytes>1kb", "\f", "\" "} {
		f.Add(text)
	}
	src := written(f)
	f.Fuzz(func(t *testing.T, text string) {
		one, faults := Parse(text)
		again, more := Parse(one.String())
		if len(faults) != len(more) || len(one.terms) != len(again.terms) {
			t.Fatalf("%q is not %q: %v, %v", text, one, faults, more)
		}
		for _, turn := range src.View.Session().Turns {
			if one.MatchesTurn(src, turn) != again.MatchesTurn(src, turn) {
				t.Fatalf("%q of turn %d", text, turn.Number)
			}
			one.Undecidable(turn)
		}
		longer, _ := Complete(text, nil)
		if !strings.HasPrefix(strings.ToLower(longer), strings.ToLower(text)) && strings.ToValidUTF8(text, "") == text {
			t.Fatalf("%q becomes %q", text, longer)
		}
	})
}

// TestTurnAllocates checks that matching allocates only the targets of a match, because up to 100,000 turns are
// matched after each typed key.
func TestTurnAllocates(t *testing.T) {
	src := written(t)
	f, _ := Parse("state:bad model:sonnet cost<1 zzz -tool:y since:10m bytes>1 sent:back")
	if n := testing.AllocsPerRun(100, func() {
		for _, turn := range src.View.Session().Turns {
			f.MatchesTurn(src, turn)
		}
	}); n > 8 { // one target for each turn, and one for each call
		t.Errorf("%.0f allocations", n)
	}
}

func BenchmarkTurn(b *testing.B) {
	src := written(b)
	f, _ := Parse("state:bad sonnet")
	for b.Loop() {
		for _, turn := range src.View.Session().Turns {
			f.MatchesTurn(src, turn)
		}
	}
}
