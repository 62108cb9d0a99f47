package stream

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolscope/stream/json"
	"toolscope/stream/list"
)

// callView is a call as code outside the fold sees it.
type callView struct {
	Call   Call
	Args   string
	Deltas []Delta
	Tokens []json.Token
	Phase  Phase
	Syntax json.Syntax
	Status Status
	Runs   [NumRunRules]RuleRun
	Open   string // containers
}

// sessionView is a copy of all exported data of a session.
type sessionView struct {
	Events   int
	Turns    []Turn
	Phases   []TurnPhase
	Calls    []callView
	Findings []Finding
	Counts   [NumStatus]int
	Stopped  int
}

func view(s *Session) sessionView {
	v := sessionView{Events: s.Events(), Findings: append([]Finding(nil), s.Findings...), Counts: s.Counts, Stopped: s.Stopped}
	for _, t := range s.Turns {
		turn := *t
		turn.Text, turn.Thinking = []byte(string(t.Text)), []byte(string(t.Thinking))
		turn.Findings = append([]Finding(nil), t.Findings...)
		turn.Parts = append([]Part(nil), t.Parts...)
		turn.Calls = nil
		v.Turns, v.Phases = append(v.Turns, turn), append(v.Phases, t.Phase())
		for _, c := range t.Calls {
			call := *c
			call.Findings = append([]Finding(nil), c.Findings...)
			call.SentBack = append([]SentBackCall(nil), c.SentBack...)
			var runs [NumRunRules]RuleRun
			for x := range runs {
				runs[x] = c.RuleRun(RunRule(x))
			}
			v.Calls = append(v.Calls, callView{
				Runs: runs, Open: closers(c.Lexer()),
				Call: call, Args: string(c.Args()), Deltas: deltasOf(c),
				Tokens: tokensOf(c.Lexer()),
				Phase:  c.Phase(), Syntax: c.Syntax(), Status: c.Status(),
			})
		}
	}
	return v
}

// closers returns the closing brackets that are missing from the text.
func closers(l *json.Lexer) (s string) {
	for d := l.Depth(); d > 0; d-- {
		s += string(l.Closer(d))
	}
	return s
}

// deltasOf returns a call's deltas, each with its end.
func deltasOf(c *Call) (list []Delta) {
	for n := range c.Deltas() {
		_, end := c.DeltaSpan(n)
		list = append(list, Delta{uint32(end), c.DeltaEvent(n)})
	}
	return list
}

// diffViews compares exported data. Unexported state may share memory.
func diffViews(want, got sessionView) string {
	if isSame(reflect.ValueOf(want), reflect.ValueOf(got)) { // cmp takes much longer
		return ""
	}
	return cmp.Diff(want, got, cmp.FilterPath(func(p cmp.Path) bool {
		field, ok := p.Last().(cmp.StructField)
		return ok && strings.ToLower(field.Name()[:1]) == field.Name()[:1]
	}, cmp.Ignore()))
}

// isSame reports whether two values of one type have the same exported data. It may report false for some that do.
func isSame(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type().Field(i).IsExported() && !isSame(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		return a.Pointer() == b.Pointer() || isSame(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() || a.IsNil() != b.IsNil() {
			return false
		}
		if a.Type().Elem().Kind() == reflect.Uint8 {
			return bytes.Equal(a.Bytes(), b.Bytes())
		}
		for i := range a.Len() {
			if !isSame(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Array, reflect.Map, reflect.Interface, reflect.Func:
		return reflect.DeepEqual(a.Interface(), b.Interface())
	}
	return a.Equal(b)
}

// checkTimeline checks that the past is the fold of the earlier events, and doesn't change later. It uses different
// numbers of checkpoints, and reads the past after each event or only at the end.
func checkTimeline(t testing.TB, events []Event) {
	t.Helper()
	var growing Session
	views := []sessionView{view(&growing)}
	for _, e := range events {
		growing.Apply(e)
		views = append(views, view(&growing))
	}
	for _, every := range []int{1, 3, 0} {
		checkPast(t, events, views, Timeline{Every: every}, true)
		checkPast(t, events, views, Timeline{Every: every}, false)
	}
}

func checkPast(t testing.TB, events []Event, views []sessionView, tl Timeline, always bool) {
	t.Helper()
	same := func(what string, n int, s *Session) {
		if diff := diffViews(views[n], view(s)); diff != "" || s.Events() != n {
			t.Fatalf("%s(%d) of %v, which holds %d, every %d (-then +now):\n%s", what, n, events, s.Events(), tl.Every, diff)
		}
	}
	var past []*Session
	behind := tl.At(0) // a past session that moves half as fast as the timeline grows
	for i, e := range events {
		if always {
			past = append(past, tl.At(i))
			behind = tl.MoveTo(behind, i/2)
			same("Walk behind", i/2, behind)
		}
		tl.Append(e)
		if tl.Len() != i+1 {
			t.Fatalf("after %d events: Len %d", i+1, tl.Len())
		}
	}
	for i, e := range events {
		if got, kept := tl.Event(i); !sameEvent(got, e) || !kept {
			t.Fatalf("event %d is %v, not %v", i, got, e)
		}
		if kind, at := tl.KindAndTime(i); at != e.At || kind != e.Kind {
			t.Fatalf("event %d is at %v, not at %v", i, at, e.At)
		}
		same("At", i, tl.At(i))
	}
	for i, s := range past {
		same("an earlier At", i, s)
	}
	for i := range len(events) + 1 {
		behind = tl.MoveTo(behind, i)
		same("Walk", i, behind)
		if i%5 == 4 {
			behind = tl.MoveTo(behind, i-2)
			same("Walk back", i-2, behind)
		}
	}
	same("Session", len(events), tl.Session())
}

// sameEvent reports whether two events are the same. Payloads must be the same; a wire form may have another
// address but the same content.
func sameEvent(a, b Event) bool {
	x, isOrigin := a.What.(*WireForm)
	if y, is := b.What.(*WireForm); is && isOrigin && *x == *y {
		a.What, b.What = nil, nil
	}
	return a == b
}

// TestTimelineAnything checks that the past is the fold of the earlier events, with any events.
func TestTimelineAnything(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 60 {
		script := make([]byte, 3*24)
		for i := range script {
			script[i] = byte(rng.Uint32())
		}
		checkTimeline(t, fuzzEvents(script))
	}
	containers := []Event{opened(0, "id", "f")}
	for _, text := range []string{`{"a":[`, `[`, `{`, `}`, `],[`, `]`, `]`, `,"b":{"c":[{`, `}]`, `,"d":[`, `[{"e":`} {
		containers = append(containers, args(0, text))
	}
	checkTimeline(t, stamped(containers))
	checkTimeline(t, stamped([]Event{ // halves of characters
		opened(0, "id", "f"), args(0, "{\"\xed\xa0\xbd"), args(0, "\xed\xa0\xbd"), args(0, "\xed\xa0\xbd"), sealed(0), args(0, "\xed\xb8\x80"),
	}))
}

// TestTimelineChanges checks the past of turns and calls whose snapshotted fields change again and again.
func TestTimelineChanges(t *testing.T) {
	texts := []string{
		`{"a":`, strings.Repeat(`[{"a":`, 31), `[`, `{"b\`, `n":`, `[[`, `t`, `r`, `ue`, `]]`, `}`, `]`, strings.Repeat(`}]`, 31), `,"\u`, `00`, `4`, `1":-1`, `e`, `5`,
		",\"\xed\xa0\xbd", "\xed\xb8\x80", "\xed\xa0\xbd", "x\xed\xa0\xbd", `":{`, `}`, `}`, `{`, `]`, `]`,
	}
	events := []Event{opened(0, "id", "f")}
	for i, text := range texts {
		events = append(events, args(0, text))
		n := int64(i + 1)
		switch i % 7 {
		case 0:
			events = append(events, Event{Kind: UsageEvent, What: &Usage{Input: Tokens(n), Tier: text}})
		case 1:
			events = append(events, Event{Kind: Finish, Slot: AllChoices, Text: text, What: &FinishMeaning{text}})
		case 2:
			events = append(events, Event{Kind: CallMeta, What: &CallInfo{Copies: int(n)}})
		case 3:
			events = append(events, Event{Kind: SentBack, Slot: 1, Text: text, Code: ResultOK, What: &SentBackReport{Exchange: i}})
		case 4:
			events = append(events, Event{Kind: TextDelta, Text: text}, Event{Kind: Signed, Text: text, What: &Signature{text}})
		case 5:
			events = append(events, Event{Kind: TurnMeta, What: &Opening{ID: text, Model: text}})
		case 6:
			events = append(events, Event{Kind: ThinkDelta, Text: text}, Event{Kind: CallMeta, What: &CallInfo{Signature: text}})
		}
	}
	for shift := range 3 {
		events := append(make([]Event, shift), events...)
		for i := range shift {
			events[i] = Event{Kind: Heartbeat, Turn: NoTurn}
		}
		checkTimeline(t, stamped(events))
	}
}

func TestTimelineAt(t *testing.T) {
	for _, c := range callCases {
		checkTimeline(t, stamped(c.events))
	}
	for _, c := range findingCases {
		checkTimeline(t, stamped(c.events))
	}
}

func TestTimelineBounds(t *testing.T) {
	var tl Timeline
	tl.Append(opened(0, "id", "f"), args(0, `{}`))
	if n := tl.At(-1).Events(); n != 0 {
		t.Errorf("At(-1) holds %d events", n)
	}
	if n := tl.At(99).Events(); n != 2 {
		t.Errorf("At(99) holds %d events", n)
	}
}

func TestTimelineManyEvents(t *testing.T) {
	const n = 3*list.BlockSize + 7
	var tl Timeline
	tl.Append(opened(0, "id", "f"))
	for range n - 1 {
		tl.Append(args(0, ` `))
	}
	for _, at := range []int{1, list.BlockSize - 1, list.BlockSize, list.BlockSize + 1, n} {
		if got := len(tl.At(at).Turn(0).Calls[0].Args()); got != at-1 {
			t.Errorf("At(%d): %d bytes", at, got)
		}
	}
	if e, _ := tl.Event(list.BlockSize); tl.Len() != n || e.Text != " " {
		t.Errorf("Len %d", tl.Len())
	}
}

// TestDeltaCutsDoNotMatter checks that the cuts of the arguments into deltas change only the list of deltas, and the
// findings that depend on the cuts.
func TestDeltaCutsDoNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, text := range []string{
		``, ` `, `{}`, `{"a":"b","c":[1,{}]}`, `{"a":"\u00e9\"`, `{"a":tru`, `{"a":1}{"b":2}`, `{"a":1}x`, `[1,2]`, `"{\"a\":1}"`, `12`, `nul`,
		"{\"a\":\"\xc3\xa9\"}", `{a:1}`, `{"a":01}`,
	} {
		whole := fold(sealedWith(text)...).Turn(0).Calls[0]
		for range 3 {
			var deltas []string
			for _, part := range randomCuts(rng, []byte(text)) {
				deltas = append(deltas, string(part))
			}
			cut := fold(sealedWith(deltas...)...).Turn(0).Calls[0]
			if string(cut.Args()) != text || cut.Status() != whole.Status() || cut.Syntax() != whole.Syntax() || cut.Deltas() != len(deltas) {
				t.Errorf("%q: %v %v, in one piece %v %v", deltas, cut.Syntax(), cut.Status(), whole.Syntax(), whole.Status())
			}
			// Only the cuts show that one delta repeats the others.
			if len(deltas) > 1 && cut.repeated == 0 {
				if diff := cmp.Diff(codes(whole.Findings), codes(cut.Findings), sameDiagnosis); diff != "" {
					t.Errorf("%q (-whole +cut):\n%s", deltas, diff)
				}
			}
		}
	}
}

// sameDiagnosis compares pointers, because each diagnosis is declared once.
var sameDiagnosis = cmp.Comparer(func(a, b *Diagnosis) bool { return a == b })

// codes returns findings without the events that show them.
func codes(findings []Finding) (out []Finding) {
	for _, f := range findings {
		if f.Code == EarlyWrong.Code {
			continue // this finding depends on the cuts
		}
		out = append(out, Finding{Diagnosis: f.Diagnosis, Severity: f.Severity, Message: f.Message, Offset: f.Offset})
	}
	return out
}
