package ui

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"toolscope/stream"
	"toolscope/ui/panes"
)

// A fleet is a set of machines that each stream one response after another, in three protocols.
type fleet struct {
	of    []*stream.Machine
	texts [][]string // for each machine, the parts of its response, one for each record
	at    []int      // for each machine, the next part
	now   []int      // for each machine, its exchange
	last  int        // the last exchange
	turn  int        // the next machine
	when  time.Duration
}

// newFleet returns n machines whose responses have the given number of parts.
func newFleet(n, pieces int) *fleet {
	f := &fleet{}
	for i := range n {
		f.of = append(f.of, &stream.Machine{Host: fmt.Sprintf("web-%03d", i), Agent: "coder"})
		f.texts = append(f.texts, answerPieces(i%3, pieces))
		f.at, f.now = append(f.at, 0), append(f.now, 0)
	}
	return f
}

// answerPieces returns a response with one call in a protocol, with one part for each event.
func answerPieces(protocol, n int) (all []string) {
	event := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)+"\n\n") }
	middle := func(format string) {
		event(format, `{\"lines\":[0`)
		for i := range n {
			event(format, fmt.Sprintf(`,\"line %d\"`, i))
		}
		event(format, `]}`)
	}
	switch protocol {
	case 0:
		event("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[],\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}")
		event("event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"write_file\",\"input\":{}}}")
		middle("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"%s\"}}")
		event("event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}")
		event("event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":99}}")
		event("event: message_stop\ndata: {\"type\":\"message_stop\"}")
	case 1:
		const chunk = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","model":"gpt-5","choices":[{"index":0,"delta":`
		event("%s", chunk+`{"role":"assistant","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"write_file","arguments":""}}]}}]}`)
		middle(chunk + `{"tool_calls":[{"index":0,"function":{"arguments":"%s"}}]}}]}`)
		event("%s", chunk+`{},"finish_reason":"tool_calls"}]}`)
		event("data: [DONE]")
	default:
		event(`data: {"type":"response.created","response":{"id":"resp_1","model":"gpt-5","status":"in_progress","output":[]}}`)
		event(`data: {"type":"response.output_item.added","output_index":0,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"write_file","arguments":"","status":"in_progress"}}`)
		middle(`data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"%s"}`)
		event(`data: {"type":"response.completed","response":{"id":"resp_1","model":"gpt-5","status":"completed","output":[]}}`)
	}
	return all
}

// records returns the next n records, from all machines in turn.
func (f *fleet) records(n int) (all []stream.Record) {
	for range n {
		m := f.turn
		f.turn = (f.turn + 1) % len(f.of)
		f.when += 10 * time.Microsecond
		r := stream.Record{At: f.when}
		if f.at[m] == 0 {
			f.last++
			f.now[m] = f.last
			r.Head = &stream.Head{
				File: f.of[m].Host + "/coder", Run: f.of[m].Host, Origin: f.of[m], Method: "POST", URL: "https://api.example.com/v1/x", Status: 200,
				Header: map[string][]string{"Content-Type": {"text/event-stream"}},
			}
		}
		r.Exchange, r.Data = f.now[m], []byte(f.texts[m][f.at[m]])
		f.at[m] = (f.at[m] + 1) % len(f.texts[m])
		r.End = f.at[m] == 0
		all = append(all, r)
	}
	return all
}

// states returns the states of the machines.
func (f *fleet) states() (all []panes.MachineState) {
	for _, m := range f.of {
		all = append(all, panes.MachineState{Name: m.Host, Age: time.Second})
	}
	return all
}

// perFrame is the number of records per frame at 100,000 records per second.
const perFrame = 100_000 / 60

// fleetScreen returns a screen that shows a fleet. The keys are pressed after all machines have started to send.
func fleetScreen(t testing.TB, f *fleet, w, h int, keys string) *rig {
	s := newScreen(t, w, h, func(o *Options) { o.Machines, o.Now = f.states, time.Now })
	s.feed(f.records(20 * len(f.of))...)
	s.send(machinesTick{})
	return s.press(keys)
}

// TestMachinesLoad checks that with 100 machines that stream 1,000 records per second each, frames and
// responses to keys are in time in every view, and that records are read faster than they arrive.
func TestMachinesLoad(t *testing.T) {
	measured(t)
	const seconds = 4
	for _, c := range []struct {
		what string
		keys string
		then string // keys that are pressed repeatedly
	}{
		{"folded", "1g", "jk"}, {"one unfolded", "1g<enter>", "jk"}, {"all unfolded", "1g*", "jk"}, {"at the end, all unfolded", "1g*G", "kj"},
		{"followed", "F", "12"}, {"filtered", "zfhost:web-007<enter>", "jk"}, {"arguments", "2", "jk"}, {"the wire", "3", "jk"}, {"findings", "4", "jk"},
	} {
		for _, size := range [][2]int{{140, 40}, {250, 60}} {
			f := newFleet(100, 300)
			s := fleetScreen(t, f, size[0], size[1], c.keys)
			var frames, keys []time.Duration
			busy := time.Duration(0)
			for n := range seconds * 60 {
				for _, r := range f.records(perFrame) {
					s.inbox.Put(r)
				}
				if n%60 == 0 {
					s.send(machinesTick{})
				}
				began := time.Now()
				pressed := n%6 != 0
				for s.inbox.Waiting() > 0 || !pressed {
					start := time.Now()
					s.send(inboxReady{})
					s.View()
					frames = append(frames, time.Since(start))
					if !pressed { // during that time
						s.press(c.then[n/6%2 : n/6%2+1])
						s.View()
						keys, pressed = append(keys, time.Since(start)), true
					}
				}
				busy += time.Since(began)
			}
			slices.Sort(frames)
			slices.Sort(keys)
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			t.Logf("%-26s %dx%d: frame p50 %v, p99 %v, most %v; key p50 %v, p99 %v; %.2f of a core; %d turns, %d MB", c.what, size[0], size[1],
				frames[len(frames)/2], frames[len(frames)*99/100], frames[len(frames)-1], keys[len(keys)/2], keys[len(keys)*99/100], busy.Seconds()/seconds, len(s.in.Session().Turns), m.HeapAlloc>>20)
			if frames[len(frames)*9/10] > 64*time.Millisecond || keys[len(keys)/2] > 200*time.Millisecond {
				t.Errorf("%s: the 9th of 10 frames takes %v, half of the keys %v", c.what, frames[len(frames)*9/10], keys[len(keys)/2])
			}
		}
	}
}

// TestMachinesFrameIsFlat checks that the cost of a frame with machines depends only on the window, and not
// on the number of machines and records.
func TestMachinesFrameIsFlat(t *testing.T) {
	measured(t)
	grown := func(machines, records int, keys string) *rig {
		f := newFleet(machines, 3)
		s := fleetScreen(t, f, 140, 40, "")
		for range records / 1000 {
			s.feed(f.records(1000)...)
		}
		return s.press(keys)
	}
	for _, keys := range []string{"1g", "1g*G"} {
		few, many := grown(60, 6_000, keys), grown(3_000, 100_000, keys)
		flat(t, "60 machines and 6,000, "+keys, func() { few.View() }, func() { many.View() })
		few, many = grown(60, 6_000, keys), grown(60, 300_000, keys)
		flat(t, "60 machines early and late, "+keys, func() { few.View() }, func() { many.View() })
	}
}
