package ui

import (
	"testing"

	"toolscope/providers"
	"toolscope/stream"
)

// TestSchema: beside the title of the arguments stands what the tool wants, as much as fits, and
// what the arguments miss of it is a finding.
func TestSchema(t *testing.T) {
	request := `{"tools":[{"type":"function","function":{"name":"get","parameters":{"required":["city"],
		"properties":{"city":{"type":"string"},"days":{"type":"integer"},"unit":{"type":"string"}}}}}]}`
	body := `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function",` +
		`"function":{"name":"get","arguments":"{\"city\":\"Oslo\",\"days\":\"3"}}]},"finish_reason":null}]}` + "\n\n"
	records := []stream.Record{{Request: true, Data: []byte(request)}, {Data: []byte(body)}}
	newScreen(t, 250, 30).feed(records...).shows("schema: city string, days integer?, unit string?", "SCHEMA_WRONG_TYPE")
	newScreen(t, 100, 24).feed(records...).shows("schema: city string, days", "1 finding")
	newScreen(t, 24, 24).feed(records...)
	given := func(o *Options) { o.Prepare = func(in *providers.Inspector) { in.Request = []byte(request) } }
	newScreen(t, 160, 30, given).feed(records[1]).shows("schema: city")
	newScreen(t, 160, 30).feed(records[1]).hides("schema:")
}
