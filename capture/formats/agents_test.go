package formats

import (
	"strings"
	"testing"
)

// TestPiFailedMessage checks that a message from the model that failed or was aborted is not sent back, as in pi.
func TestPiFailedMessage(t *testing.T) {
	const entry = `{"type":"message","id":"b","parentId":"a","timestamp":"2026-05-04T09:00:0%s.000Z","message":{"role":"%s","content":[%s]%s}}`
	line := strings.NewReplacer
	write := func(second, role, content, rest string) string {
		return line("0%s", "0"+second, `"%s"`, `"`+role+`"`, "[%s]", "["+content+"]", "%s}}", rest+"}}").Replace(entry) + "\n"
	}
	for stop, sent := range map[string]bool{"error": false, "aborted": false, "toolUse": true} {
		text := `{"type":"session","version":3,"id":"s","timestamp":"2026-05-04T09:00:00.000Z","cwd":"/home"}` + "\n" +
			write("1", "user", `{"type":"text","text":"count the files"}`, "") +
			write("2", "assistant", `{"type":"toolCall","id":"call_n","name":"bash","arguments":{"command":"ls | wc"}}`, `,"stopReason":"`+stop+`"`) +
			write("3", "assistant", `{"type":"text","text":"12"}`, `,"stopReason":"stop"`)
		var asked []string
		for _, r := range readParts(t, piSession, []byte(text)) {
			if r.Side == "request" {
				asked = append(asked, string(r.Data))
			}
		}
		if all := strings.Join(asked, ""); strings.Contains(all, "call_n") != sent || !strings.Contains(all, "count the files") {
			t.Errorf("%s: the requests are %s", stop, all)
		}
	}
}
