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

// resultMode is the mode in which the user types or pastes the result of a call.
type resultMode struct {
	host     modes.Host
	deps     Dependencies
	of       stream.Ref
	name, id string // name and id of the call
	input    *screen.Input
	failed   bool

	given, all int    // number of results entered for the turn, and number of results needed
	text       []byte // the typed text
	cursor     int    // byte offset of the cursor in text
	rows       []layout.Row
	edits      int // number of edits of the input at the last layout
	width      int // width at the last layout, in cells
	view       screen.Window
}

// maxTyped is the maximum length, in characters, of a typed result.
const maxTyped = 256 << 10

// TypeResult returns the entry that opens a resultMode for the selected call.
func TypeResult(m Dependencies) modes.Entry {
	return modes.Entry{Binding: screen.Do("result", nil), New: func(h modes.Host) (modes.Mode, display.Text) {
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

// whyRefused returns the reason why the user can't enter a result for a call. The text is empty if the user
// can.
func (m *Dependencies) whyRefused(v *providers.View, t *stream.Turn, c *stream.Call) display.Text {
	switch {
	case m.Send == nil:
		return nowhere
	case c == nil:
		return display.Lit("select a call, then press a to enter its result")
	case c.RunByProvider:
		return display.Lit("the provider runs this call itself")
	case c.Discarded:
		return display.Lit("the provider discarded this call: it needs no result")
	case t.Retention != stream.InMemory:
		return notKept
	case !t.Closed():
		return display.Lit("not yet: the turn is still open")
	case t.SentBack:
		return m.Draw.Format("the turn was sent back %s", panes.FirstSentBack(v, t))
	}
	if _, err := host.Capture(v.Exchange(t.Exchange)); err != nil {
		return m.Draw.Clean(err.Error())
	}
	return display.Text{}
}

// Typing returns the input for the result.
func (r *resultMode) Typing() *screen.Input { return r.input }

// Keys returns the key bindings. All other keys are typed as text.
func (r *resultMode) Keys() []screen.Binding {
	return []screen.Binding{
		screen.Key("enter", "keep", "store the result", r.storeResult),
		screen.Key("esc", "cancel", "cancel", r.host.Close),
		screen.Key("tab", "toggle error", "toggle error", func() { r.failed = !r.failed }),
		screen.Key("ctrl+j alt+enter", "new line", "insert a new line", func() { r.input.Insert("\n") }).Show("^J"),
	}
}

// storeResult stores the result. If other results are missing, it selects the next call without a result.
// Otherwise it opens a resendMode.
func (r *resultMode) storeResult() {
	r.host.Close()
	r.deps.Results[r.of] = Result{r.input.Value(), r.failed}
	t, _ := r.host.View().Find(r.of)
	all, missing := r.deps.Results.resultsOf(t)
	if len(missing) > 0 {
		r.host.Choose(missing[0])
		r.host.Say(display.Format("%d of %s: press a for the next", len(all), screen.Plural(len(all)+len(missing), "result")))
		return
	}
	next, why := newResendMode(r.host, r.deps, t, all)
	if next == nil {
		r.host.Say(why)
		return
	}
	r.host.Open(next)
}

// Extend lays out the typed text again if it has changed, and keeps the cursor in view.
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

// resultHead is the number of rows above the text.
const resultHead = 2

// cursorRow returns the row that the cursor is in. After a final line break, that is the row after the text.
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
		sign, word, look := p.Glyph.Status[stream.Complete], display.Lit(" the tool returned this"), screen.Good
		if r.failed {
			sign, word, look = p.Glyph.Status[stream.Malformed], display.Lit(" the tool failed with this"), screen.Bad
		}
		p.Spaces(screen.Bare, 1)
		p.TextOn(look, screen.Bare, display.Join(sign, word))
		p.Right(screen.Muted, screen.Bare, p.Format("  tab: toggle   %s ", screen.Bytes(len(r.text))))
	default:
		p.Spaces(screen.Bare, 1)
		r.drawRow(p, r.view.Top+y-resultHead)
	}
}

func (r *resultMode) drawTitle(p *screen.Pen) {
	count := p.Format(" %d of %s set ", r.given, screen.Plural(r.all, "result"))
	if p.Left < 50 {
		count = display.Text{}
	}
	name := p.Name(r.name)
	if name.Empty() {
		name = display.Lit("(no name)")
	}
	p.Text(screen.Accent, display.Lit(" Result of "))
	p.TextOn(screen.Plain, screen.Bare, p.Truncate(name, max(p.Left-count.Width(), 8)))
	if id := screen.ShortID(p.Name(screen.ElideMiddle(r.id)), p.Left-count.Width()-2); !id.Empty() {
		p.TextOn(screen.Muted, screen.Bare, id.Between("  ", ""))
	}
	p.Right(screen.Muted, screen.Bare, count)
}

// drawRow writes a row of the typed text, and the cursor if it is in that row.
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
