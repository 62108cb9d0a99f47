package ui

import (
	"toolscope/ui/display"
)

// drawPanes writes row y of what would be sent, beside what the model wrote.
func (r *replayView) drawPanes(p *pen, plan replayPlan, y int) {
	for i, f := range []face{sentFace, wroteFace} {
		if i > 0 {
			p.field(1)
			p.say(muted, p.glyph.rule)
		}
		width := [...]int{plan.sentW, plan.wroteW}[i]
		p.field(width)
		if y == 0 {
			drawCaption(p, accent, p.draw.Clean(f.String()), r.sizes(f)...)
			continue
		}
		r.drawSheet(p, f, y-1, plan.panes-1)
		p.fill(bare)
	}
}

// sizes is how much there is of a face, in words and in fewer.
func (r *replayView) sizes(f face) []display.Text {
	page := r.current()
	if page == nil || f == lostFace {
		return nil
	}
	if f == sentFace && page.body == nil {
		return []display.Text{page.none()}
	}
	all, marked, short := bytesText(len(page.body)), bytesText(page.added), display.Lit("new")
	long := display.Join(all, display.Lit(" in "), plural(page.messages, "message"))
	about := display.Lit(" marked: new or moved")
	if f == wroteFace {
		all, marked, short = bytesText(page.size), bytesText(page.gone), display.Lit("gone")
		long, about = all, display.Lit(" marked: not sent")
		if page.gone < page.size {
			short, about = display.Lit("changed"), display.Lit(" marked: changed or not sent")
		}
	}
	if marked == bytesText(0) {
		return []display.Text{long, all}
	}
	return []display.Text{display.Format("%s, %s%s", long, marked, about), display.Format("%s, %s %s", all, marked, short), display.Format("%s %s", marked, short)}
}

// drawSheet writes row y of h of the body or of the arguments. Where it is not
// scrolled, it begins a bit before what differs. What is not to be seen is told.
func (r *replayView) drawSheet(p *pen, f face, y, h int) {
	page := r.current()
	p.spaces(bare, 1)
	if page == nil {
		if y == 0 {
			p.say(muted, display.Lit("..."))
		}
		return
	}
	s, marked := &page.sent, added
	if f == wroteFace {
		s, marked = &page.wrote, gone
	}
	if s.rows == 0 && y == 0 {
		p.put(muted, bare, [...]display.Text{sentFace: page.none(), wroteFace: display.Lit("no argument bytes")}[f])
	}
	w := &r.faces[f]
	if w.height == 0 && s.lookRow() >= h-1 {
		w.top = s.lookRow() - h/3
	}
	w.rows, w.height = s.rows, h
	w.scroll(w.top)
	above, below := w.top, s.rows-w.top-h
	switch {
	case r.full, y > 0 && y < h-1, y == 0 && above == 0, y == h-1 && below <= 0:
		s.draw(p, w.top+y, marked)
	case y == 0:
		p.say(muted, p.draw.Format("(%s above)", plural(above+1, "line")))
	default:
		p.say(muted, p.draw.Format("(%s below)", plural(below+1, "line")))
	}
}

// drawFull writes row y of h of the one face that is shown.
func (r *replayView) drawFull(p *pen, y, h int) {
	const titles = 2
	switch {
	case y == 0:
		r.drawFaces(p)
	case y == 1:
		r.drawWhat(p)
	case r.face == lostFace:
		r.drawNotes(p, y-titles, h-titles)
	default:
		r.drawSheet(p, r.face, y-titles, h-titles)
	}
}

// drawFaces writes the titles of the faces, or of the one where only that fits.
func (r *replayView) drawFaces(p *pen) {
	w := r.faces[r.face]
	right := p.draw.Format(" %s to %s of %s ", commas(min(w.top+1, w.rows)), commas(min(w.rows, w.top+w.height)), commas(w.rows))
	all := p.left > 64+right.Width()
	for f := range numFaces {
		if f == r.face {
			p.say(accent, display.Join(display.Lit(" "), p.glyph.mark, p.draw.Clean(f.String()), display.Lit("  ")))
		} else if all {
			p.say(muted, p.draw.Clean(f.String()).Between("  ", "  "))
		}
	}
	if w.rows > w.height {
		p.tail(muted, bare, right)
	}
}

// drawWhat writes what the face is about.
func (r *replayView) drawWhat(p *pen) {
	p.put(plain, bare, p.draw.Truncate(p.draw.Format("  to %s, policy %s", r.targets[r.to].Name, r.policyName()), p.left))
	for _, size := range r.sizes(r.face) {
		if size.Width()+3 < p.left {
			p.put(muted, bare, size.Between("   ", ""))
			break
		}
	}
}

// drawNotes writes row y of h of all that is lost.
func (r *replayView) drawNotes(p *pen, y, h int) {
	page := r.current()
	if page == nil {
		return
	}
	w := &r.faces[lostFace]
	w.rows, w.height = len(page.notes), h
	w.scroll(w.top)
	if n := w.top + y; n < len(page.notes) {
		p.spaces(bare, 1)
		p.put(page.notes[n].role, bare, page.notes[n].text)
	}
}
