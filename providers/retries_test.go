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
		{"with the text that arrived", []asked{{first, busy, 529}, {portsRequest(portsAsk, model(`{"type":"text","text":"I look"}`)), done, 200}}, "1>2"},
		{"with the text that arrived, and a question", []asked{{first, busy, 529}, {next, done, 200}}, ""},
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

// TestRetriedFailures checks that errors of the provider become warnings if a complete response to the same request
// follows. At an earlier moment, they must still be errors.
func TestRetriedFailures(t *testing.T) {
	const (
		busy  = `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`
		limit = `{"type":"error","error":{"type":"rate_limit_error","message":"later"}}`
	)
	first, done := portsRequest(portsAsk), portsAnswer("end_turn", `{"type":"text","text":"22"}`)
	for _, test := range []struct {
		name      string
		exchanges []asked
		want      string
	}{
		{"a limit", []asked{{first, limit, 429}, {first, done, 200}}, "1 PROVIDER_ERROR warn provider"},
		{"overloaded", []asked{{first, busy, 529}, {first, done, 200}}, "1 PROVIDER_ERROR warn provider"},
		{"both", []asked{{first, limit, 429}, {first, busy, 529}, {first, done, 200}}, "1 PROVIDER_ERROR warn provider, 2 PROVIDER_ERROR warn provider"},
		{"again and again", []asked{{first, limit, 429}, {first, limit, 429}}, "1 PROVIDER_ERROR error provider, 2 PROVIDER_ERROR error provider"},
		{"never", []asked{{first, busy, 529}}, "1 PROVIDER_ERROR error provider"},
		{"another question", []asked{{first, busy, 529}, {strings.Replace(first, "which", "what", 1), done, 200}}, "1 PROVIDER_ERROR error provider"},
		{"refused in the end", []asked{{first, busy, 529}, {first, refusedWith("no"), 400}}, "1 PROVIDER_ERROR error provider, 2 REQUEST_REFUSED error client"},
		{"a gateway", []asked{{first, "<html><h1>Bad Gateway</h1><hr>nginx", 502}, {first, done, 200}}, "1 PROVIDER_ERROR error gateway"},
	} {
		in, found := play(otherHost, test.exchanges...)
		if got := strings.Join(found, ", "); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if f := in.Session().Turns[0].Findings[0]; f.Severity == stream.Warn {
			if !strings.HasSuffix(f.Message, "repeated the request and succeeded") || strings.Contains(f.Facts, "repeated") {
				t.Errorf("%s: %+v", test.name, f)
			}
			if past := in.Timeline.At(f.Event + 1); past.Turns[0].Findings[0].Severity != stream.Error {
				t.Errorf("%s: a warning before the request was repeated", test.name)
			}
		}
	}
}

// TestRetryTimes checks the wait before a retry, even if the exchanges count their times from different starts.
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

// TestRetryOnSocket checks that the first request of a new WebSocket is a repetition if it has the same last message
// as the failed request. The failed request contains only new messages, and the repetition contains all messages.
func TestRetryOnSocket(t *testing.T) {
	const (
		head  = `{"type":"response.create","model":"gpt-6.2","prompt_cache_key":"thread-1",`
		ask   = `{"type":"message","role":"user","content":[{"type":"input_text","text":"which ports?"}]}`
		call  = `{"type":"function_call","call_id":"call_net1","name":"netstat","arguments":"{}"}`
		given = `{"type":"function_call_output","call_id":"call_net1","output":"22"}`
		other = `{"type":"function_call_output","call_id":"call_net1","output":"23"}`
		busy  = `{"type":"error","status":503,"error":{"type":"server_error","code":"server_overloaded","message":"later"}}`
	)
	for _, test := range []struct {
		name, last, failure string
		want                int32 // the turn that the last turn repeats; 0 for none
	}{
		{"the whole history again", given, busy, 2},
		{"another result", other, busy, 0},
		{"nothing failed", given, `{"type":"response.completed","response":{"id":"resp_2","model":"gpt-6.2","output":[]}}`, 0},
	} {
		in := new(Inspector)
		socket := func(exchange int, messages ...string) {
			in.Write(stream.Record{Exchange: exchange, Request: true, Head: &stream.Head{Method: "GET", URL: "wss://models.example/v1/responses",
				Header: map[string][]string{"Session-Id": {"thread-1"}, "User-Agent": {"codex_exec/0.169.0"}}}})
			in.Write(stream.Record{Exchange: exchange, Head: &stream.Head{Status: 101, Header: map[string][]string{"Upgrade": {"websocket"}}}})
			for i, m := range messages {
				in.Write(stream.Record{Exchange: exchange, Request: i%2 == 0, Data: []byte(m + "\n")})
			}
			in.Write(stream.Record{Exchange: exchange, End: true})
		}
		done := `{"type":"response.completed","response":{"id":"resp_1","model":"gpt-6.2","output":[` + call + `]}}`
		socket(1, head+`"input":[`+ask+`]}`, done, head+`"previous_response_id":"resp_1","input":[`+given+`]}`, test.failure)
		socket(2, head+`"input":[`+ask+`,`+call+`,`+test.last+`]}`, done)
		turns := in.Session().Turns
		if len(turns) != 3 || turns[2].Request == nil {
			t.Fatalf("%s: %d turns", test.name, len(turns))
		}
		if got := turns[2].Request.RetryOf; got != test.want {
			t.Errorf("%s: the last turn repeats turn %d, want %d", test.name, got, test.want)
		}
	}
}
