//go:build linux

package record

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
)

const (
	killEnv  = "TOOLSCOPE_TEST_RECORD" // the path that the child records to
	killsEnv = "TOOLSCOPE_KILLS"       // number of times that the test kills a child
)

// TestKilled checks that the capture of a recording child that is killed at random moments opens, and is complete
// except for its last line. No record that the child had handed over more than 100 ms before the kill is missing.
func TestKilled(t *testing.T) {
	kills := 25
	if testing.Short() {
		kills = 5
	}
	if n, err := strconv.Atoi(os.Getenv(killsEnv)); err == nil {
		kills = n
	}
	dir := t.TempDir()
	var worst time.Duration
	late, torn, most := 0, 0, 0
	for i := range kills {
		path := filepath.Join(dir, fmt.Sprint(i))
		handed, killed := killOne(t, path)
		written, cut := survived(t, path)
		torn += cut
		if lost := len(handed) - written; lost > 0 {
			age := killed.Sub(handed[written])
			worst, most = max(worst, age), max(most, lost)
			if age > 100*time.Millisecond {
				late++
			}
		}
	}
	t.Logf("%d kills: at most %d records lost, the oldest %v old; %d torn lines", kills, most, worst, torn)
	// The kernel might not schedule the writing thread for a while, so one kill in twenty may be late.
	if late > kills/20 {
		t.Errorf("%d of %d kills cost more than the last 100 ms", late, kills)
	}
}

// killOne returns the times at which the child reported that it had handed over each record, and the time of the
// kill.
func killOne(t *testing.T, path string) (handed []time.Time, killed time.Time) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestKilledChild$")
	child.Env = append(os.Environ(), killEnv+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	at, wasOpen := make(chan time.Time, 1), false
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if lines.Text() != strconv.Itoa(len(handed)) {
			t.Fatalf("child: %s", lines.Text())
		}
		if len(handed) == 0 {
			go func() {
				time.Sleep(rand.N(40 * time.Millisecond))
				wasOpen = IsOpen(path)
				at <- time.Now()
				_ = child.Process.Kill()
			}()
		}
		handed = append(handed, time.Now())
	}
	_ = child.Wait() // killed
	if len(handed) == 0 {
		t.Fatal("the child has recorded nothing")
	}
	killed = <-at
	if !wasOpen || IsOpen(path) {
		t.Errorf("recording before the kill: %v, after it: %v", wasOpen, IsOpen(path))
	}
	return handed, killed
}

// survived returns the number of records in a capture, which must be the first ones, and the number of its
// incomplete lines.
func survived(t *testing.T, path string) (n, torn int) {
	t.Helper()
	src, err := capture.Open(context.Background(), path, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range collect(t, src) {
		switch {
		case strings.Contains(r.Note, "the file ends inside the line"):
			torn++
		case r.Note != "":
			t.Error(r.Note)
		case r.End != "": // of the reader
		case !strings.HasPrefix(string(r.Data), fmt.Sprintf("%d ", n)):
			t.Fatalf("record %d: %.20q", n, r.Data)
		default:
			n++
		}
	}
	return n, torn
}

func TestKilledChild(t *testing.T) {
	path := os.Getenv(killEnv)
	if path == "" {
		t.Skip("runs as a child")
	}
	began := time.Now()
	r, err := Create(path, began, "test")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1_000_000 {
		put(r, capture.Record{
			Exchange: 1, At: time.Since(began),
			Data: fmt.Appendf(nil, "%d %s", i, strings.Repeat("x", rand.N(2000))),
		})
		fmt.Println(i)
		if i%8 == 0 {
			time.Sleep(rand.N(time.Millisecond))
		}
	}
}
