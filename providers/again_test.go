package providers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolscope/stream"
)

// rereadAlone reads a rereadable exchange again, in the same way, into a separate inspector. Other exchanges don't
// affect the result. In the new inspector, turns are numbered from 0 in the same order. The events are the same,
// except for events that other exchanges cause: SentBack, Ran, the conversation of a turn, and their findings. The
// session may differ in one fact that depends on other exchanges: which calls have the id of another call (IDDup,
// IDDupAcrossTurns). Tools that an earlier request in the conversation declared are unknown.
func (in *Inspector) rereadAlone(x *Exchange) (*Inspector, error) {
	if !x.Rereadable() {
		return nil, fmt.Errorf("exchange %d was not read from a file", x.Number)
	}
	return readAgain(x.from, x.Number, in.Request, in.readsAs(x))
}

// tape is a source that keeps its records. The number of a record is its position.
type tape struct {
	records []stream.Record
	gone    error
}

func (s *tape) Again(exchange int, start, end int64, to func(stream.Record)) error {
	for _, r := range s.records[start:end] {
		if r.Exchange == exchange {
			to(r)
		}
	}
	return s.gone
}

// add adds a record at the end. It returns the record with its location in the tape.
func (s *tape) add(r stream.Record) stream.Record {
	n := int64(len(s.records))
	r.Location = stream.Location{Source: s, Start: n, End: n + 1}
	s.records = append(s.records, r)
	return r
}

// eventsOf returns the events of an exchange, with its turns numbered from 0. Events without a turn are included only
// if there are no other exchanges.
func eventsOf(x *Exchange) string {
	var s strings.Builder
	for n := range x.in.Timeline.Len() {
		e := x.in.View().Event(n)
		turn := slices.Index(x.turns, e.Turn)
		if e.Turn == stream.NoTurn && len(x.in.exchanges) == 1 || turn >= 0 && e.Kind != stream.SentBack && !dependsOnOthers(e) {
			e.Turn = int32(turn)
			fmt.Fprintf(&s, "%v %d %v\n", e.At, e.Frame, e)
		}
	}
	return s.String()
}

// dependsOnOthers reports whether an event is a finding that depends on another exchange: on the model's call with the
// same id, or on the retry of a failed request.
func dependsOnOthers(e stream.Event) bool {
	if e.Kind != stream.Found {
		return false
	}
	f := stream.PayloadOf[stream.Finding](e)
	return f.Diagnosis == shownCall || f.Replaces
}

// stateOf returns the state of the exchange's turns and calls. It leaves out facts that depend on other exchanges:
// calls that were sent back, ids that were used twice, results of calls that share their id, and whether a failed
// request was retried.
func stateOf(x *Exchange, shared map[string]bool) string {
	var turns stream.Session
	for i, number := range x.turns {
		t := *x.in.Session().Turn(number)
		t.Number, t.Calls, t.Findings = int32(i), slices.Clone(t.Calls), slices.Clone(t.Findings)
		for i := range t.Findings {
			if f := &t.Findings[i]; f.Base() == stream.ProviderError {
				f.Diagnosis, f.Severity = f.Base(), stream.Error
			}
		}
		for i, c := range t.Calls {
			own := *c
			if shared[c.ID] {
				own.ResultCode = 0
			}
			own.Findings = slices.DeleteFunc(slices.Clone(c.Findings), func(f stream.Finding) bool {
				of := x.in.View().Event(f.Event).Kind
				return of == stream.SentBack || f.Diagnosis == stream.IDDup || f.Diagnosis == stream.IDDupAcrossTurns || f.Diagnosis == shownCall
			})
			t.Calls[i] = &own
		}
		turns.Turns = append(turns.Turns, &t)
	}
	return state(&turns)
}

// sharedIDs returns the ids that calls in several exchanges share.
func sharedIDs(in *Inspector) map[string]bool {
	first, shared := map[string]int{}, map[string]bool{}
	for _, t := range in.Session().Turns {
		for _, c := range t.Calls {
			if of, ok := first[c.ID]; ok && of != t.Exchange {
				shared[c.ID] = true
			}
			first[c.ID] = t.Exchange
		}
	}
	return shared
}

// wiresOf returns all kept bytes of an exchange.
func wiresOf(x *Exchange) string {
	var s strings.Builder
	for _, w := range []*stream.Wire{&x.Request, &x.Response, &x.Sent} {
		for n := range w.Records() {
			p, at := w.Record(n)
			fmt.Fprintf(&s, "%v %q\n", at, p)
		}
		for n := range int32(w.Frames()) {
			start, end := w.FrameSpan(n)
			fmt.Fprintln(&s, start, end)
		}
	}
	if x.Protocol != nil {
		fmt.Fprintln(&s, x.Protocol.Name)
	}
	fmt.Fprintln(&s, x.Coding, x.Framing, x.Why, x.Ended, x.EndReason, x.by, x.Head)
	return s.String()
}

// checkAgain reads each exchange again and compares the result.
func checkAgain(t *testing.T, in *Inspector) {
	t.Helper()
	shared := sharedIDs(in)
	for _, x := range in.Exchanges() {
		if !x.Rereadable() {
			t.Errorf("exchange %d cannot be read again", x.Number)
			continue
		}
		before := in.Timeline.Len()
		fresh, err := in.rereadAlone(x)
		if err != nil {
			t.Fatal(err)
		}
		y := fresh.Exchange(x.Number)
		again := eventsOf(y)
		if len(in.exchanges) > 1 {
			again = withoutTurnless(again)
		}
		for _, c := range [][2]string{{eventsOf(x), again}, {stateOf(x, shared), stateOf(y, shared)}, {wiresOf(x), wiresOf(y)}} {
			if diff := cmp.Diff(c[0], c[1]); diff != "" {
				t.Errorf("exchange %d (%s): (-at first +again)\n%s", x.Number, x.Why, diff)
			}
		}
		if in.Timeline.Len() != before || len(fresh.exchanges) != 1 {
			t.Error("the inspectors are not apart")
		}
	}
}

// withoutTurnless omits the events without a turn, because with several exchanges it is unknown to which
// exchange they belong.
func withoutTurnless(events string) string {
	var s strings.Builder
	for line := range strings.Lines(events) {
		if !strings.Contains(line, " turn=-1") {
			s.WriteString(line)
		}
	}
	return s.String()
}

// TestAgain checks that every fixture has the same result when it is read again.
func TestAgain(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			in, s := new(Inspector), new(tape)
			if r := f.archive.section("request"); r != "" {
				in.Write(s.add(stream.Record{Request: true, Data: []byte(r)}))
			}
			for n, p := range slices.Collect(slices.Chunk(f.wire, 1000)) {
				in.Write(s.add(stream.Record{At: time.Duration(n) * time.Microsecond, Data: p}))
			}
			in.Close()
			if len(s.records) > 0 {
				checkAgain(t, in)
			}
		})
	}
}

// A spoken is an exchange from which tests make records.
type spoken struct {
	request string
	wire    []byte
}

// spokenAll returns the exchanges of all fixtures, and of the corpus if it is available.
func spokenAll(t *testing.T) (all []spoken) {
	for _, f := range fixtures(t) {
		all = append(all, spoken{f.archive.section("request"), f.wire})
	}
	files, err := filepath.Glob(filepath.Join(os.Getenv("TOOLSCOPE_CORPUS"), "dev", "*", "*"))
	for _, file := range files {
		if os.Getenv("TOOLSCOPE_CORPUS") == "" {
			break
		}
		wire, fails := os.ReadFile(file)
		err = errors.Join(err, fails)
		all = append(all, spoken{"", wire})
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// records returns the records of an exchange, with heads, ends, notes and gaps of all kinds.
func (s spoken) records(exchange int, r *rand.Rand) (all []stream.Record) {
	head := &stream.Head{Status: 200}
	switch r.IntN(6) {
	case 0:
		head.Status, head.Header = 200, map[string][]string{"Content-Type": {"text/event-stream"}}
	case 1:
		head.Status = 502
	case 2:
		head.Header = map[string][]string{"Content-Encoding": {"gzip"}}
	}
	if s.request != "" {
		all = append(all, stream.Record{Request: true, Data: []byte(s.request), Head: &stream.Head{Method: "POST", URL: "https://x/y"}})
	}
	all = append(all, stream.Record{Head: head, Note: []string{"", "a note"}[r.IntN(2)]})
	for rest := s.wire; len(rest) > 0; {
		n := min(1+r.IntN(1+len(s.wire)/3), len(rest))
		p := stream.Record{Data: rest[:n]}
		if r.IntN(20) == 0 {
			p.Lost = 10
		}
		all, rest = append(all, p), rest[n:]
		if r.IntN(20) == 0 {
			break
		}
	}
	end := stream.Record{End: true, By: []string{"", "provider", "client", "network", "toolscope"}[r.IntN(5)]}
	if end.By != "" && r.IntN(2) == 0 {
		end.Why = "somebody ended it"
	}
	if r.IntN(8) > 0 {
		all = append(all, end)
	}
	if r.IntN(20) == 0 {
		all = append(all, stream.Record{Data: []byte("data: late\n\n"), Note: "late"})
	}
	for i := range all {
		all[i].Exchange = exchange
	}
	return all
}

// TestAgainAmongOthers checks that other traffic doesn't change how an exchange is read: other exchanges with the
// same ids and tools, requests that send its calls back, notes about the source, and a forced protocol for some
// exchanges. Each exchange is in one of four sessions, or in all of them with TOOLSCOPE_LONG=1.
func TestAgainAmongOthers(t *testing.T) {
	all := spokenAll(t)
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		some := slices.Clone(all)
		if os.Getenv("TOOLSCOPE_LONG") == "" {
			some = some[:0]
			for i := int(seed); i < len(all); i += 4 {
				some = append(some, all[i])
			}
		}
		r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		in, s := new(Inspector), new(tape)
		if seed == 1 {
			in.Request = []byte(`{"messages":[],"tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","required":["x"]}}}]}`)
		}
		if seed == 2 {
			in.ForceProtocol(&All[0])
		}
		interleave(in, s, some, r)
		if seed == 3 {
			in.Reread(5, &All[1])
			in.Reread(6, &All[2])
			in.Reread(6, nil)
		}
		checkAgain(t, in)
	}
}

// interleave writes all exchanges to an inspector, several at the same time.
func interleave(in *Inspector, s *tape, all []spoken, r *rand.Rand) {
	var open [][]stream.Record
	for n := 0; n < len(all) || len(open) > 0; {
		if n < len(all) && len(open) < 40 {
			open = append(open, all[n].records(n+1, r))
			n++
			continue
		}
		i := r.IntN(len(open))
		rec := open[i][0]
		rec.At = time.Duration(len(s.records)) * time.Microsecond
		in.Write(s.add(rec))
		if r.IntN(50) == 0 {
			in.Write(s.add(stream.Record{Exchange: rec.Exchange, Note: "of the source"}))
		}
		if open[i] = open[i][1:]; len(open[i]) == 0 {
			open = slices.Delete(open, i, i+1)
		}
	}
	in.Close()
}

// TestNotRereadable checks that an exchange is not read again if it is still open, or if one of its records
// has no location. If the source fails, the error is reported.
func TestNotRereadable(t *testing.T) {
	s, other := new(tape), new(tape)
	in := new(Inspector)
	in.Write(s.add(stream.Record{Exchange: 1, Data: data(chatText)}))
	in.Write(stream.Record{Exchange: 1, Data: data("[DONE]"), End: true})
	in.Write(stream.Record{Exchange: 2, Data: data(chatText)})
	in.Write(s.add(stream.Record{Exchange: 2, Data: data("[DONE]"), End: true}))
	in.Write(s.add(stream.Record{Exchange: 3, Data: data(chatText)}))
	in.Write(other.add(stream.Record{Exchange: 3, Data: data("[DONE]"), End: true}))
	in.Write(s.add(stream.Record{Exchange: 4, Data: data(chatText)}))
	for _, x := range in.Exchanges() {
		if _, err := in.rereadAlone(x); err == nil || x.Rereadable() {
			t.Errorf("exchange %d is read again", x.Number)
		}
	}
	in.Reread(1, nil) // a partial exchange must not be treated as complete
	in.Write(stream.Record{Note: "of the source"})
	in.End(4)
	if in.Exchange(1).Rereadable() || !in.Exchange(4).Rereadable() {
		t.Error("reading again changed what can be read again, or the end did")
	}
	s.gone = errors.New("it is gone")
	if _, err := in.rereadAlone(in.Exchange(4)); err != s.gone {
		t.Error(err)
	}
}
