package ui

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// forecastTools is the forecast tool, as each protocol declares it.
const forecastSchema = `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},"units":{"enum":["metric","imperial"]},"fields":{"type":"array","items":{"type":"string"}}},"required":["city"]}`

// reply is one model's response to the forecast request: the times of its records in ms, and their contents. A record
// of a call is a name followed by its arguments. A record of text begins with a blank.
type reply struct {
	model string
	host  string
	wait  int // time until the first byte
	step  int // time between records
	calls [][]string
	open  bool // the response does not end
}

// forecast returns the responses of several models to the same request at the same time.
func forecast(replies ...reply) (all []stream.Record) {
	for i, r := range replies {
		all = append(all, r.records(i+1)...)
	}
	slices.SortStableFunc(all, func(a, b stream.Record) int { return cmp.Compare(a.At, b.At) })
	return all
}

func (r *reply) records(exchange int) (all []stream.Record) {
	body := fmt.Sprintf(`{"model":%s,"messages":[{"role":"user","content":"The weather in Lima and in Oslo?"}],"tools":[{"type":"function","function":{"name":"get_forecast","parameters":%s}}],"stream":true}`, quote(r.model), forecastSchema)
	all = append(all, stream.Record{Exchange: exchange, Request: true, Data: []byte(body), Head: &stream.Head{Method: "POST", URL: "https://" + r.host + "/v1/chat/completions"}})
	at := r.wait
	say := func(delta, finish string) {
		text := fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion.chunk","model":%s,"choices":[{"index":0,"delta":{%s},"finish_reason":%s}]}`, exchange, quote(r.model), delta, finish)
		all = append(all, stream.Record{Exchange: exchange, At: time.Duration(at) * time.Millisecond, Data: []byte("data: " + text + "\n\n")})
		at += r.step
	}
	say(`"role":"assistant","content":""`, "null")
	for n, call := range r.calls {
		say(fmt.Sprintf(`"tool_calls":[{"index":%d,"id":"call_%s%d","type":"function","function":{"name":%s,"arguments":""}}]`, n, strings.Repeat("a", 8), n, quote(call[0])), "null")
		for _, d := range call[1:] {
			say(fmt.Sprintf(`"tool_calls":[{"index":%d,"function":{"arguments":%s}}]`, n, quote(d)), "null")
		}
	}
	if r.open {
		return all
	}
	say("", `"tool_calls"`)
	all[len(all)-1].Data = append(all[len(all)-1].Data, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[],\"usage\":{\"prompt_tokens\":81,\"completion_tokens\":17,\"total_tokens\":98}}\n\ndata: [DONE]\n\n"...)
	all[len(all)-1].End = true
	return all
}

// sevenForecasts returns the responses of seven models. Two of them do not end.
func sevenForecasts(testing.TB) []stream.Record {
	lima := `{"city":"Lima","days":5,"units":"metric","fields":["sun","rain","wind"]}`
	oslo := `{"city":"Oslo","days":5,"units":"metric","fields":["sun"]}`
	two := [][]string{append([]string{"get_forecast"}, chop(lima, 24)...), append([]string{"get_forecast"}, chop(oslo, 24)...)}
	return forecast(
		reply{model: "claude-sonnet-4-5", host: "one.example", wait: 400, step: 150, calls: two},
		reply{model: "gpt-5.2", host: "two.example", wait: 320, step: 160, calls: [][]string{append([]string{"get_forecast"}, chop(`{"city":"Lima","days":5,"units":"metric","fields":["sun","wind"]}`, 30)...)}},
		reply{model: "mistral-large", host: "three.example", wait: 1800, step: 400, open: true, calls: [][]string{
			append([]string{"get_forecast"}, chop(`{"city":"Lima","days":"5","fields":["sun","rain","wind"]}`, 20)...), {"get_forecast", `{"city":"Lo`}}},
		reply{model: "gemini-3-pro", host: "four.example", wait: 300, step: 100, calls: two},
		reply{model: "qwen3-coder", host: "five.example", wait: 200, step: 90, calls: [][]string{{"get_forecast", `{"city": "Lima", "days": 5.0, "fields": ["sun", "rain", "wind"], "units": "metric"}`}, {"get_time", `{}`}}},
		reply{model: "llama-4", host: "six.example", wait: 500, step: 300, calls: [][]string{{"get_forecast", `{"city":"Lima","days":5,"units":"celsius","fields":["sun","rain","wind"],"lang":"es"}`}}, open: true},
		reply{model: "deepseek-v4", host: "seven.example", wait: 900, step: 70},
	)
}

// TestCompareFilms draws the comparison of seven models at every size, and while the responses arrive.
func TestCompareFilms(t *testing.T) {
	f := film{name: "compare-seven", records: sevenForecasts, shots: []shot{
		{12, "="}, {18, ""}, {24, ""}, {-1, ""}, {-1, "jj"}, {-1, "lll"}, {-1, "llll"}, {-1, "hhhhhhhlljj<enter>"}, {-1, "<esc>b"}, {-1, "-"}, {-1, "+T"}, {-1, "m"},
	}}
	for _, look := range []struct {
		name   string
		w, h   int
		change []func(*Options)
	}{{"80x24", 80, 24, nil}, {"140x40", 140, 40, nil}, {"60x18", 60, 18, nil}, {"250x60", 250, 60, nil}, {"40x10", 40, 10, nil}, {"ascii", 80, 24, []func(*Options){ascii}}} {
		t.Run(look.name, func(t *testing.T) {
			s := newScreen(t, look.w, look.h, look.change...)
			checkFile(t, filepath.Join("testdata", "films", f.name+"-"+look.name+".txt"), f.play(s))
		})
	}
}
