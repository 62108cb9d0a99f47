package screen

import (
	"toolscope/ui/display"
)

// Glyphs are the signs of one alphabet: one meaning, one sign. Each is one cell wide, those of
// Severity and Side are two.
type Glyphs struct {
	Status   []display.Text // of a call, by stream.Status; a turn has the sign of what it shows
	Severity []display.Text // of a finding
	Side     [NumSides]display.Text

	Mark, Change               display.Text // the cursor; the number of a delta, before it
	Cursor, Ghost, Wraps, Fold display.Text // may grow; closer to come; the row goes on; folded
	Unfold                     display.Text // not folded
	Delta                      display.Text // between two deltas
	Up, Below, Back, Onward    display.Text
	Sep, Dot, Dash, None       display.Text // between parts of a way, of facts, in a range; nothing known
	Times                      display.Text
	Rule, Line, Tee            display.Text

	// Of a bar of time: nothing yet, silence, bytes, the last that must be there; the moment, and over it.
	Idle, Silent, Coming, Usable, Here, Over display.Text
	Headers, Token, End                      display.Text // of the response: its head, the first that it brings, its end
}

// UnicodeGlyphs are drawn where the terminal has them.
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

// ASCIIGlyphs are drawn elsewhere.
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

// charTexts are the characters of a text, one by one.
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
