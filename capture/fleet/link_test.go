//go:build !nohub

package fleet

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// deaf is a server that accepts connections and never answers.
type deaf struct {
	addr        string
	taken, left atomic.Int64 // connections accepted, and closed by their clients
}

func newDeaf(t *testing.T) *deaf {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &deaf{}
	d.addr = takes(t, l, func(c net.Conn) {
		d.taken.Add(1)
		_, _ = io.Copy(io.Discard, c)
		d.left.Add(1)
		c.Close()
	})
	return d
}

// relay starts a proxy in front of a hub. The proxy passes each line of the hub's answers through the function
// change.
func relay(t *testing.T, hub string, change func(line string) string) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pass := func(c net.Conn) {
		defer c.Close()
		to, err := net.Dial("tcp", hub)
		if err != nil {
			return
		}
		defer to.Close()
		go func() { _, _ = io.Copy(to, c); to.Close() }()
		for from := bufio.NewReader(to); ; {
			line, err := from.ReadString('\n')
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, change(line))
		}
	}
	return takes(t, l, pass)
}

// TestNoRoom checks that nothing is sent to a hub that announces a negative max_payload while connected, and that the
// publisher reports why.
func TestNoRoom(t *testing.T) {
	h := newHub(t, nil)
	o := h.sending(t, "a")
	info := ""
	o.Server = "nats://" + relay(t, strings.TrimPrefix(h.URL(), "nats://"), func(line string) string {
		switch {
		case strings.HasPrefix(line, "INFO "):
			info = strings.Replace(line, `"max_payload":1048576`, `"max_payload":-100`, 1)
		case strings.HasPrefix(line, "MSG "): // the answer to the sender's request for its position
			return info + line
		}
		return line
	})
	p := publish(t, o)
	put(p, 1, 0)
	toldThat(t, p, "the message is too long for the hub")
}

// TestNobodyWaits checks that Publish, Progress and Close don't wait for a hub that accepts the connection and never
// answers. Each must return before the connection times out.
func TestNobodyWaits(t *testing.T) {
	d := newDeaf(t)
	p := publish(t, PublishOptions{Server: "nats://" + d.addr, Host: "a", Agent: "main", Spool: t.TempDir(), Limit: 1 << 30, By: "test"})
	eventually(t, "it tries to connect", func() bool { return d.taken.Load() > 0 })
	if s := p.Progress(); s.Trouble == "" {
		t.Errorf("%+v", s)
	}
	put(p, 1, 0)
	eventually(t, "it is recorded", func() bool { return p.State().Records == 1 && p.Progress().Spooled > 0 })
	if n := d.left.Load(); n > 0 {
		t.Errorf("%d connections were waited for", n)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.Close(over)
	if n := d.taken.Load(); n != 1 {
		t.Errorf("%d connections were waited for at the end", n)
	}
}

// TestBadName checks that a host name that can't be resolved is reported while recording continues.
func TestBadName(t *testing.T) {
	t.Parallel()
	p := publish(t, PublishOptions{Server: "nats://hub.invalid:4222", Host: "a", Agent: "main", Spool: t.TempDir(), Limit: 1 << 30, By: "test"})
	put(p, 1, 0)
	eventually(t, "the problem is reported", func() bool {
		s := p.Progress()
		return p.State().Records == 1 && s.Spooled > 0 && len(s.Trouble) > len(errDown.Error())
	})
	t.Log(p.Progress().Trouble)
	began := time.Now()
	closeNow(p)
	t.Logf("it ended in %v", time.Since(began).Round(time.Millisecond))
}

// TestPause checks that the pauses between connection attempts grow up to a limit and are random, so that not all
// machines connect at the same time. The limit for views is lower.
func TestPause(t *testing.T) {
	for _, most := range []time.Duration{maxRedialDelay, maxViewRedialDelay} {
		l, least := &link{maxRedial: most}, minRedialDelay
		for n := range 100 {
			if d := l.retryDelay(); d < least || d >= 2*least {
				t.Errorf("%v before try %d, not from %v", d, n, least)
			}
			least = min(2*least, most)
		}
	}
}

// TestHurry checks that retryNow connects at once, however long the pause before the next attempt is, and
// makes exactly one attempt.
func TestHurry(t *testing.T) {
	addr := freePort(t)
	p := publish(t, PublishOptions{Server: "nats://" + addr, Host: "a", Agent: "main", Spool: t.TempDir(), Limit: 1 << 30, By: "test"})
	p.link.tries.Store(100) // as if the hub had been down for a long time
	put(p, 1, 0)
	eventually(t, "nobody is there", func() bool { return p.link.tries.Load() == 101 })
	p.link.retryNow()
	eventually(t, "it was tried again", func() bool { return p.link.tries.Load() == 102 })
	for range 200 { // long enough for many attempts
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
		}
	}
	if n := p.link.tries.Load(); n != 102 {
		t.Errorf("it was tried %d times in place of 2", n-100)
	}
	began := time.Now()
	h := newHub(t, func(o *HubOptions) { o.Listen = addr })
	p.link.retryNow()
	sent(t, p, 1)
	if took := time.Since(began); took > maxRedialDelay && p.link.tries.Load() == 102 {
		t.Errorf("it was tried after %v", took)
	}
	h.same(t, p)
}

// TestSeveral checks that a publisher and a view that are given several addresses find the one running server, and
// don't wait for the others.
func TestSeveral(t *testing.T) {
	one, other := newDeaf(t), newDeaf(t)
	o := PublishOptions{Server: "nats://" + one.addr + ",nats://" + other.addr, Host: "a", Agent: "main", Spool: t.TempDir(), Limit: 1 << 30}
	p := publish(t, o)
	for _, d := range []*deaf{one, other} { // once this connection is closed, all earlier closes have been counted
		c, err := net.Dial("tcp", d.addr)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		eventually(t, "it is left", func() bool { return d.left.Load() > 0 })
	}
	if n := one.left.Load() + other.left.Load() - 2; n > 0 {
		t.Errorf("%d connections were waited for", n)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.Close(over)

	h := newHub(t, nil)
	of, err := ParseAddress("nats://" + freePort(t) + "," + h.o.Listen + "?until=now")
	if err != nil {
		t.Fatal(err)
	}
	o.Server = of.Server
	p = publish(t, o)
	put(p, 1, 0)
	sent(t, p, 1)
	v, err := Open(context.Background(), of, Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	v.link.Close()
}
