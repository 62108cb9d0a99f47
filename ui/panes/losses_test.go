package panes

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/display"
)

// argumentTexts are arguments of each kind that replay handles differently.
var argumentTexts = []string{
	"", "{}", "null", `{"a":1}`, " {\n \"a\" : 1.0 , \"b\":[ ] }\n", `{"b":1,"a":"\u00e9\/","b":9007199254740993}`, `{"a":{"b":[1,2,{"c":"d"}]}}`,
	`{"path": "a.go", "n": 1x, "more": [1, 2]}`, `{"cut":"in the mid`, `{"cut":`, `[1,2]`, `"{\"in\":\"a string\"}"`, "12", `{"a":1}{"b":2}`, "no JSON at all", "{\"bad\":\"\xff\"}", "日本\"語", `{"日本":"\ud83d"}`,
}

// without returns text without the given spans, which must be in order.
func without(t *testing.T, text []byte, spans []Span) string {
	t.Helper()
	var rest []byte
	at := 0
	for _, s := range spans {
		if s.Start < at || s.End < s.Start || s.End > len(text) {
			t.Fatalf("spans %v of %d bytes", spans, len(text))
		}
		rest = append(rest, text[at:s.Start]...)
		at = s.End
	}
	return string(append(rest, text[at:]...))
}

// TestMarks checks the marks for all policies and targets. Without the marked spans, the written and the sent
// arguments must be equal. The spans marked in the body must be the spans marked in the arguments.
func TestMarks(t *testing.T) {
	for _, args := range argumentTexts {
		for _, to := range providers.Targets() {
			for i := range replay.Policies {
				part := protocol.Part{Kind: protocol.CallPart, ID: "call_1", Name: "tool", ToolKind: "function", Args: []byte(args)}
				src := replay.SourceOfHistory([]protocol.Message{{Role: protocol.Assistant, Parts: []protocol.Part{part}}}, nil)
				if !replay.Policies[i].Knows(src.From, to) {
					continue
				}
				preview := src.Preview(to, &replay.Policies[i])
				if preview.Outcome == replay.Unknown {
					continue // the sent arguments are unknown
				}
				checkMarks(t, fmt.Sprintf("%q to %s, %s", args, to.Name, replay.Policies[i].Name), &preview)
			}
		}
	}
}

func checkMarks(t *testing.T, what string, p *replay.Preview) {
	t.Helper()
	c := &p.Calls[0]
	gone, added := RemovedSpans(c), addedSpans(c)
	_, held := stringSpan(c)
	kept, sent := without(t, c.Original, gone), without(t, c.Args, added)
	switch {
	case c.Args == nil || isReplacedByEmpty(c):
		if kept != "" || sent != "" {
			t.Errorf("%s: %q and %q are not marked", what, kept, sent)
		}
	case held:
		text := string(json.AppendQuoted(nil, c.Original))
		if kept != string(c.Original) || sent != text[1:len(text)-1] {
			t.Errorf("%s: %q is kept, and sent as %q", what, kept, sent)
		}
	case kept != sent:
		t.Errorf("%s: without marks %q is sent as %q", what, kept, sent)
	}
	if p.Body == nil || c.Args == nil {
		return
	}
	at, ok := ArgsPlace{}.findNext(p.Body, c)
	if !ok {
		if c.Form != protocol.PositionalForm {
			t.Errorf("%s: not found in %s", what, bytes.Join(p.Body, nil))
		}
		return
	}
	body := p.Body[at.Message][at.Offset : at.Offset+at.length]
	inBody, want := without(t, body, writtenSpans(c, added)), sent
	if c.Form == protocol.TextForm {
		want = string(json.AppendQuoted(nil, []byte(sent)))
	}
	if inBody != want {
		t.Errorf("%s: in the body %q is not marked, want %q", what, inBody, want)
	}
}

// TestNextArgs checks that each call has its own arguments, even if other arguments are equal or look
// similar.
func TestNextArgs(t *testing.T) {
	body := [][]byte{
		[]byte(`{"meta":{},"calls":[{"name":"a","input":{}},{"name":"b","input":{}}]}`),
		[]byte(`{"calls":[{"name":"a","input":{"x":1}},{"name":"a","input":{}}]}`),
	}
	at := ArgsPlace{}
	for i, c := range []struct{ name, args, rest string }{
		{"a", "{}", `{}},{"name":"b"`}, {"b", "{}", `{}}]}`}, {"a", `{"x":1}`, `{"x":1}},`}, {"a", "{}", `{}}]}`},
	} {
		next, ok := at.findNext(body, &replay.Sent{Name: c.name, Args: []byte(c.args), Form: protocol.ObjectForm})
		if !ok || !strings.HasPrefix(string(body[next.Message][next.Offset:]), c.rest) {
			t.Fatalf("%d: %+v, %t", i, next, ok)
		}
		at = next
	}
	if _, ok := at.findNext(body, &replay.Sent{Name: "a", Args: []byte("{}"), Form: protocol.ObjectForm}); ok {
		t.Error("one more")
	}
}

// TestEdits checks that only the differing part of a token is marked, and that no character or escape is
// split.
func TestEdits(t *testing.T) {
	for _, c := range []struct{ old, sent, want string }{
		{`{"a":"in the mid`, `{"a":"in the mid"}`, `16-16 "}`},
		{`{"a":"half\u00`, `{"a":"half"}`, `10-14 "}`},
		{`{"n":9007199254740993}`, `{"n":9007199254740992}`, `20-21 2`},
		{`{"n":1.0}`, `{"n":1}`, `6-8 `},
		{`{"s":"\u00e9t"}`, `{"s":"ét"}`, `6-12 é`},
		{`{"s":"x日y"}`, `{"s":"x本y"}`, `7-10 本`},
		{`{"s":"a\n"}`, `{"s":"a\t"}`, `7-9 \t`},
		{`{"s":"a\\"}`, `{"s":"b\\"}`, `6-7 b`},
		{`{"a":1}`, `{"a":1}`, ``},
		{`{ "a":1}`, `{"a":1}`, `1-2 `},
	} {
		var got []string
		for _, e := range editsOf(&replay.Sent{Original: []byte(c.old), Args: []byte(c.sent)}) {
			got = append(got, fmt.Sprintf("%d-%d %s", e.Start, e.End, e.To))
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s to %s: %s, want %s", c.old, c.sent, strings.Join(got, "|"), c.want)
		}
	}
}

// TestNotes checks that refusals come first, followed by the losses, the worst first.
func TestNotes(t *testing.T) {
	lossKind := func(code string, s replay.Severity) *replay.Kind {
		return &replay.Kind{Diagnosis: &stream.Diagnosis{Code: code}, Severity: s}
	}
	p := &replay.Preview{Refused: "no \x1b such id", Acceptance: replay.Acceptance{Verdict: replay.Refused, By: replay.Rule}, Body: [][]byte{nil}, Losses: []replay.Loss{
		{Kind: lossKind("A", replay.Low), Message: "low"}, {Kind: lossKind("B", replay.Critical), Message: "worst\u202e", Call: 2}, {Kind: lossKind("C", replay.Low), Message: "low too"},
	}}
	for _, c := range []struct {
		scope replay.Scope
		width int
		codes bool
		want  string
	}{
		{replay.OneCall, 60, false, "!! refused rule: no ␛ such id/!! worst⟨U+202E⟩/i  low/i  low too"},
		{replay.OneCall, 60, true, "!! refused rule: no ␛ such id/!! worst⟨U+202E⟩  B/i  low  A/i  low too  C"},
		{replay.WholeTurn, 60, false, "!! refused rule: no ␛ such id/!! call 2: worst⟨U+202E⟩/i  low/i  low too"},
		{replay.OneCall, 20, false, "!! refused rule:/   no ␛ such id/!! worst⟨U+202E⟩/i  low/i  low too"},
	} {
		var got []string
		for _, n := range LossNotes(p, c.scope, c.width, c.codes, display.Drawer{}) {
			got = append(got, n.Text.String())
		}
		if strings.Join(got, "/") != c.want {
			t.Errorf("%s", strings.Join(got, "/"))
		}
	}
	for range 2 * maxNotes {
		p.Losses = append(p.Losses, replay.Loss{Kind: lossKind("D", replay.Info)})
	}
	notes := LossNotes(p, replay.OneCall, 60, false, display.Drawer{})
	if last := notes[len(notes)-1].Text; len(notes) != maxNotes+2 || last != display.Lit("   and 203 more") {
		t.Errorf("%d notes, the last is %s", len(notes), last)
	}
	if notes = LossNotes(&replay.Preview{Body: [][]byte{nil}}, replay.OneCall, 60, false, display.Drawer{}); len(notes) != 1 || notes[0].Text != display.Lit("   nothing is lost") {
		t.Errorf("%v", notes)
	}
}
