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

// stalls is a way to a hub as through a network: little is under way at a time. Once it stalls, what is
// sent to the hub is not taken any more, and the connection stays.
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

// stalled is a publisher that has sent something, and then a message that gets stuck.
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
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // it never fails, and cannot be packed
	for _, c := range keep.Take(capture.Record{Exchange: 1, Data: data}) {
		p.Put(c)
	}
	return h, way, p
}

// TestStalled: a connection that takes no more of a message is told as one, and given up; the next one
// has the message sent.
func TestStalled(t *testing.T) {
	h, way, p := stalled(t)
	eventually(t, "the problem is reported", func() bool { return p.Progress().Trouble != "" })
	way.stall.Store(false)
	sent(t, p, 2)
	h.same(t, p)
}

// TestStalledEnd: who ends while a message is half under way does not wait for that.
func TestStalledEnd(t *testing.T) {
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
