//go:build !nohub

package fleet

import (
	"flag"
	"os"
	"testing"
)

// TestMain runs up to eight tests in parallel: hubs, publishers and views mostly wait for each other.
func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "8")
	os.Exit(m.Run())
}
