package cli

import (
	"strings"
	"testing"
)

// TestSizeOf checks sizes with decimal and binary units.
func TestSizeOf(t *testing.T) {
	for text, want := range map[string]int64{
		"500MB": 500_000_000, "1.5 GB": 1_500_000_000, "2000k": 2_000_000, "5000000": 5_000_000, "3000000B": 3_000_000, "1TB": 1_000_000_000_000,
		"20GiB": 20 << 30, "1024 KiB": 1 << 20, "1.5mib": 3 << 19, "2Ti": 2 << 40,
	} {
		if got, err := sizeOf("--keep", text); err != nil || got != want {
			t.Errorf("%s is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "MB", "GiB", "5iB", "5000000i", "-1GB", "1kB", "1KiB", "2000TB", "NaN", "5PiB"} {
		if _, err := sizeOf("--keep", text); err == nil || !strings.Contains(err.Error(), "KiB, MiB, GiB and TiB") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := sizeOf("--keep", "64kB"); err == nil || !strings.Contains(err.Error(), `"64kB": too small`) {
		t.Error(err)
	}
}
