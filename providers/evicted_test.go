package providers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/json"
)

// returns returns the reports of each request about a call, according to the events. For a dropped turn, only
// the events contain these reports.
func returns(in *Inspector, of stream.Ref) (all []stream.SentBackReport, as []string) {
	for n := range in.Timeline.Len() {
		if e, _ := in.Timeline.Event(n); e.Kind == stream.SentBack && e.Turn == of.Turn && e.Slot == of.Call {
			all = append(all, stream.PayloadOf[stream.SentBackReport](e))
			as = append(as, e.Text)
		}
	}
	return all, as
}

// TestEvictedCalls checks the reports about a call that was evicted or dropped: it was sent back unchanged, with the
// same value, with another value, or not at all. The reports must say that nothing more is known. Earlier reports must
// stay.
func TestEvictedCalls(t *testing.T) {
	const wrote, broken = `{"n": 1.0, "s": "\u00e9"}`, `{"n": `
	for _, test := range []struct {
		what, wrote, before, sent string
		as                        replay.Treatment // "" if nothing new is reported
		found                     string
	}{
		{"as it was", wrote, "", wrote, replay.Intact, ""},
		{"the same value", wrote, "", `{"s":"é","n":1}`, replay.WasReformatted, ""},
		{"rounded", `{"n":9007199254740993}`, "", `{"n":9007199254740992}`, replay.WasReformatted, ""},
		{"encoded once more", wrote, "", `"{\"s\":\"é\",\"n\":1}"`, replay.WasReformatted, ""},
		{"emptied", wrote, "", `{}`, replay.WasAltered, "ARGS_ALTERED"},
		{"another", wrote, "", `{"n": 2}`, replay.WasAltered, "ARGS_ALTERED"},
		{"repaired", broken, "", `{"n":null}`, replay.WasAltered, ""},
		{"nothing for nothing", ``, "", `{}`, replay.Intact, ""},
		{"emptied as before", wrote, `{}`, `{}`, "", ""},
		{"emptied before, now another", wrote, `{}`, `{"n": 2}`, replay.WasAltered, "ARGS_ALTERED"},
		{"repaired as before", broken, `{"n":null}`, `{"n":null}`, "", ""},
		{"encoded as before", wrote, `"{\"s\":\"é\",\"n\":1}"`, `"{\"s\":\"é\",\"n\":1}"`, "", ""},
		{"intact before, now another", wrote, wrote, `{"n": 2}`, replay.WasAltered, "ARGS_ALTERED"},
		{"altered before, now intact", wrote, `{"n": 2}`, wrote, replay.Intact, ""},
		{"left out", wrote, "", "-", replay.WasDropped, "CALL_DROPPED"},
	} {
		in := new(Inspector)
		number := 0
		write := func(request, response string) {
			number++
			in.Write(stream.Record{Exchange: number, Request: true, Data: []byte(`{"messages":[` + asks + request + `]}`)})
			in.Write(stream.Record{Exchange: number, Data: []byte(response)})
			in.Write(stream.Record{Exchange: number, End: true})
		}
		call := func(args string) string {
			return `{"id":"call_a1b2c3d4","type":"function","function":{"name":"f","arguments":` + quoted(args) + `}}`
		}
		back := func(args string) string {
			if args == "-" {
				return `,{"role":"assistant","content":"hm"},` + tool("call_a1b2c3d4", "ok")
			}
			return `,` + first + call(args) + `]},` + tool("call_a1b2c3d4", "ok")
		}
		write("", strings.Replace(says("", "", ""), made("", "", ""), call(test.wrote), 1))
		if test.before != "" {
			write(back(test.before), says("b", "f", `{}`))
		}
		told, _ := returns(in, stream.Ref{Turn: 0, Call: 1})
		in.Keep(Retention{Bytes: 1})
		write(back(test.sent), says("c", "f", `{}`))
		write(back(test.sent), says("d", "f", `{}`))
		all, as := returns(in, stream.Ref{Turn: 0, Call: 1})
		if kept := in.Session().Turn(0).Retention; kept != stream.Dropped {
			t.Fatalf("the turn is still there: %d", kept)
		}
		all, as = all[len(told):], as[len(told):]
		if test.as == "" {
			if len(all) > 0 {
				t.Errorf("%s: told as %s", test.what, as)
			}
			continue
		}
		if len(all) != 1 || as[0] != string(test.as) || all[0].Policies != "" {
			t.Errorf("%s: %v %+v", test.what, as, all)
			continue
		}
		f := all[0].Finding
		code := ""
		if f.Diagnosis != nil {
			code = f.Code
		}
		if code != test.found || code != "" && !strings.HasSuffix(f.Message, fmt.Sprintf("toolscope dropped the call's arguments (%d bytes), so the details are unknown", len(test.wrote))) {
			t.Errorf("%s: finds %q: %s", test.what, code, f.Message)
		}
	}
}

// quoted returns a text as a JSON string.
func quoted(text string) string { return string(json.AppendQuoted(nil, []byte(text))) }

// TestDroppedCallsAgree checks that the reports about dropped calls agree with the reports about the complete calls,
// or contain fewer facts.
func TestDroppedCallsAgree(t *testing.T) {
	may := map[replay.Treatment][]replay.Treatment{
		replay.WasAltered:     {replay.WasAltered, replay.WasEmptied, replay.WasRepaired},
		replay.WasReformatted: {replay.WasReformatted, replay.WasEncoded, replay.WasWrapped},
	}
	told := map[replay.Treatment]int{}
	for seed := range inLong(10, 30) {
		var whole, in Inspector
		in.Keep(Retention{Bytes: 1})
		anyTalk(seed, 60, &whole)
		anyTalk(seed, 60, &in)
		if in.Dropped() == 0 {
			t.Fatal("nothing was dropped")
		}
		for _, turn := range whole.Session().Turns {
			for _, c := range turn.Calls {
				all, as := returns(&in, c.Ref())
				for i, r := range all {
					fate := replay.Treatment(as[i])
					told[fate]++
					n := slices.IndexFunc(c.SentBack, func(b stream.SentBackCall) bool { return b.Exchange == r.Exchange })
					if n < 0 || c.SentBack[n].Outcome != as[i] && !slices.Contains(may[fate], replay.Treatment(c.SentBack[n].Outcome)) {
						t.Errorf("seed %d: request %d has %v %s, it is told; is %+v", seed, r.Exchange, c.Ref(), fate, c.SentBack)
					}
				}
				if len(all) == 0 && len(c.SentBack) > 0 {
					t.Errorf("seed %d: of %v nothing is told; is %+v", seed, c.Ref(), c.SentBack)
				}
			}
		}
	}
	for _, fate := range []replay.Treatment{replay.Intact, replay.WasReformatted, replay.WasAltered, replay.WasDropped, replay.WasOrphaned, replay.WasMoved} {
		if told[fate] == 0 {
			t.Errorf("none was %s", fate)
		}
	}
}

// TestReloadedCalls checks that the reports contain all facts if the calls can be read again.
func TestReloadedCalls(t *testing.T) {
	all := func(in *Inspector) string {
		var b strings.Builder
		for n := range in.Timeline.Len() {
			if e, _ := in.Timeline.Event(n); e.Kind == stream.SentBack {
				r := stream.PayloadOf[stream.SentBackReport](e)
				fmt.Fprintf(&b, "%d.%d %s %d %d %s %s", e.Turn, e.Slot, e.Text, e.Code, r.Exchange, r.ID, r.Policies)
				if f := r.Finding; f.Diagnosis != nil {
					fmt.Fprintf(&b, " %s %s %s", f.Code, f.Severity, f.Message)
				}
				b.WriteByte('\n')
			}
		}
		return b.String()
	}
	for seed := range inLong(6, 20) {
		var whole Inspector
		anyTalk(seed, 60, &whole)
		for _, once := range []bool{false, true} {
			var in Inspector
			from := new(tape)
			in.Keep(Retention{Bytes: 1, Rereadable: 1, ReadOnce: once})
			anyTalkTo(seed, 60, func(r stream.Record) {
				in.Write(from.add(r))
				in.MakeRoom()
			})
			in.Close()
			if in.Timeline.Session().Turn(0).Retention == stream.InMemory {
				t.Fatal("nothing is let go of")
			}
			if diff := cmp.Diff(all(&whole), all(&in)); diff != "" {
				t.Fatalf("seed %d, read once %t (-whole +let go of)\n%s", seed, once, diff)
			}
		}
	}
}
