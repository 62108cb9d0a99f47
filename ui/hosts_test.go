package ui

import (
	"strings"
	"testing"
	"time"

	"toolscope/stream"
	"toolscope/ui/panes"
)

// machines returns the records of three machines, as a hub delivers them: a capture from each machine,
// interleaved.
func machines(t testing.TB) (all []stream.Record) {
	var of [][]stream.Record
	for i, name := range []string{"malformed", "parallel", "cut"} {
		from := &stream.Machine{Host: "web-" + string(rune('1'+i)), Agent: "coder"}
		own := demo(t, name)
		for n, r := range own {
			r.Exchange += 100 * i
			if r.Head != nil {
				head := *r.Head
				head.File, head.Run, head.Origin = from.Host+"/coder", from.Host, from
				r.Head = &head
			}
			own[n] = r
		}
		of = append(of, own)
	}
	for n := 0; len(of[0])+len(of[1])+len(of[2]) > 0; n = (n + 1) % 3 {
		if len(of[n]) > 0 {
			all, of[n] = append(all, of[n][0]), of[n][1:]
		}
	}
	return all
}

// TestStays checks that the state of the source and the end of the selection's path stay on the screen when other
// notes have no room.
func TestStays(t *testing.T) {
	words := []StatusNote{{Text: "something that is not as important"}, {Text: "97 hosts · 99.8k/s · lag 0.1 s · lost 0 B", Stays: true}}
	s := newScreen(t, 80, 24, func(o *Options) {
		o.Source = "hub nats://127.0.0.1:4222?since=15m"
		o.Status = func() []StatusNote { return words }
	})
	s.feed(machines(t)...)
	s.shows("97 hosts · 99.8k/s · lag 0.1 s · lost 0 B").hides("as important")
	words = append(words, StatusNote{Text: "SILENT web1", Alarm: true})
	s.send(machinesTick{})
	s.shows("SILENT web1")
	checkFrame(t, s)
	words[1].Brief, words[2].Text = "lag 0.1 s · lost 0 B", "1 host SILENT: web1"
	s.send(machinesTick{})
	s.shows("lag 0.1 s · lost 0 B  1 host SILENT: web1").hides("97 hosts")
	checkFrame(t, s)
}

// TestMachines checks that turns are below the rows of their machines, which are folded at first, and that
// following stays with one machine.
func TestMachines(t *testing.T) {
	states := []panes.MachineState{
		{Name: "web-1", Age: 14 * time.Second}, {Name: "web-2", Waits: 2_000_000, Skew: -90 * time.Second},
		{Name: "web-3", Age: 42 * time.Second, Silent: true}, {Name: "web-4", Age: 7 * time.Minute, Read: true},
	}
	for _, size := range [][2]int{{80, 24}, {140, 40}, {250, 60}} {
		s := newScreen(t, size[0], size[1], func(o *Options) { o.Machines = func() []panes.MachineState { return states } })
		s.feed(machines(t)...)
		s.send(machinesTick{})
		s.shows("▸ web-1", "▸ web-2", "▸ web-3", "▸ web-4", "SILENT 42 s", "heard 14 s ago", "sent 7 min ago", "bad")
		first := s.selectedTurn()
		x := s.view.Exchange(first.Exchange)
		for range 3 {
			s.feed(machines(t)...)
			if now := s.view.Exchange(s.selectedTurn().Exchange); now.Head.Origin.Host != x.Head.Origin.Host {
				t.Fatalf("%v: from %s what is followed went to %s", size, x.Head.Origin.Host, now.Head.Origin.Host)
			}
		}
		s.press("1g").shows("▌▸ web-1")
		s.press("<enter>").shows("▾ web-1", "▸ web-2")
		s.press("j").hides("▌▾ web-1")
		if s.view.Exchange(s.selectedTurn().Exchange).Head.Origin.Host != "web-1" {
			t.Error("the row below is of another machine")
		}
		s.press("k").shows("▌▾ web-1")
		s.press("+").shows("▌▾ web-1").press("-").shows("▌▸ web-1").press("-").shows("▌▸ web-1").press("+").shows("▌▾ web-1").press("-")
		s.press("*z").shows("▾ web-3").press("*z").hides("▾")
		s.press("zG")
		if s.shows("web-4"); size[0] > 100 {
			s.shows("clock -90 s", "2.0 MB wait")
		}
		s.press("zf"+"host:web-2<enter>").shows("web-2").hides("web-1", "web-4")
		s = newScreen(t, size[0], size[1]).feed(machines(t)...)
		s.press("1zfagent:coder host:web-3<enter>").shows("web-3").hides("web-2")
	}
}

// TestMachinesAlarm checks that the keys for errors lead to folded rows, and that a search finds text in these rows.
func TestMachinesAlarm(t *testing.T) {
	s := newScreen(t, 140, 40).feed(machines(t)...)
	s.press("1g").hides("▾")
	seen := map[string]bool{}
	for range 12 {
		s.press("1!")
		of := s.view.Exchange(s.selectedTurn().Exchange).Head.Origin.Host
		seen[of] = true
		if !strings.Contains(s.text(), "▾ "+of) {
			t.Fatalf("%s is folded, though a call of it was led to:\n%s", of, s.text())
		}
	}
	if len(seen) < 2 {
		t.Errorf("only %v has something that went wrong", seen)
	}
	s = newScreen(t, 140, 40).feed(machines(t)...)
	s.press("1g/malformed<enter>").shows("▾ web-1")
}

// TestOneMachine checks that the turns of a single machine are not folded.
func TestOneMachine(t *testing.T) {
	var one []stream.Record
	for _, r := range machines(t) {
		if r.Exchange < 100 {
			one = append(one, r)
		}
	}
	newScreen(t, 80, 24).feed(one...).press("1g").shows("▌▾ web-1")
	newScreen(t, 80, 24, ascii).feed(one...).press("1g").shows(">v web-1")
}

// TestMachinesWithoutTurns checks that every key that moves the cursor works, and none hangs, if some machines have
// no turns.
func TestMachinesWithoutTurns(t *testing.T) {
	states := []panes.MachineState{{Name: "web-1"}, {Name: "web-2"}, {Name: "web-3"}}
	s := newScreen(t, 140, 40, func(o *Options) { o.Machines = func() []panes.MachineState { return states } })
	s.send(machinesTick{})
	for _, key := range []string{"!", "j", "k", "G", "g", "<enter>", "-", "*", "n", "N", ",", ".", "/x<enter>", "<esc>", "fmodel:x<enter>", "f<enter>"} {
		s.press(key)
	}
	checkFrame(t, s)
}

// TestMachineStays checks that the cursor reaches the row of every machine, with or without turns, and can move past
// it. The cursor stays in that row when H shows background requests, and when the screen goes back in time.
func TestMachineStays(t *testing.T) {
	states := []panes.MachineState{{Name: "web-2"}, {Name: "web-4"}, {Name: "web-5"}}
	s := newScreen(t, 140, 40, func(o *Options) { o.Machines = func() []panes.MachineState { return states } })
	s.feed(machines(t)...)
	s.send(machinesTick{})
	s.press("1gjjj").shows("▌▸ web-4")
	s.press("H").shows("▌▸ web-4").press("H").shows("▌▸ web-4")
	s.press("<enter>").shows("▌▾ web-4").press("j").shows("▌▸ web-5").press("kk").shows("▌▸ web-3")
	s.press("k").shows("▌▸ web-2").press(",").shows("▌▸ web-2").press("<enter>").shows("▌▾ web-2")
}

// TestSecondMachine checks that the selection keeps its row when a second machine appears.
func TestSecondMachine(t *testing.T) {
	states := []panes.MachineState{{Name: "web-1"}}
	s := newScreen(t, 140, 40, func(o *Options) { o.Machines = func() []panes.MachineState { return states } })
	for _, r := range machines(t) {
		if r.Exchange < 100 {
			s.feed(r)
		}
	}
	s.send(machinesTick{})
	s.press("1gj").shows("▾ web-1").hides("▌▾ web-1")
	states = []panes.MachineState{{Name: "web-1"}, {Name: "web-2"}}
	s.send(machinesTick{})
	s.shows("▾ web-1", "▸ web-2").hides("▌▾ web-1")
	s.press("*").shows("▌▸ web-1")
}

// TestAlarmCut checks that a shortened alarm is separated from the text after it.
func TestAlarmCut(t *testing.T) {
	words := []StatusNote{{Text: "HUB UNREACHABLE", Alarm: true}, {Text: "1 host SILENT: web-3", Alarm: true}}
	s := newScreen(t, 40, 10, func(o *Options) {
		o.Status = func() []StatusNote { return words }
	})
	s.feed(machines(t)...)
	s.press("1g").shows("HUB UNREACHABLE", "…  ").hides("…LIVE")
	checkFrame(t, s)
	words = words[1:]
	s.send(machinesTick{})
	s.press("F").shows("1 host SILENT…  FOLLOW LIVE")
}
