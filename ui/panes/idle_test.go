package panes

import (
	"testing"

	"toolscope/stream"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

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
