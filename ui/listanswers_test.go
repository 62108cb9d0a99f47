package ui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
	"toolscope/ui/panes"
)

// fromFiles sets the file of each exchange in records.
func fromFiles(records []stream.Record, name func(exchange int) string) []stream.Record {
	last := -1
	for i := range records {
		if r := &records[i]; r.Exchange != last {
			last = r.Exchange
			r.Head = &stream.Head{File: name(r.Exchange)}
		}
	}
	return records
}

// staticScreen returns a screen with n turns of mixed, each from its own file, after all files were read.
func staticScreen(t testing.TB, w, h, n int) *rig {
	records := fromFiles(mixed(0, n), func(x int) string { return fmt.Sprintf("talks/a-conversation-with-a-long-name-%02d.sse", x+1) })
	return newScreen(t, w, h, func(o *Options) { o.Static = true }).feed(records...).end()
}

// TestListAnswers checks that after the given keys, rows 1 to 16 of an 80x24 screen show the answer to a question.
func TestListAnswers(t *testing.T) {
	agents := newScreen(t, 80, 24).feed(session(t)...).end()
	slow := newScreen(t, 80, 24)
	for i, quiet := range []int{3, 41, 7} {
		a := &anthropic{exchange: i}
		a.open(fmt.Sprint("msg_", i)).call(fmt.Sprint("toolu_", i), fmt.Sprint("tool", i), `{"n":`)
		for j := range a.records {
			a.records[j].At = time.Duration(100-quiet)*time.Second - time.Duration(len(a.records)-j)*time.Millisecond
		}
		slow.feed(a.records...)
	}
	slow.now = slow.now.Add(3 * time.Second)
	slow.send(rateTick(slow.now))
	for _, c := range []struct {
		question string
		s        *rig
		keys     string
		want     string // in one row
	}{
		{"which calls are bad, worst first", staticScreen(t, 80, 24, 12), "", `^▌   3  ✗  malformed     broken .*\n    6  ✗  malformed     broken .*\n    9  ✗  malformed     broken .*`},
		{"how many of how many", staticScreen(t, 80, 24, 12), "", `12 turns · 12 calls  4 bad  ✗4`},
		{"where in the run", staticScreen(t, 80, 24, 12), "", `^ ··✗··✗··✗··✗ *$`},
		{"which stream is slowest now", slow, "s", `^▌   2  ◔  streaming     tool1 .* 41 s .*\n    3  ◔ .* 7 s .*\n    1  ◔ .* 3 s`},
		{"which stream is slowest now", slow, ":sort idle<enter>g", `^▌   2  ◔  streaming     tool1 .* 41 s`},
		{"which agent asked this", agents, "", `└ ls +Explore`},
	} {
		text := strings.Join(c.s.press(c.keys).rows()[:16], "\n")
		if !regexp.MustCompile("(?m)" + c.want).MatchString(text) {
			t.Errorf("%s: no %q in\n%s", c.question, c.want, text)
		}
		checkFrame(t, c.s)
	}
}

// TestIdleTime checks that a live list shows how long open streams have been idle, in whole seconds and only from one
// second on. The idle time moves no column.
func TestIdleTime(t *testing.T) {
	s, a := liveScreen(t)
	idle := regexp.MustCompile(` (\d+ s|\dm\d\ds)$`)
	heads := func() string { return s.rows()[2] }
	before := heads()
	if !strings.Contains(before, "  IDLE") {
		t.Fatalf("heads %q", before)
	}
	for _, c := range []struct {
		after time.Duration
		want  string
	}{{900 * time.Millisecond, ""}, {200 * time.Millisecond, "1 s"}, {40 * time.Second, "41 s"}, {84 * time.Second, "2m05s"}} {
		s.now = s.now.Add(c.after)
		if s.send(rateTick(s.now)); heads() != before {
			t.Errorf("the heads move: %q, %q", before, heads())
		}
		for _, row := range s.rows()[3:5] {
			is := idle.FindString(row)
			if want := map[bool]string{true: c.want}[strings.Contains(row, "second")]; strings.TrimSpace(is) != want {
				t.Errorf("after %v: %q, want %q", c.after, row, want)
			}
		}
	}
	n := len(a.records)
	s.feed(a.args(2, `1`).more(n)...).hides("2m05s")
	s.end().hides("IDLE")
	staticScreen(t, 140, 40, 9).hides("IDLE")
	newScreen(t, 80, 24, func(o *Options) { o.Playback = &player{speed: 1} }).feed(mixed(0, 3)...).hides("IDLE")
}

// TestMissedTurns checks that the first row counts the turns that arrive while the panes don't follow. Turns that the
// filter hides don't count, and a file has no such count.
func TestMissedTurns(t *testing.T) {
	s := newScreen(t, 80, 24).feed(mixed(0, 4)...).hides("new")
	s.press("g").hides("new").feed(mixed(4, 3)...).shows("LIVE  ↓ 3 new G").feed(mixed(7, 1)...).shows("↓ 4 new G")
	s.press("fstate:bad<enter>").hides("new").feed(mixed(8, 3)...).shows("↓ 1 new G")
	s.press("<esc>").hides("new").feed(mixed(11, 2)...).shows("↓ 2 new G").press("G").hides("new")
	s.press("g").feed(mixed(13, 1)...).shows("↓ 1 new G").resize(40, 10).hides("new")
	s.resize(80, 24).end().hides("new")
	static := newScreen(t, 80, 24, func(o *Options) { o.Static = true }).feed(mixed(0, 4)...).press("g").feed(mixed(4, 4)...).end()
	static.hides("new")
}

// TestNamesStay checks that a long file name is shortened in the middle and keeps its end. A different verdict
// neither moves nor removes a column.
func TestNamesStay(t *testing.T) {
	for _, w := range []int{60, 80, 140, 250} {
		s := staticScreen(t, w, 40, 7).press("s")
		size := -1
		for n := range 7 {
			row := ""
			for _, r := range s.rows() {
				if strings.Contains(r, fmt.Sprintf("%02d ", n+1)) && strings.Contains(r, "7 B") {
					row = r
				}
			}
			at := strings.Index(strings.NewReplacer("●", "o", "✗", "o", "▌", " ", "│", "|", "…", "~").Replace(row), "7 B")
			if row == "" || size >= 0 && at != size {
				t.Errorf("%d columns: the size of call %d is at %d, not at %d: %q", w, n+1, at, size, row)
			}
			size = at
		}
	}
	if s := staticScreen(t, 60, 18, 9); s.list.Order() != panes.WorstFirst {
		t.Error(s.list.Order())
	}
}

// TestClickOrders checks that a click on a column head sorts by that column, and that a click on the map goes
// to the worst call in the cell's turns. The cursor stays on its call when the order changes.
func TestClickOrders(t *testing.T) {
	s := staticScreen(t, 140, 40, 12).press("M")
	at, heads := s.selected, s.rows()[3]
	for _, c := range []struct{ head, title string }{
		{"TURN", "s by time"}, {"VERDICT", "s worst first"}, {"TOOL", "s by tool"}, {"SIZE", "s by size"}, {"TIME", "s by duration"}, {"VERDICT", "s worst first"},
	} {
		s.clickAt(len([]rune(heads[:strings.Index(heads, c.head)]))+1, 3)
		if s.shows(c.title, c.head+map[bool]string{true: "", false: "▾"}[c.head == "TURN"]); s.selected != at {
			t.Errorf("a click on %s leads to %v", c.head, s.selected)
		}
	}
	s.clickAt(len([]rune(heads[:strings.Index(heads, "FROM")]))+1, 3)
	s.shows("s worst first") // files have no order
	for turn := range 12 {
		if s.clickAt(1+turn, 1); s.selected != (stream.Ref{Turn: int32(turn), Call: 1}) {
			t.Errorf("cell %d leads to %v", turn, s.selected)
		}
	}
}

// TestMapCells checks that with more turns than cells, a cell shows the worst of several turns. A short run
// or a low screen has no map.
func TestMapCells(t *testing.T) {
	s := staticScreen(t, 60, 24, 110).shows("1 cell = 3 turns")
	if row := s.rows()[1]; !strings.HasPrefix(row, " "+strings.Repeat("✗", 36)+"·  1 cell") {
		t.Errorf("the map is %q", row)
	}
	staticScreen(t, 140, 40, 7).hides("one cell per turn")
	staticScreen(t, 140, 19, 12).hides("one cell per turn")
	staticScreen(t, 140, 20, 12).shows("one cell per turn")
}

// TestCostStays checks that the words of a verdict neither move nor hide the cost of a turn.
func TestCostStays(t *testing.T) {
	for _, w := range []int{80, 250} {
		s := newScreen(t, w, 24, static).feed(failures(t)...).end().press("sg")
		width, seen := 0, map[string]bool{}
		turn := regexp.MustCompile(`^.?▌? +(\d) +(\S+ .*?) *\$[\d.]+`)
		for _, row := range s.rows() {
			if at := strings.Index(row, "COST"); at >= 0 && width == 0 {
				width = len([]rune(row[:at])) + len("COST")
			}
			if m := turn.FindString(row); m != "" {
				seen[turn.FindStringSubmatch(row)[1]] = true
				if end := len([]rune(m)); end != width {
					t.Errorf("%d columns: the cost ends at %d, not at %d: %q", w, end, width, row)
				}
			}
		}
		if len(seen) < 4 {
			t.Errorf("%d columns: costs of the turns %v\n%s", w, seen, s.text())
		}
	}
}

// TestWrongByteIsMarked checks that a sign is shown below the first wrong byte of arguments that are not an object.
func TestWrongByteIsMarked(t *testing.T) {
	mark := regexp.MustCompile(`(?m)^!!? +\^ `)
	for _, size := range [][2]int{{40, 10}, {60, 18}, {80, 24}} {
		for _, name := range []string{"malformed", "cut", "early"} {
			s := newScreen(t, size[0], size[1], static).feed(demo(t, name)...).end()
			if !mark.MatchString(s.text()) {
				t.Errorf("%v, %s: no byte is marked\n%s", size, name, s.text())
			}
		}
		s := newScreen(t, size[0], size[1], static).feed(failures(t)...).end()
		for n := range 2 { // malformed, cut short
			if !mark.MatchString(s.text()) {
				t.Errorf("%v, error %d: no byte is marked\n%s", size, n, s.text())
			}
			s.press("!")
		}
	}
}
