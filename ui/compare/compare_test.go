package compare

import (
	"slices"
	"strings"
	"testing"

	"toolscope/stream"
	"toolscope/ui/display"
)

// TestOrder: rows follow the turns' own order as far as they agree.
func TestOrder(t *testing.T) {
	for _, c := range []struct{ first, second, want string }{
		{"a b c", "a b c", "a/1 a/1,b/2 b/2,c/3 c/3"},
		{"a c", "a b c", "a/1 a/1,- b/2,c/2 c/3"},
		{"a a", "a", "a/1 a/1,a/2 -"},
		{"a b", "b a", "a/1 a/2,b/2 b/1"},
		{"a", "b", "a/1 -,- b/1"},
		{"", "b b", "- b/1,- b/2"},
	} {
		p := newProgram(t, 100, 30)
		for i, names := range []string{c.first, c.second} {
			var calls [][2]string
			for _, name := range strings.Fields(names) {
				calls = append(calls, [2]string{name, "{}"})
			}
			p.answer(i+1, calls...)
		}
		if got := p.markAll().compare().outline(); got != c.want {
			t.Errorf("%q and %q: %s, want %s", c.first, c.second, got, c.want)
		}
	}
}

// TestChosenIsShown: as many columns as there is room for, the chosen among them.
func TestChosenIsShown(t *testing.T) {
	p := newProgram(t, 80, 24)
	for n := range 3 {
		p.answer(n+1, [2]string{"a", "{}"})
	}
	p.chosen = p.in.Session().Turns[1].Ref()
	c := p.markAll().compare()
	if c.chosen != 1 {
		t.Errorf("column %d is chosen at first", c.chosen)
	}
	for _, size := range []struct{ w, h, shown int }{{40, 10, 1}, {80, 24, 2}, {118, 30, 2}, {119, 30, 3}, {250, 60, 3}, {20, 5, 1}} {
		p.w, p.h = size.w, size.h
		p.extend()
		if c.seen.shown != size.shown {
			t.Errorf("%d columns of %d cells, want %d", c.seen.shown, size.w, size.shown)
		}
		for _, key := range []string{"l", "l", "l", "h", "h", "h", "tab", "G", "g", "r", "r", "shift+tab"} {
			p.press(key)
			if p.draw(); c.chosen < c.first || c.chosen >= c.first+size.shown || c.first < 0 || c.first+size.shown > len(c.columns) {
				t.Fatalf("column %d of %d from %d", c.chosen, size.shown, c.first)
			}
		}
	}
	p.press("l", "l", "enter")
	if p.open != nil || p.chosen != p.in.Session().Turns[2].Ref() {
		t.Errorf("enter leads to %v", p.chosen)
	}
}

// TestNothingYet: an exchange has a column before its turn opens.
func TestNothingYet(t *testing.T) {
	p := newProgram(t, 140, 40)
	for n := range 2 {
		ask := `{"model":"m","messages":[{"role":"user","content":"Oslo?"}]}`
		p.in.Write(stream.Record{Exchange: n + 1, Request: true, Data: []byte(ask), Head: &stream.Head{Method: "POST", URL: "https://api.anthropic.com/v1/messages"}})
	}
	c := p.compare()
	p.draw()
	if p.press("enter"); p.open == nil || p.said != display.Lit("nothing of it has come yet") {
		t.Errorf("enter says %s", p.said)
	}
	p.answer(2, [2]string{"a", "{}"})
	p.draw()
	if got := c.outline(); got != "- a/1" {
		t.Errorf("%s", got)
	}
}

// TestIdle: nothing is laid out anew where nothing changed.
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

// TestEnd: the end is kept in view while it grows, until one scrolls.
func TestEnd(t *testing.T) {
	p := newProgram(t, 100, 10).answer(1, [2]string{"a", "{}"})
	p.event(2, `{"type":"message_start","message":{"id":"msg_2","type":"message","role":"assistant","model":"m","content":[]}}`)
	c := p.markAll().compare()
	p.press("G")
	grow := func() {
		for i := range 9 {
			p.event(2, `{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"t%d","name":"a","input":{}}}`, i, c.made)
		}
	}
	if grow(); c.Top == 0 || c.Top != c.Rows-c.Height {
		t.Errorf("row %d of %d is on top", c.Top, c.Rows)
	}
	p.press("up")
	top, rows := c.Top, c.Rows
	if grow(); c.Top != top || c.Rows == rows {
		t.Errorf("row %d of %d is on top, not %d of %d", c.Top, c.Rows, top, rows)
	}
}

// TestMarks: what differs is marked when all arguments are there.
func TestMarks(t *testing.T) {
	p := newProgram(t, 100, 30)
	p.answer(1, [2]string{"a", `{"city":"Oslo","days":3,"at":[1,2]}`}).answer(2, [2]string{"a", `{"days": 3.0, "city": "Bergen", "at": [1, 3]}`})
	c := p.markAll().compare()
	for i, want := range []string{`"Oslo" 2`, `"Bergen" 3`} {
		call := p.in.Session().Turns[i].Calls[0]
		var got []string
		for _, m := range c.columns[i].calls[call.Ref()].Marks {
			got = append(got, string(call.Args()[m.Start:m.End]))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("column %d marks %q, want %s", i, got, want)
		}
	}
}

// TestDifferences: values are compared, not how they are written.
func TestDifferences(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want string // marked in a | in b
	}{
		{`{"a":1}`, `{ "a" : 1 }`, "|"},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, "|"},
		{`{"a":1}`, `{"a":1.0}`, "|"},
		{`{"a":100}`, `{"a":1e2}`, "|"},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, "9007199254740993|9007199254740992"},
		{`{"a":1e999999999}`, `{"a":2e999999999}`, "1e999999999|2e999999999"},
		{`{"a":"\u00e9"}`, `{"a":"é"}`, "|"},
		{`{"a":"1"}`, `{"a":1}`, `"1"|1`},
		{`{"a":1}`, `{}`, "1|{}"},
		{`{"a":{}}`, `{"a":[]}`, "{}|[]"},
		{`{"a":[1,[2,3]]}`, `{"a":[1,[2,4]]}`, "3|4"},
		{`{"a":{"b":1},"c":{"b":1}}`, `{"a":{"b":2},"c":{"b":1}}`, "1|2"},
		{`{"a":true,"b":null}`, `{"a":false,"b":null}`, "true|false"},
		{`{"a":1}`, `{"a":1`, "|"},
	} {
		var calls [most]*stream.Call
		p := newProgram(t, 100, 30)
		for i, args := range []string{c.a, c.b} {
			p.answer(i+1, [2]string{"x", args})
			calls[i] = p.in.Session().Turns[i].Calls[0]
		}
		v := differences(calls)
		var sides [2]string
		for i := range sides {
			for _, m := range v.marks[i] {
				sides[i] += string(calls[i].Args()[m.Start:m.End])
			}
		}
		if got := sides[0] + "|" + sides[1]; got != c.want {
			t.Errorf("%s and %s: %s, want %s", c.a, c.b, got, c.want)
		}
		if whole := strings.HasSuffix(c.b, "}"); (v.differs == 0) != (c.want == "|" && whole) {
			t.Errorf("%s and %s: %d differ", c.a, c.b, v.differs)
		}
	}
}

// TestToggle: up to so many turns are marked, in order, and each once.
func TestToggle(t *testing.T) {
	var m Marks
	for n := range int32(most + 1) {
		m.Toggle(stream.Ref{Turn: n})
	}
	m.Toggle(stream.Ref{Turn: 1})
	m.Toggle(stream.Ref{Turn: 9})
	if want := (Marks{{Turn: 0}, {Turn: 2}, {Turn: 3}, {Turn: 9}}); !slices.Equal(m, want) {
		t.Errorf("%v, want %v", m, want)
	}
}
