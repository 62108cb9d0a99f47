package price

import (
	"strings"
	"testing"

	"toolscope/stream"
)

const liteLLM = `{
  "sample_spec": {"litellm_provider": "one of …", "input_cost_per_token": 0, "output_cost_per_token": 0},
  "gpt-x": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 2.5e-06, "output_cost_per_token": 1e-05,
    "cache_read_input_token_cost": 1.25e-06, "input_cost_per_token_above_200k_tokens": 5e-06, "output_cost_per_token_flex": 5e-06,
    "input_cost_per_audio_token": 1, "max_tokens": "as many as you like"},
  "groq/llama-x": {"litellm_provider": "groq", "input_cost_per_token": 1e-07, "output_cost_per_token": 2e-07},
  "bedrock/us-east-1/anthropic.claude-x": {"litellm_provider": "bedrock", "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05,
    "cache_creation_input_token_cost": 3.75e-06, "cache_creation_input_token_cost_above_1hr": 6e-06},
  "openrouter/z-ai/glm-x": {"litellm_provider": "openrouter", "input_cost_per_token": 6e-07, "output_cost_per_token": 2e-06},
  "dall-e": {"litellm_provider": "openai", "input_cost_per_pixel": 1}
}`

const modelsDevList = `{
  "openai": {"id": "openai", "models": {
    "gpt-x": {"id": "gpt-x", "limit": {"context": 5}, "cost": {"input": 2.5, "output": 10, "cache_read": 1.25, "context_over_200k": {"input": 5, "output": 10}}},
    "gpt-y": {"cost": {"input": 1, "output": 2, "tiers": [{"tier": {"size": 272000}, "input": 3, "output": 4}, {"tier": 5}], "context_over_200k": {"input": 9}}},
    "embed-x": {"id": "embed-x"}
  }},
  "google-vertex": {"models": {"gemini-x": {"cost": {"input": 1, "output": 2}}}},
  "github-copilot": {"models": {"gpt-x": {"cost": {"input": 0, "output": 0}}}}
}`

const genAIList = `[
  {"id": "x-ai", "name": "X AI", "models": [
    {"id": "grok-x", "match": {"or": [{"equals": "grok-x-beta"}, {"starts_with": "grok-x"}, {"regex": "^g"}]}, "prices": {"input_mtok": {"base": 3, "tiers": [{"start": 128000, "price": 6}]}, "output_mtok": 15, "requests_kcount": 3}},
    {"id": "sound", "match": {"equals": "sound"}, "prices": {"input_mtok": 3}}
  ]},
  {"id": "openai", "models": [
    {"id": "gpt-x", "match": {"equals": "gpt-x"}, "prices": [{"prices": {"input_mtok": 10, "output_mtok": 40}}, {"constraint": {"start_date": "2026-06-10"}, "prices": {"input_mtok": 2, "output_mtok": 8}}]},
    {"id": "night", "match": {"contains": "night"}, "prices": [{"prices": {"input_mtok": 1, "output_mtok": 2}}, {"constraint": {"start_time": "00:30:00Z", "end_time": "16:30:00Z"}, "prices": {"input_mtok": 3, "output_mtok": 4}}]}
  ]}
]`

// TestRead checks that price lists of other projects are recognised, and that their prices are found like the
// built-in prices.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		list                  string
		models                int
		dialect, host, model  string
		seller                string
		input, output, cached float64
	}{
		{liteLLM, 4, "openai-chat", "", "gpt-x", "openai", 2.5, 10, 1.25},
		{liteLLM, 4, "openai-chat", "api.groq.com", "llama-x", "groq", 0.1, 0.2, 0},
		{liteLLM, 4, "bedrock", "", "us.anthropic.claude-x-v1:0", "amazon-bedrock", 3, 15, 0},
		{liteLLM, 4, "openai-chat", "openrouter.ai", "z-ai/glm-x", "openrouter", 0.6, 2, 0},
		{modelsDevList, 4, "openai-responses", "api.openai.com", "gpt-x-2026-01-01", "openai", 2.5, 10, 1.25},
		{modelsDevList, 4, "gemini", "aiplatform.googleapis.com", "publishers/google/models/gemini-x", "vertex", 1, 2, 0},
		{genAIList, 3, "openai-chat", "api.x.ai", "grok-x-0709", "xai", 3, 15, 0},
		{genAIList, 3, "openai-chat", "api.x.ai", "grok-x-beta", "xai", 3, 15, 0},
		{genAIList, 3, "openai-chat", "", "night-20260101", "openai", 3, 4, 0},
		{"[" + row + "]", 1, "openai-chat", "", "m", "p", 1, 2, 0},
	} {
		rows, err := Read([]byte("\xef\xbb\xbf "+c.list), "2026-10-11")
		if err != nil || len(rows) != c.models {
			t.Errorf("%d models, %v\n%.60s", len(rows), err, c.list)
			continue
		}
		p := new(Table).With(rows).Lookup(c.dialect, c.host, c.model)
		if p.Why != "" || p.Provider != c.seller || p.Input.USD != c.input || p.Output.USD != c.output || p.CacheRead.USD != c.cached {
			t.Errorf("%s: %+v", c.model, p)
		}
		if p.AsOf != "2026-10-11" && p.Provider != "p" {
			t.Errorf("%s: as of %q", c.model, p.AsOf)
		}
	}
	rows, _ := Read([]byte(modelsDevList), "2026-10-11")
	if p := new(Table).With(rows).Lookup("openai-chat", "", "gpt-y"); len(p.Tiers) != 1 || p.Tiers[0].Over != 272000 || p.Tiers[0].Output.USD != 4 {
		t.Errorf("%+v", p.Tiers)
	}
	rows, _ = Read([]byte(liteLLM), "2026-10-11")
	for _, p := range rows {
		if p.ID == "gpt-x" && (len(p.Tiers) != 2 || p.Tiers[0].Input.USD != 5 || p.Tiers[0].Over != 200000 || p.Tiers[1].Service != "flex" || p.Tiers[1].Output.USD != 5) {
			t.Errorf("%+v", p.Tiers)
		}
		if p.ID == "anthropic.claude-x" && p.CacheWriteHour.USD != 6 {
			t.Errorf("%+v", p)
		}
	}
}

// TestReadErrors checks that errors about the lists of other projects also contain the line and the model.
func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{}", "line 1: this object is not a known price list\nuse a list in the form that 'toolscope help prices' shows, LiteLLM's"},
		{`{"a":{"b":1}}`, "line 1: this object is not a known price list"},
		{"{", "line 1: not JSON: "},
		{strings.Replace(liteLLM, "1e-07", `"0.1"`, 1), "line 6: groq/llama-x: input_cost_per_token: \"0.1\" is not a price\nuse US dollars"},
		{strings.Replace(liteLLM, "2.5e-06", "-1", 1), "line 3: gpt-x: input_cost_per_token: -1 is not a price\n"},
		{strings.Replace(modelsDevList, `"output": 10, "cache`, `"output": [], "cache`, 1), "line 3: gpt-x: cost.output: [] is not a price\n"},
		{strings.Replace(genAIList, `"input_mtok": 10`, `"input_mtok": "x"`, 1), "line 7: gpt-x: input_mtok: \"x\" is not a price\n"},
		{`[{"id":"a","models":[{"id":"m","prices":7}]}]`, "line 1: m: model: can't be read: "},
	} {
		if _, err := Read([]byte(c.text), "2026-10-11"); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.60q: %v\nwant %s", c.text, err, c.want)
		}
	}
}

// TestSince checks that a price is valid from its day on. The response's header contains the day of the turn. Without
// the header, the day of the table is used, with a doubt.
func TestSince(t *testing.T) {
	rows, err := Parse([]byte(`[{"provider":"openai","id":"m","input":1,"output":1,"as_of":"2026-08-21",
		"since":[{"day":"2026-03-01","input":2,"output":2},{"day":"2026-09-01","input":3,"output":3,"tiers":[{"over":5,"input":4}]}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	table := new(Table).With(rows)
	for date, want := range map[string]float64{
		"Sat, 28 Feb 2026 23:59:59 GMT": 1, "Sun, 01 Mar 2026 00:00:00 GMT": 2, "Mon, 31 Aug 2026 10:00:00 GMT": 2,
		"Tue, 01 Sep 2026 00:00:00 GMT": 4, "": 2, "no day": 2,
	} {
		turn := &stream.Turn{Protocol: "openai-chat", Model: "m", Usage: stream.Usage{Input: stream.Tokens(1e6), Output: stream.Tokens(0)}}
		f := table.Turn(turn, stream.Head{Header: map[string][]string{"Date": {date}}})
		if f.USD != want || strings.Contains(f.Why, "the price changed on 2026-09-01") == strings.HasSuffix(date, "GMT") {
			t.Errorf("%q: %+v, want %g", date, f, want)
		}
	}
}

// TestDoubtsAdd checks that a price in doubt keeps its reason if the day is unknown too.
func TestDoubtsAdd(t *testing.T) {
	rows, err := Parse([]byte(`[{"provider":"openai","id":"m","input":1,"output":1,"as_of":"2026-08-21","since":[{"day":"2026-09-01","input":3,"output":3}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	rows[0].Doubt = "another seller"
	if got, want := rows[0].onDay("", 1, "").Doubt, "another seller; the price changed on 2026-09-01, but the day of this turn is unknown"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := rows[0].onDay("2026-10-01", 1, "").Doubt; got != "another seller" {
		t.Errorf("got %q, want only the first reason", got)
	}
}

// TestIsSnapshot checks which suffixes only identify a snapshot of a model.
func TestIsSnapshot(t *testing.T) {
	for rest, want := range map[string]bool{
		"": true, "-latest": true, "-20250514": true, "0514": true, "@20250514": true, "-preview-05-06": true, "-001": true, "-v1:0": true,
		"-0709": true, "-1": false, "-mini": false, "-codex": false, ".5": false, "-latest-fast": false, "o": false, "-fast": false,
	} {
		if got := isSnapshot(rest); got != want {
			t.Errorf("%q: %t", rest, got)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		t := Embedded()
		t.Lookup("openai-chat", "", "gpt-5")
	}
}
