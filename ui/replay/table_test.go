package replay

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"toolscope/providers/dialect"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// TestPlan: whatever the size, the parts fill it.
func TestPlan(t *testing.T) {
	for w := 20; w < 300; w++ {
		for h := 3; h < 100; h++ {
			for _, rows := range []int{1, 4, 9, 30} {
				p := planFor(w, h, rows)
				left := p.head + p.table + p.notes
				if p.head > 1 {
					left++ // the title of the table
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

// TestRows: what a row of the table says at each width.
func TestRows(t *testing.T) {
	s := brokenCall(t).press("pg")
	r := s.mode
	r.targets = slices.DeleteFunc(slices.Clone(r.targets), func(t *dialect.Target) bool { return len(t.Name) > len("openai-chat") })
	if r.Rows = len(r.targets); r.targets[0].Name != "anthropic" {
		t.Fatal(r.targets[0].Name)
	}
	worst := verdict{outcome: replay.Emptied, losses: []lost{
		{"ARGS_REPLACED_BY_EMPTY", replay.Critical, 1}, {"SIGNATURE_DROPPED", replay.High, 3}, {"ID_REWRITTEN", replay.Low, 1},
	}}
	none := verdict{outcome: replay.Verbatim}
	refused := verdict{outcome: replay.Verbatim, refused: "no, because of \x1b this"}
	dropped := verdict{outcome: replay.Dropped, refused: "no", losses: []lost{{"CALL_DROPPED", replay.Critical, 1}, {"ORPHAN_RESULT", replay.Critical, 1}}}
	for _, c := range []struct {
		width int
		v     *verdict
		want  string
	}{
		{130, &worst, "▌ anthropic    object   ∅ emptied        critical  ARGS_REPLACED_BY_EMPTY · SIGNATURE_DROPPED x3 · ID_REWRITTEN"},
		{100, &worst, "▌ anthropic    object   ∅ emptied        critical  ARGS_REPLACED_BY_EMPTY · SIGNATURE_DROPPED x3 +1"},
		{80, &worst, "▌ anthropic    object   ∅ emptied        critical  ARGS_REPLACED_BY_EMPTY +2"},
		{75, &worst, "▌ anthropic    object   ∅ emptied        critical  ARGS_REPLACED_BY_EMP… +2"},
		{70, &worst, "▌ anthropic    object   ∅ emptied        ARGS_REPLACED_BY_EMPTY +2"},
		{60, &worst, "▌ anthropic    ∅ emptied        ARGS_REPLACED_BY_EMPTY +2"},
		{50, &worst, "▌ anthropic    ∅ emptied        ✗ 3 critical"},
		{40, &worst, "▌ anthropic    ∅ emptied        ✗ 3"},
		{34, &worst, "▌ anthropic  ∅ emptied        ✗ 3"},
		{26, &worst, "▌ anthro… ∅ emptied"},
		{100, &none, "▌ anthropic    object   = verbatim       —"},
		{40, &none, "▌ anthropic    = verbatim       —"},
		{100, &refused, "▌ anthropic    object   = verbatim       no, because of ␛ this"},
		{40, &refused, "▌ anthropic    = verbatim       —"},
		{100, &dropped, "▌ anthropic    object   ∅ dropped        refused   CALL_DROPPED · ORPHAN_RESULT"},
		{48, &dropped, "▌ anthropic    ∅ dropped        ⊖ 2 refused"},
		{40, &dropped, "▌ anthropic    ∅ dropped        ⊖ 2"},
		{60, nil, "▌ anthropic    ..."},
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

// TestOutcomes: each side has a sign of its own of two cells, none is good, and every word fits.
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
		if o.String() == "" || len(o.String())+3 > outcomeColumn {
			t.Errorf("%s does not fit", o)
		}
	}
}

// TestVerdict: losses of one code are one, and the worst is first.
func TestVerdict(t *testing.T) {
	v := verdictOf(&replay.Preview{Outcome: replay.Verbatim, Refused: "no", Losses: []replay.Loss{
		{Kind: lossKind("A", replay.Low)}, {Kind: lossKind("B", replay.High)}, {Kind: lossKind("A", replay.Low)}, {Kind: lossKind("C", replay.Low)},
	}})
	want := []lost{{"B", replay.High, 1}, {"A", replay.Low, 2}, {"C", replay.Low, 1}}
	if v.outcome != replay.Verbatim || v.refused != "no" || len(v.losses) != 3 || v.losses[0] != want[0] || v.losses[1] != want[1] || v.losses[2] != want[2] {
		t.Errorf("%+v", v)
	}
}

func lossKind(code string, s replay.Severity) *replay.Kind {
	return &replay.Kind{Diagnosis: &stream.Diagnosis{Code: code}, Severity: s}
}
