package toolrun

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/providers/mcp"
	"toolscope/stream"
	"toolscope/stream/json"
)

// TestMeans checks that the names that clients use for tools are recognised, and that similar names are not.
func TestMeans(t *testing.T) {
	every := &mcp.Server{Name: "every"}
	long := strings.Repeat("very_", 12) + "long_tool"
	for _, test := range []struct {
		name string
		s    *mcp.Server
		tool string
		want int
	}{
		{"mcp__every__get-sum", every, "get-sum", thisServer},
		{"mcp__every__get_sum", every, "get-sum", thisServer},
		{"mcp_every_get-sum", every, "get-sum", thisServer},
		{"every_get-sum", every, "get-sum", thisServer},
		{"mcp__web__get_sum", &mcp.Server{Name: "http://127.0.0.1:1/web/mcp"}, "get-sum", thisServer},
		{"mcp__my_server__get-sum", &mcp.Server{Name: "my server"}, "get-sum", thisServer},
		{"mcp__a_b__get-sum", &mcp.Server{Name: "a-b"}, "get-sum", thisServer},
		{"mcp_get-sum", &mcp.Server{Name: "http://h/mcp"}, "get-sum", someServer},
		{"mcp__other__get-sum", every, "get-sum", someServer},
		{"get-sum", every, "get-sum", bareName},
		{"my_get-sum", every, "get-sum", endsSo},
		{"forget-sum", every, "get-sum", noName},
		{"get-sums", every, "get-sum", noName},
		{"", every, "get-sum", noName},
		{"get-sum", every, "", noName},
		{("mcp_every_" + long)[:30] + "..." + long[len(long)-30:], every, long, thisServer},
		{("mcp__every__" + long)[:55] + "_0a1b2c3d", every, long, thisServer},
		{("mcp__every__" + long)[:55] + "_something", every, long, noName},
		{"X" + ("mcp__every__" + long)[1:55] + "_0a1b2c3d", every, long, noName},
		{("mcp__every__" + long)[:31] + "_" + strings.Repeat("0a1b2c3d", 5), every, long, thisServer},
		{("mcp__every__" + long)[:31] + "_" + strings.Repeat("0a1b2c3d", 5) + "4", every, long, noName},
		{"mcp_ev...sum", every, "get-sum", noName},
	} {
		if got := nameMatch(test.name, test.s, test.tool); got != test.want {
			t.Errorf("%s of %s: %d, want %d", test.name, test.tool, got, test.want)
		}
	}
}

// clocks is a source of which only the clocks are known.
type clocks struct {
	Source
	apart bool
}

func (c clocks) ClocksApart(int, int) bool { return c.apart }

// TestWindow checks at which times a request may belong to a call: from the call's first argument byte, or otherwise
// from its start, until the model gets the result. If the clocks differ, a millisecond doesn't count.
func TestWindow(t *testing.T) {
	const ms, none = time.Millisecond, stream.NoTime
	for _, c := range []struct {
		opened, first, given, asked time.Duration // given is -2 ns if there is no result
		same, apart                 bool
	}{
		{5 * ms, 10 * ms, -2, 10 * ms, true, true},
		{5 * ms, 10 * ms, -2, 9 * ms, false, true},
		{5 * ms, 10 * ms, -2, 9*ms - 1, false, false},
		{5 * ms, none, -2, 5 * ms, true, true},
		{5 * ms, none, -2, time.Hour, true, true},
		{5 * ms, none, none, time.Hour, true, true}, // a result at an unknown time
		{5 * ms, none, 20 * ms, 20 * ms, true, true},
		{5 * ms, none, 20 * ms, 21 * ms, false, true},
		{5 * ms, none, 20 * ms, 21*ms + 1, false, false},
		{0, none, 0, 2 * ms, false, false},
	} {
		of := &Call{OpenedAt: c.opened, FirstAt: c.first, given: c.given > -2, givenAt: c.given}
		a := &ToolRequest{Request: &mcp.Request{Server: &mcp.Server{}, AskedAt: c.asked}}
		same, apart := (&Matcher{source: clocks{}}).inWindow(of, a), (&Matcher{source: clocks{apart: true}}).inWindow(of, a)
		if same != c.same || apart != c.apart {
			t.Errorf("%+v: %t, with other clocks %t", c, same, apart)
		}
	}
	of, a := &Call{Run: "a"}, &ToolRequest{Request: &mcp.Request{Server: &mcp.Server{Run: "b"}}}
	if (&Matcher{source: clocks{}}).inWindow(of, a) {
		t.Error("a request in another run")
	}
}

// recorded is a source that records the matches and findings.
type recorded struct {
	clocks
	runs []Match
}

func (r *recorded) AddToolRun(run Match) int {
	r.runs = append(r.runs, run)
	return len(r.runs)
}

// TestFound checks that a finding is reported once for each request, or once for a call without one.
func TestFound(t *testing.T) {
	source := new(recorded)
	m := &Matcher{source: source}
	of := &Call{SealedAt: 10, ClosedAt: 40, givenAt: stream.NoTime}
	one := &ToolRequest{Request: &mcp.Request{Number: 7, AskedAt: 30}}
	two := &ToolRequest{Request: &mcp.Request{Number: 8, AskedAt: 50}}
	for _, a := range []*ToolRequest{one, one, two, nil, nil} {
		m.found(of, a, cut.Finding("cut"))
	}
	var got []string
	for _, run := range source.runs {
		got = append(got, fmt.Sprint(run.Request, " at ", int(run.At)))
	}
	if want := []string{"7 at 40", "8 at 50", "-1 at -1"}; !slices.Equal(got, want) || len(one.Findings) != 1 || len(two.Findings) != 1 {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRanBefore checks that a repeated run names the earlier turn as the user counts.
func TestRanBefore(t *testing.T) {
	s := &mcp.Server{Name: "s"}
	run := func(at time.Duration) *ToolRequest {
		return &ToolRequest{Request: &mcp.Request{Server: s, Tool: "get", AskedAt: at, Number: int(at)}, Basis: stream.ByID}
	}
	first, again := run(1), run(2)
	m := &Matcher{source: new(recorded), calls: []*Call{
		{Ref: stream.Ref{Turn: 1}, closed: true, Phase: stream.TurnAborted, asks: []*ToolRequest{first}},
		{Ref: stream.Ref{Turn: 2}, asks: []*ToolRequest{again}},
	}}
	m.ranBefore(m.calls[1], again)
	if len(again.Findings) != 1 || !strings.Contains(again.Findings[0].Message, " for turn 2, ") {
		t.Errorf("%+v", again.Findings)
	}
}

// TestTold checks how the result that the model got relates to the result that the tool returned.
func TestTold(t *testing.T) {
	long := strings.Repeat("a line of the answer, and another one\n", 400)
	quoted := strings.Repeat("a line of \"the answer\"\n", 100)
	for _, test := range []struct {
		text, shape, got string
		want             ResultRelation
	}{
		{"3", "", "3", Same},
		{"3\n", "", " 3", Same},
		{`{"sum": 3}`, `{"sum":3}`, `{"sum":3}`, Same},
		{"The sum is 3.", "", `{"output":"The sum is 3."}`, Wrapped},
		{"one\ntwo \"three\"", "", `[{"type":"text","text":"one\ntwo \"three\""}]`, Wrapped},
		{"one\ntwo \"three\"", "", `Wall time: 1 s` + "\nOutput:\n" + `[{"text":"one\ntwo \"three\""}]`, Wrapped},
		{"one  two   three", "", "one two three", Wrapped},
		{"ab cd ef gh", "", "ab  cd ef gh", Wrapped},
		{"1 2", "", "112", Altered},
		{"a<b & c", "", `{"parts":[{"text":"a\u003cb \u0026 c"}]}`, Wrapped},
		{"three", `{"sum":3}`, `{"sum":3}`, Half},
		{"three", `{"sum":3}`, "three", Half},
		{long, "", long[:3000] + "… cut", Cut},
		{long, "", "… " + long[len(long)-300:], Cut},
		{long, "", "The result is too long. It is in /tmp/x.", Cut},
		{"Failed to scrape all: no host", "", "Failed to scrape", Cut},
		{quoted, "", `{"output":"` + strings.Repeat(`a line of \"the answer\"\n`, 10), Cut},
		{"", `{"a":"abcdefgh","b":12345}`, "abcdefgh and", Cut},
		{"3", "", "4", Altered},
		{"the sum is three", "", "another", Altered},
		{"3", "", "", None},
		{"", "", "", Same},
		{"", "", "words of the client", Unknown},
		{"key [redacted:token:1a2b]", "", "key [redacted:token:3c4d]", Same},
	} {
		r := &mcp.Request{Text: test.text, TextSize: len(test.text), StructuredSize: len(test.shape)}
		if test.shape != "" {
			r.Structured = []byte(test.shape)
		}
		if got := compareResult(r, []byte(test.got), 0); got != test.want {
			t.Errorf("%.40q %s told as %.40q: %q, want %q", test.text, test.shape, test.got, got, test.want)
		}
	}
	if cut := (&mcp.Request{Text: long[:100], TextSize: len(long)}); compareResult(cut, []byte("something else"), 0) == Altered {
		t.Error("what was not kept is held against the client")
	}
}

// TestToldUnkept checks results of which only the beginning was kept. A copy of the beginning is cut, and nothing is
// said about whether the text and the structured content differ.
func TestToldUnkept(t *testing.T) {
	const value = `{"sum":3}`
	for _, test := range []struct {
		name                string
		text, shape         string
		moreText, moreShape int // number of bytes that were not kept
		got                 string
		want                ResultRelation
	}{
		{"the beginning of the content", "", value, 0, 9, value, Cut},
		{"the beginning of the text", value, "", 9, 0, value, Cut},
		{"a longer text that may say the same", `{ "sum":`, value, 9, 0, value, Unknown},
		{"a longer content that may say the same", value, `{ "sum":`, 0, 9, value, Unknown},
		{"one that is wrapped", value, `{ "sum":`, 0, 9, "Output: " + value, Unknown},
	} {
		r := &mcp.Request{Text: test.text, TextSize: len(test.text) + test.moreText, StructuredSize: len(test.shape) + test.moreShape}
		if test.shape != "" {
			r.Structured = []byte(test.shape)
		}
		if got := compareResult(r, []byte(test.got), 0); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestDifference checks that the path of the first value that differs is found. A difference in spelling alone
// doesn't count.
func TestDifference(t *testing.T) {
	for _, test := range []struct{ a, b, want string }{
		{`{"a":"1","b":2}`, `{"b":2,"a":1}`, "/a"},
		{`{"a":[1,{"x/y":2}]}`, `{"a":[1,{"x/y":3}]}`, "/a/1/x~1y"},
		{`{"a":1}`, `"{"`, ""},
		{`{"a":1}`, `{}`, "/a"},
	} {
		if got := json.FirstDifference([]byte(test.a), []byte(test.b)); got != test.want {
			t.Errorf("%s %s: %q, want %q", test.a, test.b, got, test.want)
		}
	}
	for _, same := range [][2]string{{``, `{}`}, {`null`, ``}, {`{"a":1.0}`, `{ "a": 1 }`}, {`{"k":"[redacted:key:0a1b]"}`, `{"k":"[redacted:key:ffff]"}`}} {
		if !sameArgs([]byte(same[0]), []byte(same[1])) {
			t.Errorf("%q and %q differ", same[0], same[1])
		}
	}
}
