package cli

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"toolscope/capture"
	"toolscope/providers"
)

// TestStatsOfView checks that the screen has the same tables as stats, and that it mentions turns that have only a
// row in memory.
func TestStatsOfView(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"toolscope":1}` + "\n")
	for n, one := range timedRuns(t, 6, 2) {
		_, records, _ := strings.Cut(one, "\n")
		text.WriteString(strings.ReplaceAll(records, `"x":1,`, fmt.Sprintf(`"x":%d,`, n+1)))
	}
	path := saved(t, "run.tsc", text.String())
	want := command(t, nil, "stats", path).stdout
	if !strings.Contains(want, "2 (33%)") {
		t.Fatal(want)
	}
	var packed bytes.Buffer // turns can't be read again, so old turns are dropped
	w := gzip.NewWriter(&packed)
	_, _ = io.WriteString(w, text.String())
	w.Close()
	for from, keep := range map[string]providers.Retention{path: {}, saved(t, "run.tsc.gz", packed.String()): {Bytes: 1}} {
		src, err := capture.OpenAll(t.Context(), []string{from}, new(readFlags).openOptions(false, nil))
		if err != nil {
			t.Fatal(err)
		}
		in := new(providers.Inspector)
		in.Keep(keep)
		if err := inspectSource(src, in, func() bool { return true }); err != nil {
			t.Fatal(err)
		}
		in.MakeRoom()
		got := statsOfView(in.View(), nil, 0)
		if dropped := keep.Bytes > 0; !dropped && got != want || dropped && (got == want || !strings.Contains(got, "not counted, because only their rows are in memory")) {
			t.Errorf("%+v:\n%s\nwant\n%s", keep, got, want)
		}
	}
	for row := range strings.Lines(statsOfView(new(providers.Inspector).View(), nil, 20)) {
		if strings.TrimSpace(row) != "no turns match" {
			t.Errorf("without turns: %q", row)
		}
	}
}
