package providers

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolscope/providers/price"
	"toolscope/stream"
)

// costCase is a response and its cost, computed by hand from the usage on the wire and the price of the
// model.
type costCase struct {
	file   string
	folder string // folder in the corpus; "" for openai-chat
	wire   string // wire of a response written for the test
	url    string
	model  string // model, if only the request contains it
	own    string // the user's price list
	sum    float64
	about  bool
	source price.Source
}

const million = 1e6

// figure returns the cost of a response's last turn.
func (c costCase) figure(t *testing.T, wire []byte) price.Figure {
	rows, err := price.Parse([]byte("[" + c.own + "]"))
	if err != nil {
		t.Fatal(err)
	}
	turns := inspect(wire).Session().Turns
	turn := *turns[len(turns)-1]
	if c.model != "" {
		turn.Model = c.model
	}
	return price.Embedded().With(rows).Turn(&turn, stream.Head{URL: c.url})
}

func (c costCase) compare(t *testing.T, f price.Figure) {
	if math.Abs(f.USD-c.sum) > 1e-12 || f.Source != c.source || f.Approximate != c.about {
		t.Errorf("%+v, want %.9f, %s, approximate %t", f, c.sum, c.source, c.about)
	}
}

// recordedCosts are the costs of turns that real providers sent.
var recordedCosts = []costCase{
	// the 320 reasoning tokens are part of the 379 output tokens: 190 + 379 is the total
	{file: "gpt5-parallel.sse", sum: (190*1.25 + 379*10) / million, source: price.FromTable},
	{file: "azure-gpt5mini.sse", sum: (145*0.25 + 154*2) / million, source: price.FromTable},
	{file: "azure-gpt5mini.sse", url: "https://x.openai.azure.com/openai", sum: (145*0.25 + 154*2) / million, source: price.FromTable, about: true},
	{file: "gpt4o-parallel.sse", sum: (106*2.5 + 50*10) / million, source: price.FromTable},
	// xAI: the 266 reasoning tokens are not part of the 68 output tokens; 192 of the 466 input tokens are from the
	// cache; xAI's own figure agrees
	{file: "grokcodefast-reasoning-parallel.sse", sum: ((466-192)*0.2 + 192*0.02 + (68+266)*1.5) / million, source: price.FromProvider},
	{file: "json-xai.json", sum: ((307-244)*0.3 + 244*0.075 + (26+255)*0.5) / million, source: price.FromProvider},
	// DeepSeek: the input includes cached tokens and the output includes reasoning; the price depends on the
	// time of day
	{file: "deepseek-parallel-second-truncated.sse", sum: (50*0.22 + 384*0.007 + 56*0.66) / million, source: price.FromTable, about: true},
	{file: "deepseek-parallel-second-truncated.sse", url: "https://api.deepseek.com/chat/completions", sum: (50*0.22 + 384*0.007 + 56*0.66) / million, source: price.FromTable, about: true},
	{file: "deepseek-reasoner-call.sse", sum: (19*0.55 + 320*0.14 + 83*2.19) / million, source: price.FromTable, about: true},
	// the usage chunk has no choices
	{file: "alibaba-qwen.sse", sum: (295*1.2 + 22*6) / million, source: price.FromTable},
	// running totals in every chunk: the last one counts
	{file: "vllm-empty-chunk-after-args.sse", own: `{"provider":"me","id":"meta/llama-3.1-8b-instruct:fp8","input":1,"output":10,"as_of":"2026-01-01"}`,
		sum: (226*1 + 20*10) / million, source: price.FromTable},
	{file: "vllm-empty-chunk-after-args.sse", source: price.Unknown},
	// the same usage at the top level and in x_groq
	{file: "groq-tool-call.sse", url: "https://api.groq.com/openai/v1/chat/completions", sum: (210*0.59 + 15*0.79) / million, source: price.FromTable},
	{file: "groq-kimi-parallel.sse", url: "https://api.groq.com/openai/v1/chat/completions", sum: (201*1 + 58*3) / million, source: price.FromTable},
	// OpenRouter reports its own figure
	{file: "openrouter-claude-parallel.sse", sum: 0.001285, source: price.FromProvider},
	{file: "openrouter-truncated-but-tool_calls.sse", sum: 0.0000688, source: price.FromProvider},
	// glm-4.7-flash is not glm-4.7
	{file: "zai-glm47-parallel.sse", source: price.Unknown},
	{file: "tool-call.sse", folder: "mistral", sum: (124*0.15 + 22*0.6) / million, source: price.FromTable},
	// message_start reported only 1 output token
	{file: "max-tokens-mid-args.sse", folder: "anthropic", sum: (450*3 + 124*15) / million, source: price.FromTable},
	// message_start reported 589 input tokens, and message_delta 1250
	{file: "mcp-tool-use.sse", folder: "anthropic", sum: (1250*3 + 83*15) / million, source: price.FromTable},
	{file: "two-calls-empty-args.sse", folder: "anthropic", sum: (542*1 + 62*5) / million, source: price.FromTable},
	// the 106 output tokens include thinking
	{file: "refusal-after-server-tool.sse", folder: "anthropic", sum: (28*10 + 106*50) / million, source: price.FromTable},
	{file: "fallback-model.sse", folder: "anthropic", sum: (412*5 + 264*25) / million, source: price.FromTable, about: true},
	{file: "parallel-text-then-two-calls.sse", folder: "anthropic", sum: (502*3 + 137*15) / million, source: price.FromTable},

	{file: "code-interpreter.sse", folder: "openai-responses", sum: ((6047-2944)*0.05 + 2944*0.005 + 1623*0.4) / million, source: price.FromTable, about: true}, // the code interpreter costs extra
	{file: "multi-tool-ordering.sse", folder: "openai-responses", sum: (150*0.75 + 80*4.5) / million, source: price.FromTable},
	// Gemini: the 38 thought tokens are not part of the 36 output tokens
	{file: "flash25-parallel.sse", folder: "gemini", sum: (121*0.3 + (36+38)*2.5) / million, source: price.FromTable},
	{file: "thinking-call.sse", folder: "gemini", sum: (54*0.3 + (14+62)*2.5) / million, source: price.FromTable},
	// Cohere bills 119 and 44 of the 1549 and 95 tokens that it processed
	{file: "tool-call.sse", folder: "cohere", model: "command-a-03-2025", sum: (119*2.5 + 44*10) / million, source: price.FromTable},
	{file: "json-converse.json", folder: "bedrock", model: "us.amazon.nova-lite-v1:0", sum: (28*0.06 + 62*0.24) / million, source: price.FromTable},
	{file: "json-single.json", folder: "ollama", source: price.Free},
}

func TestRecordedCosts(t *testing.T) {
	root := corpus(t)
	for _, c := range recordedCosts {
		if c.folder == "" {
			c.folder = "openai-chat"
		}
		t.Run(c.folder+"/"+c.file, func(t *testing.T) {
			if !isKnown(c.folder) {
				t.Skip("no dialect reads it")
			}
			wire, err := os.ReadFile(filepath.Join(root, "dev", c.folder, c.file))
			if err != nil {
				t.Fatal(err)
			}
			c.compare(t, c.figure(t, wire))
		})
	}
}

// chunks returns a chat stream whose last chunks have the finish reason and the given fields.
func chunks(model string, more ...string) string {
	s := `data: {"id":"c","object":"chat.completion.chunk","model":"` + model + `","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}` + "\n\n"
	for _, m := range more {
		s += `data: {"id":"c","object":"chat.completion.chunk","model":"` + model + `","choices":[],` + m + "}\n\n"
	}
	return s + "data: [DONE]\n\n"
}

// message returns a stream of Anthropic Messages. The parameters start and delta are the usage in message_start and
// message_delta.
func message(model, start, delta string) string {
	return `data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"` + model + `","content":[],"usage":` + start + "}}\n\n" +
		`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":` + delta + "}\n\n" + `data: {"type":"message_stop"}` + "\n\n"
}

// geminiBody returns a response of Gemini.
func geminiBody(usage, candidate string) string {
	return `{"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"finishReason":"STOP","index":0` + candidate +
		`}],"modelVersion":"gemini-2.5-flash","usageMetadata":{` + usage + `}}`
}

// responsesBody returns a response of OpenAI Responses with web searches.
func responsesBody(model string, actions ...string) string {
	items := ""
	for i, action := range actions {
		items += fmt.Sprintf(`{"id":"ws_%d","type":"web_search_call","status":"completed","action":{"type":%q}},`, i, action)
	}
	return `{"id":"resp_9","object":"response","status":"completed","model":"` + model + `","output":[` + items +
		`{"id":"msg_9","type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}],"usage":{"input_tokens":100,"output_tokens":20,"total_tokens":120}}`
}

// writtenCosts are difficult cases of usage, written for the test.
var writtenCosts = []costCase{
	{file: "reasoning inside", wire: chunks("gpt-5", `"usage":{"prompt_tokens":1000,"completion_tokens":300,"total_tokens":1300,"completion_tokens_details":{"reasoning_tokens":200}}`),
		sum: (1000*1.25 + 300*10) / million, source: price.FromTable},
	{file: "reasoning outside", wire: chunks("grok-4.3", `"usage":{"prompt_tokens":291,"completion_tokens":26,"total_tokens":513,"completion_tokens_details":{"reasoning_tokens":196}}`),
		sum: (291*1.25 + (26+196)*2.5) / million, source: price.FromTable},
	{file: "nobody can say where reasoning is", wire: chunks("gpt-5", `"usage":{"prompt_tokens":100,"completion_tokens":30,"total_tokens":150,"completion_tokens_details":{"reasoning_tokens":7}}`),
		sum: (100*1.25 + 30*10) / million, source: price.FromTable, about: true},
	{file: "cached inside", wire: chunks("gpt-5", `"usage":{"prompt_tokens":1000,"completion_tokens":0,"total_tokens":1000,"prompt_tokens_details":{"cached_tokens":600}}`),
		sum: (400*1.25 + 600*0.125) / million, source: price.FromTable},
	{file: "cache written inside", wire: chunks("gpt-5.6-sol", `"usage":{"prompt_tokens":1000,"completion_tokens":10,"total_tokens":1010,"prompt_tokens_details":{"cached_tokens":100,"cache_write_tokens":500}}`),
		sum: (400*4 + 100*0.4 + 500*5 + 10*20) / million, source: price.FromTable, about: true}, // the price has changed, and the day is unknown
	{file: "cached disjoint", wire: message("claude-sonnet-4-5-20250929", `{"input_tokens":100,"cache_read_input_tokens":1000,"cache_creation_input_tokens":300,"cache_creation":{"ephemeral_5m_input_tokens":200,"ephemeral_1h_input_tokens":100},"output_tokens":1}`, `{"output_tokens":50}`),
		sum: (100*3 + 1000*0.3 + 200*3.75 + 100*6 + 50*15) / million, source: price.FromTable},
	{file: "over 200,000 tokens of input, cached ones among them", wire: message("claude-sonnet-4-5", `{"input_tokens":1000,"cache_read_input_tokens":199001,"output_tokens":1}`, `{"output_tokens":10}`),
		sum: (1000*6 + 199001*0.6 + 10*22.5) / million, source: price.FromTable, about: true}, // only one list has this price
	{file: "just not over", wire: message("claude-sonnet-4-5", `{"input_tokens":1000,"cache_read_input_tokens":199000,"output_tokens":1}`, `{"output_tokens":10}`),
		sum: (1000*3 + 199000*0.3 + 10*15) / million, source: price.FromTable},
	{file: "running totals", wire: chunks("gpt-5", `"usage":{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105}`, `"usage":{"prompt_tokens":100,"completion_tokens":15,"total_tokens":115}`,
		`"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}`), sum: (100*1.25 + 20*10) / million, source: price.FromTable},
	{file: "message_start is a placeholder", wire: message("claude-haiku-4-5", `{"input_tokens":100,"output_tokens":8}`, `{"output_tokens":400}`),
		sum: (100*1 + 400*5) / million, source: price.FromTable},
	{file: "only message_start came", wire: strings.SplitAfter(message("claude-haiku-4-5", `{"input_tokens":100,"output_tokens":8}`, `{}`), "\n\n")[0],
		sum: (100*1 + 8*5) / million, source: price.FromTable, about: true},
	{file: "the provider's own figure", wire: chunks("gpt-5", `"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"cost":0.5}`), sum: 0.5, source: price.FromProvider},
	{file: "flex", wire: chunks("gpt-5", `"service_tier":"flex","usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}`), sum: (100*1.25 + 20*10) * 0.5 / million, source: price.FromTable},
	{file: "priority", wire: chunks("gpt-5", `"service_tier":"priority","usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}`), sum: (100*1.25 + 20*10) * 2 / million, source: price.FromTable},
	{file: "batch", wire: message("claude-opus-5", `{"input_tokens":100,"output_tokens":1,"service_tier":"batch"}`, `{"output_tokens":10}`), sum: (100*5 + 10*25) * 0.5 / million, source: price.FromTable},
	{file: "fast", wire: message("claude-opus-5", `{"input_tokens":100,"output_tokens":1,"service_tier":"standard","speed":"fast"}`, `{"output_tokens":10}`), source: price.Unknown},
	{file: "audio", wire: chunks("gpt-audio", `"usage":{"prompt_tokens":300,"completion_tokens":90,"total_tokens":390,"prompt_tokens_details":{"audio_tokens":200},"completion_tokens_details":{"audio_tokens":60}}`),
		sum: (100*2.5 + 200*32 + 30*10 + 60*64) / million, source: price.FromTable},
	{file: "audio of a model without a price for it", wire: chunks("gpt-5", `"usage":{"prompt_tokens":300,"completion_tokens":90,"total_tokens":390,"prompt_tokens_details":{"audio_tokens":200}}`),
		sum: (300*1.25 + 90*10) / million, source: price.FromTable, about: true},
	{file: "a count of no audio", wire: chunks("gpt-5", `"usage":{"prompt_tokens":300,"completion_tokens":90,"total_tokens":390,"prompt_tokens_details":{"audio_tokens":0}}`),
		sum: (300*1.25 + 90*10) / million, source: price.FromTable},
	{file: "Gemini hears", wire: geminiBody(`"promptTokenCount":500,"candidatesTokenCount":20,"promptTokensDetails":[{"modality":"TEXT","tokenCount":100},{"modality":"AUDIO","tokenCount":400}]`, ""),
		sum: (100*0.3 + 400*1 + 20*2.5) / million, source: price.FromTable},
	{file: "Gemini hears from the cache", wire: geminiBody(`"promptTokenCount":500,"candidatesTokenCount":20,"cachedContentTokenCount":300,"promptTokensDetails":[{"modality":"AUDIO","tokenCount":400}],"cacheTokensDetails":[{"modality":"AUDIO","tokenCount":300}]`, ""),
		sum: (100*0.3 + 100*1 + 300*0.1 + 20*2.5) / million, source: price.FromTable},
	{file: "Gemini searches", wire: geminiBody(`"promptTokenCount":500,"candidatesTokenCount":20`, `,"groundingMetadata":{"webSearchQueries":["tides"]}`),
		sum: (500*0.3 + 20*2.5) / million, source: price.FromTable, about: true},
	{file: "Anthropic searches", wire: message("claude-opus-5", `{"input_tokens":100,"output_tokens":1}`, `{"output_tokens":10,"server_tool_use":{"web_search_requests":3}}`),
		sum: (100*5+10*25)/million + 3*10.0/1000, source: price.FromTable},
	{file: "Anthropic runs code", wire: message("claude-opus-5", `{"input_tokens":100,"output_tokens":1}`, `{"output_tokens":10,"server_tool_use":{"code_execution_requests":3}}`),
		sum: (100*5 + 10*25) / million, source: price.FromTable, about: true},
	{file: "OpenAI searches twice, and opens a page", wire: responsesBody("gpt-5", "search", "open_page", "search"),
		sum: (100*1.25+20*10)/million + 2*10.0/1000, source: price.FromTable},
	{file: "an older model searches", wire: responsesBody("gpt-4.1", "search"), sum: (100*2+20*8)/million + 10.0/1000, source: price.FromTable, about: true},
	{file: "no usage", wire: chunks("gpt-5"), source: price.Unknown},
	{file: "nobody knows the model", wire: chunks("gpt-x", `"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}`), source: price.Unknown},
	{file: "Ollama", wire: chunks("llama3.2", `"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}`), url: "http://localhost:11434/v1/chat/completions", source: price.Free},
	{file: "no price for what is cached", wire: chunks("llama-3.1-8b-instant", `"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":60}}`),
		url: "https://api.groq.com/openai/v1", sum: (100*0.05 + 20*0.08) / million, source: price.FromTable, about: true},
}

func TestWrittenCosts(t *testing.T) {
	for _, c := range writtenCosts {
		t.Run(c.file, func(t *testing.T) { c.compare(t, c.figure(t, []byte(c.wire))) })
	}
}

// TestCostSoFar checks that the cost of an open turn is marked as approximate, and that it is computed again for
// every new usage.
func TestCostSoFar(t *testing.T) {
	table := price.Embedded()
	in := new(Inspector)
	var got []string
	for frame := range strings.SplitAfterSeq(message("claude-haiku-4-5", `{"input_tokens":1000,"output_tokens":8}`, `{"output_tokens":400}`), "\n\n") {
		if frame == "" {
			break
		}
		in.Write(stream.Record{Data: []byte(frame)})
		got = append(got, table.Turn(in.Session().Turns[0], stream.Head{}).String())
	}
	if s := strings.Join(got, " "); s != "~$0.00104 ~$0.003 $0.003" {
		t.Errorf("costs %s", s)
	}
}
