package redact

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// TestMain has garbage collected rarely, except in benchmarks: the tests make much of it and keep
// little.
func TestMain(m *testing.M) {
	if flag.Parse(); flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
