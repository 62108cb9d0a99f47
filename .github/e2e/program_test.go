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

// program is toolscope, built from this tree.
var program string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "toolscope-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "toolscope")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// served starts toolscope serve and returns the URL it prints. When the test ends, the program has to end as it should.
func served(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, append([]string{"serve"}, args...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) || t.Failed() {
			t.Errorf("%v: %v\n%s", args, cmd.ProcessState, &said)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("serve %v: %v", args, err)
	}
	return strings.TrimSpace(line)
}

// through is the URL a client is given in place of the upstream's.
func through(_ *testing.T, upstream string) string { return upstream }

// call is a tool call as a client library or toolscope tells it.
type call struct{ ID, Name, Args string }

// printed is the calls that toolscope shows of a file, or of body when the file is "-", and the codes of those findings
// that a client has to mind.
func printed(t *testing.T, file string, body []byte) (calls []call, findings []string) {
	t.Helper()
	cmd := exec.Command(program, "print", "--format", "jsonl", file)
	cmd.Stdin = bytes.NewReader(body)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("print %s: %v", file, err)
	}
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
			t.Fatalf("print %s: %v\n%s", file, err, out)
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

// recorded writes a capture in which the wire came in pieces of so many bytes.
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
