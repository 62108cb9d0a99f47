package mock

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
)

// client is the client's end of a WebSocket.
type client struct {
	t    *testing.T
	conn net.Conn
	got  chan string // messages; closed at the end of the connection
}

// dial opens a WebSocket.
func dial(t *testing.T, server *httptest.Server, path string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a2V5\r\n\r\n", path)
	r := bufio.NewReader(conn)
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != 101 || res.Header.Get("Sec-Websocket-Accept") != capture.WebSocketAcceptKey("a2V5") || res.Header.Get("Connection") != "Upgrade" ||
		res.Header.Get("X-Own") != "7" || len(res.Header.Values("Upgrade")) != 1 {
		t.Fatalf("%s %v", res.Status, res.Header)
	}
	c := &client{t, conn, make(chan string, 100)}
	go func() {
		defer close(c.got)
		note := func(opcode byte, p []byte) { c.got <- fmt.Sprintf("%#x %s", opcode, p) }
		reader := capture.WebSocketReader{Control: note}
		for buffer := make([]byte, 100); ; {
			n, err := r.Read(buffer)
			reader.Write(buffer[:n], func(message []byte, _ uint64) { c.got <- string(message) })
			if err != nil {
				if errors.Is(err, os.ErrDeadlineExceeded) {
					c.got <- "no end"
				}
				return
			}
		}
	}()
	return c
}

// send sends a frame, masked with zeros, which don't change its bytes.
func (c *client) send(opcode byte, payload string) {
	f := capture.AppendWebSocketFrame(nil, opcode, []byte(payload))
	head := len(f) - len(payload)
	f[1] |= 0x80
	f = append(append(append([]byte{}, f[:head]...), 0, 0, 0, 0), payload...)
	if _, err := c.conn.Write(f); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) expect(want ...string) {
	c.t.Helper()
	for _, w := range want {
		if got, ok := <-c.got; got != w || !ok {
			c.t.Fatalf("got %q, %t; want %q", got, ok, w)
		}
	}
}

func (c *client) expectEnd() {
	c.t.Helper()
	if got, ok := <-c.got; ok {
		c.t.Fatalf("got %q", got)
	}
}

const (
	warmUp  = `{"type":"response.create","model":"m","generate":false,"input":[{"role":"user"}],"tools":[{"type":"function","name":"f"}]}`
	first   = `{"type":"response.create","model":"m","input":[{"role":"user"}],"tools":[{"type":"function","name":"f"}]}`
	second  = `{"type":"response.create","model":"m","input":[{"type":"function_call_output","call_id":"call_1"}],"tools":[{"type":"function","name":"f"}]}`
	third   = `{"type":"response.create","model":"m","input":[{"type":"function_call_output","call_id":"call_2"}],"tools":[{"type":"function","name":"f"}]}`
	last    = `{"type":"response.completed","a":4}`
	another = `{"type":"response.create","model":"other","input":[{"role":"user"}],"tools":[{"type":"function","name":"f"}]}`
)

// talked returns the exchanges of a session on two WebSockets.
func talked(t *testing.T) []Exchange {
	var b strings.Builder
	b.WriteString(`{"toolscope":1}` + "\n")
	open := func(x int) {
		fmt.Fprintf(&b, `{"x":%d,"side":"request","head":{"method":"GET","url":"wss://h/v1/responses"}}`+"\n", x)
		fmt.Fprintf(&b, `{"x":%d,"head":{"status":101,"header":{"Upgrade":["websocket"],"X-Own":["7"]}}}`+"\n", x)
	}
	say := func(x int, side, text string) { fmt.Fprintf(&b, `{"x":%d,"side":"%s","d":%q}`+"\n", x, side, text) }
	open(1)
	say(1, "", `{"hello":1}`)
	say(1, "request", warmUp)
	say(1, "", `{"warm":1}`)
	say(1, "request", first)
	open(2)
	say(2, "request", another)
	say(1, "", `{"a":1}`)
	say(1, "", `{"a":2}`)
	say(2, "", `{"other":1}`)
	say(1, "request", second)
	say(1, "", `{"a":3}`)
	say(1, "request", third)
	say(1, "", last)
	b.WriteString(`{"x":1,"end":"cut","why":"the client went away","by":"client"}` + "\n" + `{"x":2,"end":"cut","why":"reset","by":"network"}` + "\n")
	return opened(t, b.String())
}

// TestSocket checks that each message gets the recorded response to the most similar message, on any
// connection. A Ping gets a Pong, and a Close gets a Close.
func TestSocket(t *testing.T) {
	asked := make(chan Response, 100)
	server := httptest.NewServer(New(Options{Exchanges: talked(t), OnResponse: func(a Response) { asked <- a }}))
	defer server.Close()
	c := dial(t, server, "/openai/responses")
	c.expect(`{"hello":1}`)
	for _, round := range []struct{ ask, want string }{
		{warmUp, `{"warm":1}`},
		{strings.Replace(first, `"role"`, `"text":"the clock shows 12:31","role"`, 1), `{"a":1}`},
		{"", `{"a":2}`}, {second, `{"a":3}`}, {third, last},
		{third, last}, {second, `{"a":3}`}, {warmUp, `{"warm":1}`}, // the session again
	} {
		if round.ask != "" {
			c.send(capture.OpText, round.ask)
		}
		c.expect(round.want)
	}
	c.send(capture.OpPing, "there?")
	c.expect("0xa there?")
	c.send(capture.OpClose, "\x03\xe8")
	c.expect("0x8 \x03\xe8")
	c.expectEnd()
	other := dial(t, server, "/v1/responses")
	other.send(capture.OpText, another)
	other.expect(`{"hello":1}`, `{"other":1}`)
	other.expectEnd() // the recorded connection broke here
	var messages []int
	for len(asked) > 0 {
		if a := <-asked; a.Method == "message to" {
			messages = append(messages, len(a.Exchange.Chunks))
		}
	}
	if want := []int{1, 2, 1, 1, 1, 1, 1, 1}; !slices.Equal(messages, want) {
		t.Errorf("messages with %d responses, want %d", messages, want)
	}
}

// TestSocketBroken checks that a connection ends after a frame that breaks the rules.
func TestSocketBroken(t *testing.T) {
	server := httptest.NewServer(New(Options{Exchanges: talked(t)}))
	defer server.Close()
	c := dial(t, server, "/v1/responses")
	c.expect(`{"hello":1}`)
	c.send(0x3, "an unknown kind")
	c.expectEnd()
}

// TestReadSocket checks that Read makes an exchange from each message of the client, with times since that message. An
// exchange is cut if the client left before its response ended.
func TestReadSocket(t *testing.T) {
	list := opened(t, `{"toolscope":1}`+"\n"+
		`{"x":1,"t":10,"side":"request","head":{"method":"GET","url":"wss://h/v1/responses"}}`+"\n"+
		`{"x":1,"t":20,"head":{"status":101}}`+"\n"+
		fmt.Sprintf(`{"x":1,"t":30,"side":"request","d":%q}`+"\n", first)+
		fmt.Sprintf(`{"x":1,"t":45,"d":%q}`+"\n", last)+
		fmt.Sprintf(`{"x":1,"t":50,"side":"request","d":%q}`+"\n", second)+
		`{"x":1,"t":57,"d":"{\"a\":3}"}`+"\n"+
		`{"x":1,"t":60,"end":"cut","why":"the client went away","by":"client"}`+"\n")
	var got []string
	for _, x := range list {
		line := fmt.Sprint(len(x.Asked), " head ", x.HeadAfter, " end ", x.EndAfter, " cut ", x.Cut)
		for _, c := range x.Chunks {
			line += fmt.Sprint(", ", len(c.Data), " after ", c.After)
		}
		got = append(got, line)
	}
	want := []string{
		"0 head 0s end 0s cut false",
		fmt.Sprintf("%d head 0s end 15ms cut false, %d after 15ms", len(first), len(last)),
		fmt.Sprintf("%d head 0s end 7ms cut true, 7 after 7ms", len(second)),
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestSocketFaults checks that warm-up messages get no faults, and that a connection breaks where a fault
// requires it.
func TestSocketFaults(t *testing.T) {
	server := httptest.NewServer(New(Options{Exchanges: talked(t), Faults: faults(t, "cut@1x1", "repeat")}))
	defer server.Close()
	c := dial(t, server, "/v1/responses")
	c.send(capture.OpText, warmUp)
	c.expect(`{"hello":1}`, `{"warm":1}`)
	c.send(capture.OpText, first)
	c.expect(`{"a":1}`)
	c.expectEnd()
	c = dial(t, server, "/v1/responses")
	c.send(capture.OpText, second)
	c.expect(`{"hello":1}`, `{"a":3}`, `{"a":3}`)
}

// TestSocketRefused checks that a status fault answers the request that would open a WebSocket. If no
// WebSocket was recorded, the provider's recorded response is sent.
func TestSocketRefused(t *testing.T) {
	server := httptest.NewServer(New(Options{Exchanges: talked(t), Faults: faults(t, "status=503x1")}))
	defer server.Close()
	upgrade := func(server *httptest.Server) int {
		r, _ := http.NewRequest("GET", server.URL+"/v1/responses", nil)
		r.Header.Set("Upgrade", "websocket")
		r.Header.Set("Connection", "Upgrade")
		resp, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if one, two := upgrade(server), upgrade(server); one != 503 || two != 101 {
		t.Error(one, two)
	}
	without := httptest.NewServer(New(Options{Exchanges: []Exchange{{Method: "GET", URL: "/v1/responses", Status: 426}}}))
	defer without.Close()
	if status := upgrade(without); status != 426 {
		t.Error(status)
	}
}
