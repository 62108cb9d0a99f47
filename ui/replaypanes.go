package ui

import (
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// drawPanes writes row y of what would be sent, beside what the model wrote.
func (r *replayView) drawPanes(p *screen.Pen, plan replayPlan, y int) {
	for i, f := range []face{sentFace, wroteFace} {
		if i > 0 {
			p.Field(1)
			p.Say(screen.Muted, p.Glyph.Rule)
		}
		width := [...]int{plan.sentW, plan.wroteW}[i]
		p.Field(width)
		if y == 0 {
			p.Caption(screen.Accent, p.Clean(f.String()), r.sizes(f)...)
			continue
		}
		r.drawSheet(p, f, y-1, plan.panes-1)
		p.Fill(screen.Bare)
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
	all, marked, short := screen.Bytes(len(page.body)), screen.Bytes(page.added), display.Lit("new")
	long := display.Join(all, display.Lit(" in "), screen.Plural(page.messages, "message"))
	about := display.Lit(" marked: new or moved")
	if f == wroteFace {
		all, marked, short = screen.Bytes(page.size), screen.Bytes(page.gone), display.Lit("gone")
		long, about = all, display.Lit(" marked: not sent")
		if page.gone < page.size {
			short, about = display.Lit("changed"), display.Lit(" marked: changed or not sent")
		}
	}
	if marked == screen.Bytes(0) {
		return []display.Text{long, all}
	}
	return []display.Text{display.Format("%s, %s%s", long, marked, about), display.Format("%s, %s %s", all, marked, short), display.Format("%s %s", marked, short)}
}

// drawSheet writes row y of h of the body or of the arguments. Where it is not
// scrolled, it begins a bit before what differs. What is not to be seen is told.
func (r *replayView) drawSheet(p *screen.Pen, f face, y, h int) {
	page := r.current()
	p.Spaces(screen.Bare, 1)
	if page == nil {
		if y == 0 {
			p.Say(screen.Muted, display.Lit("..."))
		}
		return
	}
	s, marked := &page.sent, screen.Added
	if f == wroteFace {
		s, marked = &page.wrote, screen.Gone
	}
	if s.Rows == 0 && y == 0 {
		p.Put(screen.Muted, screen.Bare, [...]display.Text{sentFace: page.none(), wroteFace: display.Lit("no argument bytes")}[f])
	}
	w := &r.faces[f]
	if w.Height == 0 && s.LookRow() >= h-1 {
		w.Top = s.LookRow() - h/3
	}
	w.Rows, w.Height = s.Rows, h
	w.Scroll(w.Top)
	above, below := w.Top, s.Rows-w.Top-h
	switch {
	case r.full, y > 0 && y < h-1, y == 0 && above == 0, y == h-1 && below <= 0:
		s.Draw(p, w.Top+y, marked)
	case y == 0:
		p.Say(screen.Muted, p.Format("(%s above)", screen.Plural(above+1, "line")))
	default:
		p.Say(screen.Muted, p.Format("(%s below)", screen.Plural(below+1, "line")))
	}
}

// drawFull writes row y of h of the one face that is shown.
func (r *replayView) drawFull(p *screen.Pen, y, h int) {
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
func (r *replayView) drawFaces(p *screen.Pen) {
	w := r.faces[r.face]
	right := p.Format(" %s to %s of %s ", screen.Count(min(w.Top+1, w.Rows)), screen.Count(min(w.Rows, w.Top+w.Height)), screen.Count(w.Rows))
	all := p.Left > 64+right.Width()
	for f := range numFaces {
		if f == r.face {
			p.Say(screen.Accent, display.Join(display.Lit(" "), p.Glyph.Mark, p.Clean(f.String()), display.Lit("  ")))
		} else if all {
			p.Say(screen.Muted, p.Clean(f.String()).Between("  ", "  "))
		}
	}
	if w.Rows > w.Height {
		p.Tail(screen.Muted, screen.Bare, right)
	}
}

// drawWhat writes what the face is about.
func (r *replayView) drawWhat(p *screen.Pen) {
	p.Put(screen.Plain, screen.Bare, p.Truncate(p.Format("  to %s, policy %s", r.targets[r.to].Name, r.policyName()), p.Left))
	for _, size := range r.sizes(r.face) {
		if size.Width()+3 < p.Left {
			p.Put(screen.Muted, screen.Bare, size.Between("   ", ""))
			break
		}
	}
}

// drawNotes writes row y of h of all that is lost.
func (r *replayView) drawNotes(p *screen.Pen, y, h int) {
	page := r.current()
	if page == nil {
		return
	}
	w := &r.faces[lostFace]
	w.Rows, w.Height = len(page.notes), h
	w.Scroll(w.Top)
	if n := w.Top + y; n < len(page.notes) {
		p.Spaces(screen.Bare, 1)
		p.Put(page.notes[n].Role, screen.Bare, page.notes[n].Text)
	}
}
