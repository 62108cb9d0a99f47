// Command mutation makes one change to a package at a time and runs tests. A change survives if no test
// fails.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// options are the flags and arguments of the command.
type options struct {
	root    string // root directory of the module
	pkg     string // package to change
	tests   []string
	run     string
	files   *regexp.Regexp
	n       int
	seed    uint64
	jobs    int
	timeout time.Duration
	budget  time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "directory of the module")
	tests := flag.String("tests", "", "packages whose tests are run (default: the changed package)")
	flag.StringVar(&o.run, "run", "", "run only tests that match, as in go test -run")
	files := flag.String("files", "", "change only files whose names match")
	flag.IntVar(&o.n, "n", 150, "number of changes, drawn at random; 0 for all")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the random draw")
	flag.IntVar(&o.jobs, "jobs", 2, "number of test runs at the same time")
	flag.DurationVar(&o.timeout, "timeout", time.Minute, "time limit of a test run; a change that exceeds it counts as noticed")
	flag.DurationVar(&o.budget, "budget", 0, "time after which no more changes are tried; 0 for no limit")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: .ci/mutate [FLAGS] PACKAGE, e.g. .ci/mutate ./stream")
		os.Exit(2)
	}
	o.pkg, o.files = flag.Arg(0), regexp.MustCompile(*files)
	if o.tests = strings.Fields(*tests); len(o.tests) == 0 {
		o.tests = []string{o.pkg}
	}
	if err := o.mutate(); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

// mutate finds the changes, draws a sample, runs the tests with each change and prints the results.
func (o *options) mutate() error {
	dir, names, err := o.sources()
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	covered, err := o.coverage(filepath.Join(work, "profile"))
	if err != nil {
		return err
	}
	var all []change
	blind := 0
	for _, name := range names {
		if !o.files.MatchString(name) {
			continue
		}
		found, err := changesOf(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		for _, c := range found {
			if covered.has(c) {
				all = append(all, c)
			} else {
				blind++
			}
		}
	}
	rand.New(rand.NewPCG(o.seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	fmt.Printf("%d changes, and %d in code that no test reaches\n", len(all), blind)
	o.try(all, work)
	return nil
}

// sources returns the Go files of the package, without tests.
func (o *options) sources() (dir string, names []string, err error) {
	out, err := o.output(context.Background(), "list", "-f", "{{.Dir}}{{range .GoFiles}}\n{{.}}{{end}}", o.pkg)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[0], lines[1:], nil
}

// try runs the tests with one change after another until o.n changes have compiled. It prints the changes
// that survive.
func (o *options) try(all []change, work string) {
	var mutex sync.Mutex
	count, begun, start := map[verdict]int{}, 0, time.Now()
	next := func() (c change, ok bool) {
		mutex.Lock()
		defer mutex.Unlock()
		if len(all) == 0 || o.n > 0 && begun-count[unbuilt] >= o.n || o.budget > 0 && time.Since(start) > o.budget {
			return c, false
		}
		c, all = all[0], all[1:]
		begun++
		return c, true
	}
	var wait sync.WaitGroup
	for job := range o.jobs {
		wait.Go(func() {
			for c, ok := next(); ok; c, ok = next() {
				v := o.judge(c, filepath.Join(work, fmt.Sprint(job)))
				mutex.Lock()
				if count[v]++; v == survived {
					fmt.Println(c)
				}
				mutex.Unlock()
			}
		})
	}
	wait.Wait()
	fmt.Printf("%d tried: %d noticed, %d ran too long, %d survived; %d more did not build\n",
		begun-count[unbuilt], count[noticed], count[late], count[survived], count[unbuilt])
}

type verdict int

const (
	noticed verdict = iota
	late
	survived
	unbuilt
)

// judge runs the tests with one change and returns the verdict.
func (o *options) judge(c change, base string) verdict {
	changed, overlay := base+".go", base+".json"
	replace, _ := json.Marshal(map[string]any{"Replace": map[string]string{c.file: changed}})
	if errors.Join(os.WriteFile(changed, c.apply(), 0o600), os.WriteFile(overlay, replace, 0o600)) != nil {
		return unbuilt
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.timeout+30*time.Second)
	defer cancel()
	args := []string{"test", "-overlay", overlay, "-vet=off", "-count=1", "-failfast", "-timeout", o.timeout.String(), "-run", o.run}
	out, err := o.output(ctx, append(args, o.tests...)...)
	switch {
	case err == nil:
		return survived
	case strings.Contains(out, "[build failed]"):
		return unbuilt
	case ctx.Err() != nil || strings.Contains(out, "panic: test timed out"):
		return late
	}
	return noticed
}

// output runs the go command in the module and returns its output.
func (o *options) output(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = o.root
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // ends compilers as well
	out, err := cmd.CombinedOutput()
	return string(out), err
}
