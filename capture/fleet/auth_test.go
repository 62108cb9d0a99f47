//go:build !nohub

package fleet

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// keyOf writes a new key to a file and returns the file and the public key.
func keyOf(t *testing.T) (file, public string) {
	t.Helper()
	seed, public, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, seed, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, public
}

// exampleAuth writes a file for --auth with the example from the help page ui/docs/hubs.md, using these public keys.
func exampleAuth(t *testing.T, host, viewer string) (file string) {
	t.Helper()
	page, err := os.ReadFile("../../ui/docs/hubs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "```\nauthorization {")
	text, _, ends := strings.Cut(text, "```")
	if !found || !ends || strings.Count(text, "UA…") != 1 || strings.Count(text, "UB…") != 1 {
		t.Fatalf("the page has no such example: %q", text)
	}
	text = strings.NewReplacer("UA…", host, "UB…", viewer).Replace("authorization {" + text)
	file = filepath.Join(t.TempDir(), "auth.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestAuth checks the permissions that the help page gives as an example. A sender may send as itself and ask how
// much of its capture the hub has. It may not send as another machine, read or delete. A viewer may not send or
// delete.
func TestAuth(t *testing.T) {
	t.Parallel()
	hostKey, host := keyOf(t)
	viewKey, viewer := keyOf(t)
	file := exampleAuth(t, host, viewer)
	h := newHub(t, func(o *HubOptions) {
		o.Auth, o.Log = file, func(text string) {
			if strings.Contains(text, "Plaintext") {
				t.Errorf("with keys alone it complains: %s", text)
			}
		}
	})
	as := func(auth Credentials) *link {
		l, err := dialHub(h.URL(), auth, false, func() {}, func(error) {})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.Close)
		return l
	}
	if _, err := nats.Connect(h.URL()); err == nil {
		t.Error("anybody can connect")
	}
	msg := func(host string) *nats.Msg {
		m := nats.NewMsg(captureSubject(bytesKind, host, "main", "00"))
		m.Header.Set(headSpan, "0-1")
		m.Header.Set(headExpect, "0")
		m.Data = []byte("x")
		return m
	}
	quick := func() context.Context {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second/2)
		t.Cleanup(cancel)
		return ctx
	}
	sending := h.indexing(t, "web1")
	sending.Auth.NKey = hostKey
	p := publish(t, sending)
	put(p, 1, 0)
	sent(t, p, 1)
	web1 := p.link
	if _, err := web1.publish(quick(), msg("web2")); err == nil {
		t.Error("web1 sends as web2")
	}
	call := func(host string) *nats.Msg {
		return nats.NewMsg(indexSubject(subjectParts{version, host, "main", "00"}, "m", "complete"))
	}
	if _, err := web1.publish(quick(), call("web1")); err != nil {
		t.Errorf("web1 cannot tell of its own calls: %v", err)
	}
	if _, err := web1.publish(quick(), call("web2")); err == nil {
		t.Error("web1 tells of calls of web2")
	}
	if _, _, err := web1.lastMessage(quick(), captureSubject(bytesKind, "web2", "main", "00")); err == nil {
		t.Error("web1 reads of web2")
	}
	heard, err := web1.SubscribeSync("_INBOX.>")
	if err == nil {
		err = web1.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	viewing := as(Credentials{NKey: viewKey})
	if _, err := viewing.publish(quick(), msg("web1")); err == nil {
		t.Error("the viewer sends")
	}
	if _, err := viewing.publish(quick(), call("web1")); err == nil {
		t.Error("the viewer tells of calls")
	}
	for _, name := range []string{StreamName, IndexName} {
		if err := viewing.js.DeleteStream(quick(), name); err == nil {
			t.Errorf("the viewer deletes %s", name)
		}
		if _, err := web1.js.CreateConsumer(quick(), name, jetstream.ConsumerConfig{}); err == nil {
			t.Errorf("web1 reads %s", name)
		}
	}
	v := viewAs(t, Credentials{NKey: viewKey}, h.URL()+"?until=now", nil)
	eventually(t, "the viewer reads", func() bool { return v.text() == "<1:0>" })
	calls := viewAs(t, Credentials{NKey: viewKey}, h.URL()+"?model=m.1&since=1h", nil)
	eventually(t, "the viewer reads by the index", func() bool { return calls.text() == "<1:0>" })
	if err := web1.Flush(); err != nil { // after this, all messages sent to web1 so far will have arrived
		t.Fatal(err)
	}
	if n, _, _ := heard.Pending(); n > 0 {
		t.Errorf("web1 hears %d messages that were for the viewer", n)
	}
}
