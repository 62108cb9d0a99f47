package mcp

import (
	"testing"
	"time"

	"toolscope/stream"
)

// TestShell checks that a shell command is read as a request, and its end as the response.
func TestShell(t *testing.T) {
	const ms = time.Millisecond
	ask := stream.Record{Exchange: 1, At: ms, Request: true, Data: []byte("echo \"hi\"\n"), Head: &stream.Head{Method: Shell, URL: "shell:Bash"}}
	for _, test := range []struct {
		name, state, exit, err string
		end                    stream.Record
		failed                 bool
		took                   time.Duration
	}{
		{name: "well", state: "done", end: stream.Record{At: 5 * ms, End: true}, took: 4 * ms},
		{name: "badly", state: "done", exit: "exit status 7", failed: true, end: stream.Record{At: 5 * ms, End: true, Why: "exit status 7", By: "client"}, took: 4 * ms},
		{name: "not at all", state: "refused", err: "no such shell", end: stream.Record{At: 5 * ms, End: true, Why: "no such shell", By: "toolscope"}, took: 4 * ms},
		{name: "unseen", state: "unknown", end: stream.Record{At: stream.NoTime, End: true, Why: "the recording ends", By: "toolscope"}, took: -1},
		{name: "not yet", state: "no answer", end: stream.Record{At: 5 * ms}, took: -1},
	} {
		l := new(Log)
		l.Begin(1, ask.Head)
		l.Write(&ask, 3)
		test.end.Exchange = 1
		l.Write(&test.end, 4)
		if len(l.Requests) != 1 || len(l.Servers) != 1 || !l.Servers[0].Shell {
			t.Fatalf("%s: %+v", test.name, l)
		}
		r := l.Requests[0]
		if !r.IsCall() || !r.Shell() || r.Tool != "Bash" || string(r.Args) != `{"command":"echo \"hi\"\n"}` || r.CallID != "" {
			t.Errorf("%s: %+v", test.name, r)
		}
		if r.State.String() != test.state || r.Exit != test.exit || r.Error != test.err || r.Failed != test.failed || r.Duration() != test.took {
			t.Errorf("%s: %s %q %q %v in %v", test.name, r.State, r.Exit, r.Error, r.Failed, r.Duration())
		}
		if then := r.AsOf(3); then == nil || then.State == Done || then.Exit != "" {
			t.Errorf("%s: it was %+v before its end", test.name, then)
		}
	}
}

// TestShellGap checks that a command with missing bytes has no arguments.
func TestShellGap(t *testing.T) {
	l := new(Log)
	h := &stream.Head{Method: Shell, URL: "shell:Bash"}
	l.Begin(1, h)
	l.Write(&stream.Record{Exchange: 1, Request: true, Head: h, Data: []byte("rm"), Lost: 3}, 0)
	if r := l.Requests[0]; r.Args != nil || l.Servers[0].Gaps != 3 {
		t.Errorf("%+v", r)
	}
}
