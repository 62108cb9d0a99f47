package fleet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"toolscope/capture"
)

// bare returns a view that has no hub. It handles the messages that the test passes to it, and its clock shows *at.
func bare(at *time.Time) *View {
	v := &View{link: &link{}, now: func() time.Time { return *at }, quiet: silence, listening: *at, captures: map[string]*captureState{}, machines: map[string]*machine{}, lastReports: map[subjectParts]*lastReport{}}
	v.link.up.Store(true)
	v.clock.addSample(*at, *at, *at)
	return v
}

// message is a message of a capture.
type message struct {
	jetstream.Msg
	of   subjectParts
	head nats.Header
	data []byte
}

func (m message) Subject() string      { return captureSubject(bytesKind, m.of.host, m.of.agent, m.of.id) }
func (m message) Headers() nats.Header { return m.head }
func (m message) Data() []byte         { return m.data }

func (v *View) bring(of subjectParts, from int64, data []byte, at time.Time, more ...string) {
	m := message{of: of, data: data, head: nats.Header{}}
	m.head.Set(headSpan, byteRange{from, from + int64(len(data))}.String())
	for i := 0; i < len(more); i += 2 {
		m.head.Set(more[i], more[i+1])
	}
	meta := &jetstream.MsgMetadata{Timestamp: at}
	v.feedMessage(m, meta, !at.Before(v.since))
	v.countMessage(m, meta)
	v.deliverRead(func(capture.Record, error) bool { return true }, !at.Before(v.since))
}

func header(t *testing.T) []byte {
	t.Helper()
	line, err := capture.EncodeHeader(time.Now(), "test", "")
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func line(t *testing.T, r capture.Record) []byte {
	t.Helper()
	text, err := capture.EncodeRecord(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestMachines checks that a machine's number of unsent bytes is the sum over its captures. A machine that ended
// properly and a machine known only from stored data aren't silent; a machine that stopped is.
func TestMachines(t *testing.T) {
	now := time.Now()
	v := bare(&now)
	head, start := header(t), now
	for _, o := range []subjectParts{{version, "a", "x", "1"}, {version, "a", "y", "2"}, {version, "done", "x", "3"}, {version, "dead", "x", "4"}} {
		v.bring(o, 0, head, now, headSpooled, "100")
	}
	v.bring(subjectParts{version, "old", "x", "5"}, 0, head, now.Add(-time.Hour))
	v.bring(subjectParts{version, "a", "y", "2"}, int64(len(head)), []byte("\n"), now, headSpooled, "20")
	if hosts := v.Hosts(); len(hosts) != 4 || hosts[0].Spooled != 120 || hosts[0].FromRecords || !hosts[3].FromRecords {
		t.Errorf("%+v", hosts)
	}
	last := nats.NewMsg(captureSubject(healthKind, "done", "x", "3"))
	last.Header.Set(headOver, "1")
	last.Header.Set(headSpooled, "0")
	now = start.Add(time.Second)
	v.onHeartbeat(last)
	now = start.Add(silence + 2*time.Second)
	for _, id := range []string{"x.1", "y.2"} {
		agent, id, _ := strings.Cut(id, ".")
		v.onHeartbeat(nats.NewMsg(captureSubject(healthKind, "a", agent, id)))
	}
	for _, h := range v.Hosts() {
		if h.Silent {
			t.Error("somebody is silent, and nobody listened")
		}
	}
	v.looked = now
	var got []string
	for _, h := range v.Hosts() {
		got = append(got, fmt.Sprint(h.Name, " ", h.Silent, h.Ended))
	}
	if text := strings.Join(got, "; "); text != "a false false; dead true false; done false true; old false false" {
		t.Error(text)
	}
	if s := v.State(); s.Silent != 1 || s.First != "dead" || s.Hosts != 4 {
		t.Errorf("%+v", s)
	}
	v.onHeartbeat(nats.NewMsg(captureSubject(healthKind, "done", "x", "3")))
	if v.Hosts()[2].Ended {
		t.Error("one that begins again has ended")
	}
	now = now.Add(keepOver + time.Second)
	v.pruneStale(now)
	if hosts := v.Hosts(); len(hosts) != 3 || len(v.captures) != 0 || hosts[0].Spooled != 0 { // silent hosts are kept longer
		t.Errorf("%+v, %d captures", hosts, len(v.captures))
	}
	now = now.Add(keepSilent)
	if v.pruneStale(now); len(v.Hosts()) != 0 {
		t.Errorf("%+v", v.Hosts())
	}
}

// TestDropped checks that a capture whose state was dropped continues at its old offset, and that missing bytes are
// counted.
func TestDropped(t *testing.T) {
	now := time.Now()
	v := bare(&now)
	o, head := subjectParts{version, "a", "x", "1"}, header(t)
	first := line(t, capture.Record{Exchange: 1, Head: &capture.Head{Status: 200}, Data: []byte("x"), End: capture.EndEOF})
	v.bring(o, 0, append(head, first...), now)
	end := int64(len(head) + len(first))
	now = now.Add(keepOver + time.Second)
	if v.pruneStale(now); len(v.captures)+len(v.order) != 0 {
		t.Fatal("it is not dropped")
	}
	v.bring(o, 0, append(head, first...), now) // sent again, as to a hub that lost its store
	next := line(t, capture.Record{Exchange: 2, Head: &capture.Head{Status: 200}, Data: []byte("y")})
	v.bring(o, end, next, now)
	if s := v.State(); s.Lost != 0 || s.Invalid != 0 || v.bytesRead != end+int64(len(next)) || v.order[0].feed.CountOpen() != 1 {
		t.Errorf("%+v, %d bytes of %d", s, v.bytesRead, end+int64(len(next)))
	}
	v.bring(o, end+int64(len(next))+10, next, now)
	if s := v.State(); s.Lost != 10 {
		t.Errorf("%+v", s)
	}
}

// TestStoodStill checks that a view that was suspended or disconnected reports no machine as silent and cuts off no
// exchange, because it could receive nothing. If only one of a machine's two captures is silent, only that one is cut
// off.
func TestStoodStill(t *testing.T) {
	now := time.Now()
	v := bare(&now)
	x, y := subjectParts{version, "a", "x", "1"}, subjectParts{version, "a", "y", "2"}
	head, open := header(t), line(t, capture.Record{Exchange: 1, Data: []byte("x")})
	for _, o := range []subjectParts{x, y} {
		v.bring(o, 0, append(head, open...), now)
	}
	now = now.Add(10 * silence)
	v.listening = now.Add(-time.Second) // as if it had just reconnected
	var why []string
	yield := func(r capture.Record, _ error) bool { why = append(why, r.Why); return true }
	if !v.lookForSilent(now, yield) || len(why) > 0 || v.State().Silent > 0 {
		t.Fatalf("%q, %+v", why, v.State())
	}
	now = now.Add(silence)
	v.onHeartbeat(nats.NewMsg(captureSubject(healthKind, "a", "y", "2")))
	v.lookForSilent(now, yield)
	if len(why) != 1 || why[0] != "no sign of a/x for 30s" || v.State().Silent > 0 {
		t.Errorf("%q, %+v", why, v.State())
	}
}

// TestSilentEarly checks that no end is passed on for an exchange without new data when its machine falls silent.
func TestSilentEarly(t *testing.T) {
	now := time.Now()
	v := bare(&now)
	v.since = now.Add(-time.Minute)
	v.bring(subjectParts{version, "a", "x", "1"}, 0, append(header(t), line(t, capture.Record{Exchange: 1, Data: []byte("x")})...), now.Add(-time.Hour))
	v.onIdle() // everything there is has been read
	now = now.Add(2 * silence)
	v.lookForSilent(now, func(r capture.Record, _ error) bool { t.Errorf("%+v", r); return true })
	if len(v.early.of) != 0 || v.early.bytes != 0 {
		t.Error("it is kept")
	}
}

// TestGapBefore checks that gaps before the requested start aren't counted.
func TestGapBefore(t *testing.T) {
	now := time.Now()
	v := bare(&now)
	v.since = now.Add(-time.Minute)
	o, head := subjectParts{version, "a", "x", "1"}, header(t)
	v.bring(o, 0, head, now.Add(-time.Hour))
	record := line(t, capture.Record{Exchange: 1, Data: []byte("x")})
	v.bring(o, int64(len(head))+100, record, now.Add(-time.Hour))
	if s := v.State(); !s.Complete() {
		t.Errorf("%+v", s)
	}
	v.bring(o, int64(len(head)+len(record))+200, record, now)
	if s := v.State(); s.Lost != 100 || s.Gaps != 1 {
		t.Errorf("%+v", s)
	}
}

// TestLag checks that the lag includes messages that have arrived and wait to be read.
func TestLag(t *testing.T) {
	now := time.Now()
	v := bare(&now)
	v.bring(subjectParts{version, "a", "x", "1"}, 0, header(t), now.Add(-5*time.Second))
	if s := v.State(); s.Lag != 5*time.Second {
		t.Errorf("%+v", s)
	}
	if v.onIdle(); v.State().Lag != 0 {
		t.Errorf("%+v", v.State())
	}
}

// TestSkewLate checks that a message that took long to reach the hub doesn't change its machine's skew, and that
// setting a clock back does.
func TestSkewLate(t *testing.T) {
	now := time.Now().Truncate(time.Millisecond)
	v, o, at := bare(&now), subjectParts{version, "a", "x", "1"}, int64(0)
	bring := func(skew, late time.Duration) time.Duration {
		data := header(t)
		v.bring(o, at, data, now, headSent, fmt.Sprint(now.Add(skew-late).UnixMilli()))
		at += int64(len(data))
		return v.Hosts()[0].Skew
	}
	for _, c := range []struct{ skew, late, want time.Duration }{{0, 0, 0}, {0, 9 * time.Second, 0}, {time.Hour, 0, time.Hour}} {
		if got := bring(c.skew, c.late); got != c.want {
			t.Errorf("%v: %v", c, got)
		}
	}
	for range 3 {
		bring(-time.Hour, 0)
	}
	if got := bring(-time.Hour, time.Second); got != -time.Hour {
		t.Errorf("set back it is %v", got)
	}
}

// TestNotes checks that a capture gets at most one note a second. If it has trouble all day, it gets few notes, which
// say how many were left out. All losses are counted, and the sum stops at the largest number.
func TestNotes(t *testing.T) {
	now := time.Now()
	v := bare(&now)
	a, b := subjectParts{version, "a", "x", "1"}, subjectParts{version, "b", "x", "2"}
	for range 1000 {
		v.countLost(a, 1<<62, "never came")
	}
	v.countLost(b, 1, "never came")
	if len(v.recs) != 2 || v.state.Gaps != 1001 || v.state.Lost != math.MaxInt64 {
		t.Errorf("%d notes, %+v", len(v.recs), v.state)
	}
	now = now.Add(minNoteInterval)
	v.countLost(a, 1, "never came")
	if note := v.recs[len(v.recs)-1].Note; !strings.Contains(note, "999 notes left out before this") {
		t.Error(note)
	}
	before := len(v.recs)
	for range 24 * 3600 {
		now = now.Add(minNoteInterval)
		v.countLost(a, 1, "never came")
	}
	if n := len(v.recs) - before; n < 24*12 || n > 24*12+10 {
		t.Errorf("%d notes in a day of one a second", n)
	}
	now = now.Add(time.Hour)
	v.countLost(a, 1, "never came")
	now = now.Add(minNoteInterval)
	v.countLost(a, 1, "never came")
	if note := v.recs[len(v.recs)-1].Note; strings.Contains(note, "before this") || len(v.recs) < before+24*12+2 {
		t.Errorf("after a quiet hour the second one is not said: %q", note)
	}
	if _, err := parseSpan(fmt.Sprintf("%d-%d", int64(1<<62), int64(1<<62+1))); err == nil {
		t.Error("a span beyond any capture is one")
	}
}

// TestEarly checks that the memory for exchanges without new data is bounded, and that a note says what was left out.
func TestEarly(t *testing.T) {
	var e earlyRecords
	data := make([]byte, 1<<20)
	for x := range 300 {
		e.add(capture.Record{Exchange: x, Head: &capture.Head{Status: 200}})
		e.add(capture.Record{Exchange: x, Data: data})
	}
	if e.bytes > maxEarlyBytes {
		t.Errorf("%d bytes are kept", e.bytes)
	}
	first, last := e.takeRecords(0), e.takeRecords(299)
	if len(first) != 2 || first[0].Head == nil || first[1].Lost != 1<<20 || !strings.Contains(first[1].Note, "joined midway") {
		t.Errorf("%+v", first)
	}
	if len(last) != 2 || len(last[1].Data) != len(data) {
		t.Errorf("%d records", len(last))
	}
	for x := range 300 {
		e.dropExchange(x)
	}
	if e.bytes != 0 || len(e.of)+len(e.order) != 0 {
		t.Errorf("%d bytes, %d exchanges", e.bytes, len(e.of))
	}
}

// TestStateCost checks that State, which is called for each frame of the screen, doesn't take longer with many
// machines.
func TestStateCost(t *testing.T) {
	now := time.Now()
	v := bare(&now)
	for i := range 10_000 {
		v.noteSign(subjectParts{version, fmt.Sprint("h", i), "x", "1"}, nats.Header{}, now, now)
	}
	_ = v.State()
	if n := testing.AllocsPerRun(100, func() { _ = v.State() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	v.noteSign(subjectParts{version, "one more", "x", "1"}, nats.Header{}, now, now)
	if n := v.State().Hosts; n != 10_000 {
		t.Errorf("it counts the machines anew, %d", n)
	}
	now = now.Add(sumEvery)
	if n := v.State().Hosts; n != 10_001 {
		t.Errorf("%d machines", n)
	}
}

// TestRuns checks that captures with the same name on two hubs have different keys.
func TestRuns(t *testing.T) {
	o := subjectParts{version, "a", "x", "1"}
	eu, us := &View{of: Address{Server: "nats://eu:4222"}}, &View{of: Address{Server: "nats://us:4222"}}
	if eu.runKey(o) == us.runKey(o) || eu.runKey(o) == eu.runKey(subjectParts{version, "a", "x", "2"}) {
		t.Error(eu.runKey(o))
	}
}

// TestTrouble checks that a permission error stays the reported trouble when later requests only time out.
func TestTrouble(t *testing.T) {
	now := time.Now()
	v := bare(&now)
	for _, c := range []struct {
		err  error
		want string
	}{
		{context.DeadlineExceeded, "the hub does not answer"}, {errors.New("nats: permissions violation\nand more"), "permissions violation"},
		{fmt.Errorf("nats: %w", context.DeadlineExceeded), "permissions violation"}, {nil, ""},
	} {
		if v.setTrouble(c.err); v.State().Trouble != c.want {
			t.Errorf("%v: %q", c.err, v.State().Trouble)
		}
	}
}

// TestMostOpen checks that a view that reads by the index keeps at most maxOpenExchanges open. toolscope cuts off the
// exchange that was read longest ago, which continues when more of it is read.
func TestMostOpen(t *testing.T) {
	now := time.Now()
	v, s := bare(&now), &indexReader{}
	var all []*foundExchange
	var ends []capture.Record
	for x := range maxOpenExchanges + 1 {
		f := &foundExchange{feed: v.feeds.OpenExchange(capture.Machine{Host: "a", Agent: "x"}, fmt.Sprint(x), 1, 100)}
		if _, err := f.feed.Write(nil, line(t, capture.Record{Exchange: 1, Data: []byte("x")})); err != nil {
			t.Fatal(err)
		}
		all, ends = append(all, f), append(ends, s.updateOpen(f)...)
	}
	if len(ends) != 1 || ends[0].By != capture.Toolscope || len(s.open) != maxOpenExchanges || all[0].feed.CountOpen() != 0 {
		t.Fatalf("%+v, %d are open", ends, len(s.open))
	}
	more, err := all[0].feed.Write(nil, line(t, capture.Record{Exchange: 1, Data: []byte("y")}))
	if err != nil || len(more) != 2 || !strings.Contains(more[0].Note, "continues") {
		t.Errorf("%+v, %v", more, err)
	}
	if s.updateOpen(all[0]); s.open[len(s.open)-1] != all[0] {
		t.Error("it is not open again")
	}
}

// TestFoundSilent checks that an exchange found by the index is cut off when its machine is silent, even if the
// machine has never given a sign of life. An exchange whose capture sends heartbeats isn't cut off.
func TestFoundSilent(t *testing.T) {
	now := time.Now()
	v := bare(&now)
	v.index = &indexReader{}
	for i, host := range []string{"dead", "alive"} {
		f := &foundExchange{subjectParts: subjectParts{version, host, "x", fmt.Sprint(i)}, feed: v.feeds.OpenExchange(capture.Machine{Host: host, Agent: "x"}, host, 1, 100), read: now}
		if _, err := f.feed.Write(nil, line(t, capture.Record{Exchange: 1, Data: []byte("x")})); err != nil {
			t.Fatal(err)
		}
		v.index.updateOpen(f)
	}
	var why []string
	yield := func(r capture.Record, _ error) bool { why = append(why, r.Why); return true }
	now = now.Add(silence - time.Second)
	v.looked = now
	v.onHeartbeat(nats.NewMsg(captureSubject(healthKind, "alive", "x", "1")))
	if v.lookForSilent(now, yield); len(why) > 0 {
		t.Fatalf("%q", why)
	}
	now = now.Add(2 * time.Second)
	if v.lookForSilent(now, yield); len(why) != 1 || why[0] != "no sign of dead/x for 30s" || len(v.index.open) != 1 {
		t.Fatalf("%q, %d are open", why, len(v.index.open))
	}
	now = now.Add(2 * time.Second)
	if v.lookForSilent(now, yield); len(why) != 1 {
		t.Errorf("%q", why)
	}
}

// TestEndedBefore checks that a machine that last sent just before the view was opened isn't silent, because it may
// have ended properly. A machine with an open exchange is silent, and so is one that sent something later.
func TestEndedBefore(t *testing.T) {
	now := time.Now()
	v := bare(&now)
	v.opened = now
	head, open := header(t), line(t, capture.Record{Exchange: 1, Data: []byte("x")})
	v.bring(subjectParts{version, "done", "x", "1"}, 0, head, now.Add(-5*time.Second))
	v.bring(subjectParts{version, "dead", "x", "2"}, 0, append(head, open...), now.Add(-5*time.Second))
	now = now.Add(time.Second)
	v.bring(subjectParts{version, "later", "x", "3"}, 0, head, now)
	now = now.Add(silence + time.Second)
	v.looked = now
	v.lookForSilent(now, func(capture.Record, error) bool { return true })
	var got []string
	for _, h := range v.Hosts() {
		got = append(got, fmt.Sprint(h.Name, " ", h.Silent))
	}
	if text := strings.Join(got, "; "); text != "dead true; done false; later true" {
		t.Error(text)
	}
}
