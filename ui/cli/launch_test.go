//go:build linux

package cli

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"toolscope/providers"
	"toolscope/stream/marks"
	"toolscope/ui/noprobe"
)

// asHelper is the environment variable that makes the test binary act as a helper. Its value is the helper's name.
const asHelper = "TOOLSCOPE_TEST_HELPER"

var binaryFolder string

func TestMain(m *testing.M) {
	noprobe.Restore()
	if name := os.Getenv(asHelper); name != "" {
		os.Exit(help(name))
	}
	if flag.Parse(); flag.Lookup("test.bench").Value.String() == "" { // the tests create a lot of garbage
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(2 << 30)
	}
	marks.Use(providers.Marks())
	state, err := os.MkdirTemp("", "toolscope-state-") // the tests must not record to the user's home
	if err == nil {
		err = os.Setenv("XDG_STATE_HOME", state)
	}
	if err == nil { // the date of the price table, so that prices are never too old
		err = os.Setenv("SOURCE_DATE_EPOCH", "1794268800") // 2026-11-10
	}
	if err == nil { // the tests must not use the user's configuration
		err = os.Setenv("XDG_CONFIG_HOME", state)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Setenv("LC_ALL", "C.UTF-8")     // the output must not be in ASCII
	_ = flag.Set("test.parallel", "6") // many tests can run at once, because programs on terminals spend most of their time waiting
	code := m.Run()
	if binaryFolder != "" {
		os.RemoveAll(binaryFolder)
	}
	os.RemoveAll(state)
	os.Exit(code)
}

// help runs the test binary as a helper and returns its exit code.
func help(name string) int {
	if name == "job" {
		return runJob()
	}
	if fault, ok := strings.CutPrefix(name, "suite "); ok {
		return runTestAdapter(fault)
	}
	if name == "seeded" {
		return runSeeded("", "anthropic", map[string]string{"ANTHROPIC_BASE_URL": os.Getenv("ANTHROPIC_BASE_URL"), toolURL: os.Getenv(toolURL)}, nil)
	}
	if name == "indexed stats" {
		return runIndexedStats()
	}
	return runBug(name)
}

// binary builds the program as for a release, and returns its path.
var binary = sync.OnceValues(func() (path string, err error) {
	if binaryFolder, err = os.MkdirTemp("", "toolscope-test-"); err != nil {
		return "", err
	}
	path = filepath.Join(binaryFolder, "toolscope")
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "toolscope").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return path, err
})

// builtProgram returns the path of the program, which it builds for the first test that needs it. With -short, it
// skips the test: CI uses -short for the race detector, which can't check another program.
func builtProgram(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts the program")
	}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// launch describes the start of a program. Streams that are not set are the terminal.
type launch struct {
	args                  []string
	env                   []string // added to the usual variables; a variable of the same name is replaced
	w, h                  int
	stdin, stdout, stderr *os.File
	helper                string // runs this helper instead of the program
	asks                  bool   // allows terminal queries
	copies                bool   // allows sequences for the terminal's clipboard
	folder                string // folder in which the program runs
	answer                func(p *console, query string)
	typed                 string // text that is typed before the program starts
}

// start runs a program in a new terminal and a new session, so that its signals don't reach the tests.
func start(t *testing.T, l launch) *console {
	t.Helper()
	if l.w == 0 {
		l.w = 80
	}
	if l.h == 0 {
		l.h = 24
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if l.helper == "" || l.helper == "job" {
		program = builtProgram(t)
	}
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pty: %v", err)
	}
	defer tty.Close()
	p := &console{
		t: t, launch: l, master: master, folder: t.TempDir(),
		screen: newScreen(l.w, l.h), changed: make(chan struct{}, 1), over: make(chan struct{}), deaf: make(chan struct{}), tty: tty.Name(),
	}
	p.resize(l.w, l.h)
	p.before = p.termios()
	p.keys(l.typed)
	p.cmd = exec.Command(program, l.args...)
	if l.helper == "job" {
		self, _ := os.Executable()
		p.cmd = exec.Command(self, append([]string{program}, l.args...)...)
	}
	p.cmd.Dir = l.folder
	p.cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.folder, "TMPDIR=" + p.folder, asHelper + "=" + l.helper,
		"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "COLORFGBG=15;0",
	}, l.env...)
	p.connect(tty)
	p.run()
	return p
}

// connect sets the program's standard streams and its terminal.
func (p *console) connect(tty *os.File) {
	streams := []*os.File{p.launch.stdin, p.launch.stdout, p.launch.stderr}
	p.cmd.ExtraFiles = []*os.File{tty}
	for i, f := range streams {
		if f == nil {
			streams[i] = tty
		}
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = streams[0], streams[1], streams[2]
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
}

func (p *console) run() {
	var report *os.File
	if p.launch.helper == "job" {
		r, w, err := os.Pipe()
		if err != nil {
			p.t.Fatal(err)
		}
		defer w.Close()
		report = r
		p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, w)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.pid = p.cmd.Process.Pid
	p.t.Cleanup(p.end)
	go p.read()
	if report != nil {
		defer report.Close()
		if _, err := fmt.Fscan(report, &p.pid); err != nil {
			p.t.Fatalf("the job did not start: %v\n%s", err, p.describe())
		}
	}
}
