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

// threeAnswers is what connect brings when it asks three providers the same: one answers other
// values, one fails.
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

// TestCompare: turns that were asked the same stand beside each other, their calls in the same
// rows, and what differs between them is marked when both are there.
func TestCompare(t *testing.T) {
	records := threeAnswers(t)
	s := newScreen(t, 140, 40).feed(records[:3]...).press("=")
	s.shows("SIDE BY SIDE  3 turns", "anthropic", "openai-chat/m", "gemini").press("<enter>").shows("nothing of it has come yet")
	for _, r := range records[3:] {
		s.feed(r)
		checkFrame(t, s)
	}
	s.end().shows("2 differ", "HTTP 429", "Quota exceeded", "no such call", "byte 5 ms", "tool_calls", "I look.", "claude-sonnet-4-5")
	s.press("l<enter>")
	if s.turn().Exchange != 2 {
		t.Errorf("enter leads to %s", s.where())
	}
}

// TestCompareSizes: as many columns as there is room for.
func TestCompareSizes(t *testing.T) {
	s := newScreen(t, 80, 24).feed(threeAnswers(t)...).press("1g=")
	for _, c := range []struct {
		w, h  int
		title string
	}{{40, 10, "column 1 of 3"}, {80, 24, "column 1 of 3"}, {118, 30, "column 1 of 3"}, {119, 30, "3 turns"}, {250, 60, "3 turns"}, {20, 5, "SIDE BY"}} {
		s.resize(c.w, c.h).shows(c.title)
		for _, keys := range []string{"l", "l", "l", "h", "h", "h", "<tab>", "G", "g", "r", "r"} {
			s.press(keys)
			checkFrame(t, s)
		}
		s.press("hhh")
	}
}

// TestMarkedTurns: any turns can be compared, up to four.
func TestMarkedTurns(t *testing.T) {
	s := manyTurns(t, 6).resize(160, 40).press("1gm").shows("1 turn marked").press("=").shows("nothing else asks for the same")
	s.press("jj=").shows("SIDE BY SIDE  2 turns").press("<esc>")
	s.press("mjjmjjm").shows("4 turns marked").press("jjm").shows("4 turns are marked already")
	s.press("=").shows("SIDE BY SIDE  4 turns").press("=gm")
	if len(s.marks) != 3 || slices.Contains(s.marks, s.chosen) {
		t.Errorf("%d marks", len(s.marks))
	}
	s.press("D<enter>")
	if len(s.marks) != 0 {
		t.Error("marks of turns that are void")
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
		return s.press("=").shows("SIDE BY SIDE  4 turns")
	}
	small, big := at(500), at(20_000)
	flat(t, "500 rows side by side and 20,000", func() { small.View() }, func() { big.View() })
	small.press("G")
	big.press("G")
	flat(t, "at their ends", func() { small.View() }, func() { big.View() })
}
