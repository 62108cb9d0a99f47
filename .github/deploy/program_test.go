package deploy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// programs holds the paths of the programs built from this tree, by their build tags.
var programs struct {
	sync.Mutex
	dir  string
	made map[string]string
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "toolscope-deploy-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programs.dir, programs.made = dir, map[string]string{}
	return m.Run()
}

// program returns the path of toolscope, built with the given tags.
func program(t *testing.T, tags string) string {
	t.Helper()
	programs.Lock()
	defer programs.Unlock()
	if path := programs.made[tags]; path != "" {
		return path
	}
	path := filepath.Join(programs.dir, fmt.Sprintf("toolscope-%d", len(programs.made)))
	build := exec.Command("go", "build", "-tags", tags, "-o", path, ".")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	programs.made[tags] = path
	return path
}

// process runs the program of a container as a process of this machine.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	said bytes.Buffer
	out  *bufio.Reader
}

// started starts a process. The process is killed at the end of the test if it is still running.
func started(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(args[0], args[1:]...)}
	p.cmd.Env = env
	p.cmd.Stderr = &p.said
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
			_ = p.cmd.Wait()
		}
	})
	return p
}

// listens waits until the process prints the address at which it listens, and returns the process.
func (p *process) listens() *process {
	p.t.Helper()
	if line, err := p.out.ReadString('\n'); err != nil || !strings.Contains(line, "://127.0.0.1:") {
		_ = p.cmd.Wait()
		p.t.Fatalf("%v: %q, %v\n%s", p.cmd.Args, line, err, &p.said)
	}
	go func() { _, _ = io.Copy(io.Discard, p.out) }()
	return p
}

// ends sends the signal that stops containers, and checks the exit code.
func (p *process) ends(code int) {
	p.t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("%v ended with %d\n%s", p.cmd.Args, got, &p.said)
	}
}

// freeAddress returns an address on this machine at which no program listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func file(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// patience is the maximum time to wait for an expected event.
const patience = time.Minute
