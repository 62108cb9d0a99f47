package toolrun

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolscope/providers/mcp"
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/count"
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
		{("mcp_every_" + long)[:28] + strings.Repeat("0a1b2c3d", 5), every, long, thisServer},
		{("mcp_every_" + long)[:27] + "_" + strings.Repeat("0a1b2c3d", 5), every, long, noName},
		{("mcp_every_" + long)[:47] + "_0a1b2c3d", every, long, thisServer},
		{("mcp_every_" + long)[:46] + "_0a1b2c3d", every, long, noName},
		{("mcp_every_" + long)[:63], every, long, thisServer},
		{"mcp_every_" + long + "_0a1b2c3d", every, long, noName},
		{"-get-sum", every, "get-sum", bareName},
		{"Xget-sum", every, "get-sum", noName},
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

// TestResultRelations checks how the result that the model got relates to the result that the tool returned.
func TestResultRelations(t *testing.T) {
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

// TestResultRelationsUnkept checks results of which only the beginning was kept. A copy of the beginning is cut, and
// nothing is said about whether the text and the structured content differ.
func TestResultRelationsUnkept(t *testing.T) {
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

// A scene feeds a Matcher with a script: events of models, requests to tools, and results. Each step is 10 ms after
// the step before it, or as many milliseconds as a number at its beginning says. "-" stands for no text.
//
//	turn [RUN]                    a turn begins
//	call ID NAME ARGS [KIND]      a call of the latest turn; NAME may be NAMESPACE/NAME
//	named ID NAME, args TEXT      the id and the name of the latest call, and more of its arguments
//	seal [N]                      the arguments of the latest call, or of call N of the turn, are final
//	end [TURN], cut, limit, stop PARTY, missed, unseen     the turn ends, or bytes of it are missed
//	model ID NAME ARGS [RUN]      a complete turn with one call
//	alone, add                    the Matcher gets no events from here on; it gets the latest turn at once
//	offer NAME [RUN]              the model is offered a tool
//	tool SERVER NAME              a server has a tool; SERVER is NAME or RUN/NAME
//	ask SERVER TOOL ARGS [ID [N]]     a request, or a command if the server is called shell; N more bytes of arguments
//	                              are not kept
//	answer TEXT, fails TEXT, content JSON, refuse      the response to the latest request
//	again                         the latest request is sent again on another connection
//	exits SERVER, lost SERVER     a server ends, or bytes of it are missed
//	gave TURN.CALL TEXT           the model gets a result; failed if it says that the tool failed, plain if it can't
//	                              say so, began if only the beginning is known
//	says [RUN]                    a message in a run
//	apart, twice                  the clocks differ; the end of each call is sent twice
//	untimed, timed                no times are known from here on; times are known again
type scene struct {
	t            *testing.T
	apart, twice bool
	alone        bool
	untimed      bool
	timeline     stream.Timeline
	m            *Matcher
	log          mcp.Log
	runs         []string // by turn
	slot         int32
	now          time.Duration
	request      *mcp.Request
	lines        []string
}

func (s *scene) Find(r stream.Ref) (*stream.Turn, *stream.Call) { return s.timeline.Session().Find(r) }
func (s *scene) RunOf(exchange int) string                      { return s.runs[exchange] }
func (s *scene) ClocksApart(int, int) bool                      { return s.apart }
func (s *scene) EndedTwice(stream.Ref) bool                     { return s.twice }

func (s *scene) AddToolRun(n Match) int {
	if n.Finding.Diagnosis != nil {
		where := "call"
		if n.Request >= 0 {
			where = fmt.Sprint("request ", n.Request)
		}
		s.lines = append(s.lines, fmt.Sprintf("%s: %s %s by the %s: %s", where, n.Finding.Severity, n.Finding.Code, n.Finding.By, n.Finding.Message))
	}
	return len(s.lines)
}

// add adds an event to a turn, and passes it to the Matcher.
func (s *scene) add(turn int, e stream.Event) {
	e.Turn, e.At = int32(turn), s.now
	if s.timeline.Append(e); !s.alone {
		s.m.AddEvent(s.timeline.Session().Turn(e.Turn), e)
	}
}

func (s *scene) server(name string) *mcp.Server {
	run, of, ok := strings.Cut(name, "/")
	if !ok {
		run, of = "", name
	}
	for _, known := range s.log.Servers {
		if known.Run == run && known.Name == of {
			return known
		}
	}
	made := &mcp.Server{Name: of, Run: run, FirstSeenAt: s.now, EndedAt: stream.NoTime}
	s.log.Servers = append(s.log.Servers, made)
	return made
}

func (s *scene) step(line string) {
	words := strings.Fields(line)
	wait := 10 * time.Millisecond
	if n, err := strconv.Atoi(words[0]); err == nil {
		wait, words = time.Duration(n)*time.Millisecond, words[1:]
	}
	if s.now += wait; s.untimed {
		s.now = stream.NoTime
	}
	word := func(i int) string {
		if i >= len(words) || words[i] == "-" {
			return ""
		}
		return words[i]
	}
	rest := func(i int) string { return strings.Join(words[min(i, len(words)):], " ") }
	turn, close := len(s.runs)-1, stream.Event{Kind: stream.TurnClose}
	finish := func(code stream.Code) {
		s.add(turn, stream.Event{Kind: stream.Finish, Slot: stream.AllChoices, Code: code, Text: "x"})
	}
	switch words[0] {
	case "untimed":
		s.untimed = true
	case "timed":
		s.untimed, s.now = false, 0
	case "apart":
		s.apart = true
	case "twice":
		s.twice = true
	case "alone":
		s.alone = true
	case "add":
		s.m.AddTurn(s.timeline.Session().Turn(int32(turn)))
	case "model":
		for _, one := range []string{"0 turn " + rest(4), "0 call " + strings.Join(words[1:4], " "), "seal", "end"} {
			s.step(one)
		}
	case "turn":
		s.runs, s.slot = append(s.runs, word(1)), 0
		s.add(turn+1, stream.Event{Kind: stream.TurnOpen, What: &stream.Opening{Exchange: turn + 1}})
	case "call":
		s.slot++
		info := &stream.CallInfo{ID: word(1), Name: word(2), Kind: word(4), RunByProvider: word(4) == "server", Discarded: word(4) == "discarded", Freeform: word(4) == "custom"}
		if space, name, ok := strings.Cut(info.Name, "/"); ok {
			info.Namespace, info.Name = space, name
		}
		s.add(turn, stream.Event{Kind: stream.CallOpen, Slot: s.slot, What: info})
		if word(3) != "" {
			s.add(turn, stream.Event{Kind: stream.Args, Slot: s.slot, Text: word(3)})
		}
	case "named":
		s.add(turn, stream.Event{Kind: stream.CallMeta, Slot: s.slot, What: &stream.CallInfo{ID: word(1), Name: word(2)}})
	case "args":
		s.add(turn, stream.Event{Kind: stream.Args, Slot: s.slot, Text: word(1)})
	case "seal":
		slot := s.slot
		if n, err := strconv.Atoi(word(1)); err == nil {
			slot = int32(n)
		}
		s.add(turn, stream.Event{Kind: stream.Seal, Slot: slot})
	case "end":
		if n, err := strconv.Atoi(word(1)); err == nil {
			turn = n
		}
		finish(stream.FinishDone)
		s.add(turn, close)
	case "cut":
		close.Code = stream.CloseCut
		s.add(turn, close)
	case "limit":
		finish(stream.FinishCut)
		s.add(turn, close)
	case "stop":
		ending := &stream.Ending{By: stream.Client}
		if word(1) == "toolscope" {
			ending.By = stream.Toolscope
		}
		close.Code, close.What = stream.CloseCut, ending
		s.add(turn, close)
	case "unseen":
		close.Code = stream.CloseUnseen
		s.add(turn, close)
	case "missed":
		s.add(turn, stream.Event{Kind: stream.Gap, Text: "x", What: &stream.BytesMissed{Bytes: 9}})
	case "offer":
		s.m.AddDeclared(word(2), []protocol.Tool{{Name: word(1)}})
	case "tool":
		of := s.server(word(1))
		of.Tools = append(of.Tools, mcp.Tool{Name: word(2)})
	case "ask":
		n := len(s.log.Requests)
		s.request = &mcp.Request{
			Number: n, ID: fmt.Sprint(n), Exchange: n, Server: s.server(word(1)), Method: "tools/call", Tool: word(2),
			Args: json.Value(word(3)), ArgsSize: len(word(3)), CallID: word(4), AskedAt: s.now,
		}
		if word(1) == "shell" {
			s.request.Method = "shell"
		}
		if more, err := strconv.Atoi(word(5)); err == nil {
			s.request.ArgsSize += more
		}
		s.log.Requests = append(s.log.Requests, s.request)
		s.log.News(s.request)
	case "again":
		n, same := len(s.log.Requests), *s.request
		same.Number, same.Exchange, same.AskedAt = n, n, s.now
		s.log.Requests, s.request = append(s.log.Requests, &same), &same
		s.log.News(s.request)
	case "answer", "fails":
		s.request.State, s.request.Failed, s.request.Text, s.request.TextSize = mcp.Done, words[0] == "fails", rest(1), len(rest(1))
	case "content":
		s.request.Structured, s.request.StructuredSize = json.Value(rest(1)), len(rest(1))
	case "refuse":
		s.request.State = mcp.Refused
	case "exits":
		s.server(word(1)).EndedAt = s.now
	case "lost":
		s.server(word(1)).Gaps++
	case "gave", "failed", "plain", "began":
		var of stream.Ref
		if n, err := fmt.Sscanf(word(1), "%d.%d", &of.Turn, &of.Call); n != 2 {
			s.t.Fatal(line, err)
		}
		text := []byte(rest(2))
		result := SentResult{Text: text, Size: len(text), Failed: words[0] == "failed", Flag: words[0] != "plain"}
		if words[0] == "began" {
			result.Size++
		}
		s.m.AddResult(of, s.now, len(s.lines), result)
		clear(text) // belongs to the caller
	case "says":
		s.m.NoteMessage(word(1), s.now)
	default:
		s.t.Fatal(line)
	}
}

// play returns what the Matcher reports: findings about calls in their order, findings about servers, and what is
// known about each request.
func (s *scene) play(script string) string {
	s.m = NewMatcher(s, &s.log)
	for _, line := range strings.Split(script, ";") {
		s.step(line)
	}
	s.m.Close()
	s.m.Close() // changes nothing
	for _, of := range s.log.Servers {
		for _, f := range of.Findings() {
			s.lines = append(s.lines, fmt.Sprintf("%s: %s %s: %s", of.Name, f.Severity, f.Code, f.Message))
		}
	}
	for _, of := range s.m.NotRun() {
		s.lines = append(s.lines, fmt.Sprintf("call %d.%d not run: %s of %s, %s", of.Ref.Turn, of.Ref.Call, of.Tool, of.Server, of.Finding.Code))
	}
	for _, r := range s.log.Requests {
		a := s.m.Request(r)
		line := fmt.Sprintf("request %d:", r.Number)
		switch {
		case a.Call != nil:
			line += fmt.Sprintf(" for %d.%d %s", a.Call.Ref.Turn, a.Call.Ref.Call, a.Explain())
		case a.Unasked:
			line += " unasked"
		}
		for i, of := range a.Candidates {
			line += fmt.Sprintf("%s %d.%d", []string{" for", " or"}[min(i, 1)], of.Ref.Turn, of.Ref.Call)
		}
		if a.Args != "" {
			line += strings.TrimSuffix(", arguments "+a.Args+" "+a.Path, " ")
		}
		if a.IsPrefix {
			line += fmt.Sprint(", the first ", count.Of(a.PrefixBytes, "byte"))
		}
		if a.ModelHasResult {
			line += fmt.Sprintf(", result of %s %s", count.Of(a.ResultBytes, "byte"), cmp.Or(a.Result, "unknown"))
		}
		if seal, ok := a.AfterSeal(); ok {
			line += fmt.Sprintf(", seal %+d", seal.Milliseconds())
		}
		if end, ok := a.AfterTurn(); ok {
			line += fmt.Sprintf(", end %+d", end.Milliseconds())
		}
		s.lines = append(s.lines, line)
	}
	return strings.Join(s.lines, "\n")
}

// TestScenes checks what is reported about the calls of models and the requests to tools. The last words about a
// request are the milliseconds from the final arguments and from the end of the turn to the request.
func TestScenes(t *testing.T) {
	for _, test := range []struct{ name, script, want string }{
		{"an id", `model c1 mcp__s__get {"a":1}; ask s get {"a":1} c1; answer 3; gave 0.1 3`,
			`request 0: for 0.1 by the call's id, arguments same, result of 1 byte same, seal +20, end +10`},
		{"the latest call with the id", `model c1 get {"a":1}; model c1 get {"a":2}; ask s get {"a":2} c1`,
			`request 0: for 1.1 by the call's id, arguments same, seal +20, end +10`},
		{"the id in another run", `model c1 get {"a":1} r; model c1 get {"a":1} q; ask r/s get {"a":1} c1`,
			`request 0: for 0.1 by the call's id, arguments same, seal +50, end +40`},
		{"an id that arrives after the request", `turn; call - get {"a":1}; ask s get {"a":1} c1; ask s get {"a":1} c2; named c1 -; seal; end`,
			`request 0: error EXEC_EARLY by the client: get was run 30.0 ms before its arguments were final
			request 0: for 0.1 by the call's id, arguments same, seal -30, end -40
			request 1:`},
		{"an id of no call", `model c1 get {"a":1}; ask s get {"a":1} c9; gave 0.1 3`,
			`request 0:`},
		{"equal arguments", `turn; call c1 get {"a":1}; call c2 get {"a":2}; seal 1; seal 2; end; ask s get {"a":2}; ask s get {"a":1}; ask s get {"a":3}`,
			`s: info EXEC_UNASKED: get was run, but no recorded call asked for it
			request 0: for 0.2 by its arguments, arguments same, seal +20, end +10
			request 1: for 0.1 by its arguments, arguments same, seal +40, end +20
			request 2: unasked`},
		{"arguments of equal calls", `turn; call c1 get {"a":1}; call c2 get {"a":1}; call c3 get {"a":1}; seal 1; seal 2; seal 3; end; ask s get {"a":1}; ask s get {"a":1}; ask s get {"a":1}; ask s get {"a":1}`,
			`s: info EXEC_UNASKED: get was run, but no recorded call asked for it
			request 0: for 0.1 by its arguments, which 3 calls share, arguments same, seal +40, end +10
			request 1: for 0.2 by its arguments, which 3 calls share, arguments same, seal +40, end +20
			request 2: for 0.3 by its arguments, which 3 calls share, arguments same, seal +40, end +30
			request 3: unasked`},
		{"an equal call in a later turn", `model c1 get {"a":1}; ask s get {"a":1}; model c2 get {"a":1}; ask s get {"a":1}`,
			`request 0: for 0.1 by its arguments, arguments same, seal +20, end +10
			request 1: for 1.1 by its arguments, arguments same, seal +20, end +10`},
		{"an equal call of an earlier turn that shares its request", `turn; call c1 get {"a":1}; call c2 get {"a":1}; seal 1; seal 2; end; ask s get {"a":1}; ask s get {"a":1}; model c3 get {"a":1}; ask s get {"a":1}`,
			`request 0: for 0.1 by its arguments, which 2 calls share, arguments same, seal +30, end +10
			request 1: for 0.2 by its arguments, which 2 calls share, arguments same, seal +30, end +20
			request 2: for 1.1 by its arguments, which 3 calls share, arguments same, seal +20, end +10`},
		{"a call with a result", `model c1 get {"a":1}; ask s get {"a":1}; gave 0.1 3; model c2 get {"a":1}; ask s get {"a":1}`,
			`request 0: for 0.1 by its arguments, arguments same, result of 1 byte unknown, seal +20, end +10
			request 1: for 1.1 by its arguments, arguments same, seal +20, end +10`},
		{"the call that began first", `turn; turn; call c2 get {"a":1}; seal; end 1; ask s get {"a":1}`,
			`request 0: for 1.1 by its arguments, arguments same, seal +20, end +10`},
		{"no arguments", `model c1 get -; ask s get {}`,
			`request 0: for 0.1 by its arguments, arguments same, seal +20, end +10`},
		{"arguments that are not an object", `model c1 get [1]; ask s get [1]; gave 0.1 3`,
			`request 0: for 0.1 by its name alone (~), arguments same, result of 1 byte unknown, seal +20, end +10`},
		{"a request before the arguments are complete", `turn; call c1 get {"a":; ask s get {"a":1}; args 1}; seal; end`,
			`request 0: error EXEC_EARLY by the client: get was run 20.0 ms before its arguments were final
			request 0: for 0.1 by its arguments, arguments same, seal -20, end -30`},
		{"the name alone", `model c1 get {"a":1}; ask s get {"a":2}; gave 0.1 3`,
			`request 0: for 0.1 by its name alone (~), arguments altered /a, result of 1 byte unknown, seal +20, end +10`},
		{"one of two names", `turn; call c1 get {"a":1}; call c2 get {"a":5}; seal 1; seal 2; end; ask s get {"a":2}; gave 0.1 3; gave 0.2 4`,
			`request 0: for 0.1 or 0.2`},
		{"two requests with one name", `model c1 get {"a":1}; ask s get {"a":2}; ask s get {"a":3}; gave 0.1 3`,
			`request 0: for 0.1
			request 1: for 0.1`},
		{"the tool of two servers", `turn; tool s get; tool q get; call c1 get {"a":1}; seal; end; ask s get {"a":1}; ask q get {"a":1}; gave 0.1 3`,
			`request 0: for 0.1
			request 1: for 0.1`},
		{"the tool of two servers, one of which is asked", `turn; tool s get; tool q get; call c1 get {"a":1}; seal; end; ask s get {"a":1}; gave 0.1 3`,
			`request 0: for 0.1 by its arguments, arguments same, result of 1 byte unknown, seal +20, end +10`},
		{"a tool that another server has under a more certain name", `turn; tool s get; tool q get; call c1 q__get {"a":1}; seal; end; ask s get {"a":1}; ask q get {"a":1}; gave 0.1 3`,
			`s: info EXEC_UNASKED: get was run, but no recorded call asked for it
			request 0: unasked
			request 1: for 0.1 by its arguments, arguments same, result of 1 byte unknown, seal +30, end +20`},
		{"the tools of servers in two runs", `turn r; tool r/s get; tool q/q get; call c1 get {"a":1}; seal; end; ask r/s get {"a":1}`,
			`request 0: for 0.1 by its arguments, arguments same, seal +20, end +10`},
		{"changed arguments", `model c1 get {"a":1,"b":"x"}; ask s get {"a":1,"b":"y"} c1`,
			`request 0: error EXEC_ALTERED by the client: get got arguments that the model didn't write: /b differs
			request 0: for 0.1 by the call's id, arguments altered /b, seal +20, end +10`},
		{"another value", `model c1 get {"a":1}; ask s get [1] c1`,
			`request 0: error EXEC_ALTERED by the client: get got arguments that the model didn't write: the whole value differs
			request 0: for 0.1 by the call's id, arguments altered, seal +20, end +10`},
		{"digits that a double can't store", `model c1 get {"a":0.12345678901234567890}; ask s get {"a":0.12345678901234568} c1`,
			`request 0: info EXEC_ALTERED by the client: get got arguments without a repeated field, or without digits that a double can't store, as with most JSON libraries: /a differs
			request 0: for 0.1 by the call's id, arguments altered /a, seal +20, end +10`},
		{"arguments that were cut off", `model c1 get {"a":"12; ask s get {"a":"12"} c1`,
			`request 0: error EXEC_CUT by the client: get was run with 10 bytes of arguments, but the arguments that the model wrote stop after 8 bytes
			request 0: for 0.1 by the call's id, arguments altered, seal +20, end +10`},
		{"arguments that are not JSON", `model c1 get {"a":x}; ask s get "{\"a\":" c1`,
			`request 0: error EXEC_CUT by the client: get was run with the first 5 of 7 bytes of arguments, as a JSON string, but the arguments that the model wrote are not JSON
			request 0: for 0.1 by the call's id, arguments altered, the first 5 bytes, seal +20, end +10`},
		{"arguments before the last of them", `turn; call c1 get {"a":1; ask s get {"a":1} c1; args ,"b":2}; seal; end`,
			`request 0: error EXEC_CUT by the client: get was run with 7 bytes of arguments, 10.0 ms before the last of 13 bytes arrived
			request 0: error EXEC_EARLY by the client: get was run 20.0 ms before its arguments were final
			request 0: for 0.1 by the call's id, arguments altered /b, seal -20, end -30`},
		{"arguments when the last of them arrives", `turn; call c1 get {"a":1; args ,"b":2}; 0 ask s get {"a":1} c1; seal; end`,
			`request 0: error EXEC_ALTERED by the client: get got arguments that the model didn't write: /b differs
			request 0: error EXEC_EARLY by the client: get was run 10.0 ms before its arguments were final
			request 0: for 0.1 by the call's id, arguments altered /b, seal -10, end -20`},
		{"arguments before the last of them by another clock", `apart; turn; call c1 get {"a":1; ask s get {"a":1} c1; 1 args ,"b":2}; 0 seal; 0 end`,
			`request 0: error EXEC_ALTERED by the client: get got arguments that the model didn't write: /b differs
			request 0: for 0.1 by the call's id, arguments altered /b, seal -1, end -1`},
		{"arguments long before the last of them by another clock", `apart; turn; call c1 get {"a":1; ask s get {"a":1} c1; 2 args ,"b":2}; 0 seal; 0 end`,
			`request 0: error EXEC_CUT by the client: get was run with 7 bytes of arguments, 2.0 ms before the last of 13 bytes arrived
			request 0: error EXEC_EARLY by the client: get was run 2.0 ms before its arguments were final
			request 0: for 0.1 by the call's id, arguments altered /b, seal -2, end -2`},
		{"a string", `model c1 get "x"; ask s get {} c1`,
			`request 0: error EXEC_ALTERED by the client: get got arguments that the model didn't write: the model wrote a string, not an object
			request 0: for 0.1 by the call's id, arguments altered, seal +20, end +10`},
		{"an array", `model c1 get [1]; ask s get {} c1`,
			`request 0: error EXEC_ALTERED by the client: get got arguments that the model didn't write: the model wrote an array, not an object
			request 0: for 0.1 by the call's id, arguments altered, seal +20, end +10`},
		{"a number", `model c1 get 17; ask s get {} c1`,
			`request 0: error EXEC_ALTERED by the client: get got arguments that the model didn't write: the model wrote a number, not an object
			request 0: for 0.1 by the call's id, arguments altered, seal +20, end +10`},
		{"a word", `model c1 get true; ask s get {} c1`,
			`request 0: error EXEC_ALTERED by the client: get got arguments that the model didn't write: the model wrote true, not an object
			request 0: for 0.1 by the call's id, arguments altered, seal +20, end +10`},
		{"the object in a string", `model c1 get "{\"a\":1}"; ask s get {"a":1} c1`,
			`request 0: for 0.1 by the call's id, arguments altered, seal +20, end +10`},
		{"an empty array", `model c1 get []; ask s get {} c1`,
			`request 0: for 0.1 by the call's id, arguments altered, seal +20, end +10`},
		{"an empty string", `model c1 get ""; ask s get {} c1`,
			`request 0: for 0.1 by the call's id, arguments altered, seal +20, end +10`},
		{"an empty array for more than an empty object", `model c1 get []; ask s get {"a":1} c1`,
			`request 0: error EXEC_ALTERED by the client: get got arguments that the model didn't write: the model wrote an array, not an object
			request 0: for 0.1 by the call's id, arguments altered, seal +20, end +10`},
		{"a run before the arguments are final", `turn; call c1 get {"a":1}; ask s get {"a":1} c1; seal; end`,
			`request 0: error EXEC_EARLY by the client: get was run 10.0 ms before its arguments were final
			request 0: for 0.1 by the call's id, arguments same, seal -10, end -20`},
		{"a run when the arguments are final", `turn; call c1 get {"a":1}; seal; 0 ask s get {"a":1} c1; 0 end`,
			`request 0: for 0.1 by the call's id, arguments same, seal +0, end +0`},
		{"a run before the end of the turn", `turn; call c1 get {"a":1}; seal; ask s get {"a":1} c1; end`,
			`request 0: info EXEC_EARLY by the client: get was run 10.0 ms before its turn ended
			request 0: for 0.1 by the call's id, arguments same, seal +10, end -10`},
		{"a run before the end of the turn by another clock", `apart; turn; call c1 get {"a":1}; seal; ask s get {"a":1} c1; 1 end`,
			`request 0: for 0.1 by the call's id, arguments same, seal +10, end -1`},
		{"a run before the end of the turn, by its name alone", `turn; call c1 get {"a":1}; seal; ask s get {"a":2}; end; gave 0.1 3`,
			`request 0: for 0.1 by its name alone (~), arguments altered /a, result of 1 byte unknown, seal +10, end -10`},
		{"a run for a turn that was then cut off", `turn; call c1 get {"a":1}; seal; ask s get {"a":1} c1; cut`,
			`request 0: error EXEC_ORPHANED by the client: get was run, and then its turn was aborted
			request 0: for 0.1 by the call's id, arguments same, seal +10, end -10`},
		{"a run for a turn that had been cut off", `turn; call c1 get {"a":1}; seal; cut; ask s get {"a":1} c1`,
			`request 0: error EXEC_ORPHANED by the client: get was run, although its turn was aborted
			request 0: for 0.1 by the call's id, arguments same, seal +20, end +10`},
		{"a run at the end of a turn that a limit ended", `turn; call c1 get {"a":1}; seal; limit; 0 ask s get {"a":1} c1`,
			`request 0: error EXEC_ORPHANED by the client: get was run, and then its turn was truncated
			request 0: for 0.1 by the call's id, arguments same, seal +10, end +0`},
		{"a run for a turn that the client ended", `turn; call c1 get {"a":1}; seal; ask s get {"a":1} c1; stop client`,
			`request 0: for 0.1 by the call's id, arguments same, seal +10, end -10`},
		{"a run for a turn whose end was missed", `turn; call c1 get {"a":1}; seal; ask s get {"a":1} c1; unseen`,
			`request 0: for 0.1 by the call's id, arguments same, seal +10, end -10`},
		{"a run twice", `model c1 get {"a":1}; ask s get {"a":1} c1; ask s get {"a":1} c1; ask s get {"a":1} c1`,
			`request 1: error EXEC_TWICE by the client: get was run 2 times for the same call id c1
			request 2: error EXEC_TWICE by the client: get was run 3 times for the same call id c1
			request 0: for 0.1 by the call's id, arguments same, seal +20, end +10
			request 1: for 0.1 by the call's id, arguments same, seal +30, end +20
			request 2: for 0.1 by the call's id, arguments same, seal +40, end +30`},
		{"a run twice because the end was sent twice", `twice; model c1 get {"a":1}; ask s get {"a":1} c1; ask s get {"a":1} c1`,
			`request 1: error EXEC_TWICE by the provider: get was run 2 times for the same call id c1: the end of the call was sent twice
			request 0: for 0.1 by the call's id, arguments same, seal +20, end +10
			request 1: for 0.1 by the call's id, arguments same, seal +30, end +20`},
		{"a run after a refusal", `model c1 get {"a":1}; ask s get {"a":1} c1; refuse; ask s get {"a":1} c1; ask s get {"a":1} c1`,
			`request 2: error EXEC_TWICE by the client: get was run 2 times for the same call id c1
			request 0: for 0.1 by the call's id, arguments same, seal +20, end +10
			request 1: for 0.1 by the call's id, arguments same, seal +40, end +30
			request 2: for 0.1 by the call's id, arguments same, seal +50, end +40`},
		{"a run in a later turn after one that was cut off", `turn; call c1 get {"a":1}; seal; ask s get {"a":1} c1; cut; model c2 get {"a":1}; ask s get {"a":1} c2`,
			`request 0: error EXEC_ORPHANED by the client: get was run, and then its turn was aborted
			request 1: warn EXEC_REPEATED by the client: get was already run with these arguments, for turn 1, which was aborted
			request 0: for 0.1 by the call's id, arguments same, seal +10, end -10
			request 1: for 1.1 by the call's id, arguments same, seal +20, end +10`},
		{"other runs in a later turn after one that was cut off", `turn; call c1 get {"a":1}; seal; ask s get {"a":1} c1; cut; turn; call c2 get {"a":2}; call c3 set {"a":1}; call c4 q__get {"a":1}; seal 1; seal 2; seal 3; end; ask s get {"a":2} c2; ask s set {"a":1} c3; ask q get {"a":1} c4`,
			`request 0: error EXEC_ORPHANED by the client: get was run, and then its turn was aborted
			request 0: for 0.1 by the call's id, arguments same, seal +10, end -10
			request 1: for 1.1 by the call's id, arguments same, seal +40, end +10
			request 2: for 1.2 by the call's id, arguments same, seal +40, end +20
			request 3: for 1.3 by the call's id, arguments same, seal +40, end +30`},
		{"a run in a later turn after one whose result the model got", `turn; call c1 get {"a":1}; seal; ask s get {"a":1} c1; cut; gave 0.1 3; model c2 get {"a":1}; ask s get {"a":1} c2`,
			`request 0: error EXEC_ORPHANED by the client: get was run, and then its turn was aborted
			request 0: for 0.1 by the call's id, arguments same, result of 1 byte unknown, seal +10, end -10
			request 1: for 1.1 by the call's id, arguments same, seal +20, end +10`},
		{"a run in a later turn after one that the client ended", `turn; call c1 get {"a":1}; seal; ask s get {"a":1} c1; stop client; model c2 get {"a":1}; ask s get {"a":1} c2`,
			`request 0: for 0.1 by the call's id, arguments same, seal +10, end -10
			request 1: for 1.1 by the call's id, arguments same, seal +20, end +10`},
		{"a run in another run after one that was cut off", `turn r; call c1 get {"a":1}; seal; ask r/s get {"a":1} c1; cut; model c2 get {"a":1} q; ask q/s get {"a":1} c2`,
			`request 0: error EXEC_ORPHANED by the client: get was run, and then its turn was aborted
			request 0: for 0.1 by the call's id, arguments same, seal +10, end -10
			request 1: for 1.1 by the call's id, arguments same, seal +20, end +10`},
		{"a run that is not seen", `tool s get; model c1 s__get {"a":1}; gave 0.1 3`,
			`call: warn EXEC_NOT by the client: the model got a result, but no request for get reached s
			call 0.1 not run: get of s, EXEC_NOT`},
		{"a run that is not seen, of a tool with any name", `tool s get; model c1 get {"a":1}; gave 0.1 3`,
			``},
		{"a run that is not seen, while later messages are", `tool s get; model c1 s__get {"a":1}; gave 0.1 3; says q; 1 says; ask s get {"a":1}`,
			`call: warn EXEC_NOT by the client: the model got a result, but no request for get reached s
			s: info EXEC_UNASKED: get was run, but no recorded call asked for it
			call 0.1 not run: get of s, EXEC_NOT
			request 0: unasked`},
		{"a run that may be missed", `tool s get; lost s; model c1 s__get {"a":1}; gave 0.1 3`,
			``},
		{"a run that may be missed at another server", `tool s get; tool q set; lost q; model c1 s__get {"a":1}; gave 0.1 3`,
			``},
		{"a run that may be missed because the server ended", `tool s get; model c1 s__get {"a":1}; exits s; gave 0.1 3`,
			``},
		{"a server that ended after the result", `tool s get; model c1 s__get {"a":1}; gave 0.1 3; exits s`,
			`call: warn EXEC_NOT by the client: the model got a result, but no request for get reached s
			call 0.1 not run: get of s, EXEC_NOT`},
		{"a server that began after the call", `model c1 s__get {"a":1}; tool s get; gave 0.1 3`,
			``},
		{"a run that is not seen for a turn that was cut off", `tool s get; turn; call c1 s__get {"a":1}; seal; cut; gave 0.1 3`,
			``},
		{"a run with an id of no call", `tool s get; model c1 s__get {"a":1}; ask s get {"a":1} c9; gave 0.1 3`,
			`call: warn EXEC_NOT by the client: the model got a result, but no request for get reached s
			call 0.1 not run: get of s, EXEC_NOT
			request 0:`},
		{"a run by a name that means the tool less certainly", `tool s get; tool q s_get; model c1 s__get {"a":1}; ask q s_get {"a":2}; gave 0.1 3`,
			`q: info EXEC_UNASKED: s_get was run, but no recorded call asked for it
			request 0: unasked`},
		{"runs that no call asked for", `model c1 set {"a":1} r; ask r/s get {"a":1}; ask q/s get {"a":1}; lost r/q; ask r/q get {"a":1}; ask r/s get {"a":1} c9`,
			`s: info EXEC_UNASKED: get was run, but no recorded call asked for it
			request 0: unasked
			request 1:
			request 2:
			request 3:`},
		{"runs that a missed call may have asked for", `turn; call c1 set {"a":1}; missed; end; ask s get {"a":1}`,
			`request 0:`},
		{"a call of which bytes were missed", `turn; call c1 get {"a":1}; missed; seal; end; ask s get {"a":2} c1; gave 0.1 3`,
			`request 0: for 0.1 by the call's id, result of 1 byte unknown, end +10`},
		{"results that differ", `model c1 get {"a":1}; ask s get {"a":1} c1; answer thirty three; gave 0.1 thirty four`,
			`request 0: error RESULT_ALTERED by the client: the result that the model got is not part of the result that get returned: the tool returned 12 bytes, but the model got 11
			request 0: for 0.1 by the call's id, arguments same, result of 11 bytes altered, seal +20, end +10`},
		{"results with an added text", `model c1 get {"a":1}; ask s get {"a":1} c1; answer thirty three; gave 0.1 it is thirty three`,
			`request 0: for 0.1 by the call's id, arguments same, result of 18 bytes wrapped, seal +20, end +10`},
		{"results that were cut", `model c1 get {"a":1}; ask s get {"a":1} c1; answer thirty three; gave 0.1 thirty`,
			`request 0: warn RESULT_CUT by the client: the tool returned 12 bytes, but the model got 6
			request 0: for 0.1 by the call's id, arguments same, result of 6 bytes cut, seal +20, end +10`},
		{"no result", `model c1 get {"a":1}; ask s get {"a":1} c1; answer thirty three; gave 0.1`,
			`request 0: warn RESULT_CUT by the client: the tool returned 12 bytes, but the model got 0
			request 0: for 0.1 by the call's id, arguments same, result of 0 bytes none, seal +20, end +10`},
		{"a failure that became a success", `model c1 get {"a":1}; ask s get {"a":1} c1; fails thirty three; gave 0.1 thirty three`,
			`request 0: error RESULT_FLIPPED by the client: the tool reported a failure, but the result that the model got reports a success
			request 0: for 0.1 by the call's id, arguments same, result of 12 bytes same, seal +20, end +10`},
		{"a success that became a failure", `model c1 get {"a":1}; ask s get {"a":1} c1; answer thirty three; failed 0.1 thirty three`,
			`request 0: error RESULT_FLIPPED by the client: the tool reported a success, but the result that the model got reports a failure
			request 0: for 0.1 by the call's id, arguments same, result of 12 bytes same, seal +20, end +10`},
		{"a failure with another text", `model c1 get {"a":1}; ask s get {"a":1} c1; answer thirty three; failed 0.1 the host is down`,
			`request 0: error RESULT_ALTERED by the client: the result that the model got is not part of the result that get returned: the tool returned 12 bytes, but the model got 16
			request 0: for 0.1 by the call's id, arguments same, result of 16 bytes altered, seal +20, end +10`},
		{"results of which the server's were missed", `model c1 get {"a":1}; lost s; ask s get {"a":1} c1; answer thirty three; gave 0.1 thirty four`,
			`request 0: for 0.1 by the call's id, arguments same, result of 11 bytes altered, seal +30, end +20`},
		{"results of a match by the name", `tool s get; model c1 s__get {"a":1}; ask s get {"a":2}; answer thirty three; gave 0.1 thirty four`,
			`request 0: for 0.1 by its name alone (~), arguments altered /a, result of 11 bytes altered, seal +20, end +10`},
		{"results without a response", `model c1 get {"a":1}; ask s get {"a":1} c1; gave 0.1 thirty four`,
			`request 0: for 0.1 by the call's id, arguments same, result of 11 bytes unknown, seal +20, end +10`},
		{"results of a call that was run twice", `model c1 get {"a":1}; ask s get {"a":1} c1; answer thirty three; ask s get {"a":1} c1; answer fifty five; gave 0.1 thirty three; gave 0.1 fifty six`,
			`request 1: error EXEC_TWICE by the client: get was run 2 times for the same call id c1
			request 0: for 0.1 by the call's id, arguments same, result of 12 bytes same, seal +20, end +10
			request 1: for 0.1 by the call's id, arguments same, result of 12 bytes unknown, seal +40, end +30`},
		{"a request that is captured after the result", `tool s get; model c1 s__get {"a":1}; gave 0.1 thirty three; ask s get {"a":1} c1`,
			`request 0: for 0.1 by the call's id, arguments same, result of 12 bytes unknown, seal +30, end +20`},
		{"digits of an integer that a double can't store", `model c1 get {"a":12345678901234567890}; ask s get {"a":12345678901234567000} c1`,
			`request 0: error EXEC_ALTERED by the client: get got arguments that the model didn't write: /a differs
			request 0: for 0.1 by the call's id, arguments altered /a, seal +20, end +10`},
		{"a repeated key", `model c1 get {"a":1,"a":2}; ask s get {"a":2} c1`,
			`request 0: info EXEC_ALTERED by the client: get got arguments without a repeated field, or without digits that a double can't store, as with most JSON libraries: /a differs
			request 0: for 0.1 by the call's id, arguments altered /a, seal +20, end +10`},
		{"an id that arrives after a request in another run", `turn r; call - get {"a":1}; ask q/s get {"a":1} c1; named c1 -; seal; end`,
			`request 0:`},
		{"a name that arrives after the request", `turn; call c1 - {"a":1}; ask s get {"a":1}; seal; named - get; end`,
			`request 0: error EXEC_EARLY by the client: get was run 10.0 ms before its arguments were final
			request 0: for 0.1 by its arguments, arguments same, seal -10, end -30`},
		{"a name that arrives after a request in another run", `turn r; call c1 - {"a":1}; ask q/s get {"a":1}; named - get; seal; end`,
			`request 0:`},
		{"a name that arrives long after the request", `turn; call c1 - {"a":1}; ask s get {"a":1}; gave 0.1 3; named - get; seal; end`,
			`request 0: error EXEC_EARLY by the client: get was run 30.0 ms before its arguments were final
			request 0: for 0.1 by its arguments, arguments same, result of 1 byte unknown, seal -30, end -40`},
		{"an earlier request by the name that arrives", `ask s get {"a":1}; turn; call c1 get {"a":1}; seal; end`,
			`s: info EXEC_UNASKED: get was run, but no recorded call asked for it
			request 0: unasked`},
		{"arguments of which no seal is seen", `turn; call c1 get {"a":; args 1}; ask s get {"a":1}; end`,
			`request 0: info EXEC_EARLY by the client: get was run 10.0 ms before its turn ended
			request 0: for 0.1 by its arguments, arguments same, end -10`},
		{"one match by id, another by name", `turn; call c1 get {"a":1}; call c2 get {"a":5}; seal 1; seal 2; end; ask s get {"a":2} c1; ask s get {"a":6}; gave 0.2 4`,
			`request 0: error EXEC_ALTERED by the client: get got arguments that the model didn't write: /a differs
			request 0: for 0.1 by the call's id, arguments altered /a, seal +30, end +10
			request 1: for 0.2 by its name alone (~), arguments altered /a, result of 1 byte unknown, seal +30, end +20`},
		{"the name alone, without a result", `model c1 get {"a":1}; ask s get {"a":2}`,
			`request 0: for 0.1 by its name alone (~), arguments altered /a, seal +20, end +10`},
		{"the name alone, by another server's name", `tool q get; model c1 q__get {"a":1}; ask s get {"a":2}; gave 0.1 3`,
			`s: info EXEC_UNASKED: get was run, but no recorded call asked for it
			request 0: unasked`},
		{"no name", `model c1 - {"a":1}; ask s get {"a":1}; gave 0.1 3`,
			`s: info EXEC_UNASKED: get was run, but no recorded call asked for it
			request 0: unasked`},
		{"a call in a namespace", `model c1 mcp__s/get {"a":1}; tool q get; ask s get {"a":1}; ask q get {"a":1}`,
			`q: info EXEC_UNASKED: get was run, but no recorded call asked for it
			request 0: for 0.1 by its arguments, arguments same, seal +30, end +20
			request 1: unasked`},
		{"a call that is not JSON", `turn; call c1 get x custom; seal; end; ask s get {"a":1} c1`,
			`request 0: for 0.1 by the call's id, seal +20, end +10`},
		{"a call of a kind that clients run", `turn; call c1 get {"a":1} mcp; call c2 get {"a":2} function; seal 1; seal 2; end; ask s get {"a":1}; ask s get {"a":2}`,
			`request 0: for 0.1 by its arguments, arguments same, seal +30, end +10
			request 1: for 0.2 by its arguments, arguments same, seal +30, end +20`},
		{"calls that clients don't run", `turn; call c1 get {"a":1} server; call c2 get {"a":1} discarded; call c3 get {"a":1} computer; seal 1; seal 3; end; ask s get {"a":1}; ask s get {"a":1} c1; ask s get {"a":1} c2; ask s get {"a":1} c3`,
			`request 0:
			request 1:
			request 2:
			request 3:`},
		{"a turn that is added at once", `alone; turn; call c1 get {"a":1}; seal; end; add; ask s get {"a":2} c1`,
			`request 0: error EXEC_ALTERED by the client: get got arguments that the model didn't write: /a differs
			request 0: for 0.1 by the call's id, arguments altered /a, seal +30, end +20`},
		{"an open turn that is added at once", `alone; turn; call c1 get {"a":1}; add; ask s get {"a":1} c1`,
			`request 0: for 0.1 by the call's id`},
		{"a tool that is offered under a more certain name", `offer get; offer s__get; model c1 get {"a":1}; ask s get {"a":1}; ask s get {"a":1}`,
			`s: info EXEC_UNASKED: get was run, but no recorded call asked for it
			s: info EXEC_UNASKED: get was run, but no recorded call asked for it
			request 0: unasked
			request 1: unasked`},
		{"a tool that is offered under a more certain name in another run", `offer get; offer s__get q; model c1 get {"a":1}; ask s get {"a":1}`,
			`request 0: for 0.1 by its arguments, arguments same, seal +20, end +10`},
		{"a tool that is offered under one name", `offer s__get; model c1 s__get {"a":1}; ask s get {"a":1}`,
			`request 0: for 0.1 by its arguments, arguments same, seal +20, end +10`},
		{"the tool of two servers in two runs", `tool r/s get; tool q/t get; model c1 get {"a":1} r; ask r/s get {"a":1}; gave 0.1 3`,
			`request 0: for 0.1 by its arguments, arguments same, result of 1 byte unknown, seal +20, end +10`},
		{"requests with one name that may be the call's", `tool s get; model c1 s__get {"a":1}; ask s get {"a":2}; ask s get {"a":3}; gave 0.1 3`,
			`request 0: for 0.1
			request 1: for 0.1`},
		{"equal requests, one of which is another server's", `tool s get; tool q get; model c1 get {"a":1}; ask s get {"a":1}; ask q get {"a":2}; gave 0.1 3`,
			`q: info EXEC_UNASKED: get was run, but no recorded call asked for it
			request 0: for 0.1 by its arguments, arguments same, result of 1 byte unknown, seal +20, end +10
			request 1: unasked`},
		{"a result of a call that doesn't exist", `tool s get; model c1 s__get {"a":1}; ask s get {"a":1} c1; gave 0.2 3; gave 1.1 3`,
			`request 0: for 0.1 by the call's id, arguments same, seal +20, end +10`},
		{"a second result", `tool s get; model c1 s__get {"a":1}; ask s get {"a":1} c1; answer thirty three; gave 0.1 thirty three; gave 0.1 thirty four`,
			`request 0: for 0.1 by the call's id, arguments same, result of 12 bytes same, seal +20, end +10`},
		{"a message before the request, by another clock", `apart; tool s get; model c1 s__get {"a":1}; gave 0.1 3; 1 says; 0 ask s get {"a":1}`,
			`request 0: for 0.1 by its arguments, arguments same, result of 1 byte unknown, seal +21, end +11`},
		{"a message long before the request, by another clock", `apart; tool s get; model c1 s__get {"a":1}; gave 0.1 3; 2 says; ask s get {"a":1}`,
			`call: warn EXEC_NOT by the client: the model got a result, but no request for get reached s
			s: info EXEC_UNASKED: get was run, but no recorded call asked for it
			call 0.1 not run: get of s, EXEC_NOT
			request 0: unasked`},
		{"a message in another run before the request", `apart; tool r/s get; model c1 s__get {"a":1} r; gave 0.1 3; 2 says q; -1 ask r/s get {"a":1}`,
			`request 0: for 0.1 by its arguments, arguments same, result of 1 byte unknown, seal +21, end +11`},
		{"a run by another clock at the time of the result", `apart; tool s get; model c1 s__get {"a":1}; gave 0.1 3; 1 ask s get {"a":1}`,
			`request 0: for 0.1 by its arguments, arguments same, result of 1 byte unknown, seal +21, end +11`},
		{"a run that is not seen, of a call without a turn's end", `tool s get; turn; call c1 s__get {"a":1}; seal; gave 0.1 3; says`,
			``},
		{"a run that is not seen, of an open call", `tool s get; turn; call c1 s__get {"a":1}; gave 0.1 3; says`,
			``},
		{"a run that is not seen before bytes are missed", `tool s get; model c1 s__get {"a":1}; gave 0.1 3; turn; missed; end`,
			``},
		{"a server that ends at the time of the result", `tool s get; model c1 s__get {"a":1}; gave 0.1 3; 0 exits s`,
			``},
		{"a server that begins at the time of the call", `turn; tool s get; 0 call c1 s__get {"a":1}; seal; end; gave 0.1 3`,
			`call: warn EXEC_NOT by the client: the model got a result, but no request for get reached s
			call 0.1 not run: get of s, EXEC_NOT`},
		{"a server in another run", `tool q/s get; model c1 s__get {"a":1} r; gave 0.1 3`,
			``},
		{"a command", `model c1 Bash {"command":"ls","description":"x"}; ask shell Bash {"command":"ls"}; answer 3; gave 0.1 4`,
			`request 0: for 0.1 by its arguments, arguments same, result of 1 byte unknown, seal +20, end +10`},
		{"a changed command", `model c1 Bash {"command":"ls","description":"x"}; ask shell Bash {"command":"rm"} c1`,
			`request 0: error EXEC_ALTERED by the client: Bash got arguments that the model didn't write: /command differs
			request 0: for 0.1 by the call's id, arguments altered /command, seal +20, end +10`},
		{"a result of which only the beginning is known", `model c1 get {"a":1}; ask s get {"a":1} c1; answer thirty three; began 0.1 forty`,
			`request 0: for 0.1 by the call's id, arguments same, result of 6 bytes unknown, seal +20, end +10`},
		{"a failure that can't be passed on", `model c1 get {"a":1}; ask s get {"a":1} c1; fails thirty three; plain 0.1 thirty three`,
			`request 0: for 0.1 by the call's id, arguments same, result of 12 bytes same, seal +20, end +10`},
		{"a failure that is passed on", `model c1 get {"a":1}; ask s get {"a":1} c1; fails thirty three; failed 0.1 thirty three`,
			`request 0: for 0.1 by the call's id, arguments same, result of 12 bytes same, seal +20, end +10`},
		{"half of a result", `model c1 get {"a":1}; ask s get {"a":1} c1; answer thirty three; content {"sum":34}; gave 0.1 thirty three`,
			`request 0: info RESULT_HALF by the client: the text and the structured content differ, and the model got only one of them: the tool returned 12 bytes of text and 10 of structured content, but the model got 12
			request 0: for 0.1 by the call's id, arguments same, result of 12 bytes half, seal +20, end +10`},
		{"another result than text and content", `model c1 get {"a":1}; ask s get {"a":1} c1; answer thirty three; content {"sum":34}; gave 0.1 thirty five`,
			`request 0: error RESULT_ALTERED by the client: the result that the model got is not part of the result that get returned: the tool returned 12 bytes of text and 10 of structured content, but the model got 11
			request 0: for 0.1 by the call's id, arguments same, result of 11 bytes altered, seal +20, end +10`},
		{"results of one of equal calls", `turn; call c1 get {"a":1}; call c2 get {"a":1}; seal 1; seal 2; end; ask s get {"a":1}; answer thirty three; ask s get {"a":1}; answer forty four; gave 0.1 forty four`,
			`request 0: for 0.1 by its arguments, which 2 calls share, arguments same, result of 10 bytes altered, seal +30, end +10
			request 1: for 0.2 by its arguments, which 2 calls share, arguments same, seal +40, end +30`},
		{"a request that is sent again", `model c1 get {"a":1}; ask s get {"a":1} c1; again`,
			`request 0: for 0.1 by the call's id, arguments same, seal +20, end +10
			request 1: for 0.1 by the call's id, arguments same, seal +30, end +20`},
		{"a request that is sent again after another", `model c1 get {"a":1}; ask s get {"a":1} c1; ask s get {"a":1} c1; again`,
			`request 1: error EXEC_TWICE by the client: get was run 2 times for the same call id c1
			request 0: for 0.1 by the call's id, arguments same, seal +20, end +10
			request 1: for 0.1 by the call's id, arguments same, seal +30, end +20
			request 2: for 0.1 by the call's id, arguments same, seal +40, end +30`},
		{"a request with the same number to another server", `model c1 get {"a":1}; ask s get {"a":1} c1; ask q get {"a":1} c1`,
			`request 1: error EXEC_TWICE by the client: get was run 2 times for the same call id c1
			request 0: for 0.1 by the call's id, arguments same, seal +20, end +10
			request 1: for 0.1 by the call's id, arguments same, seal +30, end +20`},
		{"an id after a match by the arguments", `model c1 get {"a":1}; ask s get {"a":1}; ask s get {"a":1} c1`,
			`request 0: for 0.1 by its arguments, arguments same, seal +20, end +10
			request 1: for 0.1 by the call's id, arguments same, seal +30, end +20`},
		{"a run a second before the arguments are final", `turn; call c1 get {"a":1}; ask s get {"a":1} c1; 1000 seal; end`,
			`request 0: error EXEC_EARLY by the client: get was run 1.0 s before its arguments were final
			request 0: for 0.1 by the call's id, arguments same, seal -1000, end -1010`},
		{"a run almost a second before the arguments are final", `turn; call c1 get {"a":1}; ask s get {"a":1} c1; 999 seal; end`,
			`request 0: error EXEC_EARLY by the client: get was run 999.0 ms before its arguments were final
			request 0: for 0.1 by the call's id, arguments same, seal -999, end -1009`},
		{"arguments of which nothing is left to compare", `tool s get; model c1 get {"a":1}; ask s get {"a":1} c1; gave 0.1 3; ask s get {"a":2} c1`,
			`request 1: error EXEC_TWICE by the client: get was run 2 times for the same call id c1
			request 1: error EXEC_ALTERED by the client: get got arguments that the model didn't write: /a differs
			request 0: for 0.1 by the call's id, arguments same, result of 1 byte unknown, seal +20, end +10
			request 1: for 0.1 by the call's id, arguments altered /a, seal +40, end +30`},
		{"a run for a turn that toolscope ended", `turn; call c1 get {"a":1}; seal; ask s get {"a":1} c1; stop toolscope`,
			`request 0: for 0.1 by the call's id, arguments same, seal +10, end -10`},
		{"a run in a later turn after one that was complete", `model c1 get {"a":1}; ask s get {"a":1} c1; model c2 get {"a":1}; ask s get {"a":1} c2`,
			`request 0: for 0.1 by the call's id, arguments same, seal +20, end +10
			request 1: for 1.1 by the call's id, arguments same, seal +20, end +10`},
		{"a run in a later turn after one that is open", `turn; call c1 get {"a":1}; seal; ask s get {"a":1} c1; model c2 get {"a":1}; ask s get {"a":1} c2`,
			`request 0: for 0.1 by the call's id, arguments same, seal +10
			request 1: for 1.1 by the call's id, arguments same, seal +20, end +10`},
		{"a run in a later turn after one of unknown end", `turn; call c1 get {"a":1}; seal; ask s get {"a":1} c1; unseen; model c2 get {"a":1}; ask s get {"a":1} c2`,
			`request 0: for 0.1 by the call's id, arguments same, seal +10, end -10
			request 1: for 1.1 by the call's id, arguments same, seal +20, end +10`},
		{"two runs for a turn that was cut off", `turn; call c1 get {"a":1}; call c2 get {"a":1}; seal 1; seal 2; ask s get {"a":1} c1; cut; ask s get {"a":1} c2`,
			`request 0: error EXEC_ORPHANED by the client: get was run, and then its turn was aborted
			request 1: error EXEC_ORPHANED by the client: get was run, although its turn was aborted
			request 0: for 0.1 by the call's id, arguments same, seal +20, end -10
			request 1: for 0.2 by the call's id, arguments same, seal +30, end +10`},
		{"a match by the name after one for a turn that was cut off", `tool s get; turn; call c1 s__get {"a":1}; seal; ask s get {"a":2} c1; cut; model c2 s__get {"a":1}; ask s get {"a":2}; gave 1.1 3`,
			`request 0: error EXEC_ALTERED by the client: get got arguments that the model didn't write: /a differs
			request 0: error EXEC_ORPHANED by the client: get was run, and then its turn was aborted
			request 0: for 0.1 by the call's id, arguments altered /a, seal +10, end -10
			request 1: for 1.1 by its name alone (~), arguments altered /a, result of 1 byte unknown, seal +20, end +10`},
		{"a run with an id after a match by the name", `tool s get; turn; call c1 s__get {"a":1}; seal; ask s get {"a":2}; cut; model c2 s__get {"a":2}; ask s get {"a":2} c2`,
			`request 0: for 0.1 by its name alone (~), arguments altered /a, seal +10, end -10
			request 1: for 1.1 by the call's id, arguments same, seal +20, end +10`},
		{"a run of equal calls after one for a turn that was cut off", `turn; call c1 get {"a":1}; call c2 get {"a":1}; seal 1; seal 2; ask s get {"a":1}; cut; model c3 get {"a":1}; ask s get {"a":1} c3`,
			`request 0: for 0.1 by its arguments, which 2 calls share, arguments same, seal +20, end -10
			request 1: for 1.1 by the call's id, arguments same, seal +20, end +10`},
		{"a message in the run before the request", `tool r/s get; model c1 s__get {"a":1} r; gave 0.1 3; 2 says r`,
			`call: warn EXEC_NOT by the client: the model got a result, but no request for get reached s
			call 0.1 not run: get of s, EXEC_NOT`},
		{"all at the beginning", `0 turn; 0 call c1 get {"a":1}; 0 seal; 0 end; 0 ask s get {"a":1} c1`,
			`request 0: for 0.1 by the call's id, arguments same, seal +0, end +0`},
		{"unknown times", `untimed; model c1 get {"a":1}; ask s get {"a":1} c1; answer 3; gave 0.1 3`,
			`request 0: for 0.1 by the call's id, arguments same, result of 1 byte same`},
		{"unknown times of a turn that was cut off", `untimed; turn; call c1 get {"a":1}; seal; cut; ask s get {"a":1} c1`,
			`request 0: for 0.1 by the call's id, arguments same`},
		{"a request that is matched when the arguments are final", `turn; call c1 set {"b":1}; seal; call c2 get {"a":; ask s get {"a":1}; args 1}; seal; ask s set {"b":2} c1`,
			`request 0: error EXEC_EARLY by the client: get was run 20.0 ms before its arguments were final
			request 1: error EXEC_ALTERED by the client: set got arguments that the model didn't write: /b differs
			request 0: for 0.2 by its arguments, arguments same, seal -20
			request 1: for 0.1 by the call's id, arguments altered /b, seal +50`},
		{"a turn that ends twice", `model c1 get {"a":1}; ask s get {"a":1} c1; cut`,
			`request 0: for 0.1 by the call's id, arguments same, seal +20, end +10`},
		{"a call of which bytes were missed, by its name", `turn; call c1 get {"a":1}; missed; seal; end; ask s get {"a":2}; gave 0.1 3`,
			`request 0:`},
		{"a tool that is offered under two names", `offer s__get; offer mcp__s__get; model c1 s__get {"a":1}; ask s get {"a":1}`,
			`request 0: for 0.1 by its arguments, arguments same, seal +20, end +10`},
		{"arguments of an open call", `turn; call c1 get {"a":; args 1}; call c2 get {"a":; ask s get {"a":1}; args 1}; seal; end`,
			`request 0: info EXEC_EARLY by the client: get was run 30.0 ms before its turn ended
			request 0: for 0.1 by its arguments, arguments same, end -30`},
		{"a result of an open call", `turn; call c1 get {"a":; ask s get {"a":1}; args 1}; gave 0.1 3`,
			`request 0: for 0.1 by its arguments, result of 1 byte unknown`},
		{"long arguments after a turn that was cut off", `turn; call c1 get {"a":1}; seal; ask s get {"a":1 c1 9; cut; model c2 get {"a":1}; ask s get {"a":1 c2 9`,
			`request 0: error EXEC_ORPHANED by the client: get was run, and then its turn was aborted
			request 1: warn EXEC_REPEATED by the client: get was already run with these arguments, for turn 1, which was aborted
			request 0: for 0.1 by the call's id, seal +10, end -10
			request 1: for 1.1 by the call's id, seal +20, end +10`},
		{"longer arguments after a turn that was cut off", `turn; call c1 get {"a":1}; seal; ask s get {"a":1 c1 9; cut; model c2 get {"a":1}; ask s get {"a":1 c2 8`,
			`request 0: error EXEC_ORPHANED by the client: get was run, and then its turn was aborted
			request 0: for 0.1 by the call's id, seal +10, end -10
			request 1: for 1.1 by the call's id, seal +20, end +10`},
		{"an earlier run that is read after one for a turn that was cut off", `turn; call c1 get {"a":1}; seal; ask s get {"a":1} c1; cut; model c2 get {"a":1}; -45 ask s get {"a":1} c2`,
			`request 0: error EXEC_ORPHANED by the client: get was run, and then its turn was aborted
			request 1: error EXEC_EARLY by the client: get was run 35.0 ms before its arguments were final
			request 0: for 0.1 by the call's id, arguments same, seal +10, end -10
			request 1: for 1.1 by the call's id, arguments same, seal -35, end -45`},
		{"an equal call that begins after the first run", `turn; call c1 get {"a":1}; seal; ask s get {"a":1}; call c2 get {"a":1}; seal; ask s get {"a":1}`,
			`request 0: for 0.1 by its arguments, arguments same, seal +10
			request 1: for 0.2 by its arguments, which 2 calls share, arguments same, seal +10`},
		{"a call of which bytes were missed, by its arguments", `turn; call c1 get {"a":1}; missed; seal; end; ask s get {"a":1}; gave 0.1 3`,
			`request 0:`},
		{"a result of a tool that a server in another run has", `tool q/s get; model c1 s__get {"a":1} r; gave 0.1 3; -1 ask r/s get {"a":2}; answer 4`,
			`request 0: for 0.1 by its name alone (~), arguments altered /a, result of 1 byte unknown, seal +19, end +9`},
		{"a run that is not seen, of a tool of some server", `tool s get; offer mcp__web__get; offer mcp__web__set; model c1 mcp__web__get {"a":1}; gave 0.1 3`,
			`call: warn EXEC_NOT by the client: the model got a result, but no request for get reached s
			call 0.1 not run: get of s, EXEC_NOT`},
		{"a run that is not seen, of a tool of a server that is not known", `tool s get; offer mcp__web__get; offer mcp__mail__get; model c1 mcp__web__get {"a":1}; gave 0.1 3`,
			``},
		{"a run that is not seen, while another run has the other name", `tool s get; offer mcp__web__get; offer mcp__mail__get q; model c1 mcp__web__get {"a":1}; gave 0.1 3`,
			`call: warn EXEC_NOT by the client: the model got a result, but no request for get reached s
			call 0.1 not run: get of s, EXEC_NOT`},
		{"a run that is not seen, of a server with two names", `tool s get; offer mcp__s__get; offer s__get; model c1 mcp__s__get {"a":1}; gave 0.1 3`,
			`call: warn EXEC_NOT by the client: the model got a result, but no request for get reached s
			call 0.1 not run: get of s, EXEC_NOT`},
		{"a run that is not seen, of the second server", `tool s get; tool web get; model c1 mcp__web__get {"a":1}; gave 0.1 3`,
			`call: warn EXEC_NOT by the client: the model got a result, but no request for get reached web
			call 0.1 not run: get of web, EXEC_NOT`},
		{"a run for a turn that was cut off at an unknown time", `untimed; turn; call c1 get {"a":1}; seal; cut; timed; ask s get {"a":1} c1`,
			`request 0: error EXEC_ORPHANED by the client: get was run, and then its turn was aborted
			request 0: for 0.1 by the call's id, arguments same`},
		{"a request with more arguments than are kept", `model c1 get {"a":1}; ask s get {"a":1} - 9`,
			`request 0: for 0.1 by its name alone (~), seal +20, end +10`},
		{"a call for a server that ended at the beginning", `0 tool s get; 0 exits s; model c1 s__get {"a":1}; gave 0.1 3`,
			``},
	} {
		want := strings.ReplaceAll(test.want, "\n\t\t\t", "\n")
		if got := (&scene{t: t}).play(test.script); got != want {
			t.Errorf("%s: %s\n%s\nwant\n%s", test.name, test.script, got, want)
		}
	}
}
