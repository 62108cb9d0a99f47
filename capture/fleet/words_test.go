//go:build !nohub

package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// toldThat waits until the reported trouble contains want, and checks that it doesn't use the NATS library's own
// words.
func toldThat(t *testing.T, p *Publisher, want string) {
	t.Helper()
	over, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); _ = p.Close(over) }) // doesn't wait for data that can't be sent
	eventually(t, want, func() bool { return strings.Contains(p.Progress().Trouble, want) })
	s := p.Progress()
	if strings.Contains(s.Trouble, "nats:") || strings.Contains(s.Trouble, "\n") {
		t.Errorf("%q", s.Trouble)
	}
}

// authFile writes a file for --auth with one user who has the given permissions.
func authFile(t *testing.T, public, permissions string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "auth.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, "authorization { users = [ { nkey: %s, permissions: { %s } } ] }", public, permissions), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const hostMay = `publish: ["toolscope.v1.b.*.web1.>", "$JS.API.DIRECT.GET.TOOLSCOPE.toolscope.v1.b.*.web1.>", "$JS.API.STREAM.INFO.TOOLSCOPE"], subscribe: ["_INBOX.web1.>"]`

// TestWrongKey checks that, if the hub doesn't know a key, the error says so.
func TestWrongKey(t *testing.T) {
	t.Parallel()
	_, public := keyOf(t)
	other, _ := keyOf(t)
	h := newHub(t, func(o *HubOptions) { o.Auth = authFile(t, public, hostMay) })
	sending := h.sending(t, "web1")
	sending.Auth.NKey = other
	p := publish(t, sending)
	put(p, 1, 0)
	const want = "the hub can't be reached: the hub doesn't accept your credentials (see --nkey"
	toldThat(t, p, want)
	closeNow(p)
	if s := p.Progress().Trouble; !strings.HasPrefix(s, want) {
		t.Errorf("at the end it is %q", s)
	}
	if _, err := Open(context.Background(), Address{Server: h.URL()}, Credentials{NKey: other}); err == nil || !strings.Contains(err.Error(), "the hub doesn't accept your credentials") {
		t.Error(err)
	}
}

// TestDenied checks that an action that the hub denies a machine is reported as soon as it is refused.
func TestDenied(t *testing.T) {
	key, public := keyOf(t)
	for _, c := range []struct{ name, may, want, index string }{
		{"another host", strings.ReplaceAll(hostMay, "web1", "web2"), "the hub doesn't allow you to receive its answers at _INBOX.web1", ""},
		{"asking", strings.ReplaceAll(hostMay, "$JS.API.DIRECT", "x"), "the hub doesn't allow you to send the request $JS.API.DIRECT.GET.TOOLSCOPE.", ""},
		{"sending", strings.Replace(hostMay, "toolscope.v1.b", "x", 1), "the hub doesn't allow you to publish as web1", ""},
		{"the index", hostMay, "", "the hub doesn't allow you to index calls as web1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHub(t, func(o *HubOptions) { o.Auth = authFile(t, public, c.may) })
			sending := h.indexing(t, "web1")
			sending.Auth.NKey = key
			p := publish(t, sending)
			put(p, 1, 0)
			finish(p, 1)
			if c.index == "" {
				toldThat(t, p, c.want)
				over := make(chan struct{})
				go func() { defer close(over); _ = p.Close(context.Background()) }()
				eventually(t, "at the end nobody waits for that", func() bool { return isClosed(over) })
				return
			}
			sent(t, p, 2)
			eventually(t, c.index, func() bool { return p.Progress().Index.Why == c.index })
		})
	}
}

// TestViewDenied checks that opening a view with a machine's key returns an error that says so.
func TestViewDenied(t *testing.T) {
	key, public := keyOf(t)
	h := newHub(t, func(o *HubOptions) { o.Auth = authFile(t, public, hostMay) })
	_, err := Open(context.Background(), Address{Server: h.URL()}, Credentials{NKey: key})
	if err == nil || !strings.HasSuffix(err.Error(), "the hub doesn't allow you to receive its answers at _INBOX: is this a viewer's key?") {
		t.Error(err)
	}
}

// TestDeniedSeldom checks that requests that the hub denies are repeated ever less often, because the hub logs each
// of them. Other errors may be over soon, so the pause after them is shorter.
func TestDeniedSeldom(t *testing.T) {
	no := fmt.Errorf("it says: %w", &deniedError{"publish as a"})
	for _, c := range []struct {
		err  error
		most time.Duration
	}{{errDown, maxRetryPause}, {no, maxDeniedPause}} {
		pause := minRetryPause
		for range 20 {
			pause = nextBackoff(pause, c.err)
		}
		if pause != c.most {
			t.Errorf("%v: %v", c.err, pause)
		}
	}
	if nextBackoff(maxDeniedPause, errDown) != maxRetryPause || pauseAfter(no) != maxDeniedPause || pauseAfter(errNoIndex) != noIndexPause {
		t.Error("what else goes wrong waits as long, or that does not")
	}
}

// TestNoHubThere checks that the error for a NATS server without captures says what the server lacks and how to add
// it.
func TestNoHubThere(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(s.Shutdown)
	eventually(t, "it listens", func() bool { return s.ReadyForConnections(10 * time.Millisecond) })
	p := publish(t, PublishOptions{Server: s.ClientURL(), Host: "a", Agent: "main", Spool: t.TempDir(), Limit: 1 << 30})
	put(p, 1, 0)
	toldThat(t, p, "the hub is a NATS server without JetStream")

	h := newHub(t, nil)
	if err := h.admin().DeleteStream(context.Background(), StreamName); err != nil {
		t.Fatal(err)
	}
	p = publish(t, h.sending(t, "a"))
	put(p, 1, 0)
	toldThat(t, p, "the hub has no stream TOOLSCOPE")
	if s := p.Progress(); s.Remedy != addStream {
		t.Errorf("%q", s.Remedy)
	}
	if _, err := h.admin().CreateStream(context.Background(), jetstream.StreamConfig{Name: StreamName, Subjects: []string{"other"}, AllowDirect: true}); err != nil {
		t.Fatal(err)
	}
	toldThat(t, p, "the hub's stream refuses the message")
}

// TestWords checks that errors of the NATS library are reported in words that a hub's users understand.
func TestWords(t *testing.T) {
	for want, err := range map[string]error{
		"the hub does not answer":             context.DeadlineExceeded,
		"the hub ended the connection":        fmt.Errorf("read: %w", io.EOF),
		"no such file or directory":           &os.PathError{Op: "open", Path: "x", Err: errors.New("no such file or directory")},
		"slow consumer, messages dropped":     nats.ErrSlowConsumer,
		"the connection broke":                nats.ErrReconnectBufExceeded, // see TestNothingLate
		"the message is too long for the hub": nats.ErrMaxPayload,
	} {
		if got, _ := inWords(err); got != want {
			t.Errorf("%v: %q", err, got)
		}
	}
}

// TestAuthFiles checks that the error for an unreadable file names its flag and not the hub.
func TestAuthFiles(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, auth := range map[string]Credentials{
		"--hub-ca none: no such file or directory":                 {CA: "none"},
		"--hub-ca " + empty + ": the file contains no certificate": {CA: empty},
		"--creds none: no such file or directory":                  {Creds: "none"},
		"--creds " + empty + ": ":                                  {Creds: empty},
		"--nkey none: no such file or directory":                   {NKey: "none"},
	} {
		if _, err := Open(context.Background(), Address{Server: "tls://127.0.0.1:1"}, auth); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v in place of %s", err, want)
		}
	}
}
