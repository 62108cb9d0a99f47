package providers

import (
	"strings"
	"testing"

	"toolscope/stream"
)

// TestEndUnknown checks that no party is at fault for a missing ending if the source doesn't show how responses ended,
// and that a party is at fault otherwise.
func TestEndUnknown(t *testing.T) {
	for _, body := range []string{
		`{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}}}]}}]}`,
	} {
		for _, untold := range []bool{true, false} {
			var in Inspector
			in.Write(stream.Record{Exchange: 1, Head: &stream.Head{EndUnknown: untold, NoDeltas: untold}, Data: []byte(body), At: stream.NoTime})
			in.Write(stream.Record{Exchange: 1, End: true, At: stream.NoTime})
			in.Close()
			turn := in.Session().Turns[0]
			if found := len(turn.Findings) + len(turn.Calls[0].Findings); (found == 0) != untold {
				t.Errorf("%s\n untold %v: %d findings", body, untold, found)
			}
			if got := turn.Phase(); untold && got != stream.TurnComplete {
				t.Errorf("%s\n ends as %s", body, got)
			}
			if got := turn.Calls[0].Status(); got != stream.Complete && untold {
				t.Errorf("%s\n the call is %s", body, got)
			}
		}
	}
}

// chatCall is the beginning of a Chat Completions stream with one call, whose arguments are in deltas.
func chatCall(deltas ...string) (chunks []string) {
	chunks = append(chunks, `{"id":"cc-3","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant",`+
		`"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"open_valve","arguments":""}}]},"finish_reason":null}]}`)
	for _, d := range deltas {
		chunks = append(chunks, `{"id":"cc-3","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,`+
			`"function":{"arguments":"`+strings.ReplaceAll(d, `"`, `\"`)+`"}}]},"finish_reason":null}]}`)
	}
	return chunks
}

// readChunks reads a response that consists of JSON lines, one per chunk, and returns its first turn.
func readChunks(t *testing.T, head stream.Head, chunks []string) *stream.Turn {
	t.Helper()
	var in Inspector
	in.Write(stream.Record{Exchange: 1, Head: &head, Data: []byte(strings.Join(chunks, "\n") + "\n"), At: stream.NoTime})
	in.Write(stream.Record{Exchange: 1, End: true, At: stream.NoTime})
	in.Close()
	return in.Session().Turns[0]
}

// TestLogEndsBeforeItsStream checks that, if a log contains only the beginning of a stream, only the protocol makes
// the arguments of a call final.
func TestLogEndsBeforeItsStream(t *testing.T) {
	finish := `{"id":"cc-3","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	for _, c := range []struct {
		name   string
		chunks []string
		phase  stream.TurnPhase
		status stream.Status
	}{
		{"a complete object, but no finish reason", chatCall(`{"valve":`, `7}`), stream.TurnIsOpen, stream.LooksDone},
		{"no arguments yet", chatCall(), stream.TurnIsOpen, stream.Unseen},
		{"the middle of an object", chatCall(`{"valve":`), stream.TurnIsOpen, stream.CutShort},
		{"the finish reason came", append(chatCall(`{"valve":`, `7}`), finish), stream.TurnComplete, stream.Complete},
		{"no arguments, and the finish reason came", append(chatCall(), finish), stream.TurnComplete, stream.NoArguments},
	} {
		turn := readChunks(t, stream.Head{EndUnknown: true}, c.chunks)
		if turn.Phase() != c.phase || turn.Calls[0].Status() != c.status {
			t.Errorf("%s: the turn is %s, the call %s", c.name, turn.Phase(), turn.Calls[0].Status())
		}
		for _, f := range append(turn.Findings, turn.Calls[0].Findings...) {
			if f.By != stream.UnknownParty && f.Code != "ARGS_EMPTY" {
				t.Errorf("%s: %s by %s: %s", c.name, f.Code, f.By, f.Message)
			}
		}
	}
}

// TestEndsInsideFrame checks that no party is at fault if a source ends inside a frame and doesn't show which party
// ended the stream.
func TestEndsInsideFrame(t *testing.T) {
	whole := strings.Join(chatCall(`{"valve":`, `7`), "\n\ndata: ") + "\n\n"
	for _, c := range []struct {
		name, data string
		by         string
		want       stream.Party
	}{
		{"inside data", "data: " + whole + `data: {"id":"cc-3","cho`, "", stream.UnknownParty},
		{"after the name of an event", "data: " + whole + "event: mess", "", stream.UnknownParty},
		{"inside a JSON line", strings.Join(chatCall(`{"valve":`), "\n") + "\n" + `{"id":"cc-3","cho`, "", stream.UnknownParty},
		{"inside data, and the provider ended the body", "data: " + whole + `data: {"id":"cc-3","cho`, "provider", stream.Provider},
		{"between two frames", "data: " + whole, "", stream.Provider},
		{"without the last line break", "data: " + strings.TrimRight(whole, "\n"), "", stream.Provider},
	} {
		var in Inspector
		in.Write(stream.Record{Exchange: 1, Data: []byte(c.data), At: stream.NoTime})
		in.Write(stream.Record{Exchange: 1, End: true, By: c.by, At: stream.NoTime})
		in.Close()
		turn := in.Session().Turns[0]
		found := append(turn.Findings, turn.Calls[0].Findings...)
		if len(found) == 0 {
			t.Errorf("%s: no findings", c.name)
		}
		for _, f := range found {
			if f.Severity == stream.Error && f.By != c.want {
				t.Errorf("%s: %s by %s: %s", c.name, f.Code, f.By, f.Message)
			}
		}
	}
}

// TestCauseOfRefusal checks which party is at fault for an HTTP error: the client for a wrong request, a gateway for
// an HTML page, and otherwise the provider.
func TestCauseOfRefusal(t *testing.T) {
	const body = `{"type":"error","error":{"type":"invalid_request_error","message":"messages: at least one is required"}}`
	for _, c := range []struct {
		status int
		body   string
		want   stream.Party
		words  string
	}{
		{400, body, stream.Client, "refused (HTTP 400); the provider reports invalid_request_error"},
		{401, "", stream.Client, "refused (HTTP 401)"},
		{413, "<html><title>413 Request Entity Too Large</title></html>", stream.Gateway, "413 Request Entity Too Large"},
		{502, "<!DOCTYPE html>\n<html><head><style>h1{color:red}</style></head><h1>502 Bad Gateway</h1>\n<p>nginx &amp; co", stream.Gateway, "the gateway nginx reports 502: HTTP status 502, with a page instead of a response: 502 Bad Gateway, nginx & co"},
		{429, body, stream.Provider, "the provider reports"},
		{500, body, stream.Provider, "the provider reports"},
		{200, `data: ` + body + "\n\n", stream.Client, "refused; the provider reports"},
	} {
		var in Inspector
		in.Write(stream.Record{Exchange: 1, Request: true, Head: &stream.Head{Method: "POST", URL: "http://a/v1/messages"}, At: stream.NoTime})
		in.Write(stream.Record{Exchange: 1, Head: &stream.Head{Status: c.status}, Data: []byte(c.body), At: stream.NoTime})
		in.Write(stream.Record{Exchange: 1, End: true, At: stream.NoTime})
		in.Close()
		var got []string
		for _, f := range in.Session().Turns[0].Findings {
			if f.Severity == stream.Error {
				got = append(got, f.Code+" "+f.By.String()+" "+f.Message)
			}
		}
		code := "PROVIDER_ERROR "
		if c.want == stream.Client {
			code = "REQUEST_REFUSED "
		}
		if len(got) != 1 || !strings.HasPrefix(got[0], code+c.want.String()+" ") || !strings.Contains(got[0], c.words) {
			t.Errorf("%d %.20s: %q", c.status, c.body, got)
		}
	}
}
