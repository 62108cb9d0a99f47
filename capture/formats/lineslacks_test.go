package formats

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/capture"
)

// lacksOf are what the heads of a log's records say that it cannot tell, and its notes.
func lacksOf(recs []capture.Record) (lacks []capture.Lack, notes []string) {
	for _, r := range recs {
		if r.Head != nil {
			lacks = append(lacks, r.Head.Lacks...)
		}
		if r.Note != "" {
			notes = append(notes, r.Note)
		}
	}
	return lacks, notes
}

// TestLogLacks: a log says what it cannot tell, and nothing that it can: when bytes came, where all
// its lines have one time or none, and what stood behind the length at which a logger cuts lines.
func TestLogLacks(t *testing.T) {
	payloads := []string{startA, block}
	for i := range 24 {
		payloads = append(payloads, fmt.Sprintf(delta, strings.Repeat(fmt.Sprint("word ", i, " "), 1+i%3*8)))
	}
	payloads = append(payloads, stop, finish, over)
	logOf := func(prefix func(i int) string, most int) string {
		var b strings.Builder
		for i, p := range payloads {
			line := prefix(i) + "data: " + p
			fmt.Fprintln(&b, line[:min(len(line), most)])
		}
		return b.String()
	}
	spread := func(i int) string { return fmt.Sprintf("2025-01-02T03:04:%02d.500Z ", i) }
	for _, c := range []struct {
		name, log, says string
		want            []capture.Lack
	}{
		{"times as they came", logOf(spread, 1<<20), "", nil},
		{"one time for all", logOf(func(int) string { return "2025-01-02T03:04:05.500Z " }, 1<<20), "", []capture.Lack{capture.LateTimes}},
		{"no times", logOf(func(int) string { return "INFO  upstream: " }, 1<<20), "", []capture.Lack{capture.NoTimes}},
		{"lines are cut", logOf(spread, 180), "the program that wrote the log cut lines at 180 bytes", []capture.Lack{capture.CutLines}},
	} {
		for _, size := range []int{1 << 20, 7} {
			lacks, notes := lacksOf(readLog(t, []byte(c.log), size))
			for _, lack := range []capture.Lack{capture.LateTimes, capture.NoTimes, capture.CutLines} {
				if got, want := slices.Contains(lacks, lack), slices.Contains(c.want, lack); got != want {
					t.Errorf("%s, in pieces of %d: it cannot tell %s: %v, want %v", c.name, size, lack, got, want)
				}
			}
			if said := strings.Join(notes, "; "); c.says != "" && !strings.Contains(said, c.says) || c.says == "" && strings.Contains(said, "cut") {
				t.Errorf("%s, in pieces of %d: notes %q, want %q", c.name, size, said, c.says)
			}
		}
	}
}
