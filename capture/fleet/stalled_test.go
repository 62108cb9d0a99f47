//go:build linux && !nohub

package fleet

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"toolscope/capture"
)

// stalls is a proxy in front of a hub that allows little data in flight at a time, as a network does. Once it stalls,
// it accepts no more data for the hub and keeps the connection open.
type stalls struct {
	addr  string
	stall atomic.Bool
}

func newStalls(t *testing.T, hub string) *stalls {
	small := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		_ = c.Control(func(fd uintptr) {
			if err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 536); err == nil {
				err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
			}
		})
		return err
	}}
	l, err := small.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	s := &stalls{}
	pass := func(c net.Conn) {
		to, err := net.Dial("tcp", hub)
		if err != nil {
			c.Close()
			return
		}
		context.AfterFunc(over, func() { c.Close(); to.Close() })
		go func() { _, _ = io.Copy(c, to) }()
		for p := make([]byte, 1000); !s.stall.Load(); {
			n, err := c.Read(p)
			if _, wrong := to.Write(p[:n]); err != nil || wrong != nil {
				c.Close()
				to.Close()
				return
			}
		}
	}
	s.addr = takes(t, l, pass)
	return s
}

// stalled returns a publisher that has sent one record and is stuck in the message that contains the second.
func stalled(t *testing.T) (h *hubs, way *stalls, p *Publisher) {
	t.Helper()
	h = newHub(t, nil)
	way = newStalls(t, strings.TrimPrefix(h.URL(), "nats://"))
	o := h.sending(t, "a")
	o.Server = "nats://" + way.addr
	p = publish(t, o)
	put(p, 1, 0)
	sent(t, p, 1)
	way.stall.Store(true)
	data := make([]byte, 180_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // never fails; random data can't be compressed
	for _, c := range keep.Take(capture.Record{Exchange: 1, Data: data}) {
		p.Put(c)
	}
	return h, way, p
}

// TestStalled checks that a connection that stops accepting data in the middle of a message is reported and closed,
// and that the next connection sends the message.
func TestStalled(t *testing.T) {
	t.Parallel()
	h, way, p := stalled(t)
	eventually(t, "the problem is reported", func() bool { return p.Progress().Trouble != "" })
	way.stall.Store(false)
	sent(t, p, 2)
	h.same(t, p)
}

// TestStalledEnd checks that Close doesn't wait for a half-sent message that is stuck.
func TestStalledEnd(t *testing.T) {
	t.Parallel()
	_, _, p := stalled(t)
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = p.Close(ctx)
	if took := time.Since(began); took > answerTimeout {
		t.Errorf("it waited %v", took)
	}
	if p.Progress().Spooled == 0 {
		t.Error("nothing was under way")
	}
}
