package stream

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// runsOf describes the run of a call by each run rule: the outcome and the number of bytes.
func runsOf(t *Turn, c *Call) (all []string) {
	for x := range RunRule(NumRunRules) {
		r := t.RuleRun(c, x)
		line := fmt.Sprintf("%s: %s", x, r.Outcome)
		if r.Replaced {
			line += " gone"
		} else if r.Event > 0 {
			line += fmt.Sprintf(" %q", c.Args()[:r.Bytes])
		}
		all = append(all, line)
	}
	return all
}

func TestExecutors(t *testing.T) {
	for _, test := range []struct {
		what   string
		events []Event
		want   []string
	}{
		{"an ordinary call", append(sealedWith(`{"ur`, `ls":["a"]}`), finish(FinishDone, "tool_calls"), closed(CloseEnd)), []string{
			`any arguments: early wrong "{\"ur"`, `parsable: early "{\"urls\":[\"a\"]}"`, `parsable object: early "{\"urls\":[\"a\"]}"`,
			`repaired: early "{\"urls\":[\"a\"]}"`, `next call: safe "{\"urls\":[\"a\"]}"`, `finish word: safe "{\"urls\":[\"a\"]}"`,
			`seal: safe "{\"urls\":[\"a\"]}"`, `end of stream: safe "{\"urls\":[\"a\"]}"`,
		}},
		{"an object, then more", append(sealedWith(`{"query": "test"}`, ``, `, "limit": 10}`), finish(FinishDone, "stop"), closed(CloseEnd)), []string{
			`any arguments: early wrong "{\"query\": \"test\"}"`, `parsable: early wrong "{\"query\": \"test\"}"`,
			`parsable object: early wrong "{\"query\": \"test\"}"`, `repaired: early wrong "{\"query\": \"test\"}"`, `next call: broken call "{\"query\": \"test\"}, \"limit\": 10}"`, `finish word: never`,
			`seal: broken call "{\"query\": \"test\"}, \"limit\": 10}"`, `end of stream: broken call "{\"query\": \"test\"}, \"limit\": 10}"`,
		}},
		{"two objects", append(sealedWith(`{"a":1}`, `{"b":2}`), closed(CloseEnd)), []string{
			`any arguments: early wrong "{\"a\":1}"`, `parsable: twice "{\"a\":1}"`, `parsable object: twice "{\"a\":1}"`,
			`repaired: early wrong "{\"a\":1}"`, `next call: never`, `finish word: never`,
			`seal: broken call "{\"a\":1}{\"b\":2}"`, `end of stream: broken call "{\"a\":1}{\"b\":2}"`,
		}},
		{"a value cut short by a forgiving parser", []Event{opened(0, "1", "f"), args(0, `{"path":"/etc`), args(0, `/hosts"}`), {Kind: TextDelta, Text: "so"}}, []string{
			`any arguments: early wrong "{\"path\":\"/etc"`, `parsable: same so far "{\"path\":\"/etc/hosts\"}"`, `parsable object: same so far "{\"path\":\"/etc/hosts\"}"`,
			`repaired: early wrong "{\"path\":\"/etc"`, `next call: same so far "{\"path\":\"/etc/hosts\"}"`, `finish word: not yet`, `seal: not yet`, `end of stream: not yet`,
		}},
		{"calls that take turns", []Event{opened(0, "1", "f"), args(0, `{`), opened(1, "2", "g"), args(1, `{}`), args(0, `}`), sealed(0), sealed(1)}, []string{
			`any arguments: early wrong "{"`, `parsable: early "{}"`, `parsable object: early "{}"`, `repaired: early "{"`,
			`next call: early wrong "{"`, `finish word: not yet`, `seal: safe "{}"`, `end of stream: not yet`,
		}},
		{"a call that came whole in one frame", []Event{opened(0, "1", "f"), withIt(args(0, `{"a":1}`)), withIt(sealed(0))}, []string{
			`any arguments: safe "{\"a\":1}"`, `parsable: safe "{\"a\":1}"`, `parsable object: safe "{\"a\":1}"`,
			`repaired: safe "{\"a\":1}"`, `next call: not yet`, `finish word: not yet`, `seal: safe "{\"a\":1}"`, `end of stream: not yet`,
		}},
		{"cut", []Event{opened(0, "1", "f"), args(0, `{"a":1}`), closed(CloseCut)}, []string{
			`any arguments: cut call "{\"a\":1}"`, `parsable: cut call "{\"a\":1}"`, `parsable object: cut call "{\"a\":1}"`,
			`repaired: cut call "{\"a\":1}"`, `next call: never`, `finish word: never`, `seal: never`, `end of stream: cut call "{\"a\":1}"`,
		}},
		{"a call in one frame with its seal", []Event{opened(0, "1", "f"), args(0, ``), args(0, `{"a":1}`), withIt(sealed(0))}, []string{
			`any arguments: safe "{\"a\":1}"`, `parsable: safe "{\"a\":1}"`, `parsable object: safe "{\"a\":1}"`,
			`repaired: safe "{\"a\":1}"`, `next call: not yet`, `finish word: not yet`, `seal: safe "{\"a\":1}"`, `end of stream: not yet`,
		}},
		{"nothing, replaced by everything", []Event{opened(0, "1", "f"), args(0, ``), {Kind: Rewrite, Text: `{"a":2}`}, sealed(0)}, []string{
			`any arguments: early "{\"a\":2}"`, `parsable: early "{\"a\":2}"`, `parsable object: early "{\"a\":2}"`,
			`repaired: early "{\"a\":2}"`, `next call: not yet`, `finish word: not yet`, `seal: safe "{\"a\":2}"`, `end of stream: not yet`,
		}},
		{"a name behind the arguments", []Event{opened(0, "1", ""), args(0, `{"a":1}`), named(0, "", "f"), sealed(0)}, []string{
			`any arguments: early "{\"a\":1}"`, `parsable: early "{\"a\":1}"`, `parsable object: early "{\"a\":1}"`,
			`repaired: early "{\"a\":1}"`, `next call: not yet`, `finish word: not yet`, `seal: safe "{\"a\":1}"`, `end of stream: not yet`,
		}},
		{"derived arguments that changed", []Event{opened(0, "1", "f"), args(0, `{"a":1}`), {Kind: Rewrite, Text: `{"a":2}`}, sealed(0)}, []string{
			`any arguments: early wrong gone`, `parsable: early wrong gone`, `parsable object: early wrong gone`,
			`repaired: early wrong gone`, `next call: not yet`, `finish word: not yet`, `seal: safe "{\"a\":2}"`, `end of stream: not yet`,
		}},
		{"half of an object, then another one", []Event{opened(0, "1", "f"), args(0, `{"a":1`), {Kind: Rewrite, Text: `{"a":2}`}, sealed(0)}, []string{
			`any arguments: early wrong gone`, `parsable: early "{\"a\":2}"`, `parsable object: early "{\"a\":2}"`,
			`repaired: early "{\"a\":2}"`, `next call: not yet`, `finish word: not yet`, `seal: safe "{\"a\":2}"`, `end of stream: not yet`,
		}},
		{"arguments that never parse", append(sealedWith(`{"a":`, `x}`), finish(FinishDone, "tool_calls"), closed(CloseEnd)), []string{
			`any arguments: early wrong "{\"a\":"`, `parsable: refuses`, `parsable object: refuses`, "repaired: never",
			`next call: broken call "{\"a\":x}"`, `finish word: broken call "{\"a\":x}"`,
			`seal: broken call "{\"a\":x}"`, `end of stream: broken call "{\"a\":x}"`,
		}},
		{"arguments that cannot parse, so far", []Event{opened(0, "1", "f"), args(0, `x`)}, []string{
			`any arguments: same so far "x"`, `parsable: not yet`, `parsable object: not yet`, `repaired: not yet`,
			`next call: not yet`, `finish word: not yet`, `seal: not yet`, `end of stream: not yet`,
		}},
		{"JSON that is no object", append(sealedWith(`"{\"a\":1}"`), closed(CloseEnd)), []string{
			`any arguments: broken call "\"{\\\"a\\\":1}\""`, `parsable: broken call "\"{\\\"a\\\":1}\""`, `parsable object: refuses`, `repaired: never`,
			`next call: never`, `finish word: never`, `seal: broken call "\"{\\\"a\\\":1}\""`, `end of stream: broken call "\"{\\\"a\\\":1}\""`,
		}},
		{"half a literal, which forgiving parsers take for all of it", append(sealedWith(`{"deep":{"all":tr`, `ue}}`), finish(FinishCut, "length"), closed(CloseEnd)), []string{
			`any arguments: early wrong "{\"deep\":{\"all\":tr"`, `parsable: early "{\"deep\":{\"all\":true}}"`,
			`parsable object: early "{\"deep\":{\"all\":true}}"`, `repaired: early "{\"deep\":{\"all\":tr"`,
			`next call: safe "{\"deep\":{\"all\":true}}"`, `finish word: never`,
			`seal: safe "{\"deep\":{\"all\":true}}"`, `end of stream: safe "{\"deep\":{\"all\":true}}"`,
		}},
		{"half a number, which they cannot complete", sealedWith(`{"n":1`, `2}`), []string{
			`any arguments: early wrong "{\"n\":1"`, `parsable: early "{\"n\":12}"`, `parsable object: early "{\"n\":12}"`,
			`repaired: early wrong "{\"n\":1"`, `next call: not yet`, `finish word: not yet`, `seal: safe "{\"n\":12}"`, `end of stream: not yet`,
		}},
		{"a literal, then more of its object", sealedWith(`{"a":[nu`, `ll,1]}`), []string{
			`any arguments: early wrong "{\"a\":[nu"`, `parsable: early "{\"a\":[null,1]}"`, `parsable object: early "{\"a\":[null,1]}"`,
			`repaired: early wrong "{\"a\":[nu"`, `next call: not yet`, `finish word: not yet`, `seal: safe "{\"a\":[null,1]}"`, `end of stream: not yet`,
		}},
		{"a limit that nobody told of", append(sealedWith(`{"a":1,`), finish(FinishDone, "tool_calls")), []string{
			`any arguments: cut call "{\"a\":1,"`, `parsable: never`, `parsable object: never`, `repaired: cut call "{\"a\":1,"`,
			`next call: cut call "{\"a\":1,"`, `finish word: cut call "{\"a\":1,"`, `seal: cut call "{\"a\":1,"`, `end of stream: not yet`,
		}},
		{"a call that nobody said is complete", []Event{opened(0, "1", "f"), args(0, `{}`), closed(CloseEnd)}, []string{
			`any arguments: early "{}"`, `parsable: early "{}"`, `parsable object: early "{}"`, `repaired: early "{}"`,
			`next call: never`, `finish word: never`, `seal: never`, `end of stream: early "{}"`,
		}},
		{"no arguments", append(sealedWith(``), finish(FinishDone, "tool_use")), []string{
			`any arguments: never`, `parsable: never`, `parsable object: never`, `repaired: never`,
			`next call: safe ""`, `finish word: safe ""`, `seal: safe ""`, `end of stream: not yet`,
		}},
	} {
		// Every stream begins with an event that opens the turn.
		all := append([]Event{{Kind: TurnOpen, What: &Opening{}}}, test.events...)
		turn := fold(all...).Turn(0)
		if diff := cmp.Diff(test.want, runsOf(turn, turn.Calls[0])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.what, diff)
		}
	}
}

// TestSafeIsComplete checks that a run is safe only if the call is complete or has no arguments, for arguments of
// each syntax and for each ending.
func TestSafeIsComplete(t *testing.T) {
	for _, c := range statusCases {
		for _, end := range endings {
			open := opened(0, "id", end.name)
			if c.syntax == "freeform" {
				open = custom(0, end.name)
			}
			call := fold(append([]Event{{Kind: TurnOpen}, open, args(0, c.args)}, append(end.events, finish(FinishDone, "tool_use"), closed(CloseEnd))...)...).Turn(0).Calls[0]
			for x := range RunRule(NumRunRules) {
				if s := call.Status(); call.RuleRun(x).Outcome == RunSafely && s != Complete && s != NoArguments {
					t.Errorf("%s: running a call that is %s is safe by the rule %q", c.args, s, x)
				}
			}
		}
	}
}
