package send

import (
	"fmt"

	"toolscope/providers"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// bodyLayout divides the body of the screen.
type bodyLayout struct {
	head  int // rows of titles, over the full width
	hosts int // rows of the list
	body  int // rows of the request's body, including its caption; 0 if only tab shows it
	notes int // rows of notes, including their caption if there is room
	side  bool
	listW int // width of the list and the notes, in cells
	bodyW int
}

// sideBySide is the width from which the body is next to the hosts.
const sideBySide = 120

// newBodyLayout divides a body of w × h cells for the given number of hosts.
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

// Extend lays the request out for a body of w × h cells.
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
		p.Text(screen.Muted, p.Glyph.Rule)
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

// drawTitle writes the turn whose request is sent.
func (a *resendMode) drawTitle(p *screen.Pen) {
	for _, lead := range []string{fmt.Sprintf(" SEND AGAIN the request of turn %d", a.turn), fmt.Sprintf(" SEND AGAIN turn %d", a.turn)} {
		if a.answered > 0 {
			lead = fmt.Sprintf(" SEND turn %d with %s", a.turn, screen.Plural(a.answered, "result"))
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

// drawDestination writes row n of the hosts. Its sign says whether requests can be sent to the host.
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

// drawNote writes row y of the losses, or of the reason why nothing can be sent.
func (a *resendMode) drawNote(p *screen.Pen, y int) {
	var notes []panes.LossNote
	if d := a.currentDraft(); d != nil {
		notes = d.notes
	}
	panes.DrawLossNotes(p, notes, y, a.plan.notes, display.Text{})
}
