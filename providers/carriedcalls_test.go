package providers

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/providers/replay"
	"toolscope/stream"
)

// broughtBack returns an inspector that has read a call with some arguments, and a request that contains the
// call with other arguments. The request has a response.
func broughtBack(wrote, sent string, status int, answer string) *Inspector {
	in := new(Inspector)
	in.Write(stream.Record{Exchange: 1, Request: true, Data: []byte(`{"messages":[` + asks + `]}`)})
	in.Write(stream.Record{Exchange: 1, Data: []byte(says("a", "f", wrote)), Head: &stream.Head{Status: 200}})
	in.Write(stream.Record{Exchange: 1, End: true})
	in.Write(stream.Record{Exchange: 2, Request: true, Data: []byte(`{"messages":[` + asks + `,` + first + made("a", "f", sent) + `]},` + tool("a", "ok") + `]}`)})
	in.Write(stream.Record{Exchange: 2, Data: []byte(answer), Head: &stream.Head{Status: status}})
	in.Write(stream.Record{Exchange: 2, End: true})
	in.Close()
	return in
}

// TestSentBackPlace checks that a call is found in a request, with its place in the body.
func TestSentBackPlace(t *testing.T) {
	in := broughtBack(`{"n":1`, `{}`, 200, says("b", "f", `{}`))
	b, ok := in.View().Carried(in.Session().Turns[0].Calls[0], 2)
	if !ok || b.Part == nil || string(b.Args) != `{}` || b.At < 0 || !strings.HasPrefix(string(b.Body[b.At:]), `"{}"`) || b.To.Name != "openai-chat" {
		t.Errorf("%+v", b)
	}
	if _, ok := in.View().Carried(in.Session().Turns[0].Calls[0], 7); ok {
		t.Error("there is no request 7")
	}
	b, ok = in.View().Carried(in.Session().Turns[0].Calls[0], 1)
	if !ok || b.Part != nil {
		t.Errorf("request 1 carries it: %+v", b)
	}
}

// TestSentBackOverWebSocket checks that the view of a call that was sent back on a WebSocket shows the request that
// contains the call, with its response.
func TestSentBackOverWebSocket(t *testing.T) {
	in := new(Inspector)
	socket(1, in,
		`{"type":"response.create","model":"m","input":[{"role":"user","content":"go"}]}`, answers("r1", "c1", "", `{"n":1`),
		`{"type":"response.create","model":"m","input":[{"role":"user","content":"go"},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},`+
			`{"type":"function_call_output","call_id":"c1","output":"no"}]}`, answers("r2", "", "", ""))
	in.Close()
	c := in.Session().Turns[0].Calls[0]
	if len(c.SentBack) != 1 {
		t.Fatalf("%+v", c.SentBack)
	}
	b, ok := in.View().Carried(c, c.SentBack[0].Exchange)
	if !ok || b.Part == nil || string(b.Args) != `{}` || !strings.HasPrefix(string(b.Body[max(b.At, 0):b.End]), `"{}"`) {
		t.Errorf("%+v", b)
	}
	if verdict, how := in.View().VerdictOn(c.SentBack[0]); verdict != replay.Accepted || how != "it was answered" {
		t.Errorf("%s, %s", verdict, how)
	}
}

// TestWitnesses checks that the provider's response to a request is used as proof that the provider accepts or
// refuses the request's calls. The response must be about these calls.
func TestWitnesses(t *testing.T) {
	no := func(words string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error"}}`, words)
	}
	for _, test := range []struct {
		sent   string
		status int
		answer string
		want   replay.Acceptance
		words  string
	}{
		{`{"n":1`, 200, says("b", "f", `{}`), replay.Acceptance{Verdict: replay.Accepted, By: replay.Seen}, ""},
		{`{"n":1`, 0, says("b", "f", `{}`), replay.Acceptance{Verdict: replay.Accepted, By: replay.Seen}, ""},
		{`{"n":1`, 400, no("tool arguments must be JSON"), replay.Acceptance{Verdict: replay.Refused, By: replay.Seen}, "HTTP 400: tool arguments must be JSON"},
		{`{"n":1`, 400, no("prompt is too long"), replay.Acceptance{}, ""},
		{`{"n":1`, 429, no("too many tool calls, be slow"), replay.Acceptance{}, ""},
		{`{"n":1`, 500, no("tool trouble"), replay.Acceptance{}, ""},
		{`{}`, 200, says("b", "f", `{}`), replay.Acceptance{}, ""}, // the response shows only how the provider treats {}
	} {
		in := broughtBack(`{"n":1`, test.sent, test.status, test.answer)
		turn := in.Session().Turns[0]
		from := TargetOf(turn.Protocol)
		src := replay.SourceOfCalls(turn, from, turn.Calls[0]).WithEvidence(in.View().Witnesses(turn.Calls[0]))
		if p := src.Preview(from, &replay.Policies[0]); p.Acceptance != test.want || p.Refused != test.words {
			t.Errorf("%s, %d: %s, %q; want %s, %q", test.sent, test.status, p.Acceptance, p.Refused, test.want, test.words)
		}
		other, _ := FindTarget("mistral")
		if p := src.Preview(other, &replay.Policies[0]); p.Acceptance.By == replay.Seen {
			t.Errorf("of %s nothing was seen", other.Name)
		}
	}
}
