//go:build !nohub

package fleet

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"toolscope/capture"
	"toolscope/capture/redact"
)

// hubs is a hub that can be stopped and started again at the same address.
type hubs struct {
	*Hub
	t *testing.T
	o HubOptions
}

func newHub(t *testing.T, change func(*HubOptions)) *hubs {
	o := HubOptions{Listen: "127.0.0.1:0", Store: t.TempDir(), Keep: time.Hour, KeepBytes: 1 << 30, Log: func(string) {}}
	if change != nil {
		change(&o)
	}
	h := &hubs{t: t, o: o}
	h.start()
	h.o.Listen = strings.SplitN(h.URL(), "://", 2)[1]
	t.Cleanup(func() { h.Close() })
	return h
}

func (h *hubs) start() {
	h.t.Helper()
	var err error
	if h.Hub, err = StartHub(context.Background(), h.o); err != nil {
		h.t.Fatal(err)
	}
}

// admin returns a connection with all permissions.
func (h *hubs) admin(o ...nats.Option) jetstream.JetStream {
	h.t.Helper()
	conn, err := nats.Connect(h.URL(), o...)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		h.t.Fatal(err)
	}
	return js
}

// holds returns the bytes that the hub stores, by subject. It checks that each byte is stored once and in order.
func (h *hubs) holds() map[string][]byte {
	h.t.Helper()
	return holds(h.t, h.admin())
}

func holds(t *testing.T, js jetstream.JetStream) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	stream, err := js.Stream(context.Background(), StreamName)
	if err != nil {
		t.Fatal(err)
	}
	state := stream.CachedInfo().State
	for seq := state.FirstSeq; seq <= state.LastSeq; seq++ {
		msg, err := stream.GetMsg(context.Background(), seq)
		if err != nil {
			continue
		}
		s, err := parseSpan(msg.Header.Get(headSpan))
		if err != nil {
			continue
		}
		data, err := decompress(msg.Header.Get(headEnc), msg.Data, s)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(all[msg.Subject])) != s.from {
			t.Fatalf("message %d of %s has %s behind byte %d", seq, msg.Subject, s, len(all[msg.Subject]))
		}
		all[msg.Subject] = append(all[msg.Subject], data...)
	}
	return all
}

func (h *hubs) sending(t *testing.T, host string) PublishOptions {
	return PublishOptions{Server: h.URL(), Host: host, Agent: "main", Spool: t.TempDir(), Limit: 1 << 30, By: "test"}
}

func publish(t *testing.T, o PublishOptions) *Publisher {
	t.Helper()
	p, warning, err := Publish(time.Now(), o)
	if err != nil || warning != "" && !strings.Contains(warning, "open to others") {
		t.Fatal(warning, err)
	}
	t.Cleanup(func() {
		if p.ctx.Err() == nil {
			closeNow(p)
		}
	})
	return p
}

func closeNow(p *Publisher) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = p.Close(ctx)
}

var keep = redact.KeepAll()

// put records one record whose data is unique.
func put(p *Publisher, exchange, n int) {
	r := capture.Record{Exchange: exchange, At: time.Duration(n) * time.Millisecond, Data: fmt.Appendf(nil, "<%d:%d>", exchange, n)}
	if n == 0 {
		r.Head = &capture.Head{URL: "/v1/messages", Status: 200}
	}
	for _, c := range keep.Take(r) {
		p.Put(c)
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came to this: %s", what)
		}
	}
}

// sent waits until the publisher has written n records and the hub has all of them.
func sent(t *testing.T, p *Publisher, records int64) {
	t.Helper()
	eventually(t, "everything was sent", func() bool {
		return p.State().Records == records && p.Progress().Spooled == 0 && p.Progress().Trouble == ""
	})
}

// spoolBytes returns the bytes of all segments of a spool.
func spoolBytes(t *testing.T, p *Publisher) []byte {
	t.Helper()
	files, _ := filepath.Glob(p.Path + "*")
	var all []byte
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return all
}

func (h *hubs) same(t *testing.T, p *Publisher) {
	t.Helper()
	has, wants := h.holds()[p.ours.subject], spoolBytes(t, p)
	if !bytes.Equal(has, wants) || len(wants) == 0 {
		t.Errorf("the hub has %d bytes, the spool %d", len(has), len(wants))
	}
}

// seen is a view together with what it has read.
type seen struct {
	*View
	mu    sync.Mutex
	data  map[string]string // by file and exchange
	notes []string
	ends  []string
	done  chan struct{}
	stop  context.CancelFunc
}

func view(t *testing.T, address string, change func(*View)) *seen {
	t.Helper()
	return viewAs(t, Credentials{}, address, change)
}

// opened opens a view without reading from it.
func opened(t *testing.T, address string, auth Credentials) *View {
	t.Helper()
	of, err := ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Open(context.Background(), of, auth)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func viewAs(t *testing.T, auth Credentials, address string, change func(*View)) *seen {
	t.Helper()
	v := opened(t, address, auth)
	if change != nil {
		change(v)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &seen{View: v, data: map[string]string{}, done: make(chan struct{}), stop: stop}
	go func() {
		defer close(s.done)
		for r, err := range v.Source(ctx) {
			if err != nil {
				t.Error(err)
			}
			s.take(r)
		}
	}()
	t.Cleanup(func() { stop(); <-s.done })
	return s
}

func (s *seen) take(r capture.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data[fmt.Sprint(r.Exchange)] += string(r.Data)
	if r.Note != "" {
		s.notes = append(s.notes, r.Note)
	}
	if r.End != "" {
		s.ends = append(s.ends, r.Why)
	}
}

// text returns all data that the view has read, in the order of the exchanges.
func (s *seen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := ""
	for x := 1; x < 1000; x++ {
		all += s.data[fmt.Sprint(x)]
	}
	return all
}

func wants(exchange, from, to int) string {
	text := ""
	for n := from; n < to; n++ {
		text += fmt.Sprintf("<%d:%d>", exchange, n)
	}
	return text
}

// takes accepts connections until the test ends, and calls the function take for each in a new goroutine.
func takes(t *testing.T, l net.Listener, take func(net.Conn)) (addr string) {
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go take(c)
		}
	}()
	return l.Addr().String()
}

func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func copyDir(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}
