//go:build linux

package cli

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolscope/capture"
)

// wrapped is a server that runs in the wrapper, which records to a folder.
type wrapped struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errs   bytes.Buffer
	folder string
}

// wrap starts a shell command in the wrapper.
func wrap(t *testing.T, command ...string) *wrapped {
	t.Helper()
	program := builtProgram(t)
	w := &wrapped{t: t, folder: t.TempDir()}
	w.cmd = exec.Command(program, append([]string{"mcp", "--name", "files", "--"}, command...)...)
	w.cmd.Env = append(os.Environ(), runFolder+"="+w.folder, "HOME="+w.folder)
	w.cmd.Stderr = &w.errs
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.out = bufio.NewReader(out)
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.cmd.Process.Kill()
		_ = w.cmd.Wait()
	})
	return w
}

// line returns the next line of the server's output.
func (w *wrapped) line() string {
	w.t.Helper()
	line, err := w.out.ReadString('\n')
	if err != nil {
		w.t.Fatalf("%q, %v: %s", line, err, &w.errs)
	}
	return strings.TrimSuffix(line, "\n")
}

// end waits until the wrapper has ended.
func (w *wrapped) end() *os.ProcessState {
	w.t.Helper()
	_ = w.cmd.Wait()
	return w.cmd.ProcessState
}

// recorded returns the records and the path of the only capture.
func (w *wrapped) recorded() (list []capture.Record, path string) {
	w.t.Helper()
	files, _ := filepath.Glob(filepath.Join(w.folder, "*-mcp-files.tsc"))
	if len(files) != 1 {
		w.t.Fatalf("%d recordings: %s", len(files), &w.errs)
	}
	return records(w.t, files[0]), files[0]
}

// records returns the records of a capture.
func records(t *testing.T, path string) (list []capture.Record) {
	t.Helper()
	src, err := capture.Open(t.Context(), path, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range src {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// bytesOf returns the bytes of one side of a capture.
func bytesOf(list []capture.Record, side capture.Side) (all []byte) {
	for _, r := range list {
		if r.Side == side {
			all = append(all, r.Data...)
		}
	}
	return all
}

// notesOf returns the notes of a capture.
func notesOf(list []capture.Record) string {
	var all []string
	for _, r := range list {
		if r.Note != "" {
			all = append(all, r.Note)
		}
	}
	return strings.Join(all, "\n")
}

// runs reports whether a process is running.
func runs(pid string) bool {
	state, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(state), ") Z ")
}

// untilOver waits until a process has ended.
func untilOver(t *testing.T, pid string) {
	t.Helper()
	for end := time.Now().Add(limit); runs(pid); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %s still runs", pid)
		}
	}
}

// TestMCPBytes checks that the wrapper passes on all bytes unchanged, and that the capture has the same bytes.
func TestMCPBytes(t *testing.T) {
	junk := make([]byte, 3<<20)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(junk)
	copy(junk[1000:], make([]byte, 5000))
	w := wrap(t, "cat")
	go func() {
		_, _ = w.in.Write(junk)
		w.in.Close()
	}()
	got, err := io.ReadAll(w.out)
	if err != nil || sha256.Sum256(got) != sha256.Sum256(junk) {
		t.Errorf("%d bytes passed of %d: %v", len(got), len(junk), err)
	}
	if state := w.end(); !state.Success() || w.errs.Len() > 0 {
		t.Errorf("%s: %s", state, &w.errs)
	}
	list, path := w.recorded()
	for _, side := range []capture.Side{capture.Request, capture.Response} {
		if !bytes.Equal(bytesOf(list, side), junk) {
			t.Errorf("side %q is recorded otherwise", side)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if h := list[0].Head; h == nil || h.Method != capture.Stdio || h.URL != "mcp:files" || h.Start.IsZero() {
		t.Errorf("%+v", h)
	}
	if last := list[len(list)-1]; last.End != capture.EndEOF || last.Why != "" {
		t.Errorf("%+v", last)
	}
}

// TestMCPOrder checks that a response in a capture comes after its request, and that its time is not earlier.
func TestMCPOrder(t *testing.T) {
	w := wrap(t, "cat")
	for n := range 300 {
		fmt.Fprintf(w.in, "%d\n", n)
		if got := w.line(); got != fmt.Sprint(n) {
			t.Fatalf("%q", got)
		}
	}
	w.in.Close()
	w.end()
	list, _ := w.recorded()
	asked, at := "", time.Duration(0)
	for _, r := range list {
		if r.At < at {
			t.Errorf("%v before %v", r.At, at)
		}
		switch at = r.At; {
		case r.Side == capture.Request:
			asked = string(r.Data)
		case len(r.Data) > 0 && string(r.Data) != asked:
			t.Fatalf("%q answers %q", r.Data, asked)
		}
	}
}

// TestMCPExit checks that the wrapper exits with the server's exit code, even if recording fails. The server's
// standard error must be passed on and recorded.
func TestMCPExit(t *testing.T) {
	for script, want := range map[string]string{
		"exit 0": "exit status 0", "exit 7": "exit status 7", "kill -9 $$": "signal: killed", "kill -TERM $$": "signal: terminated",
		"kill -SEGV $$": "exit status 139", "echo oops >&2; exit 3": "exit status 3",
	} {
		w := wrap(t, "sh", "-c", script)
		if got := w.end().String(); got != want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
		list, _ := w.recorded()
		if oops := strings.Contains(script, "oops"); oops != strings.Contains(notesOf(list), "stderr: oops") || oops != (w.errs.String() == "oops\n") {
			t.Errorf("%s: %q and %q", script, w.errs.String(), notesOf(list))
		}
		if last := list[len(list)-1]; last.End == "" || (last.Why == "") != (script == "exit 0") {
			t.Errorf("%s: %+v", script, last)
		}
	}
	if w := wrap(t, "no-such-server"); w.end().ExitCode() != 127 || !strings.Contains(w.errs.String(), "no-such-server") || w.out.Buffered() > 0 {
		t.Errorf("%s: %s", w.cmd.ProcessState, &w.errs)
	}
	w := wrap(t, "sh", "-c", "cat; exit 4")
	if err := os.Chmod(w.folder, 0o500); err != nil {
		t.Fatal(err)
	}
	w.in.Close()
	if got := w.end().ExitCode(); got != 4 {
		t.Errorf("without a recording: %d: %s", got, &w.errs)
	}
	_ = os.Chmod(w.folder, 0o700)
}

// TestMCPNoRecording checks that a server runs even if it can't be recorded.
func TestMCPNoRecording(t *testing.T) {
	t.Setenv(runFolder, saved(t, "a-file", ""))
	out := command(t, []byte("hi\n"), "mcp", "--", "cat")
	if out.code != 0 || out.stdout != "hi\n" || !strings.Contains(out.stderr, "not recording") {
		t.Errorf("%+v", out)
	}
}

// TestMCPSignals checks that signals to the wrapper reach the server, and that the server decides how to handle
// them.
func TestMCPSignals(t *testing.T) {
	for name, sig := range map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP} {
		if signal.Ignored(sig) { // e.g. HUP under nohup, which a shell can't trap
			continue
		}
		w := wrap(t, "sh", "-c", "trap 'echo "+name+"; exit 5' "+name+"; echo ready; while :; do sleep 0.02; done")
		w.line()
		if err := w.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if got := w.line(); got != name {
			t.Errorf("%q", got)
		}
		if got := w.end().ExitCode(); got != 5 {
			t.Errorf("%s: %d", name, got)
		}
		if list, _ := w.recorded(); !strings.Contains(notesOf(list), capture.Signalled+sig.String()) {
			t.Errorf("%q", notesOf(list))
		}
	}
}

// TestMCPKilled checks that no server keeps running when the wrapper, the server or the parent is killed. The capture
// must be readable.
func TestMCPKilled(t *testing.T) {
	const stubborn = `trap '' HUP INT; echo $$; read x; echo "got $x"; while :; do sleep 0.05; done`
	asked := func(w *wrapped) (server string) {
		server = w.line()
		_, _ = io.WriteString(w.in, "one\n")
		if got := w.line(); got != "got one" {
			t.Fatalf("%q", got)
		}
		return server
	}
	w := wrap(t, "sh", "-c", stubborn) // kill the wrapper
	server := asked(w)
	_ = w.cmd.Process.Kill()
	w.end()
	untilOver(t, server)
	if list, _ := w.recorded(); len(list) == 0 || !strings.HasPrefix(server+"\ngot one\n", string(bytesOf(list, capture.Response))) {
		t.Errorf("%q", bytesOf(list, capture.Response))
	}

	w = wrap(t, "sh", "-c", stubborn) // kill the server
	server = asked(w)
	_ = exec.Command("kill", "-9", server).Run()
	if got := w.end().String(); got != "signal: killed" {
		t.Error(got)
	}
	if list, _ := w.recorded(); string(bytesOf(list, capture.Request)) != "one\n" {
		t.Errorf("%q", bytesOf(list, capture.Request))
	}

	program := builtProgram(t) // kill the parent of the wrapper
	folder := t.TempDir()
	client := exec.Command("sh", "-c", `exec 3>"$1/ids"; "$2" mcp --record "$1" -- sh -c 'echo $PPID $$ >&3; exec 3>&-; trap "" HUP INT; while :; do sleep 0.05; done' & exec 3>&-; cat >/dev/null`, "sh", folder, program)
	in, err := client.StdinPipe()
	if err != nil || client.Start() != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var ids []string
	for end := time.Now().Add(limit); len(ids) < 2 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		text, _ := os.ReadFile(filepath.Join(folder, "ids"))
		ids = strings.Fields(string(text))
	}
	_ = client.Process.Kill()
	_ = client.Wait()
	if len(ids) < 2 {
		t.Fatal("the server did not start")
	}
	for _, id := range ids {
		untilOver(t, id)
	}
}

// TestMCPEnds checks that the client and the server notice each other's end, as they would without the wrapper.
func TestMCPEnds(t *testing.T) {
	w := wrap(t, "sh", "-c", "cat; echo over") // the input ends
	_, _ = io.WriteString(w.in, "a\n")
	if got := w.line(); got != "a" {
		t.Fatalf("%q", got)
	}
	w.in.Close()
	if got := w.line(); got != "over" {
		t.Errorf("%q", got)
	}
	w.end()
	if list, _ := w.recorded(); !strings.Contains(notesOf(list), capture.InputEnded) {
		t.Errorf("%q", notesOf(list))
	}

	w = wrap(t, "sh", "-c", "exec <&-; echo $$; exec sleep 100") // the server stops reading
	server := w.line()
	killAtEnd(t, server)
	for end := time.Now().Add(limit); ; time.Sleep(time.Millisecond) {
		if _, err := io.WriteString(w.in, "x\n"); err != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("writing to nobody goes well")
		}
	}
	_ = exec.Command("kill", server).Run()
	w.end()

	w = wrap(t, "sh", "-c", "echo one; sleep 100 & echo $!") // another process keeps the server's output open
	w.line()
	killAtEnd(t, w.line())
	if state := w.end(); !state.Success() {
		t.Error(state)
	}
}

// killAtEnd kills a process when the test ends, even after a failure.
func killAtEnd(t *testing.T, id string) {
	t.Helper()
	t.Cleanup(func() { _ = exec.Command("kill", "-9", id).Run() })
}

// TestMCPSecrets checks that captures contain no secrets, even if the secrets were split. The traffic itself must not
// change.
func TestMCPSecrets(t *testing.T) {
	w := wrap(t, "sh", "-c", `echo "key $1" >&2; echo ready; cat`, "sh", canary, "--password", "pw-short")
	w.line()
	const before, tail = `{"params":{"text":"`, "xK2mW9vLp4Rt7Yc"
	for n := range 12 { // a new secret each time, because the redactor always finds a secret that it has already seen
		line := fmt.Sprintf(before+`sk-ant-api03-Zq%02d`+tail+`"}}`+"\n", n)
		cut := len(before) + 3*n
		_, _ = io.WriteString(w.in, line[:cut])
		for got := 0; got < cut; { // until the text has been passed on and its response has arrived
			n, err := w.out.Read(make([]byte, cut-got))
			if err != nil {
				t.Fatal(err)
			}
			got += n
		}
		_, _ = io.WriteString(w.in, line[cut:])
		if got := w.line() + "\n"; got != line[cut:] {
			t.Errorf("%q", got)
		}
	}
	w.in.Close()
	w.end()
	_, path := w.recorded()
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte("redacted")) {
		t.Fatalf("%s, %v", text, err)
	}
	for _, secret := range []string{canary, tail, "pw-short"} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s is recorded:\n%s", secret, text)
		}
	}
	if !strings.Contains(w.errs.String(), canary) {
		t.Errorf("%q", &w.errs)
	}
}

// TestMCPName checks that a server gets its own name, not the name of the program that starts it.
func TestMCPName(t *testing.T) {
	for command, want := range map[string]string{
		"npx -y @modelcontextprotocol/server-everything": "server-everything", "node /a/b/files.js --root .": "files", "uvx mcp-server-git": "mcp-server-git",
		"/usr/bin/Server.exe": "server", "npx": "npx", "npx -y": "npx",
		"npx --api-key hunter2xyz some-server": "some-server", "env API_KEY=hunter2xyz MODE=x node a.js": "a",
	} {
		if got := serverOf(strings.Fields(command), newRedactor().Argv(strings.Fields(command))); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
	if got := fileWord("a/../b c\n"); got != "a-..-b-c-" {
		t.Error(got)
	}
	if out := command(t, nil, "mcp"); out.code != 2 {
		t.Errorf("%+v", out)
	}
}
