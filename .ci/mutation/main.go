// Command mutation makes one change to a package at a time and runs tests. A change survives if no test
// fails.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
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

// change replaces a part of a file with other text.
type change struct {
	file         string
	source       []byte
	from, to     int
	text         string
	line, column int
}

func (c change) apply() []byte {
	return append(append(append([]byte(nil), c.source[:c.from]...), c.text...), c.source[c.to:]...)
}

func (c change) String() string {
	short := func(s string) string {
		if s = strings.Join(strings.Fields(s), " "); len(s) > 70 {
			s = s[:70] + "…"
		}
		return s
	}
	text := short(c.text)
	if text == "" {
		text = "(nothing)"
	}
	return fmt.Sprintf("%s:%d:%d: %s → %s", filepath.Base(c.file), c.line, c.column, short(string(c.source[c.from:c.to])), text)
}

// finder collects the possible changes of a file.
type finder struct {
	set    *token.FileSet
	file   string
	source []byte
	found  []change
}

// changesOf returns all possible changes of a file.
func changesOf(file string) ([]change, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	f := &finder{set: token.NewFileSet(), file: file, source: source}
	parsed, err := parser.ParseFile(f.set, file, source, 0)
	if err != nil {
		return nil, err
	}
	for _, d := range parsed.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil { // only functions are changed, because tables are data
			ast.Inspect(fn.Body, f.look)
		}
	}
	return f.found, nil
}

func (f *finder) add(n ast.Node, text string) {
	at, end := f.set.Position(n.Pos()), f.set.Position(n.End())
	f.found = append(f.found, change{f.file, f.source, at.Offset, end.Offset, text, at.Line, at.Column})
}

func (f *finder) textOf(n ast.Node) string {
	return string(f.source[f.set.Position(n.Pos()).Offset:f.set.Position(n.End()).Offset])
}

// swapped maps an operator to the operator that replaces it.
var swapped = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*", token.AND: "|", token.OR: "&", token.SHL: ">>", token.SHR: "<<",
}

func (f *finder) look(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		left, right := f.textOf(n.X), f.textOf(n.Y)
		if n.Op == token.LAND || n.Op == token.LOR {
			f.add(n, left)
			f.add(n, right)
		} else if op := swapped[n.Op]; op != "" {
			f.add(n, left+" "+op+" "+right)
		}
	case *ast.IfStmt:
		f.add(n.Cond, "!("+f.textOf(n.Cond)+")")
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			f.add(n, f.textOf(n.X))
		}
	case *ast.BasicLit:
		if i, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
			f.add(n, strconv.Itoa(i+1))
		}
	case *ast.Ident:
		switch n.Name {
		case "true":
			f.add(n, "false")
		case "false":
			f.add(n, "true")
		}
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.BranchStmt:
		f.add(n, "")
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			f.add(n, "")
		}
	case *ast.ReturnStmt:
		if len(n.Results) == 0 {
			f.add(n, "")
		}
	}
	return true
}

// block is a part of a file that a test runs.
type block struct{ fromLine, fromColumn, toLine, toColumn int }

// coverage contains the blocks that tests run, by file name.
type coverage map[string][]block

// coverage runs the tests on the unchanged code and returns the blocks that they run. The tests must pass.
func (o *options) coverage(profile string) (coverage, error) {
	args := []string{"test", "-count=1", "-run", o.run, "-coverprofile", profile, "-coverpkg", o.pkg}
	if out, err := o.output(context.Background(), append(args, o.tests...)...); err != nil {
		return nil, fmt.Errorf("the tests fail even without a change: %w\n%s", err, out)
	}
	file, err := os.Open(profile)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	c := coverage{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		name, rest, ok := strings.Cut(lines.Text(), ".go:")
		var b block
		var statements, times int
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.fromLine, &b.fromColumn, &b.toLine, &b.toColumn, &statements, &times); ok && err == nil && times > 0 {
			base := filepath.Base(name) + ".go"
			c[base] = append(c[base], b)
		}
	}
	return c, lines.Err()
}

// has reports whether a test runs the code at a change.
func (c coverage) has(at change) bool {
	for _, b := range c[filepath.Base(at.file)] {
		after := at.line > b.fromLine || at.line == b.fromLine && at.column >= b.fromColumn
		if after && (at.line < b.toLine || at.line == b.toLine && at.column <= b.toColumn) {
			return true
		}
	}
	return false
}
