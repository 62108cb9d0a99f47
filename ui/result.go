package ui

import (
	"strings"

	"github.com/charmbracelet/bubbles/textinput"

	"toolscope/providers/host"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/panes"
	"toolscope/ui/screen"

	tea "github.com/charmbracelet/bubbletea"
)

// typedResult is what the user says a call gave back. Nothing is ever run here.
type typedResult struct {
	text   string
	failed bool
}

// resultBar is the mode in which the result of a call is typed or pasted.
type resultBar struct {
	turn   *stream.Turn
	call   *stream.Call
	input  textinput.Model
	failed bool

	typed  bool   // since it was laid out
	text   []byte // what is typed
	cursor int    // a byte of it
	width  int
	rows   []layout.Row
	view   screen.Window
}

// The line holds no line ends and no tabs: these stand for them, and mean
// nothing else.
const (
	standsForLine = '\U0010fffd'
	standsForTab  = '\U0010fffc'
)

var (
	toLine   = strings.NewReplacer("\r\n", string(standsForLine), "\n", string(standsForLine), "\r", string(standsForLine), "\t", string(standsForTab))
	fromLine = strings.NewReplacer(string(standsForLine), "\n", string(standsForTab), "\t")
)

// mostTyped is how many characters a result may have that is typed here.
const mostTyped = 256 << 10

// openResult lets the user type what the chosen call gave back.
func (m *Model) openResult() {
	c := m.call()
	switch t := m.turn(); {
	case m.opt.Send == nil:
		m.say(display.Lit("nothing can be sent from here"))
	case c == nil:
		m.say(display.Lit("no call: a gives the result of a call"))
	case c.Server:
		m.say(display.Lit("the provider runs this call itself"))
	case c.Attempt:
		m.say(display.Lit("the provider threw this call away: it waits for nothing"))
	case !t.Closed():
		m.say(display.Lit("not yet: the turn is still coming"))
	case t.Returned:
		m.say(m.draw.Clean(panes.Onward(m.in.Session(), t)).Between("it was sent back ", ""))
	default:
		if _, err := host.Capture(m.in.Exchange(t.Exchange)); err != nil {
			m.say(m.draw.Clean(err.Error()))
			return
		}
		m.openOld(newResultBar(t, c, m.results[c.Ref()]))
	}
}

func newResultBar(t *stream.Turn, c *stream.Call, before typedResult) *resultBar {
	in := textinput.New()
	in.CharLimit = mostTyped
	in.SetValue(toLine.Replace(before.text))
	in.CursorEnd()
	in.Focus()
	return &resultBar{turn: t, call: c, input: in, failed: before.failed}
}

func (b *resultBar) update(m *Model, k tea.KeyMsg) tea.Cmd {
	b.typed = true
	switch {
	case k.Type == tea.KeyEsc:
		m.closeTop()
	case k.Type == tea.KeyTab:
		b.failed = !b.failed
	case k.Type == tea.KeyEnter && !k.Alt:
		m.closeTop()
		m.keepResult(b.turn, b.call, typedResult{fromLine.Replace(b.input.Value()), b.failed})
	case k.Type == tea.KeyEnter, k.Type == tea.KeyCtrlJ:
		b.insert("\n")
	case k.Type == tea.KeyRunes && k.Paste:
		b.insert(string(k.Runes))
	default:
		b.input, _ = b.input.Update(k)
	}
	return nil
}

// insert puts text where the cursor is.
func (b *resultBar) insert(text string) {
	b.input, _ = b.input.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(toLine.Replace(strings.ToValidUTF8(text, "")))})
}

// keepResult remembers the result of a call. With the last one that the turn
// waits for, the next request can be sent.
func (m *Model) keepResult(t *stream.Turn, c *stream.Call, r typedResult) {
	m.results[c.Ref()] = r
	all, missing := m.resultsOf(t)
	if len(missing) == 0 {
		m.openSending(t, all)
		return
	}
	m.setFollow(false)
	m.choose(missing[0].Ref())
	m.say(m.draw.Format("%d of %s: a gives the next", len(all), screen.Plural(len(all)+len(missing), "result")))
}

// resultsOf are the results that the calls of a turn have, and the calls that
// wait for one.
func (m *Model) resultsOf(t *stream.Turn) (all []host.Result, missing []*stream.Call) {
	for _, c := range t.Calls {
		if c.Server || c.Attempt {
			continue
		}
		if r, ok := m.results[c.Ref()]; ok {
			all = append(all, host.Result{Call: c, Text: r.text, Failed: r.failed})
		} else {
			missing = append(missing, c)
		}
	}
	return all, missing
}

// work lays out what is typed.
func (b *resultBar) work(m *Model) tea.Cmd {
	width := max(m.w-panes.Margin, 1)
	if !b.typed && width == b.width {
		return nil
	}
	value := b.input.Value()
	b.cursor = len(fromLine.Replace(string([]rune(value)[:b.input.Position()])))
	b.text, b.width, b.typed = []byte(fromLine.Replace(value)), width, false
	l := layout.NewText(width, m.draw)
	l.Extend(b.text, true)
	b.rows = l.Rows()
	return nil
}

// cursorRow is the row of the cursor: behind the last line end there is one more
// than the text has.
func (b *resultBar) cursorRow() int {
	for n, r := range b.rows {
		if b.cursor < int(r.End) || n == len(b.rows)-1 && !strings.HasSuffix(string(b.text), "\n") {
			return n
		}
	}
	return len(b.rows)
}

func (b *resultBar) body(m *Model, p *screen.Pen, y, h int) bool {
	defer func() { p.Fill(screen.Bare) }()
	const head = 2
	at := b.cursorRow()
	b.view.Resize(max(len(b.rows), at+1), h-head)
	b.view.MoveTo(at)
	switch row := b.view.Top + y - head; {
	case y == 0:
		b.drawTitle(m, p)
	case y == 1:
		sign, word, look := p.Glyph.Status[stream.Complete], display.Lit(" the tool gave this back"), screen.Good
		if b.failed {
			sign, word, look = p.Glyph.Status[stream.Malformed], display.Lit(" the tool failed with this"), screen.Bad
		}
		p.Spaces(screen.Bare, 1)
		p.Put(look, screen.Bare, display.Join(sign, word))
		p.Tail(screen.Muted, screen.Bare, p.Format("  tab: the other   %s ", screen.Bytes(len(b.text))))
	default:
		p.Spaces(screen.Bare, 1)
		b.drawRow(p, row, row == at)
	}
	return true
}

func (b *resultBar) drawTitle(m *Model, p *screen.Pen) {
	all, missing := m.resultsOf(b.turn)
	count := p.Format(" %d of %s there ", len(all), screen.Plural(len(all)+len(missing), "result"))
	if p.Left < 50 {
		count = display.Text{}
	}
	name := p.Name(b.call.Name)
	if name.Empty() {
		name = display.Lit("(no name)")
	}
	p.Say(screen.Accent, display.Lit(" RESULT of "))
	p.Put(screen.Plain, screen.Bare, p.Truncate(name, max(p.Left-count.Width(), 8)))
	if id := screen.ShortID(p.Name(screen.Ends(b.call.ID)), p.Left-count.Width()-2); !id.Empty() {
		p.Put(screen.Muted, screen.Bare, id.Between("  ", ""))
	}
	p.Tail(screen.Muted, screen.Bare, count)
}

// drawRow writes a row of what is typed, with the cursor if that is on it.
func (b *resultBar) drawRow(p *screen.Pen, row int, cursor bool) {
	line := []byte(nil)
	start := len(b.text)
	if row < len(b.rows) {
		start = int(b.rows[row].Start)
		line = b.text[start:b.rows[row].End]
	}
	if !cursor {
		p.Raw(screen.Plain, screen.Bare, screen.TrimEnd(line))
		return
	}
	at := min(max(b.cursor-start, 0), len(line))
	p.Raw(screen.Plain, screen.Bare, screen.TrimEnd(line[:at]))
	p.Say(screen.Live, p.Glyph.Cursor)
	p.Raw(screen.Plain, screen.Bare, screen.TrimEnd(line[at:]))
}

func (b *resultBar) footer(m *Model, p *screen.Pen) {
	oldHints(p, []string{"enter keep", "esc cancel", "tab error or not", "^J new line"})
}
