package providers

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// rowOf returns the facts about a turn and its calls that are kept without the content: the facts for the list, for
// filters and for sums.
func rowOf(in *Inspector, t *stream.Turn) string {
	var s strings.Builder
	x := in.Exchange(t.Exchange)
	fmt.Fprintf(&s, "%q %q %q %q %s %q %q %q %+v %d %d %d %v %v %d %d %v\n", t.Protocol, t.ID, t.Model, t.Parent, t.Phase(), t.Finish, t.FinishMeaning, t.Failure,
		t.Usage, t.Events, t.OpenedBy, t.EndedBy, t.OpenedAt, t.ClosedAt, t.FirstFrame, t.LastFrame, t.SentBack)
	fmt.Fprintf(&s, "%s %q %q %q %v %v %v %v %v %q\n", x.Head.Method, x.Head.URL, x.Framing, x.Why, x.Ended, x.HeadAt, x.RequestStart(t), x.LastRecordAt(), x.EndReason, x.Client)
	if t.Request != nil {
		fmt.Fprintf(&s, "%+v\n", *t.Request)
	}
	for _, f := range t.Findings {
		fmt.Fprintf(&s, "%s %s %d\n", f.Code, f.Message, f.Event)
	}
	for _, c := range t.Calls {
		fmt.Fprintf(&s, "%d %q %q %s %d %d %v %v %v %v %v %d\n", c.Number, c.ID, c.Name, c.Status(), c.ArgsLen(), c.Slot, c.OpenedAt, c.FirstArgAt, c.SealedAt, c.LastArgAt,
			c.ResultCode, c.OpenedBy)
		for _, f := range c.Findings {
			fmt.Fprintf(&s, "%s %s %d %d\n", f.Code, f.Message, f.Event, f.Offset)
		}
		for _, r := range c.SentBack {
			r.Result.Text = "" // this text is evicted with the content
			fmt.Fprintf(&s, "%+v\n", r)
		}
	}
	return s.String()
}

// contentOf returns the facts about a turn that need its content.
func contentOf(in *Inspector, t *stream.Turn) string {
	var s strings.Builder
	x, v := in.Exchange(t.Exchange), in.View()
	fmt.Fprintf(&s, "%q %q %v %q %v\n", t.Text, t.Thinking, t.Parts, x.RequestBody(), x.RequestHeader)
	fmt.Fprintf(&s, "%v\n", x.Head.Header)
	for _, c := range t.Calls {
		keys, known := x.Required(c)
		fmt.Fprintf(&s, "%q %d %q %v %v %+v\n", c.Args(), c.Deltas(), x.RequiredArgs(c), keys, known, v.Latency(t, c))
		for e := range stream.RunRule(stream.NumRunRules) {
			fmt.Fprintf(&s, "%s %+v\n", e, c.RuleRun(e))
		}
		for n := range c.Deltas() {
			fmt.Fprint(&s, c.DeltaEvent(n), " ")
		}
	}
	for n := range v.EventsOf(t, 0) {
		e := v.Event(n)
		fmt.Fprintf(&s, "%d %v %d %d %v\n", n, e.At, e.Slot, e.Frame, e)
	}
	return s.String()
}

// bringsBack writes n exchanges. Each request sends back the previous response.
func bringsBack(in *Inspector, from *tape, n int) {
	write := func(r stream.Record) {
		if from != nil {
			r = from.add(r)
		}
		in.Write(r)
	}
	said := `{"role":"user","content":"go"}`
	for x := 1; x <= n; x++ {
		at := time.Duration(x) * time.Second
		args := fmt.Sprintf(`{"n":%d}`, x)
		if x%5 == 0 {
			args = `{"m":[]}` // arguments that don't match the tool's schema
		}
		write(stream.Record{
			Exchange: x, Request: true, At: at,
			Head: &stream.Head{Method: "POST", URL: "https://api.anthropic.com/v1/messages", Header: map[string][]string{"User-Agent": {"claude-cli/2.0"}}},
			Data: []byte(`{"model":"m","tools":[{"name":"f","input_schema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}],"messages":[` + said + `]}`),
		})
		wire := strings.ReplaceAll(answer(x), `{\"n\":`, strings.ReplaceAll(args[:5], `"`, `\"`))
		wire = strings.ReplaceAll(wire, fmt.Sprintf(`"partial_json":"%d}"`, x), fmt.Sprintf(`"partial_json":"%s"`, strings.ReplaceAll(args[5:], `"`, `\"`)))
		half := len(wire) / 2
		write(stream.Record{Exchange: x, At: at + 100*time.Millisecond, Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"text/event-stream"}}}, Data: []byte(wire[:half])})
		end := stream.Record{Exchange: x, At: at + 200*time.Millisecond, Data: []byte(wire[half:]), End: true}
		if x%7 == 0 {
			end.Data, end.Why, end.By = end.Data[:len(end.Data)/2], "reset", "network"
		}
		write(end)
		in.MakeRoom()
		said = fmt.Sprintf(`{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_%d","name":"f","input":%s}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"gave %d"}]}`, x, args, x, x)
	}
}

// TestEvictedRow checks that the row of an evicted turn stays the same. After a reload, the rest of the turn must be
// the same too, at every past moment.
func TestEvictedRow(t *testing.T) {
	var whole, in Inspector
	in.Keep(Retention{Rereadable: 4 << 10})
	bringsBack(&whole, nil, 40)
	bringsBack(&in, new(tape), 40)
	cold := 0
	for n, turn := range in.Session().Turns {
		if turn.Retention == stream.Evicted {
			cold++
		}
		if got, want := rowOf(&in, turn), rowOf(&whole, whole.Session().Turns[n]); got != want {
			t.Fatalf("turn %d says\n%s\nit said\n%s", n, got, want)
		}
	}
	if cold < 30 {
		t.Fatalf("%d turns were let go of", cold)
	}
	in.Keep(Retention{})
	for n := range int32(len(in.Session().Turns)) {
		if read := in.Reload(n); read != nil {
			if err := read()(); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := contentOf(&in, in.Session().Turn(n)), contentOf(&whole, whole.Session().Turn(n)); got != want {
			t.Fatalf("turn %d says\n%s\nit said\n%s", n, got, want)
		}
	}
	for n := 0; n <= whole.Timeline.Len(); n += 7 {
		if got, want := state(in.View().At(n).Session()), state(whole.View().At(n).Session()); got != want {
			t.Fatalf("after %d events\n%s\nit was\n%s", n, got, want)
		}
	}
}

// heapOf returns the number of bytes in use on the heap.
func heapOf() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestEvictedTurnBytes checks that an evicted turn uses little memory, and that later turns don't use more than earlier
// ones.
func TestEvictedTurnBytes(t *testing.T) {
	if raceEnabled {
		t.Skip("what things take is another with the race detector")
	}
	const some, most = 2000, 2400
	var all Inspector
	from := new(tape)
	day(&all, from, 1, 3*some)
	all = Inspector{}
	var in Inspector
	in.Keep(Retention{Rereadable: 64 << 10})
	at := 0
	grown := [3]int64{}
	for k := range grown {
		before := heapOf()
		for end := (k + 1) * some; at < len(from.records) && (from.records[at].Exchange <= end); at++ {
			in.Write(from.records[at])
			if from.records[at].End {
				in.MakeRoom()
			}
		}
		grown[k] = (heapOf() - before) / some
	}
	runtime.KeepAlive(&in)
	runtime.KeepAlive(from)
	t.Logf("a cold turn takes %d bytes", grown)
	if grown[2] > most {
		t.Errorf("a cold turn takes %d bytes", grown[2])
	}
	if grown[2] > grown[1]*5/4 {
		t.Errorf("it takes %d bytes behind others, and %d before", grown[2], grown[1])
	}
}
