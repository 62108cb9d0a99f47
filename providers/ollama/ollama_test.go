package ollama

import (
	"testing"
	"time"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// TestNow checks the time stamps of lines. Times are measured from the first line with a time stamp.
func TestNow(t *testing.T) {
	out := protocol.NewOut(func(stream.Event) {})
	d := Protocol().New(out)
	for _, test := range []struct {
		line string
		want time.Duration
	}{
		{`{"done":false}`, stream.NoTime},
		{`{"created_at":"yesterday","response":"a"}`, stream.NoTime},
		{`{"created_at":"2026-01-01T00:00:00.5Z","response":"a"}`, 0},
		{`{"created_at":"2026-01-01T02:00:00.500000001+02:00","response":"a"}`, 1},
		{`{"created_at":"2026-01-01T00:00:03Z","response":"a"}`, 2500 * time.Millisecond},
		{`{"created_at":"2025-01-01T00:00:00Z","response":"a"}`, 0}, // the server's clock was set back
		{`{"created_at":7,"response":"a"}`, stream.NoTime},
		{`{"error":"no"}`, stream.NoTime},
		{`{"created_at":"2026-01-01T00:00:01Z","done":`, stream.NoTime},
	} {
		_ = d.Frame(stream.Frame{Data: []byte(test.line)})
		if got := out.LastStamp(); got != test.want {
			t.Errorf("%s: %v, want %v", test.line, got, test.want)
		}
	}
}

func TestSniff(t *testing.T) {
	ndjson := map[string][]string{"Content-Type": {"application/x-ndjson; charset=utf-8"}}
	for _, test := range []struct {
		evidence protocol.SniffInput
		points   int
	}{
		{protocol.SniffInput{Data: []byte(`{"model":"m","created_at":"2026-01-01T00:00:00Z","response":"","done":true}`)}, protocol.Sure},
		{protocol.SniffInput{Data: []byte(`{"model":"m","message":{},"done":false}`)}, protocol.Strong},
		{protocol.SniffInput{Data: []byte(`{"model":"m","message":{}}`)}, 0},
		{protocol.SniffInput{Path: "/api/chat"}, protocol.Likely},
		{protocol.SniffInput{Path: "/ollama/api/generate"}, protocol.Likely},
		{protocol.SniffInput{Path: "/api/chat", Data: []byte(`{"error":"model not found"}`)}, protocol.Strong},
		{protocol.SniffInput{Path: "/api/chat", Data: []byte(`{"type":"text-delta"}`)}, protocol.Weak},
		{protocol.SniffInput{Path: "/api/chats"}, 0},
		{protocol.SniffInput{Header: ndjson, Data: []byte(`{"error":"no"}`)}, protocol.Weak},
		{protocol.SniffInput{Data: []byte(`{"error":"no"}`)}, 0},
		{protocol.SniffInput{Data: []byte(`{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"tool_ca`)}, protocol.Likely},
		{protocol.SniffInput{Data: []byte(`{"model":"m","created_at":"2026-01-01T00:00:00Z","mess`)}, 0},
		{protocol.SniffInput{Data: []byte(`{"model":"m","message":{},"done":false`)}, 0},
	} {
		if got := sniffFrame(test.evidence); got.Points != test.points || (got.Why == "") != (test.points == 0) {
			t.Errorf("%+v: %+v, want %d", test.evidence, got, test.points)
		}
	}
}

// TestErrorMessage checks that the message of an error is found, also in an object, as proxies send it.
func TestErrorMessage(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{`{"error":"model not found"}`, "model not found"},
		{`{"error":{"message":"out of memory"}}`, "out of memory"},
		{`{"error":{"code":500}}`, `{"code":500}`},
	} {
		got := ""
		_ = Protocol().New(protocol.NewOut(func(e stream.Event) {
			if e.Kind == stream.Failure {
				got = e.Text
			}
		})).Frame(stream.Frame{Data: []byte(test.line)})
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.line, got, test.want)
		}
	}
}
