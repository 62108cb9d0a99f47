//go:build !nohub

package fleet

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"toolscope/capture"
)

func TestAddress(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	a, err := ParseAddress("nats://hub:4222?host=a.b&agent=c&since=15m&until=now")
	if err != nil || a != (Address{Server: "nats://hub:4222", Host: "a.b", Agent: "c", Since: TimeSpec{set: true, ago: 15 * time.Minute}, Until: TimeSpec{set: true}}) {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err := ParseAddress("nats://hub:4222?until=now"); err != nil || !a.All {
		t.Errorf("%+v, %v", a, err)
	}
	for _, text := range []string{"tls://a:4222,b:4223?since=15m", "tls://a:4222,tls://b:4223?since=15m"} {
		if a, err := ParseAddress(text); err != nil || a.Server != "tls://a:4222,tls://b:4223" || a.Since != (TimeSpec{set: true, ago: 15 * time.Minute}) {
			t.Errorf("%s: %+v, %v", text, a, err)
		}
	}
	for _, bad := range []string{
		"nats://a:4222,tls://b:4222", "nats://a:4222,", "nats://a:4222,u:hunter2pw@b:4222", "nats://u:hunter2pw,x@b:4222",
		"nats://u:hunter2pw@hub:4222", "nats://token@hub", "nats://", "nats://hub/x", "nats://hub?hots=a", "nats://hub?since=soon", "http://hub", "nats://u:hunter2pw@%zz",
		"nats://hub?host=a&host=b", "nats://hub?since=1h&until=2h", "nats://hub?since=2026-11-20T10:00:00Z&until=2026-11-20T09:59:59Z",
	} {
		if _, err := ParseAddress(bad); err == nil || strings.Contains(err.Error(), "hunter2pw") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for query, want := range map[string]error{
		"since=2h&until=1h": nil, "until=2026-11-20T10:00:00Z": nil, "since=1h": nil, "since=2026-11-20T12:00:00Z": nil,
		"until=2026-11-20T10:00:01Z": errToCome, "since=5m&until=2026-11-20T09:00:00Z": errBackwards,
	} {
		a, err := ParseAddress("nats://hub?" + query)
		if err != nil {
			t.Errorf("%s: %v", query, err)
		}
		if _, _, err := a.timeRange(now); err != want {
			t.Errorf("%s: %v, wanted %v", query, err, want)
		}
	}
}

func TestSubject(t *testing.T) {
	const host, agent = "web.1 *>%/ä", "main"
	s := captureSubject(bytesKind, host, agent, "00ff")
	if strings.ContainsAny(strings.ReplaceAll(s, ".", ""), " *>/") || strings.Count(s, ".") != 6 {
		t.Errorf("%q", s)
	}
	if o, ok := originOf(s); !ok || o != (subjectParts{version, host, agent, "00ff"}) {
		t.Errorf("%q is %+v", s, o)
	}
}

// TestRoundTrip checks that a view reads from the hub exactly the bytes that were recorded, live and from
// history.
func TestRoundTrip(t *testing.T) {
	h := newHub(t, nil)
	live := view(t, h.URL(), nil)
	a, b := publish(t, h.sending(t, "a")), publish(t, h.sending(t, "b"))
	for n := range 200 {
		put(a, 1, n)
		put(b, 1, n)
	}
	sent(t, a, 200)
	sent(t, b, 200)
	h.same(t, a)
	h.same(t, b)
	eventually(t, "the live view has all", func() bool { return len(live.text()) == 2*len(wants(1, 0, 200)) })

	for address, want := range map[string]string{
		h.URL() + "?until=now":                     wants(1, 0, 200) + wants(1, 0, 200),
		h.URL() + "?until=now&host=a":              wants(1, 0, 200),
		h.URL() + "?until=now&host=a&agent=b":      "",
		h.URL() + "?until=now&since=1h&host=b":     wants(1, 0, 200),
		h.URL() + "?until=now&agent=main&since=1h": wants(1, 0, 200) + wants(1, 0, 200),
	} {
		v := view(t, address, nil)
		<-v.done
		if got := v.text(); got != want || v.State().Lost != 0 {
			t.Errorf("%s: %d bytes, wanted %d; %+v", address, len(got), len(want), v.State())
		}
	}
	if hosts := live.Hosts(); len(hosts) != 2 || hosts[0].Name != "a" || hosts[1].Skew.Abs() > time.Second {
		t.Errorf("%+v", hosts)
	}
}

// TestOver checks that a publisher that ends reports its capture as over only if the hub has all of it.
func TestOver(t *testing.T) {
	h := newHub(t, nil)
	conn, err := nats.Connect(h.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	heard, err := conn.SubscribeSync(subjectFilter(healthKind, "a", "main"))
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	p := publish(t, h.sending(t, "a"))
	put(p, 1, 0)
	sent(t, p, 1)
	closeNow(p)
	for over := ""; over == ""; {
		msg, err := heard.NextMsg(answerTimeout)
		if err != nil {
			t.Fatal(err)
		}
		if over = msg.Header.Get(headOver); over != "" && (over != "1" || msg.Header.Get(headSpooled) != "0") {
			t.Errorf("%v", msg.Header)
		}
	}
	if err := h.admin().DeleteStream(context.Background(), StreamName); err != nil {
		t.Fatal(err)
	}
	p = publish(t, h.sending(t, "a"))
	put(p, 1, 0)
	eventually(t, "it cannot send", func() bool { return strings.Contains(p.Progress().Trouble, StreamName) })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.Close(ctx)
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	for {
		msg, err := heard.NextMsg(time.Millisecond)
		if err != nil {
			break
		}
		if msg.Header.Get(headOver) != "" {
			t.Error("it says that the hub has everything")
		}
	}
}

// TestNoHub checks that recording starts and ends without a hub, and that the next run sends what the hub lacks.
func TestNoHub(t *testing.T) {
	t.Parallel()
	o := PublishOptions{Server: "nats://" + freePort(t), Host: "a", Agent: "main", Spool: t.TempDir(), Limit: 1 << 30, By: "test"}
	p := publish(t, o)
	for n := range 10 {
		put(p, 1, n)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := p.Close(ctx); err != nil {
		t.Error(err)
	}
	if s := p.Progress(); s.Spooled == 0 || s.Losses != nil || s.Trouble == "" {
		t.Errorf("%+v", s)
	}
	left := spoolBytes(t, p)

	h := newHub(t, func(h *HubOptions) { h.Listen = strings.TrimPrefix(o.Server, "nats://") })
	next := publish(t, o)
	put(next, 1, 0)
	eventually(t, "what was left is sent", func() bool { return string(h.holds()[p.ours.subject]) == string(left) })
	closeNow(next)
	sentFiles, _ := filepath.Glob(filepath.Join(filepath.Dir(p.Path), "*.tsc"))
	if len(sentFiles) != 2 {
		t.Errorf("kept after it was sent: %v", sentFiles)
	}
	// A spool that is marked as sent isn't sent again when the hub no longer has its data. The spool is deleted.
	if err := h.admin().DeleteStream(ctx, StreamName); err != nil {
		t.Fatal(err)
	}
	for _, one := range []*Publisher{p, next} {
		wasSent(t, one, time.Now().Add(-time.Hour))
	}
	h.Close()
	h.start()
	last := publish(t, o)
	put(last, 1, 0)
	sent(t, last, 1)
	if has := h.holds(); len(has) != 1 {
		t.Errorf("the hub has %d captures", len(has))
	}
	if files, _ := filepath.Glob(filepath.Join(filepath.Dir(p.Path), "*")); len(files) != 2 {
		t.Errorf("what was sent a while ago is still there: %v", files)
	}
}

// TestLargeSlices checks that a line that is longer than a message is sent in several messages and read as one
// record.
func TestLargeSlices(t *testing.T) {
	h := newHub(t, nil)
	p := publish(t, h.sending(t, "a"))
	body := strings.Repeat("0123456789abcdef", 100_000)
	for _, c := range keep.Take(capture.Record{Exchange: 1, Data: []byte(body)}) {
		p.Put(c)
	}
	sent(t, p, 1)
	h.same(t, p)
	v := view(t, h.URL()+"?until=now", nil)
	<-v.done
	if v.text() != body {
		t.Errorf("%d bytes of %d", len(v.text()), len(body))
	}
}

// TestSpoolFull checks that data deleted from the spool before it was sent counts as lost, and that the publisher and
// the view report the exact number of bytes.
func TestSpoolFull(t *testing.T) {
	addr := freePort(t)
	o := PublishOptions{Server: "nats://" + addr, Host: "a", Agent: "main", Spool: t.TempDir(), Limit: 256 << 10, By: "test"}
	p := publish(t, o)
	const records = 20_000
	for n := range records {
		put(p, 1, n)
	}
	eventually(t, "everything is written", func() bool { return p.State().Records == records })
	first, end, _ := p.ours.spool.Span()
	if first == 0 || end-first > o.Limit+o.Limit/8 {
		t.Fatalf("the spool has %d to %d", first, end)
	}
	h := newHub(t, func(h *HubOptions) { h.Listen = addr })
	sent(t, p, records)
	if s := p.Progress(); s.Losses.Bytes() != first {
		t.Errorf("lost are %d, told are %d", first, s.Losses.Bytes())
	}
	v := view(t, h.URL()+"?until=now", nil)
	<-v.done
	if s := v.State(); s.Lost != first || s.Gaps != 1 {
		t.Errorf("lost are %d: %+v", first, s)
	}
	if notes := strings.Join(v.notes, "\n"); !strings.Contains(notes, "joined midway") || !strings.Contains(notes, "gap: ") {
		t.Error(notes)
	}
	if got := v.text(); !strings.HasSuffix(wants(1, 0, records), got) || len(got) < 10_000 {
		t.Errorf("%d bytes came that are not the last", len(got))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := p.Close(ctx); err == nil {
		t.Error("the loss is not told at the end")
	}
}
