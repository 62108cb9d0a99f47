package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
)

func quietTimer() *time.Timer { return time.AfterFunc(time.Hour, func() {}) }

const chunkedHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// TestEndings checks how the end of an upstream's response appears to the client and in the records.
func TestEndings(t *testing.T) {
	for _, test := range []struct {
		name   string
		wire   string
		reset  bool // instead of closing
		body   string
		broken bool // for the client
		end    capture.End
		by     capture.Party
		why    string
	}{
		{"whole", chunkedHead + "3\r\nabc\r\n0\r\n\r\n", false, "abc", false, capture.EndEOF, capture.Provider, ""},
		{"early end of chunks", chunkedHead + "3\r\nabc\r\n", false, "abc", true, capture.EndCut, capture.Network, "closed before the body was complete"},
		{"early end in a chunk", chunkedHead + "9\r\nabc", false, "abc", true, capture.EndCut, capture.Network, "closed before the body was complete"},
		{"early end of a length", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", false, "abc", true, capture.EndCut, capture.Network, "closed before the body was complete"},
		{"reset", chunkedHead + "3\r\nabc\r\n", true, "abc", true, capture.EndCut, capture.Network, "reset"},
		{"no chunk", chunkedHead + "3\r\nabc\r\nfoo\r\n", false, "abc", true, capture.EndCut, capture.Network, "chunk"},
		{"empty chunks", chunkedHead + "0\r\n\r\n", false, "", false, capture.EndEOF, capture.Provider, ""},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nabc", false, "abc", false, capture.EndEOF, capture.Provider, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			taken := make(chan bool)
			up := upstreamTCP(t, func(c *net.TCPConn, r *bufio.Reader) {
				http.ReadRequest(r)
				io.WriteString(c, test.wire)
				if test.reset {
					<-taken // a reset would overtake bytes that have not arrived yet
					c.SetLinger(0)
				}
			})
			d := stand(t, up, nil)
			resp := d.get("/")
			got := make([]byte, len(test.body))
			if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != test.body {
				t.Errorf("%q, %v", got, err)
			}
			close(taken)
			if rest, err := io.ReadAll(resp.Body); len(rest) != 0 || (err != nil) != test.broken {
				t.Errorf("then %q, %v", rest, err)
			}
			recs := d.endsWith(1, test.end, test.by, test.why)
			if whole := recorded(recs, capture.Response); whole != test.body {
				t.Errorf("recorded %q", whole)
			}
		})
	}
}

// TestUpstreamClosesItsHalf checks that a response is complete if the upstream closes its sending side but continues
// to read.
func TestUpstreamClosesItsHalf(t *testing.T) {
	var late string
	done := make(chan bool)
	up := upstreamTCP(t, func(c *net.TCPConn, r *bufio.Reader) {
		defer close(done)
		http.ReadRequest(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall there is")
		c.CloseWrite()
		rest, _ := io.ReadAll(r)
		late = string(rest)
	})
	d := stand(t, up, nil)
	body, err := io.ReadAll(d.get("/").Body)
	if err != nil || string(body) != "all there is" {
		t.Errorf("%q, %v", body, err)
	}
	d.endsWith(1, capture.EndEOF, capture.Provider, "")
	if <-done; late != "" {
		t.Errorf("the upstream was sent %q", late)
	}
}

func TestClientGoesAway(t *testing.T) {
	for _, when := range []string{"before the head", "in the body"} {
		t.Run(when, func(t *testing.T) {
			asked, cancelled := make(chan bool), make(chan bool)
			up := serve(t, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				if when == "in the body" {
					sendNow(w, "data: 1\n\n")
				}
				asked <- true
				<-r.Context().Done()
				close(cancelled)
			})
			d := stand(t, up, nil)
			ctx, leave := context.WithCancel(t.Context())
			req, _ := http.NewRequestWithContext(ctx, "POST", "http://"+d.addr, strings.NewReader("hi"))
			gone := make(chan error)
			go func() {
				resp, err := d.client.Do(req)
				if err == nil {
					_, err = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				gone <- err
			}()
			<-asked
			if when == "in the body" {
				d.await(1, func(recs []capture.Record) bool { return recorded(recs, capture.Response) != "" })
			}
			leave()
			if err := <-gone; err == nil {
				t.Error("the client saw no end")
			}
			select {
			case <-cancelled:
			case <-time.After(patience):
				t.Fatal("the upstream goes on")
			}
			came := map[string]int64{"before the head": 0, "in the body": int64(len("data: 1\n\n"))}[when]
			recs := d.endsWith(1, capture.EndCut, capture.Client, clientGone(came))
			if whole := recorded(recs, capture.Response); (whole == "data: 1\n\n") != (when == "in the body") {
				t.Errorf("recorded %q", whole)
			}
		})
	}
}

func TestClientBreaksOffItsBody(t *testing.T) {
	const head = "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe"
	up := serve(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	d := stand(t, up, nil)
	c, _ := d.raw(head)
	d.await(1, func(recs []capture.Record) bool { return len(recs) > 0 })
	c.(*net.TCPConn).SetLinger(0)
	c.Close()
	recs := d.endsWith(1, capture.EndCut, capture.Client, clientGone(0))
	if whole := recorded(recs, capture.Request); whole != "he" {
		t.Errorf("recorded %q", whole)
	}

	resp, body := d.ask(head + "llo\r\nzz\r\n")
	if resp.StatusCode != 400 || !strings.Contains(body, "the request's body was cut off: invalid byte in chunk length") {
		t.Errorf("%s %q", resp.Status, body)
	}
	recs = d.endsWith(2, capture.EndEOF, capture.Client, "")
	if r := headOf(recs, capture.Response); r.By != capture.Toolscope || r.Head.Status != 400 {
		t.Errorf("%d answered by %q", r.Head.Status, r.By)
	}
}

func TestNoAnswer(t *testing.T) {
	const closed = "127.0.0.1:1" // the port of tcpmux, where no server listens
	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	encrypted := httptest.NewUnstartedServer(nil)
	encrypted.Config.ErrorLog = quiet
	encrypted.StartTLS()
	defer encrypted.Close()
	silent := upstreamTCP(t, func(_ *net.TCPConn, r *bufio.Reader) { http.ReadRequest(r) })
	noise := upstreamTCP(t, func(c *net.TCPConn, r *bufio.Reader) { http.ReadRequest(r); io.WriteString(c, "SSH-2.0\r\n\r\n") })
	switched := upstreamTCP(t, func(c *net.TCPConn, r *bufio.Reader) {
		http.ReadRequest(r)
		io.WriteString(c, "HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n")
	})
	for _, test := range []struct{ name, upstream, says string }{
		{"refused", "http://" + closed, "connection refused by " + closed},
		{"unknown name", "http://nobody.invalid", "nobody.invalid"},
		{"unknown authority", encrypted.URL, "an unknown authority"},
		{"no TLS", strings.Replace(plain, "http:", "https:", 1), "TLS: the server doesn't speak TLS"},
		{"silence", silent, "closed before the server answered"},
		{"another protocol", noise, "malformed HTTP"},
		{"a switch nobody asked for", switched, `switched to the protocol "other"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := stand(t, test.upstream, nil)
			resp := d.get("/")
			body, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != 502 || !strings.Contains(string(body), test.says) || strings.Count(string(body), "\n") != 1 {
				t.Errorf("%s %q", resp.Status, body)
			}
			recs := d.endsWith(1, capture.EndEOF, capture.Network, "")
			if head := headOf(recs, capture.Response); head.By != capture.Toolscope || head.Head.Status != 502 || !strings.Contains(notes(recs), test.says) || recorded(recs, capture.Response) != string(body) {
				t.Error(describe(recs))
			}
		})
	}
}

func TestNothingComes(t *testing.T) {
	for _, begun := range []bool{false, true} {
		up := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if begun {
				sendNow(w, "data: 1\n\n")
			}
			<-r.Context().Done()
		})
		d := stand(t, up, func(o *Options) { o.Limits.Idle = 200 * time.Millisecond })
		resp := d.get("/")
		_, err := io.ReadAll(resp.Body)
		const words = "no data passed for 200ms, which is the limit"
		if begun {
			if err == nil {
				t.Error("ended cleanly")
			}
			d.endsWith(1, capture.EndCut, capture.Toolscope, words)
		} else if recs := d.endsWith(1, capture.EndEOF, capture.Toolscope, ""); resp.StatusCode != 504 || !strings.Contains(notes(recs), words) ||
			headOf(recs, capture.Response).By != capture.Toolscope {
			t.Error(resp.Status, describe(recs))
		}
	}
}

// TestCutWhileTheClientDoesNotRead checks that an exchange can be cut even if its client has stopped reading and the
// proxy is blocked in a write to the client.
func TestCutWhileTheClientDoesNotRead(t *testing.T) {
	flood := func(c net.Conn, p []byte) {
		for {
			if _, err := c.Write(p); err != nil {
				return
			}
		}
	}
	t.Run("body", func(t *testing.T) {
		up := upstreamTCP(t, func(c *net.TCPConn, r *bufio.Reader) {
			http.ReadRequest(r)
			io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			flood(c, make([]byte, 64<<10))
		})
		d := stand(t, up, func(o *Options) { o.Limits.Idle = 300 * time.Millisecond })
		d.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		d.endsWith(1, capture.EndCut, capture.Toolscope, "no data passed for 300ms")
	})
	t.Run("WebSocket", func(t *testing.T) {
		up := socketServer(t, func(s *socket, _ *http.Request) {
			flood(s.conn, frame(fin|capture.OpText, strings.Repeat("x", 1000), false))
		})
		d := stand(t, up, func(o *Options) { o.Limits.Idle = 300 * time.Millisecond })
		d.dialSocket()
		d.endsWith(1, capture.EndCut, capture.Toolscope, "no data passed for 300ms")
	})
}

func TestClosedInTheMiddle(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sendNow(w, "data: 1\n\n")
		<-r.Context().Done()
	})
	for _, by := range []string{"Close", "Serve's context"} {
		var recs []capture.Record
		p, err := New(Options{Routes: []Route{{Prefix: "/", Upstream: upstreamAt(t, up)}}, Record: func(r capture.Record) { recs = append(recs, r) }})
		if err != nil {
			t.Fatal(err)
		}
		l, _ := net.Listen("tcp", "127.0.0.1:0")
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- p.Serve(ctx, l) }()
		resp, err := http.Get(fmt.Sprint("http://", l.Addr()))
		if err != nil {
			t.Fatal(err)
		}
		if by != "Close" {
			stop()
			if err := <-served; err != nil {
				t.Error(err)
			}
		}
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if _, err := io.ReadAll(resp.Body); err == nil {
			t.Error("the client saw a clean end")
		}
		resp.Body.Close()
		last := recs[len(recs)-1]
		if whole := recorded(recs, capture.Response); last.End != capture.EndCut || last.Why != errClosed.Error() || last.By != capture.Toolscope || whole != "data: 1\n\n" {
			t.Errorf("%s: %s", by, describe(recs))
		}
		w := httptest.NewRecorder()
		if p.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/", nil)); w.Code != 503 {
			t.Errorf("closed, and yet %d", w.Code)
		}
		stop()
	}
}
