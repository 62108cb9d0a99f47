package screen

import (
	"math"
	"strconv"
	"strings"
	"time"

	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/display"
)

// Glyphs are the signs on the screen, in Unicode or ASCII. Each meaning has one sign. Signs are one cell wide,
// except those in Severity and Side, which are two cells wide.
type Glyphs struct {
	Status   []display.Text // states of calls, by stream.Status; turns share these signs
	Severity []display.Text // severities of findings
	Side     [NumSides]display.Text

	Mark, Bar, Change          display.Text // row with the cursor; left edge of a callout; before the number of a delta
	Cursor, Ghost, Wraps, Fold display.Text // end of a growing text; missing closing bracket; continued row; folded container
	Unfold                     display.Text // not folded
	Delta                      display.Text // between two deltas
	Up, Below, Back, Onward    display.Text
	Sep, Dot, Dash, None       display.Text // between parts of a path; between facts; in a range; unknown value
	Times                      display.Text
	Rule, Line, Tee            display.Text
	Heavy, Calm, Under         display.Text    // edge of the focused pane; healthy turn; call made by the call above
	Corners                    [4]display.Text // corners of a frame: top left, top right, bottom left, bottom right
	Joints                     [5]display.Text // joints of a frame's lines: down, up, right, left, all
	Full, UpperHalf, LowerHalf display.Text    // parts of block letters

	// Signs in the timeline: nothing yet, silence or reasoning, bytes, pings, first byte; the current moment, and
	// the sign above it.
	Idle, Silent, Coming, Ping, Token, Here, Over display.Text
	Levels                                        [8]display.Text // number of bytes in a cell, as one of eight levels
}

// UnicodeGlyphs are the signs for terminals with Unicode.
var UnicodeGlyphs = &Glyphs{
	Status: charTexts("○◔◐●◌▲✗◇⊘⊖◍"), Severity: cleanTexts("i ", "! ", "!!"), Side: [NumSides]display.Text(cleanTexts("= ", "≈ ", "≠ ", "— ", "∅ ")),
	Mark: display.Lit("▌"), Bar: display.Lit("▎"), Change: display.Lit("Δ"),
	Cursor: display.Lit("█"), Ghost: display.Lit("┊"), Wraps: display.Lit("↳"), Fold: display.Lit("▸"),
	Unfold: display.Lit("▾"),
	Delta:  display.Lit("╎"),
	Up:     display.Lit("↑"), Below: display.Lit("↓"), Back: display.Lit("←"), Onward: display.Lit("→"),
	Sep: display.Lit("›"), Dot: display.Lit("·"), Dash: display.Lit("–"), None: display.Lit("—"),
	Times: display.Lit("×"),
	Rule:  display.Lit("│"), Line: display.Lit("─"), Tee: display.Lit("┬"),
	Heavy: display.Lit("━"), Calm: display.Lit("·"), Under: display.Lit("└"),
	Corners: [4]display.Text(charTexts("╭╮╰╯")), Joints: [5]display.Text(charTexts("┬┴├┤┼")),
	Full: display.Lit("█"), UpperHalf: display.Lit("▀"), LowerHalf: display.Lit("▄"),
	Idle: display.Lit("┄"), Silent: display.Lit("─"), Coming: display.Lit("━"), Here: display.Lit("┃"), Over: display.Lit("▼"),
	Ping: display.Lit("·"), Token: display.Lit("┬"), Levels: [8]display.Text(charTexts("▁▂▃▄▅▆▇█")),
}

// ASCIIGlyphs are the signs for terminals without Unicode.
var ASCIIGlyphs = &Glyphs{
	Status: charTexts("o~?*-<x#/%u"), Severity: cleanTexts("i ", "! ", "!!"), Side: [NumSides]display.Text(cleanTexts("==", "~=", "!=", "--", "{}")),
	Mark: display.Lit(">"), Bar: display.Lit("|"), Change: display.Lit("d"),
	Cursor: display.Lit("_"), Ghost: display.Lit(":"), Wraps: display.Lit("+"), Fold: display.Lit(">"),
	Unfold: display.Lit("v"),
	Delta:  display.Lit("|"),
	Up:     display.Lit("^"), Below: display.Lit("v"), Back: display.Lit("<"), Onward: display.Lit(">"),
	Sep: display.Lit(">"), Dot: display.Lit("-"), Dash: display.Lit("-"), None: display.Lit("-"),
	Times: display.Lit("x"),
	Rule:  display.Lit("|"), Line: display.Lit("-"), Tee: display.Lit("+"),
	Heavy: display.Lit("="), Calm: display.Lit("."), Under: display.Lit(`\`),
	Corners: [4]display.Text(charTexts("++++")), Joints: [5]display.Text(charTexts("+++++")),
	Full: display.Lit("#"), UpperHalf: display.Lit("'"), LowerHalf: display.Lit("."),
	Idle: display.Lit("."), Silent: display.Lit("-"), Coming: display.Lit("="), Here: display.Lit("|"), Over: display.Lit("V"),
	Ping: display.Lit(":"), Token: display.Lit("'"), Levels: [8]display.Text(charTexts("12345678")),
}

// charTexts splits text into its characters.
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

// StyledText is text with a role.
type StyledText struct {
	Role Role
	Text display.Text
}

// Width returns the width of the text in cells.
func (s StyledText) Width() int { return s.Text.Width() }

// Width returns the total width of the texts in cells.
func Width[T interface{ Width() int }](all []T) (cells int) {
	for _, s := range all {
		cells += s.Width()
	}
	return cells
}

// Texts writes texts, each in its role.
func (p *Pen) Texts(all []StyledText) {
	for _, s := range all {
		p.Text(s.Role, s.Text)
	}
}

// Side is the result of a comparison between a request and the text that the model wrote, or between two turns.
type Side uint8

const (
	Same    Side = iota
	Alike        // different bytes, same meaning
	Differs      // another meaning
	Absent       // missing or unknown
	Nothing      // nothing was sent

	NumSides = iota
)

// OutcomeSides maps the outcome of a call to its side.
var OutcomeSides = [replay.NumOutcomes]Side{
	replay.Verbatim: Same, replay.AssumedEmpty: Alike, replay.Parsed: Alike, replay.Reformatted: Alike, replay.Unwrapped: Alike,
	replay.Wrapped: Differs, replay.Renamed: Differs, replay.AsText: Differs, replay.Repaired: Differs,
	replay.Emptied: Nothing, replay.Dropped: Nothing, replay.Throws: Nothing, replay.Unknown: Absent,
}

// Bytes formats a size. For 10,000 bytes and more, it uses larger units with at most three digits. It truncates
// digits and never rounds up.
func Bytes(n int) display.Text {
	if n < 10_000 {
		return Count(n).Between("", " B")
	}
	size, unit := float64(n)/1000, 0
	for ; size >= 1000 && unit < len(byteUnits)-1; unit++ {
		size /= 1000
	}
	if size >= 100 {
		return display.Format("%d %s", int(size), byteUnits[unit])
	}
	return display.Format("%.1f %s", math.Trunc(size*10)/10, byteUnits[unit])
}

var byteUnits = []string{"kB", "MB", "GB", "TB"}

// Count formats n with a thousands separator.
func Count(n int) display.Text {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return display.Clean(s)
}

// Time formats a duration, with at most three digits below a minute. It truncates digits and never rounds up. For
// NoTime, it returns an empty text.
func Time(d time.Duration) display.Text {
	switch {
	case d < 0:
		return display.Text{}
	case d < time.Second:
		return display.Format("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return display.Format("%.2f s", d.Truncate(10*time.Millisecond).Seconds())
	case d < time.Minute:
		return display.Format("%.1f s", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Hour:
		return display.Format("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return display.Format("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// RoughTime formats a duration like Time, but with only one decimal place for seconds. It is for a sum, or for a
// duration that is still growing.
func RoughTime(d time.Duration) display.Text {
	if d >= time.Second && d < 10*time.Second {
		return display.Format("%.1f s", d.Truncate(100*time.Millisecond).Seconds())
	}
	return Time(d)
}

// Elapsed returns the time between two moments. It returns NoTime if one of them is unknown, or if to is before from.
func Elapsed(from, to time.Duration) time.Duration {
	if from < 0 || to < 0 || to < from {
		return stream.NoTime
	}
	return to - from
}

// WholeSeconds formats a duration in whole seconds.
func WholeSeconds(d time.Duration) display.Text {
	if d < time.Minute {
		return Count(int(d/time.Second)).Between("", " s")
	}
	return Time(d.Truncate(time.Second))
}

// CallTime returns the time from the start of a call to the end of its arguments. Before the arguments end, it
// returns the time to the last byte so far, or NoTime.
func CallTime(c *stream.Call) time.Duration {
	if c.SealedAt >= 0 {
		return Elapsed(c.OpenedAt, c.SealedAt)
	}
	return Elapsed(c.OpenedAt, c.LastArgAt)
}

// Plural returns "1 thing" or "2 things".
func Plural(n int, thing string) display.Text {
	return display.Clean(Count(n).String() + " " + count.Noun(n, thing))
}

// blockFace is the font of the block letters. A letter has ten rows of pixels, one byte each; the highest bit is the
// first pixel. A letter is as wide as its widest row.
var blockFace = map[rune][blockPixels]byte{
	'A':  {0x78, 0xfc, 0xcc, 0xcc, 0xfc, 0xfc, 0xcc, 0xcc, 0xcc, 0xcc},
	'B':  {0xf8, 0xfc, 0xcc, 0xcc, 0xf8, 0xf8, 0xcc, 0xcc, 0xfc, 0xf8},
	'C':  {0x78, 0xfc, 0xcc, 0xc0, 0xc0, 0xc0, 0xc0, 0xcc, 0xfc, 0x78},
	'D':  {0xf8, 0xfc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xfc, 0xf8},
	'E':  {0xfc, 0xfc, 0xc0, 0xc0, 0xf8, 0xf8, 0xc0, 0xc0, 0xfc, 0xfc},
	'F':  {0xfc, 0xfc, 0xc0, 0xc0, 0xf8, 0xf8, 0xc0, 0xc0, 0xc0, 0xc0},
	'G':  {0x78, 0xfc, 0xcc, 0xc0, 0xdc, 0xdc, 0xcc, 0xcc, 0xfc, 0x78},
	'H':  {0xcc, 0xcc, 0xcc, 0xcc, 0xfc, 0xfc, 0xcc, 0xcc, 0xcc, 0xcc},
	'I':  {0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0},
	'J':  {0x0c, 0x0c, 0x0c, 0x0c, 0x0c, 0x0c, 0xcc, 0xcc, 0xfc, 0x78},
	'K':  {0xcc, 0xcc, 0xd8, 0xd8, 0xf0, 0xf0, 0xd8, 0xd8, 0xcc, 0xcc},
	'L':  {0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xfc, 0xfc},
	'M':  {0xc3, 0xe7, 0xff, 0xff, 0xdb, 0xdb, 0xc3, 0xc3, 0xc3, 0xc3},
	'N':  {0xc6, 0xe6, 0xe6, 0xf6, 0xd6, 0xde, 0xce, 0xce, 0xc6, 0xc6},
	'O':  {0x78, 0xfc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xfc, 0x78},
	'P':  {0xf8, 0xfc, 0xcc, 0xcc, 0xfc, 0xf8, 0xc0, 0xc0, 0xc0, 0xc0},
	'Q':  {0x78, 0xfc, 0xcc, 0xcc, 0xcc, 0xcc, 0xdc, 0xd8, 0xfc, 0x74},
	'R':  {0xf8, 0xfc, 0xcc, 0xcc, 0xfc, 0xf8, 0xd8, 0xd8, 0xcc, 0xcc},
	'S':  {0x7c, 0xfc, 0xc0, 0xc0, 0xf8, 0x7c, 0x0c, 0x0c, 0xfc, 0xf8},
	'T':  {0xfc, 0xfc, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30},
	'U':  {0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xfc, 0x78},
	'V':  {0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0x78, 0x78, 0x30},
	'W':  {0xc3, 0xc3, 0xc3, 0xc3, 0xdb, 0xdb, 0xff, 0xff, 0xe7, 0xc3},
	'X':  {0xcc, 0xcc, 0xcc, 0x78, 0x30, 0x30, 0x78, 0xcc, 0xcc, 0xcc},
	'Y':  {0xcc, 0xcc, 0xcc, 0xcc, 0x78, 0x30, 0x30, 0x30, 0x30, 0x30},
	'Z':  {0xfc, 0xfc, 0x0c, 0x18, 0x30, 0x30, 0x60, 0xc0, 0xfc, 0xfc},
	'0':  {0x78, 0xfc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xfc, 0x78},
	'1':  {0x30, 0x70, 0xf0, 0x30, 0x30, 0x30, 0x30, 0x30, 0xfc, 0xfc},
	'2':  {0x78, 0xfc, 0xcc, 0x0c, 0x1c, 0x38, 0x70, 0xe0, 0xfc, 0xfc},
	'3':  {0x78, 0xfc, 0xcc, 0x0c, 0x38, 0x38, 0x0c, 0xcc, 0xfc, 0x78},
	'4':  {0x1c, 0x3c, 0x6c, 0xcc, 0xcc, 0xfc, 0xfc, 0x0c, 0x0c, 0x0c},
	'5':  {0xfc, 0xfc, 0xc0, 0xc0, 0xf8, 0xfc, 0x0c, 0xcc, 0xfc, 0x78},
	'6':  {0x78, 0xfc, 0xc0, 0xc0, 0xf8, 0xfc, 0xcc, 0xcc, 0xfc, 0x78},
	'7':  {0xfc, 0xfc, 0x0c, 0x0c, 0x18, 0x18, 0x30, 0x30, 0x30, 0x30},
	'8':  {0x78, 0xfc, 0xcc, 0xcc, 0x78, 0x78, 0xcc, 0xcc, 0xfc, 0x78},
	'9':  {0x78, 0xfc, 0xcc, 0xcc, 0xfc, 0x7c, 0x0c, 0x0c, 0xfc, 0x78},
	',':  {0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc0, 0xc0, 0x80},
	'.':  {0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc0, 0xc0},
	':':  {0x00, 0x00, 0xc0, 0xc0, 0x00, 0x00, 0xc0, 0xc0, 0x00, 0x00},
	'-':  {0x00, 0x00, 0x00, 0x00, 0xf0, 0xf0, 0x00, 0x00, 0x00, 0x00},
	'+':  {0x00, 0x00, 0x30, 0x30, 0xfc, 0xfc, 0x30, 0x30, 0x00, 0x00},
	'{':  {0x38, 0x78, 0x60, 0x60, 0xe0, 0xe0, 0x60, 0x60, 0x78, 0x38},
	'}':  {0xe0, 0xf0, 0x30, 0x30, 0x38, 0x38, 0x30, 0x30, 0xf0, 0xe0},
	'"':  {0xd8, 0xd8, 0xd8, 0x50, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00},
	'\'': {0xc0, 0xc0, 0xc0, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00},
	'/':  {0x0c, 0x0c, 0x18, 0x18, 0x30, 0x30, 0x60, 0x60, 0xc0, 0xc0},
	'!':  {0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0x00, 0x00, 0xc0, 0xc0},
}

// Sizes of a letter in pixels: its height and the gap after it. One cell is two pixels high.
const (
	blockPixels = 10
	blockGap    = 2
	blockBlank  = 4 // width of a blank
)

// BlockRows returns the height of block letters, in cells.
func BlockRows(scale int) int { return blockPixels * scale / 2 }

// blockWidth returns the width of a letter in pixels, or 0 if the font doesn't have the letter.
func blockWidth(letter rune) (width int) {
	if letter == ' ' {
		return blockBlank
	}
	for _, row := range blockFace[letter] {
		for at := range 8 {
			if row&(0x80>>at) != 0 {
				width = max(width, at+1)
			}
		}
	}
	return width
}

// BlockWidth returns the width of text in block letters, in cells.
func BlockWidth(text string, scale int) (cells int) {
	for _, letter := range strings.ToUpper(text) {
		if w := blockWidth(letter); w > 0 {
			cells += (w + blockGap) * scale
		}
	}
	return max(0, cells-blockGap*scale)
}

// Blocks draws row y of text in block letters. It leaves out letters that the font doesn't have.
func (p *Pen) Blocks(r Role, text string, scale, y int) {
	var upper, lower []bool // by pixel
	for _, letter := range strings.ToUpper(text) {
		w := blockWidth(letter)
		if w == 0 {
			continue
		}
		if len(upper) > 0 {
			upper, lower = append(upper, make([]bool, blockGap)...), append(lower, make([]bool, blockGap)...)
		}
		rows := blockFace[letter]
		for at := range w {
			bit := byte(0x80) >> at
			upper, lower = append(upper, rows[2*y/scale]&bit != 0), append(lower, rows[(2*y+1)/scale]&bit != 0)
		}
	}
	for from, to := 0, 0; from < len(upper); from = to {
		for to = from; to < len(upper) && upper[to] == upper[from] && lower[to] == lower[from]; to++ {
		}
		p.Block(r, upper[from], lower[from], (to-from)*scale)
	}
}

// Block draws cells that are filled in their upper half, in their lower half, or in both. A full cell also has
// the role's colour as its background, because the glyph leaves gaps in some fonts.
func (p *Pen) Block(r Role, upper, lower bool, cells int) {
	switch g := p.Glyph; {
	case upper && lower:
		p.Paint(p.Ink.solid[r], display.Repeat(g.Full, min(cells, p.Left)))
	case upper:
		p.Text(r, display.Repeat(g.UpperHalf, min(cells, p.Left)))
	case lower:
		p.Text(r, display.Repeat(g.LowerHalf, min(cells, p.Left)))
	default:
		p.Spaces(Bare, cells)
	}
}
