package formats

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"

	"toolscope/providers"
	"toolscope/stream/marks"
)

// TestMain makes garbage collection rare, except in benchmarks, because the tests make much garbage and keep
// little memory.
func TestMain(m *testing.M) {
	if flag.Parse(); flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(400)
	}
	marks.Use(providers.Marks())
	os.Exit(m.Run())
}
