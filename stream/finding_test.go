package stream

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sealedWith returns the events of a call with these deltas, and its seal.
func sealedWith(deltas ...string) []Event {
	events := []Event{opened(0, "id", "f")}
	for _, d := range deltas {
		events = append(events, args(0, d))
	}
	return append(events, sealed(0))
}

// findingCases are conversations and all of their findings: place, code, severity, number of the event and
// offset in the arguments.
var findingCases = []struct {
	name   string
	events []Event
	want   []string
}{
	// No findings: a false alarm is a bug.
	{"ordinary", append(sealedWith(``, `{"a":`, `"x\u00e9"}`), finish(FinishDone, "tool_use"), closed(CloseEnd)), nil},
	{"no arguments", append(sealedWith(``), closed(CloseEnd)), nil},
	{"nothing after the seal", append(sealedWith(`{}`), args(0, ``)), nil},
	{"sealed twice", append(sealedWith(`{}`), sealed(0)), nil},
	{"ended, never sealed", []Event{opened(0, "id", "f"), args(0, `{}`), closed(CloseEnd)}, nil},
	{"id repeated by every delta", []Event{opened(0, "id", "f"), named(0, "id", "f"), named(0, "id", "f")}, nil},
	{"one call after another", []Event{opened(0, "1", "f"), args(0, `{}`), sealed(0), opened(1, "2", "g"), args(1, `{}`)}, nil},
	{"emoji in halves", sealedWith("{\"a\":\"\xed\xa0\xbd", "\xed\xb8\x80\"}"), nil},
	{"a nested object begins like the whole", sealedWith(`{"filter":`, `{"filter":1}`, `}`), nil},
	{"free text that repeats itself", []Event{custom(0, "f"), args(0, `{`), args(0, `{x`), sealed(0)}, nil},

	{"slot used again after the seal", []Event{opened(0, "1", "f"), args(0, `{}`), sealed(0), opened(0, "2", "g")}, nil},

	// The order of events.
	{"delta of an unknown slot", []Event{args(0, `{`)}, []string{"turn PROTOCOL_VIOLATION error #0"}},
	{"seal of an unknown slot", []Event{sealed(0)}, []string{"turn PROTOCOL_VIOLATION error #0"}},
	{"many events of unknown slots", []Event{args(0, `{`), args(1, `{`), sealed(2), closed(CloseEnd)}, []string{"turn PROTOCOL_VIOLATION error #0"}},
	{"bytes after the seal", append(sealedWith(`{}`), args(0, `{}`), args(0, `{}`)), []string{"call 1 PROTOCOL_VIOLATION error #3"}},
	{"slot opened again", []Event{opened(0, "1", "f"), opened(0, "2", "g")}, []string{"call 2 PROTOCOL_VIOLATION error #1"}},
	{"interleaved", []Event{opened(0, "1", "f"), opened(1, "2", "g"), args(0, `{`), args(1, `{`), args(0, `"`), args(1, `"`), args(0, `a`)},
		[]string{"call 1 INTERLEAVED info #4", "call 2 INTERLEAVED info #5"}},

	// Names and ids.
	{"no name", []Event{opened(0, "id", ""), args(0, `{}`), sealed(0), closed(CloseEnd)}, []string{"call 1 NAME_MISSING error #3"}},
	{"escape in a name", []Event{opened(0, "id", "f\x1b[2J")}, []string{"call 1 HIDDEN_CHARACTERS warn #0"}},
	{"zero width in an id", []Event{opened(0, "a\u200bb", "f"), named(0, "a\u200bb", "f")}, []string{"call 1 HIDDEN_CHARACTERS warn #0"}},
	{"markup in a name", []Event{opened(0, "id", "f<arg_key>a"), named(0, "", "")}, []string{"call 1 NAME_MARKUP warn #0"}},
	{"markup in a late name", []Event{opened(0, "id", ""), named(0, "", "f[ARGS]")}, []string{"call 1 NAME_MARKUP warn #1"}},
	{"signs in a name that are not markup", []Event{opened(0, "id", "mcp__a.b:f[1]/g|h")}, nil},
	{"bidi in a late name", []Event{opened(0, "id", ""), named(0, "", "\u202ef")}, []string{"call 1 HIDDEN_CHARACTERS warn #1"}},
	{"same id", []Event{opened(0, "id", "f"), opened(1, "id", "g")}, []string{"call 2 ID_DUP warn #1"}},
	{"same late id", []Event{opened(0, "id", "f"), opened(1, "", "g"), named(1, "id", "")}, []string{"call 2 ID_DUP warn #2"}},
	{"same call again", []Event{opened(0, "id", "f"), args(0, `{}`), sealed(0), opened(1, "id", "f"), args(1, `{}`), sealed(1)},
		[]string{"call 2 ID_DUP warn #3", "call 2 CALL_REPEATED warn #5"}},
	{"same id with other arguments", []Event{opened(0, "id", "f"), args(0, `{}`), sealed(0), opened(1, "id", "f"), args(1, `{"a":1}`), sealed(1)},
		[]string{"call 2 ID_DUP warn #3"}},
	{"same id in the next turn", []Event{opened(0, "call_0", "f"), inTurn(1, opened(0, "call_0", "f"))}, []string{"call 1 ID_DUP_ACROSS_TURNS info #1"}},

	// Findings about bytes as they arrive.
	{"broken", []Event{opened(0, "id", "f"), args(0, `{"a":`), args(0, `1,}`), args(0, `x`)}, []string{"call 1 ARGS_BROKEN error #2 @7"}},
	{"trailing", sealedWith(`{"a":1}`, `}`), []string{"call 1 ARGS_TRAILING error #2 @7", "call 1 EARLY_WRONG warn #3 @7"}},
	{"trailing half pair", sealedWith("{}\xed\xa0\xbd"), []string{"call 1 ARGS_TRAILING error #2 @2", "call 1 ARGS_BAD_UTF8 warn #2 @2", "call 1 EARLY_WRONG warn #2 @2"}},
	{"replaced by something shorter", []Event{opened(0, "id", "f"), args(0, `{"a":100}`), {Kind: Rewrite, Text: `{}`}, sealed(0)}, nil},
	{"broken, replaced by something shorter", []Event{opened(0, "id", "f"), args(0, `{"a":x`), {Kind: Rewrite, Text: `{}`}, sealed(0)}, []string{"call 1 ARGS_BROKEN error #1"}},
	{"broken, replaced by something that is too", []Event{opened(0, "id", "f"), args(0, `{"a":x`), {Kind: Rewrite, Text: `{x`}, sealed(0)},
		[]string{"call 1 ARGS_BROKEN error #1", "call 1 ARGS_BROKEN error #2 @1"}},
	{"missing brace", sealedWith(`{"a":1`, `{"a":2}`), []string{"call 1 ARGS_MISSING_BRACE error #2 @6"}},
	{"missing comma in a list", sealedWith(`{"a":[{}{}]}`), []string{"call 1 ARGS_BROKEN error #1 @8"}},
	{"cumulative", sealedWith(`{"a`, `{"a":1`, `{"a":1}`), []string{"call 1 ARGS_CUMULATIVE warn #2"}},
	{"cumulative where a value is due", sealedWith(`{"a":`, `{"a":1}`), []string{"call 1 ARGS_CUMULATIVE warn #2"}},

	// Findings about bytes that are final.
	{"concat", sealedWith(`{"a":1}`, `{"b":2}`), []string{"call 1 ARGS_CONCAT error #3 @7", "call 1 EARLY_WRONG warn #3 @7"}},
	{"concat, the second unfinished", sealedWith(`{"a":1}{"b`), []string{"call 1 ARGS_CONCAT error #2 @7"}},
	{"placeholder", sealedWith(`{}`, `{"a":1}`), []string{"call 1 ARGS_PLACEHOLDER_PREFIX warn #3 @2", "call 1 EARLY_WRONG warn #3 @2"}},
	{"sent twice", sealedWith(`{"a"`, `:1}`, `{"a":1}`), []string{"call 1 ARGS_FINAL_DUP warn #4 @7", "call 1 EARLY_WRONG warn #4 @7"}},
	{"double", sealedWith(`"{\"a\":1}"`), []string{"call 1 ARGS_DOUBLE warn #2 @0"}},
	{"double, a list", sealedWith(` "[1]"`), []string{"call 1 ARGS_DOUBLE warn #2 @0"}},
	{"a string that only looks double", sealedWith(`"{\"a\""`), []string{"call 1 ARGS_NOTOBJECT warn #2 @0"}},
	{"list", sealedWith(`[1]`), []string{"call 1 ARGS_NOTOBJECT warn #2 @0"}},
	{"number", sealedWith(`12`), []string{"call 1 ARGS_NOTOBJECT warn #2 @0"}},
	{"a character cut in two", sealedWith("{\"a\":\"\uFFFD", "\uFFFD\"}"), []string{"call 1 CHARACTER_CUT warn #2 @6"}},
	{"a replaced character, not at a border", sealedWith("{\"a\":\"x\uFFFDy", "\"}"), nil},
	{"a broken escape", sealedWith(`{"a":"`, `caf\u0000e9"}`), []string{"call 1 ESCAPE_BROKEN info #3 @9"}},
	{"NUL without hex digits", sealedWith(`{"a":"x\u0000 e9\\u0000e9"}`), nil},
	{"markup before the arguments", sealedWith(`[ARGS]{"a":1}`), []string{"call 1 ARGS_MARKUP error #2 @0"}},
	{"a command with entities", sealedWith(`{"a":1,"command":"cd x &amp;&amp; ls"}`), []string{"call 1 HTML_ESCAPED info #2 @17"}},
	{"a command with quotes as entities", sealedWith(`{"cmd": "echo &quot;a&quot;"}`), []string{"call 1 HTML_ESCAPED info #2 @8"}},
	{"a command about an entity", sealedWith(`{"command":"grep '&quot;a&quot;' x"}`), nil},
	{"a command with both", sealedWith(`{"command":"ls && echo a &amp;&amp; b"}`), nil},
	{"entities in another value", sealedWith(`{"text":"a &amp;&amp; b"}`), nil},
	{"markup at the end of a value", sealedWith(`{"a":"x</arg_value>","b":1}`), []string{"call 1 ARGS_MARKUP info #2 @7"}},
	{"cut and escaped markup at the end of a value", sealedWith(`{"a":"x</\uff5cDSML\uff5cparameter"}`), []string{"call 1 ARGS_MARKUP info #2 @7"}},
	{"markup with its opening tag", sealedWith(`{"a":"<arg_value>x</arg_value>"}`), nil},
	{"markup within a value", sealedWith(`{"a":"x</arg_value> is a tag"}`), nil},
	{"markup at the end of a key", sealedWith(`{"x</arg_key>":1}`), nil},
	{"markup after the arguments", sealedWith(`{"a":1}`, `</tool_call>`), []string{"call 1 ARGS_MARKUP error #3 @7", "call 1 EARLY_WRONG warn #3 @7"}},
	{"a list before the arguments is not markup", sealedWith(`[ARG]{"a":1}`), []string{"call 1 ARGS_BROKEN error #1 @1"}},
	{"not UTF-8", sealedWith("{\"é\":\"\xff\"}"), []string{"call 1 ARGS_BAD_UTF8 warn #2 @7"}},
	{"not UTF-8 from the first byte on", sealedWith("\xff{}"), []string{"call 1 ARGS_BROKEN error #1 @0", "call 1 ARGS_BAD_UTF8 warn #2 @0"}},
	{"lone half pair", sealedWith("{\"a\":\"\xed\xa0\xbd\"}"), []string{"call 1 ARGS_BAD_UTF8 warn #2 @6"}},
	{"empty key", sealedWith(`{ "":{}}`), []string{"call 1 EMPTY_KEY warn #2 @2"}},
	{"parallel wrapper", []Event{opened(0, "id", "multi_tool_use.parallel"), args(0, `{"tool_uses":[{"recipient_name":"functions.f","parameters":{}}]}`), sealed(0)},
		[]string{"call 1 PARALLEL_WRAPPER warn #2"}},

	// Calls that are cut off.
	{"cut by a limit", []Event{opened(0, "id", "f"), args(0, `{"a`), finish(FinishCut, "length")}, []string{"call 1 ARGS_CUT error #2 @3"}},
	{"cut before the first byte", []Event{opened(0, "id", "f"), finish(FinishCut, "length")}, []string{"call 1 ARGS_CUT error #1 @0"}},
	{"cut by a limit and refused", []Event{opened(0, "id", "f"), args(0, `{"a`), finish(FinishCut, "length"), finish(FinishRefused, "refusal")}, []string{"call 1 ARGS_CUT error #2 @3"}},
	{"cut by the end", []Event{opened(0, "id", "f"), args(0, `{"a`), closed(CloseEnd)}, []string{"call 1 ARGS_CUT error #2 @3"}},
	{"cut by an error", []Event{opened(0, "id", "f"), args(0, `{"a`), failure("overloaded_error", "later")},
		[]string{"call 1 ARGS_CUT error #2 @3", "turn PROVIDER_ERROR error #2"}},
	{"cut, but called done", append(sealedWith(`{"a`), finish(FinishDone, "tool_calls"), closed(CloseEnd)), []string{"call 1 FIN_CONTRADICTED error #3"}},
	{"cut, but sealed", append(sealedWith(`{"a`), closed(CloseEnd)), []string{"call 1 FIN_CONTRADICTED error #3"}},

	// Findings that are not about one call, and duplicate keys.
	{"a key twice", sealedWith(`{"a":1,"b":{"a":2},"c":[{"a":1},{"a":1}],"\u0061":3}`), []string{"call 1 DUP_KEYS warn #2 @41"}},
	{"no terminator", []Event{{Kind: TurnClose, Code: CloseCut, Text: "the bytes end"}}, []string{"turn NO_TERMINATOR error #0"}},
	{"no terminator after an error", []Event{{Kind: Failure, Text: "x"}, {Kind: TurnClose, Code: CloseCut, Text: "the bytes end"}},
		[]string{"turn PROVIDER_ERROR error #0"}},
	{"the client disconnected", []Event{opened(0, "id", "f"), args(0, `{"a`), closedBy(Client)}, []string{"call 1 ARGS_CUT info #2 @3", "turn CLIENT_GONE info #2"}},
	{"the connection was reset", []Event{opened(0, "id", "f"), args(0, `{"a`), closedBy(Network)}, []string{"call 1 ARGS_CUT error #2 @3", "turn CONNECTION_LOST error #2"}},
	{"our own limit", []Event{opened(0, "id", ""), closedBy(Toolscope)}, []string{"call 1 ARGS_CUT warn #1 @0", "turn STOPPED_HERE warn #1"}},
	{"no model ends a response", []Event{closedBy(Model)}, []string{"turn NO_TERMINATOR error #0"}},
	{"the request was refused", []Event{{Kind: Failure, Text: "no", What: &FailureInfo{Refusal: &Refusal{Status: 400}}}}, []string{"turn REQUEST_REFUSED error #0"}},
	{"refused, and the cause is found", []Event{{Kind: Failure, Text: "no", What: &FailureInfo{Refusal: &Refusal{Status: 400, Fits: "ORPHAN_CALL"}}}},
		[]string{"turn REQUEST_REFUSED info #0"}},
	{"nobody answered", []Event{{Kind: Failure, Text: "refused", What: &FailureInfo{Code: "502", By: Network}}}, []string{"turn NO_ANSWER error #0"}},
	{"bytes were missed", []Event{opened(0, "id", "f"), sealed(0), opened(1, "id2", "g"), gap(9), args(1, `x`), args(2, `}`), sealed(1), closed(CloseUnseen)},
		[]string{"call 2 RECORD_GAP warn #3", "call 3 RECORD_GAP warn #5", "turn RECORD_GAP warn #3"}},
	{"bytes were missed twice", []Event{gap(9), opened(0, "id", "f"), args(0, `x`), gap(3), args(0, `y`)}, []string{"call 1 RECORD_GAP warn #1", "turn RECORD_GAP warn #0"}},
	{"frame fault", []Event{{Kind: Fault, Text: "no JSON"}}, []string{"turn FRAME_UNDECODABLE error #0"}},
	{"frame fault before any turn", []Event{inTurn(NoTurn, Event{Kind: Fault, Text: "no JSON"})}, []string{"session FRAME_UNDECODABLE error #0"}},
	{"a dialect's own", []Event{opened(0, "id", "f"),
		{Kind: Found, Slot: 0, What: &Finding{Diagnosis: &Diagnosis{Code: "A"}, Severity: Warn, Event: 99, Offset: 5}},
		{Kind: Found, Slot: NoSlot, What: &Finding{Diagnosis: &Diagnosis{Code: "B"}, Severity: Info, Event: 99, Offset: NoOffset}},
		{Kind: Found, Slot: 7, What: &Finding{Diagnosis: &Diagnosis{Code: "C"}, Severity: Info, Event: 99, Offset: NoOffset}},
		inTurn(NoTurn, Event{Kind: Found, What: &Finding{Diagnosis: &Diagnosis{Code: "D"}, Severity: Info, Event: 99, Offset: NoOffset}}),
	}, []string{"call 1 A warn #1 @5", "turn B info #2", "turn C info #3", "session D info #4"}},
}

func TestFindings(t *testing.T) {
	for _, c := range findingCases {
		if diff := cmp.Diff(c.want, findingLines(fold(c.events...))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestFindingMessages(t *testing.T) {
	for _, c := range []struct {
		events []Event
		want   string
	}{
		{append(sealedWith(`{"a":"x`), finish(FinishCut, "max_tokens")), `the arguments stop after 7 bytes, inside a string: the provider's limit cut the response (max_tokens)`},
		{append(sealedWith(`{`), finish(FinishCut, "content_filter")), `the arguments stop after 1 byte: a filter cut the response (content_filter)`},
		{append(sealedWith(`{`), finish(FinishCut, "guardrail_intervened")), `the arguments stop after 1 byte: a filter cut the response (guardrail_intervened)`},
		{append(sealedWith(`{`), finish(FinishCut, "length")), `the arguments stop after 1 byte: the provider's limit cut the response (length)`},
		{append(sealedWith(`{"a`), finish(FinishCut, "length")), `the arguments stop after 3 bytes, inside a key: the provider's limit cut the response (length)`},
		{append(sealedWith(`{"a":-`), finish(FinishCut, "length")), `the arguments stop after 6 bytes, inside a number: the provider's limit cut the response (length)`},
		{append(sealedWith(`{"a":t`), finish(FinishCut, "length")), `the arguments stop after 6 bytes, inside a literal: the provider's limit cut the response (length)`},
		{append(sealedWith(`{"a":`), finish(FinishCut, "length")), `the arguments stop after 5 bytes: the provider's limit cut the response (length)`},
		{sealedWith(`{"a":，`), `not JSON from byte 5 on: expected a value, got byte 0xef`},
		{sealedWith(`{}{}{"a`), `an empty object precedes the real arguments: a placeholder was not replaced`},
		{sealedWith(`{"a":1}{}{"b`), `3 objects in one call: parallel calls were merged`},
	} {
		if got := fold(c.events...).Turn(0).Calls[0].Findings[0].Message; got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// TestFindingsAreCovered checks that every code of the fold has a case above.
func TestFindingsAreCovered(t *testing.T) {
	var all strings.Builder
	for _, c := range findingCases {
		all.WriteString(strings.Join(c.want, " ") + " ")
	}
	for _, d := range Findings {
		if !strings.Contains(all.String(), " "+d.Code+" ") {
			t.Errorf("no case for %s", d.Code)
		}
	}
}

// TestReusedIDBy checks the party at fault for a reused id: the gateway for ids in a response, and the client for ids
// in a history.
func TestReusedIDBy(t *testing.T) {
	for history, want := range map[bool]Party{false: Gateway, true: Client} {
		s := fold(Event{Kind: TurnOpen, What: &Opening{FromHistory: history}}, opened(0, "call_0", "f"),
			inTurn(1, Event{Kind: TurnOpen, What: &Opening{FromHistory: history}}), inTurn(1, opened(0, "call_0", "f")))
		found := s.Turns[1].Calls[0].Findings
		if len(found) != 1 || found[0].Diagnosis != IDDupAcrossTurns || found[0].By != want {
			t.Errorf("%+v, want it to be the %s's", found, want)
		}
	}
}

// TestHiddenBy checks the party at fault for hidden characters: the model for a name, and the provider for an id.
func TestHiddenBy(t *testing.T) {
	for want, open := range map[Party]Event{
		Model: opened(0, "id", "f\x1b"), Provider: opened(0, "id\u200b", "f"),
	} {
		found := fold(open).Turns[0].Calls[0].Findings
		if len(found) != 1 || found[0].Diagnosis != HiddenCharacters || found[0].By != want {
			t.Errorf("%+v, want it to be the %s's", found, want)
		}
	}
}

// TestNameless checks what is said about a call without a name: its arguments may belong to the call before it only if
// that call has a name but no arguments.
func TestNameless(t *testing.T) {
	for _, test := range []struct {
		name   string
		events []Event
		want   string
	}{
		{"after a call without arguments", []Event{opened(0, "1", "f"), opened(1, "", ""), args(1, `{}`)}, "the call has no name: its arguments may belong to call 1 (f), which has none"},
		{"after a call with arguments", []Event{opened(0, "1", "f"), args(0, `{}`), opened(1, "", ""), args(1, `{}`)}, "the call has no name, so its tool is unknown"},
		{"with an id of its own", []Event{opened(0, "1", "f"), opened(1, "2", ""), args(1, `{}`)}, "the call has no name, so its tool is unknown"},
		{"alone", []Event{opened(0, "", ""), args(0, `{}`)}, "the call has no name, so its tool is unknown"},
	} {
		s := new(Session)
		s.Apply(Event{Kind: TurnOpen})
		for _, e := range append(test.events, closed(CloseEnd)) {
			s.Apply(e)
		}
		calls := s.Turn(0).Calls
		for _, f := range calls[len(calls)-1].Findings {
			if f.Code == NameMissing.Code && f.Message != test.want {
				t.Errorf("%s: %q, want %q", test.name, f.Message, test.want)
			}
		}
	}
}
