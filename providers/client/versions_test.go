package client

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestNewer checks that each newer version is later than the version that was run.
func TestNewer(t *testing.T) {
	for name, r := range newer {
		c := MustFind(name)
		if _, err := time.Parse(time.DateOnly, r.Day); err != nil || slices.Compare(versionNumbers(t, r.Version), versionNumbers(t, c.Version)) <= 0 {
			t.Errorf("%s: %v after %s", name, r, c.Version)
		}
	}
	for name, version := range nodes {
		if MustFind(name).Version == "" || versionNumbers(t, version)[0] <= 20 {
			t.Errorf("%s on Node %s", name, version)
		}
	}
}

func versionNumbers(t *testing.T, version string) (all []int) {
	t.Helper()
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}
