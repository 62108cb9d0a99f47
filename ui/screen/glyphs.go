package screen

import (
	"toolscope/ui/display"
)

// Glyphs are the signs of one alphabet; each is one cell wide, those of Side are two.
type Glyphs struct {
	Status, Severity     []display.Text
	Rule, Sep, Mark, Dot display.Text
	Cursor, Ghost, Delta display.Text
	Line, None           display.Text
	Tee, Dash, Below     display.Text
	Back, Onward         display.Text
	Side                 [NumSides]display.Text
}

// UnicodeGlyphs are drawn where the terminal has them.
var UnicodeGlyphs = newGlyphs("○◔◐●◌▲✗◇⊘⊖◍", "·▲✗", "│›▌·█┊╎─—┬–↓←→", [NumSides]string{"= ", "≈ ", "≠ ", "— ", "∅ "})

// ASCIIGlyphs are drawn elsewhere.
var ASCIIGlyphs = newGlyphs(".~?=-!x#/%u", ".!x", "|>>-_:|--+-v<>", [NumSides]string{"==", "~=", "!=", "--", "{}"})

// newGlyphs makes an alphabet of its signs: of statuses, of severities, the others, and of sides.
func newGlyphs(status, severity, others string, sides [NumSides]string) *Glyphs {
	s := signs(others)
	g := &Glyphs{
		Status: signs(status), Severity: signs(severity),
		Rule: s[0], Sep: s[1], Mark: s[2], Dot: s[3], Cursor: s[4], Ghost: s[5], Delta: s[6], Line: s[7], None: s[8],
		Tee: s[9], Dash: s[10], Below: s[11], Back: s[12], Onward: s[13],
	}
	for i, side := range sides {
		g.Side[i] = display.Clean(side)
	}
	return g
}

func signs(of string) (all []display.Text) {
	for _, r := range of {
		all = append(all, display.Clean(string(r)))
	}
	return all
}
