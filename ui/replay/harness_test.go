package replay

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/screen"
)

// rig is a host for this mode. Jobs for other goroutines wait until the test runs them.
type rig struct {
	*replayMode // nil while the mode is not open
	t           testing.TB
	in          providers.Inspector
	entry       modes.Entry
	pen         screen.Pen
	w, h        int
	ref         stream.Ref
	said        display.Text
	jobs        []func() func() // waiting jobs of the open mode

	records int // number of records so far
	blocks  int // number of blocks that have begun in the response
}

func newRig(t testing.TB, w, h int) *rig {
	draw := display.Drawer{}
	return &rig{t: t, w: w, h: h, entry: Entry(modes.Exporter{}, draw, false), pen: screen.NewPen(themes.Default(true), termenv.Ascii, draw, false)}
}

func (s *rig) View() *providers.View { return s.in.View() }
func (s *rig) Chosen() stream.Ref    { return s.ref }
func (s *rig) Choose(stream.Ref)     { s.t.Fatal("it chooses") }
func (s *rig) Open(modes.Mode)       { s.t.Fatal("it opens another mode") }
func (s *rig) Close()                { s.replayMode, s.jobs = nil, nil }
func (s *rig) Say(text display.Text) { s.said = text }
func (s *rig) Do(work func() func()) { s.jobs = append(s.jobs, work) }

func (s *rig) extend() *rig {
	if s.replayMode != nil {
		s.Extend(s.View(), s.w, s.h)
	}
	return s
}

// press types keys one by one, e.g. "jj<tab>". If the mode is not open, the keys open it.
func (s *rig) press(keys string) *rig {
	s.t.Helper()
	for keys != "" {
		key := keys[:1]
		if name, _, ok := strings.Cut(keys[1:], ">"); ok && key == "<" {
			key = name
			keys = keys[len(name)+1:]
		}
		keys = keys[1:]
		if s.replayMode == nil {
			open, why := s.entry.New(s)
			if s.said = why; open != nil {
				s.replayMode = open.(*replayMode)
			}
		} else if b := screen.FindBinding(s.Keys(), key); b != nil {
			b.Do()
		} else {
			s.t.Fatalf("%q does nothing", key)
		}
		s.extend()
	}
	return s
}

// job runs the first waiting job.
func (s *rig) job() *rig {
	s.t.Helper()
	if len(s.jobs) == 0 {
		s.t.Fatal("nothing was asked for")
	}
	work := s.jobs[0]
	s.jobs = s.jobs[1:]
	work()()
	return s.extend()
}

// finish runs all waiting jobs and returns their number.
func (s *rig) finish() (jobs int) {
	for ; len(s.jobs) > 0; jobs++ {
		s.job()
	}
	return jobs
}

// frame returns the drawn text. It fails the test if a row is not as wide as the body.
func (s *rig) frame() string {
	s.t.Helper()
	s.pen.Reset()
	for y := range s.h {
		s.pen.Field(s.w)
		s.Draw(&s.pen, y)
		s.pen.Newline()
	}
	frame := ansi.Strip(s.pen.Frame())
	for row := range strings.Lines(frame) {
		if width := ansi.StringWidth(strings.TrimSuffix(row, "\n")); width != s.w {
			s.t.Fatalf("a row of %d cells at %dx%d: %q", width, s.w, s.h, row)
		}
	}
	return frame
}

// shows fails the test unless each text is in the frame.
func (s *rig) shows(texts ...string) *rig {
	s.t.Helper()
	frame := s.frame()
	for _, text := range texts {
		if !strings.Contains(frame, text) {
			s.t.Fatalf("the frame does not show %q:\n%s", text, frame)
		}
	}
	return s
}

// say writes an event of an Anthropic stream.
func (s *rig) say(format string, args ...any) *rig {
	body := fmt.Sprintf(format, args...)
	var kind struct{ Type string }
	if err := json.Unmarshal([]byte(body), &kind); err != nil {
		s.t.Fatalf("%v: %s", err, body)
	}
	s.records++
	at := time.Duration(s.records) * 10 * time.Millisecond
	s.in.Write(stream.Record{At: at, Data: fmt.Appendf(nil, "event: %s\ndata: %s\n\n", kind.Type, body)})
	return s.extend()
}

func (s *rig) ping() *rig { return s.say(`{"type":"ping"}`) }

// open begins a response.
func (s *rig) open() *rig {
	s.ref = stream.Ref{}
	return s.say(`{"type":"message_start","message":{"id":"msg_1","role":"assistant","model":"claude-x","content":[]}}`)
}

// begin begins a block of the response.
func (s *rig) begin(block string) *rig {
	s.blocks++
	return s.say(`{"type":"content_block_start","index":%d,"content_block":%s}`, s.blocks-1, block)
}

// end ends the block that began last.
func (s *rig) end() *rig { return s.say(`{"type":"content_block_stop","index":%d}`, s.blocks-1) }

// call begins a call. If the mode is not open, it selects the call.
func (s *rig) call(name, args string) *rig {
	s.begin(fmt.Sprintf(`{"type":"tool_use","id":"toolu_%s","name":%q,"input":{}}`, name, name))
	if t := s.in.Session().Turns[0]; s.replayMode == nil {
		s.ref = t.Calls[len(t.Calls)-1].Ref()
	}
	return s.args(s.blocks-1, args)
}

// args adds arguments to a block.
func (s *rig) args(block int, text string) *rig {
	quoted, _ := json.Marshal(text)
	return s.say(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`, block, quoted)
}
