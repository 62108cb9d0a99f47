package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// secondAnswer returns the response that every host sends in films.
func secondAnswer(r sent) []stream.Record {
	a := (&anthropic{exchange: r.Exchange}).open("msg_again").text("Once more.")
	a.call("toolu_again", "read_file", chop(`{"path":"cmd/main.go","limit":10}`, 9)...).seal()
	return a.stop("tool_use").records
}

// chatStream returns a Chat Completions response with one call.
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

// threeAnswers returns the records that connect makes when it sends the same request to three providers: one response
// has other values, and one fails.
func threeAnswers(testing.TB) (all []stream.Record) {
	ask := func(n int, name, url, body string) {
		all = append(all, stream.Record{Exchange: n, Request: true, Data: []byte(body), Head: &stream.Head{File: name, Method: "POST", URL: url}})
	}
	ask(1, "anthropic", "https://api.anthropic.com/v1/messages", `{"model":"claude-sonnet-4-5","stream":true,"messages":[{"role":"user","content":"Oslo?"}]}`)
	ask(2, "openai-chat/m", "https://api.openai.com/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"Oslo?"}]}`)
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

// TestCompare checks that turns with the same request are side by side, that matching calls are in the same rows, and
// that a sentence says how the turns differ.
func TestCompare(t *testing.T) {
	records := threeAnswers(t)
	s := newScreen(t, 140, 40).feed(records[:3]...).press("=")
	s.shows("Compare  3 turns, same request", "anthropic", "openai-chat", "gemini", "No calls yet").press("lo").shows("this turn has no data yet")
	for _, r := range records[3:] {
		s.feed(r)
		checkFrame(t, s)
	}
	s.end().shows("≠ No two agree.", "g failed: HTTP 429; m made one call of two. 2 fields differ.", "m              1     1      —     5 ms  155 ms         —  one call fewer", "g              0     0      —    70 ms   70 ms         —  HTTP 429", "get_time             ● complete                             — not called", "Quota exceeded", "≠ \"Bergen\"", "≈ 3.0", "≠ 2, no 2, with 3", "tool_calls", "I look.", "sonnet-4-5")
	s.press("go")
	if s.selectedTurn().Exchange != 2 || s.modeStack.isCovered() {
		t.Errorf("o leads to %s", s.where())
	}
}

// TestCompareSizes checks that there are as many columns as fit, and that the frame is complete after every key.
func TestCompareSizes(t *testing.T) {
	s := newScreen(t, 80, 24).feed(sevenForecasts(t)...).press("1g=")
	for _, c := range []struct {
		w, h  int
		title string
	}{{40, 10, "Compare  2 of 7"}, {60, 18, "Compare  2 of 7"}, {80, 24, "Compare  3 of 7"}, {118, 30, "Compare  5 of 7"}, {140, 40, "Compare  6 of 7"}, {250, 60, "Compare  7"}, {20, 5, "Compare  2"}} {
		s.resize(c.w, c.h).shows(c.title)
		for _, keys := range []string{"l", "l", "j", "b", "l", "-", "h", "T", "+", "h", "h", "<tab>", "G", "g", "j", "j", "<enter>", "j", "G", "<esc>", "m", "m"} {
			s.press(keys)
			checkFrame(t, s)
		}
		s.press("hhhhhhb")
	}
}

// TestMarkedTurns checks that any number of turns can be compared, and that the selected turn is always included.
// Without marks, the turns compared are nearby turns that call the same tool.
func TestMarkedTurns(t *testing.T) {
	s := manyTurns(t, 6).resize(160, 40).press("1g=").shows("Compare  4 nearby turns that call ").press("<esc>")
	s.press("gm").shows("1 turn marked").press("j=").shows("Compare  2 marked").press("<esc>")
	s.press("mjmjmjm").shows("5 turns marked").press("=").shows("Compare  5 marked").press("=G=").shows("Compare  6 marked", "▌").press("=gm")
	if len(s.marks) != 4 || slices.Contains(s.marks, s.selected) {
		t.Errorf("%d marks", len(s.marks))
	}
	s.press("D<enter>")
	if len(s.marks) != 0 {
		t.Error("marks of turns that are void")
	}
}

// TestCompareCostIsFlat checks that the cost of a frame depends only on the window.
func TestCompareCostIsFlat(t *testing.T) {
	measured(t)
	at := func(rows int) *rig {
		s := newScreen(t, 160, 50)
		for n := 1; n <= 4; n++ {
			var args strings.Builder
			for i := range rows {
				fmt.Fprintf(&args, `,"m%d":"value %d of %d, which is long enough to be cut off at the end of its cell"`, i, i, n%2)
			}
			s.feed((&anthropic{exchange: n}).open(fmt.Sprint(n)).call("t", "x", fmt.Sprintf(`{"n":%d`, n)+args.String()+"}").seal().stop("tool_use").records...)
		}
		s.press("1g")
		for range 4 {
			s.press("mj")
		}
		return s.press("=").finish().shows("Compare  4 marked", ".m0")
	}
	small, big := at(500), at(20_000)
	flat(t, "500 rows side by side and 20,000", func() { small.View() }, func() { big.View() })
	small.press("G")
	big.press("G")
	flat(t, "at their ends", func() { small.View() }, func() { big.View() })
}
