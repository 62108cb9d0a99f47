package panes

import (
	"testing"

	"toolscope/stream"
)

// growingCall returns a call that has these arguments so far.
func growingCall(args string) *stream.Call {
	s := new(stream.Session)
	for _, e := range []stream.Event{{Kind: stream.TurnOpen}, {Kind: stream.CallOpen, What: &stream.CallInfo{ID: "a", Name: "f"}}, {Kind: stream.Args, Text: args}} {
		s.Apply(e)
	}
	return s.Turns[0].Calls[0]
}

// TestTailPath checks the path at which a call grows. The path is computed from the call's last tokens.
func TestTailPath(t *testing.T) {
	for args, want := range map[string]string{
		"": "", "{": "", `{"a":`: ".a", `{"a":1`: ".a", `{"a":1,`: "", `{"a":1,"b":[`: ".b[0]", `{"a":[1,{"x":2},{"y":[[`: ".a[2].y[0][0]",
		`{"edits":[{"old":"x","new":"y"},{"old":"`: ".edits[1].old", `{"a":{"b":1},"c":"`: ".c", `{"a":1}`: "", `[1,2,"x`: "[2]", `{"a\u0062":"`: ".ab",
	} {
		if got := TailPath(growingCall(args)); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// TestPathAt checks the path at which the arguments continue after a byte.
func TestPathAt(t *testing.T) {
	for _, test := range []struct {
		args string
		off  int
		want string
	}{
		{`{"query":"test","limit":10}`, 15, "$.limit"}, {`{"path":"/etc/hosts"}`, 13, "$.path"}, {`{"a":[1,22]}`, 9, "$.a[1]"},
		{`{"a":{"b":[{"c":true}]},"d":0}`, 19, "$.a.b[0].c"}, {`{"a":1}`, 6, "$"}, {`[1,[2,3]]`, 6, "$[1][1]"},
	} {
		if got := pathAt(growingCall(test.args), test.off); got != test.want {
			t.Errorf("%s from byte %d: %q, want %q", test.args, test.off, got, test.want)
		}
	}
}
