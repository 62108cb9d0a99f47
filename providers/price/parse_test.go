package price

import (
	"errors"
	"math"
	"strings"
	"testing"

	"toolscope/stream"
)

const row = `{"provider":"p","id":"m","input":1,"output":2,"as_of":"2026-01-02"}`

func TestParse(t *testing.T) {
	rows, err := Parse([]byte("\xef\xbb\xbf[\n" + `{ "provider" : " Me.example ", "id": "big", "input": 1e0, "output": 2.5, "cache_read": null, "cache_write": 0,
		"cache_write_hour": 3, "disputed": true, "as_of": "2026-01-02",
		"tiers": [{"over": 1000, "input": 4}, {"service": "FAST", "output": 9, "cache_read": 1}] }` + "\n]\n"))
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	p := rows[0]
	want := Rates{Input: usd(1), Output: usd(2.5), CacheWrite: usd(0), CacheWriteHour: usd(3)}
	if p.Provider != "Me.example" || p.ID != "big" || p.Rates != want || p.AsOf != "2026-01-02" || p.Doubt == "" {
		t.Errorf("%+v", p)
	}
	if len(p.Tiers) != 2 || p.Tiers[0] != (Tier{Over: 1000, Rates: Rates{Input: usd(4)}}) ||
		p.Tiers[1] != (Tier{Service: "fast", Rates: Rates{Output: usd(9), CacheRead: usd(1)}}) {
		t.Errorf("%+v", p.Tiers)
	}
	if rows, err := Parse([]byte(" [ ] ")); err != nil || len(rows) != 0 {
		t.Error(rows, err)
	}
}

// TestParseErrors checks that an error contains the line, the field and a remedy.
func TestParseErrors(t *testing.T) {
	with := func(field string) string { return "[\n" + strings.Replace(row, "}", ",\n"+field+"}", 1) + "\n]" }
	without := func(field string) string { return "[\n\n" + strings.Replace(row, field, "", 1) + "]" }
	for _, test := range []struct{ text, want string }{
		{"", "line 1: the file is empty\nuse a list of prices"},
		{"null", "line 1: null is not a list\nuse a list of prices"},
		{"{}", "line 1: a JSON object is not a list\nuse a list"},
		{"7", "line 1: a JSON number is not a list\nuse a list"},
		{"[\n" + row + "\n" + row + "]", "line 3: not JSON: invalid character '{' after array element\n"},
		{"[\n" + row, "line 2: not JSON: unexpected end of JSON input\n"},
		{"[\n" + row + ",\n7]", "line 3: not an object\nuse a list"},
		{"[" + row + ",\n" + strings.ToUpper(row[:13]) + row[13:] + "]", "line 2: PROVIDER: unknown field\nuse provider, id, input"},
		{"[" + row + ",\n\n" + strings.Replace(row, `"m"`, `"M"`, 1) + "]", "line 3: id: M from p is already on line 1\nlist each model"},
		{without(`"provider":"p",`), "line 3: provider: is missing\na price needs"},
		{without(`"id":"m",`), "line 3: id: is missing\n"},
		{without(`"input":1,`), "line 3: input: is missing\n"},
		{without(`"output":2,`), "line 3: output: is missing\n"},
		{without(`,"as_of":"2026-01-02"`), "line 3: as_of: is missing\n"},
		{with(`"inptu":3`), "line 3: inptu: unknown field\nuse"},
		{with(`"input":3`), "line 3: input: appears twice\nuse each field once"},
		{with(`"cache_read":"0.3"`), "line 3: cache_read: \"0.3\" is not a price\nuse US dollars per million tokens"},
		{with(`"cache_read":-1`), "line 3: cache_read: -1 is not a price\n"},
		{with(`"cache_read":1e999`), "line 3: cache_read: 1e999 is not a price\n"},
		{with(`"cache_read":[` + strings.Repeat("1,", 50) + `1]`), "line 3: cache_read: [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,… is not a price\n"},
		{with(`"disputed":"yes"`), "line 3: disputed: \"yes\" is neither true nor false\n"},
		{with(`"tiers":{}`), "line 3: tiers: not a list\nlist the prices above"},
		{with(`"tiers":[1]`), "line 3: tiers: not an object\nlist the prices above"},
		{with(`"tiers":[{"over":200000,
			"inputs":1}]`), "line 4: inputs: unknown field\nuse over, service"},
		{with(`"tiers":[{"input":1}]`), "line 3: tiers: a tier needs either the field over or the field service\n"},
		{with(`"tiers":[{"over":5,"service":"fast","input":1}]`), "line 3: tiers: a tier needs either the field over or the field service\n"},
		{with(`"tiers":[{"over":0,"input":1}]`), "line 3: over: 0 is not a number of tokens\n"},
		{with(`"tiers":[{"over":1.5,"input":1}]`), "line 3: over: 1.5 is not a number of tokens\n"},
		{with(`"tiers":[{"over":5}]`), "line 3: tiers: a tier needs prices\n"},
		{strings.Replace("["+row+"]", "2026-01-02", "2026-13-02", 1), "line 1: as_of: \"2026-13-02\" is not a day\nuse the day"},
		{strings.Replace("["+row+"]", `"2026-01-02"`, `20260102`, 1), "line 1: as_of: 20260102 is not a day\n"},
		{strings.Replace("["+row+"]", `"p"`, `""`, 1), "line 1: provider: \"\" is not a name\n"},
		{strings.Replace("["+row+"]", `"m"`, `5`, 1), "line 1: id: 5 is not a name\n"},
	} {
		_, err := Parse([]byte(test.text))
		var wrong *ParseError
		if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), test.want) || strings.Count(err.Error(), "\n") != 1 {
			t.Errorf("%s\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}

// TestWith checks that the user's rows replace the embedded rows, and that a row whose provider is a host is found by
// this host.
func TestWith(t *testing.T) {
	rows, err := Parse([]byte(`[
		{"provider":"OpenAI","id":"GPT-5","input":1,"output":2,"as_of":"2030-01-01"},
		{"provider":"llm.corp.example","id":"gpt-5","input":3,"output":4,"as_of":"2030-01-01"},
		{"provider":"localhost:4000","id":"gpt-5","input":5,"output":6,"as_of":"2030-01-01"},
		{"provider":"ollama","id":"qwen3:8b","input":7,"output":8,"as_of":"2030-01-01"},
		{"provider":"anthropic","id":"claude-opus-5","input":5,"output":25,"tiers":[{"service":"fast","input":30,"output":150}],"as_of":"2030-01-01"}]`))
	if err != nil {
		t.Fatal(err)
	}
	table := Embedded()
	mine := table.With(rows)
	for _, test := range []struct {
		table                *Table
		dialect, host, model string
		input                float64
	}{
		{table, "openai-chat", "", "gpt-5", 1.25},
		{mine, "openai-chat", "", "gpt-5-2025-08-07", 1},
		{mine, "openai-chat", "api.openai.com", "gpt-5", 1},
		{mine, "openai-chat", "api.openai.com", "gpt-5-mini", 0.25},
		{mine, "openai-chat", "LLM.corp.example", "gpt-5", 3},
		{mine, "openai-chat", "llm.corp.example:8443", "gpt-5", 3},
		{mine, "openai-chat", "localhost:4000", "gpt-5", 5},
		{mine, "openai-chat", "localhost:4001", "gpt-5", 1},
		{mine, "ollama", "", "qwen3:8b", 7},
	} {
		if p := test.table.Lookup(test.dialect, test.host, test.model); p.Input.USD != test.input || p.Why != "" {
			t.Errorf("%s %s %s: %+v, want %g", test.dialect, test.host, test.model, p, test.input)
		}
	}
	if p := mine.Lookup("openai-chat", "llm.corp.example", "gpt-4.1"); p.Why == "" {
		t.Errorf("a host's own list is all it sells: %+v", p)
	}
	fast := stream.Usage{Input: stream.Tokens(100), Output: stream.Tokens(10), Tier: "fast"}
	if f := Cost(fast, mine.Lookup("anthropic", "", "claude-opus-5")); math.Abs(f.USD-(100*30+10*150)/1e6) > 1e-12 {
		t.Errorf("fast mode with a price: %+v", f)
	}
}

// FuzzParse checks that no text makes Parse panic, and that accepted rows are complete.
func FuzzParse(f *testing.F) {
	f.Add("[" + row + "]")
	f.Add(string(embedded))
	f.Add(`[{"provider":"p","id":"m","input":1,"output":2,"tiers":[{"over":5,"input":1},{"service":"x","output":0}],"disputed":false,"as_of":"2026-01-02"}]`)
	for _, bad := range []string{"", "[", "[[]]", "null", `[{"provider":null}]`, `[{"":1}]`, "[{}]", `[{"tiers":[`, "\xef\xbb\xbf[]", `[{"a":1,"a":2}]`} {
		f.Add(bad)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := Parse([]byte(text))
		if err != nil {
			var wrong *ParseError
			if !errors.As(err, &wrong) || wrong.Line < 1 || wrong.Line > 1+strings.Count(text, "\n") || wrong.Problem == "" || wrong.Right == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		table := new(Table).With(rows)
		table.buildIndex()
		if len(table.rows) < len(rows) {
			t.Fatalf("%d rows of %d", len(table.rows), len(rows))
		}
		for _, p := range rows {
			if p.Provider == "" || p.ID == "" || !p.Input.Known || !p.Output.Known || p.Input.USD < 0 || math.IsInf(p.Output.USD, 0) || p.AsOf == "" {
				t.Fatalf("%+v", p)
			}
			Cost(stream.Usage{Input: stream.Tokens(1 << 60), Output: stream.Tokens(1), Tier: p.ID}, table.Lookup("openai-chat", p.Provider, p.ID))
		}
	})
}

// FuzzLookup checks that no name breaks the rules for names.
func FuzzLookup(f *testing.F) {
	f.Add("anthropic", "api.anthropic.com", "claude-haiku-4-5-20251001")
	f.Add("bedrock", "bedrock-runtime.x.amazonaws.com", "us.anthropic.claude-x-v1:0")
	f.Add("gemini", "[::1]:80", "models/")
	f.Add("", ":", "-v:")
	f.Add("", "]", "arn:")
	table := Embedded()
	f.Fuzz(func(t *testing.T, dialect, host, model string) {
		p := table.Lookup(dialect, host, model)
		if p.Why == "" && !p.Free && !p.Input.Known {
			t.Fatalf("%q at %q: %+v", model, host, p)
		}
	})
}
