package stats

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"toolscope/stream"
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
