package present

import (
	"slices"
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/stream"
)

// calloutRows returns the sentence and the rows of a callout as text.
func calloutRows(o Callout) string {
	rows := []string{o.Sentence}
	for _, r := range o.Rows {
		rows = append(rows, r.Label+" "+r.Text)
	}
	return strings.Join(rows, "|")
}

func TestCallout(t *testing.T) {
	done := finish("tool_calls")
	const unchecked = " No schema was sent: types are not checked."
	for _, c := range []struct{ args, end, want string }{
		{`{"a":1}`, done, "Complete and valid." + unchecked},
		{``, done, "Complete, without arguments." + unchecked},
		{`{"a":1} and`, done, "The object is complete at byte 8, but 'a' follows.|cause the model|do Don't run the call with only this object.|" +
			"risk Clients that run a call when its arguments are final fail: the arguments are not JSON from byte 8."},
		{`{"a":s`, done, "Not JSON from byte 5 on: expected a value, got 's'.|cause the model|do Report the error to the model in a tool result.|" +
			"risk Clients that run a call when its arguments are final fail: the arguments are not JSON from byte 5."},
		{`{"a":"b`, finish("length"), "The arguments stop after 7 bytes, inside a string: the provider's limit cut the response (length).|cause the provider|" +
			`do Don't run the call and don't guess the missing brackets.|risk Clients that run a call after adding missing braces run {"a":"b"}.`},
		{`[1]`, done, "The arguments are JSON but not an object: Anthropic and Google refuse such arguments in a history.|cause the model|" +
			"do Refuse the call in a tool result.|risk Clients that run a call when its arguments are final fail: the arguments are not an object."},
		{`{"a":1`, "", "The arguments stop after 6 bytes: the bytes ended without the protocol's terminator.|cause the provider|" +
			`do Don't run the call and don't guess the missing brackets.|risk Clients that run a call after adding missing braces run {"a":1}.`},
		{`{"a":1,"a":2}`, done, "An object has the key \"a\" twice: most parsers keep the last value, and some keep the first.|cause the model|" +
			"do Don't check a call with one parser and run the call with another."},
	} {
		v := response(200, chat(c.args, c.end))
		turn := v.Session().Turns[0]
		o := CalloutOfCall(v, turn, turn.Calls[0], nil)
		if got := calloutRows(o); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.args, got, c.want)
		}
		if (o.Finding == nil) != (o.Verdict.Harm == Healthy) {
			t.Errorf("%s: %+v", c.args, o)
		}
	}
}

// TestCalloutOfOpenCall checks that the callout contains the size of the arguments and the required keys that are
// missing.
func TestCalloutOfOpenCall(t *testing.T) {
	var in providers.Inspector
	in.Write(stream.Record{Head: &stream.Head{Status: 200}})
	in.Write(stream.Record{Data: []byte(`{"model":"m","messages":[],"tools":[{"type":"function","function":{"name":"f","parameters":{` +
		`"type":"object","properties":{"old":{"type":"string"},"new":{"type":"string"}},"required":["old","new","mode"]}}}]}`), Request: true})
	in.Write(stream.Record{Data: []byte(chat(`{"old":"x","new"`, ""))})
	v := in.View()
	turn := v.Session().Turns[0]
	o := CalloutOfCall(v, turn, turn.Calls[0], nil)
	if want := "Still arriving: 16 B. Missing: .new .mode"; calloutRows(o) != want || o.Finding != nil {
		t.Errorf("%s, want %s", calloutRows(o), want)
	}
}

// TestCalloutAtFinding checks that a callout is about the finding that decides the verdict, and that it can be about
// any other finding.
func TestCalloutAtFinding(t *testing.T) {
	v := response(200, chat(`{"a":1,"a":2,"":3`, finish("length")))
	turn := v.Session().Turns[0]
	call := turn.Calls[0]
	worst := CalloutOfCall(v, turn, call, nil)
	if worst.Finding == nil || worst.Finding.Base() != stream.ArgsCut {
		t.Fatalf("about %+v", worst.Finding)
	}
	for i := range call.Findings {
		f := &call.Findings[i]
		if o := CalloutOfCall(v, turn, call, f); o.Finding != f || !strings.Contains(o.Row("cause"), "the ") {
			t.Errorf("%s: %s", f.Code, calloutRows(o))
		}
	}
}

// TestCountOthers checks that a callout counts the findings above info that it is not about. It doesn't count the
// finding about early runs if it has a row about the risk, which says the same.
func TestCountOthers(t *testing.T) {
	found := func(d *stream.Diagnosis, event int) stream.Finding {
		f := d.Finding("a message")
		f.Event = event
		return f
	}
	quiet := found(stream.DupKeys, 4)
	quiet.Severity = stream.Info
	call := []stream.Finding{found(stream.DupKeys, 1), found(stream.DupKeys, 2), quiet}
	turn := []stream.Finding{found(stream.EarlyWrong, 3)}
	for _, test := range []struct {
		about *stream.Finding
		risk  string
		want  int
	}{{nil, "", 3}, {&call[0], "", 2}, {&call[0], "Clients fail.", 1}, {&turn[0], "", 2}} {
		o := Callout{Finding: test.about}
		o.addRow(calloutRisk, test.risk)
		if o.countOthers(call, turn); o.More != test.want {
			t.Errorf("about %+v, risk %q: %d, want %d", test.about, test.risk, o.More, test.want)
		}
	}
}

// TestAdviceIsImperative checks that each advice begins with a verb, or reports that there is nothing to do.
func TestAdviceIsImperative(t *testing.T) {
	for _, d := range providers.Findings() {
		word := strings.Trim(strings.Fields(d.Advice)[0], ",.:")
		if slices.Contains([]string{"If", "It", "The", "This", "A", "You", "When", "There"}, word) || strings.HasSuffix(word, "s") {
			t.Errorf("%s: %q", d.Code, d.Advice)
		}
		if firstSentence(d.Advice) == "" || strings.Contains(firstSentence(d.Advice), ". ") {
			t.Errorf("%s: %q", d.Code, firstSentence(d.Advice))
		}
	}
}
