package ui

import (
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/stream"
)

// TestSchema checks that before the first byte, the tool's schema is shown as far as it fits, and that
// missing arguments are marked and have a finding.
func TestSchema(t *testing.T) {
	request := `{"tools":[{"type":"function","function":{"name":"get","parameters":{"required":["city"],
		"properties":{"city":{"type":"string"},"days":{"type":"integer"},"unit":{"type":"string"}}}}}]}`
	body := `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function",` +
		`"function":{"name":"get","arguments":"{\"city\":\"Oslo\",\"days\":\"3"}}]},"finish_reason":null}]}` + "\n\n"
	records := []stream.Record{{Request: true, Data: []byte(request)}, {Data: []byte(body)}}
	opened := strings.Replace(body, `{\"city\":\"Oslo\",\"days\":\"3`, "", 1)
	waiting := []stream.Record{records[0], {Data: []byte(opened)}}
	newScreen(t, 250, 30).feed(waiting...).shows("no argument bytes yet; the schema needs city string, days integer?, unit string?")
	newScreen(t, 100, 24).feed(waiting...).shows("the schema needs city")
	newScreen(t, 250, 30).feed(records...).shows(`"days": "3█  Δ1 want integer`, "[Findings 1]").hides("the schema needs city")
	newScreen(t, 24, 24).feed(records...)
	given := func(o *Options) { o.Prepare = func(in *providers.Inspector) { in.Request = []byte(request) } }
	newScreen(t, 160, 30, given).feed(waiting[1]).shows("the schema needs city")
	newScreen(t, 160, 30).feed(waiting[1]).shows("no argument bytes yet").hides("the schema allows")
}
