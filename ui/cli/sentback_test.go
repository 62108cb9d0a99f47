package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
)

// sentBackJSON is the line of a call that a later request sent back.
type sentBackJSON struct {
	Type, File, ID, Name, As, Result string
	Turn, Call, Exchange             int
	Kept                             bool
	Policies                         []string
	Findings                         []findingJSON
}

// TestSentBack checks that the lines about sent-back calls come before the turn whose request sent them back.
func TestSentBack(t *testing.T) {
	out := command(t, nil, "print", "--format", "jsonl", "testdata/emptied.tsc")
	var types []string
	var back sentBackJSON
	for line := range strings.Lines(out.stdout) {
		var l struct{ Type string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if types = append(types, l.Type); l.Type == "sent_back" {
			d := json.NewDecoder(strings.NewReader(line))
			d.DisallowUnknownFields()
			if err := d.Decode(&back); err != nil {
				t.Fatal(err)
			}
		}
	}
	same(t, 0, "lines", types, []string{"call", "turn", "sent_back", "turn"})
	found := back.Findings
	back.Findings = nil
	same(t, 0, "line", back, sentBackJSON{
		Type: "sent_back", File: "testdata/emptied.tsc", ID: "call_7", Name: "save_note", As: "emptied", Result: "ok",
		Turn: 1, Call: 1, Exchange: 2, Policies: []string{"empty"},
	})
	if len(found) != 1 || found[0].Code != "ARGS_REPLACED_BY_EMPTY" || found[0].Severity != "error" {
		t.Errorf("findings %+v", found)
	}
	text := command(t, nil, "print", "testdata/emptied.tsc").stdout
	line := "  sent back     save_note  call_7  emptied as empty does, result ok  (turn 1, in request 2)\n    error ARGS_REPLACED_BY_EMPTY  "
	before, after, ok := strings.Cut(text, line)
	if !ok || !strings.Contains(before, "  turn 1  ") || strings.Contains(before, "  turn 2  ") || !strings.Contains(after, "  turn 2  ") {
		t.Errorf("no %q between the turns of\n%s", line, text)
	}
}

// TestSentBackOnce checks that each sent-back call is printed once, and not before its turn.
func TestSentBackOnce(t *testing.T) {
	in := new(providers.Inspector)
	var out bytes.Buffer
	q := newTurnPrinter(in, "f", &jsonPrinter{lineWriter: lineWriter{to: &out}, prices: price.Embedded()})
	step := func(all bool, wants ...string) {
		t.Helper()
		out.Reset()
		if err := q.printEnded(all); err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if out.Len() == 0 {
			got = nil
		}
		for i := range max(len(got), len(wants)) {
			if i >= len(got) || i >= len(wants) || !strings.Contains(got[i], wants[i]) {
				t.Fatalf("printed\n%s\nwant %q", strings.Join(got, "\n"), wants)
			}
		}
	}
	back := func(turn int32, as string, code stream.Code) stream.Event {
		return stream.Event{Kind: stream.SentBack, Turn: turn, Slot: 1, Text: as, Code: code, What: &stream.SentBackReport{Exchange: 5}}
	}
	in.Timeline.Append(
		stream.Event{Kind: stream.TurnOpen},
		stream.Event{Kind: stream.CallOpen, What: &stream.CallInfo{ID: "a", Name: "f"}},
		back(0, "intact", 0),
		stream.Event{Kind: stream.SentBack, Slot: 9, Text: "of no call"},
	)
	step(false)
	in.Timeline.Append(stream.Event{Kind: stream.TurnClose})
	step(false, `"type":"call"`, `"type":"turn"`, `"as":"intact","policies":[],"result":"none","findings":[]`)
	step(false)
	in.Timeline.Append(back(0, "dropped", stream.ResultFailed), stream.Event{Kind: stream.TurnOpen, Turn: 1})
	step(false, `"as":"dropped","policies":[],"result":"failed"`, `{"type":"result","file":"f","turn":1,"call":1,"id":"a","name":"f","exchange":5,"result":{"error":true,`)
	late := stream.ArgsCut.Finding("found with the request")
	in.Timeline.Append(back(0, "altered", 0), stream.Event{Kind: stream.Found, What: &late})
	step(false, `"as":"altered","policies":[],"result":"none","findings":[{"code":"ARGS_CUT",`)
	in.Timeline.Append(stream.Event{Kind: stream.CallOpen, Turn: 1, What: &stream.CallInfo{Name: "g"}}, back(1, "intact", stream.ResultOK))
	step(false)
	step(true, `"name":"g"`, `"type":"turn"`, `"turn":2,"call":1,"id":"","name":"g","exchange":5,"as":"intact","policies":[],"result":"ok"`)
	step(true)
}

// TestSentBackOfDropped checks that the line of a sent-back call is the same after the call has been evicted. Only
// facts that are no longer known may be missing.
func TestSentBackOfDropped(t *testing.T) {
	lines := func(bytes int64, sent string) string {
		in := new(providers.Inspector)
		var out strings.Builder
		q := newTurnPrinter(in, "a", &jsonPrinter{lineWriter: lineWriter{to: &out}, prices: price.Embedded()})
		in.Keep(providers.Retention{Bytes: bytes, ReadOnce: true})
		call := func(args string) string {
			return `{"id":"call_a1b2c3d4","type":"function","function":{"name":"f","arguments":"` + strings.ReplaceAll(args, `"`, `\"`) + `"}}`
		}
		step := func(exchange int, request, response string) {
			in.Write(stream.Record{Exchange: exchange, Request: true, Data: []byte(`{"messages":[{"role":"user","content":"go"}` + request + `]}`)})
			in.Write(stream.Record{Exchange: exchange, Data: []byte(`{"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant",` + response + `},"finish_reason":"stop"}]}`), End: true})
			if err := q.printEnded(false); err != nil {
				t.Fatal(err)
			}
			in.MakeRoom()
		}
		step(1, ``, `"tool_calls":[`+call(`{"n":1}`)+`]`)
		step(2, `,{"role":"assistant","tool_calls":[`+call(sent)+`]},{"role":"tool","tool_call_id":"call_a1b2c3d4","content":"ok"}`, `"content":"done"`)
		if dropped := in.Dropped() > 0; dropped != (bytes == 1) {
			t.Errorf("dropped: %t", dropped)
		}
		_, line, _ := strings.Cut(out.String(), `{"type":"sent_back"`)
		line, _, _ = strings.Cut(line, "\n")
		return line
	}
	for _, sent := range []string{`{"n":1}`, `{"n": 1}`} {
		if whole, dropped := lines(1<<30, sent), lines(1, sent); whole == "" || dropped != whole {
			t.Errorf("%s\nwant %s", dropped, whole)
		}
	}
	whole, dropped := lines(1<<30, `{"n":2}`), lines(1, `{"n":2}`)
	known, event, _ := strings.Cut(whole, `","event":`)
	if !strings.Contains(whole, `"as":"altered","policies":[]`) || dropped != known+`; toolscope dropped the call's arguments (7 bytes), so the details are unknown","event":`+event {
		t.Errorf("%s\nwant more than %s", dropped, whole)
	}
}

// TestPrintedGoes checks that printed turns are evicted when there is too much data, and that other turns are kept.
func TestPrintedGoes(t *testing.T) {
	in := new(providers.Inspector)
	q := newTurnPrinter(in, "a", &jsonPrinter{lineWriter: lineWriter{to: io.Discard}, prices: price.Embedded()})
	in.Keep(providers.Retention{Bytes: 1})
	body := []byte(`{"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`)
	in.Write(stream.Record{Exchange: 1, Data: body})
	in.Write(stream.Record{Exchange: 2, Data: body})
	in.Write(stream.Record{Exchange: 3, End: true})
	held := func() (numbers []int) {
		if err := q.printEnded(false); err != nil {
			t.Fatal(err)
		}
		in.MakeRoom()
		for _, x := range in.Exchanges() {
			if x.Response.Size() > 0 {
				numbers = append(numbers, x.Number)
			}
		}
		return numbers
	}
	if got := held(); len(got) != 2 {
		t.Errorf("while both go on, %v are held", got)
	}
	in.Write(stream.Record{Exchange: 1, End: true})
	if got := held(); len(got) != 1 || got[0] != 2 {
		t.Errorf("when the first has ended, %v are held", got)
	}
}

// TestInspectEvicts checks that turns are evicted while a source is read, but not at its end.
func TestInspectEvicts(t *testing.T) {
	in := new(providers.Inspector)
	q := newTurnPrinter(in, "a", &jsonPrinter{lineWriter: lineWriter{to: io.Discard}, prices: price.Embedded()})
	in.Keep(providers.Retention{Bytes: 1})
	src := func(yield func(capture.Record, error) bool) {
		for n := range 3 {
			body := []byte(`{"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`)
			if !yield(capture.Record{Exchange: n + 1, Data: body, End: capture.EndEOF}, nil) {
				return
			}
		}
	}
	if err := inspectSource(src, in, func() bool { return q.printEnded(false) == nil }); err != nil || in.Dropped() != 2 {
		t.Errorf("%d of 3 turns were let go of (%v)", in.Dropped(), err)
	}
}
