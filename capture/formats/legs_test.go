package formats

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// legLine returns a line of a gateway's log with one payload, and with the log's words for the payload's side.
func legLine(says, payload string) string {
	return fmt.Sprintf(`{"request":"rq-5","event":%q,"payload":%s}`+"\n", says, quoteJSON(payload))
}

func quoteJSON(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(quoted)
}

// interleaveLines returns the lines of several legs, taking one line from each leg in turn.
func interleaveLines(legs ...[]string) string {
	var b strings.Builder
	for i := 0; ; i++ {
		n := b.Len()
		for _, leg := range legs {
			if i < len(leg) {
				b.WriteString(leg[i])
			}
		}
		if b.Len() == n {
			return b.String()
		}
	}
}

func linesOf(says string, payloads []string) (lines []string) {
	for _, p := range payloads {
		lines = append(lines, legLine(says, p))
	}
	return lines
}

var (
	chatLeg = []string{
		`{"id":"cc-8","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}`,
		`{"id":"cc-8","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"b"},"finish_reason":null}]}`,
		`{"id":"cc-8","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
	}
	eventLeg = []string{
		"event: message_start\ndata: " + startA + "\n\n",
		"event: content_block_start\ndata: " + block + "\n\n",
		"event: content_block_delta\ndata: " + fmt.Sprintf(delta, "a") + "\n\n",
		"event: content_block_stop\ndata: " + stop + "\n\n",
		"event: message_delta\ndata: " + finish + "\n\n",
		"event: message_stop\ndata: " + over + "\n\n",
	}
)

// TestTwoGatewaySides checks that data received by a gateway and data sent by it are two streams, even if the log has
// both in one field.
func TestTwoGatewaySides(t *testing.T) {
	chatEvents := make([]string, len(chatLeg))
	for i, chunk := range chatLeg {
		chatEvents[i] = "data: " + chunk + "\n\n"
	}
	objects := strings.Join(chatLeg, "\n") + "\n"
	events := strings.Join(eventLeg, "")
	for _, c := range []struct {
		name, log string
		want      []string // the bytes of the streams, in any order
	}{
		{"objects first, then events", interleaveLines(linesOf("chunk", chatLeg), linesOf("chunk", eventLeg)), []string{objects, events}},
		{"events first, then objects", interleaveLines(linesOf("chunk", eventLeg), linesOf("chunk", chatLeg)), []string{events, objects}},
		{"one protocol, objects and events", interleaveLines(linesOf("chunk", chatLeg), linesOf("chunk", chatEvents)), []string{objects, strings.Join(chatEvents, "")}},
		{"one protocol, received and sent", interleaveLines(linesOf("chunk received", chatLeg), linesOf("chunk sent", chatLeg)), []string{objects, objects}},
		{"one protocol, received and sent, as events", interleaveLines(linesOf("recieved data", eventLeg), linesOf("send data", eventLeg)), []string{events, events}},
		{"a leg after the other", strings.Join(slices.Concat(linesOf("received", chatLeg), linesOf("sent", eventLeg)), ""), []string{objects, events}},
		{"one leg with other words", strings.Join(slices.Concat(linesOf("first chunk", chatLeg[:1]), linesOf("chunk", chatLeg[1:])), ""), []string{objects}},
		{"one leg with the words for both", interleaveLines(linesOf("received from upstream, forwarded", chatLeg)), []string{objects}},
		{"one leg whose words change within a side", strings.Join(slices.Concat(linesOf("received headers", chatLeg[:1]), linesOf("receiving", chatLeg[1:])), ""), []string{objects}},
	} {
		t.Run(c.name, func(t *testing.T) {
			byNumber := map[int]string{}
			for _, r := range readLog(t, []byte(c.log), len(c.log)) {
				byNumber[r.Exchange] += string(r.Data)
				if r.Note != "" {
					t.Errorf("note: %s", r.Note)
				}
			}
			var got []string
			for _, text := range byNumber {
				if text != "" {
					got = append(got, text)
				}
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestPiecesAroundObject checks that an object stays in its stream if the log cuts the stream's text around it and
// writes the object on a line of its own.
func TestPiecesAroundObject(t *testing.T) {
	pieces := []string{
		"event: message_start\ndata: " + startA + "\n\nevent: content_block_start\nda", "ta: ", block, "\n\n" + eventLeg[2] + "event: content_block_stop\ndata:", stop,
		"\n\n" + eventLeg[4] + eventLeg[5],
	}
	log := interleaveLines(linesOf("chunk", pieces))
	want := strings.Join(pieces, "")
	got := ""
	for _, r := range readLog(t, []byte(log), len(log)) {
		got += string(r.Data)
	}
	if got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
