package codexexec

import (
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// TestErrorLines checks that error lines are reported for the turn that they are about. No fixture has such a line,
// because a single error line might belong to another protocol.
func TestErrorLines(t *testing.T) {
	var said []string
	d := Protocol().New(protocol.NewOut(func(e stream.Event) {
		if e.Kind == stream.Found && stream.PayloadOf[stream.Finding](e).Diagnosis == notice {
			said = append(said, stream.PayloadOf[stream.Finding](e).Message)
		}
	}))
	for _, line := range []string{
		`{"type":"error","message":"before"}`, `{"type":"turn.started"}`, `{"type":"error","message":"in the midst"}`,
		`{"type":"turn.failed","error":{"message":"no"}}`,
	} {
		if err := d.Frame(stream.Frame{Data: []byte(line)}); err != nil {
			t.Fatal(err)
		}
	}
	d.Close()
	if got := strings.Join(said, ", "); got != "before, in the midst" {
		t.Errorf("%s", got)
	}
}
