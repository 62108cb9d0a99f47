package panes

import (
	"testing"

	"toolscope/stream"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// TestHealthyRowsAddUp checks that the text of healthy rows counts calls and turns without a call separately.
func TestHealthyRowsAddUp(t *testing.T) {
	for _, c := range []struct {
		rows, calls int
		text        string
	}{{3, 3, "3 healthy"}, {3, 2, "2 healthy, 1 turn without a call"}, {1200, 0, "1,200 turns without a call"}} {
		if got := (rowTarget{healthy: c.rows, calls: c.calls}).healthyText().String(); got != c.text {
			t.Errorf("%d rows, %d calls: %q, not %q", c.rows, c.calls, got, c.text)
		}
	}
}

// TestIdleRole checks that the idle time of a stream is a warning only if the stream has stalled.
func TestIdleRole(t *testing.T) {
	stalled := stream.Finding{Diagnosis: &stream.Diagnosis{Code: "STALLED"}}
	other := stream.Finding{Diagnosis: &stream.Diagnosis{Code: "CHANGED"}}
	for _, c := range []struct {
		v    present.Verdict
		want screen.Role
	}{{present.Verdict{}, screen.Muted}, {present.Verdict{Finding: &other}, screen.Muted}, {present.Verdict{Finding: &stalled}, screen.Caution}} {
		if got := IdleRole(c.v); got != c.want {
			t.Errorf("%+v: %v", c.v.Finding, got)
		}
	}
}
