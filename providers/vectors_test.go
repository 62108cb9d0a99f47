package providers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolscope/providers/price"
	"toolscope/stream"
)

// A vector is a case in the protocol reference, by its number there, with the fixtures that show it and the
// expected results.
type vector struct {
	number   int
	about    string
	fixtures string
	outline  []string // expected outline: all turns, calls and findings
	more     []string // expected particulars: other facts in this case
}

func TestVectors(t *testing.T) {
	files := map[string]fixture{}
	for _, f := range fixtures(t) {
		files[f.name] = f
	}
	shown := map[int]bool{}
	for _, v := range vectors {
		shown[v.number] = true
		for name := range strings.FieldsSeq(v.fixtures) {
			t.Run(fmt.Sprintf("%02d/%s", v.number, name), func(t *testing.T) {
				f, ok := files[name]
				if !ok {
					t.Fatal("no such fixture")
				}
				v.check(t, f.inspect(f.wire))
				v.check(t, f.inspect(slices.Collect(slices.Chunk(f.wire, 1))...))
			})
		}
	}
	for n := 1; n <= 53; n++ {
		if !shown[n] {
			t.Errorf("no fixture shows vector %d", n)
		}
	}
}

func (v vector) check(t *testing.T, in *Inspector) {
	t.Helper()
	if diff := cmp.Diff(v.outline, outline(in.Session())); diff != "" {
		t.Errorf("%s (-want +got)\n%s", v.about, diff)
	}
	got := particulars(in)
	for _, want := range v.more {
		if !slices.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", v.about, want, strings.Join(got, "\n"))
		}
	}
}

// outline returns a line for each turn, followed by a line for each of its calls, with the codes of the
// findings. A bare code is info, ! is warn and !! is error.
func outline(session *stream.Session) (lines []string) {
	for _, t := range session.Turns {
		lines = append(lines, strings.TrimSpace(fmt.Sprint(t.Phase(), " ", t.Finish))+codes(t.Findings))
		for _, c := range t.Calls {
			line := fmt.Sprint("  ", c.Phase(), " ", c.Syntax(), " ", c.Status())
			if len(c.Args()) > 0 {
				line += ": " + string(c.Args())
			}
			lines = append(lines, line+codes(c.Findings))
		}
	}
	return lines
}

func codes(findings []stream.Finding) (s string) {
	for _, f := range findings {
		s += "  " + f.Code + [...]string{"", "!", "!!"}[f.Severity]
	}
	return s
}

// particulars returns facts that only some cases are about: the verdicts of run rules for a call, usage and its cost,
// errors, heartbeats, parents of calls, and messages of findings. The cost is one dollar per million input tokens and
// ten dollars per million output tokens.
func particulars(in *Inspector) (lines []string) {
	heartbeats := 0
	for n := range in.Timeline.Len() {
		if e := in.View().Event(n); e.Kind == stream.Heartbeat {
			heartbeats++
		}
	}
	lines = append(lines, fmt.Sprint("heartbeats ", heartbeats))
	table := price.Embedded()
	if list, err := price.Parse([]byte(`[{"provider":"me","id":"gpt-x","input":1,"cache_read":1,"output":10,"as_of":"2026-01-01"}]`)); err == nil {
		table = table.With(list)
	}
	for _, t := range in.Session().Turns {
		lines = append(lines, "usage "+t.Usage.String(), "cost "+table.Turn(t, stream.Head{}).String(), "fails: "+t.Failure)
		for _, f := range t.Findings {
			lines = append(lines, f.Code+": "+f.Message)
		}
		for _, c := range t.Calls {
			for x := range stream.RunRule(stream.NumRunRules) {
				r := c.RuleRun(x)
				lines = append(lines, fmt.Sprintf("%s: %s with %s", x, r.Outcome, c.Args()[:r.Bytes]))
			}
			for _, f := range c.Findings {
				lines = append(lines, f.Code+": "+f.Message)
			}
		}
	}
	return lines
}
