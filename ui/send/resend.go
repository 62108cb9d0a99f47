package send

import (
	"fmt"
	"slices"

	"toolscope/providers"
	"toolscope/providers/host"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// resendMode resends a captured request to its own host or to another host. It shows a list of hosts, and the
// request for the selected host.
type resendMode struct {
	screen.Window // the list of hosts
	host          modes.Host
	deps          Dependencies
	turn          int // number of the turn in the list of turns
	captured      host.CapturedRequest
	answered      int // number of typed results in the request
	places        []Destination
	origin        *host.Host          // host of the captured request; nil if unknown
	asItIs        map[*host.Host]bool // true if the captured body can be sent to the host unchanged
	models        map[*host.Host]string

	policy     int // index in replay.Behaviours, or unchanged
	raw        bool
	full       bool // the body fills the screen
	typing     *screen.Input
	w          int // width, in cells
	plan       bodyLayout
	bodyWindow screen.Window // the scrolled body

	wanted draftKey
	draft  *draft
	making bool // another goroutine is making a draft
}

// unchanged is the policy that sends the captured body without changes.
const unchanged = -1

// ResendEntry returns the entry that opens a resendMode for the selected turn's request.
func ResendEntry(m Dependencies) modes.Entry {
	return modes.Entry{Binding: screen.Do("resend", nil), New: func(h modes.Host) (modes.Mode, display.Text) {
		t, _ := h.View().Find(h.Chosen())
		return newResendMode(h, m, t, nil)
	}}
}

// newResendMode returns a resendMode for a turn's request. If there are results, the request continues with
// the turn and these results of its calls. If the request can't be sent, newResendMode returns the reason.
func newResendMode(h modes.Host, m Dependencies, t *stream.Turn, results []host.Result) (modes.Mode, display.Text) {
	switch {
	case t == nil:
		return nil, display.Lit("no request to resend")
	case m.Send == nil || len(m.Places) == 0:
		return nil, nowhere
	case len(results) > 0 && t.Retention != stream.InMemory:
		return nil, notKept
	}
	x := h.View().Exchange(t.Exchange)
	c, err := host.Capture(x)
	if err != nil {
		return nil, m.Draw.Clean(err.Error())
	}
	a := &resendMode{
		host: h, deps: m, turn: int(t.Number) + 1, answered: len(results), policy: unchanged,
		places: slices.Clone(m.Places), models: map[*host.Host]string{}, asItIs: map[*host.Host]bool{},
	}
	a.Rows = len(a.places)
	a.origin = host.Origin(c, x.Head.URL)
	if named, err := host.Find(x.Head.File); err == nil { // the file of a sent request is named after its host
		a.origin = named
	}
	if at := slices.IndexFunc(a.places, func(p Destination) bool { return p.Host == a.origin }); at >= 0 {
		p := a.places[at]
		a.places = slices.Insert(slices.Delete(a.places, at, at+1), 0, p)
	}
	for _, p := range a.places {
		a.models[p.Host] = p.Host.ModelOf(c, "")
		a.asItIs[p.Host] = len(results) == 0 && p.Host.AsItIs(c)
	}
	if len(results) > 0 {
		answer := *t // a copy, because later data must not change the request
		answer.Calls = slices.Clone(t.Calls)
		c.ContinueFrom(replay.Message(&answer, providers.TargetOf(t.Protocol)), results)
	}
	a.captured = c
	return a, display.Text{}
}

var (
	nowhere = display.Lit("requests can't be sent here")
	notKept = display.Lit("the arguments of the turn's calls are not kept")
)

// Typing returns the input for the model's name, or nil if it is closed.
func (a *resendMode) Typing() *screen.Input { return a.typing }

// Keys returns the key bindings that change and send the request. While the user types a model's name, it
// returns the key bindings for that input.
func (a *resendMode) Keys() []screen.Binding {
	if a.typing != nil {
		return []screen.Binding{
			screen.Key("enter", "keep", "use this model", func() { // an empty name selects the default
				h := a.destination().Host
				a.models[h] = h.ModelOf(a.captured, a.typing.Value())
				a.typing = nil
			}),
			screen.Key("esc", "cancel", "keep the old model", func() { a.typing = nil }),
		}
	}
	turn := func() { a.full = !a.full }
	back, model, body := "close", "model", "body"
	if a.full {
		back, model, body = "back", "", ""
	}
	keys := []screen.Binding{
		screen.Key("esc q", back, "close or go back", a.stepBack),
		screen.Key("enter", "send", "send the request", a.sendDraft),
	}
	if a.full {
		keys = append(keys, a.bodyWindow.ScrollKeys("scroll")...)
	}
	keys = append(keys,
		screen.Key("p", "policy", "next policy", func() { a.stepPolicy(1) }),
		screen.Key("P", "", "previous policy", func() { a.stepPolicy(-1) }),
		screen.Key("m", model, "change the model", func() {
			a.typing = screen.NewInput(display.Lit(" model "), a.models[a.destination().Host], maxModel)
		}),
		screen.Key("tab shift+tab", body, "toggle body and hosts", turn),
		screen.Key("left h right l", "", "", turn),
		screen.Key("r", "raw", "toggle raw text", func() { a.raw = !a.raw }))
	keys = append(keys, a.deps.Outlet.Keys(a.host, a.deps.Draw, a.shownBody)...)
	if !a.full {
		keys = append(keys, a.CursorKeys("", a.selectHost)...)
	}
	return keys
}

// stepBack returns from the body to the list. In the list, it closes the mode.
func (a *resendMode) stepBack() {
	if a.full {
		a.full = false
		return
	}
	a.host.Close()
}

// selectHost selects the host in a row.
func (a *resendMode) selectHost(row int) {
	if row != a.At {
		a.MoveTo(row)
		a.bodyWindow = screen.Window{}
	}
}

// Click selects the host under the mouse, and reports whether it was already selected.
func (a *resendMode) Click(x, y int) (again bool) {
	row := a.RowAt(y)
	if a.full || row < 0 || a.plan.side && x >= a.plan.listW {
		return false
	}
	again = row == a.At
	a.selectHost(row)
	return again
}

// Roll scrolls the body if it fills the screen, or else the hosts.
func (a *resendMode) Roll(rows int) {
	if a.full {
		a.bodyWindow.Roll(rows)
		return
	}
	a.Window.Roll(rows)
}

// destination returns the selected destination.
func (a *resendMode) destination() *Destination { return &a.places[a.At] }

// isUnchanged reports whether the captured body is sent without changes.
func (a *resendMode) isUnchanged() bool { return a.policy == unchanged && a.canBeUnchanged() }

// canBeUnchanged reports whether the captured body can be sent without changes to the selected host, with the
// selected model.
func (a *resendMode) canBeUnchanged() bool {
	h := a.destination().Host
	return a.asItIs[h] && a.models[h] == a.captured.Model()
}

// stepPolicy moves the selected policy by the given number of places. It wraps around at the ends.
func (a *resendMode) stepPolicy(by int) {
	first := 0
	if a.canBeUnchanged() {
		first = unchanged
	}
	n := len(replay.Behaviours) - first
	a.policy = (max(a.policy, first)-first+by+n)%n + first
	a.bodyWindow = screen.Window{}
}

// maxModel is the maximum length, in characters, of a typed model name.
const maxModel = 200

// sendDraft sends the shown request.
func (a *resendMode) sendDraft() {
	a.prepareDraft() // earlier keys in the same batch may have changed the request
	p, d, draw := a.destination(), a.currentDraft(), a.deps.Draw
	switch {
	case d == nil:
		a.host.Say(display.Lit("not ready yet"))
		return
	case p.Trouble != "":
		a.host.Say(draw.Clean(p.Trouble))
		return
	case d.trouble != "":
		a.host.Say(draw.Clean(d.trouble))
		return
	}
	if err := a.deps.Send(Request{Host: p.Host, Model: d.key.model, URL: d.url, Body: d.body}); err != nil {
		a.host.Say(draw.Format("not sent: %s", err))
		return
	}
	a.host.Say(draw.Format("sent to %s: awaiting the response", p.Host.Name))
	a.host.Close()
}

// shownBody returns the shown body, so that it can be copied or saved.
func (a *resendMode) shownBody() modes.Body {
	a.prepareDraft() // earlier keys in the same batch may have changed the request
	d, name := a.currentDraft(), a.destination().Host.Name
	switch {
	case d == nil:
		return modes.Body{What: display.Lit("not ready yet")}
	case d.body == nil:
		return modes.Body{What: display.Lit("nothing would be sent")}
	}
	return modes.Body{
		Data: d.body, What: a.deps.Draw.Format("%s for %s", screen.Bytes(len(d.body)), name), File: fmt.Sprintf("request-%d-%s.json", a.turn, name),
	}
}

// bodyLayout divides the screen's body.
type bodyLayout struct {
	head  int // rows of titles across the full width
	hosts int // rows of the list
	body  int // rows of the request's body, including its caption; 0 if the body is visible only after the tab key
	notes int // rows of notes, including their caption if there is room
	side  bool
	listW int // width of the list and the notes, in cells
	bodyW int
}

// sideBySide is the minimum width at which the body is next to the hosts.
const sideBySide = 120

// newBodyLayout divides a screen body of w × h cells for the given number of hosts.
func newBodyLayout(w, h, hosts int) bodyLayout {
	p := bodyLayout{head: 2, listW: w, bodyW: w}
	rest := max(h-p.head, 0)
	switch {
	case h < modes.Tall:
		p.notes = min(2, max(rest-2, 0))
		p.hosts = rest - p.notes
	case w >= sideBySide:
		p.side = true
		p.listW = min(max(w*2/5, 52), 80)
		p.bodyW = w - p.listW - 1
		p.hosts = min(hosts, rest*3/5)
		p.notes = rest - p.hosts
		p.body = rest
	default:
		p.notes = min(max(rest/5, 3), 8)
		p.hosts = min(hosts, max(rest*3/10, 4))
		p.body = rest - p.hosts - p.notes
	}
	return p
}

// Extend lays out the request for a screen body of w × h cells.
func (a *resendMode) Extend(_ *providers.View, w, h int) {
	a.w, a.plan = w, newBodyLayout(w, h, len(a.places))
	a.Fit(len(a.places), a.plan.head, a.plan.head+a.plan.hosts)
	a.prepareDraft()
	if d := a.currentDraft(); d != nil {
		a.bodyWindow.Rows, a.bodyWindow.Height = d.sheet.Rows, max(a.plan.body-1, 1)
		if a.full {
			a.bodyWindow.Height = max(h-a.plan.head, 1)
		}
		a.bodyWindow.Scroll(a.bodyWindow.Top)
	}
}

// Draw writes row y.
func (a *resendMode) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	plan := a.plan
	switch {
	case y == 0:
		a.drawTitle(p)
	case y == 1:
		a.drawHow(p)
	case a.full:
		a.drawSheet(p, y-plan.head)
	case plan.side:
		p.Field(plan.listW)
		a.drawLeft(p, y-plan.head, 0)
		p.Fill(screen.Bare)
		p.Field(1)
		p.Text(screen.Frame, p.Glyph.Rule)
		p.Field(plan.bodyW)
		a.drawBody(p, y-plan.head)
	default:
		a.drawLeft(p, y-plan.head, plan.body)
	}
}

// drawLeft writes row y of the left side: the hosts, the given number of rows of the body, and the notes.
func (a *resendMode) drawLeft(p *screen.Pen, y, body int) {
	switch n := y - a.plan.hosts; {
	case n < 0:
		a.drawDestination(p, a.Top+y)
	case n < body:
		a.drawBody(p, n)
	default:
		a.drawNote(p, n-body)
	}
}

// drawTitle writes the number of the turn whose request is sent.
func (a *resendMode) drawTitle(p *screen.Pen) {
	for _, lead := range []string{fmt.Sprintf(" Resend the request of turn %d", a.turn), fmt.Sprintf(" Resend turn %d", a.turn)} {
		if a.answered > 0 {
			lead = fmt.Sprintf(" Send turn %d with %s", a.turn, screen.Plural(a.answered, "result"))
		}
		if len(lead) < p.Left {
			p.Text(screen.Accent, p.Clean(lead))
			break
		}
	}
	at := fmt.Sprintf(" host %d of %d ", a.At+1, len(a.places))
	p.Right(screen.Muted, screen.Bare, p.Clean(at))
}

// drawHow writes the host, the model and the policy.
func (a *resendMode) drawHow(p *screen.Pen) {
	h := a.destination().Host
	model := p.Name(a.models[h])
	if model.Empty() {
		model = display.Lit("no model: m")
	}
	p.TextOn(screen.Plain, screen.Bare, p.Format(" to %s %s ", h.Name, p.Glyph.Dot))
	p.TextOn(screen.Accent, screen.Bare, p.Truncate(model, max(p.Left-10, 8)))
	how, does := "unchanged", ""
	if !a.isUnchanged() {
		policy := &replay.Behaviours[max(a.policy, 0)]
		how, does = "policy "+policy.Name, policy.Description
	}
	p.TextOn(screen.Plain, screen.Bare, p.Clean(how).Between("  ", ""))
	if does != "" && p.Left > panes.LongName {
		p.TextOn(screen.Muted, screen.Bare, p.Truncate(p.Clean(does).Between(": ", ""), p.Left-1))
	}
}

// hostColumn is the width of a host's name, in cells.
const hostColumn = 13

// drawDestination writes row n of the hosts. A sign shows whether requests can be sent to the host.
func (a *resendMode) drawDestination(p *screen.Pen, n int) {
	if n >= len(a.places) {
		return
	}
	place := &a.places[n]
	g, mark := screen.Bare, display.Lit("  ")
	if n == a.At {
		g, mark = screen.Selected, p.Glyph.Mark.Between("", " ")
	}
	p.TextOn(screen.Accent, g, mark)
	sign, look := p.Glyph.Status[stream.Complete], screen.Good
	if place.Trouble != "" {
		sign, look = p.Glyph.Status[stream.Malformed], screen.Bad
	}
	p.TextOn(look, g, sign.Between("", " "))
	p.TextOn(screen.Plain, g, p.Pad(p.Clean(place.Host.Name), hostColumn))
	if place.Host == a.origin {
		p.TextOn(screen.Live, g, display.Lit("original host  "))
	}
	switch model := p.Name(a.models[place.Host]); {
	case place.Trouble != "":
		p.TextOn(look, g, p.Truncate(p.Name(place.Trouble), p.Left-1))
	case place.Warning != "":
		p.TextOn(screen.Caution, g, p.Truncate(p.Name(place.Warning), p.Left-1))
	case model.Empty():
		p.TextOn(screen.Caution, g, display.Lit("no model: press m"))
	default:
		p.TextOn(screen.Muted, g, p.Truncate(model, p.Left-1))
		if at := p.Name(place.Address).Between("  ", ""); at.Width() < p.Left {
			p.TextOn(screen.Muted, g, at)
		}
	}
	p.Fill(g)
}

// drawBody writes row y of the request's body, with its caption.
func (a *resendMode) drawBody(p *screen.Pen, y int) {
	if y == 0 {
		var notes []display.Text
		if d := a.currentDraft(); d != nil && d.body != nil {
			size := screen.Bytes(len(d.body))
			long := display.Join(size, display.Lit(" to "), p.Name(d.url))
			if d.added > 0 {
				size = display.Join(size, display.Lit(", "), screen.Bytes(d.added), display.Lit(" marked: new"))
				long = display.Join(size, display.Lit(", to "), p.Name(d.url))
			}
			notes = []display.Text{long, size}
		}
		p.Caption(screen.Accent, display.Lit("would be sent"), notes...)
		return
	}
	a.drawSheet(p, y-1)
}

// drawSheet writes row y of the request's body.
func (a *resendMode) drawSheet(p *screen.Pen, y int) {
	d := a.currentDraft()
	p.Spaces(screen.Bare, 1)
	switch {
	case d == nil && y == 0:
		p.Text(screen.Muted, display.Lit("..."))
	case d != nil && d.body == nil && y == 0:
		p.Text(screen.Muted, display.Lit("nothing"))
	}
	if d == nil || d.body == nil {
		return
	}
	w := a.bodyWindow
	if below := w.Rows - w.Top - w.Height; !a.full && y == w.Height-1 && below > 0 {
		p.Text(screen.Muted, p.Format("(%s below: tab)", screen.Plural(below+1, "line")))
		return
	}
	if w.Top+y < w.Rows {
		d.sheet.Draw(p, w.Top+y, screen.Added)
	}
}

// drawNote writes row y of the notes: the losses, or the reason why nothing can be sent.
func (a *resendMode) drawNote(p *screen.Pen, y int) {
	var notes []panes.LossNote
	if d := a.currentDraft(); d != nil {
		notes = d.notes
	}
	panes.DrawLossNotes(p, notes, y, a.plan.notes, display.Text{})
}
