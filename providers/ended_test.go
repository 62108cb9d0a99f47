package providers

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/providers/replay"
	"toolscope/stream"
)

// halfCall is a response that stops inside the arguments of its second call. The first call was final.
const halfCall = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[]}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"first","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_2","name":"second","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"b\":"}}

`

// blames returns the findings in a session, with code, severity and party at fault.
func blames(in *Inspector) (all []string) {
	add := func(list []stream.Finding) {
		for _, f := range list {
			all = append(all, fmt.Sprintf("%s %s %s", f.Code, f.Severity, f.By))
		}
	}
	for _, t := range in.Session().Turns {
		add(t.Findings)
		for _, c := range t.Calls {
			add(c.Findings)
		}
	}
	add(in.Session().Findings)
	slices.Sort(all)
	return all
}

// TestWhoEnded checks that the party that cut off a response is at fault.
func TestWhoEnded(t *testing.T) {
	for _, test := range []struct {
		by, cut string // end of the frame that is cut off
		why     string
		ended   stream.Party
		stopped bool
		found   []string
	}{
		{"client", "event: conte", "the client disconnected after 9 bytes", stream.Client, true, []string{"ARGS_CUT info client", "CLIENT_GONE info client"}},
		{"client", "data: {\"type", "the client disconnected after 9 bytes", stream.Client, true, []string{"ARGS_CUT info client", "CLIENT_GONE info client"}},
		{"client", "event: ping\ndata: {\"type\":\"ping\"}", "the client disconnected after 9 bytes", stream.Client, true, []string{"ARGS_CUT info client", "CLIENT_GONE info client"}},
		{"network", "data: {\"type", "the connection was reset", stream.Network, false, []string{"ARGS_CUT error network", "CONNECTION_LOST error network"}},
		{"toolscope", "data: {\"type", "the proxy was closed", stream.Toolscope, false, []string{"ARGS_CUT warn toolscope", "STOPPED_HERE warn toolscope"}},
		{"provider", "", "", stream.Provider, false, []string{"ARGS_CUT error provider", "NO_TERMINATOR error provider"}},
		{"", "", "", 0, false, []string{"ARGS_CUT error provider", "NO_TERMINATOR error provider"}},
	} {
		in := new(Inspector)
		in.Write(stream.Record{Exchange: 1, Data: []byte(halfCall + test.cut)})
		in.Write(stream.Record{Exchange: 1, End: true, Why: test.why, By: test.by})
		for _, reread := range []bool{false, true} {
			if reread {
				in.Reread(1, nil)
			}
			turn := in.Session().Turns[0]
			whole, cut := turn.Calls[0], turn.Calls[1]
			if turn.Phase() != stream.TurnAborted || turn.EndedBy != test.ended || cut.StoppedByClient() != test.stopped || whole.StoppedByClient() {
				t.Errorf("%q: %s by %s, stopped %v", test.by, turn.Phase(), turn.EndedBy, cut.StoppedByClient())
			}
			if whole.Status() != stream.Complete || cut.Status() != stream.Aborted {
				t.Errorf("%q: %s and %s", test.by, whole.Status(), cut.Status())
			}
			if got := blames(in); !slices.Equal(got, test.found) {
				t.Errorf("%q after %q: %v, want %v", test.by, test.cut, got, test.found)
			}
			if n := in.Session().Stopped; (n == 1) != test.stopped {
				t.Errorf("%q: %d stopped", test.by, n)
			}
		}
	}
}

// TestEndedByTerminator checks that a party that disconnects after the terminator is not reported as having ended the
// response.
func TestEndedByTerminator(t *testing.T) {
	in := new(Inspector)
	in.Write(stream.Record{Exchange: 1, Data: []byte(halfCall + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")})
	in.Write(stream.Record{Exchange: 1, End: true, Why: "the client disconnected after 9 bytes", By: "client"})
	if turn := in.Session().Turns[0]; turn.EndedBy != stream.Provider || turn.Phase() != stream.TurnComplete {
		t.Errorf("%s by %s", turn.Phase(), turn.EndedBy)
	}
}

// TestOwnAnswer checks that a response from toolscope in a provider's place is never shown as the provider's,
// and doesn't affect other turns.
func TestOwnAnswer(t *testing.T) {
	for by, want := range map[string]string{"network": "NO_ANSWER error network", "toolscope": "NO_ANSWER error toolscope", "client": "NO_ANSWER error client", "": "NO_ANSWER error toolscope"} {
		in := new(Inspector)
		in.Write(stream.Record{Exchange: 1, Request: true, Head: &stream.Head{Method: "POST", URL: "http://h/v1/messages"}, Data: []byte(`{"model":"m"}`)})
		in.Write(stream.Record{Exchange: 1, Head: &stream.Head{Status: 502}, By: "toolscope", Note: "the proxy itself gave this answer: refused"})
		in.Write(stream.Record{Exchange: 1, Data: []byte("toolscope proxy: refused\n")})
		in.Write(stream.Record{Exchange: 1, End: true, Why: "refused", By: by})
		in.Write(stream.Record{Exchange: 2, Data: []byte(halfCall + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"), End: true})
		turn := in.Session().Turns[0]
		if turn.Phase() != stream.TurnAborted || !turn.Closed() || turn.Failure != "refused" || turn.Protocol != "anthropic" {
			t.Errorf("by %q: %s, %q, %s", by, turn.Phase(), turn.Failure, turn.Protocol)
		}
		if got := blames(in); len(got) != 2 || got[1] != want || got[0] != "ARGS_CUT error provider" && got[0] != "FIN_CONTRADICTED error provider" {
			t.Errorf("by %q: %v", by, got)
		}
		if f := turn.Findings[0]; !strings.HasSuffix(f.Message, "toolscope answered 502 instead of the provider: refused") {
			t.Errorf("by %q: %s", by, f.Message)
		}
	}
}

// TestGoneBeforeTheAnswer checks that a client that didn't wait for the first byte is reported to have ended the
// turn.
func TestGoneBeforeTheAnswer(t *testing.T) {
	in := new(Inspector)
	in.Write(stream.Record{Exchange: 1, Request: true, Head: &stream.Head{Method: "POST", URL: "http://h/v1/messages"}, Data: []byte(`{"mod`)})
	in.Write(stream.Record{Exchange: 1, End: true, Why: "the client disconnected after 0 bytes", By: "client"})
	turn := in.Session().Turns[0]
	if got := blames(in); !slices.Equal(got, []string{"CLIENT_GONE info client"}) || turn.EndedBy != stream.Client || turn.Failure != "" || !turn.Closed() {
		t.Errorf("%v, by %s, %q", got, turn.EndedBy, turn.Failure)
	}
}

// TestNotesOfAnExchange checks that a note in a record with other data is reported for the exchange's first turn. A
// note in a record without other data is reported for the source.
func TestNotesOfAnExchange(t *testing.T) {
	in := new(Inspector)
	in.Write(stream.Record{Exchange: 1, Request: true, Head: &stream.Head{Method: "GET"}, Note: "an extension was taken out"})
	in.Write(stream.Record{Exchange: 2, Data: []byte(halfCall)})
	in.Write(stream.Record{Exchange: 1, Data: []byte(halfCall)})
	in.Write(stream.Record{Exchange: 1, Note: "a line is damaged"})
	var told []string
	for _, turn := range in.Session().Turns {
		for _, f := range turn.Findings {
			told = append(told, fmt.Sprintf("exchange %d: %s", turn.Exchange, f.Message))
		}
	}
	if !slices.Equal(told, []string{"exchange 1: an extension was taken out"}) || len(in.Session().Findings) != 1 {
		t.Errorf("%q, %+v", told, in.Session().Findings)
	}
}

// TestGapInCoded checks that decoding of a coded body stops at a gap, and that the party that encoded the body is not
// at fault.
func TestGapInCoded(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write([]byte(halfCall))
	w.Flush()
	first := packed.Len()
	w.Write([]byte("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n" + strings.Repeat(": more\n\n", 200)))
	w.Close()
	for _, hole := range []int{0, 3, first, first + 5} {
		in := new(Inspector)
		in.Write(stream.Record{Exchange: 1, Head: &stream.Head{URL: "http://h/v1/messages", Status: 200, Header: map[string][]string{"Content-Encoding": {"gzip"}}}})
		in.Write(stream.Record{Exchange: 1, Data: packed.Bytes()[:hole]})
		in.Write(stream.Record{Exchange: 1, Lost: 4, Data: packed.Bytes()[hole+4:]})
		in.Write(stream.Record{Exchange: 1, End: true, By: "provider"})
		before := dump(in)
		in.Reread(1, nil)
		if after := dump(in); after != before {
			t.Errorf("a gap at %d, read again:\n%s\nwas\n%s", hole, after, before)
		}
		for _, f := range blames(in) {
			if f != "RECORD_GAP warn toolscope" {
				t.Errorf("a gap at %d: %s", hole, f)
			}
		}
		turns := in.Session().Turns
		if len(turns) != 1 || !turns[0].HasGap() || !turns[0].Closed() || turns[0].Phase() != stream.TurnIsOpen {
			t.Fatalf("a gap at %d: %s", hole, dump(in))
		}
		if hole >= first && (turns[0].Calls[0].Status() != stream.Complete || turns[0].Calls[1].Status() != stream.Unseen) {
			t.Errorf("a gap at %d: %s", hole, dump(in))
		}
	}
}

// TestGapInRequest checks that no conclusions are drawn from a request with missing bytes.
func TestGapInRequest(t *testing.T) {
	good := asks + `,` + first + made("a", "f", `{"n":1}`) + `]},` + tool("a", "ok")
	tools := `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"n":{"type":"string"}}}}}]`
	for _, lost := range []int64{0, 7} {
		in := talk([2]string{asks, says("a", "f", `{"n":1}`)})
		in.closed = false
		body := `{"messages":[` + good + `]` + tools + `}`
		in.Write(stream.Record{Exchange: 2, Request: true, Data: []byte(body[:20])})
		in.Write(stream.Record{Exchange: 2, Request: true, Lost: lost, Data: []byte(body[20:])})
		in.Write(stream.Record{Exchange: 2, Data: []byte(says("b", "f", `{"n":1}`)), End: true})
		sentBack, checked := len(in.Session().Turns[0].Calls[0].SentBack), len(in.Session().Turns[1].Calls[0].Findings)
		if (sentBack == 1) != (lost == 0) || (checked > 0) != (lost == 0) || (in.Exchange(2).RequestBody() == nil) != (lost > 0) {
			t.Errorf("%d bytes lost: sent back %d times, %d findings", lost, sentBack, checked)
		}
		if messages, _ := in.Exchange(2).History(); (len(messages) > 0) != (lost == 0) {
			t.Errorf("%d bytes lost: a history of %d messages", lost, len(messages))
		}
	}
}

// TestAllMissed checks that a response whose bytes were all missed still has a turn.
func TestAllMissed(t *testing.T) {
	for url, want := range map[string]string{"http://h/v1/messages": "anthropic", "http://h/other": "unknown", "": "unknown"} {
		in := new(Inspector)
		in.Write(stream.Record{Exchange: 1, Request: true, Head: &stream.Head{Method: "POST", URL: url}})
		in.Write(stream.Record{Exchange: 1, Head: &stream.Head{Status: 200}, Lost: 5000})
		in.Write(stream.Record{Exchange: 1, End: true, By: "provider"})
		turns := in.Session().Turns
		if len(turns) != 1 || !turns[0].Closed() || turns[0].Protocol != want || !slices.Equal(blames(in), []string{"RECORD_GAP warn toolscope"}) {
			t.Errorf("%s: %s", url, dump(in))
		}
	}
}

// TestGapBetweenTurns checks that the turn after a gap is complete if the turn before the gap has certainly ended.
func TestGapBetweenTurns(t *testing.T) {
	message := strings.Replace(halfCall, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1",
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1", 1)
	message = message[:strings.Index(message, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1")]
	in := new(Inspector)
	in.Write(stream.Record{Exchange: 1, Data: []byte(message[:len(message)/2])})
	in.Write(stream.Record{Exchange: 1, Lost: 1, Data: []byte(message[len(message)/2+1:] + message)})
	in.Write(stream.Record{Exchange: 1, End: true})
	before := dump(in)
	in.Reread(1, nil)
	if after := dump(in); after != before {
		t.Errorf("read again:\n%s\nwas\n%s", after, before)
	}
	turns := in.Session().Turns
	if len(turns) != 2 || !turns[0].HasGap() || turns[1].HasGap() || turns[1].Phase() != stream.TurnComplete || turns[1].Calls[0].Status() != stream.Complete {
		t.Errorf("%s", dump(in))
	}
	if turns[0].Calls[0].Status() != stream.Unseen {
		t.Errorf("the call with the gap is %s", turns[0].Calls[0].Status())
	}
}

// TestUnseenIsNotReplayed checks that the preview of a call with missing bytes is unknown, and that there is
// no finding about a client that sends the call back.
func TestUnseenIsNotReplayed(t *testing.T) {
	in := new(Inspector)
	in.Write(stream.Record{Exchange: 1, Data: []byte(halfCall)})
	in.Write(stream.Record{Exchange: 1, Lost: 40, End: true})
	turn := in.Session().Turns[0]
	for i := range replay.Policies {
		if !replay.Policies[i].Knows(TargetOf(turn.Protocol), TargetOf(turn.Protocol)) {
			continue
		}
		p := replay.SourceOfCalls(turn, TargetOf(turn.Protocol), turn.Calls[1]).Preview(TargetOf(turn.Protocol), &replay.Policies[i])
		if p.Outcome != replay.Unknown || p.Body != nil || p.Refused != "" || len(p.Losses) != 1 || p.Losses[0].Kind != replay.ArgsUnseen || len(p.Calls) != 1 || p.Calls[0].Args != nil {
			t.Errorf("%s: %s, %q, %s", replay.Policies[i].Name, p.Outcome, p.Refused, p.Body)
		}
	}
	in.Write(stream.Record{Exchange: 2, Request: true, Data: []byte(`{"messages":[{"role":"assistant","content":[` +
		`{"type":"tool_use","id":"toolu_1","name":"first","input":{"a":1}},{"type":"tool_use","id":"toolu_2","name":"second","input":{"b":[1,2]}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"},{"type":"tool_result","tool_use_id":"toolu_2","content":"ok"}]}]}`)})
	in.Close()
	if back := turn.Calls[0].SentBack; len(back) != 1 || back[0].Outcome != "intact" {
		t.Errorf("%+v", back)
	}
	if back := turn.Calls[1].SentBack; len(back) != 0 {
		t.Errorf("of the unseen call: %+v", back)
	}
}
