package screen

import "toolscope/ui/display"

// Said is a text in its colour.
type Said struct {
	Role Role
	Text display.Text
}

// Width is how many cells it takes.
func (s Said) Width() int { return s.Text.Width() }

// Width is how many cells several take.
func Width[T interface{ Width() int }](all []T) (cells int) {
	for _, s := range all {
		cells += s.Width()
	}
	return cells
}

// SayAll writes texts behind one another.
func (p *Pen) SayAll(all []Said) {
	for _, s := range all {
		p.Say(s.Role, s.Text)
	}
}
