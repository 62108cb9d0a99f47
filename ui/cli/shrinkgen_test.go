package cli

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"toolscope/stream/json"
)

// plantedStream is a large stream in which a fault can be planted.
type plantedStream struct {
	protocol string
	calls    []plantedCall
	texts    []string
	finish   string
}

type plantedCall struct {
	id, name, args string
	index          int
}

// canaryWords are the words of the content. None may be in a result.
func canaryWords() (words []string) {
	for i := range 200 {
		words = append(words, fmt.Sprintf("zq%c%cvk", 'a'+i/20, 'a'+i%20))
	}
	return words
}

// newPlantedStream returns a stream without a fault, of about the given size.
func newPlantedStream(protocol string, size int) *plantedStream {
	random := rand.New(rand.NewPCG(1, 2))
	words := canaryWords()
	say := func(n int) string {
		var some []string
		for range n {
			some = append(some, words[random.IntN(len(words))])
		}
		return strings.Join(some, " ")
	}
	g := &plantedStream{protocol: protocol, finish: "tool_calls"}
	for range size / 700 {
		g.texts = append(g.texts, say(3)+" ")
	}
	for i := range 40 {
		var fields []string
		for k := range max(3, size/16_000) {
			fields = append(fields, fmt.Sprintf(`"%s_%d":"%s"`, say(1), k, say(12)))
		}
		g.calls = append(g.calls, plantedCall{fmt.Sprintf("call_%s%d", say(1), i), say(1), "{" + strings.Join(fields, ",") + `,"n":30}`, i})
	}
	return g
}

// pieces divides the arguments into deltas.
func (c plantedCall) pieces() (list []string) {
	for piece := range slices.Chunk([]byte(c.args), 60) {
		list = append(list, string(json.AppendQuoted(nil, piece)))
	}
	return list
}

// wires are the functions that return the events of a stream, by protocol.
var wires = map[string]func(*plantedStream) []string{
	"openai-chat": func(g *plantedStream) (all []string) {
		chunk := func(delta, finish string) {
			all = append(all, `data: {"id":"chatcmpl-zqaavk","object":"chat.completion.chunk","created":1700000000,"model":"zqaavk-large","choices":[{"index":0,"delta":{`+delta+`},"finish_reason":`+finish+`}]}`+"\n\n")
		}
		chunk(`"role":"assistant","content":""`, "null")
		for _, text := range g.texts {
			chunk(fmt.Sprintf(`"content":%q`, text), "null")
		}
		for _, c := range g.calls {
			chunk(fmt.Sprintf(`"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":""}}]`, c.index, c.id, c.name), "null")
			for _, p := range c.pieces() {
				chunk(fmt.Sprintf(`"tool_calls":[{"index":%d,"function":{"arguments":%s}}]`, c.index, p), "null")
			}
		}
		chunk("", fmt.Sprintf("%q", g.finish))
		return append(all, "data: [DONE]\n\n")
	},
	"anthropic": func(g *plantedStream) (all []string) {
		event := func(kind, rest string) {
			all = append(all, fmt.Sprintf("event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, rest))
		}
		event("message_start", `,"message":{"id":"msg_zqaavk","type":"message","role":"assistant","model":"zqaavk-large","content":[],"stop_reason":null,"usage":{"input_tokens":20,"output_tokens":1}}`)
		event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
		for _, text := range g.texts {
			event("content_block_delta", fmt.Sprintf(`,"index":0,"delta":{"type":"text_delta","text":%q}`, text))
		}
		event("content_block_stop", `,"index":0`)
		for _, c := range g.calls {
			event("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":{}}`, c.index+1, "toolu_"+c.id, c.name))
			for _, p := range c.pieces() {
				event("content_block_delta", fmt.Sprintf(`,"index":%d,"delta":{"type":"input_json_delta","partial_json":%s}`, c.index+1, p))
			}
			event("content_block_stop", fmt.Sprintf(`,"index":%d`, c.index+1))
		}
		reason := map[string]string{"tool_calls": "tool_use", "stop": "end_turn", "length": "max_tokens"}[g.finish]
		event("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":%q},"usage":{"output_tokens":900}`, cmp.Or(reason, g.finish)))
		event("message_stop", "")
		return all
	},
	"openai-responses": func(g *plantedStream) (all []string) {
		n := 0
		event := func(kind, rest string) {
			all = append(all, fmt.Sprintf("event: %s\ndata: {\"type\":%q,\"sequence_number\":%d,%s}\n\n", kind, kind, n, rest))
			n++
		}
		response := `"response":{"id":"resp_zqaavk","object":"response","created_at":1700000000,"model":"zqaavk-large","status":"%s","output":[%s]%s}`
		event("response.created", fmt.Sprintf(response, "in_progress", "", ""))
		message := `"type":"message","id":"msg_zqaavk","role":"assistant"`
		event("response.output_item.added", `"output_index":0,"item":{`+message+`,"status":"in_progress","content":[]}`)
		event("response.content_part.added", `"item_id":"msg_zqaavk","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}`)
		for _, text := range g.texts {
			event("response.output_text.delta", fmt.Sprintf(`"item_id":"msg_zqaavk","output_index":0,"content_index":0,"delta":%q`, text))
		}
		all0 := strings.Join(g.texts, "")
		event("response.output_text.done", fmt.Sprintf(`"item_id":"msg_zqaavk","output_index":0,"content_index":0,"text":%q`, all0))
		part := fmt.Sprintf(`{"type":"output_text","text":%q,"annotations":[]}`, all0)
		event("response.content_part.done", `"item_id":"msg_zqaavk","output_index":0,"content_index":0,"part":`+part)
		items := []string{fmt.Sprintf(`{%s,"status":"completed","content":[%s]}`, message, part)}
		event("response.output_item.done", `"output_index":0,"item":`+items[0])
		for _, c := range g.calls {
			item := func(status, args string) string {
				return fmt.Sprintf(`{"type":"function_call","id":"fc_%s","call_id":%q,"name":%q,"arguments":%s,"status":%q}`, c.id, c.id, c.name, args, status)
			}
			event("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, c.index+1, item("in_progress", `""`)))
			for _, p := range c.pieces() {
				event("response.function_call_arguments.delta", fmt.Sprintf(`"item_id":"fc_%s","output_index":%d,"delta":%s`, c.id, c.index+1, p))
			}
			whole := string(json.AppendQuoted(nil, []byte(c.args)))
			event("response.function_call_arguments.done", fmt.Sprintf(`"item_id":"fc_%s","output_index":%d,"arguments":%s`, c.id, c.index+1, whole))
			items = append(items, item("completed", whole))
			event("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, c.index+1, items[len(items)-1]))
		}
		kind, status, rest := "response.completed", "completed", ""
		if g.finish == "length" {
			kind, status, rest = "response.incomplete", "incomplete", `,"incomplete_details":{"reason":"max_output_tokens"}`
		}
		event(kind, fmt.Sprintf(response, status, strings.Join(items, ","), rest))
		return all
	},
	"gemini": func(g *plantedStream) (all []string) {
		chunk := func(part, finish string) {
			all = append(all, `data: {"candidates":[{"content":{"parts":[`+part+`],"role":"model"},"index":0`+finish+`}],"modelVersion":"zqaavk-pro","responseId":"zqaavk"}`+"\n\n")
		}
		for _, text := range g.texts {
			chunk(fmt.Sprintf(`{"text":%q}`, text), "")
		}
		for _, c := range g.calls {
			chunk(fmt.Sprintf(`{"functionCall":{"id":%q,"name":%q,"args":%s}}`, c.id, c.name, c.args), "")
		}
		reason := map[string]string{"tool_calls": "STOP", "stop": "STOP", "length": "MAX_TOKENS"}[g.finish]
		chunk(`{"text":""}`, fmt.Sprintf(`,"finishReason":%q`, cmp.Or(reason, strings.ToUpper(g.finish))))
		return all
	},
	"ollama": func(g *plantedStream) (all []string) {
		line := func(message, rest string) {
			all = append(all, `{"model":"zqaavk","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant",`+message+`},`+rest+"}\n")
		}
		for _, text := range g.texts {
			line(fmt.Sprintf(`"content":%q`, text), `"done":false`)
		}
		for _, c := range g.calls {
			line(fmt.Sprintf(`"content":"","tool_calls":[{"id":%q,"function":{"index":%d,"name":%q,"arguments":%s}}]`, c.id, c.index, c.name, c.args), `"done":false`)
		}
		reason := g.finish
		if reason == "tool_calls" {
			reason = "stop"
		}
		line(`"content":""`, fmt.Sprintf(`"done":true,"done_reason":%q`, reason))
		return all
	},
}

// plantedFault is a change that causes a finding.
type plantedFault struct {
	name  string
	calls func(*plantedStream)
	wire  func([]string) []string
}

// plantedFaults are the kinds of faults. Some cause no finding in some protocols.
var plantedFaults = []plantedFault{
	{name: "a lost colon", calls: inArgs(func(a string) string { return strings.Replace(a, `"n":`, `"n"`, 1) })},
	{name: "two objects", calls: inArgs(func(a string) string { return a + a })},
	{name: "text after the object", calls: inArgs(func(a string) string { return a + " zqaavk" })},
	{name: "encoded twice", calls: inArgs(func(a string) string { return string(json.AppendQuoted(nil, []byte(a))) })},
	{name: "an array", calls: inArgs(func(a string) string { return "[" + a + "]" })},
	{name: "a repeated field", calls: inArgs(func(a string) string { return strings.Replace(a, `"n":`, `"n":"zqaavk","n":`, 1) })},
	{name: "an unknown escape", calls: inArgs(func(a string) string { return strings.Replace(a, `:"zq`, `:"\qzq`, 1) })},
	{name: "no name", calls: func(g *plantedStream) { g.calls[30].name = "" }},
	{name: "an id twice", calls: func(g *plantedStream) { g.calls[30].id = g.calls[7].id }},
	{name: "a limit", calls: func(g *plantedStream) {
		g.calls = g.calls[:31]
		g.calls[30].args, g.finish = g.calls[30].args[:len(g.calls[30].args)/2], "length"
	}},
	{name: "an index twice", calls: func(g *plantedStream) { g.calls[30].index = 7 }},
	{name: "an unknown finish", calls: func(g *plantedStream) { g.finish = "zqaavk" }},
	{name: "another finish", calls: func(g *plantedStream) { g.finish = "stop" }},
	{name: "the end twice", wire: func(all []string) []string { return append(all, all[len(all)-1]) }},
	{name: "no end", wire: func(all []string) []string { return all[:len(all)-1] }},
	{name: "cut inside", wire: func(all []string) []string {
		n := len(all) * 9 / 10
		return append(all[:n:n], all[n][:len(all[n])/2])
	}},
	{name: "a broken event", wire: func(all []string) []string {
		n := len(all) * 9 / 10
		return slices.Replace(all, n, n+1, strings.Replace(all[n], `":`, `"`, 2))
	}},
	{name: "an event before the start", wire: func(all []string) []string { return slices.Insert(all, 0, all[len(all)*9/10]) }},
}

// inArgs returns a change to the arguments of one call.
func inArgs(change func(string) string) func(*plantedStream) {
	return func(g *plantedStream) { g.calls[30].args = change(g.calls[30].args) }
}

// planted returns a stream with a fault, or without one if the fault is the zero value.
func planted(protocol string, fault plantedFault, size int) string {
	g := newPlantedStream(protocol, size)
	if fault.calls != nil {
		fault.calls(g)
	}
	all := wires[protocol](g)
	if fault.wire != nil {
		all = fault.wire(all)
	}
	return strings.Join(all, "")
}
