package price

import (
	"math"
	"strings"
	"testing"

	"toolscope/stream"
)

func usd(n float64) Rate { return Rate{n, true} }

// sample is a price with every rate, and with higher rates above 1,000 input tokens.
var sample = Price{
	Provider: "openai", ID: "x", AsOf: "2026-08-21",
	Rates: Rates{Input: usd(4), Output: usd(20), CacheRead: usd(0.5), CacheWrite: usd(5), CacheWriteHour: usd(8),
		AudioInput: usd(40), AudioCacheRead: usd(2), AudioOutput: usd(90), WebSearches: usd(7)},
	Tiers: []Tier{
		{Over: 1000, Rates: Rates{Input: usd(8), Output: usd(30), CacheRead: usd(1)}},
		{Over: 5000, Rates: Rates{Input: usd(16)}},
		{Service: "turbo", Rates: Rates{Input: usd(40), Output: usd(200)}},
	},
}

func tokens(input, read, write, hour, output int64) stream.Usage {
	return stream.Usage{
		Input: stream.Tokens(input), CacheRead: stream.Tokens(read), CacheWrite: stream.Tokens(write),
		CacheWriteHour: stream.Tokens(hour), Output: stream.Tokens(output),
	}
}

func audio(u stream.Usage, in, read, out int64) stream.Usage {
	u.InputAudio, u.CacheReadAudio, u.OutputAudio = stream.Tokens(in), stream.Tokens(read), stream.Tokens(out)
	return u
}

func searched(u stream.Usage, n int64) stream.Usage {
	u.WebSearches = stream.Tokens(n)
	return u
}

func tier(u stream.Usage, name string) stream.Usage {
	u.Tier = name
	return u
}

func TestCost(t *testing.T) {
	bare := Price{Provider: "x", AsOf: "2026-01-01", Rates: Rates{Input: usd(4), Output: usd(20)}}
	fiveMinutes := bare
	fiveMinutes.CacheWrite = usd(5)
	disputed := bare
	disputed.Doubt = "sources disagree"
	anthropic, nobody := sample, sample
	anthropic.Provider, nobody.Provider = "anthropic", "nobody"
	told := tokens(100, 0, 0, 0, 10)
	told.CostUSD, told.CostReported = 0.25, true
	cohere := tokens(46, 704, 0, 0, 14)
	cohere.SeenInput = stream.Tokens(1445)
	doubtful := tokens(100, 0, 0, 0, 10)
	doubtful.Doubt = "several models served the turn"
	for _, test := range []struct {
		name  string
		usage stream.Usage
		price Price
		sum   float64 // in millionths
		why   string  // part of the reason; "" if the figure is exact
	}{
		{"plain", tokens(100, 0, 0, 0, 10), sample, 100*4 + 10*20, ""},
		{"cached is inside of the input", tokens(100, 60, 0, 0, 10), sample, 40*4 + 60*0.5 + 10*20, ""},
		{"all the kinds", tokens(900, 400, 300, 100, 7), sample, 200*4 + 400*0.5 + 200*5 + 100*8 + 7*20, ""},
		{"an hour that is more than what was written", tokens(900, 0, 300, 500, 0), sample, 600*4 + 300*8, ""},
		{"at the threshold", tokens(1000, 0, 0, 0, 10), sample, 1000*4 + 10*20, ""},
		{"over it, all of it is dearer", tokens(1001, 500, 100, 0, 10), sample, 401*8 + 500*1 + 100*5 + 10*30, ""},
		{"over the next, what that does not say is as without tiers", tokens(5001, 0, 0, 0, 10), sample, 5001*16 + 10*20, ""},
		{"no price for reading the cache", tokens(100, 60, 0, 0, 10), bare, 100*4 + 10*20, "cache reads"},
		{"no price for writing it", tokens(100, 0, 60, 0, 10), bare, 100*4 + 10*20, "cache writes"},
		{"none for an hour", tokens(100, 0, 60, 20, 10), fiveMinutes, 40*4 + 60*5 + 10*20, "one-hour"},
		{"none needed", tokens(100, 0, 0, 0, 10), bare, 100*4 + 10*20, ""},
		{"more cached than there is", tokens(100, 160, 0, 0, 10), sample, 160*0.5 + 10*20, "160 tokens read from and written to the cache, but only 100 input tokens"},
		{"negative counts", tokens(-5, -1, -1, -1, 10), sample, 10 * 20, ""},
		{"Cohere bills less than it sees", cohere, sample, 46*4 + 14*20, ""},
		{"disputed", tokens(100, 0, 0, 0, 10), disputed, 100*4 + 10*20, "sources disagree"},
		{"doubtful counts", doubtful, sample, 100*4 + 10*20, "several models"},
		{"only the input", stream.Usage{Input: stream.Tokens(100)}, sample, 100 * 4, "no output tokens"},
		{"only the output", stream.Usage{Output: stream.Tokens(10)}, sample, 10 * 20, "no input tokens"},

		{"audio", audio(tokens(100, 40, 0, 0, 30), 50, 20, 10), sample, 30*4 + 20*0.5 + 30*40 + 20*2 + 20*20 + 10*90, ""},
		{"only audio", audio(tokens(50, 0, 0, 0, 10), 50, 0, 10), sample, 50*40 + 10*90, ""},
		{"more audio than there is", audio(tokens(50, 0, 0, 0, 10), 90, 0, 70), sample, 50*40 + 10*90, ""},
		{"audio without a price", audio(tokens(100, 0, 0, 0, 10), 50, 0, 0), bare, 100*4 + 10*20, "audio input"},
		{"audio, and a cache that may hold some", stream.Usage{Input: stream.Tokens(100), CacheRead: stream.Tokens(10), Output: stream.Tokens(0), InputAudio: stream.Tokens(40)},
			sample, 50*4 + 10*0.5 + 40*40, "how many of the cached tokens"},
		{"searches", searched(tokens(100, 0, 0, 0, 10), 3), sample, 100*4 + 10*20 + 3*7000, ""},
		{"searches cost the same in flex", tier(searched(tokens(100, 0, 0, 0, 10), 3), "flex"), sample, (100*4+10*20)*0.5 + 3*7000, ""},
		{"searches without a price", searched(tokens(100, 0, 0, 0, 10), 3), bare, 100*4 + 10*20, "web searches is unknown"},

		{"flex", tier(tokens(100, 0, 0, 0, 10), "flex"), sample, (100*4 + 10*20) * 0.5, ""},
		{"priority", tier(tokens(100, 0, 0, 0, 10), "priority"), sample, (100*4 + 10*20) * 2, ""},
		{"batch", tier(tokens(100, 0, 0, 0, 10), "batch"), anthropic, (100*4 + 10*20) * 0.5, ""},
		{"default", tier(tokens(100, 0, 0, 0, 10), "default"), nobody, 100*4 + 10*20, ""},
		{"standard", tier(tokens(100, 0, 0, 0, 10), "standard"), anthropic, 100*4 + 10*20, ""},
		{"auto", tier(tokens(100, 0, 0, 0, 10), "auto"), sample, 100*4 + 10*20, ""},
		{"on demand", tier(tokens(100, 0, 0, 0, 10), "ON_DEMAND"), nobody, 100*4 + 10*20, ""},
		{"a service with its own prices", tier(tokens(100, 10, 0, 0, 10), "Turbo"), sample, 90*40 + 10*0.5 + 10*200, ""},
	} {
		f := Cost(test.usage, test.price)
		if f.Source != FromTable || math.Abs(f.USD-test.sum/1e6) > 1e-13 || f.AsOf != test.price.AsOf {
			t.Errorf("%s: %+v, want %g", test.name, f, test.sum/1e6)
		}
		if f.Approximate != (test.why != "") || !strings.Contains(f.Why, test.why) {
			t.Errorf("%s: approximate %t, %q; want %q", test.name, f.Approximate, f.Why, test.why)
		}
	}
	if f := Cost(told, sample); f != (Figure{USD: 0.25, Source: FromProvider}) {
		t.Errorf("told by the provider: %+v", f)
	}
	if f := Cost(told, Price{Why: "unknown"}); f.USD != 0.25 {
		t.Errorf("told by the provider, of a model nobody knows: %+v", f)
	}
	if f := Cost(tokens(100, 0, 0, 0, 10), Price{Free: true}); f != (Figure{Source: Free}) || f.String() != "free" {
		t.Errorf("free: %+v", f)
	}
}

// TestAge checks that a price older than 60 days on the day of the turn is approximate. If that day is
// unknown, today is used.
func TestAge(t *testing.T) {
	rows, err := Parse([]byte(`[{"provider":"openai","id":"m","input":1,"output":1,"as_of":"2026-03-01"}]`))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		date, today string
		old         bool
	}{
		{"Thu, 30 Apr 2026 23:59:59 GMT", "", false}, {"Fri, 01 May 2026 00:00:01 GMT", "", true}, {"Fri, 02 Jan 2026 00:00:00 GMT", "2027-01-01", false},
		{"", "2026-04-30", false}, {"", "2026-05-01", true}, {"", "", false}, {"no day", "2026-05-01", true},
	} {
		table := new(Table)
		table.Today = test.today
		table = table.With(rows)
		turn := &stream.Turn{Protocol: "openai-chat", Model: "m", Usage: stream.Usage{Input: stream.Tokens(10), Output: stream.Tokens(1)}}
		f := table.Turn(turn, stream.Head{Header: map[string][]string{"Date": {test.date}}})
		if strings.Contains(f.Why, "this price is from 2026-03-01") != test.old || strings.Contains(f.Why, "the price changed") {
			t.Errorf("%q, today %q: %+v", test.date, test.today, f)
		}
	}
}

// TestDoubts checks that a price keeps all reasons for doubt.
func TestDoubts(t *testing.T) {
	for _, test := range [][3]string{{"", "", ""}, {"a", "", "a"}, {"", "b", "b"}, {"a", "b", "a; b"}} {
		p := Price{Doubt: test[0]}
		if p.addDoubt(test[1]); p.Doubt != test[2] {
			t.Errorf("%q and %q: %q", test[0], test[1], p.Doubt)
		}
	}
}

// TestUnfinished checks that the cost of an unfinished turn is approximate, even if the provider reports it.
func TestUnfinished(t *testing.T) {
	told := tokens(100, 0, 0, 0, 10)
	told.CostUSD, told.CostReported = 0.25, true
	if f := new(Table).Turn(&stream.Turn{Protocol: "openai-chat", Model: "m", Usage: told}, stream.Head{}); !f.Approximate || f.Why != "so far" || f.USD != 0.25 {
		t.Errorf("%+v", f)
	}
}

// TestNoFigure checks that unknown costs are not zero.
func TestNoFigure(t *testing.T) {
	anthropic := sample
	anthropic.Provider = "anthropic"
	for _, test := range []struct {
		usage stream.Usage
		price Price
		why   string
	}{
		{tokens(100, 0, 0, 0, 10), Price{Why: "no price is known for y"}, "no price is known for y"},
		{stream.Usage{}, sample, "no usage"},
		{stream.Usage{CacheRead: stream.Tokens(5)}, sample, "no usage"},
		{tokens(0, 0, 0, 0, 0), sample, "the reported usage is 0 tokens"},
		{tier(tokens(100, 0, 0, 0, 10), "fast"), anthropic, `service tier "fast"`},
		{tier(tokens(100, 0, 0, 0, 10), "priority"), anthropic, `service tier "priority"`},
		{tier(tokens(100, 0, 0, 0, 10), "PROVISIONED_THROUGHPUT"), sample, "PROVISIONED"},
	} {
		f := Cost(test.usage, test.price)
		if f.Known() || f.USD != 0 || f.String() != "" || !strings.Contains(f.Why, test.why) {
			t.Errorf("%v: %+v, want %q", test.usage, f, test.why)
		}
	}
}

func TestUSD(t *testing.T) {
	for amount, want := range map[float64]string{
		0: "$0.00", 0.0028: "$0.0028", 0.00275139: "$0.002751", 0.0099999: "$0.01", 0.01: "$0.01", 0.0123: "$0.0123",
		0.01234: "$0.0123", 0.5: "$0.50", 1: "$1.00", 1.23456: "$1.2346", 9.99999: "$10.00", 12.345: "$12.35", 1234.5: "$1,234.50",
		1234567.891: "$1,234,567.89", 0.00008725: "$0.00008725", 2.37552e-05: "$0.00002376", 5e-05: "$0.00005", 1e-12: "<$0.000000001",
		-0.5: "-$0.50", 0.001: "$0.001",
	} {
		if got := USD(amount); got != want {
			t.Errorf("USD(%v) = %s, want %s", amount, got, want)
		}
	}
}

func TestTotal(t *testing.T) {
	exact := Figure{USD: 0.01, Source: FromTable, AsOf: "2026-08-21"}
	about := Figure{USD: 0.0023, Source: FromTable, AsOf: "2026-07-02", Approximate: true}
	own := Figure{USD: 0.002, Source: FromProvider}
	free, unknown := Figure{Source: Free}, Figure{Why: "nobody knows"}
	for _, test := range []struct {
		figures  []Figure
		want, of string
	}{
		{nil, "", ""},
		{[]Figure{exact}, "$0.01", "2026-08-21"},
		{[]Figure{exact, about}, "~$0.0123", "2026-07-02"},
		{[]Figure{exact, own, free}, "$0.012", "2026-08-21"},
		{[]Figure{exact, unknown, unknown}, "$0.01 + 2 unknown", "2026-08-21"},
		{[]Figure{free, free}, "free", ""},
		{[]Figure{free, unknown}, "free + 1 unknown", ""},
		{[]Figure{unknown}, "", ""},
	} {
		var total Sum
		for _, f := range test.figures {
			total.Add(f)
		}
		if total.String() != test.want || total.AsOf != test.of {
			t.Errorf("%v: %q of %q, want %q of %q", test.figures, total.String(), total.AsOf, test.want, test.of)
		}
	}
}
