//go:build !nohub

package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"toolscope/capture"
	"toolscope/capture/record"
)

// killed removes the mark that says that a spool was sent, as if its program had been killed.
func killed(t *testing.T, p *Publisher) { wasSent(t, p, time.Time{}) }

// wasSent sets the time at which a spool was sent.
func wasSent(t *testing.T, p *Publisher, at time.Time) {
	t.Helper()
	s := taken(t, p)
	defer s.Release()
	m := s.Mark()
	m.Sent = at
	if err := s.SetMark(m); err != nil {
		t.Fatal(err)
	}
}

// sentAt returns the time at which an ended publisher's spool was sent.
func sentAt(t *testing.T, p *Publisher) time.Time {
	t.Helper()
	s := taken(t, p)
	defer s.Release()
	return s.Mark().Sent
}

// leftOf returns the sender of the spools that earlier runs left for the hub, a connection to the hub, and the
// spool that p left.
func leftOf(t *testing.T, o PublishOptions, p *Publisher) (l *orphanSender, to *link, one record.OrphanSpool) {
	t.Helper()
	o.Spool = filepath.Dir(p.Path)
	l = findOrphans(&o, time.Now())
	to, err := dialHub(o.Server, Credentials{}, true, func() {}, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(to.Close)
	eventually(t, "it is connected", to.IsConnected)
	at := slices.IndexFunc(l.all, func(s record.OrphanSpool) bool { return s.Name == spoolNamed(p) })
	if at < 0 {
		t.Fatal("it is not left")
	}
	return l, to, l.all[at]
}

// spoolNamed returns the name of a publisher's spool.
func spoolNamed(p *Publisher) string {
	return strings.TrimSuffix(filepath.Base(p.Path), record.Extension)
}

// taken opens the spool of an ended publisher.
func taken(t *testing.T, p *Publisher) *record.Spool {
	t.Helper()
	s, ok := record.TakeSpool(filepath.Dir(p.Path), spoolNamed(p), time.Now())
	if !ok {
		t.Fatal("somebody is at it")
	}
	return s
}

// notesSaid collects the messages that a publisher or hub reports.
type notesSaid struct {
	mu  sync.Mutex
	all []string
}

func (s *notesSaid) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, text)
}

func (s *notesSaid) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.all, "\n")
}

func (h *hubs) forget() {
	h.t.Helper()
	h.Close()
	if err := os.RemoveAll(h.o.Store); err != nil {
		h.t.Fatal(err)
	}
	h.start()
}

// TestSpoolOfHub checks that a spool left for one hub is sent to that hub and to no other.
func TestSpoolOfHub(t *testing.T) {
	o := PublishOptions{Server: "nats://" + freePort(t), Host: "a", Agent: "main", Spool: t.TempDir(), Limit: 1 << 30, By: "test"}
	p := publish(t, o)
	put(p, 1, 0)
	closeNow(p)
	other := newHub(t, nil)
	to := o
	to.Server = other.URL()
	second := publish(t, to)
	put(second, 1, 0)
	sent(t, second, 1)
	closeNow(second)
	if has := other.holds(); len(has) != 1 || has[second.ours.subject] == nil {
		t.Errorf("the other hub has %d captures", len(has))
	}
	its := newHub(t, func(h *HubOptions) { h.Listen = strings.TrimPrefix(o.Server, "nats://") })
	o.Server = strings.Replace(o.Server, "127.0.0.1", "LocalHost", 1)
	third := publish(t, o)
	put(third, 1, 0)
	sent(t, third, 1)
	if its.holds()[p.ours.subject] != nil {
		t.Error("it is sent to what may be another hub")
	}
	o.Server = its.URL()
	fourth := publish(t, o)
	eventually(t, "its own hub gets it", func() bool { return its.holds()[p.ours.subject] != nil })
	closeNow(fourth)
}

// TestSpoolOfCluster checks that the spool folder of a cluster with many servers and long names can be created,
// doesn't depend on the order of the servers, and differs from another cluster's.
func TestSpoolOfCluster(t *testing.T) {
	t.Parallel()
	hosts := func(from, to int) (all []string) {
		for n := from; n < to; n++ {
			all = append(all, fmt.Sprintf("nats://nats-%d.nats.observability.svc.cluster.local:4222", n))
		}
		return all
	}
	o := PublishOptions{Server: strings.Join(hosts(0, 5), ","), Host: "a", Agent: "main", Spool: t.TempDir(), Limit: 1 << 30, By: "test"}
	closeNow(publish(t, o))
	turned := hosts(0, 5)
	slices.Reverse(turned)
	if one, other := spoolOf("", o.Server), spoolOf("", strings.Join(turned, ",")); one != other {
		t.Errorf("%s and %s", one, other)
	}
	if one, other := spoolOf("", o.Server), spoolOf("", strings.Join(hosts(1, 6), ",")); one == other {
		t.Errorf("both are %s", one)
	}
}

// TestLeftHuge checks that createdOf reads little of a large spool that has no lines and so no creation time.
func TestLeftHuge(t *testing.T) {
	dir, name := t.TempDir(), "a.main.00112233445566778899aabbccddeeff"
	path := filepath.Join(dir, name+record.Extension)
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 64<<20)); err != nil {
		t.Fatal(err)
	}
	s, ok := record.TakeSpool(dir, name, time.Now())
	if !ok {
		t.Fatal("it is not taken")
	}
	defer s.Release()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := createdOf(s)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 || !began.IsZero() {
		t.Errorf("%d bytes, %v", took, began)
	}
}

func TestSpoolOrigin(t *testing.T) {
	const id = "00112233445566778899aabbccddeeff"
	if o, ok := spoolOrigin("web%2E1.main." + id); !ok || o != (subjectParts{version, "web.1", "main", id}) {
		t.Errorf("%+v, %v", o, ok)
	}
	for _, name := range []string{"", "a.b", "a.b." + id[2:], "a.b." + id + ".c", "a.b.x" + id[1:], "a." + id, "..b." + id, "a b.c." + id, "a%2eb.c." + id, "2026-11-25T10-00-00"} {
		if o, ok := spoolOrigin(name); ok {
			t.Errorf("%q is %+v", name, o)
		}
	}
}

// TestLeftExpired checks that data sent by a killed run isn't sent again once the hub's retention time for it is
// over. A hub that lost its store gets the data again, even if its new stream has already reached the same sequence
// numbers.
func TestLeftExpired(t *testing.T) {
	h := newHub(t, nil)
	o := h.sending(t, "a")
	p := publish(t, o)
	one(t, p, 1, 0, 3)
	closeNow(p)
	killed(t, p)
	stream, err := h.admin().Stream(context.Background(), StreamName)
	if err == nil {
		err = stream.Purge(context.Background()) // as retention does
	}
	if err != nil {
		t.Fatal(err)
	}
	next := publish(t, o)
	put(next, 1, 0)
	sent(t, next, 1)
	closeNow(next)
	if has := h.holds(); len(has) != 1 || has[next.ours.subject] == nil {
		t.Errorf("the hub has %d captures", len(has))
	}
	h.forget()
	killed(t, p)
	killed(t, next)
	other := publish(t, h.sending(t, "b"))
	one(t, other, 1, 0, 9)
	closeNow(other)
	if stream, err = h.admin().Stream(context.Background(), StreamName); err == nil {
		err = stream.Purge(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	last := publish(t, o)
	put(last, 1, 0)
	sent(t, last, 1)
	eventually(t, "it is told again", func() bool {
		return string(h.holds()[next.ours.subject]) == string(spoolBytes(t, next))
	})
	if h.holds()[p.ours.subject] != nil {
		t.Error("it is told again what had its time")
	}
}

// TestLeftDeleted checks that a spool is deleted some time after it was sent, by the same run or the next one. The
// time when it was written doesn't matter.
func TestLeftDeleted(t *testing.T) {
	addr := freePort(t)
	o := PublishOptions{Server: "nats://" + addr, Host: "a", Agent: "main", Spool: t.TempDir(), Limit: 1 << 30, By: "test"}
	p := publish(t, o)
	put(p, 1, 0)
	closeNow(p)
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(p.Path, long, long); err != nil {
		t.Fatal(err)
	}
	h := newHub(t, func(h *HubOptions) { h.Listen = addr })
	there := func() bool { _, err := os.Stat(p.Path); return err == nil }
	for range 2 {
		next := publish(t, o)
		eventually(t, "it is sent", func() bool { return len(h.holds()) > 0 && next.Progress().Orphaned == 0 })
		closeNow(next)
		if !there() {
			t.Fatal("it is deleted at once")
		}
	}
	o.Spool = filepath.Dir(p.Path)
	l := findOrphans(&o, time.Now())
	wasSent(t, p, time.Now())
	l.keep, l.look = 200*time.Millisecond, 300*time.Millisecond // so that it isn't deleted at once
	to, err := dialHub(h.URL(), Credentials{}, true, func() {}, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	eventually(t, "it is connected", to.IsConnected)
	l.run(context.Background(), to)
	if there() {
		t.Error("it is still there")
	}
}

// TestLeftDeletedLate checks that a spool that was sent late because the hub was down is deleted by the run that sent
// it.
func TestLeftDeletedLate(t *testing.T) {
	addr := freePort(t)
	o := PublishOptions{Server: "nats://" + addr, Host: "a", Agent: "main", Spool: t.TempDir(), Limit: 1 << 30, By: "test"}
	p := publish(t, o)
	put(p, 1, 0)
	closeNow(p)
	o.Spool = filepath.Dir(p.Path)
	l := findOrphans(&o, time.Now())
	l.keep, l.look = time.Second, 1100*time.Millisecond
	to, err := dialHub(o.Server, Credentials{}, true, func() {}, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.run(context.Background(), to)
	}()
	time.Sleep(2 * l.look) // long enough for at least one check of the spools
	newHub(t, func(h *HubOptions) { h.Listen = addr })
	<-done
	if _, err := os.Stat(p.Path); err == nil {
		t.Error("it is still there")
	}
}

// TestLeftLoss checks that data that didn't fit into an earlier run's spool is reported as lost by the run that sends
// the rest, and that a view counts it as lost.
func TestLeftLoss(t *testing.T) {
	addr := freePort(t)
	o := PublishOptions{Server: "nats://" + addr, Host: "a", Agent: "main", Spool: t.TempDir(), Limit: 128 << 10, By: "test"}
	p := publish(t, o)
	const records = 5_000
	for n := range records {
		put(p, 1, n)
	}
	eventually(t, "everything is written", func() bool { return p.State().Records == records })
	first, _, _ := p.ours.spool.Span()
	closeNow(p)
	h := newHub(t, func(h *HubOptions) { h.Listen = addr })
	next := publish(t, o)
	put(next, 1, 0)
	sent(t, next, 1)
	if s := next.Progress(); len(s.OrphanedLosses) != 1 || s.OrphanedLosses[0] != (Loss{first, "never reached the hub: the spool was full"}) || s.Losses != nil {
		t.Errorf("lost are %d: %+v", first, s)
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	if err := next.Close(ctx); err == nil || !strings.Contains(err.Error(), "of earlier runs never reached the hub") {
		t.Error(err)
	}
	v := view(t, h.URL()+"?until=now", nil)
	<-v.done
	if s := v.State(); s.Lost != first {
		t.Errorf("lost are %d: %+v", first, s)
	}
}

// TestLeftCut checks a spool that a power failure has shortened, so that the hub has more of it than the disk.
// Nothing of the spool is sent, and the current run still sends its own data.
func TestLeftCut(t *testing.T) {
	h := newHub(t, nil)
	o := h.sending(t, "a")
	p := publish(t, o)
	one(t, p, 1, 0, 3)
	closeNow(p)
	killed(t, p)
	if err := os.Truncate(p.Path, 200); err != nil {
		t.Fatal(err)
	}
	before := h.holds()[p.ours.subject]
	var notes notesSaid
	o.Report = notes.say
	next := publish(t, o)
	put(next, 1, 0)
	sent(t, next, 1)
	eventually(t, "it is said", func() bool { return strings.Contains(notes.text(), "more than this disk, so nothing is sent") })
	if has := h.holds()[p.ours.subject]; string(has) != string(before) {
		t.Errorf("the hub has %q, and had %q", has, before)
	}
	closeNow(next)
	notes.all = nil
	l, to, one := leftOf(t, o, p)
	at := sentAt(t, p)
	for range 2 { // as after each reconnection
		if !l.sendSpool(context.Background(), to, one) {
			t.Error("it is to be tried again")
		}
	}
	if now := sentAt(t, p); !now.Equal(at) || l.again {
		t.Errorf("it is kept from %v, and not from %v: it may never be deleted", now, at)
	}
	if n := strings.Count(notes.text(), "so nothing is sent"); n != 1 {
		t.Errorf("it is said %d times", n)
	}
}

// TestLeftOver checks that the run that sends the rest of a killed program's spool also reports, exactly once, that
// the capture is over.
func TestLeftOver(t *testing.T) {
	h := newHub(t, nil)
	o := h.sending(t, "a")
	p := publish(t, o)
	one(t, p, 1, 0, 3)
	closeNow(p)
	killed(t, p)
	conn, err := nats.Connect(h.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	heard, err := conn.SubscribeSync(strings.Replace(p.ours.subject, "."+bytesKind+".", "."+healthKind+".", 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	next := publish(t, o)
	msg, err := heard.NextMsg(answerTimeout)
	if err != nil || msg.Header.Get(headOver) != "1" || msg.Header.Get(headSpooled) != "0" {
		t.Errorf("%v, %v", msg, err)
	}
	closeNow(next)
	if sentAt(t, p).IsZero() {
		t.Fatal("it is not marked as sent")
	}
	l, to, one := leftOf(t, o, p)
	if !l.sendSpool(context.Background(), to, one) {
		t.Error("it is to be tried again")
	}
	if err := errors.Join(to.Flush(), conn.Flush()); err != nil {
		t.Fatal(err)
	}
	if msg, err := heard.NextMsg(time.Millisecond); err == nil {
		t.Errorf("it is said again: %v", msg.Header)
	}
}

// TestSentStays checks that a spool marked as sent keeps that mark if a run compares it with the hub and then ends.
// If the hub no longer has the data, the run removes the mark.
func TestSentStays(t *testing.T) {
	h := newHub(t, nil)
	p := publish(t, h.sending(t, "a"))
	one(t, p, 1, 0, 3)
	closeNow(p)
	for _, gone := range []bool{false, true} {
		spool := taken(t, p)
		_, at, _ := spool.Span()
		s := newSender(spool, p.ours.of, time.Millisecond)
		if gone {
			at = 0
		}
		s.setPosition(at, s.seq, s.stream)
		if err := s.releaseSpool(false, time.Now()); err != nil || sentAt(t, p).IsZero() != gone {
			t.Errorf("gone %v: it was sent at %v, %v", gone, sentAt(t, p), err)
		}
	}
}

// TestLeftStuck checks that a spool that the hub rejects delays no other spool, and that Progress reports which spool
// it is.
func TestLeftStuck(t *testing.T) {
	addr := freePort(t)
	o := PublishOptions{Server: "nats://" + addr, Host: "a", Agent: "main", Spool: t.TempDir(), Limit: 1 << 30, By: "test"}
	large := publish(t, o)
	data := make([]byte, 20_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // never fails; random data can't be compressed
	for _, c := range keep.Take(capture.Record{Exchange: 1, Data: data}) {
		large.Put(c)
	}
	closeNow(large)
	small := publish(t, o)
	put(small, 1, 0)
	closeNow(small)
	now := time.Now()
	for i, p := range []*Publisher{large, small} {
		at := now.Add(time.Duration(i-2) * time.Minute)
		if err := os.Chtimes(p.Path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	h := newHub(t, func(h *HubOptions) { h.Listen = addr })
	js := h.admin()
	stream, err := js.Stream(context.Background(), StreamName)
	if err != nil {
		t.Fatal(err)
	}
	config := stream.CachedInfo().Config
	config.MaxMsgSize = 1000
	if _, err := js.UpdateStream(context.Background(), config); err != nil {
		t.Fatal(err)
	}
	next := publish(t, o)
	put(next, 1, 0)
	eventually(t, "the others are sent", func() bool {
		has := h.holds()
		return has[small.ours.subject] != nil && has[next.ours.subject] != nil
	})
	name := strings.TrimSuffix(filepath.Base(large.Path), record.Extension)
	eventually(t, "it is told what is not", func() bool {
		s := next.Progress()
		return strings.HasPrefix(s.OrphanedTrouble, name+": ") && s.Trouble == "" && s.Orphaned > 0
	})
	closeNow(next)
	if left := record.OrphanSpools(filepath.Dir(large.Path), time.Now(), func(string) bool { return true }); !slices.ContainsFunc(left, func(l record.OrphanSpool) bool { return l.Name == name && l.Waits > 0 }) {
		t.Errorf("it does not wait for the next run: %+v", left)
	}
}

// TestLeftReached checks that a left spool's trouble is reported until part of the spool is sent, not only until the
// next attempt.
func TestLeftReached(t *testing.T) {
	o := PublishOptions{Server: "nats://" + freePort(t), Host: "a", Agent: "main", Spool: t.TempDir(), Limit: 1 << 30, By: "test"}
	p := publish(t, o)
	put(p, 1, 0)
	closeNow(p)
	o.Spool = filepath.Dir(p.Path)
	l := findOrphans(&o, time.Now())
	name := l.all[0].Name
	spool, ok := record.TakeSpool(o.Spool, name, time.Now())
	if !ok {
		t.Fatal("it is not taken")
	}
	defer spool.Release()
	told := func() string {
		var s PublishState
		l.addProgress(&s)
		return s.OrphanedTrouble
	}
	want := name + ": " + errDown.Error()
	first := newSender(spool, p.ours.of, Linger)
	l.beginSpool(name, first)
	first.setTrouble(errDown)
	if got := told(); got != want {
		t.Errorf("at first: %q", got)
	}
	l.endSpool(name, first, errDown)
	again := newSender(spool, p.ours.of, Linger)
	if l.beginSpool(name, again); told() != want {
		t.Errorf("when it is tried again: %q", told())
	}
	if again.setTrouble(nil); told() != "" { // as after each message that the hub stores
		t.Errorf("while it is sent: %q", told())
	}
}
