package providers

import (
	"testing"

	"toolscope/stream"
)

// TestIDOnBothGatewaySides checks that a call that a gateway translates between two protocols has one id, not a
// duplicate.
func TestIDOnBothGatewaySides(t *testing.T) {
	chat := func(tool string) string {
		return `{"id":"cc-9","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant",` +
			`"tool_calls":[{"id":"c-77","type":"function","function":{"name":"` + tool + `","arguments":"{}"}}]}}]}`
	}
	const anthropic = `{"id":"ms-9","type":"message","role":"assistant","model":"m","stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1},` +
		`"content":[{"type":"tool_use","id":"c-77","name":"open_valve","input":{}}]}`
	for _, c := range []struct {
		name   string
		bodies [2]string
		want   bool
	}{
		{"one call in two protocols", [2]string{chat("open_valve"), anthropic}, false},
		{"another tool", [2]string{chat("close_valve"), anthropic}, true},
		{"the same protocol again", [2]string{chat("open_valve"), chat("open_valve")}, true},
	} {
		var in Inspector
		for i, body := range c.bodies {
			in.Write(stream.Record{Exchange: i + 1, Data: []byte(body), At: stream.NoTime})
			in.Write(stream.Record{Exchange: i + 1, End: true, At: stream.NoTime})
		}
		in.Close()
		found := false
		for _, f := range in.Session().Turns[1].Calls[0].Findings {
			found = found || f.Base() == stream.IDDupAcrossTurns
		}
		if found != c.want {
			t.Errorf("%s: found %v", c.name, found)
		}
	}
}
