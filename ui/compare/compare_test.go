package compare

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
)

// TestChosenIsShown checks that as many columns are shown as fit, and that the base and the selected column
// are among them.
func TestChosenIsShown(t *testing.T) {
	p := newProgram(t, 80, 24)
	for n := range 9 {
		p.answer(n+1, [2]string{"a", "{}"})
	}
	p.chosen = p.in.Session().Turns[4].Ref()
	c := p.markAll().compare()
	if c.selected != 4 {
		t.Errorf("column %d is chosen at first", c.selected)
	}
	for _, size := range []struct{ w, h, shown int }{{40, 10, 2}, {60, 18, 2}, {80, 24, 3}, {140, 30, 6}, {250, 60, 9}, {20, 5, 2}} {
		p.w, p.h = size.w, size.h
		p.extend()
		for _, key := range []string{"l", "l", "l", "b", "h", "h", "h", "tab", "G", "l", "l", "l", "l", "l", "l", "shift+tab", "b"} {
			p.press(key)
			p.draw()
			shown := c.shownColumns()
			seen := map[int]bool{}
			for _, i := range shown {
				seen[i] = true
			}
			if len(seen) != size.shown || shown[0] != c.base || !seen[c.selected] {
				t.Fatalf("%d cells, %s: columns %v, base %d, chosen %d", size.w, key, shown, c.base, c.selected)
			}
		}
	}
	p.press("o")
	if p.open != nil || p.chosen.Turn != c.columns[c.selected].Turn.Turn {
		t.Errorf("o leads to %v", p.chosen)
	}
}

// TestNothingYet checks that an exchange has a column before its turn opens.
func TestNothingYet(t *testing.T) {
	p := newProgram(t, 140, 40)
	for n := range 2 {
		ask := `{"model":"m","messages":[{"role":"user","content":"Oslo?"}]}`
		p.in.Write(stream.Record{Exchange: n + 1, Request: true, Data: []byte(ask), Head: &stream.Head{Method: "POST", URL: "https://api.anthropic.com/v1/messages"}})
	}
	c := p.compare()
	p.draw()
	if p.press("o"); p.open == nil || p.said != display.Lit("this turn has no data yet") {
		t.Errorf("o says %s", p.said)
	}
	p.answer(2, [2]string{"a", "{}"})
	p.draw()
	if got := c.outline(); got != "- a/1" {
		t.Errorf("%s", got)
	}
}

// TestIdle checks that nothing is laid out again if the compared turns have not changed.
func TestIdle(t *testing.T) {
	p := newProgram(t, 100, 30).answer(1, [2]string{"a", "{}"}).answer(2, [2]string{"a", "{}"}).markAll()
	c := p.compare()
	made := c.made
	for n := range 50 {
		p.press("j", "k", "g", "G")
		p.draw()
		p.answer(3+n, [2]string{"b", "{}"})
	}
	if c.made != made {
		t.Errorf("laid out %d times", c.made-made)
	}
}

// TestRebase checks that differences are computed from the current base.
func TestRebase(t *testing.T) {
	p := newProgram(t, 100, 30).answer(1, [2]string{"a", `{"x":1,"y":2}`}).answer(2, [2]string{"a", `{"x":1}`}).markAll()
	c := p.compare()
	want := func(marks string) {
		t.Helper()
		var got []string
		for _, r := range c.groups[0].rows {
			got = append(got, fmt.Sprint(r.Name, " ", r.Cells[0].Relation, "/", r.Cells[1].Relation))
		}
		if strings.Join(got, ", ") != marks {
			t.Errorf("%s, want %s", strings.Join(got, ", "), marks)
		}
	}
	want(".x own/same, .y own/absent")
	p.press("l", "b")
	want(".x same/own, .y differs/absent")
}

// TestHidden checks that equal rows can be hidden, and that a call with only equal rows is hidden too.
func TestHidden(t *testing.T) {
	p := newProgram(t, 100, 30).answer(1, [2]string{"a", `{"x":1}`}, [2]string{"b", `{"x":1,"y":2}`}).answer(2, [2]string{"a", `{"x":1}`}, [2]string{"b", `{"x":1,"y":3}`}).markAll()
	c := p.compare()
	all := len(c.rows)
	if p.press("-"); len(c.rows) != 3 || all != 7 { // the call and field that differ, and the edge
		t.Errorf("%d of %d rows are left", len(c.rows), all)
	}
	if p.press("+"); len(c.rows) != all {
		t.Errorf("%d of %d rows are back", len(c.rows), all)
	}
}

// TestBigIsCompared checks that large arguments are compared in the background. While they grow, they are compared
// rarely enough that the total time is proportional to their size.
func TestBigIsCompared(t *testing.T) {
	p := newProgram(t, 100, 30)
	p.later = true
	big := func() string { return strings.Repeat(`0123456789`, modes.MaxSyncBytes/100) }
	p.answer(1, [2]string{"a", fmt.Sprintf(`{"x":%q,"y":1}`, strings.Repeat(big(), 40))})
	p.event(2, `{"type":"message_start","message":{"id":"msg_2","type":"message","role":"assistant","model":"m","content":[]}}`)
	p.event(2, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"a","input":{}}}`)
	c := p.markAll().compare()
	grow := func(text string) {
		p.event(2, `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":%s}}`, quoted(text))
	}
	grow(`{"x":"`)
	for len(p.work) > 0 {
		p.finish()
	}
	jobs, before := 0, c.groups[0].from.calls[1].size
	for range 40 {
		grow(big())
		for len(p.work) > 0 {
			jobs += p.finish()
			size := c.groups[0].from.calls[1].size
			if size <= before || !c.groups[0].rows[0].Cells[1].Agrees() {
				t.Fatalf("%d bytes were compared, before %d: %s", size, before, c.groups[0].rows[0].Cells[1].Relation)
			}
			before = size
		}
	}
	if jobs == 0 || jobs > 12 {
		t.Errorf("%d jobs", jobs)
	}
	grow(`","y":2}`)
	p.event(2, `{"type":"content_block_stop","index":0}`)
	p.finish()
	if got := c.groups[0].rows; len(got) != 2 || got[0].Cells[1].Relation.String() != "same" || got[1].Cells[1].Relation.String() != "differs" {
		t.Errorf("%+v", got)
	}
}

// TestToggle checks that turns are marked in order, and that toggling a mark again removes it.
func TestToggle(t *testing.T) {
	var m Marks
	for n := range int32(5) {
		m.Toggle(stream.Ref{Turn: n})
	}
	m.Toggle(stream.Ref{Turn: 1})
	m.Toggle(stream.Ref{Turn: 9})
	if got := fmt.Sprint(m); got != "[{0 0} {2 0} {3 0} {4 0} {9 0}]" {
		t.Error(got)
	}
}
