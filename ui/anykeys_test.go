package ui

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"toolscope/ui/panes"
)

// acceptedSizes are the sizes at which each screen is checked.
var acceptedSizes = [][2]int{{40, 10}, {60, 18}, {80, 24}, {100, 30}, {140, 40}, {250, 60}}

// anyKeys returns keys to choose from at random. It leaves out keys that end or suspend the program or send a request,
// and <, which begins the name of a key in the tests.
func anyKeys() (keys []string) {
	for r := '!'; r <= '~'; r++ {
		if !strings.ContainsRune("<qRZ", r) {
			keys = append(keys, string(r))
		}
	}
	names := []string{" "}
	for name := range specialKeys {
		if name != "c-c" && name != "c-z" {
			names = append(names, "<"+name+">")
		}
	}
	slices.Sort(names)
	for range 3 {
		keys = append(keys, names...) // named keys are chosen more often than letters
	}
	return keys
}

// anySources are the sources that the screen shows while keys are pressed.
var anySources = []struct {
	name   string
	change []func(*Options)
	feed   func(*rig)
}{
	{"failures", []func(*Options){handed, cutting}, feeding(failures)},
	{"streams", []func(*Options){awaiting}, threeStreams},
	{"history", nil, feeding(demoRecords("history"))},
	{"tour", []func(*Options){touring}, tourWhole},
}

// checkCursors fails the test if the row of keys is empty, or if the row of the list's cursor is out of view.
func checkCursors(t testing.TB, s *rig) {
	t.Helper()
	checkFrame(t, s)
	rows := s.rows()
	if strings.TrimSpace(rows[len(rows)-1]) == "" {
		t.Fatalf("the row of keys is empty:\n%s", s.text())
	}
	if s.modeStack.isCovered() || s.tour.isTourOpening() || s.tour.isSummaryOpen() || s.setup.isWaitingForClients() {
		return
	}
	l := &s.list.Window
	if _, h, shown := paneSize(s.frame.paneColumns(), panes.Pane(s.list)); shown && h > 0 && l.Rows > 0 && l.Height > 0 {
		if l.At < l.Top || l.At >= l.Top+l.Height {
			t.Fatalf("the cursor is on row %d, rows %d to %d are in view:\n%s", l.At, l.Top, l.Top+l.Height-1, s.text())
		}
	}
}

// TestAnyKeys presses random keys and resizes at random. It checks that each frame has all its rows, that no
// row is too wide, that there are key hints, and that the cursor's row is in view.
func TestAnyKeys(t *testing.T) {
	drawsAlone(t)
	keys := anyKeys()
	for i, source := range anySources {
		for j, size := range acceptedSizes {
			t.Run(fmt.Sprintf("%s %dx%d", source.name, size[0], size[1]), func(t *testing.T) {
				random := rand.New(rand.NewPCG(uint64(i), uint64(j)))
				s := newScreen(t, size[0], size[1], source.change...)
				source.feed(s)
				var pressed []string
				defer func() {
					if t.Failed() {
						t.Logf("after %s", strings.Join(pressed, ""))
					}
				}()
				for range 1400 / (2*thin() - 1) {
					key := keys[random.IntN(len(keys))]
					pressed = append(pressed, key)
					s.press(key)
					checkCursors(t, s)
					if random.IntN(20) == 0 {
						to := acceptedSizes[random.IntN(len(acceptedSizes))]
						pressed = append(pressed, fmt.Sprintf(" [%dx%d] ", to[0], to[1]))
						s.resize(to[0], to[1])
						checkCursors(t, s)
					}
				}
			})
		}
	}
}

// TestAnyKeysAreFlat checks that after many random keys, the program uses no more memory and no more
// goroutines than before.
func TestAnyKeysAreFlat(t *testing.T) {
	drawsAlone(t)
	keys, random := anyKeys(), rand.New(rand.NewPCG(9, 10))
	s := newScreen(t, 140, 40, handed, cutting)
	feeding(failures)(s)
	var before, after runtime.MemStats
	walk := func(n int, m *runtime.MemStats) int {
		for range n {
			s.press(keys[random.IntN(len(keys))]).View()
		}
		runtime.GC()
		runtime.ReadMemStats(m)
		return runtime.NumGoroutine()
	}
	many := 100_000 / thin() / thin()
	goroutines := walk(many, &before)
	if n := walk(2*many, &after); n > goroutines {
		t.Errorf("%d goroutines, and %d after %d more keys", goroutines, n, 2*many)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 2<<20 {
		t.Errorf("%d bytes more after %d more keys", grown, 2*many)
	}
}
