package stats

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/present"
)

// sample returns a set of runs with three turns each. Each turn has two calls of two tools, one of which is bad.
func sample(runs int) *Set {
	s := &Set{sources: 1}
	number := int32(0)
	for n := range runs {
		for range 3 {
			t := Turn{Run: fmt.Sprint("s", n), FirstToken: time.Duration(n+1) * time.Millisecond, Duration: time.Second, Phase: "complete", Operation: "chat"}
			t.Values[Model], t.Values[Server], t.Values[Day] = "m", "api.example.com", "2026-11-25"
			t.Cost = price.Figure{USD: 0.25, Source: price.FromTable}
			t.Usage = [numTokens]stream.Count{stream.Tokens(100), stream.Tokens(25), {}, stream.Tokens(7)}
			t.Calls = []Call{{Number: 1, Tool: "read", State: stream.Complete, Result: stream.ResultOK}, {Number: 2, Tool: "write", State: stream.Malformed, Bad: true, Runs: []time.Duration{time.Second}}}
			t.Findings = []Finding{{2, "ARGS_BROKEN", stream.Error, stream.Model}}
			s.AddTurn(number, t)
			number++
		}
	}
	return s
}

// TestGroups checks the numbers of groups by model and by tool. A call counts only for its own tool, and so do its
// findings. Background requests and unseen calls are left out.
func TestGroups(t *testing.T) {
	s := sample(10)
	s.AddTurn(100, Turn{Run: "s0", Background: true})
	s.AddTurn(101, Turn{Run: "other", RequestedModel: "m", Failed: true, Refused: true, FirstToken: time.Hour, Duration: time.Hour, Calls: []Call{{Number: 1, Tool: "read", State: stream.Unseen}}})
	s.AddTurn(102, Turn{Run: "other", RequestedModel: "m", Stopped: true, FirstToken: time.Hour, Duration: time.Hour})
	s.AddFindings(stream.Ref{Turn: 101}, []stream.Finding{{Diagnosis: &stream.Diagnosis{Code: "LATE"}, Severity: stream.Warn}})
	s.AddFindings(stream.Ref{Turn: 999}, []stream.Finding{{Diagnosis: &stream.Diagnosis{Code: "LOST"}}})
	s.AddResult(stream.Ref{Turn: 0, Call: 2}, stream.ResultFailed)
	g := s.Groups([]Key{Model})
	if len(g) != 1 || g[0].Values[0] != "m" {
		t.Fatalf("the refused turn has another model: %+v", g)
	}
	got := fmt.Sprint(g[0].Turns, g[0].Runs(), g[0].Calls, g[0].States[stream.Malformed], g[0].Unseen, g[0].Rate(badCalls), g[0].Rate(failedTurns), g[0].Rate("LATE"), g[0].Rate("ARGS_BROKEN"), g[0].Cost.USD, " ", g[0].cacheText(), " ", s.Background())
	if want := "32 11 60 30 1 {bad error 30 10} {failed error 1 1} {LATE warn 1 1} {ARGS_BROKEN error 30 10} 7.5 25% 1"; got != want {
		t.Errorf("by model: %s, want %s", got, want)
	}
	times := g[0].times[firstToken]
	if slices.Max(times) != 10*time.Millisecond || len(times) != 30 {
		t.Errorf("%v: neither the failed turn nor the stopped one must count", times)
	}
	for _, c := range []struct {
		values   int
		quantile float64
		want     time.Duration // 0 if there are too few values
	}{
		{30, 0.95, 10 * time.Millisecond}, {20, 0.95, 7 * time.Millisecond}, {19, 0.95, 0}, {0, 0.5, 0}, {1, 0.5, time.Millisecond},
	} {
		if d, ok := quantileOf(times[:c.values], c.quantile); d != c.want || ok != (c.want > 0) {
			t.Errorf("quantile %g of %d values: %v %v, want %v", c.quantile, c.values, d, ok, c.want)
		}
	}
	byTool := s.Groups([]Key{Tool, Model})
	if len(byTool) != 2 || byTool[0].Values[0] != "read" || byTool[0].Rate("ARGS_BROKEN").Count != 0 || byTool[1].Rate("ARGS_BROKEN").Count != 30 || byTool[1].Rate(failedTools).RunsWith != 1 || byTool[1].Results != 1 || len(byTool[1].times[toolRun]) != 30 {
		t.Errorf("by tool: %+v", byTool)
	}
}

// TestRunNames checks that a run without a session of its own is not joined with a run in another source.
func TestRunNames(t *testing.T) {
	var s Set
	for source := range 2 {
		s.StartSource()
		s.AddTurn(0, Turn{Run: "\x00conversation-1"})
		s.AddTurn(1, Turn{Run: "named"})
		if runs := s.Total().Runs(); runs != source+2 {
			t.Errorf("%d sources: %d runs", source+1, runs)
		}
	}
}

// TestConditions checks conditions that are met, that are not met, and that have too few runs.
func TestConditions(t *testing.T) {
	codes := []string{"ARGS_BROKEN"}
	for _, c := range []struct {
		text           string
		runs           int
		fails, fewRuns bool
	}{
		{"bad>99%", 30, true, false}, {"bad > 99 %", 30, true, false}, {"bad>1%", 0, false, true}, {"cost>1", 0, false, true}, {"first.p50>1s", 0, false, true},
		{"bad>100%", 30, false, false}, {"bad>1%", 29, false, true},
		{"args_broken>5%", 30, true, false}, {"failed>0%", 30, false, false}, {"refused>0%", 30, false, false},
		{"first.p95>28ms", 30, true, false}, {"first.p95>29ms", 30, false, false}, {"first.p50>1ms", 29, false, true},
		{"whole.p99>1s", 30, false, true}, {"whole.p99>0.9s", 34, true, false}, {"run.p50>1s", 30, false, false},
		{"cost>$7.49", 10, true, false}, {"cost>7.5", 10, false, false},
	} {
		list, wrong := ParseConditions(c.text, codes)
		if wrong != "" || len(list) != 1 {
			t.Errorf("%s: %s", c.text, wrong)
			continue
		}
		s, fails, few := sample(c.runs), false, false
		for _, r := range list[0].Check(s.Groups([]Key{Model}), s.Total(), nil) {
			fails, few = fails || r.Fails, few || r.TooFew
		}
		if fails != c.fails || few != c.fewRuns {
			t.Errorf("%s with %d runs: fails %v, too few %v", c.text, c.runs, fails, few)
		}
	}
	for text, conditions := range map[string]int{"": 0, "worse, drift": 2} {
		if list, wrong := ParseConditions(text, nil); len(list) != conditions || wrong != "" {
			t.Errorf("%q: %v, %s", text, list, wrong)
		}
	}
	unknown := sample(1)
	unknown.turns[0].Cost = price.Figure{}
	list, _ := ParseConditions("cost>5", nil)
	if r := list[0].Check(nil, unknown.Total(), nil); len(r) != 1 || !r[0].TooFew {
		t.Errorf("unknown cost: %+v", r)
	}
	for _, text := range []string{"bad", "bad>1", "bad>-1%", "bad>101%", "cost>5%", "cost>x", "first>1s", "first.p90>1s", "last.p50>1s", "first.p50>1", "NO_CODE>1%", "worse,", "bad>NaN%", "bad>$1%", "cost>-1"} {
		if _, wrong := ParseConditions(text, codes); wrong == "" {
			t.Errorf("%s is accepted", text)
		}
	}
}

// TestTurnConditions checks which conditions can't be checked by tool. A condition on a finding about a call can, and
// one on a finding about a turn can't.
func TestTurnConditions(t *testing.T) {
	s := sample(1)
	s.AddFindings(stream.Ref{Turn: 0}, []stream.Finding{{Diagnosis: &stream.Diagnosis{Code: "LATE"}}})
	s.AddTurn(100, Turn{Background: true, Findings: []Finding{{Code: "ASIDE"}}})
	for text, want := range map[string][2]bool{
		"failed>1%": {true, false}, "refused>1%": {true, false}, "first.p95>1s": {true, false}, "whole.p50>1s": {true, false},
		"run.p50>1s": {}, "bad>1%": {}, "tool_error>1%": {}, "cost>1": {}, "worse": {},
		"LATE>1%": {false, true}, "ARGS_BROKEN>1%": {}, "ASIDE>1%": {},
	} {
		list, wrong := ParseConditions(text, []string{"LATE", "ARGS_BROKEN", "ASIDE"})
		if wrong != "" {
			t.Fatal(wrong)
		}
		if got := [2]bool{list[0].NeedsTurns(), list[0].CountsTurnFinding(s)}; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestTokenSums checks that sums of very large numbers of tokens don't become negative.
func TestTokenSums(t *testing.T) {
	var s Set
	for n := range int32(3) {
		huge := stream.Tokens(math.MaxInt64 - 1)
		s.AddTurn(n, Turn{Usage: [numTokens]stream.Count{huge, huge, huge, huge}})
	}
	g := s.Total()
	if want := [numTokens]int64{math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64}; g.Tokens != want || g.cacheText() != "100%" {
		t.Errorf("%v %s", g.Tokens, g.cacheText())
	}
}

var (
	sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([^ ]+)$`)
	labelPair  = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)`)
)

// checkPrometheus checks the rules of the text format: every sample follows the type of its metric, each series
// occurs once, bucket counts grow, and the last bucket equals the count.
func checkPrometheus(t *testing.T, lines []string) (values map[string]float64) {
	t.Helper()
	values = map[string]float64{}
	kinds, kind, current, latest := map[string]string{}, "", "", map[string]float64{}
	for _, line := range lines {
		if words := strings.Fields(line); len(words) > 3 && words[0] == "#" {
			if words[1] == "TYPE" {
				if kinds[words[2]] != "" {
					t.Errorf("%s has two types", words[2])
				}
				current, kind = words[2], words[3]
				kinds[current] = kind
			}
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("not a sample: %q", line)
		}
		value, err := strconv.ParseFloat(m[3], 64)
		suffix, isOf := strings.CutPrefix(m[1], current)
		if err != nil || !isOf || suffix != "" && (kind != "histogram" || suffix != "_bucket" && suffix != "_sum" && suffix != "_count") {
			t.Errorf("%q is not a sample of the %s %s", line, kind, current)
		}
		if kind == "counter" && !strings.HasSuffix(current, "_total") {
			t.Errorf("the counter %s has no _total", current)
		}
		limit, labels, rest := "", "", m[2]
		for rest != "" {
			pair := labelPair.FindStringSubmatch(rest)
			if pair == nil {
				t.Fatalf("not a label: %q in %q", rest, line)
			}
			if rest = rest[len(pair[0]):]; pair[1] == "le" {
				limit = pair[2]
			} else {
				labels += pair[0]
			}
		}
		if _, twice := values[m[1]+"{"+m[2]]; twice {
			t.Errorf("twice: %q", line)
		}
		values[m[1]+"{"+m[2]] = value
		series := current + strings.TrimSuffix(labels, ",")
		switch suffix {
		case "_bucket":
			if value < latest[series] {
				t.Errorf("a bucket is smaller than the one before: %q", line)
			}
			if latest[series] = value; limit == "+Inf" {
				values["inf "+series] = value
			}
		case "_count":
			if value != values["inf "+series] {
				t.Errorf("the last bucket is not the count: %q", line)
			}
		}
	}
	return values
}

// TestPrometheus checks the text format, including hostile names, and the limits of labels.
func TestPrometheus(t *testing.T) {
	s := sample(10)
	for n, name := range []string{"a\"b", `back\slash`, "line\nbreak", "\x1b[31mred", "bad\xff", strings.Repeat("é", 200), "x\",le=\"1"} {
		odd := Turn{Run: "odd", FirstToken: stream.NoTime, Duration: stream.NoTime, Phase: "complete"}
		odd.Values[Model], odd.Calls = name, []Call{{Number: 1, Tool: name, State: stream.Complete}}
		s.AddTurn(int32(1000+n), odd)
	}
	for n := range maxTools + 20 {
		s.AddTurn(int32(2000+n), Turn{Run: "many", Background: n == 0, Calls: []Call{{Number: 1, Tool: fmt.Sprint("tool-", n), State: stream.Complete}}, FirstToken: stream.NoTime, Duration: stream.NoTime})
	}
	s.AddTurn(3000, Turn{RequestedModel: "m", Phase: "failed", FirstToken: stream.NoTime, Duration: stream.NoTime, Gaps: present.Gaps{Places: 2, Bytes: 7}})
	lines := s.Prometheus("v1")
	values := checkPrometheus(t, lines)
	labels := `gen_ai_operation_name="chat",gen_ai_request_model="m",gen_ai_response_model="m",server_address="api.example.com"`
	for name, want := range map[string]float64{
		"gen_ai_client_operation_duration_seconds_count{" + labels:                            30,
		"gen_ai_client_operation_duration_seconds_bucket{" + labels + `,le="1.28"`:            30,
		"gen_ai_client_operation_duration_seconds_bucket{" + labels + `,le="0.64"`:            0,
		"gen_ai_client_operation_time_to_first_chunk_seconds_bucket{" + labels + `,le="0.01"`: 30,
		"gen_ai_client_token_usage_sum{" + labels + `,gen_ai_token_type="input"`:              3000,
		`gen_ai_execute_tool_duration_seconds_sum{gen_ai_tool_name="write"`:                   30,
		`toolscope_calls_total{tool="write",status="malformed"`:                               30,
		`toolscope_findings_total{code="ARGS_BROKEN",severity="error",by="model",model="m"`:   30,
		`toolscope_cached_tokens_total{kind="read",model="m"`:                                 750,
		`toolscope_cost_usd_total{source="table",model="m"`:                                   7.5,
		`toolscope_turns_total{phase="complete",model="m"`:                                    30,
		`toolscope_turns_total{phase="failed",model="m"`:                                      1,
		`toolscope_cost_unknown_turns_total{model="m"`:                                        1,
		`toolscope_recording_gaps_total{`:                                                     2,
		`toolscope_missed_bytes_total{`:                                                       7,
		`toolscope_calls_total{tool="line\nbreak",status="complete"`:                          -1,
	} {
		if got, ok := values[name]; want >= 0 && got != want || want < 0 && ok {
			t.Errorf("%s: %g %v, want %g", name, got, ok, want)
		}
	}
	tools := map[string]bool{}
	for _, m := range regexp.MustCompile(`toolscope_calls_total\{tool="((?:[^"\\]|\\.)*)"`).FindAllStringSubmatch(strings.Join(lines, "\n"), -1) {
		tools[m[1]] = true
	}
	if !tools["other"] || len(tools) != maxTools+1 {
		t.Errorf("%d tools, other: %v", len(tools), tools["other"])
	}
	if strings.ContainsAny(strings.Join(lines, ""), "\x1b\n") {
		t.Error("a control character is in the text")
	}
}
