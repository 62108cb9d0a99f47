package replay

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/stream"
)

// TestMadeOnce checks that a page or a table is made again only when its input has changed.
func TestMadeOnce(t *testing.T) {
	s := newRig(t, 80, 22).open().call("first", `{"a":1`).press("p")
	seen := 0
	for _, c := range []struct {
		what string
		do   func()
		made bool
	}{
		{"opening", func() {}, true},
		{"a frame", func() { s.frame() }, false},
		{"a frame that says nothing", func() { s.ping() }, false},
		{"a delta", func() { s.args(0, "1") }, true},
		{"an empty delta", func() { s.args(0, "") }, false},
		{"another policy", func() { s.press("l") }, true},
		{"another target", func() { s.press("j") }, true},
		{"the last row", func() { s.press("G") }, true},
		{"the last row again", func() { s.press("G") }, false},
		{"all policies", func() { s.press("<tab>") }, true},
		{"the other face", func() { s.press("<enter>l") }, true}, // the other section is wider
		{"scrolling", func() { s.press("jkG") }, false},
		{"back", func() { s.press("<esc>") }, true},
		{"higher", func() { s.h = 24; s.extend() }, false},
		{"wider", func() { s.w = 90; s.extend() }, true},
		{"the turn", func() { s.press("s") }, true},
		{"another call begins", func() { s.end().call("second", "{") }, true},
		{"the call alone", func() { s.press("s") }, true},
		{"a delta of the other call", func() { s.args(1, "}") }, false},
		{"the end", func() { s.in.Close(); s.extend() }, false},
	} {
		c.do()
		if made := s.made > seen; made != c.made {
			t.Errorf("%s: made again is %t, want %t", c.what, made, c.made)
		}
		seen = s.made
		s.frame()
	}
}

// bigCall returns a rig with a call whose previews are made in another goroutine.
func bigCall(t testing.TB) *rig {
	return newRig(t, 120, 38).open().call("write_file", `{"path":"a.go","content":"`+strings.Repeat("if err != nil { return err }\n", 2500))
}

// size returns the number of bytes that the model wrote for the call.
func (s *rig) size() int {
	_, c := s.View().Find(s.ref)
	return len(c.Args())
}

// TestJobs checks that large previews are made in another goroutine, one job at a time. The page comes first, and
// then the table and the page alternate.
func TestJobs(t *testing.T) {
	s := bigCall(t).press("p")
	if len(s.jobs) != 1 || s.page != nil || s.table != nil {
		t.Fatal("made at once")
	}
	s.shows("...").job()
	if s.page == nil || s.table != nil || len(s.jobs) != 1 {
		t.Fatal("the first job is not the page")
	}
	s.shows("wrote", `"input": {}`).job()
	if len(s.jobs) != 0 || s.table == nil {
		t.Fatal("the second job is not the table")
	}
	s.shows("{} instead")
	made := s.made
	if s.ping(); len(s.jobs) != 0 || s.made != made {
		t.Error("made again")
	}

	s.args(0, "more of it")
	if s.args(0, " and more"); len(s.jobs) != 1 {
		t.Fatal("not one job")
	}
	before := s.page
	if s.finish() < 3 {
		t.Error("what came meanwhile is not made")
	}
	if s.page == before || s.page.size != s.size() || s.table.key.version != s.page.key.version {
		t.Errorf("%d bytes are shown of %d", s.page.size, s.size())
	}
}

// TestBothTables checks that a large screen also shows the table that tab shows, with the outcome of each row, and that
// only the upper table has a selected row.
func TestBothTables(t *testing.T) {
	s := newRig(t, 250, 57)
	s.open().call("run_shell", `{"timeout":30s}`).press("p")
	for range 2 {
		other := s.shows("PROVIDER  ", "all clients, to anthropic  1–", "CLIENT  ", "▌!! preserve", "KNOWN BY").other
		s.press("<tab>")
		if s.table != other {
			t.Error("tab makes a table that is already known")
		}
		s.shows("CLIENT  ", "all targets, as preserve", "PROVIDER  ", "▌!! anthropic").press("<tab>")
	}
	s.press("jj").shows("all clients, to mistral").press("<tab>jj").shows("all targets, as wrap-raw", "▌!  mistral")
	for _, size := range [][2]int{{250, 20}, {140, 57}} {
		s.w, s.h = size[0], size[1]
		if frame := s.extend().frame(); strings.Contains(frame, "all targets, as") {
			t.Errorf("%v:\n%s", size, frame)
		}
	}
}

// TestNotesLeaveNoBlankRows checks that the body gets the rows that notes about losses don't need.
func TestNotesLeaveNoBlankRows(t *testing.T) {
	for _, size := range [][2]int{{80, 21}, {100, 30}, {140, 30}} {
		s := newRig(t, size[0], size[1])
		s.open().call("run_shell", `{"timeout":30s}`).press("p").shows("lines below)")
		rows := strings.Split(strings.TrimRight(s.frame(), "\n"), "\n")
		if last := rows[len(rows)-1]; !strings.Contains(last, "{} is sent") {
			t.Errorf("%v: the last row is %q", size, last)
		}
	}
}

// TestStale checks that a job's result is dropped if the selection has changed, but is kept if only more bytes have
// arrived.
func TestStale(t *testing.T) {
	s := bigCall(t).press("pl")
	if len(s.jobs) != 1 {
		t.Fatal("a second job")
	}
	if s.job(); s.page != nil || len(s.jobs) != 1 {
		t.Error("a page of another policy is shown")
	}
	if s.finish(); s.page == nil || s.page.key.policy != 1 {
		t.Error("no page of this policy")
	}
	s.args(0, "more")
	s.args(0, "and more")
	if s.finish(); s.page.size != s.size() {
		t.Error("not the latest bytes")
	}
}

// TestBeside checks that a job does not read data that the stream may still change.
func TestBeside(t *testing.T) {
	for _, scope := range []string{"", "s", "ss"} {
		s := newRig(t, 120, 38)
		s.in.Write(stream.Record{Request: true, Data: []byte(`{"messages":[{"role":"user","content":"hi"}]}`)})
		s.open().begin(`{"type":"text","text":"some words"}`).end()
		s.call("write_file", `{"path":"a.go","content":"`+strings.Repeat("return nil\n", 3000)).press("p")
		s.finish()
		s.press(scope)
		s.finish()
		s.press("p")
		if len(s.jobs) != 1 {
			t.Fatalf("%q: %d jobs", scope, len(s.jobs))
		}
		work := s.jobs[0]
		s.jobs = nil
		done := make(chan func())
		go func() { done <- work() }()
		for i := range 200 {
			if s.args(1, fmt.Sprint("delta ", i)); i%40 == 39 {
				s.begin(`{"type":"text","text":"between"}`).end().begin(`{"type":"thinking","thinking":""}`)
				s.say(`{"type":"content_block_delta","index":%d,"delta":{"type":"signature_delta","signature":"c2ln"}}`, s.blocks-1).end()
			}
		}
		(<-done)()
		if s.extend().finish(); s.page == nil {
			t.Errorf("%q: no page", scope)
		}
	}
}
