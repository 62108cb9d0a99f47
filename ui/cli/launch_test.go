//go:build linux

package cli

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"toolscope/providers"
	"toolscope/stream/marks"
	"toolscope/ui/noprobe"
)

// asHelper names the environment variable that makes the test binary one of the helpers.
const asHelper = "TOOLSCOPE_TEST_HELPER"

var binaryFolder string

func TestMain(m *testing.M) {
	noprobe.Restore()
	if name := os.Getenv(asHelper); name != "" {
		os.Exit(help(name))
	}
	flag.Parse()
	marks.Use(providers.Marks())
	state, err := os.MkdirTemp("", "toolscope-state-") // nothing is recorded into the home of who tests
	if err == nil {
		err = os.Setenv("XDG_STATE_HOME", state)
	}
	if err == nil { // prices are as new as the table
		err = os.Setenv("SOURCE_DATE_EPOCH", "1794268800") // 2026-11-10
	}
	if err == nil { // nor is it configured by who tests
		err = os.Setenv("XDG_CONFIG_HOME", state)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Setenv("LC_ALL", "C.UTF-8")     // what is printed is not in ASCII
	_ = flag.Set("test.parallel", "6") // programs in terminals wait more than they work
	code := m.Run()
	if binaryFolder != "" {
		os.RemoveAll(binaryFolder)
	}
	os.RemoveAll(state)
	os.Exit(code)
}

// help is what the test binary does as a helper, and its exit code.
func help(name string) int {
	if name == "job" {
		return runJob()
	}
	return runBug(name)
}

// binary is the program, built as it is shipped.
var binary = sync.OnceValues(func() (path string, err error) {
	if binaryFolder, err = os.MkdirTemp("", "toolscope-test-"); err != nil {
		return "", err
	}
	path = filepath.Join(binaryFolder, "toolscope")
	out, err := exec.Command("go", "build", "-o", path, "toolscope").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return path, err
})

// launch says how a program is started: the terminal is what is not said.
type launch struct {
	args                  []string
	env                   []string // beside the usual, or in place of it
	w, h                  int
	stdin, stdout, stderr *os.File
	helper                string // run this helper, not the program
	asks                  bool   // it may ask the terminal
	copies                bool   // it may write to the terminal's clipboard
	folder                string // it runs in
	answer                func(p *console, query string)
	typed                 string // before the program has even begun
}

// start runs a program in a terminal of its own, in a session of its own, so that its signals do
// not reach the tests.
func start(t *testing.T, l launch) *console {
	t.Helper()
	if l.w == 0 {
		l.w = 80
	}
	if l.h == 0 {
		l.h = 24
	}
	program, err := binary()
	if l.helper != "" && l.helper != "job" {
		program, err = os.Executable()
	}
	if err != nil {
		t.Fatal(err)
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

// connect gives the program its standard streams and its terminal.
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
