package ui

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolscope/stream"
	"toolscope/ui/screen"
)

// bodyRows returns the rows of the panes.
func (s *rig) bodyRows() []string {
	rows := s.rows()[1 : 1+s.bodyHeight()]
	for i := range rows {
		rows[i] = strings.ReplaceAll(rows[i], "━", "─") // while the timeline is shown, its edge is the heavy one
	}
	return rows
}

// checkMoments goes back and forth between the moments between records. It fails unless the panes look as in
// a program that has received only the records up to that moment.
func checkMoments(t *testing.T, records []stream.Record, w, h, most int) {
	t.Helper()
	walks := newScreen(t, w, h)
	last := map[int]int{} // for each number of events, the number of records that contain them
	for i, r := range records {
		last[walks.in.Timeline.Len()] = i
		walks.feed(r)
	}
	walks.press(" ")
	var moments []int
	for n := range last {
		if n > 0 {
			moments = append(moments, n)
		}
	}
	slices.Sort(moments)
	rng := rand.New(rand.NewPCG(5, uint64(len(records))))
	for len(moments) > most {
		i := rng.IntN(len(moments))
		moments = slices.Delete(moments, i, i+1)
	}
	back := slices.Clone(moments)
	rng.Shuffle(len(back), func(i, j int) { back[i], back[j] = back[j], back[i] })
	for _, n := range append(moments, back...) {
		walks.moment.goToMoment(n)
		walks.send(nil)
		fresh := newScreen(t, w, h).feed(records[:last[n]]...)
		fresh.resize(w, h-walks.moment.stripRows())
		for _, s := range []*rig{fresh, walks} { // the scroll position of panes belongs to the user, not to the moment
			s.setFollow(true)
			s.list.Top, s.doc.Top, s.wire.Top = 0, 0, 0
			s.refreshPanes()
		}
		if diff := cmp.Diff(fresh.bodyRows(), walks.bodyRows()); diff != "" {
			t.Fatalf("%d events of %d at %dx%d (-then +moment):\n%s", n, walks.in.Timeline.Len(), w, h, diff)
		}
		checkTabs(t, n, fresh, walks)
	}
}

// checkTabs fails unless each tab shows at a moment what it showed when that moment was live. It checks the newest
// call and, at every other moment, that call's turn.
func checkTabs(t *testing.T, n int, fresh, walks *rig) {
	t.Helper()
	desk := walks.paneLayout
	for _, s := range []*rig{fresh, walks} {
		if n%2 > 0 && s.selected.Call > 0 {
			s.selectRef(stream.Ref{Turn: s.selected.Turn})
		}
	}
	for _, p := range walks.table {
		if !p.isTab() {
			continue
		}
		if diff := cmp.Diff(fresh.tabRows(p.key), walks.tabRows(p.key)); diff != "" {
			t.Fatalf("tab %s, %d events of %d at %dx%d (-then +moment):\n%s", p.key, n, walks.in.Timeline.Len(), walks.w, walks.h, diff)
		}
	}
	walks.paneLayout = desk
	walks.refreshPanes()
}

// tabRows returns the rows of the panes while the tab with the given key is open, from its start.
func (s *rig) tabRows(key string) []string {
	i := slices.IndexFunc(s.table, func(p placedPane) bool { return p.key == key })
	s.focusOn(s.table[i].Pane)
	s.send(nil)
	for range 3 {
		if s.cmd == nil {
			break
		}
		s.settle()
	}
	for _, w := range []*screen.Window{&s.wire.Window, &s.findings.Window, &s.runs.Window, &s.request.Window, &s.result.Window} {
		*w = screen.Window{}
	}
	s.refreshPanes()
	return s.bodyRows()
}

// TestMomentFrames checks with the demos that a moment looks as it did when it was live.
func TestMomentFrames(t *testing.T) {
	for _, name := range []string{"parallel", "cut", "index-zero", "malformed", "early", "schema", "protocols", "aistudio", "history", "compare"} {
		t.Run(name, func(t *testing.T) {
			for _, size := range [][2]int{{80, 24}, {140, 40}, {40, 12}} {
				checkMoments(t, demo(t, name), size[0], size[1], 24/thin())
			}
		})
	}
}

// TestCorpusMomentFrames checks with captured streams that a moment looks as it did when it was live.
func TestCorpusMomentFrames(t *testing.T) {
	eachCapture(t, func(t *testing.T, records []stream.Record) { checkMoments(t, records, 140, 40, 6) })
}

// eachCapture runs a test with the lines of captured streams: with TOOLSCOPE_LONG all streams, otherwise every
// seventh. It shortens long streams.
func eachCapture(t *testing.T, test func(*testing.T, []stream.Record)) {
	root := os.Getenv("TOOLSCOPE_CORPUS")
	if root == "" {
		t.Skip("set TOOLSCOPE_CORPUS to a folder of recorded streams")
	}
	files, err := filepath.Glob(filepath.Join(root, "dev", "*", "*"))
	if err != nil || len(files) < 150 {
		t.Fatalf("%d captures: %v", len(files), err)
	}
	for i, file := range files {
		if i%thin() != 0 {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			wire, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var records []stream.Record
			for line := range strings.SplitAfterSeq(string(wire[:min(len(wire), 200<<10)]), "\n") {
				records = append(records, stream.Record{Exchange: 1, At: time.Duration(len(records)) * time.Millisecond, Data: []byte(line)})
			}
			test(t, records)
		})
	}
}

// mostEvery is the number of events up to which every moment is checked.
const mostEvery = 2000

// TestCorpusEveryMoment checks every moment of the first 2,000 events, forwards and then backwards, while the
// live screen grows.
func TestCorpusEveryMoment(t *testing.T) {
	if os.Getenv("TOOLSCOPE_LONG") == "" {
		t.Skip("every moment is looked at with TOOLSCOPE_LONG=1")
	}
	eachCapture(t, func(t *testing.T, records []stream.Record) {
		walks := newScreen(t, 140, 40).feed(records...).press(" ")
		strip := walks.moment.stripRows()
		then := newScreen(t, 140, 40).resize(140, 40-strip)
		level := func(s *rig) []string {
			s.setFollow(true)
			s.list.Top, s.doc.Top, s.wire.Top = 0, 0, 0
			s.refreshPanes()
			return s.bodyRows()
		}
		was := map[int][]string{}
		for _, r := range records {
			if n := then.in.Timeline.Len(); n > 0 && n <= mostEvery {
				walks.moment.goToMoment(n)
				walks.send(nil)
				if rows := walks.moment.stripRows(); rows != strip { // another turn may have more or fewer calls
					strip = rows
					then.resize(140, 40-strip)
				}
				was[n] = level(then)
			}
			then.feed(r)
		}
		moments := slices.Sorted(maps.Keys(was))
		back := slices.Clone(moments)
		slices.Reverse(back)
		for _, n := range append(moments, back...) {
			walks.moment.goToMoment(n)
			walks.send(nil)
			if diff := cmp.Diff(was[n], level(walks)); diff != "" {
				t.Fatalf("%d events of %d (-then +moment):\n%s", n, walks.in.Timeline.Len(), diff)
			}
		}
		t.Logf("%d moments", len(moments))
	})
}

// TestHeldTakesAll checks that records that arrive while the screen is paused are counted, do not change what
// is shown, and are all there afterwards.
func TestHeldTakesAll(t *testing.T) {
	records := demo(t, "parallel")
	s := newScreen(t, 80, 24).feed(records[:30]...).press(" ,,")
	before := s.bodyRows()
	n := s.moment.eventCount()
	s.feed(records[30:50]...)
	if diff := cmp.Diff(before, s.bodyRows()); diff != "" || s.moment.eventCount() != n {
		t.Errorf("the moment changed (-before +after):\n%s", diff)
	}
	s.shows(" to come").press("G")
	want := newScreen(t, 80, 24).feed(records[:50]...)
	if s.moment.isPaused() || s.in.Timeline.Len() != want.in.Timeline.Len() {
		t.Errorf("%d events came, not %d", s.in.Timeline.Len(), want.in.Timeline.Len())
	}
	if got := s.selectedCall().Args(); string(got) != string(want.selectedCall().Args()) {
		t.Errorf("now has %q", got)
	}
}

// TestNoClock checks that T shows a notice if the source has no clock times. It also checks that arguments of
// commands are completed.
func TestNoClock(t *testing.T) {
	s := newScreen(t, 120, 40).feed(demo(t, "index-zero")...)
	s.press("T").shows("no clock times: times are measured from the start")
	s.press(":sort<enter><enter>").shows("by time")
}

// TestClock checks that T shows clock times in the list of events and for the paused moment, and that a second T
// shows elapsed times again.
func TestClock(t *testing.T) {
	records := demo(t, "parallel")
	for i := range records {
		if records[i].Head != nil {
			head := *records[i].Head
			head.Start = time.Date(2026, 11, 20, 9, 0, 0, 0, time.Local).Add(records[i].At)
			records[i].Head = &head
		}
	}
	s := newScreen(t, 140, 40).feed(records...)
	s.end().press("2").shows("+").hides("09:00:0").press("T").shows("09:00:0")
	s.press(" ,").shows("PAUSED 09:00:0", " of ").press("T").shows("PAUSED +").hides("PAUSED 09:")
}
