//go:build linux

package cli

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// labAgent is an agent that answers the messages of labEditor.
const labAgent = `echo "lab agent" >&2
while read -r line; do
case "$line" in
*'"initialize"'*) echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}';;
*'"session/prompt"'*)
	echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"k1","title":"rm","kind":"delete","rawInput":{"path":"/w/a"}}}}'
	echo '{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"k1"},"options":[{"optionId":"n","name":"No","kind":"reject_once"}]}}';;
*'"outcome"'*)
	echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"k1","status":"failed"}}}'
	echo '{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}'
	exit 7;;
esac
done`

const labEditor = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"remove a"}]}}
`

// labChoice is the editor's answer to the agent's request for permission.
const labChoice = `{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"n"}}}
`

// TestAgentWrapper checks that the wrapper passes all bytes on unchanged and ends when the agent does, with the
// agent's exit code. The capture must show the call.
func TestAgentWrapper(t *testing.T) {
	program := builtProgram(t)
	talk := func(name string, args ...string) (out, errs string, code int) {
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), runFolder+"=")
		var got, said bytes.Buffer
		cmd.Stderr = &said
		in, err := cmd.StdinPipe()
		from, err2 := cmd.StdoutPipe()
		if err = errors.Join(err, err2, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		io.WriteString(in, labEditor)
		for lines := bufio.NewReader(from); ; {
			line, err := lines.ReadString('\n')
			if got.WriteString(line); err != nil {
				break
			}
			if strings.Contains(line, "request_permission") {
				io.WriteString(in, labChoice)
			}
		}
		_ = cmd.Wait()
		return got.String(), said.String(), cmd.ProcessState.ExitCode()
	}
	folder := t.TempDir()
	wantOut, wantErrs, wantCode := talk("sh", "-c", labAgent)
	out, errs, code := talk(program, "acp", "--record", folder, "--", "sh", "-c", labAgent)
	if out != wantOut || errs != wantErrs || code != wantCode || code != 7 {
		t.Fatalf("exit code %d, not %d\n%s%s", code, wantCode, out, errs)
	}
	files, _ := filepath.Glob(filepath.Join(folder, "*-acp-sh.tsc"))
	if len(files) != 1 {
		t.Fatalf("files: %v", files)
	}
	printed := command(t, nil, "print", files[0])
	for _, want := range []string{"rejected", `{"path":"/w/a"}`, "PERMISSION_DENIED  the user refused the call: No (reject_once)", "end_turn"} {
		if !strings.Contains(printed.stdout, want) {
			t.Errorf("no %q in\n%s", want, printed.stdout)
		}
	}
	if strings.Contains(printed.stdout, "lab agent") {
		t.Errorf("standard error became a finding:\n%s", printed.stdout)
	}
	if got := command(t, nil, "acp"); got.code != 2 || !strings.Contains(got.stderr, "toolscope acp -- opencode acp") {
		t.Errorf("no command: exit code %d, %s", got.code, got.stderr)
	}
	if got := command(t, nil, "acp", "--", "no-such-agent"); got.code != exitNoCommand || !strings.Contains(got.stderr, "acp: ") {
		t.Errorf("an unknown command: exit code %d, %s", got.code, got.stderr)
	}
}
