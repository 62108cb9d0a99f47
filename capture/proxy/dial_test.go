package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
)

// TestNameOfForbiddenAddress checks that dialling fails if a harmless name resolves to a forbidden address, such as
// that of a metadata service. Dialling must not fail for the loopback.
func TestNameOfForbiddenAddress(t *testing.T) {
	for _, addr := range []string{"169.254.169.254", "100.100.100.200", "127.0.0.1"} {
		resolver := &net.Resolver{PreferGo: true, Dial: nameServer(t, net.ParseIP(addr).To4())}
		var connected bool
		spy := func(ctx context.Context, network, address string) (net.Conn, error) {
			ctx, stop := context.WithTimeout(ctx, patience)
			defer stop()
			c, err := dialGuard{resolver}.dialChecked(ctx, network, address)
			connected = err == nil
			return c, err
		}
		up := upstreamAt(t, serve(t, func(http.ResponseWriter, *http.Request) {}))
		d := stand(t, "http://harmless.example:"+up.Port(), func(o *Options) { o.Dial = spy })
		resp := d.get("/")
		body, _ := io.ReadAll(resp.Body)
		if allowed := addr == "127.0.0.1"; connected != allowed || (resp.StatusCode == 200) != allowed {
			t.Errorf("%s: %s %q, connected %v", addr, resp.Status, body, connected)
		} else if !allowed && !strings.Contains(string(body), "harmless.example resolves to "+addr) {
			t.Errorf("%s: %s %q", addr, resp.Status, body)
		}
	}
}

func TestForbiddenAddresses(t *testing.T) {
	for address, forbidden := range map[string]bool{
		"169.254.0.1:80": true, "[::ffff:169.254.169.254]:80": true, "[fe80::1%eth0]:443": true, "[fd00:ec2::254]:80": true,
		"[64:ff9b::169.254.169.254]:80": true, "[64:ff9b:1::a9fe:a9fe]:80": true, "[::169.254.169.254]:80": true, "[2002:a9fe:a9fe::1]:80": true,
		"[2002:a00:1:a9fe:a9fe::]:80": false, "[2003:a9fe:a9fe::1]:80": false,
		"[fd20:ce::254]:80": true, "100.100.100.200:80": true, "224.0.0.1:80": true, "garbage": true,
		"127.0.0.1:80": false, "10.0.0.1:80": false, "[::1]:80": false, "[fd00::1]:80": false, "8.8.8.8:443": false,
	} {
		if err := checkAddress("x.example", address); (err != nil) != forbidden {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestNamedAddress checks that an address is dialled if the upstream's URL names it directly, even if it is a
// forbidden one. No server listens at the address in this test.
func TestNamedAddress(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	c, err := dialGuard{}.dialChecked(ctx, "tcp", "[fe80::1%lo]:1")
	if err == nil {
		c.Close()
	}
	if errors.Is(err, errForbidden) {
		t.Error(err)
	}
}

// nameServer answers each question about an IPv4 address with addr, and any other question with an empty answer (RFC
// 1035 §4.1).
func nameServer(t *testing.T, addr net.IP) func(context.Context, string, string) (net.Conn, error) {
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(buf)
			if err != nil {
				return
			}
			end := 12
			for end < n && buf[end] != 0 {
				end += 1 + int(buf[end])
			}
			end += 5
			reply := append([]byte{buf[0], buf[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, buf[12:end]...)
			if buf[end-3] == 1 {
				reply[7] = 1
				reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				reply = append(reply, addr...)
			}
			server.WriteTo(reply, from)
		}
	}()
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}
}

func TestUpstreamsAreVerified(t *testing.T) {
	p, err := New(Options{Routes: []Route{{Prefix: "/", Upstream: upstreamAt(t, "https://a.example")}}, Record: func(capture.Record) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context())
	if c := p.transport.TLSClientConfig; c.InsecureSkipVerify || c.MinVersion < tls.VersionTLS12 {
		t.Errorf("%+v", c)
	}
}
