package providers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/stream"
)

// A loopCase is a tool with a call that doesn't change anything, and the results of such a call: an error, a text with
// an error, a text, and a text that grows. The text %d is the number of the round.
type loopCase struct {
	name, call, args             string
	failure, failureText, result string
	progress                     string
	other                        string // other arguments
}

var loopCases = []loopCase{
	{"Claude Code Bash", "Bash", `{"command":"npm test","description":"Run the tests"}`, "Exit code 1\nError: Cannot find module './auth'", "Error: Cannot find module './auth'", "> app@1.0.0 test\n> node --test\nok 12 tests", "ok %d of 90 tests are done", `{"command":"npm test -- file%d"}`},
	{"Claude Code Read", "Read", `{"file_path":"/src/a.go"}`, "File does not exist.", "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>", "1\tpackage a\n2\n3\tfunc f() {}", "1\tpackage a // %d", `{"file_path":"/src/a.go","offset":%d00}`},
	{"Claude Code Edit", "Edit", `{"file_path":"/src/a.go","old_string":"a","new_string":"b"}`, "String to replace not found in file.\nString: a", "Error: String to replace not found in file.", "The file /src/a.go has been updated. No changes were needed.", "The file has been updated: %d places", `{"file_path":"/src/a.go","old_string":"a%d","new_string":"b"}`},
	{"Codex shell", "shell", `{"command":["bash","-lc","make"]}`, "Exit code: 2\nWall time: 0.%d seconds\nOutput:\nmake: *** No targets specified.", "Exit code: 2\nWall time: 0.%d seconds\nOutput:\nmake: *** No targets specified.", "Exit code: 0\nWall time: 0.%d seconds\nOutput:\nmake: 'all' is up to date.", "Exit code: 0\nWall time: 0.1 seconds\nOutput:\n%d files are left", `{"command":["bash","-lc","make t%d"]}`},
	{"Gemini CLI", "run_shell_command", `{"command":"go vet ./..."}`, "Output: vet: x.go:3:1: undefined: y\nExit Code: 1\nProcess Group PGID: 71%d", "Output: vet: x.go:3:1: undefined: y\nExit Code: 1\nProcess Group PGID: 71%d", "Output: (empty)\nExit Code: 0\nno findings in 12 packages", "Output: vet: %d packages to go", `{"command":"go vet ./p%d"}`},
	{"opencode grep", "grep", `{"pattern":"TODO","path":"src"}`, "rg: src: No such file or directory (os error 2)", "Error: rg: src: No such file or directory", "No files found in this folder", "src/a%d.go: TODO", `{"pattern":"TODO%d"}`},
	{"Python", "python", `{"code":"import pandas"}`, "Traceback (most recent call last):\n  File \"<stdin>\"\nModuleNotFoundError: No module named 'pandas'", "Traceback (most recent call last):\nModuleNotFoundError: No module named 'pandas'", "the module has been imported before", "step %d of the import", `{"code":"import m%d"}`},
	{"a web page", "fetch", `{"url":"https://docs.example/a"}`, "HTTP 404 at 2026-02-03T10:00:0%dZ", "Error: HTTP 404 for https://docs.example/a", "<html><body>The documents have moved to another page.</body></html>", "<html><body>visit number %d</body></html>", `{"url":"https://docs.example/a%d"}`},
	{"an MCP server", "mcp__db__query", `{"sql":"SELECT * FROM users"}`, "Error: relation \"users\" does not exist (request 0x3fa%d)", "Error: relation \"users\" does not exist (request 0x3fa%d)", "(0 rows) in table users, schema public", "(%d rows) in table users, schema public", `{"sql":"SELECT %d"}`},
	{"a command", "exec_command", `{"cmd":"ls build"}`, "ls: cannot access 'build': No such file", "bash: line 1: ninja: command not found", "a.o b.o c.o in 3 folders", "%d objects in the folder", `{"cmd":"ls build/%d"}`},
}

func (c *loopCase) step(result string, failed bool) toolStep {
	return toolStep{call: c.call, args: c.args, result: result, failed: failed}
}

// gradesOf returns the severity of each LOOP in a conversation.
func gradesOf(steps []toolStep) string {
	var grades []string
	for _, f := range playSteps("LOOP", steps) {
		grades = append(grades, f.Severity.String())
	}
	return strings.Join(grades, " ")
}

// TestLoopSet checks that loops of each tool are found: with an error as a flag or in words, with a result, of two
// calls, and with other calls before and after it.
func TestLoopSet(t *testing.T) {
	loops := 0
	for i := range loopCases {
		c, other := &loopCases[i], &loopCases[(i+3)%len(loopCases)]
		for _, test := range []struct {
			name, want string
			steps      []toolStep
		}{
			{"it fails", "warn", repeat(3+i%3, c.step(c.failure, true))},
			{"it fails in words", "warn", repeat(3, c.step(c.failureText, false))},
			{"it has the same result", "info warn", repeat(5+i%4, c.step(c.result, false))},
			{"three times", "info", repeat(3, c.step(c.result, false))},
			{"two calls fail", "warn", repeat(3, c.step(c.failure, true), other.step(other.failure, true))},
			{"one of two calls fails", "info warn", repeat(5, c.step(c.failure, true), other.step(other.result, false))},
			{"after work", "warn", slices.Concat(repeat(4, other.step(other.progress, false)), repeat(3, c.step(c.failure, true)), repeat(1, other.step(other.result, false)))},
			{"a question before", "warn", slices.Concat(repeat(2, c.step(c.failure, true)), []toolStep{{user: "go on"}}, repeat(3, c.step(c.failure, true)))},
		} {
			loops++
			if got := gradesOf(test.steps); got != test.want {
				t.Errorf("%s, %s: %q, want %q", c.name, test.name, got, test.want)
			}
		}
	}
	if loops < 50 {
		t.Error(loops)
	}
	t.Log(loops)
}

// waitingTools lists calls that wait for something, or that a model repeats on purpose, with a result that doesn't change.
var waitingTools = []toolStep{
	{call: "BashOutput", args: `{"bash_id":"b1"}`, result: "<status>running</status>\n<stdout></stdout>"}, {call: "TaskOutput", args: `{"task_id":"t1","block":true}`, result: "the task is still running"},
	{call: "write_stdin", args: `{"session_id":7,"chars":"","yield_time_ms":9000}`, result: "Process running with session ID 7"}, {call: "wait", args: `{"ids":["a1"],"timeout_ms":60000}`, result: "the agent is still running"},
	{call: "Bash", args: `{"command":"sleep 30 && gh run view 7"}`, result: "* main build is in progress"}, {call: "get_job_status", args: `{"id":7}`, result: "the job is in the queue"},
	{call: "poll", args: `{"id":7}`, result: "no new messages since then"}, {call: "await_deploy", args: `{}`, result: "the deployment is not ready yet"},
	{call: "shell", args: `{"command":"timeout 60 tail -f log"}`, result: "no new lines in this file"}, {call: "Monitor", args: `{"id":"m"}`, result: "nothing has happened until now"},
	{call: "run", args: `{"command":"watch -n 5 kubectl get pods"}`, result: "pod-1 ContainerCreating"}, {call: "check_status", args: `{"run":7}`, result: "Error: the run has not finished"},
	{call: "press_key", args: `{"key":"Down"}`, result: "ok"}, {call: "click", args: `{"x":10,"y":20}`, result: "clicked"}, {call: "scroll", args: `{"dy":300}`, result: ""}, {call: "next_page", args: `{}`, result: "done"},
	{call: "undo", args: `{}`, result: "true"}, {call: "append", args: `{"text":"-"}`, result: "{}"}, {call: "type", args: `{"text":"a"}`, result: "null"},
}

// TestRepeatedOnPurpose checks that repetitions on purpose are not loops: polling, work that makes progress, other
// arguments, two rounds, questions of the user, and calls in one turn.
func TestRepeatedOnPurpose(t *testing.T) {
	cases := 0
	check := func(name string, steps []toolStep) {
		t.Helper()
		cases++
		if got := gradesOf(steps); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, s := range waitingTools {
		check(s.call+" 9 times", repeat(9, s))
		check(s.call+" 5 times between work", repeat(5, s, toolStep{call: "read", args: `{"n":%d}`, result: "line %d of the file"}))
		if !strings.HasPrefix(s.result, "Error") {
			check(s.call+" 30 times", repeat(30, s))
		}
	}
	for i := range loopCases {
		c, other := &loopCases[i], &loopCases[(i+3)%len(loopCases)]
		fails, works := c.step(c.failure, true), c.step(c.result, false)
		changed := toolStep{call: c.call, args: c.other, result: c.result}
		check(c.name+" fails twice", repeat(2, fails))
		check(c.name+" works twice", repeat(2, works))
		check(c.name+" makes progress", repeat(9, c.step(c.progress, false)))
		check(c.name+" has other arguments", repeat(9, changed))
		check(c.name+" fails with other arguments", repeat(6, toolStep{call: c.call, args: c.other, result: c.failure, failed: true}))
		check(c.name+" fails, then an edit, then it works", slices.Concat(repeat(2, fails), repeat(1, other.step(other.result, false)), repeat(2, works)))
		check(c.name+" is checked after each edit", repeat(6, works, toolStep{call: "write", args: `{"text":"version %d"}`, result: "the file has been written"}))
		check(c.name+" fails after each edit", repeat(6, fails, toolStep{call: "write", args: `{"text":"version %d"}`, result: "the file has been written"}))
		check(c.name+" and three other calls", repeat(2, works, other.step(other.progress, false), changed, other.step(other.result, false)))
		check(c.name+" after questions", slices.Concat(repeat(1, fails), []toolStep{{user: "once more"}}, repeat(1, fails), []toolStep{{user: "and now?"}}, repeat(1, fails), []toolStep{{user: "and now, please?"}}, repeat(1, fails)))
		check(c.name+" works after questions", slices.Concat(repeat(2, works), []toolStep{{user: "once more"}}, repeat(2, works), []toolStep{{user: "again"}}, repeat(2, works)))
		check(c.name+" with other errors", []toolStep{fails, c.step("Error: another one than before", true), fails, c.step("Error: a third one than before", true)})
		check(c.name+" fails, works, fails", []toolStep{fails, works, fails, works})
		check(c.name+" with a clock in its result", repeat(9, c.step(c.result+" at 10:%d0", false)))
		check(c.name+" with a counter in its result", repeat(9, c.step("%d: "+c.result, false)))
		check(c.name+" with a longer result each time", func() (steps []toolStep) {
			for n := range 6 {
				steps = append(steps, c.step(c.result+strings.Repeat("\nmore", n), false))
			}
			return steps
		}())
	}
	for n := 2; n <= 6; n++ { // parallel calls in one turn
		id := func(i int) string { return fmt.Sprintf("toolu_p%03d", i) }
		var calls, results []string
		for i := range n {
			calls = append(calls, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"roll","input":{"sides":6}}`, id(i)))
			results = append(results, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":"Error: there are no dice here","is_error":true}`, id(i)))
		}
		in, _ := play(otherHost, asked{portsRequest(portsAsk), portsAnswer("tool_use", calls...), 200},
			asked{portsRequest(portsAsk, model(calls...), `{"role":"user","content":[`+strings.Join(results, ",")+`]}`), portsAnswer("end_turn", `{"type":"text","text":"bye"}`), 200})
		cases++
		if found := findingsOf(in, "LOOP"); len(found) > 0 {
			t.Errorf("%d calls in one turn: %+v", n, found)
		}
	}
	if cases < 200 {
		t.Error(cases)
	}
	t.Log(cases)
}

// TestLoopsOfTargets checks that a loop is found in the history of each target.
func TestLoopsOfTargets(t *testing.T) {
	for i := range requestForms {
		f := &requestForms[i]
		for _, rounds := range []int{2, 3} {
			var exchanges []asked
			messages := []wireMessage{{parts: []wirePart{{text: "run the tests"}}}}
			for n := range rounds {
				call := wirePart{kind: callPart, id: f.ids(0, n), name: "ls", text: `{"part":1}`}
				exchanges = append(exchanges, asked{f.write(messages).request("", "ls"), f.response(call), 200})
				messages = append(messages, wireMessage{model: true, parts: []wirePart{call}},
					wireMessage{parts: []wirePart{{kind: resultPart, id: call.id, name: "ls", text: "Error: no such folder"}}})
			}
			exchanges = append(exchanges, asked{f.write(messages).request("", "ls"), f.response(wirePart{text: "I stop."}), 200})
			in, _ := play(f.own, exchanges...)
			found := findingsOf(in, "LOOP")
			if want := rounds - 2; len(found) != want || want > 0 && (found[0].Severity != stream.Warn || found[0].By != stream.Model) {
				t.Errorf("%s, %d rounds: %+v", f.name, rounds, found)
			}
		}
	}
}
