package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
)

// TestHeadIsWatchedInPieces checks that a Content-Length is found wherever the head is cut, but only if it is a field
// of the head.
func TestHeadIsWatchedInPieces(t *testing.T) {
	for request, has := range map[string]bool{
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nX: y\r\n\r\nhi":   true,
		"POST / HTTP/1.1\nX: y\ncontent-length: 2\n\nhi":                      true,
		"POST / HTTP/1.1\r\nX: Content-Length: 2\r\n\r\nhi":                   false,
		"POST / HTTP/1.1\r\nX-Content-Length: 2\r\n\r\nContent-Length: 2\r\n": false,
	} {
		for cut := range request {
			c := &headWatch{Conn: readFrom{Reader: io.MultiReader(strings.NewReader(request[:cut]), strings.NewReader(request[cut:]))}}
			if got, err := io.ReadAll(c); string(got) != request || err != nil {
				t.Fatalf("%q, %v", got, err)
			}
			if c.length != has {
				t.Errorf("%q cut at %d: %v", request, cut, c.length)
			}
		}
	}
}

// readFrom is a connection that can only be read.
type readFrom struct {
	net.Conn
	io.Reader
}

func (c readFrom) Read(p []byte) (int, error) { return c.Reader.Read(p) }

// TestOwnPorts checks that the proxy recognises an upstream URL that leads to the proxy itself, even if the URL has
// only the scheme's default port.
func TestOwnPorts(t *testing.T) {
	for _, test := range []struct {
		port     int
		upstream string
		own      bool
	}{
		{80, "http://localhost", true},
		{80, "http://127.0.0.1:80/v1", true},
		{443, "https://localhost", true},
		{80, "https://localhost", false},
		{443, "http://localhost", false},
		{8080, "http://localhost", false},
		{80, "http://api.example.com", false},
	} {
		at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: test.port}
		r := httptest.NewRequest("GET", "/", nil)
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(at)))
		if own := isOwn(r, upstreamAt(t, test.upstream)); own != test.own {
			t.Errorf("%s, asked at port %d: %v", test.upstream, test.port, own)
		}
	}
	if isOwn(httptest.NewRequest("GET", "/", nil), upstreamAt(t, "http://localhost")) {
		t.Error("a request that came in nowhere")
	}
}

// TestCloseWrite checks that one side alone can be closed, if the connection supports that.
func TestCloseWrite(t *testing.T) {
	one, other := net.Pipe()
	defer other.Close()
	defer one.Close()
	if err := (&headWatch{Conn: one}).CloseWrite(); !errors.Is(err, errors.ErrUnsupported) {
		t.Error("a pipe:", err)
	}
	said := errors.New("closed")
	if err := (&headWatch{Conn: closesHalf{one, said}}).CloseWrite(); err != said {
		t.Error("a connection that can:", err)
	}
}

type closesHalf struct {
	net.Conn
	says error
}

func (c closesHalf) CloseWrite() error { return c.says }

// TestLimits checks that the default limits are as documented, and that limits that are set are kept.
func TestLimits(t *testing.T) {
	if l := (Limits{}).orDefaults(); l != (Limits{1 << 20, 10 * time.Second, 10 * time.Minute}) {
		t.Errorf("%+v", l)
	}
	if l := (Limits{1, 2, 3}); l.orDefaults() != l {
		t.Errorf("%+v", l.orDefaults())
	}
}

// TestTimesCountFrom checks that times are counted from the creation of the proxy, or from Options.Began.
func TestTimesCountFrom(t *testing.T) {
	now := time.Unix(100, 0)
	o := Options{Routes: []Route{{Prefix: "/", Upstream: upstreamAt(t, "http://127.0.0.1:1")}}, Record: func(capture.Record) {}, Now: func() time.Time { return now }}
	made, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	o.Began = time.Unix(40, 0)
	told, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(3 * time.Second)
	if made.recordTime() != 3*time.Second || told.recordTime() != 63*time.Second {
		t.Errorf("%v since it was made, %v since it began", made.recordTime(), told.recordTime())
	}
}
