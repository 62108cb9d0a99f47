package screen

import (
	"toolscope/ui/display"
)

// Glyphs are the signs of the screen, in Unicode or ASCII: one meaning, one sign. Each is one cell wide;
// those of Severity and Side are two.
type Glyphs struct {
	Status   []display.Text // of a call, by stream.Status; a turn shares these signs
	Severity []display.Text // of a finding
	Side     [NumSides]display.Text

	Mark, Change               display.Text // the cursor; the number of a delta, before it
	Cursor, Ghost, Wraps, Fold display.Text // may grow; missing closer; the row continues; folded
	Unfold                     display.Text // not folded
	Delta                      display.Text // between two deltas
	Up, Below, Back, Onward    display.Text
	Sep, Dot, Dash, None       display.Text // between parts of a path, of facts, in a range; unknown
	Times                      display.Text
	Rule, Line, Tee            display.Text

	// On the timeline: nothing yet, silence, bytes, last required key; the moment, and the sign above it.
	Idle, Silent, Coming, Usable, Here, Over display.Text
	Headers, Token, End                      display.Text // of the response: its head, its first token, its end
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
