package capture

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

// fetched reads a source to its end. It calls the function seen with each record as it arrives.
func fetched(src Source, seen func(Record)) (recs []Record, err error) {
	for r, e := range src {
		if e != nil {
			return recs, e
		}
		recs = append(recs, r)
		if seen != nil {
			seen(r)
		}
	}
	return recs, nil
}

// fetchedFrom returns the records of one request.
func fetchedFrom(t *testing.T, method, to string, body io.Reader) ([]Record, error) {
	t.Helper()
	return fetched(Fetch(t.Context(), new(http.Client), ask(t, method, to, body), 1, time.Now()), nil)
}

func ask(t *testing.T, method, to string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequest(method, to, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "k")
	return req
}

func TestFetch(t *testing.T) {
	taken := make(chan bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(w, "data: %d %s\n\n", i, body)
			w.(http.Flusher).Flush()
			<-taken // makes each event a record of its own
		}
	}))
	defer s.Close()
	req := ask(t, "POST", s.URL+"/v1/x?key=k", io.MultiReader(strings.NewReader("{}")))
	began := time.Now().Add(-time.Hour)
	recs, err := fetched(Fetch(t.Context(), s.Client(), req, 7, began), func(r Record) {
		if len(r.Data) > 0 && r.Side == Response {
			taken <- true
		}
	})
	if err != nil || len(recs) != 6 {
		t.Fatalf("%+v, %v", recs, err)
	}
	asked, answered, last := recs[0], recs[1], recs[5]
	if asked.Side != Request || string(asked.Data) != "{}" || asked.Head.Method != "POST" || asked.Head.URL != s.URL+"/v1/x?key=k" ||
		asked.Head.Header.Get("X-Api-Key") != "k" || asked.Head.Start.IsZero() {
		t.Errorf("request %+v %+v", asked, asked.Head)
	}
	if answered.Side != Response || answered.Head.Status != 200 || answered.Head.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("response %+v %+v", answered, answered.Head)
	}
	at := time.Hour
	for i, r := range recs {
		if r.Exchange != 7 || r.At < at {
			t.Errorf("record %d: exchange %d at %v", i, r.Exchange, r.At)
		}
		at = r.At
		if i > 1 && i < 5 && string(r.Data) != fmt.Sprintf("data: %d {}\n\n", i-2) {
			t.Errorf("record %d: %q", i, r.Data)
		}
	}
	if last.End != EndEOF || last.Why != "" || last.Data != nil {
		t.Errorf("end %+v", last)
	}
}

// TestFetchRefused checks that an error status is recorded as a response.
func TestFetchRefused(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Error(w, "{}", http.StatusUnauthorized) }))
	defer s.Close()
	recs, err := fetchedFrom(t, "", s.URL, nil)
	if err != nil || len(recs) != 4 || recs[0].Head.Method != "GET" || recs[1].Head.Status != 401 || string(recs[2].Data) != "{}\n" || recs[3].End != EndEOF {
		t.Errorf("%+v, %v", recs, err)
	}
}

func TestFetchNoAnswer(t *testing.T) {
	encrypted := httptest.NewUnstartedServer(nil)
	encrypted.Config.ErrorLog = log.New(io.Discard, "", 0)
	encrypted.StartTLS()
	defer encrypted.Close()
	plain := httptest.NewServer(nil)
	defer plain.Close()
	silent := talkingServer(t, "")
	for to, want := range map[string]string{
		"http://127.0.0.1:1/?key=s3cret":                                "no answer from 127.0.0.1:1: connection refused by 127.0.0.1:1",
		"https" + strings.TrimPrefix(plain.URL, "http") + "?key=s3cret": "TLS: the server doesn't speak TLS",
		encrypted.URL + "?key=s3cret":                                   "TLS: the certificate is signed by an unknown authority",
		silent + "?key=s3cret":                                          "closed before the server answered",
		"gopher://x/?key=s3cret":                                        "unsupported protocol",
	} {
		recs, err := fetchedFrom(t, "GET", to, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", to, err)
		}
		if len(recs) != 1 || recs[0].Side != Request {
			t.Errorf("%s: %+v", to, recs)
		}
	}
	_, err := fetchedFrom(t, "GET", "http://127.0.0.1:1", nil)
	if !errors.Is(err, errRefused) {
		t.Errorf("%v does not wrap its cause", err)
	}
	broken := io.MultiReader(strings.NewReader("{"), brokenReader{})
	if recs, err := fetchedFrom(t, "POST", "http://127.0.0.1:1", broken); err == nil || len(recs) > 0 || !strings.Contains(err.Error(), "can't read the request's body: broken") {
		t.Errorf("%+v, %v", recs, err)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("broken") }

// talkingServer sends text to every client and closes the connection.
func talkingServer(t *testing.T, text string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			http.ReadRequest(bufio.NewReader(c))
			io.WriteString(c, text)
			c.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

func TestFetchBreaksOff(t *testing.T) {
	to := talkingServer(t, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
	recs, err := fetchedFrom(t, "GET", to, nil)
	if err != nil || len(recs) != 4 || string(recs[2].Data) != "abc" {
		t.Fatalf("%+v, %v", recs, err)
	}
	if last := recs[3]; last.End != EndCut || !strings.Contains(last.Why, "closed before the body was complete") {
		t.Errorf("%+v", last)
	}
}

func TestFetchCancelled(t *testing.T) {
	for _, answered := range []bool{false, true} {
		asked, left := make(chan bool), make(chan bool)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if answered {
				io.WriteString(w, "data: 1\n\n")
				w.(http.Flusher).Flush()
			}
			close(asked)
			<-r.Context().Done()
			close(left)
		}))
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			if <-asked; !answered {
				cancel()
			}
		}()
		recs, err := fetched(Fetch(ctx, s.Client(), ask(t, "GET", s.URL, nil), 1, time.Now()), func(r Record) {
			if r.Side == Response && len(r.Data) > 0 {
				cancel()
			}
		})
		last := recs[len(recs)-1]
		if err != nil || last.End != EndCut || last.Why != "cancelled" || (len(recs) == 4) != answered {
			t.Errorf("answered %v: %+v, %v", answered, recs, err)
		}
		<-left
		s.Close()
	}
}

// TestFetchLeft checks that a consumer that stops ends the exchange.
func TestFetchLeft(t *testing.T) {
	for enough := 1; enough <= 3; enough++ {
		left := make(chan bool)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "data: 1\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			close(left)
		}))
		n := 0
		for range Fetch(t.Context(), s.Client(), ask(t, "GET", s.URL, nil), 1, time.Now()) {
			if n++; n == enough {
				break
			}
		}
		if enough > 1 {
			<-left
		}
		s.Close()
	}
}

// TestFetchNoHTTP checks that a server that uses another protocol, or sends unreadable HTTP, is reported as not using
// HTTP.
func TestFetchNoHTTP(t *testing.T) {
	for says, want := range map[string]string{
		"SSH-2.0-OpenSSH_9.6\r\n":             `the response is not HTTP: malformed HTTP response "SSH-2.0-OpenSSH_9.6"`,
		"220 mail\r\n":                        `the response is not HTTP: malformed HTTP status code "mail"`,
		"HTTP/1.1 200 OK\r\nno colon\r\n\r\n": `the response is not HTTP: malformed MIME header: missing colon: "no colon"`,
	} {
		_, err := fetchedFrom(t, "GET", talkingServer(t, says), nil)
		if err == nil || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("%q: %v, want %s", says, err, want)
		}
	}
}

// TestTrouble checks the texts of errors, and that they never contain the URL.
func TestTrouble(t *testing.T) {
	in := func(err error) error { return &url.Error{Op: "Get", URL: "http://x/?key=s3cret", Err: err} }
	for _, test := range []struct {
		err  error
		want string
	}{
		{in(&net.DNSError{Name: "a.example", IsNotFound: true}), `unknown host name "a.example"`},
		{in(&net.DNSError{Name: "a.example", IsTimeout: true}), `looking up the host name "a.example" timed out`},
		{in(&net.DNSError{Name: "a.example", Err: "misbehaving"}), `can't look up the host name "a.example": misbehaving`},
		{in(&net.OpError{Op: "dial", Err: errNoHost}), "no route to the host"},
		{in(&net.OpError{Op: "read", Err: errReset}), "the connection was reset before the server answered"},
		{in(io.EOF), "the connection was closed before the server answered"},
		{in(&net.OpError{Op: "remote error", Err: tls.AlertError(40)}), "TLS: refused by the server: tls: handshake failure"},
		{in(context.DeadlineExceeded), "no answer in time: context deadline exceeded"},
		{in(errors.New("something else")), "something else"},
	} {
		if got := FailureText(test.err); got != test.want {
			t.Errorf("%v: %q, want %q", test.err, got, test.want)
		}
	}
}

func TestEndOf(t *testing.T) {
	for _, test := range []struct {
		err error
		end End
		why string
		by  Party
	}{
		{io.EOF, EndEOF, "", Provider},
		{io.ErrUnexpectedEOF, EndCut, "the connection was closed before the body was complete", Network},
		{&net.OpError{Err: errReset}, EndCut, "the connection was reset", Network},
		{context.Canceled, EndCut, "cancelled", Toolscope},
		{context.DeadlineExceeded, EndCut, "the time limit was exceeded", Toolscope},
		{os.ErrDeadlineExceeded, EndCut, "the time limit was exceeded", Toolscope},
		{errors.New("another"), EndCut, "another", Network},
	} {
		if end, why, by := EndOf(test.err); end != test.end || why != test.why || by != test.by {
			t.Errorf("%v: %q, %q, by %q", test.err, end, why, by)
		}
	}
}
