//go:build linux

package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"toolscope/capture"
)

// TestHalfClosedClient checks that a client that ends its side of the connection after the request still gets its
// response, whenever the response begins.
func TestHalfClosedClient(t *testing.T) {
	for when, want := range map[string]string{"before the head": "data: 2\n\n", "in the body": "data: 1\n\ndata: 2\n\n"} {
		t.Run(when, func(t *testing.T) {
			asked, goOn := make(chan bool), make(chan bool)
			up := serve(t, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				if when == "in the body" {
					sendNow(w, "data: 1\n\n")
				}
				asked <- true
				select {
				case <-goOn:
					io.WriteString(w, "data: 2\n\n")
				case <-r.Context().Done():
				}
			})
			d := stand(t, up, nil)
			ended := make(chan (<-chan struct{}), 1) // closed when net/http reports the client as gone
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ended <- r.Context().Done()
				d.proxy.ServeHTTP(w, r)
			}))
			defer front.Close()
			c, err := net.Dial("tcp", front.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(patience))
			io.WriteString(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi")
			<-asked
			c.(*net.TCPConn).CloseWrite()
			<-<-ended
			select {
			case goOn <- true:
			case <-time.After(patience):
			}
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(resp.Body); string(body) != want || err != nil {
				t.Errorf("%q, %v", body, err)
			}
			d.endsWith(1, capture.EndEOF, capture.Provider, "")
		})
	}
}
