package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// program is the path of toolscope, built from this tree.
var program string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "toolscope-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config")); err != nil { // don't use the user's settings
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state")); err != nil { // folder for captures
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	program = filepath.Join(dir, "toolscope")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// running is a toolscope process that listens.
type running struct {
	t    *testing.T
	cmd  *exec.Cmd
	url  string
	out  *bufio.Reader // output after the line with the URL
	said bytes.Buffer
	over bool
}

// started starts a toolscope that prints the URL at which it listens. When the test ends, toolscope must end
// without an error.
func started(t *testing.T, code int, args ...string) *running {
	t.Helper()
	r := &running{t: t, cmd: exec.Command(program, args...)}
	r.cmd.Stderr = &r.said
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.end(code) })
	r.out = bufio.NewReader(out)
	line, err := r.out.ReadString('\n')
	at := strings.Index(line, "http://")
	if err != nil || at < 0 {
		t.Fatalf("%v: %q, %v", args, line, err)
	}
	r.url = strings.TrimRight(line[at:], "\"}\n")
	return r
}

// end ends the program, checks its exit code, and returns the rest of its output.
func (r *running) end(code int) (printed []byte) {
	if r.over {
		return nil
	}
	r.over = true
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	printed, err := io.ReadAll(r.out)
	if _ = r.cmd.Wait(); err != nil || r.cmd.ProcessState.ExitCode() != code || r.t.Failed() {
		r.t.Errorf("%v: %v, %v\n%s", r.cmd.Args, r.cmd.ProcessState, err, &r.said)
	}
	return printed
}

// served starts toolscope serve and returns its URL.
func served(t *testing.T, args ...string) string {
	t.Helper()
	return started(t, 128+int(syscall.SIGTERM), append([]string{"serve"}, args...)...).url
}

// through starts a proxy for an upstream and returns the URL for clients.
func through(t *testing.T, upstream string) string {
	t.Helper()
	return started(t, 128+int(syscall.SIGTERM), "proxy", "--to", upstream, "--headless", "--format", "jsonl").url
}

// call is a tool call, as reported by a client library or by toolscope.
type call struct{ ID, Name, Args string }

// printed returns the calls that toolscope prints for a file, or for body if file is "-". It also returns the
// codes of the findings that matter to a client.
func printed(t *testing.T, file string, body []byte) (calls []call, findings []string) {
	t.Helper()
	cmd := exec.Command(program, "print", "--format", "jsonl", file)
	cmd.Stdin = bytes.NewReader(body)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("print %s: %v", file, err)
	}
	return told(t, out)
}

// told returns the calls and findings in toolscope's output.
func told(t *testing.T, out []byte) (calls []call, findings []string) {
	t.Helper()
	lines := json.NewDecoder(bytes.NewReader(out))
	for {
		var line struct {
			Type, ID, Name string
			Raw            string `json:"arguments_raw"`
			Findings       []struct{ Code, Severity string }
		}
		if err := lines.Decode(&line); err == io.EOF {
			return calls, findings
		} else if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if line.Type == "call" {
			calls = append(calls, call{line.ID, line.Name, line.Raw})
		}
		for _, f := range line.Findings {
			if f.Severity != "info" {
				findings = append(findings, f.Code)
			}
		}
	}
}

// recorded writes a capture in which the response arrived in chunks of the given size.
func recorded(t *testing.T, p protocol, size int) (file string, wire []byte) {
	t.Helper()
	wire, err := os.ReadFile(filepath.Join("testdata", p.wire))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	line := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(text, '\n'))
	}
	type m = map[string]any
	line(m{"toolscope": 1, "created": "2026-11-21T09:00:00Z", "by": "e2e"})
	line(m{"t": 0, "x": 1, "side": "request", "head": m{"method": "POST", "url": "https://provider.example" + p.path}})
	line(m{"t": 5, "x": 1, "head": m{"status": 200, "header": m{"Content-Type": []string{p.contentType}}}})
	for at := 0; at < len(wire); at += size {
		line(m{"t": 10 + at/size, "x": 1, "b": wire[at:min(at+size, len(wire))]})
	}
	line(m{"x": 1, "end": "eof"})
	file = filepath.Join(t.TempDir(), p.name+".tsc")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, wire
}
