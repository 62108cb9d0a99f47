package replay

import "testing"

// TestCodes: every code has a severity and words, once.
func TestCodes(t *testing.T) {
	told := map[string]bool{}
	for _, c := range Codes {
		if _, ok := severities[c.Code]; !ok || told[c.Code] || c.Says == "" {
			t.Errorf("%s: %q, told before: %v, has a severity: %v", c.Code, c.Says, told[c.Code], ok)
		}
		told[c.Code] = true
	}
	for code := range severities {
		if !told[code] {
			t.Errorf("%s has no words", code)
		}
	}
	for i, s := range Severities {
		if found, ok := FindSeverity(s.String()); !ok || found != s || int(s) != i || len(Severities) != len(severityWords) {
			t.Errorf("severity %d of %d is %s", i, len(Severities), s)
		}
	}
}
