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

// longModel is an Indexer that replaces each call's model with a name that is too long for a subject.
type longModel struct{ Indexer }

const longName = "é.long"

func (l longModel) Calls(all bool) []Call {
	calls := l.Indexer.Calls(all)
	for i := range calls {
		calls[i].Model = strings.Repeat(longName, 1000)
	}
	return calls
}

// TestIndexLongModel checks that a call whose model has an overlong name is indexed and found by that name. The
// subject has space for it even if the machine's name has the maximum length.
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

// lateCalls is an Indexer that returns no calls before exchange 1 has ended, as if their turns waited for another
// turn.
type lateCalls struct {
	Indexer
	holds bool
	asked *atomic.Int64 // the last exchange that had ended when Calls was last called
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

// TestIndexLate checks that the line of a call that becomes known some time after its exchange has ended still
// contains the offset where the exchange begins.
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
