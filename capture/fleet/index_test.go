//go:build !nohub

package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"toolscope/capture"
)

// callPerRecord is an Indexer that makes one call from each record with data.
type callPerRecord struct {
	file  string
	n     int
	calls []Call
}

func callsOf(file string) Indexer { return &callPerRecord{file: file} }

func (c *callPerRecord) Write(r capture.Record) {
	if len(r.Data) == 0 {
		return
	}
	c.n++
	status := "complete"
	if bytes.Contains(r.Data, []byte(":7>")) {
		status = "not an object"
	}
	line := fmt.Sprintf(`{"type":"call","file":%q,"turn":%d,"call":1,"status":%q,"arguments_raw":%q}`+"\n", c.file, c.n, status, r.Data)
	c.calls = append(c.calls, Call{Exchange: r.Exchange, Model: "m.1", Status: status, Line: []byte(line)})
}

func (c *callPerRecord) Calls(bool) []Call {
	calls := c.calls
	c.calls = nil
	return calls
}

func (c *callPerRecord) Holds() bool { return false }

// indexed returns the lines that the hub's index stores, by subject.
func (h *hubs) indexed() map[string][]string {
	h.t.Helper()
	all := map[string][]string{}
	stream, err := h.admin().Stream(context.Background(), IndexName)
	if err != nil {
		h.t.Fatal(err)
	}
	state := stream.CachedInfo().State
	for seq := max(1, state.FirstSeq); seq <= state.LastSeq; seq++ {
		msg, err := stream.GetMsg(context.Background(), seq)
		if err != nil {
			h.t.Fatal(err)
		}
		data := msg.Data
		if msg.Header.Get(headEnc) != "" {
			if data, err = decoder().DecodeAll(data, nil); err != nil {
				h.t.Fatal(err)
			}
		}
		all[msg.Subject] = append(all[msg.Subject], string(data))
	}
	return all
}

// countIndexed returns the number of indexed lines of a machine.
func (h *hubs) countIndexed(host string) (n int) {
	for subject, lines := range h.indexed() {
		if strings.Contains(subject, "."+host+".") {
			n += len(lines)
		}
	}
	return n
}

func (h *hubs) indexing(t *testing.T, host string) PublishOptions {
	o := h.sending(t, host)
	o.Index = callsOf
	return o
}

// finish records that an exchange has ended.
func finish(p *Publisher, exchange int) {
	for _, c := range keep.Take(capture.Record{Exchange: exchange, End: capture.EndEOF}) {
		p.Put(c)
	}
}

// TestIndex checks that each call is indexed once, with its model and status in the subject, and that its line
// contains the offset in the capture where its exchange begins.
func TestIndex(t *testing.T) {
	h := newHub(t, nil)
	p := publish(t, h.indexing(t, "web.1"))
	for n := range 10 {
		put(p, 1, n)
		put(p, 2, n)
	}
	finish(p, 1)
	finish(p, 2)
	sent(t, p, 22)
	eventually(t, "all calls are told", func() bool { return h.countIndexed("web%2E1") == 20 })
	all := h.indexed()
	good := "toolscope.v1.i." + shardOf("web.1") + ".web%2E1.main.m%2E1.complete"
	bad := "toolscope.v1.i." + shardOf("web.1") + ".web%2E1.main.m%2E1.not%20an%20object"
	if len(all) != 2 || len(all[good]) != 18 || len(all[bad]) != 2 {
		t.Fatalf("%v", all)
	}
	spool := spoolBytes(t, p)
	for _, line := range slices.Concat(all[good], all[bad]) {
		var l struct{ Opened OpenedExchange }
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Opened.Capture != p.ours.of.id {
			t.Fatalf("%s: %v", line, err)
		}
		first, _, _ := strings.Cut(string(spool[l.Opened.Offset:]), "\n")
		if !strings.Contains(first, fmt.Sprintf(`"x":%d,`, l.Opened.Exchange)) || !strings.Contains(first, "/v1/messages") {
			t.Errorf("%s begins with %s", line, first)
		}
	}
	closeNow(p)
	if s := p.Progress().Index; s != (IndexState{}) {
		t.Errorf("%+v", s)
	}
}

// TestIndexLeft checks that the calls of a run that ended without its hub are indexed by the next run, and that calls
// that the hub already has aren't indexed again.
func TestIndexLeft(t *testing.T) {
	addr := freePort(t)
	o := PublishOptions{Server: "nats://" + addr, Host: "a", Agent: "main", Spool: t.TempDir(), Limit: 1 << 30, By: "test", Index: callsOf}
	p := publish(t, o)
	for n := range 10 {
		put(p, 1, n)
	}
	closeNow(p)
	if s := p.Progress(); s.Spooled == 0 || s.Index != (IndexState{}) {
		t.Errorf("it is told of in the next run, and yet: %+v", s)
	}
	h := newHub(t, func(h *HubOptions) { h.Listen = addr })
	next := publish(t, o)
	eventually(t, "what was left is told of", func() bool { return h.countIndexed("a") == 10 })
	closeNow(next)
	last := publish(t, o)
	put(last, 1, 0)
	sent(t, last, 1)
	closeNow(last)
	if n := h.countIndexed("a"); n != 11 {
		t.Errorf("%d lines are there", n)
	}
}

// TestNoIndex checks that a hub without an index still gets the captures. The publisher reports how to add an index
// and what the index lacks.
func TestNoIndex(t *testing.T) {
	h := newHub(t, nil)
	ctx := context.Background()
	if err := h.admin().DeleteStream(ctx, IndexName); err != nil {
		t.Fatal(err)
	}
	p := publish(t, h.indexing(t, "a"))
	for n := range 10 {
		put(p, 1, n)
	}
	finish(p, 1)
	sent(t, p, 11)
	eventually(t, "the problem is reported", func() bool { return strings.Contains(p.Progress().Index.Why, addIndex) })
	put(p, 2, 0)
	sent(t, p, 12)
	h.same(t, p)
	closeNow(p)
	if s := p.Progress().Index; s.Calls != 10 || s.Bytes == 0 {
		t.Errorf("%+v", s)
	}
}

// TestIndexLater checks that all earlier calls are indexed as soon as the index stream is created.
func TestIndexLater(t *testing.T) {
	h := newHub(t, nil)
	js, ctx := h.admin(), context.Background()
	stream, err := js.Stream(ctx, IndexName)
	if err != nil {
		t.Fatal(err)
	}
	config := stream.CachedInfo().Config
	if err := js.DeleteStream(ctx, IndexName); err != nil {
		t.Fatal(err)
	}
	p := publish(t, h.indexing(t, "a"))
	for x := range 300 {
		for n := range 10 {
			put(p, x+1, n)
		}
		finish(p, x+1)
	}
	sent(t, p, 3300)
	eventually(t, "the problem is reported", func() bool { return strings.Contains(p.Progress().Index.Why, addIndex) })
	if _, err := js.CreateStream(ctx, config); err != nil {
		t.Fatal(err)
	}
	eventually(t, "they are told", func() bool { return h.countIndexed("a") == 3000 })
	closeNow(p)
	if n, s := h.countIndexed("a"), p.Progress().Index; n != 3000 || s != (IndexState{}) {
		t.Errorf("%d are told, %+v", n, s)
	}
}

// TestIndexLeftHalf checks that, if a hub stopped before it had all calls, the next run indexes all of them again,
// and a view reads each call once.
func TestIndexLeftHalf(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil)
	o := h.indexing(t, "a")
	p := publish(t, o)
	for n := range 10 {
		put(p, 1, n)
	}
	finish(p, 1)
	sent(t, p, 11)
	eventually(t, "all are told", func() bool { return h.countIndexed("a") == 10 })
	h.Close()
	for n := range 5 {
		put(p, 2, n)
	}
	closeNow(p)
	if s := p.Progress(); s.Spooled == 0 || s.Index != (IndexState{}) {
		t.Errorf("%+v", s)
	}
	h.start()
	next := publish(t, o)
	eventually(t, "all are told again", func() bool { return h.countIndexed("a") == 10+15 })
	closeNow(next)
	if lines, s := linesOf(t, h.URL()+"?until=now&model=m.1"); len(lines) != 15 || s.Invalid+s.Lost != 0 {
		t.Errorf("%d lines, %+v", len(lines), s)
	}
}

// TestIndexRefused checks that a call that the hub rejects is counted and that the next one is indexed.
func TestIndexRefused(t *testing.T) {
	h := newHub(t, nil)
	js := h.admin()
	stream, err := js.Stream(context.Background(), IndexName)
	if err != nil {
		t.Fatal(err)
	}
	config := stream.CachedInfo().Config
	config.MaxMsgSize = 400
	if _, err := js.UpdateStream(context.Background(), config); err != nil {
		t.Fatal(err)
	}
	p := publish(t, h.indexing(t, "a"))
	var text strings.Builder
	for n := range 1000 {
		fmt.Fprint(&text, n*n)
	}
	for _, c := range keep.Take(capture.Record{Exchange: 1, At: time.Second, Data: []byte(text.String())}) {
		p.Put(c)
	}
	put(p, 1, 1)
	finish(p, 1)
	eventually(t, "the other call is told", func() bool { return h.countIndexed("a") == 1 })
	if s := p.Progress().Index; s.Calls != 1 || s.Bytes != 0 || s.Why == "" {
		t.Errorf("%+v", s)
	}
}

// TestIndexKept checks that the index is kept as long as the captures and may take only a fraction of their
// size.
func TestIndexKept(t *testing.T) {
	h := newHub(t, nil)
	of := func(name string) jetstream.StreamConfig {
		stream, err := h.admin().Stream(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		return stream.CachedInfo().Config
	}
	captures, index := of(StreamName), of(IndexName)
	if index.MaxAge != captures.MaxAge || index.MaxBytes*indexPart != captures.MaxBytes || index.MaxBytes <= 0 || index.Discard != captures.Discard || !index.AllowDirect {
		t.Errorf("%+v", index)
	}
}
