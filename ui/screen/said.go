package screen

import "toolscope/ui/display"

// StyledText is a text with its role.
type StyledText struct {
	Role Role
	Text display.Text
}

// Width returns the width of the text in cells.
func (s StyledText) Width() int { return s.Text.Width() }

// Width returns the total width in cells.
func Width[T interface{ Width() int }](all []T) (cells int) {
	for _, s := range all {
		cells += s.Width()
	}
	return cells
}

// Texts writes texts one after another.
func (p *Pen) Texts(all []StyledText) {
	for _, s := range all {
		p.Text(s.Role, s.Text)
	}
}
