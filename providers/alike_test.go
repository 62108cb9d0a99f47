package providers

import (
	"testing"
	"time"

	"toolscope/stream"
)

// TestAsks checks that the same prompt has the same hash in every protocol, and that different prompts have
// different hashes.
func TestAsks(t *testing.T) {
	var in Inspector
	requests := []string{
		`{"model":"a","max_tokens":1,"system":"S","messages":[{"role":"user","content":"Oslo?"}]}`,
		`{"model":"b","messages":[{"role":"system","content":"T"},{"role":"user","content":"Oslo?"}]}`,
		`{"contents":[{"role":"user","parts":[{"text":"Oslo?"}]}]}`,
		`{"model":"b","input":"Oslo?"}`,
		`{"model":"a","messages":[{"role":"user","content":"Lima?"}]}`,
		`{"model":"a","messages":[{"role":"user","content":"Oslo?"},{"role":"assistant","content":"Yes."},{"role":"user","content":"Lima?"}]}`,
		`{"model":"a","messages":[]}`,
	}
	for i, body := range requests {
		in.Write(stream.Record{Exchange: i + 1, Request: true, Data: []byte(body), Head: &stream.Head{Method: "POST"}})
		in.End(i + 1)
	}
	in.Write(stream.Record{Exchange: 9, Head: &stream.Head{Status: 200}})
	first := in.Exchange(1)
	if first.PromptHash() == 0 {
		t.Fatal("the first asks for nothing")
	}
	for i, same := range []bool{true, true, true, true, false, false, false} {
		x := in.Exchange(i + 1)
		if got := x.PromptHash() == first.PromptHash(); got != same {
			t.Errorf("%s asks for the same: %t", requests[i], got)
		}
		if same && (!x.MaySharePrompt(first) || !first.MaySharePrompt(x)) {
			t.Errorf("%s may not ask for the same", requests[i])
		}
	}
	if in.Exchange(5).MaySharePrompt(first) || in.Exchange(7).PromptHash() != 0 || in.Exchange(9).PromptHash() != 0 {
		t.Error("what begins in another way may ask for the same, or nothing asks for something")
	}
}

// TestEnd checks that End ends only the given exchange, and only once.
func TestEnd(t *testing.T) {
	var in Inspector
	for n := 1; n <= 2; n++ {
		in.Write(stream.Record{Exchange: n, At: time.Second, Data: []byte("data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hi\"}}]}\n\n")})
	}
	in.End(1)
	in.End(3)
	turns := in.Session().Turns
	if len(turns) != 2 || !turns[0].Closed() || turns[0].Phase() != stream.TurnAborted || turns[0].ClosedAt != time.Second || turns[1].Closed() || !in.Exchange(1).Ended {
		t.Errorf("%+v", turns)
	}
	events := in.Session().Events()
	if in.End(1); in.Session().Events() != events {
		t.Error("ended twice")
	}
}
