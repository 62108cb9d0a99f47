package replay

import (
	"testing"

	"toolscope/stream"
)

// TestKinds checks that every kind of loss has its texts and is listed once. If a later request can show the loss,
// the kind must have a severity as a finding.
func TestKinds(t *testing.T) {
	told := map[string]bool{}
	for _, k := range Kinds {
		if told[k.Code] || k.Description == "" {
			t.Errorf("%s: %q, told before: %v", k.Code, k.Description, told[k.Code])
		}
		told[k.Code] = true
		o := Observation{Treatment: Intact, Losses: []Loss{{Kind: k}}}
		f, ok := o.Finding()
		if ok != (k.Severity >= Medium) || ok && (f.Code != k.Code || f.By != stream.Client || (f.Severity == stream.Error) != (k.Severity == Critical)) {
			t.Errorf("%s, a loss of severity %s: %v %+v", k.Code, k.Severity, ok, f)
		}
	}
	for i, s := range Severities {
		if found, ok := FindSeverity(s.String()); !ok || found != s || int(s) != i || len(Severities) != len(severityWords) {
			t.Errorf("severity %d of %d is %s", i, len(Severities), s)
		}
	}
}
