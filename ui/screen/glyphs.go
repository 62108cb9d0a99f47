package screen

import (
	"toolscope/ui/display"
)

// Glyphs are the signs of one alphabet; each is one cell wide.
type Glyphs struct {
	Status, Severity, Outcome []display.Text
	Rule, Sep, Mark, Dot      display.Text
	Cursor, Ghost, Delta      display.Text
	Line, None                display.Text
}

// UnicodeGlyphs are drawn where the terminal has them.
var UnicodeGlyphs = newGlyphs("○◔◐●◌▲✗◇⊘⊖◍", "·▲✗", "●◌◉≈▣◑∅✗⊖◍", "│›▌·█┊╎─—")

// ASCIIGlyphs are drawn elsewhere.
var ASCIIGlyphs = newGlyphs(".~?=-!x#/%u", ".!x", "=-o*[+0x%u", "|>>-_:|--")

// newGlyphs makes an alphabet of its signs: of statuses, of severities, of outcomes, and the
// others.
func newGlyphs(status, severity, outcome, others string) *Glyphs {
	s := signs(others)
	return &Glyphs{
		Status: signs(status), Severity: signs(severity), Outcome: signs(outcome),
		Rule: s[0], Sep: s[1], Mark: s[2], Dot: s[3], Cursor: s[4], Ghost: s[5], Delta: s[6], Line: s[7], None: s[8],
	}
}

func signs(of string) (all []display.Text) {
	for _, r := range of {
		all = append(all, display.Clean(string(r)))
	}
	return all
}
