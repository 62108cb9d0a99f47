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
)

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
