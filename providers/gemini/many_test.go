package gemini

import (
	"fmt"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// TestManyCandidates checks that the cost of a chunk doesn't depend on the number of earlier candidates.
func TestManyCandidates(t *testing.T) {
	opened, finished := 0, 0
	d := newDecoder(protocol.NewOut(func(e stream.Event) {
		switch e.Kind {
		case stream.CallOpen:
			opened++
		case stream.Finish:
			finished++
		}
	})).(*decoder)
	const n = 40
	for i := range n {
		data := fmt.Sprintf(`{"candidates":[{"index":%d,"content":{"parts":[{"functionCall":{"name":"f","args":{}}}]},"finishReason":"STOP"}],"responseId":"r"}`, i)
		if err := d.Frame(stream.Frame{Data: []byte(data)}); err != nil {
			t.Fatal(err)
		}
		for k := range d.choices {
			d.choices[k] = nil // code that reads this candidate will now panic
		}
	}
	if opened != n || finished != n || !d.isFinished() {
		t.Errorf("%d calls, %d finish reasons; all have finished: %v", opened, finished, d.isFinished())
	}
}
