//go:build !linux

package cli

// runInBackground calls f. Only Linux gives a thread a priority of its own.
func runInBackground(f func()) { f() }
