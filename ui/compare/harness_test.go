package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// program is a host whose source and keyboard are controlled by the test.
type program struct {
	t      *testing.T
	in     providers.Inspector
	marks  Marks
	bill   panes.Costs
	news   panes.Changes
	chosen stream.Ref
	said   display.Text
	open   modes.Mode
	w, h   int
	later  bool            // work waits until finish is called
	work   []func() func() // the work that waits
}

func newProgram(t *testing.T, w, h int) *program {
	return &program{t: t, chosen: stream.NoRef, w: w, h: h, bill: panes.Costs{Prices: price.Embedded()}}
}

func (p *program) View() *providers.View { return p.in.View() }
func (p *program) Chosen() stream.Ref    { return p.chosen }
func (p *program) Choose(r stream.Ref)   { p.chosen = r }
func (p *program) Open(m modes.Mode)     { p.open = m }
func (p *program) Close()                { p.open = nil }
func (p *program) Say(text display.Text) { p.said = text }

func (p *program) Do(work func() (then func())) {
	if p.later {
		p.work = append(p.work, work)
		return
	}
	work()()
}

// finish runs the waiting work, and returns how many jobs it ran.
func (p *program) finish() (n int) {
	work := p.work
	p.work = nil
	for _, w := range work {
		w()()
	}
	p.extend()
	return len(work)
}

// answer adds a turn that makes these calls. Each call is a name and arguments.
func (p *program) answer(exchange int, calls ...[2]string) *program {
	p.event(exchange, `{"type":"message_start","message":{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[]}}`, exchange)
	for i, c := range calls {
		p.event(exchange, `{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"t_%d_%d","name":%q,"input":{}}}`, i, exchange, i, c[0])
		p.event(exchange, `{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`, i, quoted(c[1]))
		p.event(exchange, `{"type":"content_block_stop","index":%d}`, i)
	}
	return p.event(exchange, `{"type":"message_stop"}`)
}

// quoted returns text as a JSON string.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func (p *program) event(exchange int, format string, args ...any) *program {
	p.in.Write(stream.Record{Exchange: exchange, Data: []byte("data: " + fmt.Sprintf(format, args...) + "\n\n")})
	return p.extend()
}

// extend does what the program does after any change.
func (p *program) extend() *program {
	p.news.Advance(p.in.View())
	p.bill.Extend(p.in.View(), &p.news)
	if p.open != nil {
		p.open.Extend(p.in.View(), p.w, p.h)
	}
	return p
}

// compare opens the mode.
func (p *program) compare() *comparison {
	p.t.Helper()
	mode, why := Entry(&p.marks, &p.bill, display.Drawer{}, false).New(p)
	if mode == nil {
		p.t.Fatal(why)
	}
	p.open = mode
	p.extend()
	return mode.(*comparison)
}

// press runs the actions that are bound to keys in the mode.
func (p *program) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		b := screen.FindBinding(p.open.Keys(), key)
		if b == nil {
			p.t.Fatalf("%q is not bound", key)
		}
		b.Do()
		p.extend()
	}
}

// draw draws the whole body, and returns its rows without trailing blanks.
func (p *program) draw() (rows []string) {
	pen := screen.NewPen(themes.Default(true), termenv.Ascii, display.Drawer{}, false)
	for y := range p.h {
		pen.Reset()
		pen.Field(p.w)
		p.open.Draw(&pen, y)
		rows = append(rows, strings.TrimRight(ansi.Strip(pen.Frame()), " "))
	}
	return rows
}

// outline returns the names of the calls in each group, side by side.
func (c *comparison) outline() string {
	var rows []string
	for _, g := range c.groups {
		var row []string
		for _, r := range g.calls {
			if _, call := c.host.View().Find(r); call == nil {
				row = append(row, "-")
			} else {
				row = append(row, fmt.Sprintf("%s/%d", call.Name, call.Number))
			}
		}
		rows = append(rows, strings.Join(row, " "))
	}
	return strings.Join(rows, ",")
}

// markAll marks all turns.
func (p *program) markAll() *program {
	for _, t := range p.in.Session().Turns {
		p.marks.Toggle(t.Ref())
	}
	return p
}
