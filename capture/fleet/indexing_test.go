//go:build !nohub

package fleet

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"toolscope/capture"
)

// longModel is a call of a model with a name that no subject has room for.
type longModel struct{ Indexer }

const longName = "é.long"

func (l longModel) Calls(all bool) []Call {
	calls := l.Indexer.Calls(all)
	for i := range calls {
		calls[i].Model = strings.Repeat(longName, 1000)
	}
	return calls
}

// TestIndexLongModel: a long name of a model, which comes from the network, is a word of a subject all
// the same, and is found by its name. The longest names of a machine leave room for it.
func TestIndexLongModel(t *testing.T) {
	h := newHub(t, nil)
	o := h.indexing(t, strings.Repeat("h", maxNameBytes-len("main")))
	o.Index = func(file string) Indexer { return longModel{callsOf(file)} }
	p := publish(t, o)
	put(p, 1, 0)
	finish(p, 1)
	eventually(t, "the call is told", func() bool { return h.countIndexed(o.Host) == 1 })
	if made := p.link.made.Load(); made != 1 {
		t.Errorf("%d connections were made", made)
	}
	v := view(t, h.URL()+"?until=now&model="+url.QueryEscape(strings.Repeat(longName, 1000)), nil)
	eventually(t, "the call is found", func() bool { return v.text() == "<1:0>" })
	for _, other := range []string{strings.Repeat(longName, 1001), strings.Repeat("a", maxWordBytes), strings.Repeat("a", maxWordBytes+1)} {
		if callToken(other) == callToken(strings.Repeat(longName, 1000)) || len(callToken(other)) > maxWordBytes {
			t.Errorf("%.9s… is %s", other, callToken(other))
		}
	}
}

// lateCalls gives no call before the first exchange has ended, as of turns that wait for another one.
type lateCalls struct {
	Indexer
	holds bool
	asked *atomic.Int64 // which exchange had ended when it was asked last
	ended int64
}

func (l *lateCalls) Write(r capture.Record) {
	l.Indexer.Write(r)
	if r.End != "" {
		l.ended = int64(r.Exchange)
	}
}

func (l *lateCalls) Calls(all bool) []Call {
	l.asked.Store(l.ended)
	if l.holds = l.ended != 1; l.holds {
		return nil
	}
	return l.Indexer.Calls(all)
}

func (l *lateCalls) Holds() bool { return l.holds }

// TestIndexLate: a call that is known only a while after its exchange has ended says where that began
// all the same.
func TestIndexLate(t *testing.T) {
	h := newHub(t, nil)
	o := h.sending(t, "a")
	var asked atomic.Int64
	o.Index = func(file string) Indexer { return &lateCalls{Indexer: callsOf(file), asked: &asked} }
	p := publish(t, o)
	put(p, 1, 0)
	put(p, 2, 0)
	finish(p, 2)
	eventually(t, "the second has ended", func() bool { return asked.Load() == 2 })
	finish(p, 1)
	eventually(t, "all calls are told", func() bool { return h.countIndexed("a") == 2 })
	spool := string(spoolBytes(t, p))
	for _, lines := range h.indexed() {
		for _, line := range lines {
			var l struct{ Opened OpenedExchange }
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(spool[l.Opened.Offset:], fmt.Sprintf(`{"t":0,"x":%d,`, l.Opened.Exchange)) {
				t.Errorf("%s begins with %.40s", line, spool[l.Opened.Offset:])
			}
		}
	}
}
