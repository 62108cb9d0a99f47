package panes

import (
	"strings"
	"testing"

	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/display"
)

// TestNotes checks that refusals come first, followed by the losses, the worst first.
func TestNotes(t *testing.T) {
	lossKind := func(code string, s replay.Severity) *replay.Kind {
		return &replay.Kind{Diagnosis: &stream.Diagnosis{Code: code}, Severity: s}
	}
	p := &replay.Preview{Refused: "no \x1b such id", Acceptance: replay.Acceptance{Verdict: replay.Refused, By: replay.Rule}, Body: [][]byte{nil}, Losses: []replay.Loss{
		{Kind: lossKind("A", replay.Low), Message: "low"}, {Kind: lossKind("B", replay.Critical), Message: "worst\u202e", Call: 2}, {Kind: lossKind("C", replay.Low), Message: "low too"},
	}}
	for _, c := range []struct {
		scope replay.Scope
		width int
		codes bool
		want  string
	}{
		{replay.OneCall, 60, false, "!! refused rule: no ␛ such id/!! worst⟨U+202E⟩/i  low/i  low too"},
		{replay.OneCall, 60, true, "!! refused rule: no ␛ such id/!! worst⟨U+202E⟩  B/i  low  A/i  low too  C"},
		{replay.WholeTurn, 60, false, "!! refused rule: no ␛ such id/!! call 2: worst⟨U+202E⟩/i  low/i  low too"},
		{replay.OneCall, 20, false, "!! refused rule:/   no ␛ such id/!! worst⟨U+202E⟩/i  low/i  low too"},
	} {
		var got []string
		for _, n := range LossNotes(p, c.scope, c.width, c.codes, display.Drawer{}) {
			got = append(got, n.Text.String())
		}
		if strings.Join(got, "/") != c.want {
			t.Errorf("%s", strings.Join(got, "/"))
		}
	}
	for range 2 * maxNotes {
		p.Losses = append(p.Losses, replay.Loss{Kind: lossKind("D", replay.Info)})
	}
	notes := LossNotes(p, replay.OneCall, 60, false, display.Drawer{})
	if last := notes[len(notes)-1].Text; len(notes) != maxNotes+2 || last != display.Lit("   and 203 more") {
		t.Errorf("%d notes, the last is %s", len(notes), last)
	}
	if notes = LossNotes(&replay.Preview{Body: [][]byte{nil}}, replay.OneCall, 60, false, display.Drawer{}); len(notes) != 1 || notes[0].Text != display.Lit("   nothing is lost") {
		t.Errorf("%v", notes)
	}
}
