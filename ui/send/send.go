// Package send sends requests. It resends a captured request to the same host or to another one. It also
// continues a turn with results that the user types for the turn's calls. It never runs a tool, and it shows
// every request before it is sent.
package send

import (
	"bytes"
	"strings"

	"toolscope/providers"
	"toolscope/providers/host"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/tag"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// A Destination is a host to which requests can be sent.
type Destination struct {
	Host    *host.Host
	Address string // URL of the host; "" if unknown
	Trouble string // reason why nothing can be sent to the host, e.g. a missing key; "" if requests can be sent
	Warning string // shown before a request is sent
}

// A Request is a request that is ready to be sent.
type Request struct {
	Host  *host.Host
	Model string
	URL   string
	Body  []byte
}

// Dependencies has the functions and data that the modes need in addition to modes.Host.
type Dependencies struct {
	Send    func(Request) error // sends a request without waiting for the response; nil if requests can't be sent
	Places  []Destination       // possible destinations
	Results Results             // receives the typed results
	Outlet  modes.Exporter
	Draw    display.Drawer
}

// Results has the results that the user typed, by call.
type Results map[stream.Ref]Result

// Result is the typed result of one call.
type Result struct {
	Text   string
	Failed bool
}

// resultsOf returns the typed results for a turn's calls, and the calls whose results are missing. It ignores
// calls that the provider runs or has discarded.
func (r Results) resultsOf(t *stream.Turn) (all []host.Result, missing []stream.Ref) {
	if t == nil {
		return nil, nil
	}
	for _, c := range t.Calls {
		if c.RunByProvider || c.Discarded {
			continue
		}
		if given, ok := r[c.Ref()]; ok {
			all = append(all, host.Result{Call: c, Text: given.Text, Failed: given.Failed})
		} else {
			missing = append(missing, c.Ref())
		}
	}
	return all, missing
}

// draftKey identifies the data from which a draft was made.
type draftKey struct {
	host         *host.Host
	address      string
	trouble      string // reason why requests can't be sent to the host
	policy       int
	model        string
	raw          bool
	width, notes int
}

// draft is a request that can be shown and sent. A draft never changes.
type draft struct {
	key     draftKey
	url     string
	body    []byte
	trouble string // reason why the request can't be sent
	sheet   panes.TextSheet
	added   int // number of argument bytes that the model did not write
	notes   []panes.LossNote
}

// wantedDraft returns the key of the draft that should be shown.
func (a *resendMode) wantedDraft() draftKey {
	p := a.destination()
	k := draftKey{
		host: p.Host, address: p.Address, trouble: p.Trouble, policy: max(a.policy, 0), model: a.models[p.Host], raw: a.raw,
		width: max(a.plan.bodyW-1, 1), notes: max(a.plan.listW-1, 1),
	}
	if a.isUnchanged() {
		k.policy = unchanged
	}
	if a.full {
		k.width = max(a.w-1, 1)
	}
	return k
}

// prepareDraft makes the draft that should be shown. It makes a small draft at once, and a large draft in
// another goroutine. Only one such goroutine runs at a time.
func (a *resendMode) prepareDraft() {
	a.wanted = a.wantedDraft()
	if a.making || a.draft != nil && a.draft.key == a.wanted {
		return
	}
	k, c, draw := a.wanted, a.captured, a.deps.Draw
	if len(c.Body) < modes.MaxSyncBytes {
		a.draft = composeDraft(k, c, draw)
		return
	}
	a.making = true
	a.host.Do(func() func() {
		d := composeDraft(k, c, draw)
		return func() { a.draft, a.making = d, false }
	})
}

// currentDraft returns the draft that is shown and can be sent, or nil if no draft is ready. A draft with a different
// layout counts as ready.
func (a *resendMode) currentDraft() *draft {
	if a.draft == nil {
		return nil
	}
	k := a.draft.key
	k.width, k.notes, k.raw = a.wanted.width, a.wanted.notes, a.wanted.raw
	if k != a.wanted {
		return nil
	}
	return a.draft
}

// composeDraft makes a request for a host and lays it out.
func composeDraft(k draftKey, c host.CapturedRequest, draw display.Drawer) *draft {
	d := &draft{key: k}
	var marks []panes.Span
	if k.trouble != "" {
		d.addNote(screen.Bad, draw.Format("can't be sent: %s", k.trouble))
	}
	if tag.IsIn(c.Body) {
		d.addNote(screen.Caution, display.Lit("secrets were redacted in the capture: [redacted:...] is sent instead"))
	}
	if k.policy == unchanged {
		d.url, _ = k.host.RawRequest(c.Body, k.model, k.address)
		d.body = c.Body
		d.addNote(screen.Good, display.Lit("byte for byte as captured"))
	} else {
		marks = d.buildRequest(c, draw)
	}
	if d.body != nil {
		d.sheet.Add(panes.NewBlock(display.Text{}, d.body, k.raw, marks, k.width, draw))
		if len(marks) > 0 {
			d.sheet.LookAt = marks[0].Start
		}
	}
	return d
}

// buildRequest builds the request from the captured one, and adds notes about losses. It returns the spans
// of argument bytes that the model did not write.
func (d *draft) buildRequest(c host.CapturedRequest, draw display.Drawer) (marks []panes.Span) {
	k := d.key
	out, err := k.host.Resend(c, k.model, &replay.Behaviours[k.policy])
	if err != nil {
		d.trouble = err.Error()
		d.addNote(screen.Bad, draw.Format("can't be sent: %s", screen.ShortName(d.trouble)))
		return nil
	}
	d.url, d.body = k.host.Build(out.Request, k.address)
	if len(out.Undeclared) > 0 {
		d.addNote(screen.Caution, draw.Format("tools that can't be declared for this host: %s", screen.ShortName(strings.Join(out.Undeclared, ", "))))
	}
	if out.Moved > 0 {
		d.addNote(screen.Caution, screen.Plural(out.Moved, "instruction").Between("", " moved from inside the conversation to its start"))
	}
	d.notes = append(d.notes, panes.LossNotes(&out.Preview, replay.WholeConversation, k.notes, false, draw)...)
	found, added := panes.FindArgs([][]byte{d.body}, out.Preview.Calls)
	for _, args := range found {
		marks = append(marks, args.Marks...)
	}
	d.added = added
	return marks
}

// addNote adds a note and wraps it. The text must come from toolscope itself.
func (d *draft) addNote(r screen.Role, text display.Text) {
	for i, line := range display.Wrap(text, max(d.key.notes-4, 8)) {
		if i > 0 {
			line = line.Between("  ", "")
		}
		d.notes = append(d.notes, panes.LossNote{Role: r, Text: line})
	}
}

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
