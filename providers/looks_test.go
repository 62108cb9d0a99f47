package providers

import (
	"testing"

	"toolscope/stream/json"
)

// TestLooksLike checks that the kind of a text is guessed correctly, and that a text about a protocol is not mistaken
// for a payload of this protocol.
func TestLooksLike(t *testing.T) {
	for _, test := range []struct {
		text string
		want PayloadGuess
	}{
		{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`, LooksLikeChunk},
		{`{"type":"message","role":"assistant","content":[]}`, LooksLikeBody},
		{`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"}}]}`, LooksLikeChunk},
		{`{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"x"}}]}`, LooksLikeBody},
		{`{"choices":[{"index":0,"message":{"role":"assistant","content":"x"}}]}`, LooksLikeBody},
		{`{"candidates":[{"content":{"parts":[{"text":"x"}]}}]}`, LooksLikeChunk},
		{`[{"candidates":[{"content":{"parts":[{"text":"x"}]}}]}]`, LooksLikeBody},
		{`{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":""},"done":false}`, LooksLikeChunk},
		{`{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response"}}`, LooksLikeChunk},
		{`{"id":"resp_1","object":"response","output":[]}`, LooksLikeBody},
		{"event: ping\ndata: {\"type\":\"ping\"}\n\nevent: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n", LooksLikeEvents},
		{`data: {"choices":[{"delta":{"content":"x"},"index":0}]}`, LooksLikeEvents},
		{`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"say {\"type\":\"message_start\"}"}]}`, LooksLikeRequest},
		{`{"contents":[{"role":"user","parts":[{"text":"x"}]}]}`, LooksLikeRequest},
		{`{"model":"m","input":[{"role":"user","content":"x"}]}`, LooksLikeRequest},
		{``, LooksLikeNothing},
		{`[]`, LooksLikeNothing},
		{`{}`, LooksLikeNothing},
		{`[1,2]`, LooksLikeNothing},
		{`{"level":"info","msg":"data: {\"choices\":[]}"}`, LooksLikeNothing},
		{`{"error":{"message":"no such page"}}`, LooksLikeNothing},
		{`{"type":"error","message":"disk full"}`, LooksLikeNothing},
		{`{"type":"start","text":"x"}`, LooksLikeNothing},
		{`{"message":"x","finish_reason":"none"}`, LooksLikeNothing},
		{`{"model":"Golf","messages":"none"}`, LooksLikeNothing},
		{"data: 12 rows\n\n", LooksLikeNothing},
		{"id: 12\ndata: x\n", LooksLikeNothing},
	} {
		if got := LooksLike([]byte(test.text)); got != test.want {
			t.Errorf("%s\n looks like %d, want %d", test.text, got, test.want)
		}
	}
}

// TestLooksLikeFixtures checks that a request in any protocol is recognised.
func TestLooksLikeFixtures(t *testing.T) {
	requests := 0
	for _, f := range fixtures(t) {
		request := []byte(f.archive.section("request"))
		if !DeclaresTools(request) || json.Value(request).Get("messages").Kind()+json.Value(request).Get("contents").Kind() == 0 {
			continue
		}
		requests++
		if got := LooksLike(request); got != LooksLikeRequest {
			t.Errorf("%s: the request looks like %d", f.file, got)
		}
	}
	if requests == 0 {
		t.Error("no fixture has a request with a conversation")
	}
}
