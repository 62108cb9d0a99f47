package proxy

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toolscope/capture"
)

func closing(code int, reason string) string {
	return string(binary.BigEndian.AppendUint16(nil, uint16(code))) + reason
}

// socket is one end of a WebSocket, for tests of the other end.
type socket struct {
	t      testing.TB
	conn   net.Conn
	r      *bufio.Reader
	client bool
}

func (s *socket) send(first byte, payload string) { s.conn.Write(frame(first, payload, s.client)) }

// receive reads one frame and unmasks its payload.
func (s *socket) receive() (first byte, payload string, err error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(s.r, head); err != nil {
		return 0, "", err
	}
	more := map[byte]int{126: 2, 127: 8}[head[1]&0x7f]
	if head[1]&0x80 != 0 {
		more += 4
	}
	rest := make([]byte, more, 14)
	if _, err := io.ReadFull(s.r, rest); err != nil {
		return 0, "", err
	}
	size, mask := uint64(head[1]&0x7f), []byte{0, 0, 0, 0}
	switch size {
	case 126:
		size = uint64(binary.BigEndian.Uint16(rest))
	case 127:
		size = binary.BigEndian.Uint64(rest)
	}
	if head[1]&0x80 != 0 {
		mask = rest[more-4:]
	}
	p := make([]byte, size)
	if _, err := io.ReadFull(s.r, p); err != nil {
		return 0, "", err
	}
	for i := range p {
		p[i] ^= mask[i%4]
	}
	return head[0], string(p), nil
}

func (s *socket) expect(first byte, payload string) {
	s.t.Helper()
	if f, p, err := s.receive(); f != first || p != payload || err != nil {
		s.t.Fatalf("got %#x %.80q, %v; want %#x %.80q", f, p, err, first, payload)
	}
}

// socketServer starts an upstream that opens a WebSocket and passes it to the function talk.
func socketServer(t testing.TB, talk func(s *socket, r *http.Request)) string {
	return upstreamTCP(t, func(c *net.TCPConn, r *bufio.Reader) {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		fmt.Fprintf(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: upgrade\r\nX-Request-Id: 7\r\nSec-WebSocket-Accept: %s\r\n\r\n", capture.WebSocketAcceptKey(req.Header.Get("Sec-WebSocket-Key")))
		talk(&socket{t: t, conn: c, r: r}, req)
	})
}

// dialSocket opens a WebSocket through the proxy.
func (d *desk) dialSocket() *socket {
	d.t.Helper()
	const key = "dGhlIHNhbXBsZSBub25jZQ=="
	c, r := d.raw("GET /v1/responses HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Key: " + key + "\r\nSec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\nAuthorization: Bearer k\r\n\r\n")
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	if resp.StatusCode != 101 || resp.Header.Get("Sec-WebSocket-Accept") != capture.WebSocketAcceptKey(key) || resp.Header.Get("X-Request-Id") != "7" {
		d.t.Fatalf("%s, %v", resp.Status, resp.Header)
	}
	return &socket{d.t, c, r, true}
}

// echo sends back each frame, and closes the connection after a Close.
func echo(s *socket, _ *http.Request) {
	for {
		first, payload, err := s.receive()
		if err != nil {
			return
		}
		s.send(first, payload)
		if first&0xf == capture.OpClose {
			return
		}
	}
}

func TestWebSocketEcho(t *testing.T) {
	var asked *http.Request
	up := socketServer(t, func(s *socket, r *http.Request) {
		asked = r
		echo(s, r)
	})
	d := stand(t, up, nil)
	s := d.dialSocket()
	long := strings.Repeat("long ", 30000)
	for _, f := range []struct {
		first   byte
		payload string
	}{
		{fin | capture.OpText, `{"type":"response.create"}`},
		{capture.OpText, "in "},
		{continuation, ""},
		{fin | capture.OpPing, "are you there?"},
		{continuation, "three "},
		{fin | continuation, "pieces"},
		{fin | capture.OpPong, ""},
		{fin | capture.OpText, ""},
		{fin | capture.OpBinary, "\x00\xff"},
		{fin | capture.OpText, long},
		{fin | capture.OpText, strings.Repeat("x", 126)},
		{fin | capture.OpClose, closing(1000, "bye")},
	} {
		s.send(f.first, f.payload)
		s.expect(f.first, f.payload)
	}
	if rest, err := io.ReadAll(s.r); len(rest) > 0 || err != nil {
		t.Errorf("then %q, %v", rest, err)
	}
	s.conn.Close()
	recs := d.endsWith(1, capture.EndEOF, capture.Client, "")
	if last := recs[len(recs)-1]; last.Why != "" {
		t.Errorf("an ordinary end because %s", last.Why)
	}
	want := []string{`{"type":"response.create"}`, "in three pieces", "\x00\xff", long, strings.Repeat("x", 126)}
	for _, side := range []capture.Side{capture.Request, capture.Response} {
		if got := pieces(recs, side); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("side %q: %.300q", side, got)
		}
	}
	if asked.Header.Get("Sec-WebSocket-Extensions") != "" || asked.Header.Get("Authorization") != "Bearer k" || asked.URL.Path != "/v1/responses" {
		t.Errorf("asked for %s with %v", asked.URL, asked.Header)
	}
	if n := notes(recs); !strings.Contains(n, "permessage-deflate") || strings.Contains(n, "\n") {
		t.Errorf("notes: %s", n)
	}
	if head := headOf(recs, capture.Response).Head; head.Status != 101 {
		t.Errorf("%+v", head)
	}
}

func TestWebSocketEndings(t *testing.T) {
	for _, test := range []struct {
		name   string
		server func(s *socket)
		client func(s *socket)
		end    capture.End
		by     capture.Party
		why    string
		left   string // recorded bytes of the upstream
	}{
		{"closed by the upstream", func(s *socket) { s.send(fin|capture.OpClose, closing(1011, "overloaded")) },
			func(s *socket) { s.expect(fin|capture.OpClose, closing(1011, "overloaded")) },
			capture.EndEOF, capture.Provider, "the upstream closed the WebSocket: 1011 overloaded", ""},
		{"without a code", func(s *socket) { s.send(fin|capture.OpClose, "") },
			func(s *socket) { s.expect(fin|capture.OpClose, "") }, capture.EndEOF, capture.Provider, "", ""},
		{"the upstream vanishes", func(s *socket) { s.send(fin|capture.OpText, "{}") },
			func(s *socket) { s.expect(fin|capture.OpText, "{}") },
			capture.EndCut, capture.Network, "the upstream ended the WebSocket without a Close", "{}"},
		{"in a message", func(s *socket) {
			s.send(capture.OpText, "{")
			s.conn.Write(frame(fin, "abcdef", false)[:4])
		},
			func(s *socket) { s.expect(capture.OpText, "{") },
			capture.EndCut, capture.Network, "the upstream ended the WebSocket without a Close", "{ab"},
		{"reset", func(s *socket) { s.receive(); s.conn.(*net.TCPConn).SetLinger(0) },
			func(s *socket) { s.send(fin|capture.OpText, "x") }, capture.EndCut, capture.Network, "reset", ""},
		{"the client closes", func(s *socket) { s.receive() },
			func(s *socket) { s.send(fin|capture.OpClose, closing(4000, "enough")) },
			capture.EndEOF, capture.Client, "the client closed the WebSocket: 4000 enough", ""},
		{"the upstream confirms what the client closed", func(s *socket) { s.receive(); s.send(fin|capture.OpClose, closing(4000, "enough")) },
			func(s *socket) {
				s.send(fin|capture.OpClose, closing(4000, "enough"))
				s.expect(fin|capture.OpClose, closing(4000, "enough"))
			},
			capture.EndEOF, capture.Client, "the client closed the WebSocket: 4000 enough", ""},
		{"the client vanishes", func(s *socket) { s.receive() },
			func(s *socket) { s.conn.Close() }, capture.EndCut, capture.Client, clientGone(0), ""},
		{"the client closes its half", func(s *socket) { s.receive() },
			func(s *socket) { s.conn.(*net.TCPConn).CloseWrite() }, capture.EndCut, capture.Client, clientGone(0), ""},
		{"an extension that was not negotiated", func(s *socket) { s.send(fin|0x40|capture.OpText, "zzz"); s.send(fin|capture.OpText, "{}") },
			func(s *socket) { s.expect(fin|0x40|capture.OpText, "zzz"); s.expect(fin|capture.OpText, "{}") },
			capture.EndCut, capture.Network, "without a Close", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			up := socketServer(t, func(s *socket, _ *http.Request) { test.server(s) })
			d := stand(t, up, nil)
			s := d.dialSocket()
			test.client(s)
			io.Copy(io.Discard, s.r)
			s.conn.Close()
			recs := d.endsWith(1, test.end, test.by, test.why)
			if whole := recorded(recs, capture.Response); whole != test.left {
				t.Errorf("recorded %q", whole)
			}
			lost := int64(0)
			for _, r := range recs {
				lost += r.Lost
			}
			if want := map[string]int64{"an extension that was not negotiated": int64(len(frame(0, "zzz", false)) + len(frame(0, "{}", false)))}[test.name]; lost != want {
				t.Errorf("%d bytes lost, want %d", lost, want)
			}
			if said := strings.Contains(notes(recs), "can't read them as WebSocket messages: a frame uses an extension"); said != (test.name == "an extension that was not negotiated") {
				t.Errorf("notes: %s", notes(recs))
			}
		})
	}
}

// TestWebSocketClosesByHalves checks that a side that has sent a Close may stop sending before the other side
// confirms the Close. The confirmation must still arrive.
func TestWebSocketClosesByHalves(t *testing.T) {
	bye := closing(4000, "bye")
	half := func(s *socket) {
		s.send(fin|capture.OpClose, bye)
		s.conn.(*net.TCPConn).CloseWrite()
		s.expect(fin|capture.OpClose, bye)
	}
	confirm := func(s *socket) {
		s.expect(fin|capture.OpClose, bye)
		if rest, err := io.ReadAll(s.r); len(rest) > 0 || err != nil {
			s.t.Errorf("then %q, %v", rest, err)
		}
		s.send(fin|capture.OpClose, bye)
	}
	for by, sides := range map[capture.Party][2]func(*socket){capture.Provider: {half, confirm}, capture.Client: {confirm, half}} {
		heard := make(chan bool)
		up := socketServer(t, func(s *socket, _ *http.Request) { defer close(heard); sides[0](s) })
		d := stand(t, up, nil)
		s := d.dialSocket()
		sides[1](s)
		s.conn.(*net.TCPConn).CloseWrite()
		<-heard
		d.endsWith(1, capture.EndEOF, by, "4000 bye")
	}
}

func TestWebSocketRefused(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no socket here", http.StatusUnauthorized) })
	d := stand(t, up, nil)
	resp, body := d.ask("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if resp.StatusCode != 401 || body != "no socket here\n" {
		t.Errorf("%s %q", resp.Status, body)
	}
	d.endsWith(1, capture.EndEOF, capture.Provider, "")
}

// TestWebSocketPings checks that pings and pongs from the upstream are recorded without content, and at most once a
// second.
func TestWebSocketPings(t *testing.T) {
	var clock atomic.Int64 // milliseconds
	next := make(chan bool)
	up := socketServer(t, func(s *socket, _ *http.Request) {
		for _, f := range []struct {
			at      int64
			first   byte
			payload string
		}{
			{2000, fin | capture.OpText, "{}"}, {2900, fin | capture.OpPing, "a"}, {3000, fin | capture.OpPing, "b"}, {3999, fin | capture.OpPong, ""},
			{4000, fin | capture.OpPong, ""}, {4500, fin | capture.OpText, "{}"}, {5400, fin | capture.OpPing, "c"}, {9000, fin | capture.OpClose, ""},
		} {
			clock.Store(f.at)
			s.send(f.first, f.payload)
			<-next
		}
	})
	began := time.Now()
	d := stand(t, up, func(o *Options) {
		o.Began = began
		o.Now = func() time.Time { return began.Add(time.Duration(clock.Load()) * time.Millisecond) }
	})
	s := d.dialSocket()
	for range 8 {
		if _, _, err := s.receive(); err != nil {
			t.Fatal(err)
		}
		next <- true
	}
	if _, _, err := s.receive(); err == nil { // the client must not end the connection first
		t.Error("the upstream did not end it")
	}
	s.conn.Close()
	var at []string
	for _, r := range d.endsWith(1, capture.EndEOF, capture.Provider, "") {
		if r.IsArrival() {
			at = append(at, r.At.String())
		}
	}
	if got := strings.Join(at, " "); got != "3s 4s" {
		t.Errorf("pings are recorded at %s", got)
	}
}
