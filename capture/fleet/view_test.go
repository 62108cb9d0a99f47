//go:build !nohub

package fleet

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"toolscope/capture"
)

// TestSilent: what a host had open that is not heard of any more is cut, by us; what comes of it
// later all the same is an exchange of its own. Another host's stays open.
func TestSilent(t *testing.T) {
	h := newHub(t, nil)
	v := view(t, h.URL(), func(v *View) { v.quiet = 7 * time.Second }) // more than a sign takes
	p, q := publish(t, h.sending(t, "a")), publish(t, h.sending(t, "b"))
	put(p, 1, 0)
	put(q, 1, 0)
	sent(t, p, 1)
	sent(t, q, 1)
	p.cancel() // as if it was killed
	p.all.Wait()
	eventually(t, "a is silent", func() bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		return len(v.ends) > 0
	})
	if hosts := v.State().Hosts; len(hosts) != 2 || !hosts[0].Silent || hosts[1].Silent {
		t.Errorf("%+v", hosts)
	}
	if len(v.ends) != 1 || !strings.Contains(v.ends[0], "nothing was heard of a") {
		t.Error(v.ends)
	}
	put(p, 1, 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go p.ours.run(ctx, p.link)
	eventually(t, "what came later is there", func() bool { return strings.Contains(v.text(), "<1:1>") })
	v.seenMidway(t, 3)
}

func (s *seen) seenMidway(t *testing.T, exchange int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if notes := strings.Join(s.notes, "\n"); strings.Count(notes, "joined midway") != 1 || s.data[string(rune('0'+exchange))] != "<1:1>" {
		t.Errorf("%q\n%v", notes, s.data)
	}
}

// TestLinger: what comes within the time that a sender waits is one message.
func TestLinger(t *testing.T) {
	h := newHub(t, nil)
	o := h.sending(t, "a")
	o.Linger = time.Minute
	p := publish(t, o)
	for n := range 3 {
		put(p, 1, n)
		time.Sleep(2 * Linger)
	}
	closeNow(p) // has it wait no longer
	h.same(t, p)
	stream, err := h.admin().Stream(t.Context(), StreamName)
	if err != nil || stream.CachedInfo().State.Msgs != 1 {
		t.Errorf("%+v, %v", stream, err)
	}
}

// TestSince: of what is older only exchanges are shown that something newer is of, with their
// beginning. Whose clock is wrong makes no difference.
func TestSince(t *testing.T) {
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
	time.Sleep(1500 * time.Millisecond)
	put(p, 2, 5)
	sent(t, p, 4)
	v := view(t, h.URL()+"?since=1s&until=now", nil)
	<-v.done
	if got := v.text(); got != "<old>"+wants(2, 5, 6) {
		t.Errorf("%q", got)
	}
	if s := v.State(); s.Lost != 0 {
		t.Errorf("%+v", s)
	}
}

// TestSkew: a host whose clock is an hour ahead is told, and its capture began when the hub says.
func TestSkew(t *testing.T) {
	h := newHub(t, nil)
	v := view(t, h.URL(), nil)
	conn, err := nats.Connect(h.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ahead := time.Now().Add(time.Hour)
	line, _ := capture.EncodeHeader(ahead, "test")
	s := &sender{subject: captureSubject(bytesKind, "a", "main", "00"), created: ahead.Format(time.RFC3339Nano)}
	msg := s.message(line, int64(len(line)))
	msg.Header.Set(headSent, "9999999999999")
	msg.Header.Del(headEnc)
	msg.Data = line
	if _, err := conn.RequestMsg(msg, wait); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is seen", func() bool { return len(v.State().Hosts) == 1 })
	if skew := v.State().Hosts[0].Skew; skew < time.Hour {
		t.Errorf("skew %v", skew)
	}
}
