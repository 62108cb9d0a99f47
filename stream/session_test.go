package stream

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// callCases are conversations and the resulting calls.
var callCases = []struct {
	name   string
	events []Event
	want   string
}{
	{"in one piece", []Event{opened(0, "id", "f"), args(0, `{"a":1}`), sealed(0)},
		`f sealed object: complete {"a":1}`},
	{"in pieces", []Event{opened(0, "id", "f"), args(0, ``), args(0, `{"a":`), args(0, `1}`), sealed(0)},
		`f sealed object: complete {"a":1}`},
	{"without arguments", []Event{opened(0, "id", "f"), args(0, ``), sealed(0)},
		`f sealed empty: no arguments`},
	{"parses, not sealed", []Event{opened(0, "id", "f"), args(0, `{"query": "test"}`)},
		`f open object: looks done {"query": "test"}`},
	{"parsed too early", []Event{opened(0, "id", "f"), args(0, `{"query": "test"}`), args(0, `, "limit": 10}`), sealed(0)},
		`f sealed trailing: malformed {"query": "test"}, "limit": 10}`},
	{"interleaved slots", []Event{opened(0, "1", "f"), opened(1, "2", "g"), args(0, `{"a"`), args(1, `{"b"`), args(0, `:1}`), args(1, `:2}`), sealed(0), sealed(1)},
		"f sealed object: complete {\"a\":1}\ng sealed object: complete {\"b\":2}"},
	{"free text", []Event{custom(0, "sql"), args(0, `SELECT `), args(0, `{`), sealed(0)},
		`sql sealed freeform: complete SELECT {`},
	{"sealed twice", []Event{opened(0, "id", "f"), args(0, `{}`), sealed(0), sealed(0)},
		`f sealed object: complete {}`},
	{"bytes after the seal are kept", []Event{opened(0, "id", "f"), args(0, `{}`), sealed(0), args(0, `x`)},
		`f sealed trailing: malformed {}x`},
	{"slot opened again", []Event{opened(0, "1", "f"), args(0, `{"a`), opened(0, "2", "g"), args(0, `{}`), sealed(0)},
		"f open prefix: streaming {\"a\ng sealed object: complete {}"},
	{"slot used again after the seal", []Event{opened(0, "1", "f"), args(0, `{}`), sealed(0), opened(0, "2", "g"), args(0, `[`)},
		"f sealed object: complete {}\ng open prefix: streaming ["},
	{"delta of an unknown slot", []Event{args(3, `{"a`)},
		``},
	{"seal of an unknown slot", []Event{sealed(3)},
		``},
	{"name comes late", []Event{opened(0, "", ""), args(0, `{"a`), named(0, "", "f")},
		`f open prefix: streaming {"a`},
	{"name comes after the seal", []Event{opened(0, "", ""), args(0, `{}`), sealed(0), named(0, "id", "f")},
		`f sealed object: complete {}`},

	// Calls at the end of the turn.
	{"ended", []Event{opened(0, "id", "f"), args(0, `{}`), closed(CloseEnd)},
		`f ended object: looks done {}`},
	{"bytes end without terminator", []Event{opened(0, "id", "f"), args(0, `{}`), closed(CloseCut)},
		`f aborted object: aborted {}`},
	{"sealed, then the bytes end", []Event{opened(0, "id", "f"), args(0, `{}`), sealed(0), closed(CloseCut)},
		`f sealed object: complete {}`},
	{"error", []Event{opened(0, "1", "f"), args(0, `{}`), sealed(0), opened(1, "2", "g"), args(1, `{"b`), failure("overloaded_error", "try later")},
		"f sealed object: complete {}\ng aborted prefix: aborted {\"b"},
	{"finish word is an error", []Event{opened(0, "id", "f"), args(0, `{}`), finish(FinishFailed, "error")},
		`f aborted object: aborted {}`},
	{"finish word is an error after the seal", []Event{opened(0, "id", "f"), args(0, `{}`), sealed(0), finish(FinishFailed, "error")},
		`f sealed object: complete {}`},
	{"refused", []Event{opened(0, "1", "f"), args(0, `{}`), sealed(0), opened(1, "2", "g"), finish(FinishRefused, "refusal")},
		"f rejected object: rejected {}\ng rejected empty: rejected"},
	{"refused, but the provider had run it", []Event{opened(0, "1", "f"), args(0, `{}`), sealed(0), {Kind: CallResult, Code: ResultOK, What: &ResultFor{ID: "1"}}, finish(FinishRefused, "refusal")},
		`f sealed object: complete {}`},
	{"one call refused", []Event{opened(0, "1", "f"), args(0, `{}`), refused(0), opened(1, "2", "g"), args(1, `{}`), sealed(1)},
		"f rejected object: rejected {}\ng sealed object: complete {}"},
	{"refused after its seal", []Event{opened(0, "1", "f"), args(0, `{}`), sealed(0), refused(0), sealed(0)},
		`f rejected object: rejected {}`},
	{"refused after a cut", []Event{opened(0, "1", "f"), args(0, `{"a`), closed(CloseCut), refused(0)},
		`f aborted prefix: aborted {"a`},
	{"done says nothing of an open call", []Event{opened(0, "id", "f"), args(0, `{}`), finish(FinishDone, "stop")},
		`f open object: looks done {}`},
	{"an unknown reason says nothing of an open call", []Event{opened(0, "id", "f"), args(0, `{}`), finish(FinishOther, "eos")},
		`f open object: looks done {}`},
	{"finish of another choice", []Event{inChoice(0, opened(0, "1", "f")), inChoice(1, opened(1, "2", "g")), args(0, `{"a`), args(1, `{"b`), {Kind: Finish, Slot: 1, Code: FinishCut, Text: "length"}},
		"f open prefix: streaming {\"a\ng truncated prefix: cut short {\"b"},

	// A limit cuts the response. A seal counts only for complete arguments and, in the frame of the finish, only for
	// an object.
	{"failed, sealed inside the arguments", []Event{opened(0, "id", "f"), args(0, `{"a`), sealed(0), finish(FinishFailed, "failed")},
		`f aborted prefix: aborted {"a`},
	{"failed, whole and sealed before", []Event{opened(0, "id", "f"), args(0, `{}`), sealed(0), finish(FinishFailed, "failed")},
		`f sealed object: complete {}`},
	{"cut, never sealed", []Event{opened(0, "id", "f"), args(0, `{"a`), finish(FinishCut, "length")},
		`f truncated prefix: cut short {"a`},
	{"cut, then refused", []Event{opened(0, "id", "f"), args(0, `{"a`), finish(FinishCut, "length"), finish(FinishRefused, "refusal")},
		`f rejected prefix: rejected {"a`},
	{"cut, sealed before", []Event{opened(0, "id", "f"), args(0, `{"a`), sealed(0), finish(FinishCut, "max_tokens")},
		`f truncated prefix: cut short {"a`},
	{"cut, whole and sealed before", []Event{opened(0, "id", "f"), args(0, `{}`), sealed(0), finish(FinishCut, "max_tokens")},
		`f sealed object: complete {}`},
	{"cut, whole and sealed by it", []Event{opened(0, "id", "f"), args(0, `{}`), sealed(0), withIt(finish(FinishCut, "length"))},
		`f sealed object: complete {}`},
	{"cut, empty and sealed directly before", []Event{opened(0, "id", "f"), sealed(0), finish(FinishCut, "max_tokens")},
		`f truncated empty: cut short`},
	{"cut, empty and sealed before a text", []Event{opened(0, "id", "f"), sealed(0), {Kind: TextDelta, Text: "so"}, finish(FinishCut, "max_tokens")},
		`f sealed empty: no arguments`},
	{"cut, empty and sealed by it", []Event{opened(0, "id", "f"), sealed(0), withIt(finish(FinishCut, "length"))},
		`f truncated empty: cut short`},
	{"cut, free text sealed before", []Event{custom(0, "sql"), args(0, `SELECT 1`), sealed(0), finish(FinishCut, "max_output_tokens")},
		`sql sealed freeform: complete SELECT 1`},
	{"cut, free text sealed by it", []Event{custom(0, "sql"), args(0, `SELECT`), sealed(0), withIt(finish(FinishCut, "length"))},
		`sql truncated freeform: cut short SELECT`},
	{"an error, then a limit", []Event{opened(0, "id", "f"), args(0, `{"a`), failure("", "gone"), finish(FinishCut, "length")},
		`f aborted prefix: aborted {"a`},
	{"cut twice", []Event{opened(0, "id", "f"), args(0, `{"a`), finish(FinishCut, "length"), failure("", "gone"), closed(CloseCut)},
		`f truncated prefix: cut short {"a`},
}

func TestCalls(t *testing.T) {
	for _, c := range callCases {
		if got := callLines(fold(c.events...)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// TestHalfPairs checks text from a provider that cuts by UTF-16 units. Such a provider sends an emoji in two
// deltas, each of them a lone surrogate.
func TestHalfPairs(t *testing.T) {
	const high, low = "\xed\xa0\xbd", "\xed\xb8\x80"
	for _, c := range []struct {
		deltas []string
		want   string
		ends   []uint32
	}{
		{[]string{`{"a":"` + high, low + `"}`}, `{"a":"😀"}`, []uint32{6, 12}},
		{[]string{high, ``, low}, `😀`, []uint32{0, 0, 4}},
		{[]string{high, low + high, low}, `😀😀`, []uint32{0, 4, 8}},
		{[]string{high, `x`}, high + `x`, []uint32{0, 4}},
		{[]string{high, high + low}, high + "\xed\xa0\xbd\xed\xb8\x80", []uint32{0, 9}},
		{[]string{`a`, high}, `a` + high, []uint32{1, 4}},
		{[]string{low}, low, []uint32{3}},
		{[]string{`{"a":"1234`, `5` + high, low + `"}`}, `{"a":"12345😀"}`, []uint32{10, 11, 17}},
	} {
		events := []Event{opened(0, "id", "f")}
		for _, d := range c.deltas {
			events = append(events, args(0, d))
		}
		call := fold(append(events, sealed(0))...).Turn(0).Calls[0]
		var ends []uint32
		for _, d := range deltasOf(call) {
			ends = append(ends, d.End)
		}
		if got := string(call.Args()); got != c.want || !cmp.Equal(ends, c.ends) {
			t.Errorf("%q: %q with deltas to %v, want %q to %v", c.deltas, got, ends, c.want, c.ends)
		}
	}
}

func TestDeltas(t *testing.T) {
	c := fold(opened(0, "id", "f"), args(0, `{"a"`), args(0, ``), args(0, `:1}`)).Turn(0).Calls[0]
	for n, want := range [][2]int{{0, 4}, {4, 4}, {4, 7}} {
		if start, end := c.DeltaSpan(n); [2]int{start, end} != want {
			t.Errorf("delta %d is [%d, %d), want %v", n, start, end, want)
		}
	}
	for off, want := range []int{0, 0, 0, 0, 2, 2, 2} {
		if got := c.DeltaAt(off); got != want {
			t.Errorf("byte %d came with delta %d, want %d", off, got, want)
		}
	}
	for event, want := range []int{-1, 0, 1, 2, -1} {
		if got := c.DeltaOf(int32(event)); got != want {
			t.Errorf("event %d brought delta %d, want %d", event, got, want)
		}
	}
}

func TestCallEvents(t *testing.T) {
	s := fold(opened(0, "1", "f"), args(0, `{}`), sealed(0), opened(0, "2", "g"), inTurn(1, opened(0, "3", "h")))
	var got [][2]int32
	for _, turn := range s.Turns {
		for _, c := range turn.Calls {
			got = append(got, [2]int32{c.OpenedBy, c.ClosedBy})
		}
	}
	if want := [][2]int32{{0, 3}, {3, 0}, {4, 0}}; !cmp.Equal(got, want) {
		t.Errorf("opened and closed by %v, want %v", got, want)
	}
	if s.Turn(0).OpenedBy != 0 || s.Turn(1).OpenedBy != 4 {
		t.Errorf("turns opened by %d and %d", s.Turn(0).OpenedBy, s.Turn(1).OpenedBy)
	}
}

// TestCallMeta checks that the data that must be sent back with a call may arrive with the call or later.
func TestCallMeta(t *testing.T) {
	open := opened(0, "1", "f")
	open.What = &CallInfo{ID: "1", Name: "f", Item: "fc_1", Namespace: "n", Signature: "s"}
	meta := Event{Kind: CallMeta, What: &CallInfo{Item: "fc_2", Namespace: "m", Signature: "t"}}
	for _, test := range []struct {
		events []Event
		want   CallInfo
	}{
		{[]Event{open}, CallInfo{Item: "fc_1", Namespace: "n", Signature: "s"}},
		{[]Event{open, {Kind: CallMeta, What: &CallInfo{Copies: 2}}}, CallInfo{Item: "fc_1", Namespace: "n", Signature: "s", Copies: 2}},
		{[]Event{open, {Kind: CallMeta, What: &CallInfo{Copies: 2}}, meta}, CallInfo{Item: "fc_2", Namespace: "m", Signature: "t", Copies: 2}},
		{[]Event{open, meta}, CallInfo{Item: "fc_2", Namespace: "m", Signature: "t"}},
		{[]Event{opened(0, "1", "f"), meta}, CallInfo{Item: "fc_2", Namespace: "m", Signature: "t"}},
	} {
		c := fold(test.events...).Turn(0).Calls[0]
		if got := (CallInfo{Item: c.Item, Namespace: c.Namespace, Signature: c.Signature, Copies: c.Copies}); got != test.want {
			t.Errorf("%v, want %v", got, test.want)
		}
	}
}

func TestCallTimes(t *testing.T) {
	c := fold(opened(0, "id", "f"), args(0, ``), args(0, `{`), args(0, `}`), sealed(0)).Turn(0).Calls[0]
	got := [...]time.Duration{c.OpenedAt, c.FirstArgAt, c.LastArgAt, c.SealedAt}
	if want := [...]time.Duration{0, 2e6, 3e6, 4e6}; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	c = fold(opened(0, "id", "f"), args(0, `{}`), Event{Kind: Rewrite, Text: `{"a":1}`}).Turn(0).Calls[0]
	if c.FirstArgAt != 1e6 || c.LastArgAt != 2e6 {
		t.Errorf("times of arguments that were replaced: %v %v", c.FirstArgAt, c.LastArgAt)
	}
	c = fold(opened(0, "id", "f")).Turn(0).Calls[0]
	if c.FirstArgAt != NoTime || c.LastArgAt != NoTime || c.SealedAt != NoTime {
		t.Errorf("times of what has not happened: %v %v %v", c.FirstArgAt, c.LastArgAt, c.SealedAt)
	}
}

func TestTurn(t *testing.T) {
	s := fold(
		Event{Kind: TurnOpen, What: &Opening{ID: "msg", Model: "m", Protocol: "anthropic", Exchange: 4, Request: &RequestInfo{Session: "s"}}},
		Event{Kind: TextDelta, Text: "Hel"}, Event{Kind: ThinkDelta, Text: "hm"}, Event{Kind: TextDelta, Text: "lo"},
		Event{Kind: TurnMeta, What: &Opening{Model: "m-2026"}},
		Event{Kind: UsageEvent, What: &Usage{Input: Tokens(10), Output: Tokens(1)}},
		Event{Kind: UsageEvent, What: &Usage{Output: Tokens(7), CostUSD: 0.5, CostReported: true}},
		Event{Kind: Unknown, Text: "new.event"}, Event{Kind: Heartbeat},
		finish(FinishDone, "end_turn"), closed(CloseEnd),
		inTurn(1, Event{Kind: TurnOpen}),
	)
	turn := s.Turn(0)
	got := []any{turn.ID, turn.Model, turn.Request.Session, turn.Protocol, turn.Exchange, string(turn.Text), string(turn.Thinking), turn.Usage, turn.Finish, turn.Events, turn.FirstFrame, turn.LastFrame, turn.ClosedAt}
	want := []any{"msg", "m-2026", "s", "anthropic", 4, "Hello", "hm", Usage{Input: Tokens(10), Output: Tokens(7), CostUSD: 0.5, CostReported: true}, "end_turn", 11, int32(0), int32(10), 10 * time.Millisecond}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(s.Turns) != 2 || s.Events() != 12 || s.Turn(2) != nil || s.Turn(1).Closed() || !turn.Closed() {
		t.Errorf("%d turns of %d events", len(s.Turns), s.Events())
	}
}

// TestRan checks that tool runs and findings about them belong to the named calls, and that other calls are ignored.
func TestRan(t *testing.T) {
	odd := (&Diagnosis{Code: "ODD", By: Client}).Finding("so")
	events := []Event{opened(0, "1", "f"), opened(1, "2", "g")}
	for slot := range int32(4) {
		events = append(events, Event{Kind: Ran, Slot: slot, What: &ToolExecution{Request: int(slot), Join: ByID, Of: 1}}, Event{Kind: Ran, Slot: slot, What: &ToolExecution{Request: -1, Finding: odd}})
	}
	for i, c := range fold(events...).Turn(0).Calls {
		n := 4 + 2*i
		if len(c.Runs) != 1 || c.Runs[0] != (ToolRun{i + 1, ByID, 1, n}) || len(c.Findings) != 1 || c.Findings[0].Event != n+1 {
			t.Errorf("%s: runs %v, findings %v", c.Name, c.Runs, c.Findings)
		}
	}
}

func TestAnswered(t *testing.T) {
	answer := Event{Kind: CallResult, Code: ResultFailed, What: &ResultFor{ID: "1"}}
	s := fold(opened(0, "1", "f"), opened(1, "2", "g"), answer, inTurn(1, answer))
	if f, g := s.Turn(0).Calls[0], s.Turn(0).Calls[1]; f.ResultCode != ResultFailed || g.ResultCode != 0 {
		t.Errorf("answered: %d and %d", f.ResultCode, g.ResultCode)
	}
	server := opened(1, "", "g")
	server.What = &CallInfo{Name: "g", RunByProvider: true}
	s = fold(opened(0, "", "f"), server, Event{Kind: CallResult, Slot: 1, Code: ResultOK}, Event{Kind: CallResult, Code: ResultOK})
	if f, g := s.Turn(0).Calls[0], s.Turn(0).Calls[1]; f.ResultCode != 0 || g.ResultCode != ResultOK {
		t.Errorf("answered by slot: %d and %d", f.ResultCode, g.ResultCode)
	}
	// A result in another turn for the same id is not a result of this call.
	if other := fold(opened(0, "1", "f"), inTurn(1, answer)).Turn(0).Calls[0]; other.ResultCode != 0 {
		t.Errorf("answered from another turn: %d", other.ResultCode)
	}
	// If the wire has no ids, results are for the calls with that name, in their order.
	byName := Event{Kind: CallResult, Code: ResultOK, What: &ResultFor{Name: "f"}}
	calls := fold(opened(0, "", "g"), opened(1, "", "f"), opened(2, "", "f"), opened(3, "1", "f"), byName).Turn(0).Calls
	for i, want := range []Code{0, ResultOK, 0, 0} {
		if calls[i].ResultCode != want {
			t.Errorf("answered by name: call %d has %d", i+1, calls[i].ResultCode)
		}
	}
}

func TestEventString(t *testing.T) {
	for _, c := range []struct {
		event Event
		want  string
	}{
		{args(2, "{\x1b"), `args turn=0 slot=2 "{\x1b"`},
		{inTurn(3, inChoice(1, opened(0, "id", "f"))), `call open turn=3 slot=0 id="id" name="f" choice=1`},
		{closed(CloseCut), `turn close turn=0 code=1`},
		{found(NoSlot, (&Diagnosis{Code: "X", Severity: Warn}).Finding("")), `finding turn=0 slot=-1 X (warn)`},
		{Event{Kind: 99}, `event 99 turn=0`},
	} {
		if got := c.event.String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	for k := TurnOpen; k <= Heartbeat; k++ {
		if strings.HasPrefix(k.String(), "event") {
			t.Errorf("kind %d has no word", k)
		}
	}
}
