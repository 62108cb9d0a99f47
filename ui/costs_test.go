package ui

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/providers/price"
	"toolscope/stream"
)

// answer returns a complete response from a model, with usage.
func answer(exchange int, url, model, usage string) []stream.Record {
	body := fmt.Sprintf(`data: {"id":"c%d","object":"chat.completion.chunk","model":%q,"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]%s}`+
		"\n\ndata: [DONE]\n\n", exchange, model, usage)
	return []stream.Record{{Exchange: exchange, Data: []byte(body), Head: &stream.Head{Method: "POST", URL: url, Status: 200}, End: true}}
}

const someUsage = `,"usage":{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100}`

// TestCosts checks that the page of a turn shows the cost of the turn, and the total of all turns. An unknown cost is
// shown as unknown.
func TestCosts(t *testing.T) {
	s := newScreen(t, 140, 40)
	s.feed(answer(1, "https://api.openai.com/v1/chat/completions", "gpt-5", someUsage)...)
	s.press("1k").shows("1 turn · 0 calls · $0.00225", "cost     $0.00225 exact   in $1.25, out $10.00 per million", "  as of 2026-11-10", "tokens   in 1,000 · out 100").hides("all turns", "unknown")
	s.feed(answer(2, "http://localhost:11434/v1/chat/completions", "llama3.2", someUsage)...)
	s.press("j").shows("cost     free, runs locally", "all turns    $0.00225 · as of 2026-11-10")
	s.feed(answer(3, "https://api.openai.com/v1/chat/completions", "gpt-nobody", someUsage)...)
	s.press("j").shows("cost     — no price is known for gpt-nobody from openai", "all turns    $0.00225 + 1 unknown", "  $0.00225 + 1 unknown")
	s.feed(answer(4, "https://openrouter.ai/api/v1/chat/completions", "x/y", strings.Replace(someUsage, "}", `,"cost":0.5}`, 1))...)
	s.press("j").shows("cost     $0.50, from the provider", "all turns    $0.5022 + 1 unknown")
	s.feed(answer(5, "https://api.deepseek.com/chat/completions", "deepseek-reasoner", someUsage)...)
	s.press("j").shows("cost     ~$0.000769 estimated, the price depends on the time of day", "as of 2026-09-23", "  ~$0.503 + 1 unknown")
	s.press("gg").shows("as of 2026-11-10", " · as of 2026-09-23")
}

// TestUsage checks that token counts that are part of another count are shown as such, and that each kind of
// token has its rate.
func TestUsage(t *testing.T) {
	usage := strings.Replace(someUsage, "}", `,"prompt_tokens_details":{"cached_tokens":600},"completion_tokens_details":{"reasoning_tokens":64}}`, 1)
	s := newScreen(t, 140, 40).feed(answer(1, "https://api.openai.com/v1/chat/completions", "gpt-5", usage)...)
	s.press("1k").shows("tokens   in 1,000 (600 cached) · out 100 (64 reasoning)", "in $1.25, cached $0.125, out $10.00 per")
}

// TestCostWhileItComes checks that the cost is marked as approximate until the last usage has arrived.
func TestCostWhileItComes(t *testing.T) {
	records := new(anthropic).open("msg_1").text("Hi").stop("end_turn").records
	s := newScreen(t, 140, 40, ascii)
	for i, r := range records {
		last := i == len(records)-1
		s.feed(r).press("g")
		if frame := s.text(); strings.Contains(frame, "~$") == last || !strings.Contains(frame, "$0.00") {
			t.Fatalf("after record %d of %d:\n%s", i+1, len(records), frame)
		}
	}
	s.shows("$0.001371").hides("so far") // 12 tokens at 3 dollars and 89 at 15 dollars per million
}

// TestCostsOfOnesOwn checks that the price table in the options is used.
func TestCostsOfOnesOwn(t *testing.T) {
	rows, err := price.Parse([]byte(`[{"provider":"openai","id":"gpt-5","input":1000,"output":0,"as_of":"2030-01-01"}]`))
	if err != nil {
		t.Fatal(err)
	}
	s := newScreen(t, 140, 40, func(o *Options) { o.Prices = price.Embedded().With(rows) })
	s.feed(answer(1, "", "gpt-5", someUsage)...).press("gk").shows("$1.00", "2030-01-01")
}

// TestTotalCost checks that the total equals the sum of all turns' costs, and that the costs of ended turns are not
// computed again.
func TestTotalCost(t *testing.T) {
	s := newScreen(t, 80, 24)
	for i := range 300 {
		s.feed(answer(i, "https://api.openai.com/v1", "gpt-5", someUsage)...)
	}
	s.shows("$0.675")
	if n := testing.AllocsPerRun(20, func() { s.news.Advance(s.view); s.bill.Extend(s.view, &s.news) }); n > 0 {
		t.Errorf("%v allocations when nothing is new", n)
	}
}
