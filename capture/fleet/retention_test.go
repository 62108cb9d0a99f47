//go:build unix && !nohub

package fleet

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"toolscope/capture"
)

// slow is a view that stops after its first record until gate is closed, and counts the records it reads.
type slow struct {
	*View
	gate chan struct{} // once it is closed, the view reads as fast as it can
	over chan struct{}

	mine sync.Mutex
	text map[string]int // how often each record was read, by the first word of its data
}

func newSlow(ctx context.Context, t *testing.T, addr string) *slow {
	of, _ := ParseAddress("nats://" + addr)
	v, err := Open(ctx, of, Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	s := &slow{View: v, gate: make(chan struct{}), over: make(chan struct{}), text: map[string]int{}}
	go func() {
		defer close(s.over)
		for r := range v.Source(ctx) {
			if name, _, is := bytes.Cut(r.Data, []byte(" ")); is {
				s.mine.Lock()
				s.text[string(name)]++
				s.mine.Unlock()
				<-s.gate
			}
		}
	}()
	return s
}

// has reports whether the view has read the record with this name.
func (s *slow) has(name string) bool {
	s.mine.Lock()
	defer s.mine.Unlock()
	return s.text[name] > 0
}

// TestRetention checks that a fast view misses nothing while publishers send several times as much as the hub keeps
// (30 MB). A slow view misses what the hub deleted, reports the exact number of bytes, and reads new data. The hub
// runs in a process of its own.
func TestRetention(t *testing.T) {
	if os.Getenv("TOOLSCOPE_LONG") == "" {
		t.Skip("with TOOLSCOPE_LONG=1")
	}
	const publishers, records, size = 5, 1000, 32 << 10
	s := &site{t: t, program: program(t), dir: t.TempDir(), addr: freePort(t)}
	s.startHub("--keep-bytes", "30MB")
	defer func() { end(s.hub, syscall.SIGTERM) }()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	fast, late := newSlow(ctx, t, s.addr), newSlow(ctx, t, s.addr)
	close(fast.gate)
	var all []*Publisher
	for i := range publishers {
		all = append(all, publish(t, PublishOptions{Server: "nats://" + s.addr, Host: fmt.Sprint("h", i), Agent: "main", Spool: filepath.Join(s.dir, fmt.Sprint(i)), Limit: 1 << 30}))
	}
	noise := rand.NewChaCha8([32]byte{1})
	write := func(n int) {
		for i, p := range all {
			data := make([]byte, size)
			_, _ = noise.Read(data) // never fails; random data can't be compressed
			for _, c := range keep.Take(capture.Record{Exchange: 1, Data: append(fmt.Appendf(nil, "%d:%d ", i, n), data...)}) {
				p.Put(c)
			}
		}
	}
	for n := range records {
		write(n)
		if n%20 == 0 { // the hub's limit, not the spool's, should make the slow view miss data
			for _, p := range all {
				sent(t, p, int64(n+1))
			}
		}
	}
	for _, p := range all {
		sent(t, p, records)
	}
	close(late.gate)
	eventually(t, "the slow view is behind the overrun", func() bool { return late.State().Lost > 0 && late.State().Lag == 0 })
	write(records) // new data for both views
	var written int64
	for i, p := range all {
		sent(t, p, records+1)
		_, end, _ := p.ours.spool.Span()
		written += end
		for _, v := range []*slow{fast, late} {
			eventually(t, "the view reads what is new", func() bool { return v.has(fmt.Sprintf("%d:%d", i, records)) })
		}
	}
	stop()
	<-fast.over
	<-late.over
	if state := fast.State(); state.Lost+state.Gaps+state.Invalid != 0 || fast.bytesRead != written || len(fast.text) != publishers*(records+1) {
		t.Errorf("the fast view read %d of %d bytes, %d records: %+v", fast.bytesRead, written, len(fast.text), state)
	}
	var missing int64
	for _, p := range all {
		_, end, _ := p.ours.spool.Span()
		f := late.captures[p.ours.subject]
		if f.next != end {
			t.Errorf("of %s the slow view is at %d of %d", f.host, f.next, end)
		}
		missing += end
	}
	missing -= late.bytesRead
	state := late.State()
	if state.Lost != missing || missing == 0 || state.Gaps < publishers {
		t.Errorf("%d bytes are missing, told are %d in %d gaps", missing, state.Lost, state.Gaps)
	}
	for what, n := range late.text {
		if n != 1 {
			t.Errorf("%s was read %d times", what, n)
		}
	}
	t.Logf("%d bytes were written; the fast view lost 0, the slow one %d in %d gaps, as it says; it read %d records", written, missing, state.Gaps, len(late.text))
}

// TestExpiredProcesses checks that a machine whose data on the hub has expired continues at its old offset, even
// after the hub was killed and restarted. A hub that lost its files gets everything again.
func TestExpiredProcesses(t *testing.T) {
	if os.Getenv("TOOLSCOPE_LONG") == "" {
		t.Skip("with TOOLSCOPE_LONG=1")
	}
	s := &site{t: t, program: program(t), dir: t.TempDir(), addr: freePort(t), hosts: make([]*exec.Cmd, 1), written: make([]int, 1)}
	s.startHub("--keep", "1s")
	t.Cleanup(func() { end(s.hub, syscall.SIGKILL) })
	s.write(0, 50)
	s.startHost(0)
	t.Cleanup(func() { end(s.hosts[0], syscall.SIGKILL) })
	// spooled waits until the spool has the last line and returns the length of the capture.
	spooled := func() (size int64) {
		eventually(t, "the spool has the last line", func() bool {
			for _, text := range s.spools() {
				size = int64(len(text))
				return bytes.Contains(text, fmt.Appendf(nil, "word %d ", s.written[0]))
			}
			return false
		})
		return size
	}
	// heard calls act. It then returns the offset of each message that reaches the hub, until the hub has the capture
	// up to the offset upTo.
	heard := func(act func(), upTo func() int64) (from []int64) {
		conn, err := nats.Connect("nats://"+s.addr, nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		sub, err := conn.SubscribeSync("toolscope." + version + "." + bytesKind + ".>")
		if err == nil {
			err = conn.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		act()
		for end := upTo(); ; {
			msg, err := sub.NextMsg(20 * time.Second)
			if err != nil {
				t.Fatal(err)
			}
			its, _ := parseSpan(msg.Header.Get(headSpan))
			if from = append(from, its.from); its.to >= end {
				return from
			}
		}
	}
	empty := func(last uint64) { // waits until the hub is empty after this number of messages
		conn, err := nats.Connect("nats://" + s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		js, _ := jetstream.New(conn)
		eventually(t, "the hub has nothing any more", func() bool {
			stream, err := js.Stream(context.Background(), StreamName)
			return err == nil && stream.CachedInfo().State.Msgs == 0 && stream.CachedInfo().State.LastSeq >= last
		})
	}
	at := spooled()
	empty(1)
	if from := heard(func() { s.write(0, 1) }, spooled); from[0] != at {
		t.Errorf("it goes on at %d, not at %d", from[0], at)
	}
	at = spooled()
	empty(2)
	end(s.hub, syscall.SIGKILL)
	s.startHub("--keep", "1s")
	if from := heard(func() { s.write(0, 1) }, spooled); from[0] != at {
		t.Errorf("after the hub came back it goes on at %d, not at %d", from[0], at)
	}
	empty(3)
	end(s.hub, syscall.SIGKILL)
	_ = os.RemoveAll(filepath.Join(s.dir, "store"))
	s.startHub()
	s.write(0, 1)
	s.same()
}
