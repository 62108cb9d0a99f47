package stream

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// TestMain makes garbage collection rare, except in benchmarks, because the tests create a lot of garbage but keep
// little memory.
func TestMain(m *testing.M) {
	if flag.Parse(); flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
