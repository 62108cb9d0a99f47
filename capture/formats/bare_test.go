package formats

import (
	"testing"

	"toolscope/capture"
)

// TestBareIsNotHeld decides that what a provider sends, as it sends it, is held back by no format
// once its first line has come: who watches a stream wants to see it now.
func TestBareIsNotHeld(t *testing.T) {
	for _, text := range []string{
		"data: {\"id\":\"c\",\"choices\":[{\"delta\":{}}]}\n",
		"event: message_start\n", "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n",
		": ping\n", "id: 1\n", "retry: 3000\n", "data:{}\n", "data: [DONE]\n",
		"{\"model\":\"m\",\"created_at\":\"2026-11-20T10:00:00Z\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":false}\n",
		"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"}]}}]}\n",
		"{\"type\":\"message_start\",\"message\":{}}\n",
		"[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"}]}}]}\n",
		"[{\n  \"candidates\": [\n", "[{\"candidates\": [", "[[[[null,[[[[",
		"\x00\x00\x00\x9a\x00\x00\x00\x52",
	} {
		for _, f := range All {
			if got := f.Sniff([]byte(text), false); got.Is != capture.No {
				t.Errorf("%s says %d of %q (%s)", f.Name, got.Is, text, got.Why)
			}
		}
	}
}
