package screen

import (
	"math"
	"strconv"
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
