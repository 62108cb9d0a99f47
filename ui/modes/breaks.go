package modes

import (
	"bytes"
	"time"

	"toolscope/providers"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Breakpoint holds responses before they reach the client, and resumes them.
type Breakpoint interface {
	Filter() string                      // the filter whose matching turns are held; "" holds none
	Set(filter string) error             // sets the filter for later events
	Holds() []Hold                       // sorted by holding time, the longest first
	Resume(exchange int, how ResumeMode) // resumes a held exchange
}

// Hold is a held response.
type Hold struct {
	Exchange       int
	Why            string
	For, Left      time.Duration // how long the response has been held, and the time until it resumes
	Given, Waiting int64         // bytes that the client has received, and bytes that are held
	Next           []byte        // the next frame for the client; nil until one has arrived
	Ended          bool          // the provider has sent all of the response
}

// ResumeMode selects how a held response is resumed.
type ResumeMode uint8

// The resume modes.
const (
	ResumeUntilMatch ResumeMode = iota // until the next match
	ResumeOneEvent                     // send one frame to the client
	CutConnection                      // break the connection to the client
)

// breakpointPage is the mode that shows held responses.
type breakpointPage struct {
	screen.Window
	host  Host
	point Breakpoint
	holds []Hold
	typed *screen.Input // filter input, or nil
}

// Breakpoints returns the entry for the breakpoint page. The parameter point is nil if there is no proxy.
func Breakpoints(point Breakpoint) Entry {
	return Entry{screen.Do("break", nil), func(h Host) (Mode, display.Text) {
		if point == nil {
			return nil, display.Lit("breakpoints need a proxy")
		}
		b := &breakpointPage{host: h, point: point}
		if point.Filter() == "" {
			b.editFilter()
		}
		return b, display.Text{}
	}}
}

// Typing returns the filter input, or nil.
func (b *breakpointPage) Typing() *screen.Input { return b.typed }

// Keys returns the keys for the filter input while a filter is being typed. Otherwise, it returns the keys
// for the list.
func (b *breakpointPage) Keys() []screen.Binding {
	if b.typed != nil {
		return []screen.Binding{
			screen.Key("enter", "hold these", "hold matching calls", b.applyFilter),
			screen.Key("esc", "cancel", "cancel the change", func() {
				b.typed = nil
				if b.point.Filter() == "" && len(b.holds) == 0 {
					b.host.Close()
				}
			}),
		}
	}
	keys := []screen.Binding{
		screen.Key("b", "change", "change the filter", b.editFilter),
		screen.Key("esc q", "back", "close; responses stay held", b.host.Close),
	}
	if len(b.holds) > 0 {
		keys = append([]screen.Binding{
			screen.Key("enter", "resume", "resume until the next match", b.resumeFunc(ResumeUntilMatch)),
			screen.Key(".", "one frame", "let one frame through", b.resumeFunc(ResumeOneEvent)),
			screen.Key("x", "cut", "cut the client's connection here", b.resumeFunc(CutConnection)),
			screen.Key("o", "go there", "go to the turn; it stays held", b.goThere),
		}, keys...)
	}
	return append(keys, b.CursorKeys("", b.MoveTo)...)
}

func (b *breakpointPage) editFilter() {
	b.typed = screen.NewInput(display.Lit(" hold matching  "), b.point.Filter(), 200)
}

func (b *breakpointPage) applyFilter() {
	if err := b.point.Set(b.typed.Value()); err != nil {
		b.typed.Note = display.Clean(err.Error()).Between("  ", "")
		return
	}
	b.typed = nil
}

func (b *breakpointPage) resumeFunc(how ResumeMode) func() {
	return func() {
		if b.At < len(b.holds) {
			b.point.Resume(b.holds[b.At].Exchange, how)
		}
	}
}

// goThere closes the page and selects the held turn.
func (b *breakpointPage) goThere() {
	if b.At >= len(b.holds) {
		return
	}
	t := b.host.View().LatestOf(b.holds[b.At].Exchange)
	if t == nil {
		b.host.Say(display.Lit("nothing has arrived yet"))
		return
	}
	b.host.Close()
	b.host.Choose(t.Ref())
}

// Extend reads the current holds.
func (b *breakpointPage) Extend(_ *providers.View, _, h int) {
	b.holds = b.point.Holds()
	b.Fit(len(b.holds), 1, 1+min(len(b.holds), h-1-nextRows))
}

// nextRows is the number of rows below the list: a title and the next frame.
const nextRows = 5

func (b *breakpointPage) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	switch row := b.Top + y - 1; {
	case y == 0:
		p.Text(screen.Accent, display.Lit(" Break "))
		p.Untrusted(screen.Plain, screen.Bare, b.point.Filter())
		if n := len(b.holds); n > 0 {
			p.Text(screen.Bad, p.Format("  HELD %s", screen.Count(n)))
		}
	case y <= b.Height && row < len(b.holds):
		b.drawHold(p, row)
	case y == 1 && b.point.Filter() == "":
		p.Text(screen.Muted, display.Lit(" nothing is held: b sets a filter, e.g. tool:run_shell"))
	case y == 1:
		p.Text(screen.Muted, display.Lit(" nothing is held: the next matching call is held before the client gets it"))
	case y > b.Height+1:
		b.drawNext(p, y-b.Height-2)
	}
}

// drawHold draws a held response: the reason, the time, and how much of it the client has received.
func (b *breakpointPage) drawHold(p *screen.Pen, row int) {
	hold, g, mark := b.holds[row], screen.Bare, display.Lit("  ")
	if row == b.At {
		g, mark = screen.Selected, p.Glyph.Mark.Between("", " ")
	}
	waits := display.Lit(" wait ")
	if hold.Ended {
		waits = display.Lit(" wait, end ")
	}
	left := screen.Time(hold.Left.Truncate(time.Second)).Between("  ", " left")
	wait := display.Join(screen.Bytes(int(hold.Waiting)).Between("  ", ""), waits)
	right := display.Join(screen.Time(hold.For).Between("  ", ""), left, screen.Bytes(int(hold.Given)).Between("  ", " passed"), wait)
	switch { // the remaining time is dropped last
	case p.Left >= right.Width()+40:
	case p.Left >= left.Width()+wait.Width()+40:
		right = display.Join(left, wait)
	default:
		right = display.Join(left, display.Lit(" "))
	}
	p.TextOn(screen.Accent, g, mark)
	keep := right.Width()
	p.Left -= keep
	p.TextOn(screen.Muted, g, p.Format("%4d ", hold.Exchange))
	p.TextOn(screen.Bad, g, p.Truncate(p.Clean(hold.Why), p.Left))
	p.Fill(g)
	p.Left = keep
	p.TextOn(screen.Muted, g, right)
}

// drawNext draws a row of the next frame.
func (b *breakpointPage) drawNext(p *screen.Pen, y int) {
	if b.At >= len(b.holds) {
		return
	}
	next := b.holds[b.At].Next
	switch {
	case y == 0:
		p.Text(screen.Accent, p.Format(" Next  %s", screen.Bytes(len(next))))
	case next == nil && y == 1:
		p.Text(screen.Muted, display.Lit(" nothing has arrived yet"))
	default:
		if lines := bytes.Split(bytes.TrimRight(next[:min(len(next), 4096)], "\r\n"), []byte("\n")); y <= len(lines) {
			p.Spaces(screen.Bare, 1)
			p.Untrusted(screen.Plain, screen.Bare, string(bytes.TrimRight(lines[y-1], "\r")))
		}
	}
}
