package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"toolscope/ui"
)

// callJSON and turnJSON are the two main kinds of jsonl lines.
type callJSON struct {
	Type, File, Dialect, ID, Name, Kind, Executor, Phase, Syntax, Status string
	Turn, Call, Deltas                                                   int
	Raw                                                                  string  `json:"arguments_raw"`
	RawBase64                                                            *string `json:"arguments_raw_base64"`
	Arguments                                                            any
	Opened                                                               *float64 `json:"t_open_ms"`
	FirstArg                                                             *float64 `json:"t_first_arg_ms"`
	Sealed                                                               *float64 `json:"t_sealed_ms"`
	Latency                                                              *latencyJSON
	Exchange                                                             int
	Result                                                               *resultJSON
	HTTPStatus                                                           int    `json:"http_status"`
	EndedBy                                                              string `json:"ended_by"`
	Session, Agent                                                       string
	ParentAgent                                                          string `json:"parent_agent"`
	Findings                                                             []findingJSON
}

type latencyJSON struct {
	Since, Arrives string
	Headers        *float64 `json:"headers_ms"`
	FirstToken     *float64 `json:"first_token_ms"`
	Named          *float64 `json:"named_ms"`
	FirstByte      *float64 `json:"first_byte_ms"`
	Actionable     *float64 `json:"actionable_ms"`
	Parses         *float64 `json:"parses_ms"`
	LastByte       *float64 `json:"last_byte_ms"`
	Sealed         *float64 `json:"sealed_ms"`
	End            *float64 `json:"end_ms"`
	Silence        *float64 `json:"silence_ms"`
	Stalls         int
}

type turnJSON struct {
	Type, File, Dialect, Model, Phase, Finish string
	Turn, Calls, Events, Frames, Bytes        int
	TextBytes                                 int `json:"text_bytes"`
	ThinkingBytes                             int `json:"thinking_bytes"`
	Usage                                     map[string]int
	ServiceTier                               string   `json:"service_tier"`
	Peeled                                    string   `json:"peeled"`
	Lacks                                     []string `json:"lacks"`
	CostUSD                                   *float64 `json:"cost_usd"`
	CostSource                                string   `json:"cost_source"`
	CostApproximate                           bool     `json:"cost_approximate"`
	PricesDate                                string   `json:"prices_date"`
	Exchange                                  int
	HTTPStatus                                int    `json:"http_status"`
	EndedBy                                   string `json:"ended_by"`
	Session, Agent, Purpose                   string
	ParentAgent                               string                           `json:"parent_agent"`
	Rejected                                  []struct{ Name, Message string } `json:"rejected_calls"`
	Refusal                                   *refusalJSON
	At, Server, Provider, Client              string
	Latency                                   *turnLatencyJSON
	Spent                                     map[string]float64 `json:"spent_ms"`
	Request                                   *struct {
		Messages int
		Illegal  []illegalJSON
	}
	AskedAgain   int     `json:"asked_again"`
	AfterMs      float64 `json:"after_ms"`
	RetryAfterMs float64 `json:"retry_after_ms"`
	RetryOf      int     `json:"retry_of"`
	Findings     []findingJSON
}

// turnLatencyJSON has the times at which a turn reached its phases.
type turnLatencyJSON struct {
	Since      string
	Headers    *float64 `json:"headers_ms"`
	FirstToken *float64 `json:"first_token_ms"`
	End        *float64 `json:"end_ms"`
}

// refusalJSON describes why a request was refused.
type refusalJSON struct {
	Status                          int
	Type, Reason, Words, Said, Path string
	Found, Fits                     string
	IDs, Via                        []string
}

// illegalJSON is a rule that a request breaks.
type illegalJSON struct {
	Code, Rule, Path, ID string
	Start, End           int
}

// executedJSON is a request to an MCP server, or a call without a tool run.
type executedJSON struct {
	Type, File, Server, From, Method, Tool, About, ID string
	Joined, State, Args, Differs, Request, Error      string
	Text, Exit, Result                                string
	Turn, Call, Of, Exchange, Media, Progress, Rounds int
	Unasked                                           bool
	AfterSeal                                         float64                    `json:"after_seal_ms"`
	AfterTurn                                         float64                    `json:"after_turn_ms"`
	MayBe                                             []struct{ Turn, Call int } `json:"may_be"`
	Asked                                             *float64                   `json:"t_asked_ms"`
	Took                                              *float64                   `json:"took_ms"`
	ArgsSize                                          int                        `json:"arguments_bytes"`
	Raw                                               string                     `json:"arguments_raw"`
	IsError                                           bool                       `json:"is_error"`
	ErrorCode                                         int                        `json:"error_code"`
	ResultBytes                                       int                        `json:"result_bytes"`
	TextBytes                                         int                        `json:"text_bytes"`
	StructuredBytes                                   int                        `json:"structured_bytes"`
	ModelGot                                          int                        `json:"model_got_bytes"`
	Findings                                          []findingJSON
}

type findingJSON struct {
	Code, Severity, By, Message string
	Quoted                      [][2]int
	Event                       int
	Offset                      *int
	InText                      *inTextJSON `json:"in_text"`
	Loop                        *loopJSON
	Stall                       *struct{ Ms, Pings int }
	Budget                      *struct {
		Share float64 `json:"reasoning_share"`
	}
	Illegal     *illegalJSON
	MadeUp      *struct{ Client string } `json:"made_up"`
	MediaAsText *struct {
		Media         string
		Bytes, Offset int
	} `json:"media_as_text"`
	CacheBreak *struct {
		Path, Was, Is string
		Tokens, Bytes int
		Cost          float64 `json:"cost_usd"`
	} `json:"cache_break"`
}

// loopJSON has the number of repetitions of calls.
type loopJSON struct {
	N, Period, Bytes int
	Since            int     `json:"since_turn"`
	Cost             float64 `json:"cost_usd"`
}

type inTextJSON struct {
	Form, Tool, In string
	Offset         int
}

// decode parses the lines. A line of an unknown kind or with an unknown field is an error.
func (o outcome) decode(t *testing.T) (calls []callJSON, turns []turnJSON) {
	t.Helper()
	for line := range strings.Lines(o.stdout) {
		var kind struct{ Type string }
		if err := json.Unmarshal([]byte(line), &kind); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		var err error
		switch kind.Type {
		case "call":
			var c callJSON
			err = d.Decode(&c)
			calls = append(calls, c)
		case "turn":
			var u turnJSON
			err = d.Decode(&u)
			turns = append(turns, u)
		case "result":
			err = d.Decode(new(struct {
				Type, File, ID, Name string
				Turn, Call, Exchange int
				Result               resultJSON
			}))
		case "other_lines":
			err = d.Decode(new(struct {
				Type, File string
				Lines      int
				Last       []string
			}))
		case "waiting":
			err = d.Decode(new(struct {
				Type, File, Session, Agent, On, State, Tool string
				Exchange, Turn, Call, Of                    int
				Since                                       float64 `json:"since_ms"`
				Usual                                       float64 `json:"usual_ms"`
				Longest                                     float64 `json:"longest_ms"`
				Stalled                                     bool
			}))
		case "sent_back":
			err = d.Decode(new(sentBackJSON))
		case "executed", "mcp_request":
			err = d.Decode(new(executedJSON))
		case "mcp_server":
			err = d.Decode(new(struct {
				Type, File, Server, Title, Protocol, Ended string
				Calls, Messages                            int
				Unseen                                     int `json:"unseen_bytes"`
				Findings                                   []findingJSON
			}))
		default:
			t.Fatalf("a line of type %q", kind.Type)
		}
		if err != nil {
			t.Fatalf("%v in %q", err, line)
		}
	}
	return calls, turns
}

func TestContractFields(t *testing.T) {
	body := chat(toolChunk(`{"city": "Oslo", "n": 12345678901234567890}`), finishChunk, "[DONE]")
	out := command(t, body, "print", "--format", "jsonl", "-")
	want := `{"type":"call","file":"stdin","turn":1,"call":1,"dialect":"openai-chat","id":"call_1","name":"f","kind":"function",` +
		`"executor":"client","phase":"sealed","syntax":"object","status":"complete",` +
		`"arguments_raw":"{\"city\": \"Oslo\", \"n\": 12345678901234567890}","arguments":{"city":"Oslo","n":12345678901234567890},` +
		`"deltas":1,"exchange":1,"ended_by":"provider","findings":[]}` + "\n" +
		`{"type":"turn","file":"stdin","turn":1,"dialect":"openai-chat","model":"gpt-x","phase":"complete","finish":"tool_calls",` +
		`"text_bytes":0,"thinking_bytes":0,"calls":1,"events":7,"frames":3,"bytes":` + "%d" + `,"exchange":1,"ended_by":"provider","usage":{"input":10,"output":4},"findings":[]}` + "\n"
	want = strings.Replace(want, "%d", fmt.Sprint(len(body)), 1)
	if out.stdout != want || out.stderr != "" || out.code != 0 {
		t.Errorf("exit code %d, stderr %q, stdout\n%s\nwant\n%s", out.code, out.stderr, out.stdout, want)
	}
}

func TestContractValues(t *testing.T) {
	for _, c := range []struct {
		name, args string
		status     string
		value      any
	}{
		{"nothing", "", "no arguments", map[string]any{}},
		{"an array", "[1]", "not an object", nil},
		{"cut", `{"a":`, "cut short", nil},
		{"an object", `{"a":1}`, "complete", map[string]any{"a": 1.0}},
		{"hostile", "{\"a\":\"\u202e\u200b\u009b\"}", "complete", map[string]any{"a": "\u202e\u200b\u009b"}},
	} {
		out := command(t, chat(toolChunk(c.args), finishChunk, "[DONE]"), "print", "--format", "jsonl", "-")
		calls, _ := out.decode(t)
		same(t, 0, c.name+" status", calls[0].Status, c.status)
		same(t, 0, c.name+" raw", calls[0].Raw, c.args)
		same(t, 0, c.name+" value", calls[0].Arguments, c.value)
		for _, r := range out.stdout {
			if r > 0x7e || r < ' ' && r != '\n' {
				t.Errorf("%s: %q on standard output", c.name, r)
			}
		}
	}
}

func TestContractBytesThatAreNoText(t *testing.T) {
	body := bytes.Replace(chat(toolChunk("{\"a\":\"XX\"}"), finishChunk, "[DONE]"), []byte("XX"), []byte("\xff\xc2"), 1)
	calls, _ := command(t, body, "print", "--format", "jsonl", "-").decode(t)
	same(t, 0, "raw", calls[0].Raw, "{\"a\":\"\ufffd\ufffd\"}")
	exact := base64.StdEncoding.EncodeToString([]byte("{\"a\":\"\xff\xc2\"}"))
	if calls[0].RawBase64 == nil || *calls[0].RawBase64 != exact {
		t.Errorf("base64 %v, want %s", calls[0].RawBase64, exact)
	}
}

// TestContractRejectedCalls checks that a discarded call has no line of its own, but is listed in the line of its
// turn.
func TestContractRejectedCalls(t *testing.T) {
	body := chat(`{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL",` +
		`"finishMessage":"Malformed function call: print(default_api.get_weather(city='Oslo')"}]}`)
	calls, turns := command(t, body, "print", "--format", "jsonl", "-").decode(t)
	if len(calls) != 0 || len(turns) != 1 || turns[0].Calls != 0 || len(turns[0].Rejected) != 1 {
		t.Fatalf("calls %+v, turns %+v", calls, turns)
	}
	same(t, 0, "name", turns[0].Rejected[0].Name, "get_weather")
	same(t, 0, "message", turns[0].Rejected[0].Message, "Malformed function call: print(default_api.get_weather(city='Oslo')")
	out := command(t, body, "print", "-")
	for _, want := range []string{"0 calls", "1 discarded", "rejected      get_weather"} {
		if !strings.Contains(out.stdout, want) {
			t.Errorf("no %q in\n%s", want, out.stdout)
		}
	}
}

// TestTimes checks that a capture's own times are printed, in milliseconds.
func TestTimes(t *testing.T) {
	calls, turns := command(t, nil, "print", "--format", "jsonl", "demo/parallel.tsc").decode(t)
	c := calls[0]
	if c.Opened == nil || c.FirstArg == nil || c.Sealed == nil || *c.Opened >= *c.FirstArg || *c.FirstArg >= *c.Sealed {
		t.Errorf("times %v %v %v", c.Opened, c.FirstArg, c.Sealed)
	}
	same(t, 0, "calls", turns[0].Calls, 2)
	l, last := c.Latency, 0.0
	if l == nil {
		t.Fatal("no latency")
	}
	for i, at := range []*float64{l.Headers, l.FirstToken, l.Named, l.FirstByte, l.Parses, l.Sealed, l.End} {
		if at == nil || *at < last {
			t.Fatalf("latency: time %d is %v, behind %v", i, at, last)
		}
		last = *at
	}
	same(t, 0, "since", l.Since, "request")
	same(t, 0, "arrives", l.Arrives, "eager")
	same(t, 0, "how long from the first byte to the seal", *l.Sealed-*l.FirstByte, *c.Sealed-*c.FirstArg)
	if out := command(t, nil, "print", "demo/parallel.tsc").stdout; !strings.Contains(out, "    since the request  headers 180 ms, first token 241 ms, named ") {
		t.Errorf("no times in\n%s", out)
	}
	page, _ := ui.DocPage("jsonl")
	for _, name := range []string{"headers", "first_token", "named", "first_byte", "actionable", "parses", "last_byte", "sealed", "end", "silence"} {
		if !strings.Contains(page, `"`+name+`_ms":`) {
			t.Errorf("the page of jsonl has no %s_ms", name)
		}
	}
}

func TestExitCodes(t *testing.T) {
	file := saved(t, "ok.sse", string(chat(toolChunk("{}"), finishChunk, "[DONE]")))
	dir := filepath.Dir(file)
	for _, c := range []struct {
		args   []string
		code   int
		stderr string // expected part of standard error
	}{
		{[]string{"print", file}, 0, ""},
		{[]string{"open", file}, 0, ""},
		{[]string{file}, 0, ""},
		{[]string{"version"}, 0, ""},
		{[]string{"demo", "--list"}, 0, ""},
		{[]string{"demo", "nope"}, 2, "unknown scenario"},
		{[]string{"help", "nope"}, 2, `unknown command or topic "nope"`},
		{[]string{"help", "help"}, 0, ""},
		{[]string{"print", filepath.Join(dir, "missing")}, 1, "no such file"},
		{[]string{"print", filepath.Join(dir, "missing"), file}, 1, "no such file"},
		{[]string{"print", dir}, 0, ""},
		{[]string{"print", t.TempDir()}, 1, "the folder has no readable file"},
		{[]string{"print", filepath.Join(dir, "*.none")}, 1, "no file matches"},
		{[]string{"print", "--format", "xml", file}, 2, "use one of text, jsonl"},
		{[]string{"print", "--format", "json", file}, 0, ""},
		{[]string{"diff", "--format", "json", file, file}, 0, ""},
		{[]string{"diff", "--format", "jsonl", file, file}, 0, ""},
		{[]string{"replay", "--format", "JSON", file}, 0, ""},
		{[]string{"check", "--format", "junitt", file}, 2, "use one of text, jsonl, junit, sarif"},
		{[]string{"opne", file}, 2, `unknown command or file "opne"; did you mean open?`},
		{[]string{"prnt", "--format", "jsonl", file}, 2, "did you mean print?"},
		{[]string{"print", "--fromat", "jsonl", file}, 2, "did you mean --format?"},
		{[]string{"help", "fndings"}, 2, "did you mean findings?"},
		{[]string{"explain", "ARGS_BROKN"}, 2, "did you mean ARGS_BROKEN?"},
		{[]string{"demo", "paralel"}, 2, "did you mean parallel?"},
		{[]string{"export", file, "--as", "hra"}, 2, "did you mean har?"},
		{[]string{"replay", "--to", "antropic", file}, 2, "did you mean anthropic?"},
		{[]string{"connect", "antropic", "hello"}, 2, "did you mean anthropic?"},
		{[]string{"completion", "bsh"}, 2, "did you mean bash or zsh?"},
		{[]string{"man"}, 0, ""},
		{[]string{"print", "--nope"}, 2, "--nope"},
		{[]string{"print"}, 2, "FILE"},
		{[]string{"version", "x"}, 2, "no arguments"},
		{[]string{"print", "--prices"}, 2, "--prices"},
		{[]string{"open", "--speed", "99", file}, 2, "0.25 to 16"},
		{[]string{"open", "--speed", "fast", file}, 2, `--speed: invalid value "fast": use a number`},
		{[]string{"connect", "--timeout", "5", "anthropic"}, 2, `--timeout: invalid value "5": use a time, e.g. 30s`},
		{[]string{"open", "--theme", "monokia", file}, 2, "did you mean monokai"},
	} {
		out := command(t, nil, c.args...)
		if out.code != c.code || !strings.Contains(out.stderr, c.stderr) || c.stderr == "" && out.stderr != "" {
			t.Errorf("%v: exit code %d, stderr %q; want %d, %q", c.args, out.code, out.stderr, c.code, c.stderr)
		}
		if n := strings.Count(out.stderr, "\n"); n > 3 {
			t.Errorf("%v: %d lines of error", c.args, n)
		}
	}
}
