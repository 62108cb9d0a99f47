package proxy

import (
	"os"
	"testing"

	"toolscope/providers"
	"toolscope/stream/marks"
)

func TestMain(m *testing.M) {
	marks.Use(providers.Marks())
	os.Exit(m.Run())
}
