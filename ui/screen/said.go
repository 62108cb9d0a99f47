package screen

import "toolscope/ui/display"

// StyledText is a text in its colour.
type StyledText struct {
	Role Role
	Text display.Text
}

// Width is how many cells it takes.
func (s StyledText) Width() int { return s.Text.Width() }

// Width is how many cells several take.
func Width[T interface{ Width() int }](all []T) (cells int) {
	for _, s := range all {
		cells += s.Width()
	}
	return cells
}

// Texts writes texts behind one another.
func (p *Pen) Texts(all []StyledText) {
	for _, s := range all {
		p.Text(s.Role, s.Text)
	}
}
