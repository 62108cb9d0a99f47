//go:build !nohub

package fleet

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// TestRemoved checks that a segment that was removed from the spool before it was sent is reported as lost
// with its file name, and that the rest is sent.
func TestRemoved(t *testing.T) {
	addr := freePort(t)
	o := PublishOptions{Server: "nats://" + addr, Host: "a", Agent: "main", Spool: t.TempDir(), Limit: 512 << 10, By: "test", Index: callsOf}
	p := publish(t, o)
	const records = 5_000
	for n := range records {
		put(p, 1, n)
	}
	eventually(t, "everything is written", func() bool { return p.State().Records == records })
	files, _ := filepath.Glob(p.Path + ".*")
	if len(files) < 2 {
		t.Fatalf("there is %v", files)
	}
	info, err := os.Stat(files[0])
	if err == nil {
		err = os.Remove(files[0])
	}
	if err != nil {
		t.Skip(err) // an open file can't be removed here
	}
	newHub(t, func(h *HubOptions) { h.Listen = addr })
	sent(t, p, records)
	want := Loss{info.Size(), "never reached the hub: " + files[0] + " was removed or truncated"}
	if s := p.Progress(); len(s.Losses) != 1 || s.Losses[0] != want {
		t.Errorf("%+v", s)
	}
	eventually(t, "the index lacks the same", func() bool {
		s := p.Progress().Index
		return s.Bytes == info.Size() && strings.Contains(s.Why, files[0])
	})
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	if err := p.Close(ctx); err == nil || !strings.Contains(err.Error(), files[0]) {
		t.Error(err)
	}
}

// TestForgot checks that data isn't reported as lost by the spool if the spool deleted it while the hub had it, and
// the hub then lost it.
func TestForgot(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil)
	o := h.sending(t, "a")
	o.Limit = 128 << 10
	p := publish(t, o)
	const records = 3_000
	for n := range records {
		put(p, 1, n)
		if n%300 == 0 {
			sent(t, p, int64(n+1))
		}
	}
	sent(t, p, records)
	first, _, _ := p.ours.spool.Span()
	if s := p.Progress(); first == 0 || s.Losses != nil {
		t.Fatalf("%d, %+v", first, s)
	}
	h.forget()
	eventually(t, "it is told again", func() bool { return p.Progress().Losses != nil })
	if s := p.Progress(); len(s.Losses) != 1 || s.Losses[0] != (Loss{first, "are lost: the hub lost them, and the spool no longer has them"}) {
		t.Errorf("%d, %+v", first, s)
	}
}

// TestPatience checks that a sender waits before it retries after an error, however much is recorded meanwhile.
func TestPatience(t *testing.T) {
	h := newHub(t, nil)
	if err := h.admin().DeleteStream(context.Background(), StreamName); err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(h.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var asked atomic.Int64
	_, err = conn.Subscribe("$JS.API.DIRECT.GET."+StreamName+".>", func(msg *nats.Msg) {
		asked.Add(1)
		no := nats.NewMsg(msg.Reply)
		no.Header.Set("Status", "500")
		_ = conn.PublishMsg(no)
	})
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	p := publish(t, h.sending(t, "a"))
	eventually(t, "it asks", func() bool { return asked.Load() > 0 })
	for n := range 300 {
		put(p, 1, n)
		time.Sleep(time.Millisecond) // leaves time for many requests
	}
	if n := asked.Load(); n > 50 { // this many take a minute if the sender waits between them
		t.Errorf("it asked %d times", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.Close(ctx)
}

// TestForeign checks that a sender reports when another program sends the same capture, and that Close doesn't wait
// for data that can't be sent.
func TestForeign(t *testing.T) {
	h := newHub(t, nil)
	p := publish(t, h.sending(t, "a"))
	one(t, p, 1, 0, 2)
	_, end, _ := p.ours.spool.Span()
	msg := nats.NewMsg(p.ours.subject)
	msg.Header.Set(headSpan, byteRange{end, end + 100_000}.String())
	msg.Data = []byte("x")
	if _, err := h.admin().PublishMsg(context.Background(), msg); err != nil {
		t.Fatal(err)
	}
	put(p, 1, 2)
	eventually(t, "it finds that", func() bool { return strings.HasPrefix(p.Progress().Trouble, "another program is sending this capture") })
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = p.Close(ctx)
	if ctx.Err() != nil {
		t.Error("it waits for as long as it may")
	}
	if s := p.Progress(); s.Spooled == 0 || !strings.HasPrefix(s.Trouble, "another program") {
		t.Errorf("%+v", s)
	}
}

// TestTroubleKept checks that Progress reports the same trouble after Close as before it.
func TestTroubleKept(t *testing.T) {
	h := newHub(t, nil)
	if err := h.admin().DeleteStream(context.Background(), StreamName); err != nil {
		t.Fatal(err)
	}
	p := publish(t, h.sending(t, "a"))
	put(p, 1, 0)
	eventually(t, "it cannot send", func() bool { return strings.Contains(p.Progress().Trouble, StreamName) })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.Close(ctx)
	eventually(t, "the connection is closed", func() bool { return !p.link.IsConnected() })
	if s := p.Progress(); !strings.Contains(s.Trouble, StreamName) || s.Spooled == 0 {
		t.Errorf("%+v", s)
	}
}
