package proxy

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"toolscope/capture"
	"toolscope/capture/fault"
)

// bending starts a proxy in front of the upstream. The parameter words names the faults that the proxy injects.
func bending(t *testing.T, upstream string, words ...string) *desk {
	t.Helper()
	faults, err := fault.ParseFaults(words...)
	if err != nil {
		t.Fatal(err)
	}
	return stand(t, upstream, func(o *Options) { o.Faults = faults })
}

// say posts to a path. It returns the response, its body and the error that ended the body.
func (d *desk) say(path, body string) (*http.Response, string, error) {
	d.t.Helper()
	resp, err := d.client.Post("http://"+d.addr+path, "application/json", strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return resp, string(got), err
}

const (
	opened    = "data: {\"partial_json\":\"\"}\n\n"
	started   = "data: {\"partial_json\":\"{\\\"a\\\"\"}\n\n"
	unstarted = "data: {\"partial_json\":\"\\\"a\\\"\"}\n\n"
	more      = "data: {\"partial_json\":\":1}\"}\n\n"
)

// TestFaultAtOnce checks that the client gets each event, with its fault, as soon as the event has arrived. The
// records must contain the provider's bytes in the provider's chunks, and a note that the client got other bytes.
func TestFaultAtOnce(t *testing.T) {
	next := make(chan struct{})
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for n, e := range []string{opened, started, more} {
			if n > 0 {
				<-next
			}
			io.WriteString(w, e)
			w.(http.Flusher).Flush()
		}
	})
	d := bending(t, up, "bad-args")
	resp, err := d.client.Post("http://"+d.addr+"/v1/messages", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for n, want := range []string{opened, unstarted, more} {
		if n > 0 {
			next <- struct{}{}
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != want {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
	}
	if rest, err := io.ReadAll(resp.Body); len(rest) > 0 || err != nil {
		t.Errorf("then %q, %v", rest, err)
	}
	recs := d.endsWith(1, capture.EndEOF, capture.Provider, "")
	if got := pieces(recs, capture.Response); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", []string{opened, started, more}) {
		t.Errorf("recorded %q", got)
	}
	said := fmt.Sprintf("%s: the client got %d bytes instead of %d", capture.FaultedNote, len(opened+unstarted+more), len(opened+started+more))
	if n := notes(recs); !strings.HasPrefix(n, capture.FaultedNote+" (--fault bad-args)") || !strings.HasSuffix(n, said) {
		t.Errorf("notes: %s", n)
	}
}

// TestFaultCut checks that the client's connection breaks while the provider is still sending, and that everything
// from the provider is recorded.
func TestFaultCut(t *testing.T) {
	broken := make(chan struct{})
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, opened+started)
		w.(http.Flusher).Flush()
		<-broken
		io.WriteString(w, more)
	})
	d := bending(t, up, "cut@1x1")
	_, body, err := d.say("/v1/messages", "{}")
	if body != opened || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%q, %v", body, err)
	}
	close(broken)
	recs := d.endsWith(1, capture.EndEOF, capture.Provider, "")
	if got := recorded(recs, capture.Response); got != opened+started+more {
		t.Errorf("recorded %q", got)
	}
	if n := notes(recs); !strings.Contains(n, fmt.Sprintf("%s: the client got %d bytes, and then its connection was broken", capture.FaultedNote, len(opened))) {
		t.Errorf("notes: %s", n)
	}
	if _, body, err := d.say("/v1/messages", "{}"); body != opened+started+more || err != nil {
		t.Errorf("the second answer: %q, %v", body, err)
	}
	if n := notes(d.ended(2)); n != "" {
		t.Errorf("notes on what was not bent: %s", n)
	}
}

// TestFaultInBody checks that a complete JSON response stays valid HTTP when a fault changes its length. It also checks
// that the proxy asks for an uncompressed response if it injects faults.
func TestFaultInBody(t *testing.T) {
	const text = `{"choices":[{"message":{"tool_calls":[{"function":{"arguments":"{\"a\":1}"}}]}}]}`
	var accepted []string
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		accepted = append(accepted, r.Header.Get("Accept-Encoding"))
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		io.WriteString(w, text)
	})
	d := bending(t, up, "empty-args/2")
	for n, want := range []string{text, strings.Replace(text, `"{\"a\":1}"`, `""`, 1)} {
		_, r := d.raw("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: br\r\nContent-Length: 0\r\n\r\n")
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if string(body) != want || err != nil {
			t.Errorf("%q, %v", body, err)
		}
		if recorded(d.ended(n+1), capture.Response) != text {
			t.Error("that was recorded as the provider's")
		}
	}
	if fmt.Sprint(accepted) != "[br identity]" {
		t.Errorf("asked for %q", accepted)
	}
}

// TestFaultUnfit checks that a response to which a fault doesn't apply is forwarded with a note. Errors, and responses
// to requests that don't go to a model, must not be changed or use up a fault.
func TestFaultUnfit(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/packed"):
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, "\x1f\x8bpacked")
		case strings.HasSuffix(r.URL.Path, "/refused"):
			w.WriteHeader(http.StatusTooManyRequests)
			io.WriteString(w, started)
		default:
			w.Header().Set("Content-Encoding", "identity") // not compressed
			io.WriteString(w, started)
		}
	})
	d := bending(t, up, "bad-argsx1")
	for n, c := range []struct{ path, want, note string }{
		{"/packed", "\x1f\x8bpacked", "--fault bad-argsx1 changed nothing: the body is compressed"},
		{"/refused", started, ""},
		{"/v1/messages/count_tokens", started, ""},
		{"/v1/messages", unstarted, "the client got"},
		{"/v1/messages", started, ""},
	} {
		if _, body, err := d.say(c.path, "{}"); body != c.want || err != nil {
			t.Errorf("%s: %q, %v", c.path, body, err)
		}
		if got := notes(d.ended(n + 1)); !strings.Contains(got, c.note) || c.note == "" && got != "" {
			t.Errorf("%s: notes: %s", c.path, got)
		}
	}
}

// TestFaultAnswers checks that a request answered by a fault doesn't reach the upstream, and that the response is
// attributed to toolscope.
func TestFaultAnswers(t *testing.T) {
	asked := 0
	up := serve(t, func(w http.ResponseWriter, r *http.Request) { asked++; io.WriteString(w, started) })
	d := bending(t, up, "status=529x1")
	if resp, body, _ := d.say("/v1/messages", "{}"); resp.StatusCode != 529 || !strings.Contains(body, "overloaded_error") || !strings.Contains(body, "toolscope proxy") || asked != 0 {
		t.Errorf("%s %s, asked %d times", resp.Status, body, asked)
	}
	recs := d.endsWith(1, capture.EndEOF, capture.Toolscope, "--fault status=529x1")
	if head := headOf(recs, capture.Response); head.By != capture.Toolscope || head.Head.Status != 529 || recorded(recs, capture.Request) != "{}" {
		t.Errorf("%+v", head)
	}
	if _, body, _ := d.say("/v1/messages", "{}"); body != started || asked != 1 {
		t.Errorf("then %q", body)
	}
}

// TestFaultSocket checks that faults are injected message by message into responses on a WebSocket. Warm-up requests
// and control frames must not be changed.
func TestFaultSocket(t *testing.T) {
	const delta, bad, done = `{"type":"response.function_call_arguments.delta","delta":"{"}`, `{"type":"response.function_call_arguments.delta","delta":""}`, `{"type":"response.completed"}`
	up := socketServer(t, func(s *socket, _ *http.Request) {
		for {
			first, _, err := s.receive()
			if err != nil {
				return
			}
			if first&0xf == capture.OpText {
				s.send(fin|capture.OpPing, "x")
				s.send(fin|capture.OpText, delta)
				s.send(fin|capture.OpText, done)
			}
		}
	})
	d := bending(t, up, "bad-args", "cut@1/2")
	s := d.dialSocket()
	ask := func(message string) { s.send(fin|capture.OpText, message); s.expect(fin|capture.OpPing, "x") }
	ask(`{"type":"response.create","generate":false}`)
	s.expect(fin|capture.OpText, delta)
	s.expect(fin|capture.OpText, done)
	ask(`{"type":"response.create"}`)
	s.expect(fin|capture.OpText, bad)
	s.expect(fin|capture.OpText, done)
	ask(`{"type":"response.create"}`)
	s.expect(fin|capture.OpText, bad)
	if _, _, err := s.receive(); err == nil {
		t.Error("the connection did not break")
	}
	recs := d.endsWith(1, capture.EndCut, capture.Toolscope, "a fault broke the client's connection")
	for n, p := range pieces(recs, capture.Response) {
		if p != []string{delta, done}[n%2] {
			t.Errorf("recorded %q", p)
		}
	}
	if n := notes(recs); strings.Count(n, capture.FaultedNote+" (--fault bad-args") != 2 {
		t.Errorf("notes: %s", n)
	}
}

// TestFaultHTTP2 checks that a fault resets its own HTTP/2 stream, and no other.
func TestFaultHTTP2(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, opened+started) })
	d := bending(t, up, "cut@1x1")
	d.client = &http.Client{Transport: h2c(t)}
	if _, body, err := d.say("/v1/messages", "{}"); body != opened || err == nil {
		t.Errorf("%q, %v", body, err)
	}
	if _, body, err := d.say("/v1/messages", "{}"); body != opened+started || err != nil {
		t.Errorf("%q, %v", body, err)
	}
}

// h2c returns a transport for HTTP/2 without TLS.
func h2c(t *testing.T) *http.Transport {
	var only http.Protocols
	only.SetUnencryptedHTTP2(true)
	tr := &http.Transport{Protocols: &only}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}
