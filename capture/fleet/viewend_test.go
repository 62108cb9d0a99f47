//go:build !nohub

package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// gated is a view whose reader stops after the first record until the channel in the field on is closed.
type gated struct {
	*View
	at   chan struct{} // closed when the reader has stopped
	on   chan struct{} // closed by the test
	over chan struct{} // closed when the source has ended
	n    atomic.Int64  // records with bytes
	text atomic.Value
	note string // all notes
	err  error
}

func gatedView(t *testing.T, address string, change func(*View)) *gated {
	t.Helper()
	v := opened(t, address, Credentials{})
	v.look = 20 * time.Millisecond
	if change != nil {
		change(v)
	}
	ctx, stop := context.WithCancel(context.Background())
	g := &gated{View: v, at: make(chan struct{}), on: make(chan struct{}), over: make(chan struct{})}
	g.text.Store("")
	go func() {
		defer close(g.over)
		for r, err := range v.Source(ctx) {
			g.note += r.Note
			if g.err = errors.Join(g.err, err); len(r.Data) == 0 {
				continue
			}
			g.text.Store(g.text.Load().(string) + string(r.Data))
			if g.n.Add(1) == 1 {
				close(g.at)
				select {
				case <-g.on:
				case <-ctx.Done():
				}
			}
		}
	}()
	t.Cleanup(func() { stop(); <-g.over })
	return g
}

// hurried returns options that make the publisher send each record at once.
func (h *hubs) hurried(t *testing.T, host string) PublishOptions {
	o := h.sending(t, host)
	o.Linger = time.Millisecond
	return o
}

// waiting returns the name of the stream's only consumer and the number of its open requests.
func (h *hubs) waiting(t *testing.T, stream jetstream.Stream) (consumer string, n int) {
	t.Helper()
	for info := range stream.ListConsumers(context.Background()).Info() {
		return info.Name, info.NumWaiting
	}
	return "", -1
}

func (h *hubs) captures(t *testing.T) jetstream.Stream {
	t.Helper()
	stream, err := h.admin().Stream(context.Background(), StreamName)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// accounts reports whether n is the number of messages of two captures. The header line of each capture may be a
// message of its own, without a record, so n may be up to two lower.
func (h *hubs) accounts(t *testing.T, n int64) bool {
	t.Helper()
	last := int64(h.captures(t).CachedInfo().State.LastSeq)
	return last-2 <= n && n <= last
}

// TestUntil checks that a view reads nothing after its end, and that an end in the future is an error.
func TestUntil(t *testing.T) {
	h := newHub(t, nil)
	p := publish(t, h.hurried(t, "a"))
	one(t, p, 1, 0, 2)
	then := time.Now().UTC()
	one(t, p, 1, 2, 4)
	for _, query := range []string{"?until=", "?since=1h&until=", "?host=a&until="} {
		v := view(t, h.URL()+query+then.Format(time.RFC3339Nano), nil)
		if <-v.done; v.text() != wants(1, 0, 2) {
			t.Errorf("%s: %q", query, v.text())
		}
		if s := v.State(); s.Unreachable || s.Lag > 0 || !s.Complete() {
			t.Errorf("%s: %+v", query, s)
		}
	}
	of, err := ParseAddress(h.URL() + "?until=" + then.Add(time.Hour).Format(time.RFC3339))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), of, Credentials{}); !errors.Is(err, errToCome) {
		t.Error(err)
	}
}

// TestConsumerGone checks that a view continues after the hub deleted its consumer while no request was open.
func TestConsumerGone(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil)
	p := publish(t, h.hurried(t, "a"))
	v := gatedView(t, h.URL(), func(v *View) { v.pull = 1700 * time.Millisecond })
	one(t, p, 1, 0, 1)
	<-v.at
	stream := h.captures(t)
	name := ""
	eventually(t, "the hub is asked for nothing", func() bool {
		var n int
		name, n = h.waiting(t, stream)
		return n == 0
	})
	if err := stream.DeleteConsumer(context.Background(), name); err != nil {
		t.Fatal(err)
	}
	close(v.on)
	one(t, p, 1, 1, 3)
	eventually(t, "it reads on", func() bool { return v.text.Load() == wants(1, 0, 3) })
}

// TestUntilExpired checks that a view reaches its end even if the hub deletes the last messages before it, and that
// the view counts all of them as missed.
func TestUntilExpired(t *testing.T) {
	h := newHub(t, nil)
	one(t, publish(t, h.hurried(t, "a")), 1, 0, 20)
	one(t, publish(t, h.hurried(t, "b")), 1, 0, 20)
	stream := h.captures(t)
	v := gatedView(t, h.URL()+"?until=now", func(v *View) { v.maxPullBytes, v.minPullBytes = 2000, 0 })
	<-v.at
	if err := stream.Purge(context.Background()); err != nil {
		t.Fatal(err)
	}
	close(v.on)
	<-v.over
	if s := v.State(); v.err != nil || s.Missed == 0 || !h.accounts(t, s.Missed+v.n.Load()) {
		t.Errorf("%d records were read: %+v, %v", v.n.Load(), s, v.err)
	}
}

// TestUntilExpiredOfSome checks that a view of only some captures reports how many of the deleted messages may have
// belonged to them.
func TestUntilExpiredOfSome(t *testing.T) {
	h := newHub(t, nil)
	one(t, publish(t, h.hurried(t, "a")), 1, 0, 20)
	one(t, publish(t, h.hurried(t, "b")), 1, 0, 20)
	v := gatedView(t, h.URL()+"?until=now&host=a", func(v *View) { v.maxPullBytes, v.minPullBytes = 2000, 0 })
	<-v.at
	if err := h.captures(t).Purge(context.Background()); err != nil {
		t.Fatal(err)
	}
	close(v.on)
	<-v.over
	if n := 20 - v.n.Load(); n == 0 || v.err != nil || !strings.Contains(v.note, fmt.Sprintf("before they were read: at most %d messages", n)) {
		t.Errorf("%d of 20 records were read: %q, %v", v.n.Load(), v.note, v.err)
	} else if s := v.State(); s.MaybeMissed != n || s.Complete() {
		t.Errorf("%+v", s)
	}
}

// TestMissed checks that messages that the hub deleted before they were read are counted even if no more messages
// follow in their captures.
func TestMissed(t *testing.T) {
	h := newHub(t, nil)
	p := publish(t, h.hurried(t, "a"))
	v := gatedView(t, h.URL(), func(v *View) { v.maxPullBytes, v.minPullBytes = 2000, 0 })
	one(t, p, 1, 0, 1)
	<-v.at
	one(t, publish(t, h.hurried(t, "b")), 1, 0, 20)
	if err := h.captures(t).Purge(context.Background()); err != nil {
		t.Fatal(err)
	}
	one(t, p, 1, 1, 2)
	close(v.on)
	eventually(t, "it reads on", func() bool { return strings.HasSuffix(v.text.Load().(string), wants(1, 1, 2)) })
	if s := v.State(); s.Missed == 0 || !h.accounts(t, s.Missed+v.n.Load()) || s.Lost != 0 {
		t.Errorf("%d records were read: %+v", v.n.Load(), s)
	}
}

// TestHubGone checks that a view with an end returns an error if the hub does not come back, instead of waiting
// forever.
func TestHubGone(t *testing.T) {
	h := newHub(t, nil)
	one(t, publish(t, h.hurried(t, "a")), 1, 0, 20)
	v := gatedView(t, h.URL()+"?until=now", func(v *View) { v.patience, v.maxPullBytes, v.minPullBytes = time.Second/2, 2000, 0 })
	<-v.at
	h.Close()
	close(v.on)
	if <-v.over; v.err == nil || !strings.Contains(v.err.Error(), "reading stopped before the end") {
		t.Error(v.err)
	}
}

// TestUntilForgot checks that a view ends and counts a reset if the hub loses the data that the view has yet to read.
func TestUntilForgot(t *testing.T) {
	h := newHub(t, nil)
	p := publish(t, h.hurried(t, "a"))
	one(t, p, 1, 0, 20)
	v := gatedView(t, h.URL()+"?until=now", func(v *View) { v.maxPullBytes, v.minPullBytes = 2000, 0 })
	<-v.at
	closeNow(p)
	h.Close()
	if err := os.RemoveAll(h.o.Store); err != nil {
		t.Fatal(err)
	}
	h.start()
	close(v.on)
	if <-v.over; v.err != nil || v.State().Resets != 1 {
		t.Errorf("%+v, %v", v.State(), v.err)
	}
}

// TestRetentionIsNoLoss checks that the beginning of a capture doesn't count as missing if the hub deleted it before
// the view was opened. A gap at the beginning of a capture that started later does count.
func TestRetentionIsNoLoss(t *testing.T) {
	h := newHub(t, nil)
	one(t, publish(t, h.hurried(t, "a")), 1, 0, 5)
	stream := h.captures(t)
	last := stream.CachedInfo().State.LastSeq
	if err := stream.Purge(context.Background(), jetstream.WithPurgeSequence(last-1)); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"?until=now", "?since=1h&until=now"} {
		v := view(t, h.URL()+query, nil)
		if <-v.done; v.text() != wants(1, 3, 5) || !strings.Contains(strings.Join(v.notes, ""), "joined midway") {
			t.Errorf("%s: %q %q", query, v.text(), v.notes)
		}
		if s := v.State(); !s.Complete() {
			t.Errorf("%s: %+v", query, s)
		}
	}
	one(t, publish(t, h.hurried(t, "b")), 1, 0, 2)
	if err := stream.DeleteMsg(context.Background(), last+1); err != nil {
		t.Fatal(err)
	}
	v := view(t, h.URL()+"?until=now", nil)
	if <-v.done; v.State().Gaps != 1 {
		t.Errorf("%+v", v.State())
	}
}

// TestOverrunIs checks that a view counts as overrun only if it reads messages that the hub is about to delete, not
// merely because some of its messages are missing.
func TestOverrunIs(t *testing.T) {
	h := newHub(t, nil)
	one(t, publish(t, h.hurried(t, "a")), 1, 0, 40)
	if err := h.captures(t).Purge(context.Background(), jetstream.WithPurgeSequence(20)); err != nil {
		t.Fatal(err)
	}
	v := view(t, h.URL()+"?host=a", nil)
	for _, c := range []struct {
		before, at, pending uint64
		want                bool
	}{
		{10, 20, 20, true}, {10, 35, 5, false}, {10, 40, 0, false}, {19, 20, 20, false}, {0, 20, 20, false},
	} {
		if got := v.isOverrun(context.Background(), c.before, &jetstream.MsgMetadata{Sequence: jetstream.SequencePair{Stream: c.at}, NumPending: c.pending}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestStreamGone checks that State reports why a view can't read for as long as the reason lasts.
func TestStreamGone(t *testing.T) {
	h := newHub(t, nil)
	p := publish(t, h.hurried(t, "a"))
	v := gatedView(t, h.URL(), nil)
	close(v.on)
	one(t, p, 1, 0, 1)
	eventually(t, "it reads", func() bool { return v.n.Load() == 1 })
	js, config := h.admin(), h.captures(t).CachedInfo().Config
	if err := js.DeleteStream(context.Background(), StreamName); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the problem is reported", func() bool { return v.State().Trouble == "the hub has no stream "+StreamName })
	if _, err := js.CreateStream(context.Background(), config); err != nil {
		t.Fatal(err)
	}
	one(t, p, 1, 1, 2)
	eventually(t, "it reads on", func() bool { return v.text.Load() == wants(1, 0, 2) })
	if s := v.State(); s.Trouble != "" || !s.Complete() {
		t.Errorf("%+v", s)
	}
}

// TestExpiredAtRest checks that messages deleted unread are reported even if no new message comes, and that
// they don't count as lag.
func TestExpiredAtRest(t *testing.T) {
	t.Parallel()
	for query, lost := range map[string]func(State) int64{
		"?since=1h":        func(s State) int64 { return s.Missed },
		"?since=1h&host=a": func(s State) int64 { return s.MaybeMissed },
	} {
		h := newHub(t, nil)
		one(t, publish(t, h.hurried(t, "a")), 1, 0, 20)
		v := gatedView(t, h.URL()+query, func(v *View) { v.maxPullBytes, v.minPullBytes = 2000, 0 })
		<-v.at
		if err := h.captures(t).Purge(context.Background()); err != nil {
			t.Fatal(err)
		}
		close(v.on)
		eventually(t, "the problem is reported", func() bool { return lost(v.State()) > 0 })
		eventually(t, "nothing waits", func() bool { return v.State().Lag == 0 })
		if s := v.State(); !h.accounts(t, lost(s)+v.n.Load()) || s.Complete() {
			t.Errorf("%s: %d records were read: %+v", query, v.n.Load(), s)
		}
	}
}

// TestIndexExpired checks that lines of the index that the hub deleted before they were read count as missing.
func TestIndexExpired(t *testing.T) {
	h := newHub(t, nil)
	manyExchanges(t, h, "a")
	v := opened(t, h.URL()+"?until=now&model=m.1", Credentials{})
	v.look, v.maxPullBytes, v.minPullBytes = 20*time.Millisecond, 2000, 0
	n := int64(0)
	err := v.Lines(context.Background(), func([]byte) bool {
		if n++; n > 1 {
			return true
		}
		stream, err := h.admin().Stream(context.Background(), IndexName)
		if err == nil {
			err = stream.Purge(context.Background())
		}
		if err != nil {
			t.Error(err)
		}
		return true
	})
	if s := v.State(); err != nil || n+s.MaybeMissed != 6*7+1 || s.Complete() {
		t.Errorf("%d lines were read: %+v, %v", n, s, err)
	}
}
