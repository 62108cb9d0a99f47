package providers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolscope/capture"
	"toolscope/stream"
)

// saidBy returns all facts of a view, except its session, in words. For a response, it includes only the frames that
// events refer to, because a past view doesn't show how much of the next frame had arrived.
func saidBy(v *View) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d events\n", v.Events())
	for _, x := range v.Exchanges() {
		fmt.Fprintf(&b, "%d asked %d status %d ended %t %q turns %v", x.Number, x.Request.Size(), x.Head.Status, x.Ended, x.EndReason, x.turns)
		last := int32(-1)
		for _, number := range x.turns {
			last = max(last, v.Session().Turn(number).LastFrame)
		}
		if end := int64(0); last >= 0 && int(last) < x.Response.Frames() {
			_, end = x.Response.FrameSpan(last)
			fmt.Fprintf(&b, " told %d %q", end, x.Response.Bytes(max(0, end-9), end))
		}
		fmt.Fprintf(&b, " latest %v %v\n", v.LatestOf(x.Number) == nil, v.TurnOf(x.Number) == nil)
	}
	for _, t := range v.Session().Turns {
		n, last := 0, -1
		for last = range v.EventsOf(t, 0) {
			n++
		}
		kind, of := v.Subject(last)
		fmt.Fprintf(&b, "turn %d events %d last %d %s %v\n", t.Number, n, last, kind, of)
		for _, c := range t.Calls {
			result, ok := v.Result(c)
			fmt.Fprintf(&b, "call %v result %q %t witnesses %d", c.Ref(), result.Text, ok, len(v.Witnesses(c)))
			for _, r := range c.SentBack {
				brought, ok := v.Carried(c, r.Exchange)
				verdict, how := v.VerdictOn(r)
				fmt.Fprintf(&b, " brought %q %t %v %s", brought.Args, ok, verdict, how)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// checkMoments writes records. For each moment between two records, it compares the view at that moment with later
// views of the moment: a view that is requested directly, and a view that is moved to the moment from both
// directions.
func checkMoments(t *testing.T, records []stream.Record) {
	t.Helper()
	in, was := new(Inspector), map[int][2]string{}
	look := func() {
		v := in.View()
		was[v.Events()] = [2]string{saidBy(v), state(v.Session())}
	}
	walks := in.View().At(0)
	for _, r := range records {
		look()
		in.Write(r)
		walks.MoveTo(in.Timeline.Len() / 2)
	}
	in.Close()
	look()
	check := func(how string, v *View, n int) {
		t.Helper()
		want, known := was[n]
		if !known {
			return
		}
		if diff := cmp.Diff(want, [2]string{saidBy(v), state(v.Session())}); diff != "" {
			t.Fatalf("%s: event %d of %d (-then +now):\n%s", how, n, in.Timeline.Len(), diff)
		}
	}
	total := in.Timeline.Len()
	step := 1 + total/300
	for n := 0; n <= total; n += step {
		check("At", in.View().At(n), n)
		walks.MoveTo(n)
		check("Walk", walks, n)
		if n > 3*step {
			walks.MoveTo(n - 2*step)
			check("Walk back", walks, n-2*step)
		}
	}
}

// TestViewAt checks that the view at moment n equals the view that was taken when there were n events, for each
// fixture with its request, and for conversations that send calls back.
func TestViewAt(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 5))
	for i, s := range spokenAll(t) {
		if len(s.wire) < 200<<10 && (os.Getenv("TOOLSCOPE_LONG") != "" || i%5 == 0) {
			checkMoments(t, s.records(1, rng))
		}
	}
	for _, file := range []string{"history", "protocols"} {
		checkMoments(t, demo(t, file))
	}
}

// demo returns the records of a scenario that is built into the program.
func demo(t *testing.T, name string) (records []stream.Record) {
	src, err := capture.Open(context.Background(), filepath.Join("..", "ui", "cli", "demo", name+".tsc"), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range src {
		if err != nil {
			t.Fatal(err)
		}
		of := stream.Record{Exchange: r.Exchange, Request: r.Side == capture.Request, At: r.At, Data: r.Data, End: r.End != "", Note: r.Note}
		if h := r.Head; h != nil {
			of.Head = &stream.Head{Method: h.Method, URL: h.URL, Status: h.Status, Header: h.Header}
		}
		records = append(records, of)
	}
	return records
}

// TestCorpusMoments checks, for every recorded stream, that the session at moment n is the fold of the first n
// events, for each n up to 2,000, whatever the order of the moves.
func TestCorpusMoments(t *testing.T) {
	step := 13
	if os.Getenv("TOOLSCOPE_LONG") != "" {
		step = 1
	}
	eachCapture(t, func(t *testing.T, wire []byte) {
		if len(wire) > 1<<20 {
			wire = wire[:1<<20]
		}
		in := inspect(wire)
		there, back := in.View().At(0), in.View().At(0)
		last := min(in.Timeline.Len(), 2000)
		var growing stream.Session
		for n := range last + 1 {
			if n > 0 {
				growing.Apply(in.View().Event(n - 1))
			}
			if n%step != 0 && n != last {
				continue
			}
			want := state(&growing)
			there.MoveTo(n)
			back.MoveTo(last)
			back.MoveTo(n)
			for how, v := range map[string]*View{"walked": there, "walked back": back, "asked for": in.View().At(n)} {
				if got := state(v.Session()); got != want || v.Session().Counts != countsOf(v.Session()) {
					t.Fatalf("event %d of %d, %s (-fold +view):\n%s", n, in.Timeline.Len(), how, cmp.Diff(want, got))
				}
			}
		}
	})
}

// TestEndHere checks that, if a source ends at a moment, toolscope is reported to have cut off the open calls. When
// the view is moved, the earlier state must be restored.
func TestEndHere(t *testing.T) {
	in, records := new(Inspector), demo(t, "parallel")
	in.Timeline.Every = 7
	for i, r := range records { // in the second half, EndHere is called after each record, and more records follow
		if in.Write(r); i > len(records)/2 {
			v := in.View().At(in.Timeline.Len())
			v.EndHere()
		}
	}
	total := in.Timeline.Len()
	var growing stream.Session
	for n := range total {
		growing.Apply(in.View().Event(n))
	}
	if diff := cmp.Diff(state(&growing), state(in.Session())); diff != "" {
		t.Fatalf("what never came is in what did (-fold +live):\n%s", diff)
	}
	for n := range total + 1 {
		v := in.View().At(n)
		open := 0
		for _, turn := range v.Session().Turns {
			if !turn.Closed() {
				open++
			}
		}
		was := state(v.Session())
		v.EndHere()
		if v.Events() != n+open || !v.Ended() {
			t.Fatalf("at %d: %d events, %d turns were open", n, v.Events(), open)
		}
		for _, turn := range v.Session().Turns {
			if !turn.Closed() || turn.EndedBy != stream.Toolscope && turn.Phase() == stream.TurnAborted {
				t.Errorf("at %d turn %d is %s, ended by %s", n, turn.Number, turn.Phase(), turn.EndedBy)
			}
			last := -1
			for last = range v.EventsOf(turn, 0) {
				v.Event(last)
			}
			if kind, of := v.Subject(last); kind != stream.TurnClose || of.Turn != turn.Number {
				t.Errorf("at %d the last event of turn %d is %s of %v", n, turn.Number, kind, of)
			}
			for _, c := range turn.Calls {
				if c.MayGrow() {
					t.Errorf("at %d call %v still comes", n, c.Ref())
				}
			}
		}
		for _, x := range v.Exchanges() {
			if !x.Ended {
				t.Errorf("at %d exchange %d goes on", n, x.Number)
			}
		}
		if v.MoveTo(n); state(v.Session()) != was || v.Events() != n || v.Ended() {
			t.Errorf("walking on from %d is not as before", n)
		}
	}
	if state(&growing) != state(in.Session()) {
		t.Error("what never came is in what did")
	}
}
