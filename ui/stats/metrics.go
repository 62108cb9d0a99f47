package stats

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/report"
)

// Metrics counts turns for Prometheus as they end. Unlike a [Set], it doesn't keep them, and its counters only grow.
// It is safe for concurrent use.
type Metrics struct {
	mu                sync.Mutex
	families          []*family
	model, host, tool func(string) string // limit the number of labels
	models            map[int32]string    // labels of the models of the latest turns
	latest            []int32             // numbers of the latest turns, the oldest first

	duration, first, tokens, toolRuns, turns, calls, findings, cached, cost, unknown, missed, gaps *family
}

// maxLatestTurns is the maximum number of turns whose model is known when a later request shows a finding about them.
const maxLatestTurns = 1 << 12

// NewMetrics returns metrics without turns. Only the first models, tools and hosts get labels of their own.
func NewMetrics(version string) *Metrics {
	m := newMetrics(version)
	m.model, m.host, m.tool = keepFirst(maxModels), keepFirst(maxHosts), keepFirst(maxTools)
	return m
}

func newMetrics(version string) *Metrics {
	m := &Metrics{models: map[int32]string{}}
	add := func(name, kind, help string, buckets []float64) *family {
		f := &family{name: name, kind: kind, help: help, buckets: buckets}
		m.families = append(m.families, f)
		return f
	}
	m.duration = add("gen_ai_client_operation_duration_seconds", "histogram", "Duration of requests to models.", secondBuckets)
	m.first = add("gen_ai_client_operation_time_to_first_chunk_seconds", "histogram", "Time from the request to the first token of a stream.", secondBuckets)
	m.tokens = add("gen_ai_client_token_usage", "histogram", "Billed tokens of a turn. Input tokens include cached tokens.", tokenBuckets)
	m.toolRuns = add("gen_ai_execute_tool_duration_seconds", "histogram", "Duration of tool runs.", secondBuckets)
	m.turns = add("toolscope_turns_total", "counter", "Turns by phase.", nil)
	m.calls = add("toolscope_calls_total", "counter", "Tool calls by state.", nil)
	m.findings = add("toolscope_findings_total", "counter", "Findings by code.", nil)
	m.cached = add("toolscope_cached_tokens_total", "counter", "Input tokens that were read from a cache or written to it.", nil)
	m.cost = add("toolscope_cost_usd_total", "counter", "Known cost of turns in US dollars.", nil)
	m.unknown = add("toolscope_cost_unknown_turns_total", "counter", "Turns with unknown cost.", nil)
	m.missed = add("toolscope_missed_bytes_total", "counter", "Bytes of requests and responses that toolscope missed.", nil)
	m.gaps = add("toolscope_recording_gaps_total", "counter", "Places at which toolscope missed bytes.", nil)
	build := add("toolscope_build_info", "gauge", "Version of toolscope, and the conventions that the names follow.", nil)
	build.add(joinLabels("version", version, "semconv", report.Semconv), 1)
	return m
}

// keepFirst returns a function that keeps the first values of a label, and replaces the others.
func keepFirst(most int) func(string) string {
	kept := map[string]bool{"": true}
	return func(value string) string {
		if !kept[value] && len(kept) > most {
			return otherValue
		}
		kept[value] = true
		return value
	}
}

// Lines returns the lines in Prometheus' text format.
func (m *Metrics) Lines() (lines []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.families {
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

// AddTurn counts a turn. If its response names no model, the model is the requested one.
func (m *Metrics) AddTurn(number int32, t Turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t.Values[Model] = cmp.Or(t.Values[Model], t.RequestedModel)
	m.countTurn(&t)
	if t.Background {
		return
	}
	if m.models[number], m.latest = m.model(t.Values[Model]), append(m.latest, number); len(m.latest) > maxLatestTurns {
		delete(m.models, m.latest[0])
		m.latest = m.latest[1:]
	}
}

// AddFindings counts findings about a turn that was counted before. Findings about other turns are ignored.
func (m *Metrics) AddFindings(of stream.Ref, list []stream.Finding) {
	m.mu.Lock()
	defer m.mu.Unlock()
	model, ok := m.models[of.Turn]
	if !ok {
		return
	}
	var t Turn
	t.addFindings(int(of.Call), list)
	m.countFindings(&t, model)
}

// AddResult does nothing, because no metric is about results.
func (m *Metrics) AddResult(stream.Ref, stream.Code) {}

func (m *Metrics) countFindings(t *Turn, model string) {
	for _, f := range t.Findings {
		m.findings.add(joinLabels("code", f.Code, "severity", f.Severity.String(), "by", f.By.String(), "model", model), 1)
	}
}

// countTurn counts a turn in all metrics, unless it answers a background request.
func (m *Metrics) countTurn(t *Turn) {
	if t.Background {
		return
	}
	model := m.model(t.Values[Model])
	about := []string{
		"gen_ai_operation_name", t.Operation, "gen_ai_provider_name", t.Values[Provider], "gen_ai_request_model", m.model(cmp.Or(t.RequestedModel, t.Values[Model])),
		"gen_ai_response_model", model, "server_address", m.host(t.Values[Server]),
	}
	labels := joinLabels(about...)
	addSeconds(m.duration, joinLabels(append(about, "error_type", t.ErrorType)...), t.Duration)
	addSeconds(m.first, labels, t.FirstToken)
	for kind, name := range map[int]string{inputTokens: "input", outputTokens: "output"} {
		if u := t.Usage[kind]; u.Reported {
			m.tokens.add(joinLabels(append(about, "gen_ai_token_type", name)...), float64(u.N))
		}
	}
	m.turns.add(joinLabels("phase", t.Phase, "model", model), 1)
	for i := range t.Calls {
		c := &t.Calls[i]
		m.calls.add(joinLabels("tool", m.tool(c.Tool), "status", c.State.String()), 1)
		for _, d := range c.Runs {
			addSeconds(m.toolRuns, joinLabels("gen_ai_tool_name", m.tool(c.Tool)), d)
		}
	}
	m.countFindings(t, model)
	for kind, name := range map[int]string{cacheReadTokens: "read", cacheWriteTokens: "write"} {
		if u := t.Usage[kind]; u.Reported {
			m.cached.add(joinLabels("kind", name, "model", model), float64(u.N))
		}
	}
	if t.Cost.Known() {
		m.cost.add(joinLabels("source", t.Cost.Source.String(), "model", model), t.Cost.USD)
	} else {
		m.unknown.add(joinLabels("model", model), 1)
	}
	if t.Gaps.Places > 0 {
		m.missed.add("", float64(t.Gaps.Bytes))
		m.gaps.add("", float64(t.Gaps.Places))
	}
}

// These constants limit the number of values of a label. The most frequent values are kept. The others become
// "other", because each value makes a series on the server.
const (
	maxModels = 50
	maxTools  = 100
	maxHosts  = 20
)

// maxSeries is the maximum number of series of a metric, as in OpenTelemetry's SDKs. Values of all further series are
// added to the series with overflowLabel.
const (
	maxSeries     = 2000
	overflowLabel = `otel_metric_overflow="true"`
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

// These tables are the upper limits of buckets, as recommended by the conventions.
var (
	secondBuckets = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	tokenBuckets  = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

// Prometheus returns the lines of a set in Prometheus' text format. Names that begin with gen_ai follow
// OpenTelemetry's conventions. Background requests are left out.
func (s *Set) Prometheus(version string) (lines []string) {
	s.resolveModels()
	m := newMetrics(version)
	m.model = s.limitValues(maxModels, func(t *Turn) []string { return []string{t.Values[Model], t.RequestedModel} })
	m.host = s.limitValues(maxHosts, func(t *Turn) []string { return []string{t.Values[Server]} })
	m.tool = s.limitValues(maxTools, func(t *Turn) (tools []string) {
		for _, c := range t.Calls {
			tools = append(tools, c.Tool)
		}
		return tools
	})
	for i := range s.turns {
		m.countTurn(&s.turns[i])
	}
	return m.Lines()
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

// add adds a value to the series with the given labels. It adds the value to a counter, and counts it in a bucket of
// a histogram.
func (f *family) add(labels string, value float64) {
	if f.series == nil {
		f.series = map[string]*series{}
	}
	if f.series[labels] == nil && len(f.series) >= maxSeries-1 {
		labels = overflowLabel
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
