package screen

import (
	"toolscope/ui/display"
)

// Glyphs are the signs of the screen, in Unicode or ASCII. Each meaning has one sign. Signs are one cell wide,
// except those of Severity and Side, which are two cells wide.
type Glyphs struct {
	Status   []display.Text // states of calls, by stream.Status; turns share these signs
	Severity []display.Text // severities of findings
	Side     [NumSides]display.Text

	Mark, Change               display.Text // row of the cursor; before the number of a delta
	Cursor, Ghost, Wraps, Fold display.Text // end of a growing text; missing closing bracket; continued row; folded
	Unfold                     display.Text // not folded
	Delta                      display.Text // between two deltas
	Up, Below, Back, Onward    display.Text
	Sep, Dot, Dash, None       display.Text // between parts of a path; between facts; in a range; unknown value
	Times                      display.Text
	Rule, Line, Tee            display.Text

	// The timeline: nothing yet, silence, bytes, last required key; the current moment, and the sign above it.
	Idle, Silent, Coming, Usable, Here, Over display.Text
	Headers, Token, End                      display.Text // head, first token and end of a response
}

// UnicodeGlyphs are the signs for terminals with Unicode.
var UnicodeGlyphs = &Glyphs{
	Status: charTexts("○◔◐●◌▲✗◇⊘⊖◍"), Severity: cleanTexts("i ", "! ", "!!"), Side: [NumSides]display.Text(cleanTexts("= ", "≈ ", "≠ ", "— ", "∅ ")),
	Mark: display.Lit("▌"), Change: display.Lit("Δ"),
	Cursor: display.Lit("█"), Ghost: display.Lit("┊"), Wraps: display.Lit("↳"), Fold: display.Lit("▸"),
	Unfold: display.Lit("▾"),
	Delta:  display.Lit("╎"),
	Up:     display.Lit("↑"), Below: display.Lit("↓"), Back: display.Lit("←"), Onward: display.Lit("→"),
	Sep: display.Lit("›"), Dot: display.Lit("·"), Dash: display.Lit("–"), None: display.Lit("—"),
	Times: display.Lit("×"),
	Rule:  display.Lit("│"), Line: display.Lit("─"), Tee: display.Lit("┬"),
	Idle: display.Lit("┄"), Silent: display.Lit("─"), Coming: display.Lit("━"), Usable: display.Lit("╋"), Here: display.Lit("┃"), Over: display.Lit("▼"),
	Headers: display.Lit("┌"), Token: display.Lit("┬"), End: display.Lit("┐"),
}

// ASCIIGlyphs are the signs for other terminals.
var ASCIIGlyphs = &Glyphs{
	Status: charTexts(".~?*-<x#/%u"), Severity: cleanTexts("i ", "! ", "!!"), Side: [NumSides]display.Text(cleanTexts("==", "~=", "!=", "--", "{}")),
	Mark: display.Lit(">"), Change: display.Lit("d"),
	Cursor: display.Lit("_"), Ghost: display.Lit(":"), Wraps: display.Lit("+"), Fold: display.Lit(">"),
	Unfold: display.Lit("v"),
	Delta:  display.Lit("|"),
	Up:     display.Lit("^"), Below: display.Lit("v"), Back: display.Lit("<"), Onward: display.Lit(">"),
	Sep: display.Lit(">"), Dot: display.Lit("-"), Dash: display.Lit("-"), None: display.Lit("-"),
	Times: display.Lit("x"),
	Rule:  display.Lit("|"), Line: display.Lit("-"), Tee: display.Lit("+"),
	Idle: display.Lit("."), Silent: display.Lit("-"), Coming: display.Lit("="), Usable: display.Lit("+"), Here: display.Lit("|"), Over: display.Lit("V"),
	Headers: display.Lit("["), Token: display.Lit("'"), End: display.Lit("]"),
}

// charTexts splits a text into its characters.
func charTexts(of string) (all []display.Text) {
	for _, r := range of {
		all = append(all, display.Clean(string(r)))
	}
	return all
}

func cleanTexts(of ...string) (all []display.Text) {
	for _, s := range of {
		all = append(all, display.Clean(s))
	}
	return all
}
