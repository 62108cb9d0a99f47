package providers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// TestRetries checks that the first request after a failure is a repetition if its messages are the same.
func TestRetries(t *testing.T) {
	const (
		busy  = `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`
		limit = `{"type":"error","error":{"type":"rate_limit_error","message":"later"}}`
	)
	done := portsAnswer("end_turn", `{"type":"text","text":"22"}`)
	first := portsRequest(portsAsk)
	next := portsRequest(portsAsk, model(`{"type":"text","text":"22"}`), `{"role":"user","content":"and 80?"}`)
	for _, test := range []struct {
		name      string
		exchanges []asked
		want      string // for each turn: the turn that it repeats
	}{
		{"overloaded", []asked{{first, busy, 529}, {first, done, 200}}, "1>2"},
		{"twice", []asked{{first, limit, 429}, {first, busy, 529}, {first, done, 200}}, "1>2 2>3"},
		{"a gateway", []asked{{first, "<html><h1>Bad Gateway</h1>", 502}, {first, done, 200}}, "1>2"},
		{"in the midst", []asked{{first, done, 200}, {next, busy, 529}, {next, done, 200}}, "2>3"},
		{"never", []asked{{first, busy, 529}}, ""},
		{"another question", []asked{{first, busy, 529}, {strings.Replace(first, "which", "what", 1), done, 200}}, ""},
		{"it went on", []asked{{first, busy, 529}, {next, done, 200}, {next, done, 200}}, ""},
		{"nothing failed", []asked{{first, done, 200}, {first, done, 200}}, ""},
		{"refused", []asked{{first, refusedWith("no"), 400}, {first, refusedWith("no"), 400}}, ""},
	} {
		in, _ := play(ownHost, test.exchanges...)
		var got []string
		for _, turn := range in.Session().Turns {
			if r, ok := in.View().Retry(turn); ok {
				got = append(got, fmt.Sprintf("%d>%d", turn.Number+1, r.By.Number+1))
				if r.By.Request.RetryOf != turn.Number+1 {
					t.Errorf("%s: turn %d repeats turn %d", test.name, r.By.Number+1, r.By.Request.RetryOf)
				}
			}
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s: %q, want %q", test.name, s, test.want)
		}
	}
}

// TestRetryTimes checks the wait before a retry, also if the exchanges count their times from different
// starts.
func TestRetryTimes(t *testing.T) {
	in, start := new(Inspector), time.Date(2026, 3, 4, 7, 0, 0, 0, time.UTC)
	for i, status := range []int{429, 200} {
		at := start.Add(time.Duration(i) * 3 * time.Second)
		in.Write(stream.Record{Exchange: i + 1, Request: true, Data: []byte(portsRequest(portsAsk)), Head: &stream.Head{Method: "POST", URL: ownHost, Start: at}})
		head := &stream.Head{Status: status, Header: map[string][]string{"Content-Type": {"application/json"}, "Retry-After": {"5"}}}
		in.Write(stream.Record{Exchange: i + 1, At: time.Second, Data: []byte(refusedWith("later")), Head: head})
		in.Write(stream.Record{Exchange: i + 1, At: time.Second, End: true})
	}
	r, ok := in.View().Retry(in.Session().Turns[0])
	if !ok || r.After != 2*time.Second || r.Wanted != 5*time.Second {
		t.Errorf("%+v, %t", r, ok)
	}
}
