// Package noprobe prevents terminal queries before main runs.
//
// Bubble Tea v1 queries the background colour in a package init and waits up to five seconds for a
// terminal that does not reply, even for --version. Its query is skipped when CI is set. This
// package imports nothing but syscall, so Go initialises it before Bubble Tea's dependencies, and
// main gives CI back its value first thing.
package noprobe

import "syscall"

var before, wasSet = syscall.Getenv("CI")

// set sets CI when the package is initialised.
var set = syscall.Setenv("CI", "1")

// Restore restores the environment.
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
