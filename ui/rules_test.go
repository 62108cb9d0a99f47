package ui

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestRules checks that a rule shows who uses it, the arguments with which a call would run, and where these differ
// from the final ones. A sentence about the rule can be copied. The user can go to the rule's moment, and esc goes
// back.
func TestRules(t *testing.T) {
	copied := ""
	s := newScreen(t, 156, 56, func(o *Options) {
		o.Copy = func(text []byte) (string, error) { copied = string(text); return "OSC 52", nil }
	}).feed(demo(t, "early")...)
	s.end().press("G5").shows("[Would run]", "as soon as it parses", "delta 5, 30 B too soon", "when the provider finishes", "not JSON: it fails", "only if complete and valid",
		"since the request: headers 300 ms").hides("at the first byte")
	s.press("+").shows("at the first byte", "when arguments are final").press("-<enter>").shows(`{"query": "late parcels"}`, "the final arguments are not JSON from byte 25")
	s.press("yf")
	if s.finish(); !strings.HasPrefix(copied, `Code that runs a call as soon as its arguments parse as an object runs search_orders at delta 5, 1.12 s into the response, with`) ||
		!strings.HasSuffix(copied, "the final arguments are not JSON from byte 25.") {
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

// TestRuleThatRan checks that a rule is shown with its arguments as soon as it runs the call, and later with the
// difference from the final arguments. The arguments of a repairing parser are shown repaired.
func TestRuleThatRan(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "write_file", `{"path": "/etc`)
	s := newScreen(t, 156, 56).feed(a.records...)
	s.press("5").shows("as soon as it parses", "not yet", `{"path":"/etc"}`)
	s.press("j<enter>").shows("with 14 B of 14 B, repaired:", "since, but more may arrive")
	s.feed(new(anthropic).args(0, `/hosts"}`).records...).shows("delta 1, 8 B too soon", "with 14 B of 22 B, repaired:", "the final arguments differ at $.path")
}

// TestFindingAndBack checks that a finding leads to its bytes, and that esc goes back to the finding.
func TestFindingAndBack(t *testing.T) {
	s := newScreen(t, 80, 24).feed(demo(t, "schema")...)
	s.end().press("G3j").shows("[Findings 3]")
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

// TestCallTimes checks that a call's times are next to those of other calls: of its turn, of the same tool,
// and by model. A row leads to its call.
func TestCallTimes(t *testing.T) {
	s := newScreen(t, 140, 60).feed(demo(t, "parallel")...)
	s.end().press("G5zG").shows("other calls of this turn: + later, - sooner")
	if rows := strings.Join(s.rows(), "\n"); !timesRow("run_tests ", "2.94 s").MatchString(rows) || !timesRow("write_file ", "-2.44 s").MatchString(rows) {
		t.Errorf("the first bytes are not compared:\n%s", rows)
	}
	if s.press("<enter>"); s.selectedCall().Name != "write_file" {
		t.Error("the last row leads to", s.selectedCall().Name)
	}
	s = newScreen(t, 160, 60).feed(demo(t, "protocols")...)
	s.end().press("G5z").shows("the same tool in other turns", "median by model", "median by arrival", "eager, 5 calls", "turn 2, gpt-5.2", "at once")
	s = newScreen(t, 160, 60).feed(demo(t, "cut")...)
	s.end().press("g5z").shows("[Would run]").hides("time taken") // there is no other call to compare it with
}

// timesRow matches a row of the table with a call's name and a time.
func timesRow(name, at string) *regexp.Regexp {
	return regexp.MustCompile("(?m)^.?  +" + name + ".* " + regexp.QuoteMeta(at) + " ")
}

// TestClocks checks that times measured from different moments name their moment, and that the timeline counts from
// the request.
func TestClocks(t *testing.T) {
	s := newScreen(t, 140, 40).feed(demo(t, "compare")...)
	s.end().press("=").shows("SINCE REQUEST", "┄┄┄┄┄─").press(" ,,").shows("Time  turn 3", "first byte +1.48 s")
	s.press("<esc><esc>G5").shows("since the request: headers 1.48 s")
	s = newScreen(t, 140, 40).feed(demo(t, "parallel")...)
	s.end().press(" ,").shows("┄┬", "first byte +180 ms", "PAUSED +")
}

// TestStall checks that a long silence is shown with its length and position.
func TestStall(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "write_file", `{"path": "a`, `b`, `c`)
	for i := range a.records {
		a.records[i].At = time.Duration(i) * 100 * time.Millisecond
	}
	late := new(anthropic).args(0, `d"}`)
	late.records[0].At = 4200 * time.Millisecond
	s := newScreen(t, 120, 40).feed(a.records...).feed(late.records...)
	s.press(" ").shows("┄ 3.80 s ┄")
}
