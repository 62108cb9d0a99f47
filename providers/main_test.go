package providers

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// TestMain makes garbage collection rare, except in benchmarks, because the tests create much garbage but keep little
// memory.
func TestMain(m *testing.M) {
	if flag.Parse(); flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}

// inLong returns some seeds or samples for the normal run, and all of them with TOOLSCOPE_LONG=1.
func inLong(some, all uint64) uint64 {
	if os.Getenv("TOOLSCOPE_LONG") != "" {
		return all
	}
	return some
}
