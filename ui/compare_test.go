package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// secondAnswer is what any host answers in films.
func secondAnswer(r sent) []stream.Record {
	a := (&anthropic{exchange: r.Exchange}).open("msg_again").text("Once more.")
	a.call("toolu_again", "read_file", chop(`{"path":"cmd/main.go","limit":10}`, 9)...).seal()
	return a.stop("tool_use").records
}

// chatStream is a response of Chat Completions with one call.
func chatStream(exchange int, name string, deltas ...string) (records []stream.Record) {
	say := func(text string) {
		records = append(records, stream.Record{Exchange: exchange, At: time.Duration(len(records)*30+5) * time.Millisecond, Data: []byte(text)})
	}
	say(chatChunk(`"role":"assistant","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":%s,"arguments":""}}]`, quote(name)))
	for _, d := range deltas {
		say(chatChunk(`"tool_calls":[{"index":0,"function":{"arguments":%s}}]`, quote(d)))
	}
	say(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n")
	records[len(records)-1].End = true
	return records
}

// threeAnswers is what connect brings when it asks three providers the same: one
// answers other values, one fails.
func threeAnswers(testing.TB) (all []stream.Record) {
	ask := func(n int, name, url, body string) {
		all = append(all, stream.Record{Exchange: n, Request: true, Data: []byte(body), Head: &stream.Head{File: name, Method: "POST", URL: url}})
	}
	ask(1, "anthropic", "https://api.anthropic.com/v1/messages", `{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"Oslo?"}]}`)
	ask(2, "openai-chat/m", "https://api.openai.com/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"Oslo?"}]}`)
	ask(3, "gemini", "https://generativelanguage.googleapis.com/v1beta/models/g:streamGenerateContent", `{"contents":[{"role":"user","parts":[{"text":"Oslo?"}]}]}`)
	a := (&anthropic{exchange: 1}).open("msg_1").text("I look.")
	a.call("toolu_1", "get_weather", chop(`{"city":"Oslo","days":3,"units":"metric","at":[1,2]}`, 12)...).seal()
	a.call("toolu_2", "get_time", `{"zone":"Europe/Oslo"}`).seal()
	first := a.stop("tool_use").records
	second := chatStream(2, "get_weather", chop(`{"days": 3.0, "city": "Bergen", "at": [1, 3], "units": "metric"}`, 16)...)
	third := []stream.Record{{
		Exchange: 3, At: 70 * time.Millisecond, Head: &stream.Head{File: "gemini", Status: 429, Header: map[string][]string{"Content-Type": {"application/json"}}},
		Data: []byte(`{"error":{"code":429,"message":"Quota exceeded for metric generate_content_requests","status":"RESOURCE_EXHAUSTED"}}`), End: true,
	}}
	for i := range max(len(first), len(second)) {
		for n, records := range [][]stream.Record{first, second, third} {
			if i < len(records) {
				if i == 0 && n < 2 {
					records[0].Head = &stream.Head{File: []string{"anthropic", "openai-chat/m"}[n], Status: 200}
				}
				all = append(all, records[i])
			}
		}
	}
	return all
}

// comparing is the compare view of the screen, which must be open.
func (s *rig) comparing() *compareView {
	s.t.Helper()
	v, ok := s.mode().(*compareView)
	if !ok {
		s.t.Fatalf("no compare view, but %T\n%s", s.mode(), s.text())
	}
	return v
}

// outline is the rows of calls, by name.
func (v *compareView) outline() (all []string) {
	for _, g := range v.groups {
		if g.kind != callGroup {
			continue
		}
		line := ""
		for i := range v.columns {
			if c := g.calls[i]; c != nil {
				line += fmt.Sprintf(" %s/%d", c.Name, c.Number)
			} else {
				line += " -"
			}
		}
		all = append(all, line[1:])
	}
	return all
}

// TestCompare: turns that were asked the same stand beside each other, their calls
// in the same rows, and what differs between them is marked when both are there.
func TestCompare(t *testing.T) {
	records := threeAnswers(t)
	s := newScreen(t, 140, 40).feed(records[:3]...).press("=")
	s.shows("SIDE BY SIDE  3 turns", "anthropic", "openai-chat/m", "gemini").press("<enter>").shows("nothing of it has come yet")
	for _, r := range records[3:] {
		s.feed(r)
		checkFrame(t, s)
	}
	v := s.end().comparing()
	if got := v.outline(); !slices.Equal(got, []string{"get_weather/1 get_weather/1 -", "get_time/2 - -"}) {
		t.Errorf("%q", got)
	}
	s.shows("2 differ", "HTTP 429", "Quota exceeded", "no such call", "byte 5 ms", "tool_calls", "I look.", "claude-sonnet-4-5")
	for i, want := range []string{`"Oslo" 2`, `"Bergen" 3`} {
		c := v.columns[i].turn.Calls[0]
		var got []string
		for _, m := range v.columns[i].cells[c].Marks {
			got = append(got, string(c.Args()[m.Start:m.End]))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("column %d marks %q, want %s", i, got, want)
		}
	}
	s.press("l<enter>")
	if s.turn().Exchange != 2 {
		t.Errorf("enter leads to %s", s.where())
	}
}

// TestCompareSizes: as many columns as there is room for, the chosen among them.
func TestCompareSizes(t *testing.T) {
	s := newScreen(t, 80, 24).feed(threeAnswers(t)...).press("1g=")
	for _, c := range []struct{ w, h, shown int }{{40, 10, 1}, {80, 24, 2}, {118, 30, 2}, {119, 30, 3}, {250, 60, 3}, {20, 5, 1}} {
		s.resize(c.w, c.h)
		v := s.comparing()
		if got := v.shown(s.Model); got != c.shown {
			t.Errorf("%d columns of %d cells, want %d", got, c.w, c.shown)
		}
		for _, keys := range []string{"l", "l", "l", "h", "h", "h", "<tab>", "G", "g", "r", "r"} {
			s.press(keys)
			checkFrame(t, s)
			if v.col < v.first || v.col >= v.first+c.shown || v.first < 0 || v.first+c.shown > len(v.columns) {
				t.Fatalf("column %d of %d from %d", v.col, c.shown, v.first)
			}
		}
		s.press("hhh")
	}
}

// TestMarkedTurns: any turns can be compared, up to four.
func TestMarkedTurns(t *testing.T) {
	s := manyTurns(t, 6).resize(160, 40).press("1gm").shows("1 turn marked").press("=").shows("nothing else asks for the same")
	s.press("jj=").shows("SIDE BY SIDE  2 turns").press("<esc>")
	s.press("mjjmjjm").shows("4 turns marked").press("jjm").shows("4 turns are marked already")
	if v := s.press("=").comparing(); len(v.columns) != 4 {
		t.Errorf("%d columns", len(v.columns))
	}
	s.press("=gm")
	if len(s.marks) != 3 || slices.Contains(s.marks, s.chosen) {
		t.Errorf("%d marks", len(s.marks))
	}
	s.press("D<enter>")
	if len(s.marks) != 0 {
		t.Error("marks of turns that are void")
	}
}

// TestCompareOrder: rows follow the turns' own order as far as they agree.
func TestCompareOrder(t *testing.T) {
	turn := func(n int, names string) []stream.Record {
		a := (&anthropic{exchange: n}).open(fmt.Sprint("msg_", n))
		for i, name := range strings.Fields(names) {
			a.call(fmt.Sprintf("toolu_%d_%d", n, i), name, "{}").seal()
		}
		return a.stop("tool_use").records
	}
	for _, c := range []struct{ first, second, want string }{
		{"a b c", "a b c", "a/1 a/1,b/2 b/2,c/3 c/3"},
		{"a c", "a b c", "a/1 a/1,- b/2,c/2 c/3"},
		{"a a", "a", "a/1 a/1,a/2 -"},
		{"a b", "b a", "a/1 a/2,b/2 b/1"},
		{"a", "b", "a/1 -,- b/1"},
		{"", "b b", "- b/1,- b/2"},
	} {
		s := newScreen(t, 100, 30).feed(turn(1, c.first)...).feed(turn(2, c.second)...).press("1gmGm=")
		for s.call() != nil && len(s.marks) < 2 {
			t.Fatal("no two marks")
		}
		if got := strings.Join(s.comparing().outline(), ","); got != c.want {
			t.Errorf("%q and %q: %s, want %s", c.first, c.second, got, c.want)
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
		var set callSet
		s := newScreen(t, 100, 30)
		for i, args := range []string{c.a, c.b} {
			s.feed((&anthropic{exchange: i + 1}).open(fmt.Sprint(i)).call(fmt.Sprint("t", i), "x", args).seal().stop("tool_use").records...)
			set[i] = s.in.Session().Turns[i].Calls[0]
		}
		v := differences(set)
		var sides [2]string
		for i := range sides {
			for _, m := range v.marks[i] {
				sides[i] += string(set[i].Args()[m.Start:m.End])
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

// TestCompareIsIdle: nothing is laid out anew where nothing changed.
func TestCompareIsIdle(t *testing.T) {
	s := newScreen(t, 100, 30).feed(threeAnswers(t)...).press("1g=")
	v := s.comparing()
	made := v.made
	for range 50 {
		s.press("jkgG")
		s.View()
		s.feed((&anthropic{exchange: 9}).open("other").records[:1]...)
	}
	if v.made != made {
		t.Errorf("laid out %d times", v.made-made)
	}
}

// TestCompareCostIsFlat: a frame costs what the window holds.
func TestCompareCostIsFlat(t *testing.T) {
	measured(t)
	at := func(rows int) *rig {
		s := newScreen(t, 160, 50)
		for n := 1; n <= 4; n++ {
			s.feed((&anthropic{exchange: n}).open(fmt.Sprint(n)).call("t", "x", strings.TrimRight(members(rows), ",")+fmt.Sprintf(`],"n":%d}`, n)).seal().stop("tool_use").records...)
		}
		s.press("1g")
		for range 4 {
			s.press("mjj")
		}
		s.press("=")
		if len(s.comparing().columns) != 4 {
			t.Fatal("no four columns")
		}
		return s
	}
	small, big := at(500), at(20_000)
	flat(t, "500 rows side by side and 20,000", func() { small.View() }, func() { big.View() })
	small.press("G")
	big.press("G")
	flat(t, "at their ends", func() { small.View() }, func() { big.View() })
}
