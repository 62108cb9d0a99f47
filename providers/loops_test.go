package providers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/stream"
)

// toolStep is a call with its result, or a user message.
type toolStep struct {
	call, args, result string
	failed             bool
	written            string // what the model wrote of the arguments before the connection was lost; "" if it wrote all
	user               string
}

// playSteps plays a conversation in which each request sends back all earlier steps. It returns the findings
// with a code about calls.
func playSteps(code string, steps []toolStep) (found []stream.Finding) {
	messages := []string{`{"role":"user","content":"begin"}`}
	var exchanges []asked
	for i, s := range steps {
		if s.user != "" {
			messages = append(messages, model(`{"type":"text","text":"done"}`), fmt.Sprintf(`{"role":"user","content":%q}`, s.user))
			continue
		}
		call := fmt.Sprintf(`{"type":"tool_use","id":"toolu_s%03d","name":%q,"input":%s}`, i, s.call, s.args)
		answer := portsAnswer("tool_use", call)
		if s.written != "" {
			answer = "data: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-opus-4-1\"}}\n\n" + fmt.Sprintf(
				"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_s%03d\",\"name\":%q,\"input\":{}}}\n\n"+
					"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":%q}}\n\n", i, s.call, s.written)
		}
		exchanges = append(exchanges, asked{portsRequest(messages...), answer, 200})
		messages = append(messages, model(call), fmt.Sprintf(
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_s%03d","content":%q,"is_error":%t}]}`, i, s.result, s.failed))
	}
	exchanges = append(exchanges, asked{portsRequest(messages...), portsAnswer("end_turn", `{"type":"text","text":"bye"}`), 200})
	in, _ := play(otherHost, exchanges...)
	for _, t := range in.Session().Turns {
		for _, c := range t.Calls {
			for _, f := range c.Findings {
				if f.Code == code {
					found = append(found, f)
				}
			}
		}
	}
	return found
}

// repeat returns steps n times. %d in their texts is replaced with the number of the round.
func repeat(n int, steps ...toolStep) (all []toolStep) {
	for i := range n {
		for _, s := range steps {
			s.args, s.result = strings.ReplaceAll(s.args, "%d", fmt.Sprint(i)), strings.ReplaceAll(s.result, "%d", fmt.Sprint(i))
			all = append(all, s)
		}
	}
	return all
}

// TestLoop checks that rounds of the same calls with the same results are a loop. Calls that wait, or whose
// results differ, are not a loop.
func TestLoop(t *testing.T) {
	build := toolStep{call: "shell", args: `{"command":"ninja -C out"}`, result: "ninja: error: loading build.ninja", failed: true}
	read := toolStep{call: "open_file", args: `{"path":"notes/plan.txt"}`, result: "a plan with several lines of text"}
	grep := toolStep{call: "search", args: `{"text":"TODO"}`, result: "no file has this text, in 12 files"}
	with := func(s toolStep, change func(*toolStep)) toolStep {
		change(&s)
		return s
	}
	for _, test := range []struct {
		name  string
		steps []toolStep
		want  string // severity, number of rounds and period of each finding
	}{
		{"fails twice", repeat(2, build), ""},
		{"fails 3 times", repeat(3, build), "warn 3/1"},
		{"fails 9 times, reported once", repeat(9, build), "warn 3/1"},
		{"says error", repeat(3, with(build, func(s *toolStep) { s.failed, s.result = false, "Error: no such target" })), "warn 3/1"},
		{"exit code", repeat(3, with(build, func(s *toolStep) { s.failed, s.result = false, "Exit code 2\nstopped" })), "warn 3/1"},
		{"errors with times", repeat(3, with(build, func(s *toolStep) { s.result = "failed after %d.5 s at 2026-02-03T10:00:0%d" })), "warn 3/1"},
		{"reads 3 times", repeat(3, read), "info 3/1"},
		{"reads 6 times", repeat(6, read), "info 3/1, warn 5/1"},
		{"arguments in another order", slices.Concat(repeat(1, with(build, func(s *toolStep) { s.args = `{"command":"ninja","jobs":2}` })),
			repeat(1, with(build, func(s *toolStep) { s.args = `{ "jobs": 2, "command": "ninj\u0061" }` })),
			repeat(1, with(build, func(s *toolStep) { s.args = `{"command":"ninja","jobs":2.0}` }))), "warn 3/1"},
		{"another value", slices.Concat(repeat(2, with(build, func(s *toolStep) { s.args = `{"command":"ninja","jobs":2}` })),
			repeat(1, with(build, func(s *toolStep) { s.args = `{"jobs":"2","command":"ninja"}` }))), ""},
		{"a list in another order", slices.Concat(repeat(2, with(build, func(s *toolStep) { s.args = `{"command":["a","b"]}` })),
			repeat(1, with(build, func(s *toolStep) { s.args = `{"command":["b","a"]}` }))), ""},
		{"two calls", repeat(3, read, grep), "info 3/2"},
		{"two calls, both fail", repeat(3, build, with(grep, func(s *toolStep) { s.failed = true })), "warn 3/2"},
		{"three calls", repeat(5, read, grep, build), "info 3/3, warn 5/3"},
		{"two loops", slices.Concat(repeat(3, build), repeat(1, read), repeat(3, build)), "warn 3/1, warn 3/1"},
		{"a short text 8 times", repeat(8, with(read, func(s *toolStep) { s.result = "still empty" })), "info 8/1"},
		{"waits 10 times in vain", repeat(10, with(build, func(s *toolStep) { s.call = "job_status" })), "warn 10/1"},

		{"Gemini CLI: exit code", repeat(3, with(build, func(s *toolStep) {
			s.failed, s.result = false, "<untrusted_context>\nOutput: no rule\nExit Code: 2\nProcess Group PGID: 71%d\n</untrusted_context>"
		})), "warn 3/1"},
		{"Gemini CLI: no exit code", repeat(3, with(build, func(s *toolStep) {
			s.failed, s.result = false, "<untrusted_context>\nOutput: up to date\nProcess Group PGID: 71%d\n</untrusted_context>"
		})), "info 3/1"},
		{"Qwen Code", repeat(3, with(build, func(s *toolStep) {
			s.failed, s.result = false, "Command: ninja\nOutput: no rule\nError: (none)\nExit Code: 1\nSignal: 0\nProcess Group PGID: 71%d"
		})), "warn 3/1"},
		{"Codex: script", repeat(3, with(build, func(s *toolStep) {
			s.failed, s.result = false, "Script completed\nWall time 0.%d seconds\nOutput:\nno rule\n"
		})), "info 3/1"},
		{"Codex: command", repeat(3, with(build, func(s *toolStep) {
			s.failed, s.result = false, "Chunk ID: 3fa%d\nWall time: 0.%d021 seconds\nProcess exited with code 2\nOutput:\nno rule\n"
		})), "warn 3/1"},
		{"pi", repeat(3, with(build, func(s *toolStep) { s.failed, s.result = false, "no rule\n\n\nCommand exited with code 2" })), "warn 3/1"},
		{"Gemini CLI: a job goes on", repeat(9, with(build, func(s *toolStep) {
			s.failed, s.result = false, "<untrusted_context>\nOutput: built %d of 90 files\nProcess Group PGID: 71%d\n</untrusted_context>"
		})), ""},
		{"Codex: a job goes on", repeat(9, with(build, func(s *toolStep) {
			s.failed, s.result = false, "Chunk ID: 3fa%d\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nbuilt %d of 90\n"
		})), ""},
		{"a file mentions exit codes", repeat(3, with(read, func(s *toolStep) { s.result = "The log says:\nExit Code: 2\nand ends there\n" })), "info 3/1"},
		{"a wall time inside a line", repeat(9, with(read, func(s *toolStep) { s.result = "step done, Wall time %d seconds so far" })), ""},
		{"other arguments", repeat(9, with(read, func(s *toolStep) { s.args = `{"path":"notes/%d.txt"}` })), ""},
		{"other results", repeat(9, with(read, func(s *toolStep) { s.result = "line %d of the long text" })), ""},
		{"a clock in results", repeat(9, with(read, func(s *toolStep) { s.result = "job 7 has run for 0:1%d minutes" })), ""},
		{"ok", repeat(20, with(read, func(s *toolStep) { s.call, s.result = "press_key", "ok" })), ""},
		{"no output", repeat(20, with(read, func(s *toolStep) { s.result = "" })), ""},
		{"a short text 7 times", repeat(7, with(read, func(s *toolStep) { s.result = "still empty" })), ""},
		{"sleep", repeat(9, with(read, func(s *toolStep) { s.args = `{"command":"sleep 20; cat state"}` })), ""},
		{"a status", repeat(9, with(read, func(s *toolStep) { s.call = "get_status" })), ""},
		{"a status fails", repeat(9, with(build, func(s *toolStep) { s.call = "await_job" })), ""},
		{"the user asks again", slices.Concat(repeat(2, build), []toolStep{{user: "try once more"}}, repeat(2, build)), ""},
		{"cut off, sent back as {}", repeat(9, with(build, func(s *toolStep) { s.args, s.written = "{}", `{"command":"nin` })), ""},
		{"another call between", slices.Concat(repeat(2, build), repeat(1, read), repeat(2, build)), ""},
	} {
		var got []string
		for _, f := range playSteps("LOOP", test.steps) {
			got = append(got, fmt.Sprintf("%s %v/%v", f.Severity, f.Detail.Fields[0].Value, f.Detail.Fields[1].Value))
		}
		if s := strings.Join(got, ", "); s != test.want {
			t.Errorf("%s: %q, want %q", test.name, s, test.want)
		}
	}
	f := playSteps("LOOP", repeat(3, build))
	want := `the same call has been made 3 times since turn 1, most recently shell {"command":"ninja -C out"}, each time with the same error (ninja: error: loading build.ninja)`
	if bytes := 2 * (len(build.args) + len(build.result)); len(f) != 1 || f[0].Message != want || f[0].Detail.Value("bytes") != bytes {
		t.Errorf("%+v, want %s", f, want)
	}
}
