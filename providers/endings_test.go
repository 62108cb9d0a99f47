package providers

import (
	"testing"

	"toolscope/stream"
)

// TestEndUntold decides that where the source does not tell how answers ended, nobody is blamed for
// an ending that did not come; and that elsewhere somebody is.
func TestEndUntold(t *testing.T) {
	for _, body := range []string{
		`{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}}}]}}]}`,
	} {
		for _, untold := range []bool{true, false} {
			var in Inspector
			in.Write(stream.Record{Exchange: 1, Head: &stream.Head{EndUnknown: untold}, Data: []byte(body), At: stream.NoTime})
			in.Write(stream.Record{Exchange: 1, End: true, At: stream.NoTime})
			in.Close()
			turn := in.Session().Turns[0]
			if found := len(turn.Findings) + len(turn.Calls[0].Findings); (found == 0) != untold {
				t.Errorf("%s\n untold %v: %d findings", body, untold, found)
			}
			if got := turn.Phase(); untold && got != stream.TurnComplete {
				t.Errorf("%s\n ends as %s", body, got)
			}
			if got := turn.Calls[0].Status(); got != stream.Complete && untold {
				t.Errorf("%s\n the call is %s", body, got)
			}
		}
	}
}
