package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

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
