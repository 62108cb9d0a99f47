package stream

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// callView is a call as everyone but the fold sees it.
type callView struct {
	Call   Call
	Args   string
	Deltas []Delta
	Tokens []Token
	Phase  Phase
	Syntax Syntax
	Status Status
}

// sessionView is everything that is exported of a session, copied.
type sessionView struct {
	Events   int
	Turns    []Turn
	Phases   []TurnPhase
	Calls    []callView
	Findings []Finding
}

func view(s *Session) sessionView {
	v := sessionView{Events: s.Events(), Findings: append([]Finding(nil), s.Findings...)}
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
			call.SentBack = append([]Return(nil), c.SentBack...)
			v.Calls = append(v.Calls, callView{
				Call: call, Args: string(c.Args()), Deltas: append([]Delta(nil), c.Deltas()...),
				Tokens: append([]Token(nil), c.Lexer().Tokens()...),
				Phase:  c.Phase(), Syntax: c.Syntax(), Status: c.Status(),
			})
		}
	}
	return v
}

// diffViews compares what is exported; unexported state may share memory.
func diffViews(want, got sessionView) string {
	return cmp.Diff(want, got, cmp.FilterPath(func(p cmp.Path) bool {
		field, ok := p.Last().(cmp.StructField)
		return ok && strings.ToLower(field.Name()[:1]) == field.Name()[:1]
	}, cmp.Ignore()))
}

// checkTimeline checks that the past is the fold of what had come by then, and stays so.
func checkTimeline(t testing.TB, events []Event) {
	t.Helper()
	var tl Timeline
	var growing Session
	var past []*Session
	var views []sessionView
	for i, e := range events {
		if tl.At(i).Events() != i || tl.Len() != i {
			t.Fatalf("after %d events: Len %d, At(%d) holds %d", i, tl.Len(), i, tl.At(i).Events())
		}
		growing.Apply(e)
		tl.Append(e)
		past, views = append(past, tl.At(i+1)), append(views, view(&growing))
	}
	for i, s := range past {
		if diff := diffViews(views[i], view(s)); diff != "" {
			t.Fatalf("At(%d) of %v (-then +now):\n%s", i+1, events, diff)
		}
		if tl.Event(i) != events[i] {
			t.Fatalf("event %d is %v, not %v", i, tl.Event(i), events[i])
		}
	}
	if diff := diffViews(view(&growing), view(tl.Session())); diff != "" {
		t.Fatalf("the session (-want +got):\n%s", diff)
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
	const n = 3*listBlock + 7
	var tl Timeline
	tl.Append(opened(0, "id", "f"))
	for range n - 1 {
		tl.Append(args(0, ` `))
	}
	for _, at := range []int{1, listBlock - 1, listBlock, listBlock + 1, n} {
		if got := len(tl.At(at).Turn(0).Calls[0].Args()); got != at-1 {
			t.Errorf("At(%d): %d bytes", at, got)
		}
	}
	if tl.Len() != n || tl.Event(listBlock).Text != " " {
		t.Errorf("Len %d, event %v", tl.Len(), tl.Event(listBlock))
	}
}

// TestDeltaCutsDoNotMatter: how a provider cuts the arguments into deltas changes nothing but the
// list of deltas.
func TestDeltaCutsDoNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range lexCases {
		whole := fold(sealedWith(c.text)...).Turn(0).Calls[0]
		for range 3 {
			var deltas []string
			for _, part := range randomCuts(rng, []byte(c.text)) {
				deltas = append(deltas, string(part))
			}
			cut := fold(sealedWith(deltas...)...).Turn(0).Calls[0]
			if string(cut.Args()) != c.text || cut.Status() != whole.Status() || cut.Syntax() != whole.Syntax() || len(cut.Deltas()) != len(deltas) {
				t.Errorf("%q: %v %v, in one piece %v %v", deltas, cut.Syntax(), cut.Status(), whole.Syntax(), whole.Status())
			}
			// A list of deltas in which one repeats the others is told by its cuts.
			if len(deltas) > 1 && cut.repeated == 0 {
				if diff := cmp.Diff(codes(whole.Findings), codes(cut.Findings), sameDiagnosis); diff != "" {
					t.Errorf("%q (-whole +cut):\n%s", deltas, diff)
				}
			}
		}
	}
}

// sameDiagnosis: each is declared once.
var sameDiagnosis = cmp.Comparer(func(a, b *Diagnosis) bool { return a == b })

// codes are findings without the events that showed them.
func codes(findings []Finding) (out []Finding) {
	for _, f := range findings {
		if f.Code == EarlyWrong.Code {
			continue // of the cuts
		}
		out = append(out, Finding{Diagnosis: f.Diagnosis, Severity: f.Severity, Message: f.Message, Offset: f.Offset})
	}
	return out
}
