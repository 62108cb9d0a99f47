package replay

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// TestPlan checks that the parts of the screen fill it at every size.
func TestPlan(t *testing.T) {
	for w := 20; w < 300; w++ {
		for h := 3; h < 100; h++ {
			for _, of := range [][2]int{{1, 0}, {4, 1}, {9, 3}, {30, 2}, {40, 50}} {
				rows, notes := of[0], of[1]
				p := newBodyLayout(w, h, rows, notes)
				left := p.head + p.heads + p.table + p.counts + p.notes + p.other
				if blank := p.notes - max(notes, 1); blank > 0 && p.table < rows || blank >= minOther && p.side {
					t.Fatalf("%dx%d, %d rows, %d notes: %d blank rows: %+v", w, h, rows, notes, blank, p)
				}
				switch {
				case p.side:
					if p.panes != h-p.head || p.tableW+1+p.sentW+1+p.wroteW != w {
						t.Fatalf("%dx%d: %+v", w, h, p)
					}
				case p.panes > 0:
					if left += p.panes; p.sentW+1+p.wroteW != w || p.tableW != w || p.panes < 4 {
						t.Fatalf("%dx%d: %+v", w, h, p)
					}
				}
				if left != h || p.table < 1 || p.notes < 0 || p.head > 1 && p.table > rows {
					t.Fatalf("%dx%d, %d rows: %+v takes %d", w, h, rows, p, left)
				}
			}
		}
	}
}

// TestRows checks the text of a table row at each width.
func TestRows(t *testing.T) {
	s := brokenCall(t).press("pg")
	r := s.replayMode
	r.targets = slices.DeleteFunc(slices.Clone(r.targets), func(t *protocol.Target) bool { return len(t.Name) > len("openai-chat") })
	if r.Rows = len(r.targets); r.targets[0].Name != "anthropic" {
		t.Fatal(r.targets[0].Name)
	}
	verdictFor := func(o replay.Outcome, a replay.Acceptance, refused string, losses ...replay.Loss) *verdict {
		v := verdictOf(&replay.Preview{Outcome: o, Acceptance: a, Refused: refused, Losses: losses})
		return &v
	}
	loss := func(code string, s replay.Severity) replay.Loss { return replay.Loss{Kind: lossKind(code, s)} }
	taken, no := replay.Acceptance{Verdict: replay.Accepted, By: replay.Rule}, replay.Acceptance{Verdict: replay.Refused, By: replay.Rule}
	seen := replay.Acceptance{Verdict: replay.Refused, By: replay.Seen}
	emptied := loss("ARGS_REPLACED_BY_EMPTY", replay.Critical)
	signed := loss("SIGNATURE_DROPPED", replay.High)
	worst := verdictFor(replay.Emptied, taken, "", emptied, signed, signed, signed, loss("ID_REWRITTEN", replay.Low))
	none := verdictFor(replay.Verbatim, replay.Acceptance{}, "")
	refused := verdictFor(replay.Verbatim, no, "no, because of \x1b this", loss("ID_REWRITTEN", replay.Low))
	dropped := verdictFor(replay.Dropped, seen, "no", loss("CALL_DROPPED", replay.Critical), loss("ORPHAN_RESULT", replay.Critical))
	other := loss("ID_COLLISION", replay.Critical)
	other.Other = "call 2"
	collides := verdictFor(replay.Verbatim, replay.Acceptance{}, "", other, loss("ID_REWRITTEN", replay.Low))
	throws := verdictFor(replay.Throws, replay.Acceptance{}, "not an object")
	mute := &verdict{mute: true, side: screen.Absent}
	for _, c := range []struct {
		width int
		v     *verdict
		want  string
	}{
		{130, worst, "▌!! anthropic    ∅  {} instead     accepts  by rule ARGS_REPLACED_BY_EMPTY +2"},
		{80, worst, "▌!! anthropic    ∅  {} instead     accepts  by rule ARGS_REPLACED_BY_EMPTY +2"},
		{70, worst, "▌!! anthropic    ∅  {} instead     accepts  by rule ARGS_REPLACED_… +2"},
		{60, worst, "▌!! anthropic    ∅  {} instead     accepts   ARGS_REPLAC… +2"},
		{54, worst, "▌!! anthropic    ∅  {} instead     accepts   ARGS_… +2"},
		{46, worst, "▌!! anthropic    ∅  {} instead     accepts"},
		{40, worst, "▌!! anthro… ∅  {} instead     accepts"},
		{34, worst, "▌!! anthro… ∅  {} instead     acc…"},
		{26, worst, "▌!! anthro… ∅  {} instead"},
		{100, none, "▌   anthropic    =  the same text  not known        nothing"},
		{40, none, "▌   anthro… =  the same text  not known"},
		{100, refused, `▌!! anthropic    =  the same text  refuses  by rule "no, because of ␛ this"`},
		{40, refused, "▌!! anthro… =  the same text  refuses"},
		{100, dropped, "▌!! anthropic    ∅  nothing        refuses  seen    CALL_DROPPED +1"},
		{100, collides, "▌!! anthropic    =  the same text  not known        ID_COLLISION call 2 +1"},
		{100, throws, `▌!! anthropic    ∅  the client fails  not known        "not an object"`},
		{100, mute, "▌   anthropic    —  not sent       not used         nothing"},
		{60, nil, "▌   anthropic    ..."},
	} {
		r.table.rows = make([]verdict, len(r.table.rows))
		if c.v == nil {
			r.table.rows = nil
		} else {
			r.table.rows[0] = *c.v
		}
		p := s.pen
		p.Reset()
		p.Field(c.width)
		r.drawRow(&p, 0)
		got := ansi.Strip(p.Frame())
		if strings.TrimRight(got, " ") != c.want || display.Clean(got).Width() != c.width {
			t.Errorf("%d cells:\n%s|\n%s|", c.width, got, c.want)
		}
	}
}

// TestOutcomes checks that each outcome has a different sign, which is two cells wide. No sign has the role Good,
// because a preview proves nothing.
func TestOutcomes(t *testing.T) {
	for _, g := range []*screen.Glyphs{screen.UnicodeGlyphs, screen.ASCIIGlyphs} {
		seen := map[display.Text]bool{}
		for side, sign := range g.Side {
			if seen[sign] || sign.Width() != 2 || screen.SideRoles[side] == screen.Good {
				t.Errorf("%d: %q", side, sign)
			}
			seen[sign] = true
		}
	}
	for o := range replay.Outcome(replay.NumOutcomes) {
		if o.String() == "" || screen.SideRoles[screen.OutcomeSides[o]] == screen.Good {
			t.Errorf("%s is good, or has no word", o)
		}
	}
}

// TestVerdict checks that losses with one code are combined, and that the worst loss comes first.
func TestVerdict(t *testing.T) {
	v := verdictOf(&replay.Preview{Outcome: replay.Verbatim, Refused: "no", Losses: []replay.Loss{
		{Kind: lossKind("A", replay.Low)}, {Kind: lossKind("B", replay.High)}, {Kind: lossKind("A", replay.Low)}, {Kind: lossKind("C", replay.Low)},
	}})
	want := []lossCount{{"B", "B", replay.High, 1, ""}, {"A", "A", replay.Low, 2, ""}, {"C", "C", replay.Low, 1, ""}}
	if v.side != screen.Same || v.worst != bad || v.refused != "no" || len(v.losses) != 3 || v.losses[0] != want[0] || v.losses[1] != want[1] || v.losses[2] != want[2] {
		t.Errorf("%+v", v)
	}
}

func lossKind(code string, s replay.Severity) *replay.Kind {
	return &replay.Kind{Diagnosis: &stream.Diagnosis{Code: code}, Severity: s}
}

// TestSentence checks that the sentence counts the rows with the worst outcome, and leaves out the effect if there is
// no room. An unknown outcome is not the worst of several.
func TestSentence(t *testing.T) {
	s := brokenCall(t).press("pg")
	r, p := s.replayMode, s.pen
	rows := func(outcomes ...replay.Outcome) {
		r.table.rows = nil
		for _, o := range outcomes {
			r.table.rows = append(r.table.rows, verdictOf(&replay.Preview{Outcome: o}))
		}
	}
	for _, c := range []struct {
		outcomes []replay.Outcome
		room     int
		want     string
	}{
		{[]replay.Outcome{replay.Verbatim, replay.Emptied, replay.Unknown}, 80, "Sent as {} to 1 of 3 providers: the model will see an empty call."},
		{[]replay.Outcome{replay.Verbatim, replay.Emptied, replay.Unknown}, 40, "Sent as {} to 1 of 3 providers."},
		{[]replay.Outcome{replay.Unknown}, 80, "Sent in an unknown form to 1 of 1 provider."},
		{[]replay.Outcome{replay.Verbatim, replay.Verbatim}, 80, "Sent byte for byte to 2 of 2 providers."},
	} {
		rows(c.outcomes...)
		if got := r.outcomeText(&p, r.table.worstOutcome(), c.room).String(); got != c.want {
			t.Errorf("%v: %s", c.outcomes, got)
		}
	}
	if r.table.rows = []verdict{{mute: true}}; r.table.worstOutcome() != nil {
		t.Error("a policy that does not use the provider has an outcome")
	}
	for o, of := range outcomeSentences {
		if of.gets == "" || of.lead == "" || len(of.gets) > 16 {
			t.Errorf("%s: %q", replay.Outcome(o), of.gets)
		}
	}
}
