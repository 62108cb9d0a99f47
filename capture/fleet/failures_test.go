//go:build unix && !nohub

package fleet

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// program builds the toolscope binary and returns its path.
func program(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "toolscope")
	if out, err := exec.Command("go", "build", "-o", path, "toolscope").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// site is a hub and some machines that follow logs. The hub and each machine run in their own processes.
type site struct {
	t       *testing.T
	program string
	dir     string
	addr    string
	hub     *exec.Cmd
	hosts   []*exec.Cmd
	written []int // number of lines written to each log
	view    *View
	stop    func()
	read    chan struct{} // closed when the view has ended
}

const siteHosts = 5

func newSite(t *testing.T, program string) *site {
	s := &site{t: t, program: program, dir: t.TempDir(), addr: freePort(t), hosts: make([]*exec.Cmd, siteHosts), written: make([]int, siteHosts)}
	s.startHub()
	for i := range s.hosts {
		s.write(i, 1)
		s.startHost(i)
	}
	of, _ := ParseAddress("nats://" + s.addr)
	var err error
	if s.view, err = Open(context.Background(), of, Credentials{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.read = make(chan struct{})
	s.stop = func() { cancel(); <-s.read }
	go func() {
		defer close(s.read)
		for range s.view.Source(ctx) {
		}
	}()
	t.Cleanup(func() {
		s.stop()
		for _, p := range append(s.hosts, s.hub) {
			end(p, syscall.SIGKILL)
		}
	})
	return s
}

func (s *site) run(args ...string) *exec.Cmd {
	cmd := exec.Command(s.program, args...)
	cmd.Env = append(os.Environ(), "TOOLSCOPE_CONFIG=/dev/null", "XDG_STATE_HOME="+s.dir)
	cmd.Stderr = os.Stderr
	return cmd
}

func (s *site) startHub(more ...string) {
	s.hub = s.run(append([]string{"hub", "--listen", s.addr, "--store", filepath.Join(s.dir, "store")}, more...)...)
	out, err := s.hub.StdoutPipe()
	if err == nil {
		err = s.hub.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || strings.TrimSpace(line) != "nats://"+s.addr {
		s.t.Fatal(line, err)
	}
}

func (s *site) startHost(i int) {
	s.hosts[i] = s.run("-f", s.log(i), "--publish", "nats://"+s.addr, "--host", fmt.Sprint("h", i), "--spool", filepath.Join(s.dir, fmt.Sprint("spool", i)))
	if err := s.hosts[i].Start(); err != nil {
		s.t.Fatal(err)
	}
}

func end(p *exec.Cmd, sig os.Signal) {
	_ = p.Process.Signal(sig)
	_ = p.Wait()
}

func (s *site) log(i int) string { return filepath.Join(s.dir, fmt.Sprintf("%d.sse", i)) }

// write appends lines to the log of machine i.
func (s *site) write(i, lines int) {
	f, err := os.OpenFile(s.log(i), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	for range lines {
		s.written[i]++
		fmt.Fprintf(f, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word %d \"}}]}\n\n", s.written[i])
	}
}

// work keeps appending to all logs for the duration d.
func (s *site) work(d time.Duration) {
	for until := time.Now().Add(d); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		for i := range s.hosts {
			s.write(i, 20)
		}
	}
}

// spools returns the contents of the spools of all machines, by the subject of each capture.
func (s *site) spools() map[string][]byte {
	all := map[string][]byte{}
	files, _ := filepath.Glob(filepath.Join(s.dir, "spool*", "*", "*.tsc"))
	for _, path := range files {
		part := strings.Split(filepath.Base(path), ".")
		text, err := os.ReadFile(path)
		if err == nil && len(text) > 0 {
			all[captureSubject(bytesKind, unescapeToken(part[0]), unescapeToken(part[1]), part[2])] = text
		}
	}
	return all
}

// same waits until the hub stores the same bytes as all the spools, and the spools contain the last line of each log.
func (s *site) same() {
	s.t.Helper()
	conn, err := nats.Connect("nats://" + s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	js, _ := jetstream.New(conn)
	var has, wants map[string][]byte
	eventually(s.t, "the hub has what the spools have", func() bool {
		time.Sleep(time.Second / 4)
		has, wants = holds(s.t, js), s.spools()
		if len(has) != len(wants) {
			return false
		}
		for i := range s.hosts {
			last := []byte(fmt.Sprintf("word %d ", s.written[i]))
			found := false
			for subject, text := range wants {
				found = found || strings.Contains(subject, fmt.Sprint(".h", i, ".")) && bytes.Contains(text, last)
			}
			if !found {
				return false
			}
		}
		for subject, text := range wants {
			if !bytes.Equal(has[subject], text) {
				return false
			}
		}
		return true
	})
	size := 0
	for _, text := range wants {
		size += len(text)
	}
	s.t.Logf("%d captures, %d bytes: the same in spools and hub", len(wants), size)
}

// readAll waits a second, ends the view and checks that the view read every byte of the spools.
func (s *site) readAll() {
	s.t.Helper()
	var size int64
	for _, text := range s.spools() {
		size += int64(len(text))
	}
	time.Sleep(time.Second)
	s.stop()
	if state := s.view.State(); state.Lost != 0 || state.Gaps != 0 || s.view.bytesRead != size {
		s.t.Errorf("the view read %d of %d bytes: %+v", s.view.bytesRead, size, state)
	}
}

// TestFailures checks that the spools and the hub store the same bytes after any process was killed or stopped, and
// that a view that ran all the time read every byte.
func TestFailures(t *testing.T) {
	if os.Getenv("TOOLSCOPE_LONG") == "" {
		t.Skip("with TOOLSCOPE_LONG=1")
	}
	path := program(t)
	const while = time.Second
	for _, c := range []struct {
		name string
		do   func(*site)
	}{
		{"the hub is killed", func(s *site) {
			end(s.hub, syscall.SIGKILL)
			s.work(while)
			s.startHub()
		}},
		{"the hub is killed five times", func(s *site) {
			for range 5 {
				end(s.hub, syscall.SIGKILL)
				s.work(while / 4)
				s.startHub()
				s.work(while / 4)
			}
		}},
		{"the hub is frozen", func(s *site) {
			_ = s.hub.Process.Signal(syscall.SIGSTOP)
			s.work(8 * time.Second)
			_ = s.hub.Process.Signal(syscall.SIGCONT)
		}},
		{"the hub's files are older", func(s *site) {
			old := filepath.Join(s.dir, "old")
			copyDir(s.t, filepath.Join(s.dir, "store"), old)
			s.work(3 * while)
			end(s.hub, syscall.SIGKILL)
			_ = os.RemoveAll(filepath.Join(s.dir, "store"))
			_ = os.Rename(old, filepath.Join(s.dir, "store"))
			s.startHub()
		}},
		{"the hub's files are gone", func(s *site) {
			end(s.hub, syscall.SIGKILL)
			_ = os.RemoveAll(filepath.Join(s.dir, "store"))
			s.work(while)
			s.startHub()
		}},
		{"hosts are killed", func(s *site) {
			for i := range s.hosts {
				end(s.hosts[i], syscall.SIGKILL)
				s.startHost(i)
			}
		}},
		{"hosts and hub are killed", func(s *site) {
			end(s.hub, syscall.SIGKILL)
			s.work(while)
			for i := range s.hosts {
				end(s.hosts[i], syscall.SIGKILL)
			}
			s.startHub()
			for i := range s.hosts {
				s.startHost(i)
			}
		}},
		{"hosts end", func(s *site) {
			for i := range s.hosts {
				end(s.hosts[i], syscall.SIGTERM)
				s.startHost(i)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, path)
			s.work(while)
			c.do(s)
			s.work(while)
			s.same()
			s.readAll()
		})
	}
}
