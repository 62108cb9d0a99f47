//go:build !nohub

package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// linesOf returns the lines that a view of the address reads, and its state at the end. It checks that the view reads
// no captures.
func linesOf(t *testing.T, address string) (lines []string, s State) {
	t.Helper()
	v := opened(t, address, Credentials{})
	v.Lines(context.Background(), func(line []byte) bool {
		lines = append(lines, string(line))
		return true
	})
	if v.bytesRead != 0 {
		t.Errorf("%d bytes of captures were read", v.bytesRead)
	}
	return lines, v.State()
}

// manyExchanges publishes six long exchanges of one machine, each in its own messages. One call of the third exchange
// has the status "not an object".
func manyExchanges(t *testing.T, h *hubs, host string) *Publisher {
	t.Helper()
	p := publish(t, h.indexing(t, host))
	records := int64(0)
	for x := 1; x <= 6; x++ {
		for n := range 7 {
			put(p, x, n)
		}
		if records += 8; x == 3 {
			put(p, x, 7)
			records++
		}
		finish(p, x)
		sent(t, p, records)
	}
	eventually(t, "all calls are told", func() bool { return h.countIndexed(host) == 6*7+1 })
	return p
}

// TestCalls checks that a view that filters calls gets the complete exchanges of these calls and reads little else. A
// view of lines reads nothing from the captures.
func TestCalls(t *testing.T) {
	h := newHub(t, nil)
	live := view(t, h.URL()+"?status=not+an+object", nil)
	all := int64(0)
	for _, host := range []string{"a", "b"} {
		all += int64(len(spoolBytes(t, manyExchanges(t, h, host))))
	}
	for address, want := range map[string]string{
		"?until=now&status=not+an+object":                 wants(3, 0, 8) + wants(3, 0, 8),
		"?until=now&status=not+an+object&host=a&since=1h": wants(3, 0, 8),
		"?until=now&model=m.1&status=not+an+object":       wants(3, 0, 8) + wants(3, 0, 8),
		"?until=now&model=m&status=not+an+object":         "",
		"?until=now&model=m.1&host=b":                     wants(1, 0, 7) + wants(2, 0, 7) + wants(3, 0, 8) + wants(4, 0, 7) + wants(5, 0, 7) + wants(6, 0, 7),
	} {
		v := view(t, h.URL()+address, nil)
		<-v.done
		if got := v.text(); got != want || v.State().Lost != 0 || len(v.notes) != 0 || len(strings.Join(v.ends, "")) != 0 {
			t.Errorf("%s: %q, wanted %q; %+v; %q; %q", address, got, want, v.State(), v.notes, v.ends)
		}
		if n := strings.Count(want, wants(3, 0, 8)); n > 0 && (v.State().Hosts != n || len(v.Hosts()) != n) {
			t.Errorf("%s: of %d hosts %+v are known", address, n, v.Hosts())
		}
		for _, f := range v.index.found.now {
			if f.feed != nil {
				t.Errorf("%s: what has ended is kept", address)
			}
		}
		if strings.Contains(address, "status") && v.bytesRead > all/2 {
			t.Errorf("%s: of %d bytes %d were read", address, all, v.bytesRead)
		}
	}
	eventually(t, "the live view has both", func() bool { return live.text() == wants(3, 0, 8)+wants(3, 0, 8) })
	lines, s := linesOf(t, h.URL()+"?until=now&status=not+an+object")
	if text := strings.Join(lines, ""); len(lines) != 2 || strings.Count(text, `"arguments_raw":"<3:7>"}`) != 2 || strings.Contains(text, "opened") || s.Lost+s.Invalid != 0 {
		t.Errorf("%s %+v", text, s)
	}
}

// TestCallsTwice checks that a call is read once even if it was indexed twice, after a restart or because an answer
// from the hub was lost. Invalid lines and lines about another machine's calls are counted and not read.
func TestCallsTwice(t *testing.T) {
	h := newHub(t, nil)
	p := manyExchanges(t, h, "a")
	stream, err := h.admin().Stream(context.Background(), IndexName)
	if err != nil {
		t.Fatal(err)
	}
	for seq := uint64(1); seq <= 6*7+1; seq++ {
		msg, err := stream.GetMsg(context.Background(), seq)
		if err != nil {
			t.Fatal(err)
		}
		again := nats.NewMsg(msg.Subject)
		again.Data = msg.Data
		for _, name := range []string{headUpto, headEnc} {
			if text := msg.Header.Get(name); text != "" {
				again.Header.Set(name, text)
			}
		}
		others := nats.NewMsg(strings.Replace(strings.Replace(msg.Subject, ".a.", ".b.", 1), "."+shardOf("a")+".", "."+shardOf("b")+".", 1))
		others.Header, others.Data = again.Header, again.Data
		for _, m := range []*nats.Msg{again, others} {
			if _, err := p.link.publish(context.Background(), m); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, bad := range []string{"", "{}", `{"type":"call"}`, "{\"type\":\"call\",\n\"opened\":{}}"} {
		m := nats.NewMsg(indexSubject(p.ours.of, "m.1", "complete"))
		m.Data = []byte(bad)
		m.Header.Set(headUpto, "1")
		if _, err := p.link.publish(context.Background(), m); err != nil {
			t.Fatal(err)
		}
	}
	newer := nats.NewMsg(strings.Replace(indexSubject(p.ours.of, "m.1", "complete"), ".v1.", ".v2.", 1))
	if _, err := p.link.publish(context.Background(), newer); err != nil {
		t.Fatal(err)
	}
	lines, s := linesOf(t, h.URL()+"?until=now&model=m.1")
	if len(lines) != 6*7+1 || s.Invalid != 6*7+1+4 || s.Newer != 1 {
		t.Errorf("%d lines, %+v", len(lines), s)
	}
	v := view(t, h.URL()+"?until=now&status=not+an+object", nil)
	if <-v.done; v.text() != wants(3, 0, 8) {
		t.Errorf("%q", v.text())
	}
}

// TestCallsNamed checks that readCall accepts a machine name that isn't valid UTF-8, although JSON can't represent
// it.
func TestCallsNamed(t *testing.T) {
	for host, file := range map[string]string{"a": "a/x", "\xff\xfe": "\ufffd\ufffd/x", "é\u202e": "é\u202e/x"} {
		line, err := json.Marshal(map[string]any{"type": "call", "file": file, "status": "complete"})
		if err != nil {
			t.Fatal(err)
		}
		m := message{head: nats.Header{}, data: append(line[:len(line)-1], `,"opened":{"capture":"c","exchange":1,"offset":0}}`...)}
		if _, _, err := readCall(m, subjectParts{version, host, "x", ""}, callToken("complete")); err != nil {
			t.Errorf("%q: %v", host, err)
		}
		if _, _, err := readCall(m, subjectParts{version, "b", "x", ""}, callToken("complete")); err == nil {
			t.Errorf("%q: a call of another machine is taken", host)
		}
	}
}

// TestCallsBeyond checks that a line with offsets beyond any capture counts as invalid. Nothing is read, and nothing
// counts as lost.
func TestCallsBeyond(t *testing.T) {
	h := newHub(t, nil)
	p := publish(t, h.hurried(t, "a"))
	one(t, p, 1, 0, 2)
	for _, c := range []struct{ upto, offset int64 }{{math.MaxInt64, 0}, {maxCaptureBytes + 1, 1}, {10, maxCaptureBytes + 1}} {
		m := nats.NewMsg(indexSubject(p.ours.of, "m", "complete"))
		m.Data = fmt.Appendf(nil, `{"type":"call","file":"a/main","turn":1,"call":1,"status":"complete","opened":{"capture":"%s","exchange":1,"offset":%d}}`, p.ours.of.id, c.offset)
		m.Header.Set(headUpto, fmt.Sprint(c.upto))
		if _, err := p.link.publish(context.Background(), m); err != nil {
			t.Fatal(err)
		}
	}
	v := view(t, h.URL()+"?until=now&status=complete", nil)
	<-v.done
	if s := v.State(); s.Lost != 0 || s.Invalid != 3 || v.text() != "" {
		t.Errorf("%q %+v %q", v.text(), s, v.notes)
	}
}

// TestCallsGone checks that a view reports how many bytes are missing from an exchange that the hub no longer has.
func TestCallsGone(t *testing.T) {
	h := newHub(t, nil)
	manyExchanges(t, h, "a")
	stream, err := h.admin().Stream(context.Background(), StreamName)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(context.Background()); err != nil {
		t.Fatal(err)
	}
	v := view(t, h.URL()+"?until=now&status=not+an+object", nil)
	<-v.done
	if s := v.State(); v.text() != "" || s.Lost == 0 || s.Gaps != 1 || len(v.notes) != 1 || !strings.Contains(v.notes[0], "gap: ") {
		t.Errorf("%q %+v %q", v.text(), s, v.notes)
	}
	if lines, s := linesOf(t, h.URL()+"?until=now&status=not+an+object"); len(lines) != 1 || s.Lost != 0 {
		t.Errorf("%q %+v", lines, s)
	}
}

// TestDeletedCaptures checks that a capture counts as lost at once if the hub has deleted it but still has other
// captures and the index. It is not requested again, as it would be if the hub lagged.
func TestDeletedCaptures(t *testing.T) {
	h := newHub(t, nil)
	o := manyExchanges(t, h, "a").ours.of
	told := time.Now()
	stream := h.captures(t)
	info, err := stream.Info(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	one(t, publish(t, h.hurried(t, "b")), 1, 0, 2)
	if err := stream.Purge(context.Background(), jetstream.WithPurgeSequence(info.State.LastSeq+1)); err != nil {
		t.Fatal(err)
	}
	v := opened(t, h.URL()+"?status=malformed", Credentials{})
	defer v.link.Close()
	for _, c := range []struct {
		told time.Time
		want error
	}{{told, nil}, {time.Now(), errNotThere}} {
		f := &foundExchange{subjectParts: o, feed: v.feeds.OpenExchange(machineOf(o), v.runKey(o), 1, 0), indexedAt: c.told}
		if err := v.readFoundMessage(context.Background(), f, 1000); !errors.Is(err, c.want) || v.State().Lost != 1000 {
			t.Errorf("%v, wanted %v: %+v", err, c.want, v.State())
		}
	}
}

// TestCallsAmnesia checks that a view of the index continues after the hub lost its store, and reads no call
// twice.
func TestCallsAmnesia(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil)
	v := view(t, h.URL()+"?status=not+an+object&since=1h", nil)
	manyExchanges(t, h, "a")
	eventually(t, "one came", func() bool { return v.text() == wants(3, 0, 8) })
	h.Close()
	if err := os.RemoveAll(h.o.Store); err != nil {
		t.Fatal(err)
	}
	h.start()
	manyExchanges(t, h, "b")
	eventually(t, "the other came", func() bool { return v.text() == wants(3, 0, 8)+wants(3, 0, 8) })
}

// TestNoIndexToRead checks that opening a view of calls on a hub without an index returns an error that says how to
// add an index.
func TestNoIndexToRead(t *testing.T) {
	h := newHub(t, nil)
	if err := h.admin().DeleteStream(context.Background(), IndexName); err != nil {
		t.Fatal(err)
	}
	of, err := ParseAddress(h.URL() + "?model=m")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), of, Credentials{}); err == nil || !strings.Contains(err.Error(), addIndex) {
		t.Error(err)
	}
}

// TestRecent checks that recentKeys remembers the most recent keys and forgets old ones.
func TestRecent(t *testing.T) {
	var r recentKeys[int, bool]
	for n := range 3 * maxRememberedKeys {
		r.add(n, true)
	}
	if _, ok := r.get(2*maxRememberedKeys - 1); !ok {
		t.Error("it forgot too soon")
	}
	if _, ok := r.get(0); ok || len(r.now)+len(r.before) > 2*maxRememberedKeys {
		t.Error("it forgets nothing")
	}
}

// TestNotThereYet checks that bytes that a lagging server of a cluster doesn't have yet aren't counted as lost.
func TestNotThereYet(t *testing.T) {
	h := newHub(t, nil)
	p := publish(t, h.hurried(t, "a"))
	one(t, p, 1, 0, 2)
	v := opened(t, h.URL()+"?status=malformed", Credentials{})
	defer v.link.Close()
	o := p.ours.of
	f := &foundExchange{subjectParts: o, feed: v.feeds.OpenExchange(machineOf(o), v.runKey(o), 1, 0), seq: h.captures(t).CachedInfo().State.LastSeq + 1, indexedAt: time.Now()}
	if err := v.readFoundMessage(context.Background(), f, 1000); !errors.Is(err, errNotThere) || v.State().Lost != 0 {
		t.Errorf("%v, %+v", err, v.State())
	}
	one(t, p, 1, 2, 3)
	if err := v.readFoundMessage(context.Background(), f, 1000); err != nil {
		t.Error(err)
	}
}
