// Package noprobe keeps the terminal from being asked anything before main runs.
//
// Bubble Tea v1 queries the background colour in a package init and waits up to five seconds for a
// terminal that does not answer, even for --version. Its query is skipped when CI is set. This
// package imports nothing but syscall, so Go initialises it before Bubble Tea's dependencies, and
// main gives CI back its value first thing.
package noprobe

import "syscall"

var before, wasSet = syscall.Getenv("CI")

// set is evaluated by the package's initialisation, which is the whole point.
var set = syscall.Setenv("CI", "1")

// Restore gives the environment back what it was.
func Restore() {
	if set != nil {
		return
	}
	if wasSet {
		_ = syscall.Setenv("CI", before)
		return
	}
	_ = syscall.Unsetenv("CI")
}
