package cli

import (
	"context"
	"testing"
	"time"

	"toolscope/capture"
)

func TestLoadText(t *testing.T) {
	for _, c := range []struct {
		read, size int64
		took       time.Duration
		want       string
	}{
		{300_000_000, 1_200_000_000, 10 * time.Second, "reading 25 % of 1200 MB, 30 MB/s, 31s left"},
		{1_000, 2_000_000, time.Second, "reading 0 % of 2000 kB, 1000 B/s, 33m20s left"},
		{0, 5_000_000, time.Second, "reading 0 % of 5000 kB, 0 B/s"},
	} {
		if got := loadText(c.read, c.size, c.took); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestLoading checks that the progress counts the bytes of all files, followed or not, and reaches the total size.
func TestLoading(t *testing.T) {
	for _, follow := range []bool{false, true} {
		l := &loadProgress{ctx: context.Background(), began: time.Now().Add(-time.Minute)}
		o := capture.Options{Progress: &l.Progress, Follow: follow}
		a, b := saved(t, "a.sse", string(turnOf("a"))), saved(t, "b.sse", string(turnOf("b")))
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		src, err := capture.OpenAll(ctx, []string{a, b}, o)
		if err != nil {
			t.Fatal(err)
		}
		if read, size := l.State(); !follow && (read != 0 || size != int64(len(turnOf("a"))+len(turnOf("b"))) || len(l.statusNotes()) != 1) {
			t.Errorf("before: %d of %d, %v", read, size, l.statusNotes())
		}
		seen := 0
		for range src {
			if seen++; follow && seen == 2 {
				stop()
			}
		}
		if read, size := l.State(); read != size || size == 0 || l.statusNotes() != nil {
			t.Errorf("follow %t: %d of %d, %v", follow, read, size, l.statusNotes())
		}
	}
}
