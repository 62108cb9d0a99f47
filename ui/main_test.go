package ui

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// TestMain makes garbage collection rare, except in benchmarks, because the tests allocate much memory and keep
// little of it.
func TestMain(m *testing.M) {
	if flag.Parse(); flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
