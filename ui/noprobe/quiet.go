// Package noprobe prevents terminal queries before main runs.
//
// Bubble Tea v1 queries the background colour in a package's init function. It waits up to five seconds for a
// terminal that does not reply, even for --version. It skips this query when CI is set. This package sets CI.
// It imports only syscall, so Go initialises it before Bubble Tea's dependencies. The function main calls
// Restore first.
package noprobe

import "syscall"

var before, wasSet = syscall.Getenv("CI")

// set is the error from setting CI during package initialisation.
var set = syscall.Setenv("CI", "1")

// Restore restores the old value of CI.
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
