//go:build linux

package cli

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestStatsRows checks that tables are not wider than a terminal, and that a comparison has all its numbers.
func TestStatsRows(t *testing.T) {
	builtProgram(t) // from this folder
	good, slow := savedRuns(t, 40, 1, 500), savedRuns(t, 40, 1, 5000)
	compared := command(t, nil, "stats", slow, "--vs", good).stdout
	if !strings.Contains(compared, "p50 519 ms → 5.01 s, slow runs 0 of 40 runs → 16 of 40  p ") {
		t.Errorf("the numbers are cut: %s", compared)
	}
	for _, columns := range []int{40, 80, 200} {
		for _, args := range [][]string{{"stats", good}, {"stats", slow, "--vs", good}} {
			out := withoutInks(onTerminal(t, columns, args...))
			for row := range strings.Lines(out) {
				if wide := ansi.StringWidth(strings.TrimRight(row, "\n")); wide > columns {
					t.Errorf("%v at %d columns: a row of %d cells: %q", args, columns, wide, row)
				}
			}
			if want := "  whole p50/p95  619 ms / 637 ms\n"; columns == 40 && len(args) == 2 && !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
	}
}
