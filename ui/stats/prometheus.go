package stats

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/report"
)

// These constants limit the number of values of a label. The most frequent values are kept. The others become
// "other", because each value makes a series on the server.
const (
	maxModels = 50
	maxTools  = 100
	maxHosts  = 20
)

// otherValue is the label for values beyond the limit.
const otherValue = "other"

// maxLabelBytes is the maximum length of a label.
const maxLabelBytes = 128

// A family is all series of one metric.
type family struct {
	name, kind, help string
	buckets          []float64 // upper limits, for a histogram
	series           map[string]*series
}

// A series is the numbers for one combination of labels.
type series struct {
	sum    float64
	counts []int // for a histogram: values in each bucket; the last bucket has no limit
}

// These tables are the upper limits of buckets, as the conventions advise.
var (
	secondBuckets = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	tokenBuckets  = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

// Prometheus returns the lines of a set in Prometheus' text format. Names that begin with gen_ai follow
// OpenTelemetry's conventions. Background requests are left out.
func (s *Set) Prometheus(version string) (lines []string) {
	s.resolveModels()
	families := s.countFamilies(version)
	for _, f := range families {
		if len(f.series) == 0 {
			continue
		}
		lines = append(lines, "# HELP "+f.name+" "+f.help, "# TYPE "+f.name+" "+f.kind)
		for _, labels := range slices.Sorted(maps.Keys(f.series)) {
			lines = append(lines, f.seriesLines(labels, f.series[labels])...)
		}
	}
	return lines
}

// seriesLines returns the lines of one series.
func (f *family) seriesLines(labels string, s *series) (lines []string) {
	sample := func(suffix, labels, value string) {
		if labels != "" {
			labels = "{" + labels + "}"
		}
		lines = append(lines, f.name+suffix+labels+" "+value)
	}
	if f.buckets == nil {
		sample("", labels, sampleText(s.sum))
		return lines
	}
	all := 0
	for i, n := range s.counts {
		all += n
		limit := math.Inf(1)
		if i < len(f.buckets) {
			limit = f.buckets[i]
		}
		sample("_bucket", strings.TrimPrefix(labels+`,le="`+sampleText(limit)+`"`, ","), strconv.Itoa(all))
	}
	sample("_sum", labels, sampleText(s.sum))
	sample("_count", labels, strconv.Itoa(all))
	return lines
}

// sampleText formats a value as Prometheus reads it.
func sampleText(f float64) string {
	if math.IsInf(f, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// add adds a value to the series with the given labels. A counter grows by the value, and a histogram counts it.
func (f *family) add(labels string, value float64) {
	if f.series == nil {
		f.series = map[string]*series{}
	}
	s := f.series[labels]
	if s == nil {
		s = &series{}
		if f.buckets != nil {
			s.counts = make([]int, len(f.buckets)+1)
		}
		f.series[labels] = s
	}
	if s.sum += value; f.buckets != nil {
		i, _ := slices.BinarySearch(f.buckets, value)
		s.counts[i]++
	}
}

// joinLabels returns labels from pairs of names and values. Empty values are left out.
func joinLabels(pairs ...string) string {
	var all []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if value := pairs[i+1]; value != "" {
			value = display.Clean(strings.ToValidUTF8(value[:min(len(value), maxLabelBytes)], "")).String()
			all = append(all, pairs[i]+`="`+strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value)+`"`)
		}
	}
	return strings.Join(all, ",")
}

// countFamilies counts the turns of the set in all metrics.
func (s *Set) countFamilies(version string) []*family {
	limitModel := s.limitValues(maxModels, func(t *Turn) []string { return []string{t.Values[Model], t.RequestedModel} })
	limitHost := s.limitValues(maxHosts, func(t *Turn) []string { return []string{t.Values[Server]} })
	limitTool := s.limitValues(maxTools, func(t *Turn) (tools []string) {
		for _, c := range t.Calls {
			tools = append(tools, c.Tool)
		}
		return tools
	})
	var (
		duration = &family{name: "gen_ai_client_operation_duration_seconds", kind: "histogram", help: "Duration of requests to models.", buckets: secondBuckets}
		first    = &family{name: "gen_ai_client_operation_time_to_first_chunk_seconds", kind: "histogram", help: "Time from the request to the first token of a stream.", buckets: secondBuckets}
		tokens   = &family{name: "gen_ai_client_token_usage", kind: "histogram", help: "Billed tokens of a turn. Input tokens include cached tokens.", buckets: tokenBuckets}
		tool     = &family{name: "gen_ai_execute_tool_duration_seconds", kind: "histogram", help: "Duration of tool runs.", buckets: secondBuckets}
		turns    = &family{name: "toolscope_turns_total", kind: "counter", help: "Turns by phase."}
		calls    = &family{name: "toolscope_calls_total", kind: "counter", help: "Tool calls by state."}
		findings = &family{name: "toolscope_findings_total", kind: "counter", help: "Findings by code."}
		cached   = &family{name: "toolscope_cached_tokens_total", kind: "counter", help: "Input tokens that were read from a cache or written to it."}
		cost     = &family{name: "toolscope_cost_usd_total", kind: "counter", help: "Known cost of turns in US dollars."}
		unknown  = &family{name: "toolscope_cost_unknown_turns_total", kind: "counter", help: "Turns with unknown cost."}
		missed   = &family{name: "toolscope_missed_bytes_total", kind: "counter", help: "Bytes of responses that toolscope missed."}
		build    = &family{name: "toolscope_build_info", kind: "gauge", help: "Version of toolscope, and the conventions that the names follow."}
	)
	build.add(joinLabels("version", version, "semconv", report.Semconv), 1)
	for i := range s.turns {
		t := &s.turns[i]
		if t.Background {
			continue
		}
		model := limitModel(t.Values[Model])
		about := []string{
			"gen_ai_operation_name", t.Operation, "gen_ai_provider_name", t.Values[Provider], "gen_ai_request_model", limitModel(cmp.Or(t.RequestedModel, t.Values[Model])),
			"gen_ai_response_model", model, "server_address", limitHost(t.Values[Server]),
		}
		labels := joinLabels(about...)
		addSeconds(duration, joinLabels(append(about, "error_type", t.ErrorType)...), t.Duration)
		addSeconds(first, labels, t.FirstToken)
		for kind, name := range map[int]string{inputTokens: "input", outputTokens: "output"} {
			if u := t.Usage[kind]; u.Reported {
				tokens.add(joinLabels(append(about, "gen_ai_token_type", name)...), float64(u.N))
			}
		}
		turns.add(joinLabels("phase", t.Phase, "model", model), 1)
		for i := range t.Calls {
			c := &t.Calls[i]
			calls.add(joinLabels("tool", limitTool(c.Tool), "status", c.State.String()), 1)
			for _, d := range c.Runs {
				addSeconds(tool, joinLabels("gen_ai_tool_name", limitTool(c.Tool)), d)
			}
		}
		for _, f := range t.Findings {
			findings.add(joinLabels("code", f.Code, "severity", f.Severity.String(), "by", f.By.String(), "model", model), 1)
		}
		for kind, name := range map[int]string{cacheReadTokens: "read", cacheWriteTokens: "write"} {
			if u := t.Usage[kind]; u.Reported {
				cached.add(joinLabels("kind", name, "model", model), float64(u.N))
			}
		}
		if t.Cost.Known() {
			cost.add(joinLabels("source", t.Cost.Source.String(), "model", model), t.Cost.USD)
		} else {
			unknown.add(joinLabels("model", model), 1)
		}
		if t.Missed > 0 {
			missed.add("", float64(t.Missed))
		}
	}
	return []*family{duration, first, tokens, tool, turns, calls, findings, cached, cost, unknown, missed, build}
}

// addSeconds adds a duration, unless it is unknown.
func addSeconds(f *family, labels string, d time.Duration) {
	if d != stream.NoTime {
		f.add(labels, d.Seconds())
	}
}

// limitValues returns a function that keeps the most frequent values of a label, and replaces the others.
func (s *Set) limitValues(most int, of func(*Turn) []string) func(string) string {
	counts := map[string]int{}
	for i := range s.turns {
		if !s.turns[i].Background {
			for _, value := range of(&s.turns[i]) {
				counts[value]++
			}
		}
	}
	delete(counts, "")
	values := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	kept := map[string]bool{"": true}
	for _, value := range values[:min(len(values), most)] {
		kept[value] = true
	}
	return func(value string) string {
		if kept[value] {
			return value
		}
		return otherValue
	}
}
