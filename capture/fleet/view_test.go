//go:build !nohub

package fleet

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"toolscope/capture"
)

// TestSilent checks that a view cuts off the open exchanges of a silent machine, and that later data of such an
// exchange starts a new exchange. The exchanges of other machines stay open.
func TestSilent(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil)
	v := view(t, h.URL(), func(v *View) { v.quiet = 7 * time.Second }) // longer than the interval between heartbeats
	p, q := publish(t, h.sending(t, "a")), publish(t, h.sending(t, "b"))
	put(p, 1, 0)
	put(q, 1, 0)
	sent(t, p, 1)
	sent(t, q, 1)
	p.cancel() // as if it had been killed
	p.all.Wait()
	eventually(t, "a is silent", func() bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		return len(v.ends) > 0
	})
	if hosts := v.Hosts(); len(hosts) != 2 || !hosts[0].Silent || hosts[1].Silent {
		t.Errorf("%+v", hosts)
	}
	if len(v.ends) != 1 || !strings.Contains(v.ends[0], "no sign of a/main") {
		t.Error(v.ends)
	}
	put(p, 1, 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go p.ours.run(ctx, p.link)
	eventually(t, "what came later is there", func() bool { return strings.Contains(v.text(), "<1:1>") })
	v.seenGoingOn(t, 3)
}

func (s *seen) seenGoingOn(t *testing.T, exchange int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if notes := strings.Join(s.notes, "\n"); strings.Count(notes, "was cut off above: no sign of a/main") != 1 || s.data[string(rune('0'+exchange))] != "<1:1>" {
		t.Errorf("%q\n%v", notes, s.data)
	}
}

// TestLinger checks that all records within the linger time are sent as one message.
func TestLinger(t *testing.T) {
	h := newHub(t, nil)
	o := h.sending(t, "a")
	o.Linger = time.Minute
	p := publish(t, o)
	for n := range 3 {
		put(p, 1, n)
		time.Sleep(2 * Linger)
	}
	closeNow(p) // ends the wait
	h.same(t, p)
	stream, err := h.admin().Stream(t.Context(), StreamName)
	if err != nil || stream.CachedInfo().State.Msgs != 1 {
		t.Errorf("%+v, %v", stream, err)
	}
}

// TestSince checks that since=TIME shows an older exchange only if it has newer data, and then from its beginning.
func TestSince(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil)
	p := publish(t, h.sending(t, "a"))
	old := func(x int, end capture.End) {
		for _, c := range keep.Take(capture.Record{Exchange: x, Head: &capture.Head{Status: 200}, Data: []byte("<old>"), End: end}) {
			p.Put(c)
		}
	}
	old(1, capture.EndEOF)
	old(2, "")
	old(3, "")
	sent(t, p, 3)
	last, err := h.captures(t).GetLastMsgForSubject(t.Context(), p.ours.subject)
	if err != nil {
		t.Fatal(err)
	}
	put(p, 2, 5)
	sent(t, p, 4)
	since := last.Time.Add(time.Nanosecond).UTC().Format(time.RFC3339Nano)
	v := view(t, h.URL()+"?until=now&since="+since, nil)
	<-v.done
	if got := v.text(); got != "<old>"+wants(2, 5, 6) {
		t.Errorf("%q", got)
	}
	if s := v.State(); s.Lost != 0 || len(v.ends) != 1 {
		t.Errorf("%+v, %d exchanges end", s, len(v.ends))
	}
}

// TestSkew checks that a view reports the skew of a machine whose clock is an hour fast or slow. The times of
// its exchanges follow the hub's clock, and the times between its records stay the same.
func TestSkew(t *testing.T) {
	h := newHub(t, nil)
	conn, err := nats.Connect(h.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, skew := range []time.Duration{time.Hour, -time.Hour} {
		host, clock := fmt.Sprint("h", skew.Hours()), time.Now().Add(skew)
		data, _ := capture.EncodeHeader(clock, "test", "")
		times := []time.Duration{2 * time.Second, 2*time.Second + 10*time.Millisecond, 3 * time.Second}
		for _, at := range times {
			line, err := capture.EncodeRecord(capture.Record{Exchange: 1, At: at, Data: []byte("x")})
			if err != nil {
				t.Fatal(err)
			}
			data = append(data, line...)
		}
		s := &sender{subject: captureSubject(bytesKind, host, "main", "00"), began: clock}
		msg := s.newMessage(data, int64(len(data)))
		msg.Header.Set(headSent, strconv.FormatInt(clock.UnixMilli(), 10))
		if _, err := conn.RequestMsg(msg, answerTimeout); err != nil {
			t.Fatal(err)
		}
		v := opened(t, h.URL()+"?since=1m&until=now&host="+host, Credentials{})
		var came []time.Duration
		for r, err := range v.Source(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Data) > 0 {
				came = append(came, r.At)
			}
		}
		if len(came) != 3 || came[1]-came[0] != times[1]-times[0] || came[2]-came[1] != times[2]-times[1] {
			t.Errorf("%s: records at %v", host, came)
		}
		if hosts := v.Hosts(); len(hosts) != 1 || (hosts[0].Skew-skew).Abs() > 10*time.Minute {
			t.Errorf("%s: %+v", host, hosts)
		}
	}
}

// TestViewersClock checks that a wrong clock on the viewer's machine affects neither since, nor which machines are
// silent, nor the reported times. All three follow the hub's clock.
func TestViewersClock(t *testing.T) {
	h := newHub(t, nil)
	one(t, publish(t, h.sending(t, "a")), 1, 0, 1)
	for _, wrong := range []time.Duration{time.Hour, -time.Hour} {
		of, err := ParseAddress(h.URL() + "?since=10m")
		if err != nil {
			t.Fatal(err)
		}
		now := func() time.Time { return time.Now().Add(wrong) }
		v, err := openViewAt(context.Background(), of, Credentials{}, now)
		if err != nil {
			t.Fatal(err)
		}
		for r := range v.Source(context.Background()) {
			if len(r.Data) > 0 {
				break
			}
		}
		if hosts := v.Hosts(); len(hosts) != 1 || hosts[0].Silent || now().Sub(hosts[0].LastSeen).Abs() > silence || hosts[0].Skew.Abs() > silence || v.State().Lag > silence {
			t.Errorf("%v: %+v, %+v", wrong, hosts, v.State())
		}
		if since := time.Since(v.since); (since - 10*time.Minute).Abs() > silence {
			t.Errorf("%v: since %v ago", wrong, since)
		}
	}
}
