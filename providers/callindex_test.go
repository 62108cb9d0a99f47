package providers

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"toolscope/providers/replay"
	"toolscope/stream"
)

// TestCallIndexIsComplete checks that there would be no reports about the turns that the index leaves out.
// The numbers of entries and postings overflow during the test.
func TestCallIndexIsComplete(t *testing.T) {
	fates := map[string]int{}
	for seed := range inLong(15, 60) {
		all, some := new(Inspector), new(Inspector)
		all.recall.addTurns = (*candidateSet).addAll
		some.recall.first, some.recall.from = math.MaxUint32-20, math.MaxUint32-60
		anyTalk(seed, 60, all)
		anyTalk(seed, 60, some)
		if want, got := toldOf(all.Session()), toldOf(some.Session()); got != want {
			t.Fatalf("seed %d:\n%s\nwant\n%s", seed, got, want)
		}
		for _, turn := range some.Session().Turns {
			for _, c := range turn.Calls {
				for _, r := range c.SentBack {
					fates[r.Outcome]++
				}
			}
		}
	}
	for _, f := range []replay.Treatment{replay.Intact, replay.WasReformatted, replay.WasEmptied, replay.WasAltered, replay.WasDropped, replay.WasOrphaned, replay.WasMoved} {
		if fates[string(f)] == 0 {
			t.Errorf("no call was %s", f)
		}
	}
}

// addAll adds all turns that Find may add.
func (l *candidateSet) addAll() {
	for i := range l.in.recall.entries {
		f := &l.in.recall.entries[i]
		if c, ok := l.in.candidateOf(f); ok && c.Ended() && !f.void && !f.shown && (l.own || f.exchange != l.exchange) {
			l.turns = append(l.turns, f.turn)
		}
	}
}

// TestLoadCost checks that a late exchange allocates no more memory than a much earlier one.
func TestLoadCost(t *testing.T) {
	last := 400
	if os.Getenv("TOOLSCOPE_LONG") != "" {
		last = 4500
	}
	for _, l := range loads {
		in := new(Inspector)
		early := l.costs(in, 100, 148)
		late := l.costs(in, last-48, last)
		if late.bytes > early.bytes*6/5 || late.allocs > early.allocs*6/5 {
			t.Errorf("%s: exchange %d takes %d bytes in %d pieces, exchange 100 %d in %d", l.name, last, late.bytes, late.allocs, early.bytes, early.allocs)
		}
		if found := len(in.Session().Turns[last-2].Calls[0].SentBack); found == 0 && (last-1)%max(l.together, last) > 0 {
			t.Errorf("%s: what became of the last call but one is not told", l.name)
		}
	}
}

// manyCalls writes n calls to an inspector, without requests. The parameter together is the number of calls in each
// response.
func manyCalls(in *Inspector, n, together int) {
	first := len(in.exchanges) * together
	for i := first; i < first+n; i += together {
		var calls []string
		for k := range together {
			calls = append(calls, made(fmt.Sprintf("call_%08xq", i+k), "f", `{}`))
		}
		in.Write(stream.Record{Exchange: i / together, Data: []byte(strings.Replace(says("", "", ""), made("", "", ""), strings.Join(calls, ","), 1))})
		in.Write(stream.Record{Exchange: i / together, End: true})
	}
}

// TestCallIndexForgets checks that only the latest calls up to the limit are kept, and that the dropping of
// older calls is reported once.
func TestCallIndexForgets(t *testing.T) {
	in := new(Inspector)
	ask := func(id string) {
		n := len(in.exchanges)
		request := `{"messages":[` + asks + `,` + first + made(id, "f", `{}`) + `]},` + tool(id, "ok") + `]}`
		in.Write(stream.Record{Exchange: n, Request: true, Data: []byte(request)})
		in.Write(stream.Record{Exchange: n, End: true})
	}
	call := func(n int) *stream.Call { return in.Session().Turns[n/64].Calls[n%64] }
	manyCalls(in, maxRecalled, 64)
	ask("call_00000000q")
	if len(call(0).SentBack) != 1 || len(in.Session().Findings) != 0 {
		t.Fatalf("the first call is not found: %+v, %+v", call(0).SentBack, in.Session().Findings)
	}
	in = new(Inspector)
	manyCalls(in, maxRecalled+640, 64)
	for _, n := range []int{0, 639, 640, maxRecalled + 639} {
		ask(fmt.Sprintf("call_%08xq", n))
		if found := len(call(n).SentBack) > 0; found != (n >= 640) {
			t.Errorf("call %d is found: %t", n, found)
		}
	}
	r := &in.recall
	if r.calls != maxRecalled || len(r.byTurn) != len(r.entries) || len(r.postings) > maxRecalled+len(r.entries)+8 || len(r.latest) > len(r.postings) {
		t.Errorf("%d calls, %d files of %d turns, %d mentions of %d clues", r.calls, len(r.entries), len(r.byTurn), len(r.postings), len(r.latest))
	}
	manyCalls(in, int(inLong(1, 2))*maxRecalled, 64)
	if ask("call_00000000q"); r.calls != maxRecalled || len(r.postings) > maxRecalled+len(r.entries)+8 || len(r.latest) > len(r.postings) {
		t.Errorf("then %d calls, %d mentions of %d clues", r.calls, len(r.postings), len(r.latest))
	}
	if f := in.Session().Findings; len(f) != 1 || !strings.Contains(f[0].Message, "more than 65536 calls") {
		t.Errorf("%+v", f)
	}
}

// TestCallIndexSize checks that a call needs little memory in the index, in addition to the session's memory for
// it.
func TestCallIndexSize(t *testing.T) {
	for together, most := range map[int]int64{1: 240, 16: 80} {
		in := new(Inspector)
		const calls = 1 << 13
		manyCalls(in, calls, together)
		in.indexByKind(replay.PlainKeys)
		with := heap()
		in.recall = callIndex{}
		if each := (with - heap()) / calls; each <= 0 || each > most {
			t.Errorf("%d calls together: %d bytes a call", together, each)
		}
		runtime.KeepAlive(in)
	}
}

// heap returns the number of bytes in use, without those that a sync.Pool keeps until the second collection.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
