package ui

import (
	"strings"
	"testing"
)

// TestRules: a rule is opened for who decides so, with what, and where that differs; a sentence on it
// can be taken; its moment is gone to, and esc leads back.
func TestRules(t *testing.T) {
	copied := ""
	s := newScreen(t, 140, 50, func(o *Options) {
		o.Copy = func(text []byte) (string, error) { copied = string(text); return "OSC 52", nil }
	}).feed(demo(t, "early")...)
	s.end().press("G5").shows("[WHEN CODE WOULD RUN 8]", "any arguments    early wrong   Δ2", "parsable object  early wrong   Δ5    +1.12 s",
		"seal             broken call   Δ10", "55 B, no JSON from byte 25", "since the request: headers 300 ms")
	s.press("jj<enter>").shows(`{"query": "late parcels"}`, "the final arguments are no JSON from byte 25")
	s.press("ys")
	if s.finish(); !strings.HasPrefix(copied, `Code that runs a call as soon as its arguments parse as an object runs search_orders at delta 5, 1.12 s into the response, with`) ||
		!strings.HasSuffix(copied, "the final arguments are no JSON from byte 25.") {
		t.Errorf("%q", copied)
	}
	if s.press("<enter>"); s.where() != "wire: #5" {
		t.Error("its moment is at", s.where())
	}
	if s.press("<esc>"); s.focus != s.runs {
		t.Error("esc leads to", s.where())
	}
	s.press("<esc>").hides("the final arguments are").press("G").shows("longest silence")
}

// TestFindingAndBack: a finding leads to its bytes, and esc back to where it stands.
func TestFindingAndBack(t *testing.T) {
	s := newScreen(t, 80, 24).feed(demo(t, "schema")...)
	s.end().press("G4j").shows("[FINDINGS 3]")
	if s.press("<enter>"); s.focus != s.doc {
		t.Fatal("it leads to", s.where())
	}
	if s.press("<esc>"); s.focus != s.findings {
		t.Error("esc leads to", s.where())
	}
	if s.press("<esc>"); s.focus != s.list {
		t.Error("and then to", s.where())
	}
}
