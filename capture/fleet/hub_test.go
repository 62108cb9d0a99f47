//go:build !nohub

package fleet

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
)

// certificate writes a certificate and its private key to files and returns their paths.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	of := s.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(of.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: of.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// TestHubAuth checks that a hub rejects an --auth file that admits anyone or that sets more than permissions. A
// public hub also rejects a file that admits anyone through no_auth_user.
func TestHubAuth(t *testing.T) {
	_, public := keyOf(t)
	cert, key := certificate(t)
	for _, c := range []struct {
		text   string
		public bool
		want   string // a part of the error; "" if the hub starts
	}{
		{"", true, "the file admits anyone"},
		{"# no keys yet\n", true, "the file admits anyone"},
		{"authorization { users: [] }", true, "the file admits anyone"},
		{"authorization { timeout: 2 }", true, "the file admits anyone"},
		{`authorization { token: "" }`, false, "the file admits anyone"},
		{"no_auth_user: a\nauthorization { users: [ { user: a, password: b } ] }", true, "no_auth_user is a"},
		{"no_auth_user: a\nauthorization { users: [ { user: a, password: b } ] }", false, ""},
		{"authorization { users: [ { nkey: " + public + " } ] }", true, ""},
		{"authorization { user: a, password: b }", true, ""},
		{"authorization { token: abc }", true, ""},
		{"http: 8222\nauthorization { token: abc }", true, "more than permissions: http\n"},
		{"https_port: 8222\nauthorization { token: abc }", false, "more than permissions: https\n"},
		{"prof_port: 8222\nauthorization { token: abc }", false, "more than permissions: prof_port\n"},
		{"cluster { name: a, port: 6222 }\nauthorization { token: abc }", false, "more than permissions: cluster\n"},
		{"gateway { name: a, port: 7222 }\nauthorization { token: abc }", false, "more than permissions: gateway\n"},
		{"leafnodes { port: 7422 }\nauthorization { token: abc }", false, "more than permissions: leafnodes\n"},
		{"websocket { port: 8443, no_tls: true }\nauthorization { token: abc }", false, "more than permissions: websocket\n"},
		{"server_name: a\nmqtt { port: 1883 }\nauthorization { token: abc }", false, "more than permissions: mqtt\n"},
		{"leafnodes { remotes: [ { url: nats://127.0.0.1:7422 } ] }\nauthorization { token: abc }", false, "more than permissions: leafnodes\n"},
		{fmt.Sprintf("tls { cert_file: %q, key_file: %q }\n", cert, key) + "authorization { token: abc }", false, "more than permissions: tls (use"},
		{"authorization { token: abc }\nmax_payload: 4MB", false, ""},
	} {
		file := filepath.Join(t.TempDir(), "auth.conf")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		o := HubOptions{Listen: "127.0.0.1:0", Store: t.TempDir(), Keep: time.Hour, KeepBytes: 1 << 20, Auth: file, Public: c.public, Log: func(string) {}}
		h, err := StartHub(context.Background(), o)
		if err == nil {
			h.Close()
		}
		switch {
		case (err == nil) != (c.want == ""):
			t.Errorf("%q, public %v: %v", c.text, c.public, err)
		case err != nil && (!strings.Contains(err.Error(), "--auth "+file+": ") || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: %v", c.text, err)
		}
	}
}

// TestHubKeepsLess checks that a hub starts with a size limit that differs from the one it was created with,
// and keeps its messages.
func TestHubKeepsLess(t *testing.T) {
	h := newHub(t, nil)
	p := publish(t, h.sending(t, "a"))
	put(p, 1, 0)
	sent(t, p, 1)
	for _, most := range []int64{64 << 20, 2 << 30} {
		h.Close()
		h.o.KeepBytes = most
		h.start()
		stream, err := h.admin().Stream(context.Background(), StreamName)
		if err != nil {
			t.Fatal(err)
		}
		if got := stream.CachedInfo(); got.Config.MaxBytes != most || got.State.Msgs == 0 {
			t.Errorf("it keeps %d bytes in place of %d, and has %d messages", got.Config.MaxBytes, most, got.State.Msgs)
		}
	}
}

// TestHubStopped checks that StartHub returns context.Canceled if the hub is stopped while it is starting.
func TestHubStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := StartHub(ctx, HubOptions{Listen: "127.0.0.1:0", Store: t.TempDir(), Keep: time.Hour, KeepBytes: 1 << 20, Log: func(string) {}})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestHubTwice checks that a second hub doesn't start on the store of a running one, because each would lose
// captures. After the first has stopped, another hub can use the folder.
func TestHubTwice(t *testing.T) {
	h := newHub(t, nil)
	p := publish(t, h.sending(t, "a"))
	put(p, 1, 0)
	sent(t, p, 1)
	o := h.o
	o.Listen = "127.0.0.1:0"
	other, err := StartHub(context.Background(), o)
	if err == nil {
		other.Close()
		t.Fatal("there are two")
	}
	if want := "--store " + o.Store + ": another hub uses this folder\n"; !strings.HasPrefix(err.Error(), want) {
		t.Error(err)
	}
	h.same(t, p)
	h.Close()
	h.start()
	h.same(t, p)
}

// TestSmallMessages checks that a hub with a small max_payload gets all data, split into more messages. A call that
// is too long for the index is counted, and the other calls are indexed.
func TestSmallMessages(t *testing.T) {
	file := filepath.Join(t.TempDir(), "auth.conf")
	if err := os.WriteFile(file, []byte("max_payload: 4096\nauthorization { token: abc }"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newHub(t, func(o *HubOptions) { o.Auth = file })
	o := h.indexing(t, "a")
	o.Auth.Token = "abc"
	p := publish(t, o)
	var long []byte
	for n := range 2000 {
		long = fmt.Append(long, n*n)
	}
	for _, c := range keep.Take(capture.Record{Exchange: 1, Data: long}) {
		p.Put(c)
	}
	put(p, 1, 1)
	finish(p, 1)
	sent(t, p, 3)
	v := viewAs(t, o.Auth, h.URL()+"?until=now", nil)
	eventually(t, "all is read", func() bool { return v.text() == string(long)+wants(1, 1, 2) })
	eventually(t, "the long call is counted", func() bool {
		s := p.Progress().Index
		return s.Calls == 1 && strings.Contains(s.Why, "is too large for the hub")
	})
	calls := viewAs(t, o.Auth, h.URL()+"?since=1h&status=complete", nil)
	eventually(t, "the other call is told", func() bool { return strings.Contains(calls.text(), wants(1, 1, 2)) })
}

// TestHubURL checks that URL returns the address that the hub was told to listen on, even if the system reports
// another one.
func TestHubURL(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "0.0.0.0", ""} {
		h, err := StartHub(context.Background(), HubOptions{Listen: host + ":0", Store: t.TempDir(), Keep: time.Hour, KeepBytes: 1 << 20, Log: func(string) {}})
		if err != nil {
			t.Fatal(err)
		}
		url := h.URL()
		v, err := Open(context.Background(), Address{Server: url}, Credentials{})
		if err != nil {
			t.Errorf("%s: %v", url, err)
		} else {
			v.link.Close()
		}
		h.Close()
		if want := "nats://" + cmp.Or(host, "0.0.0.0") + ":"; !strings.HasPrefix(url, want) || strings.HasSuffix(url, ":0") {
			t.Errorf("%s, wanted %s", url, want)
		}
	}
}
