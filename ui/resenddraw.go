package ui

import (
	"fmt"

	"toolscope/providers/replay"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// resendPlan is how the view divides a body of the screen.
type resendPlan struct {
	head  int // rows of titles, over the whole width
	hosts int // rows of the list
	body  int // rows of what would be sent, with their caption; 0 where only tab shows it
	notes int // rows about it, with their caption where there is room for one
	side  bool
	listW int // cells of the list and the notes
	bodyW int
}

// resendSide is how many cells it takes for the body to stand beside the hosts.
const resendSide = 120

// planResend divides a body of w × h cells for so many hosts.
func planResend(w, h, hosts int) resendPlan {
	p := resendPlan{head: 2, listW: w, bodyW: w}
	rest := max(h-p.head, 0)
	switch {
	case h < replayHigh:
		p.notes = min(2, max(rest-2, 0))
		p.hosts = rest - p.notes
	case w >= resendSide:
		p.side = true
		p.listW = min(max(w*2/5, 52), 80)
		p.bodyW = w - p.listW - 1
		p.hosts = min(hosts, rest*3/5)
		p.notes = rest - p.hosts
		p.body = rest
	default:
		p.notes = min(max(rest/5, panes.NoteCaption), 8)
		p.hosts = min(hosts, max(rest*3/10, 4))
		p.body = rest - p.hosts - p.notes
	}
	return p
}

func (r *resendView) plan(m *Model) resendPlan { return planResend(m.w, m.bodyHeight(), len(r.places)) }

func (r *resendView) body(m *Model, p *screen.Pen, y, h int) bool {
	defer func() { p.Fill(screen.Bare) }()
	plan := r.plan(m)
	r.Resize(len(r.places), plan.hosts)
	switch {
	case y >= h:
	case y == 0:
		r.drawTitle(p)
	case y == 1:
		r.drawHow(p)
	case r.full:
		r.drawSheet(p, y-plan.head, h-plan.head)
	case plan.side:
		p.Field(plan.listW)
		r.drawLeft(p, plan, y-plan.head, 0)
		p.Fill(screen.Bare)
		p.Field(1)
		p.Say(screen.Muted, p.Glyph.Rule)
		p.Field(plan.bodyW)
		r.drawBody(p, plan, y-plan.head)
	default:
		r.drawLeft(p, plan, y-plan.head, plan.body)
	}
	return true
}

// drawLeft writes row y of the hosts, of so many rows of the body, and of the
// notes.
func (r *resendView) drawLeft(p *screen.Pen, plan resendPlan, y, body int) {
	switch n := y - plan.hosts; {
	case n < 0:
		r.drawPlace(p, r.Top+y)
	case n < body:
		r.drawBody(p, plan, n)
	default:
		r.drawNote(p, plan, n-body)
	}
}

// title writes what is sent.
func (r *resendView) drawTitle(p *screen.Pen) {
	n := r.turn.Number + 1
	for _, lead := range []string{fmt.Sprintf(" SEND AGAIN the request of turn %d", n), fmt.Sprintf(" SEND AGAIN turn %d", n)} {
		if r.answered > 0 {
			lead = fmt.Sprintf(" SEND turn %d and %s of it", n, screen.Plural(r.answered, "result"))
		}
		if len(lead) < p.Left {
			p.Say(screen.Accent, p.Clean(lead))
			break
		}
	}
	at := fmt.Sprintf(" host %d of %d ", r.At+1, len(r.places))
	p.Tail(screen.Muted, screen.Bare, p.Clean(at))
}

// drawHow writes whom it goes to, which model is asked, and under which policy.
func (r *resendView) drawHow(p *screen.Pen) {
	h := r.place().Host
	model := p.Name(r.models[h])
	if model.Empty() {
		model = display.Lit("no model: m")
	}
	p.Put(screen.Plain, screen.Bare, p.Format(" to %s %s ", h.Name, p.Glyph.Dot))
	p.Put(screen.Accent, screen.Bare, p.Truncate(model, max(p.Left-10, 8)))
	how, does := "unchanged", ""
	if !r.isUnchanged() {
		policy := &replay.Policies[max(r.policy, 0)]
		how, does = "policy "+policy.Name, policy.Does
	}
	p.Put(screen.Plain, screen.Bare, p.Clean(how).Between("  ", ""))
	if does != "" && p.Left > panes.LongName {
		p.Put(screen.Muted, screen.Bare, p.Truncate(p.Clean(does).Between(": ", ""), p.Left-1))
	}
}

// hostColumn is how many cells the name of a host has.
const hostColumn = 13

// drawPlace writes row n of the hosts: its sign says whether it can be sent to.
func (r *resendView) drawPlace(p *screen.Pen, n int) {
	if n >= len(r.places) {
		return
	}
	place := &r.places[n]
	g, mark := screen.Bare, display.Lit("  ")
	if n == r.At {
		g, mark = screen.Selected, p.Glyph.Mark.Between("", " ")
	}
	p.Put(screen.Accent, g, mark)
	sign, look := p.Glyph.Outcome[replay.Verbatim], screen.Good
	if place.Trouble != "" {
		sign, look = p.Glyph.Outcome[replay.Dropped], screen.Bad
	}
	p.Put(look, g, sign.Between("", " "))
	p.Put(screen.Plain, g, p.Pad(p.Clean(place.Host.Name), hostColumn))
	if place.Host == r.origin {
		p.Put(screen.Live, g, display.Lit("it came from here  "))
	}
	switch model := p.Name(r.models[place.Host]); {
	case place.Trouble != "":
		p.Put(look, g, p.Truncate(p.Name(place.Trouble), p.Left-1))
	case place.Warning != "":
		p.Put(screen.Caution, g, p.Truncate(p.Name(place.Warning), p.Left-1))
	case model.Empty():
		p.Put(screen.Caution, g, display.Lit("no model is known: m"))
	default:
		p.Put(screen.Muted, g, p.Truncate(model, p.Left-1))
		if at := p.Name(place.Address).Between("  ", ""); at.Width() < p.Left {
			p.Put(screen.Muted, g, at)
		}
	}
	p.Fill(g)
}

// drawBody writes row y of what would be sent.
func (r *resendView) drawBody(p *screen.Pen, plan resendPlan, y int) {
	if y == 0 {
		var notes []display.Text
		if d := r.current(); d != nil && d.body != nil {
			size := screen.Bytes(len(d.body))
			long := display.Join(size, display.Lit(" to "), p.Name(d.url))
			if d.added > 0 {
				size = display.Join(size, display.Lit(", "), screen.Bytes(d.added), display.Lit(" marked: new"))
				long = display.Join(size, display.Lit(", to "), p.Name(d.url))
			}
			notes = []display.Text{long, size}
		}
		p.Caption(screen.Accent, p.Clean(sentFace.String()), notes...)
		return
	}
	r.drawSheet(p, y-1, plan.body-1)
}

// drawSheet writes row y of h of the body.
func (r *resendView) drawSheet(p *screen.Pen, y, h int) {
	d := r.current()
	p.Spaces(screen.Bare, 1)
	switch {
	case d == nil && y == 0:
		p.Say(screen.Muted, display.Lit("..."))
	case d != nil && d.body == nil && y == 0:
		p.Say(screen.Muted, display.Lit("nothing"))
	}
	if d == nil || d.body == nil {
		return
	}
	w := &r.face
	w.Rows, w.Height = d.sheet.Rows, h
	w.Scroll(w.Top)
	if below := w.Rows - w.Top - h; !r.full && y == h-1 && below > 0 {
		p.Say(screen.Muted, p.Format("(%s below: tab)", screen.Plural(below+1, "line")))
		return
	}
	if w.Top+y < w.Rows {
		d.sheet.Draw(p, w.Top+y, screen.Added)
	}
}

// drawNote writes row y of what is lost, or why nothing can be sent.
func (r *resendView) drawNote(p *screen.Pen, plan resendPlan, y int) {
	var notes []panes.Note
	if d := r.current(); d != nil {
		notes = d.notes
	}
	panes.DrawNotes(p, notes, y, plan.notes, display.Text{})
}
