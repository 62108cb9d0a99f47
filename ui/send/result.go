package send

import (
	"bytes"

	"toolscope/providers"
	"toolscope/providers/host"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// resultMode is the mode in which the result of a call is typed or pasted.
type resultMode struct {
	host     modes.Host
	deps     Dependencies
	of       stream.Ref
	name, id string // of the call
	input    *screen.Input
	failed   bool

	given, all int    // results of the turn: those that are there, and those it needs
	text       []byte // what is typed
	cursor     int    // a byte of it
	rows       []layout.Row
	edits      int // of the input when they were laid out
	width      int // they are laid out for
	view       screen.Window
}

// maxTyped is how many characters a result may have that is typed here.
const maxTyped = 256 << 10

// TypeResult is the entry that lets the user type what the chosen call gave back.
func TypeResult(m Dependencies) modes.Entry {
	key := screen.Binding{Keys: []string{"a"}, Does: display.Lit("type a result, to go on")}
	return modes.Entry{Binding: key, New: func(h modes.Host) (modes.Mode, display.Text) {
		t, c := h.View().Find(h.Chosen())
		if why := m.whyRefused(h.View(), t, c); !why.Empty() {
			return nil, why
		}
		before := m.Results[c.Ref()]
		in := screen.NewInput(display.Text{}, before.Text, maxTyped)
		in.Lines = true
		return &resultMode{host: h, deps: m, of: c.Ref(), name: c.Name, id: c.ID, input: in, failed: before.Failed}, display.Text{}
	}}
}

// whyRefused says why no result of a call can be typed, if that is so.
func (m *Dependencies) whyRefused(v *providers.View, t *stream.Turn, c *stream.Call) display.Text {
	switch {
	case m.Send == nil:
		return nowhere
	case c == nil:
		return display.Lit("no call: a gives the result of a call")
	case c.RunByProvider:
		return display.Lit("the provider runs this call itself")
	case c.Discarded:
		return display.Lit("the provider threw this call away: it waits for nothing")
	case t.Retention != stream.InMemory:
		return notKept
	case !t.Closed():
		return display.Lit("not yet: the turn is still coming")
	case t.SentBack:
		return m.Draw.Format("it was sent back %s", panes.FirstSentBack(v, t))
	}
	if _, err := host.Capture(v.Exchange(t.Exchange)); err != nil {
		return m.Draw.Clean(err.Error())
	}
	return display.Text{}
}

// Typing is the result.
func (r *resultMode) Typing() *screen.Input { return r.input }

// Keys are those that are not typed.
func (r *resultMode) Keys() []screen.Binding {
	return []screen.Binding{
		{Keys: []string{"enter"}, Hint: display.Lit("enter keep"), Does: display.Lit("keep it, and go on"), Do: r.storeResult},
		{Keys: []string{"esc"}, Hint: display.Lit("esc cancel"), Does: display.Lit("as it was before"), Do: r.host.Close},
		{Keys: []string{"tab"}, Hint: display.Lit("tab error or not"), Does: display.Lit("an error, or none"), Do: func() { r.failed = !r.failed }},
		{Keys: []string{"ctrl+j", "alt+enter"}, Hint: display.Lit("^J new line"), Does: display.Lit("a new line"), Do: func() { r.input.Insert("\n") }},
	}
}

// storeResult remembers the result. With the last one that the turn waits for, the next request can be
// sent.
func (r *resultMode) storeResult() {
	r.host.Close()
	r.deps.Results[r.of] = Result{r.input.Value(), r.failed}
	t, _ := r.host.View().Find(r.of)
	all, missing := r.deps.Results.resultsOf(t)
	if len(missing) > 0 {
		r.host.Choose(missing[0])
		r.host.Say(display.Format("%d of %s: a gives the next", len(all), screen.Plural(len(all)+len(missing), "result")))
		return
	}
	next, why := newResendMode(r.host, r.deps, t, all)
	if next == nil {
		r.host.Say(why)
		return
	}
	r.host.Open(next)
}

// Extend lays out what is typed, if it is not, and keeps the cursor in view.
func (r *resultMode) Extend(v *providers.View, w, h int) {
	t, _ := v.Find(r.of)
	all, missing := r.deps.Results.resultsOf(t)
	r.given, r.all = len(all), len(all)+len(missing)
	if width := max(w-panes.Margin, 1); r.edits != r.input.Edits || r.width != width {
		r.text, r.cursor = []byte(r.input.Value()), r.input.Cursor()
		r.edits, r.width = r.input.Edits, width
		l := layout.NewText(width, r.deps.Draw)
		l.Extend(r.text, true)
		r.rows = l.Rows()
	}
	at := r.cursorRow()
	r.view.Resize(max(len(r.rows), at+1), h-resultHead)
	r.view.MoveTo(at)
}

// resultHead is how many rows are about the result.
const resultHead = 2

// cursorRow is the row of the cursor: behind the last line end there is one more than the text has.
func (r *resultMode) cursorRow() int {
	for n, row := range r.rows {
		if r.cursor < int(row.End) || n == len(r.rows)-1 && !bytes.HasSuffix(r.text, []byte("\n")) {
			return n
		}
	}
	return len(r.rows)
}

// Draw writes row y.
func (r *resultMode) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	switch y {
	case 0:
		r.drawTitle(p)
	case 1:
		sign, word, look := p.Glyph.Status[stream.Complete], display.Lit(" the tool gave this back"), screen.Good
		if r.failed {
			sign, word, look = p.Glyph.Status[stream.Malformed], display.Lit(" the tool failed with this"), screen.Bad
		}
		p.Spaces(screen.Bare, 1)
		p.TextOn(look, screen.Bare, display.Join(sign, word))
		p.Right(screen.Muted, screen.Bare, p.Format("  tab: the other   %s ", screen.Bytes(len(r.text))))
	default:
		p.Spaces(screen.Bare, 1)
		r.drawRow(p, r.view.Top+y-resultHead)
	}
}

func (r *resultMode) drawTitle(p *screen.Pen) {
	count := p.Format(" %d of %s there ", r.given, screen.Plural(r.all, "result"))
	if p.Left < 50 {
		count = display.Text{}
	}
	name := p.Name(r.name)
	if name.Empty() {
		name = display.Lit("(no name)")
	}
	p.Text(screen.Accent, display.Lit(" RESULT of "))
	p.TextOn(screen.Plain, screen.Bare, p.Truncate(name, max(p.Left-count.Width(), 8)))
	if id := screen.ShortID(p.Name(screen.ElideMiddle(r.id)), p.Left-count.Width()-2); !id.Empty() {
		p.TextOn(screen.Muted, screen.Bare, id.Between("  ", ""))
	}
	p.Right(screen.Muted, screen.Bare, count)
}

// drawRow writes a row of what is typed, with the cursor if that is on it.
func (r *resultMode) drawRow(p *screen.Pen, row int) {
	line := []byte(nil)
	start := len(r.text)
	if row < len(r.rows) {
		start = int(r.rows[row].Start)
		line = r.text[start:r.rows[row].End]
	}
	if row != r.view.At {
		p.Bytes(screen.Plain, screen.Bare, screen.TrimEnd(line))
		return
	}
	at := min(max(r.cursor-start, 0), len(line))
	p.Bytes(screen.Plain, screen.Bare, screen.TrimEnd(line[:at]))
	p.Text(screen.Live, p.Glyph.Cursor)
	p.Bytes(screen.Plain, screen.Bare, screen.TrimEnd(line[at:]))
}
