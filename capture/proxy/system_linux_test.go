package proxy

import (
	"net"
	"testing"
	"time"
)

func TestHasOpenSocket(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Skip(err)
		}
		defer l.Close()
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		isOpen := func() bool { return hasOpenSocket(addrPort(client.LocalAddr().String()), addrPort(l.Addr().String())) }
		if !isOpen() {
			t.Errorf("%s: not found", address)
		}
		client.(*net.TCPConn).CloseWrite()
		server.Read(make([]byte, 1)) // io.EOF
		if !isOpen() {
			t.Errorf("%s: a half-closed socket is gone", address)
		}
		client.Close()
		for end := time.Now().Add(20 * time.Second); isOpen(); {
			if time.Now().After(end) {
				t.Fatalf("%s: a closed socket is open", address)
			}
		}
		if hasOpenSocket(addrPort("127.0.0.1:1"), addrPort(l.Addr().String())) {
			t.Errorf("%s: a socket that never was is open", address)
		}
	}
}
