package stats

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// TestMetrics checks that metrics that count turns one by one have the same lines as the metrics of a set.
func TestMetrics(t *testing.T) {
	m, s := NewMetrics("v1"), &Set{}
	for i, turn := range exampleTurns() {
		turn.Findings = nil
		m.AddTurn(int32(i), turn)
		s.AddTurn(int32(i), turn)
		found := []stream.Finding{{Diagnosis: &stream.Diagnosis{Code: "LATE"}, Severity: stream.Warn, By: stream.Client}}
		m.AddFindings(stream.Ref{Turn: int32(i)}, found)
		s.AddFindings(stream.Ref{Turn: int32(i)}, found)
	}
	m.AddFindings(stream.Ref{Turn: 99}, []stream.Finding{{Diagnosis: &stream.Diagnosis{Code: "UNKNOWN"}}})
	got, want := m.Lines(), s.Prometheus("v1")
	if !slices.Equal(got, want) || !strings.Contains(strings.Join(got, "\n"), `toolscope_findings_total{code="LATE",severity="warn",by="client",model="m"} 2`) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestMetricsWithoutTurns checks that metrics without a value have no lines.
func TestMetricsWithoutTurns(t *testing.T) {
	if lines := NewMetrics("v1").Lines(); len(lines) != 3 || !strings.HasPrefix(lines[2], "toolscope_build_info{") {
		t.Errorf("%q", lines)
	}
}

// TestMetricsBounded checks metrics of traffic whose names are always new. The number of series and the memory must
// have limits, and no counter may fall.
func TestMetricsBounded(t *testing.T) {
	m := NewMetrics("v1")
	counter := func() (n int) {
		for _, line := range m.Lines() {
			if strings.HasPrefix(line, `toolscope_turns_total{phase="complete",model="m0"} `) {
				_, _ = fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &n)
			}
		}
		return n
	}
	last := 0
	for i := range 2 * maxLatestTurns {
		turn := exampleTurns()[0]
		turn.Values[Model], turn.Values[Server] = fmt.Sprint("m", i%4000), fmt.Sprint("host", i/7)
		turn.ErrorType, turn.RequestedModel, turn.Duration = fmt.Sprint(i), fmt.Sprint("m", i%4000), time.Second
		turn.Calls = []Call{{Number: 1, Tool: fmt.Sprint("tool", i), State: stream.Complete}}
		m.AddTurn(int32(i), turn)
		if i%4000 == 0 {
			if now := counter(); now < last || now == 0 {
				t.Fatalf("the counter is %d after %d", now, last)
			} else {
				last = now
			}
		}
	}
	for _, f := range m.families {
		if len(f.series) > maxSeries {
			t.Errorf("%s has %d series", f.name, len(f.series))
		}
	}
	if m.duration.series[overflowLabel] == nil || len(m.models) > maxLatestTurns || len(m.calls.series) > maxTools+1 {
		t.Errorf("%d turns, %d series of calls", len(m.models), len(m.calls.series))
	}
	all := 0.0
	for _, s := range m.turns.series {
		all += s.sum
	}
	if all != 2*maxLatestTurns {
		t.Errorf("%v turns are counted", all)
	}
}
