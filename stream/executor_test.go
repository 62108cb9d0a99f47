package stream

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// runsOf are what the executors do with a call: verdict and how many bytes there were.
func runsOf(c *Call) (all []string) {
	for x := range Executor(NumExecutors) {
		r := c.Run(x)
		line := fmt.Sprintf("%s: %s", x, r.Verdict)
		if r.Gone {
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
			`any arguments: early and wrong "{\"ur"`, `parsable: early "{\"urls\":[\"a\"]}"`, `parsable object: early "{\"urls\":[\"a\"]}"`,
			`repaired: early "{\"urls\":[\"a\"]}"`, `next call: never`, `finish word: safe "{\"urls\":[\"a\"]}"`,
			`seal: safe "{\"urls\":[\"a\"]}"`, `end of stream: safe "{\"urls\":[\"a\"]}"`,
		}},
		{"an object, then more", append(sealedWith(`{"query": "test"}`, ``, `, "limit": 10}`), finish(FinishDone, "stop"), closed(CloseEnd)), []string{
			`any arguments: early and wrong "{\"query\": \"test\"}"`, `parsable: early and wrong "{\"query\": \"test\"}"`,
			`parsable object: early and wrong "{\"query\": \"test\"}"`, `repaired: early and wrong "{\"query\": \"test\"}"`, `next call: never`, `finish word: never`,
			`seal: safe "{\"query\": \"test\"}, \"limit\": 10}"`, `end of stream: safe "{\"query\": \"test\"}, \"limit\": 10}"`,
		}},
		{"two objects", append(sealedWith(`{"a":1}`, `{"b":2}`), closed(CloseEnd)), []string{
			`any arguments: early and wrong "{\"a\":1}"`, `parsable: twice "{\"a\":1}"`, `parsable object: twice "{\"a\":1}"`,
			`repaired: early and wrong "{\"a\":1}"`, `next call: never`, `finish word: never`,
			`seal: safe "{\"a\":1}{\"b\":2}"`, `end of stream: safe "{\"a\":1}{\"b\":2}"`,
		}},
		{"a value cut short by a forgiving parser", []Event{opened(0, "1", "f"), args(0, `{"path":"/etc`), args(0, `/hosts"}`), {Kind: TextDelta, Text: "so"}}, []string{
			`any arguments: early and wrong "{\"path\":\"/etc"`, `parsable: not yet "{\"path\":\"/etc/hosts\"}"`, `parsable object: not yet "{\"path\":\"/etc/hosts\"}"`,
			`repaired: early and wrong "{\"path\":\"/etc"`, `next call: not yet "{\"path\":\"/etc/hosts\"}"`, `finish word: not yet`, `seal: not yet`, `end of stream: not yet`,
		}},
		{"calls that take turns", []Event{opened(0, "1", "f"), args(0, `{`), opened(1, "2", "g"), args(1, `{}`), args(0, `}`), sealed(0), sealed(1)}, []string{
			`any arguments: early and wrong "{"`, `parsable: early "{}"`, `parsable object: early "{}"`, `repaired: never`,
			`next call: early and wrong "{"`, `finish word: never`, `seal: safe "{}"`, `end of stream: never`,
		}},
		{"a call that came whole in one frame", []Event{opened(0, "1", "f"), withIt(args(0, `{"a":1}`)), withIt(sealed(0))}, []string{
			`any arguments: safe "{\"a\":1}"`, `parsable: safe "{\"a\":1}"`, `parsable object: safe "{\"a\":1}"`,
			`repaired: safe "{\"a\":1}"`, `next call: never`, `finish word: never`, `seal: safe "{\"a\":1}"`, `end of stream: never`,
		}},
		{"cut", []Event{opened(0, "1", "f"), args(0, `{"a":1}`), closed(CloseCut)}, []string{
			`any arguments: runs a cut call "{\"a\":1}"`, `parsable: runs a cut call "{\"a\":1}"`, `parsable object: runs a cut call "{\"a\":1}"`,
			`repaired: runs a cut call "{\"a\":1}"`, `next call: never`, `finish word: never`, `seal: never`, `end of stream: runs a cut call "{\"a\":1}"`,
		}},
		{"a call in one frame with its seal", []Event{opened(0, "1", "f"), args(0, ``), args(0, `{"a":1}`), withIt(sealed(0))}, []string{
			`any arguments: safe "{\"a\":1}"`, `parsable: safe "{\"a\":1}"`, `parsable object: safe "{\"a\":1}"`,
			`repaired: safe "{\"a\":1}"`, `next call: never`, `finish word: never`, `seal: safe "{\"a\":1}"`, `end of stream: never`,
		}},
		{"nothing, replaced by everything", []Event{opened(0, "1", "f"), args(0, ``), {Kind: Rewrite, Text: `{"a":2}`}, sealed(0)}, []string{
			`any arguments: early "{\"a\":2}"`, `parsable: early "{\"a\":2}"`, `parsable object: early "{\"a\":2}"`,
			`repaired: early "{\"a\":2}"`, `next call: never`, `finish word: never`, `seal: safe "{\"a\":2}"`, `end of stream: never`,
		}},
		{"a name behind the arguments", []Event{opened(0, "1", ""), args(0, `{"a":1}`), named(0, "", "f"), sealed(0)}, []string{
			`any arguments: early "{\"a\":1}"`, `parsable: early "{\"a\":1}"`, `parsable object: early "{\"a\":1}"`,
			`repaired: early "{\"a\":1}"`, `next call: never`, `finish word: never`, `seal: safe "{\"a\":1}"`, `end of stream: never`,
		}},
		{"derived arguments that changed", []Event{opened(0, "1", "f"), args(0, `{"a":1}`), {Kind: Rewrite, Text: `{"a":2}`}, sealed(0)}, []string{
			`any arguments: early and wrong gone`, `parsable: early and wrong gone`, `parsable object: early and wrong gone`,
			`repaired: early "{\"a\":2}"`, `next call: never`, `finish word: never`, `seal: safe "{\"a\":2}"`, `end of stream: never`,
		}},
	} {
		// An event before all, as every stream has: the turn that opens.
		all := append([]Event{{Kind: TurnOpen, More: &Detail{}}}, test.events...)
		if diff := cmp.Diff(test.want, runsOf(fold(all...).Turn(0).Calls[0])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.what, diff)
		}
	}
}
