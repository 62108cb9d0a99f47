package ollama

import (
	"testing"
	"time"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// TestNow: a line says when it was made; the first one that does is the start.
func TestNow(t *testing.T) {
	out := dialect.NewOut(func(stream.Event) {})
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
		evidence dialect.SniffInput
		points   int
	}{
		{dialect.SniffInput{Data: []byte(`{"model":"m","created_at":"2026-01-01T00:00:00Z","response":"","done":true}`)}, dialect.Sure},
		{dialect.SniffInput{Data: []byte(`{"model":"m","message":{},"done":false}`)}, dialect.Strong},
		{dialect.SniffInput{Data: []byte(`{"model":"m","message":{}}`)}, 0},
		{dialect.SniffInput{Path: "/api/chat"}, dialect.Likely},
		{dialect.SniffInput{Path: "/ollama/api/generate"}, dialect.Likely},
		{dialect.SniffInput{Path: "/api/chat", Data: []byte(`{"error":"model not found"}`)}, dialect.Strong},
		{dialect.SniffInput{Path: "/api/chat", Data: []byte(`{"type":"text-delta"}`)}, dialect.Weak},
		{dialect.SniffInput{Path: "/api/chats"}, 0},
		{dialect.SniffInput{Header: ndjson, Data: []byte(`{"error":"no"}`)}, dialect.Weak},
		{dialect.SniffInput{Data: []byte(`{"error":"no"}`)}, 0},
		{dialect.SniffInput{Data: []byte(`{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"tool_ca`)}, dialect.Likely},
		{dialect.SniffInput{Data: []byte(`{"model":"m","created_at":"2026-01-01T00:00:00Z","mess`)}, 0},
		{dialect.SniffInput{Data: []byte(`{"model":"m","message":{},"done":false`)}, 0},
	} {
		if got := sniffFrame(test.evidence); got.Points != test.points || (got.Why == "") != (test.points == 0) {
			t.Errorf("%+v: %+v, want %d", test.evidence, got, test.points)
		}
	}
}

// TestErrorMessage: proxies make an object of the error.
func TestErrorMessage(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{`{"error":"model not found"}`, "model not found"},
		{`{"error":{"message":"out of memory"}}`, "out of memory"},
		{`{"error":{"code":500}}`, `{"code":500}`},
	} {
		got := ""
		_ = Protocol().New(dialect.NewOut(func(e stream.Event) {
			if e.Kind == stream.Failure {
				got = e.Text
			}
		})).Frame(stream.Frame{Data: []byte(test.line)})
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.line, got, test.want)
		}
	}
}
