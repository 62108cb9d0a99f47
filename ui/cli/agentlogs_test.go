package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// logLine has the fields of a jsonl line that the log tests use.
type logLine struct {
	Type, ID, Name, As, Status, Phase  string
	Agent, Session, Model              string
	Parent                             string `json:"parent_agent"`
	Raw                                string `json:"arguments_raw"`
	Arguments                          any
	Result                             json.RawMessage // an object, but a string in lines about calls that were sent back
	Usage                              struct{ Input, Output int }
	Findings                           []struct{ Code string }
	Peeled                             string
	HTTP                               int `json:"http_status"`
	Turn, Exchange, Call, Events, Text int
}

func (l *logLine) gave(t *testing.T) (r resultJSON) {
	t.Helper()
	if l.Result != nil {
		if err := json.Unmarshal(l.Result, &r); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func printed(t *testing.T, args ...string) (lines []logLine) {
	t.Helper()
	for line := range strings.Lines(command(t, nil, append([]string{"print", "--format", "jsonl"}, args...)...).stdout) {
		var l logLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

// saidOfCalls describes the calls in a log, one per line.
func saidOfCalls(t *testing.T, lines []logLine) string {
	var all []string
	as := map[string]string{}
	for _, l := range lines {
		if l.Type == "sent_back" {
			as[l.ID] = l.As
		}
	}
	for _, l := range lines {
		if l.Type != "call" {
			continue
		}
		codes := ""
		for _, f := range l.Findings {
			codes += " " + f.Code
		}
		gave, _, _ := strings.Cut(l.gave(t).Text, "\n")
		all = append(all, fmt.Sprintf("%s %s %s|%s|error %v: %.30s|%s%s", l.ID, l.Name, l.Status, l.Raw, l.gave(t).Error, gave, as[l.ID], codes))
	}
	return strings.Join(all, "\n")
}

// TestAgentLogCalls checks agents' logs of runs with failed, malformed and unknown calls, and with calls that break
// their schema. The arguments, results and errors, and the sent-back calls, must be as logged.
func TestAgentLogCalls(t *testing.T) {
	for file, want := range map[string]string{
		"claude-session.jsonl": `
toolu_0001Abc Bash complete|{"command":"cat no-such-file.txt","description":"read it"}|error true: Exit code 1|intact
toolu_0002Abc Read complete|{"file_path":"/nowhere/b.txt"}|error true: File does not exist. Note: you|intact
toolu_0004Abc Bash malformed|{"command": "echo hi" "oops"}|error true: <tool_use_error>InputValidatio|wrapped ARGS_BROKEN
toolu_0006Abc Bash complete|{}|error true: <tool_use_error>InputValidatio|intact SCHEMA_INVALID
toolu_0008Abc Nonexistent complete|{"a":1}|error true: <tool_use_error>Error: No such|intact NO_SUCH_TOOL
toolu_0009Abc Bash complete|{"command":"echo n 12345678901234567890","timeout":"soon"}|error true: <tool_use_error>InputValidatio|intact SCHEMA_WRONG_TYPE
toolu_0011Abc Bash complete|{"command":"printf 'data: {\"type\":\"message_start\"}\\n\\n'; echo '{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"tool_use\",\"id\":\"x\",\"name\":\"phantom\",\"input\":{}}]}}'","description":"quote a stream"}|error false: data: {"type":"message_start"}|intact
toolu_0013Abc Agent complete|{"description":"sub job","prompt":"SUBTASK do it","subagent_type":"general-purpose"}|error false: Async agent launched successfu|as the client has it`,
		"claude-subagent.jsonl": `
toolu_0016Abc Bash complete|{"command":"echo from-subagent","description":"run"}|error false: from-subagent|intact`,
		"claude-refused.jsonl": `
toolu_0001Abc Bash complete|{"command":"echo one","description":"one"}|error false: one|intact
toolu_0002Abc Bash complete|{"command":"echo two","description":"two"}|error false: two|intact`,
		"claude-compacted.jsonl": `
toolu_0001Abc Bash complete|{"command":"echo one","description":"one"}|error false: one|intact
toolu_0005Abc Bash complete|{"command":"echo after","description":"after"}|error false: after|intact`,
		"codex-rollout.jsonl": `
call_0004Abc exec_command complete|{"cmd":"cat no-such-file.txt"}|error true: Chunk ID: 033dbb|as the client has it
call_0006Abc exec_command complete|{"cmd":"echo ok"}|error false: Chunk ID: ab478a|as the client has it
call_0010Abc exec_command malformed|{"cmd": "echo hi" "oops"}|error true: failed to parse function argum|as the client has it ARGS_BROKEN
call_0013Abc exec_command no arguments||error true: failed to parse function argum|as the client has it
call_0016Abc apply_patch not an object|"*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch\n"|error true: unsupported call: apply_patch|as the client has it ARGS_NOTOBJECT
call_0019Abc no_such_tool complete|{"a":1}|error true: unsupported call: no_such_tool|as the client has it`,
		"codex-kinds.jsonl": `
ws_1 web_search_call complete|{"type":"search","query":"go"}|error false: |
call_p apply_patch complete|*** Begin Patch
*** End Patch
|error false: {"output":"Success"}|as the client has it
call_s tool_search_call complete|{"query":"mail"}|error false: []|as the client has it`,
	} {
		lines := printed(t, filepath.Join("../../capture/formats/testdata", file))
		if got := saidOfCalls(t, lines); got != strings.TrimPrefix(want, "\n") {
			t.Errorf("%s:\n%s", file, got)
		}
	}
}

// TestSessionCallCutEarly checks a call in a session that was cut before the first byte of its arguments. Only the
// client may be at fault.
func TestSessionCallCutEarly(t *testing.T) {
	data, err := os.ReadFile("../../capture/formats/testdata/opencode-storage/pending.json")
	if err != nil {
		t.Fatal(err)
	}
	early := strings.Replace(string(data), `{\"filePath\":\"b.txt\",\"content\":\"hel`, "", 1)
	path := filepath.Join(t.TempDir(), "pending.json")
	if err := os.WriteFile(path, []byte(early), 0o600); err != nil || early == string(data) {
		t.Fatal("the file has no such call: ", err)
	}
	lines := printed(t, path)
	if got := saidOfCalls(t, lines); !strings.HasSuffix(got, " aborted||error false: | ARGS_CUT") {
		t.Errorf("%s", got)
	}
}

// TestAgentLogConversations checks which agent each turn of a log has, and which calls started sub-agents.
func TestAgentLogConversations(t *testing.T) {
	agents := map[string]string{}
	for _, l := range printed(t, "../../capture/formats/testdata/claude-old.jsonl") {
		if l.Type == "call" {
			agents[l.ID] = l.Parent + " > " + l.Agent
		}
	}
	want := map[string]string{
		"toolu_01Read": " > main", "toolu_01List": " > main", "toolu_01Task1": " > main", "toolu_01Task2": " > main", "toolu_01Long": " > main",
		"toolu_01Sub1": "main > s1a", "toolu_01Sub2": "main > s2a",
	}
	if !reflect.DeepEqual(agents, want) {
		t.Errorf("%v", agents)
	}
	for _, l := range printed(t, "../../capture/formats/testdata/codex-spawned.jsonl") {
		if l.Parent != "main" || l.Phase != "aborted" {
			t.Errorf("%+v", l)
		}
	}
}

// TestAgentLogErrors checks that a provider error in a log becomes a turn with the error and its status. Usage must
// be counted only once.
func TestAgentLogErrors(t *testing.T) {
	for file, want := range map[string]string{
		"claude-refused.jsonl":   "complete 0 [] 1800/50\nrefused 400 [REQUEST_REFUSED] 0/0",
		"claude-compacted.jsonl": "aborted 529 [PROVIDER_ERROR] 0/0\ncomplete 0 [] 1800/50\ncomplete 0 [] 1800/50\ncomplete 0 [] 1800/50\ncomplete 0 [] 1800/50",
		"codex-kinds.jsonl":      "complete 0 [] 100/20\ncomplete 0 [] 0/0\naborted 0 [CLIENT_GONE] 0/0\naborted 0 [NO_ANSWER] 0/0\ncomplete 0 [] 20/10",
	} {
		var got []string
		for _, l := range printed(t, filepath.Join("../../capture/formats/testdata", file)) {
			if l.Type == "turn" {
				codes := []string{}
				for _, f := range l.Findings {
					codes = append(codes, f.Code)
				}
				got = append(got, fmt.Sprintf("%s %d %s %d/%d", l.Phase, l.HTTP, codes, l.Usage.Input, l.Usage.Output))
			}
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s:\n%s", file, strings.Join(got, "\n"))
		}
	}
}

// TestExpectedSessions compares the calls in the corpus's sessions with the expected calls.
func TestExpectedSessions(t *testing.T) {
	corpus := os.Getenv("TOOLSCOPE_CORPUS")
	if corpus == "" {
		t.Skip("TOOLSCOPE_CORPUS is not set")
	}
	data, err := os.ReadFile(filepath.Join(corpus, "formats", "EXPECTED.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e struct {
			File      string
			Exchanges []expectation
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(e.File, "claude-code-session") && !strings.Contains(e.File, "codex-rollout") {
			continue
		}
		compared++
		var calls []logLine
		for _, l := range printed(t, filepath.Join(corpus, e.File)) {
			if l.Type == "call" {
				calls = append(calls, l)
			}
		}
		for _, x := range e.Exchanges {
			for _, c := range x.Calls {
				if len(calls) == 0 || calls[0].ID != *c.ID || calls[0].Name != *c.Name || !reflect.DeepEqual(calls[0].Arguments, c.Value) {
					t.Fatalf("%s: wanted %s, there are %+v", e.File, *c.ID, calls)
				}
				calls = calls[1:]
			}
		}
		if len(calls) > 0 {
			t.Errorf("%s: nobody expects %+v", e.File, calls)
		}
	}
	if compared < 3 {
		t.Errorf("%d sessions were compared", compared)
	}
}

// TestAgentLineResults checks that calls in agents' JSON lines have their results, and that a failed call has the
// reason for its failure.
func TestAgentLineResults(t *testing.T) {
	for name, lines := range map[string]string{
		"claude": `{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"cat x"}}]},"parent_tool_use_id":null,"session_id":"s"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"no x"}]},"parent_tool_use_id":null,"session_id":"s"}
{"type":"result","subtype":"success","is_error":false,"session_id":"s"}
`,
		"codex": `{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"c1","type":"command_execution","command":"cat x","aggregated_output":"no x","exit_code":1,"status":"failed"}}
{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}
`,
	} {
		file := filepath.Join(t.TempDir(), "run.jsonl")
		if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		calls := 0
		for _, l := range printed(t, file) {
			if l.Type == "call" {
				calls++
				if got, want := l.gave(t), (resultJSON{Error: true, Bytes: 4, Text: "no x"}); got != want || l.ID != "c1" {
					t.Errorf("%s: %+v of %s", name, got, l.ID)
				}
			}
		}
		if calls != 1 {
			t.Errorf("%s: %d calls", name, calls)
		}
	}
}
