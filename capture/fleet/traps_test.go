//go:build !nohub

package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"toolscope/capture"
)

// one makes the records with the numbers from, from+1, …, to-1, and sends each as a message of its own.
func one(t *testing.T, p *Publisher, exchange, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		put(p, exchange, n)
		sent(t, p, int64(n+1))
	}
}

// TestRolledBack checks that, if a hub restarts from an older copy of its store and reuses the sequence numbers of
// forgotten messages, senders send the lost data again, and a view that continues misses nothing.
func TestRolledBack(t *testing.T) {
	for _, late := range []bool{false, true} { // late: the view reads again only after its last sequence number was reused
		t.Run(fmt.Sprintf("late=%t", late), func(t *testing.T) {
			t.Parallel()
			rolledBack(t, late)
		})
	}
}

func rolledBack(t *testing.T, late bool) {
	h := newHub(t, nil)
	v := view(t, h.URL(), nil)
	p := publish(t, h.sending(t, "a"))
	one(t, p, 1, 0, 10)
	old := filepath.Join(t.TempDir(), "old")
	h.Close()
	copyDir(t, h.o.Store, old)
	h.start()
	one(t, p, 1, 10, 40)
	eventually(t, "the view has what is there", func() bool { return v.text() == wants(1, 0, 40) })
	release := func() {}
	if late {
		v.mu.Lock()
		release = v.mu.Unlock
	}
	one(t, p, 1, 40, 41)
	h.Close()
	for n := 41; n < 60; n++ { // while there is no hub
		put(p, 1, n)
	}
	if err := os.RemoveAll(h.o.Store); err != nil {
		t.Fatal(err)
	}
	copyDir(t, old, h.o.Store)
	h.start()
	sent(t, p, 60)
	one(t, p, 1, 60, 100)
	release()
	h.same(t, p)
	eventually(t, "the view has everything", func() bool { return v.text() == wants(1, 0, 100) })
	if s := v.State(); s.Lost != 0 || s.Gaps != 0 {
		t.Errorf("%+v", s)
	}
}

// TestDeleted checks that a hub that lost its store gets everything again.
func TestDeleted(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil)
	v := view(t, h.URL(), nil)
	p, q := publish(t, h.sending(t, "a")), publish(t, h.sending(t, "b"))
	one(t, p, 1, 0, 10)
	one(t, q, 1, 0, 10)
	h.Close()
	if err := os.RemoveAll(h.o.Store); err != nil {
		t.Fatal(err)
	}
	h.start()
	one(t, p, 1, 10, 12)
	sent(t, q, 10) // although q records nothing new
	eventually(t, "the hub has what it forgot", func() bool { return len(h.holds()) == 2 })
	h.same(t, p)
	h.same(t, q)
	eventually(t, "the view has everything", func() bool { return len(v.text()) == len(wants(1, 0, 12)+wants(1, 0, 10)) })
	if s := v.State(); s.Lost != 0 {
		t.Errorf("%+v", s)
	}
}

// TestMadeAnew checks that data is sent again if a hub's stream was created again with a higher first sequence
// number. The missing data was never in the new stream, so it hasn't expired.
func TestMadeAnew(t *testing.T) {
	h := newHub(t, nil)
	p := publish(t, h.sending(t, "a"))
	one(t, p, 1, 0, 3)
	js := h.admin()
	stream, err := js.Stream(context.Background(), StreamName)
	if err != nil {
		t.Fatal(err)
	}
	config := stream.CachedInfo().Config
	config.FirstSeq = 100
	if err := js.DeleteStream(context.Background(), StreamName); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(context.Background(), config); err != nil {
		t.Fatal(err)
	}
	one(t, p, 1, 3, 4)
	h.same(t, p)
}

// TestExpired checks that no part of a capture whose messages have expired is sent again, and that new data continues
// at the old offset.
func TestExpired(t *testing.T) {
	h := newHub(t, func(o *HubOptions) { o.Keep = time.Second })
	p := publish(t, h.sending(t, "a"))
	one(t, p, 1, 0, 3)
	stream, err := h.admin().Stream(context.Background(), StreamName)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the messages had their time", func() bool {
		info, err := stream.Info(context.Background())
		return err == nil && info.State.Msgs == 0
	})
	_, at, _ := p.ours.spool.Span()
	put(p, 1, 3)
	sent(t, p, 4)
	msg, err := stream.GetMsg(context.Background(), 4)
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := parseSpan(msg.Header.Get(headSpan)); s.from != at {
		t.Errorf("it goes on with %s, not at %d", s, at)
	}
}

// TestOverrun checks that a view that is slower than the hub's retention reports the exact number of bytes it missed,
// and reads new data.
func TestOverrun(t *testing.T) {
	h := newHub(t, func(o *HubOptions) { o.KeepBytes = 1 << 20 })
	of, _ := ParseAddress(h.URL())
	v, err := Open(context.Background(), of, Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	p := publish(t, h.sending(t, "a"))
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	taken, step, got := make(chan struct{}, 1), make(chan struct{}), make(chan capture.Record, 1<<20)
	go func() {
		for r := range v.Source(ctx) {
			got <- r
			select {
			case taken <- struct{}{}:
			default:
			}
			<-step
		}
		close(got)
	}()
	put(p, 1, 0)
	<-taken // the view doesn't ask for more until step is closed
	noise := make([]byte, 64<<10)
	state := uint64(1)
	for i := range noise { // random data can't be compressed
		state = state*6364136223846793005 + 1442695040888963407
		noise[i] = byte(state >> 56)
	}
	const records = 300
	for n := range records {
		for _, c := range keep.Take(capture.Record{Exchange: 2, Data: append(noise[n:len(noise):len(noise)], noise[:n]...)}) {
			p.Put(c)
		}
	}
	sent(t, p, records+1)
	close(step)
	eventually(t, "it is behind the overrun", func() bool { return v.State().Lost > 0 && v.State().Lag == 0 })
	put(p, 1, 1)
	gap, behind := false, 0
	for end := false; !end; { // until the new record arrives
		r := <-got
		gap = gap || r.Lost > 0
		if gap && len(r.Data) == len(noise) {
			behind++
		}
		end = strings.Contains(string(r.Data), "<1:1>")
	}
	if behind > 6 { // a message contains at most three records
		t.Errorf("it reads %d records that the hub is about to let go of", behind)
	}
	stop()
	for range got {
	}
	closeNow(p)
	if s, at := v.State(), v.captures[p.ours.subject].next; at != p.ours.at || v.bytesRead+s.Lost != at {
		t.Errorf("at %d of %d: %d bytes were read, %d are reported as lost", at, p.ours.at, v.bytesRead, s.Lost)
	}
}

// TestNothingLate checks that publish fails at once if there is no connection, and that nothing is sent later.
func TestNothingLate(t *testing.T) {
	h := newHub(t, nil)
	l, err := dialHub(h.URL(), Credentials{}, true, func() {}, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	eventually(t, "it is connected", l.IsConnected)
	h.Close()
	eventually(t, "it notices", func() bool { return !l.IsConnected() })
	msg := nats.NewMsg(captureSubject(bytesKind, "a", "main", "00"))
	msg.Header.Set(headSpan, "0-1")
	msg.Data = []byte("x")
	began := time.Now()
	for range 10 {
		if _, err := l.publish(context.Background(), msg); !errors.Is(err, nats.ErrReconnectBufExceeded) {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took > answerTimeout {
		t.Errorf("it waited %v", took)
	}
	h.start()
	eventually(t, "it is connected again", l.IsConnected)
	if err := l.FlushTimeout(answerTimeout); err != nil {
		t.Fatal(err)
	}
	if has := h.holds(); len(has) != 0 {
		t.Errorf("%d captures came late", len(has))
	}
}

// TestFrozen checks that recording doesn't wait for a hub that never answers.
func TestFrozen(t *testing.T) {
	t.Parallel()
	deaf := newDeaf(t)
	o := PublishOptions{Server: "nats://" + deaf.addr, Host: "a", Agent: "main", Spool: t.TempDir(), Limit: 1 << 30, By: "test"}
	p := publish(t, o)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range 1000 {
			put(p, 1, n)
		}
	}()
	select {
	case <-done:
	case <-time.After(answerTimeout):
		t.Fatal("it waits")
	}
	eventually(t, "all of it is on the disk", func() bool { return p.State().Records == 1000 })
}

// TestSecondSender checks that the hub stores each message once if two senders send the same capture.
func TestSecondSender(t *testing.T) {
	h := newHub(t, nil)
	o := h.sending(t, "a")
	p := publish(t, o)
	v := view(t, h.URL(), nil)
	l, err := dialHub(h.URL(), Credentials{}, true, func() {}, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	second := newSender(p.ours.spool, subjectParts{version, "a", "main", p.ours.subject[strings.LastIndexByte(p.ours.subject, '.')+1:]}, Linger)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() { defer close(over); second.run(ctx, l) }()
	defer func() { cancel(); <-over }()
	for n := range 300 {
		put(p, 1, n)
		if n%10 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	// Both senders are woken by the same signal here, so either may be asleep when the last line is written.
	eventually(t, "the hub has all", func() bool {
		p.ours.spool.Wake()
		return p.State().Records == 300 && bytes.Equal(h.holds()[p.ours.subject], spoolBytes(t, p))
	})
	eventually(t, "the view has all once", func() bool { return v.text() == wants(1, 0, 300) })
}

// TestPoison checks that invalid messages are counted, and that only their own data is lost.
func TestPoison(t *testing.T) {
	h := newHub(t, nil)
	v := view(t, h.URL()+"?since=1h", nil)
	p := publish(t, h.sending(t, "good"))
	one(t, p, 1, 0, 2)
	js := h.admin()
	line, _ := capture.EncodeHeader(time.Now(), "test", "")
	send := func(id string, s string, enc string, data []byte) {
		msg := nats.NewMsg(captureSubject(bytesKind, "bad", "main", id))
		msg.Header.Set(headSpan, s)
		msg.Header.Set("Toolscope-Unheard-Of", "1")
		if enc != "" {
			msg.Header.Set(headEnc, enc)
		}
		msg.Data = data
		if _, err := js.PublishMsg(context.Background(), msg); err != nil {
			t.Fatal(err)
		}
	}
	n := len(line)
	send("00", fmt.Sprintf("0-%d", n), "", line)
	send("00", fmt.Sprintf("%d-%d", n, n+100), "zstd", []byte("no zstd"))
	bomb := compress(make([]byte, maxSpanBytes+1))
	send("00", fmt.Sprintf("%d-%d", n+100, n+200), "zstd", bomb)
	record, _ := capture.EncodeRecord(capture.Record{Exchange: 1, Data: []byte("after the gap")})
	send("00", fmt.Sprintf("%d-%d", n+200, n+200+len(record)), "", record)
	broken := bytes.Replace(record, []byte("after"), []byte("AFTER"), 1)
	send("00", fmt.Sprintf("%d-%d", n+200+len(record), n+200+2*len(record)), "", broken)
	send("01", "7-7", "", nil)
	send("01", "0-99999999999999", "", []byte("x"))
	send("01", "x", "br", nil)
	if _, err := js.Publish(context.Background(), "toolscope.v2.b.1.h.a.00", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	one(t, p, 1, 2, 4)
	eventually(t, "the good ones come", func() bool {
		return strings.Contains(v.text(), wants(1, 0, 4)) && strings.Contains(v.text(), "after the gap")
	})
	if s := v.State(); s.Lost != 200 || s.Gaps != 1 || s.Invalid != 5 || s.Newer != 1 {
		t.Errorf("%+v", s)
	}
}
