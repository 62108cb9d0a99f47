package ui

import (
	"fmt"

	"toolscope/providers/replay"
	"toolscope/ui/display"
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
		p.notes = min(max(rest/5, noteCaption), 8)
		p.hosts = min(hosts, max(rest*3/10, 4))
		p.body = rest - p.hosts - p.notes
	}
	return p
}

func (r *resendView) plan(m *Model) resendPlan { return planResend(m.w, m.bodyHeight(), len(r.places)) }

func (r *resendView) body(m *Model, p *pen, y, h int) bool {
	defer func() { p.fill(bare) }()
	plan := r.plan(m)
	r.resize(len(r.places), plan.hosts)
	switch {
	case y >= h:
	case y == 0:
		r.drawTitle(p)
	case y == 1:
		r.drawHow(p)
	case r.full:
		r.drawSheet(p, y-plan.head, h-plan.head)
	case plan.side:
		p.field(plan.listW)
		r.drawLeft(p, plan, y-plan.head, 0)
		p.fill(bare)
		p.field(1)
		p.say(muted, p.glyph.rule)
		p.field(plan.bodyW)
		r.drawBody(p, plan, y-plan.head)
	default:
		r.drawLeft(p, plan, y-plan.head, plan.body)
	}
	return true
}

// drawLeft writes row y of the hosts, of so many rows of the body, and of the
// notes.
func (r *resendView) drawLeft(p *pen, plan resendPlan, y, body int) {
	switch n := y - plan.hosts; {
	case n < 0:
		r.drawPlace(p, r.top+y)
	case n < body:
		r.drawBody(p, plan, n)
	default:
		r.drawNote(p, plan, n-body)
	}
}

// drawTitle writes what is sent.
func (r *resendView) drawTitle(p *pen) {
	n := r.turn.Number + 1
	for _, lead := range []string{fmt.Sprintf(" SEND AGAIN the request of turn %d", n), fmt.Sprintf(" SEND AGAIN turn %d", n)} {
		if r.answered > 0 {
			lead = fmt.Sprintf(" SEND turn %d and %s of it", n, plural(r.answered, "result"))
		}
		if len(lead) < p.left {
			p.say(accent, p.draw.Clean(lead))
			break
		}
	}
	at := fmt.Sprintf(" host %d of %d ", r.at+1, len(r.places))
	p.tail(muted, bare, p.draw.Clean(at))
}

// drawHow writes whom it goes to, which model is asked, and under which policy.
func (r *resendView) drawHow(p *pen) {
	h := r.place().Host
	model := p.clean(r.models[h])
	if model.Empty() {
		model = display.Lit("no model: m")
	}
	p.put(plain, bare, p.draw.Format(" to %s %s ", h.Name, p.glyph.dot))
	p.put(accent, bare, p.draw.Truncate(model, max(p.left-10, 8)))
	how, does := "unchanged", ""
	if !r.isUnchanged() {
		policy := &replay.Policies[max(r.policy, 0)]
		how, does = "policy "+policy.Name, policy.Does
	}
	p.put(plain, bare, p.draw.Clean(how).Between("  ", ""))
	if does != "" && p.left > longName {
		p.put(muted, bare, p.draw.Truncate(p.draw.Clean(does).Between(": ", ""), p.left-1))
	}
}

// hostColumn is how many cells the name of a host has.
const hostColumn = 13

// drawPlace writes row n of the hosts: its sign says whether it can be sent to.
func (r *resendView) drawPlace(p *pen, n int) {
	if n >= len(r.places) {
		return
	}
	place := &r.places[n]
	g, mark := bare, display.Lit("  ")
	if n == r.at {
		g, mark = selected, p.glyph.mark.Between("", " ")
	}
	p.put(accent, g, mark)
	sign, look := p.glyph.outcome[replay.Verbatim], good
	if place.Trouble != "" {
		sign, look = p.glyph.outcome[replay.Dropped], bad
	}
	p.put(look, g, sign.Between("", " "))
	p.put(plain, g, p.draw.Pad(p.draw.Clean(place.Host.Name), hostColumn))
	if place.Host == r.origin {
		p.put(live, g, display.Lit("it came from here  "))
	}
	switch model := p.clean(r.models[place.Host]); {
	case place.Trouble != "":
		p.put(look, g, p.draw.Truncate(p.clean(place.Trouble), p.left-1))
	case place.Warning != "":
		p.put(caution, g, p.draw.Truncate(p.clean(place.Warning), p.left-1))
	case model.Empty():
		p.put(caution, g, display.Lit("no model is known: m"))
	default:
		p.put(muted, g, p.draw.Truncate(model, p.left-1))
		if at := p.clean(place.Address).Between("  ", ""); at.Width() < p.left {
			p.put(muted, g, at)
		}
	}
	p.fill(g)
}

// drawBody writes row y of what would be sent.
func (r *resendView) drawBody(p *pen, plan resendPlan, y int) {
	if y == 0 {
		var notes []display.Text
		if d := r.current(); d != nil && d.body != nil {
			size := bytesText(len(d.body))
			long := display.Join(size, display.Lit(" to "), p.clean(d.url))
			if d.added > 0 {
				size = display.Join(size, display.Lit(", "), bytesText(d.added), display.Lit(" marked: new"))
				long = display.Join(size, display.Lit(", to "), p.clean(d.url))
			}
			notes = []display.Text{long, size}
		}
		drawCaption(p, accent, p.draw.Clean(sentFace.String()), notes...)
		return
	}
	r.drawSheet(p, y-1, plan.body-1)
}

// drawSheet writes row y of h of the body.
func (r *resendView) drawSheet(p *pen, y, h int) {
	d := r.current()
	p.spaces(bare, 1)
	switch {
	case d == nil && y == 0:
		p.say(muted, display.Lit("..."))
	case d != nil && d.body == nil && y == 0:
		p.say(muted, display.Lit("nothing"))
	}
	if d == nil || d.body == nil {
		return
	}
	w := &r.face
	w.rows, w.height = d.sheet.rows, h
	w.scroll(w.top)
	if below := w.rows - w.top - h; !r.full && y == h-1 && below > 0 {
		p.say(muted, p.draw.Format("(%s below: tab)", plural(below+1, "line")))
		return
	}
	if w.top+y < w.rows {
		d.sheet.draw(p, w.top+y, added)
	}
}

// drawNote writes row y of what is lost, or why nothing can be sent.
func (r *resendView) drawNote(p *pen, plan resendPlan, y int) {
	room := plan.notes
	if room >= noteCaption {
		if y == 0 {
			drawCaption(p, muted, p.draw.Clean(lostFace.String()))
			return
		}
		y, room = y-1, room-1
	}
	d := r.current()
	if d == nil || y >= room {
		return
	}
	p.spaces(bare, 1)
	switch {
	case y == room-1 && len(d.notes) > room:
		p.say(muted, plural(len(d.notes)-y, "line").Between("+", ""))
	case y < len(d.notes):
		p.put(d.notes[y].role, bare, d.notes[y].text)
	}
}
