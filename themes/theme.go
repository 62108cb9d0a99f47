// Package themes defines the colours and text styles of the screen, as data.
//
// A [Theme] has a [TextStyle] for each role on the screen (live, good, caution, bad, muted, accent, frame,
// selection) and for each kind of token in a JSON document. It also has a chroma style for code inside a
// document. Four themes are toolscope's own: a dark theme, a light theme, one that doesn't rely on red versus
// green, and one with high contrast. Each chroma style is also a theme, under its own name, and users can
// write themes in TOML.
//
// Invariants:
//   - The text styles of a theme are for the terminal's own background, which is assumed to be near
//     black or white. On a terminal with the opposite background, the screen is painted with Page, on
//     which they are legible too.
//   - In toolscope's own themes, all text has a contrast of at least 4.5:1 on the background, on Selection and
//     on Linked. Lines of the frame have 3:1 on the background.
//   - In toolscope's own themes, only caution and bad are yellow, orange or red.
//   - In a theme made from a chroma style, roles have a contrast of at least 4.5:1 on the background,
//     and tokens have 3:1. Our own styles replace styles with less contrast. On Selection and Linked, text is drawn
//     with [TextStyle.Legible].
//   - Colour is never the only sign: a glyph or a word has the same meaning.
//   - A chroma style is read when it is first needed.
package themes

import (
	"archive/zip"
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
	"github.com/charmbracelet/lipgloss"

	"toolscope/stream/count"
)

// TextStyle is the style of one kind of text. A colour is "#rrggbb", or "" for the terminal's own colour.
type TextStyle struct {
	FG, BG                                  string
	Bold, Faint, Italic, Underline, Reverse bool
}

// ToLipgloss returns i as a lipgloss style.
func (i TextStyle) ToLipgloss() lipgloss.Style {
	s := lipgloss.NewStyle()
	if i.FG != "" {
		s = s.Foreground(lipgloss.Color(i.FG))
	}
	if i.BG != "" {
		s = s.Background(lipgloss.Color(i.BG))
	}
	// lipgloss distinguishes false attributes from unset ones, so false ones are not set.
	for _, a := range []struct {
		on  bool
		set func(lipgloss.Style, bool) lipgloss.Style
	}{
		{i.Bold, lipgloss.Style.Bold},
		{i.Faint, lipgloss.Style.Faint},
		{i.Italic, lipgloss.Style.Italic},
		{i.Underline, lipgloss.Style.Underline},
		{i.Reverse, lipgloss.Style.Reverse},
	} {
		if a.on {
			s = a.set(s, true)
		}
	}
	return s
}

// With returns i with the attributes of over added to it. For example, a selected key has the style
// Key.With(Selection).
func (i TextStyle) With(over TextStyle) TextStyle {
	if over.FG != "" {
		i.FG = over.FG
	}
	if over.BG != "" {
		i.BG = over.BG
	}
	i.Bold = i.Bold || over.Bold
	i.Faint = i.Faint || over.Faint
	i.Italic = i.Italic || over.Italic
	i.Underline = i.Underline || over.Underline
	i.Reverse = i.Reverse || over.Reverse
	return i
}

// Theme is a set of text styles for the screen.
type Theme struct {
	Name string
	Dark bool      // the theme is for a dark background
	Page TextStyle // text and background, for a terminal with the opposite background

	Replaced int // number of illegible chroma text styles that were replaced by our own

	// The roles: the only text colours outside of documents.
	Live, Good, Caution, Bad, Muted, Accent TextStyle

	Frame TextStyle // thin lines between parts of the screen

	Selection TextStyle // added to selected text
	Linked    TextStyle // added to the target of the selection

	// The tokens of a JSON document. Junk is for bytes that are not JSON.
	Key, String, Escape, Number, Literal, Punct, Junk TextStyle

	Tentative TextStyle // closing brackets and quotation marks that have not arrived
	Open      TextStyle // added to the token that may still grow

	// Code is the chroma style for finished strings that contain code. To draw it, use
	// [Theme.TokenStyle], which ignores its background.
	Code *chroma.Style
}

// TokenStyle returns the text style for a token of code. It has no background, and no colour that is
// illegible on the terminal's background.
func (t Theme) TokenStyle(tt chroma.TokenType) TextStyle {
	e := t.Code.Get(tt)
	i := textStyleOf(e)
	if i.FG != "" && !isLegible(e.Colour, t.Dark, tokenContrast) {
		i.FG = ""
	}
	return i
}

// stylesZip contains chroma's styles, each in a file with its name, and their licence. Chroma's own package
// reads all styles when the program starts, even if none is used. That takes longer than the rest of the
// start. A test compares the archive with that package; with -update, it writes the archive.
//
//go:embed styles.zip
var stylesZip []byte

const licence = "COPYING" // not a style: the names of styles are lower case

// styles returns the style files by name.
var styles = sync.OnceValue(func() map[string]*zip.File {
	all := map[string]*zip.File{}
	for _, f := range openArchive().File {
		if f.Name != licence {
			all[f.Name] = f
		}
	}
	return all
})

func openArchive() *zip.Reader {
	r, err := zip.NewReader(bytes.NewReader(stylesZip), int64(len(stylesZip)))
	if err != nil {
		panic(err) // can't happen: a test reads the archive
	}
	return r
}

// styleOf returns the chroma style with that name, or nil.
func styleOf(name string) *chroma.Style {
	f := styles()[name]
	if f == nil {
		return nil
	}
	r, err := f.Open()
	if err != nil {
		panic(err) // can't happen: a test reads the archive
	}
	defer r.Close()
	return chroma.MustNewXMLStyle(r)
}

// Names returns the names that [Lookup] accepts, sorted, with ours first.
func Names() []string {
	return slices.Concat(ours, slices.Sorted(maps.Keys(styles())))
}

// Lookup returns the theme with that name: one of ours, or a theme made from the chroma style with that name.
// For "" and "auto", it returns [Default]. For any other name, the error is an [*UnknownError].
func Lookup(name string, dark bool) (Theme, error) {
	key := strings.ToLower(name)
	if t, ok := ownTheme(key, dark); ok {
		return t, nil
	}
	if s := styleOf(key); s != nil {
		return fromStyle(s), nil
	}
	return Theme{}, &UnknownError{Name: name, Near: Near(key, Names())}
}

// UnknownError is the error for an unknown theme name.
type UnknownError struct {
	Name string
	Near []string // similar names, at most three
}

func (e *UnknownError) Error() string {
	meant := ""
	if len(e.Near) > 0 {
		meant = ": did you mean " + strings.Join(e.Near, ", ") + "?"
	}
	return fmt.Sprintf("unknown theme %q%s (default: auto; all names: toolscope help themes)", e.Name, meant)
}

// Near returns up to three names that name may be a misspelling of: the nearest name, and others at the same
// distance. Case matters.
func Near(name string, names []string) []string {
	type guess struct {
		name string
		off  int
	}
	var guesses []guess
	for _, n := range names {
		off := editDistance(name, n)
		if len(name) >= 3 && strings.Contains(n, name) {
			off = 1
		}
		if off <= max(1, len(name)/3) {
			guesses = append(guesses, guess{n, off})
		}
	}
	slices.SortStableFunc(guesses, func(a, b guess) int { return cmp.Compare(a.off, b.off) })
	var out []string
	for _, g := range guesses[:min(3, len(guesses))] {
		if g.off == guesses[0].off {
			out = append(out, g.name)
		}
	}
	return out
}

// editDistance returns the number of edits that turn b into a. An edit inserts, deletes or replaces a byte,
// or swaps two neighbouring bytes.
func editDistance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			replace := row[j]
			if a[i] != b[j] {
				replace++
			}
			next[j+1] = min(replace, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

// fromStyle makes a theme from a chroma style. Text styles that are missing or illegible come from our own
// theme. Live, Caution and the selections always come from toolscope's own theme, because chroma has no
// equivalent.
func fromStyle(s *chroma.Style) Theme {
	t := Default(isDark(s))
	t.Name, t.Code = s.Name, s

	ink := func(least float64, accept func(chroma.Colour) bool, types []chroma.TokenType) TextStyle {
		i := pickStyle(s, t.Dark, least, accept, types)
		if i == (TextStyle{}) && pickStyle(s, t.Dark, 0, accept, types) != i {
			t.Replaced++
		}
		return i
	}
	role := func(least float64, types ...chroma.TokenType) TextStyle { return ink(least, isColoured, types) }
	token := func(types ...chroma.TokenType) TextStyle { return ink(tokenContrast, anyColour, types) }

	good := styleOr(role(roleContrast, chroma.GenericInserted), t.Good)
	bad := styleOr(role(roleContrast, chroma.GenericError, chroma.Error, chroma.GenericDeleted), t.Bad)
	if good.FG != bad.FG {
		t.Good, t.Bad = good, bad
	}
	t.Accent = styleOr(role(roleContrast, chroma.Keyword, chroma.NameFunction), t.Accent)
	t.Muted = styleOr(ink(roleContrast, anyColour, []chroma.TokenType{chroma.Comment}), t.Muted)
	t.Tentative = t.Muted

	var text TextStyle
	if e := s.Get(chroma.Text); e.Colour.IsSet() && isLegible(e.Colour, t.Dark, roleContrast) {
		text = textStyleOf(e)
	}
	t.Key = styleOr(token(chroma.NameTag, chroma.NameAttribute), text)
	t.String = styleOr(token(chroma.LiteralStringDouble, chroma.LiteralString), text)
	t.Escape = styleOr(token(chroma.LiteralStringEscape), t.String)
	t.Number = styleOr(token(chroma.LiteralNumber), text)
	t.Literal = styleOr(token(chroma.KeywordConstant), text)
	t.Punct = styleOr(token(chroma.Punctuation), text)
	t.Junk = styleOr(role(tokenContrast, chroma.Error, chroma.GenericError), t.Bad)
	// A background or text colour that would make text illegible is replaced by the colour in our own theme.
	if bg := s.Get(chroma.Background).Background; bg.IsSet() && t.isLegibleOn(bg) {
		t.Page.BG = bg.String()
	}
	for _, text := range []chroma.Colour{s.Get(chroma.Text).Colour, s.Get(chroma.Background).Colour} {
		if text.IsSet() && contrastRatio(text, chroma.ParseColour(t.Page.BG)) >= roleContrast {
			t.Page.FG = text.String()
			break
		}
	}
	if contrastRatio(chroma.ParseColour(t.Frame.FG), chroma.ParseColour(t.Page.BG)) < frameContrast {
		t.Frame = TextStyle{FG: t.Muted.FG}
	}
	return t
}

// isLegibleOn reports whether all text of t has its minimum contrast on a background.
func (t Theme) isLegibleOn(ground chroma.Colour) bool {
	for least, inks := range map[float64][]TextStyle{
		roleContrast:  {t.Live, t.Good, t.Caution, t.Bad, t.Muted, t.Accent, {FG: t.Page.FG}},
		tokenContrast: {t.Key, t.String, t.Escape, t.Number, t.Literal, t.Punct, t.Junk, t.Tentative},
	} {
		for _, ink := range inks {
			if ink.FG != "" && contrastRatio(chroma.ParseColour(ink.FG), ground) < least {
				return false
			}
		}
	}
	return true
}

// isDark reports whether a style is for a dark background. If the style sets no background, it is for the background
// on which more of its colours are legible.
func isDark(s *chroma.Style) bool {
	if bg := s.Get(chroma.Background).Background; bg.IsSet() {
		return luminanceOf(bg) < midLuminance
	}
	onDark, onLight := 0, 0
	for _, tt := range s.Types() {
		if c := s.Get(tt).Colour; c.IsSet() {
			onDark += count.If(isLegible(c, true, roleContrast))
			onLight += count.If(isLegible(c, false, roleContrast))
		}
	}
	return onDark > onLight
}

// midLuminance is the luminance with the same contrast to black and to white.
const midLuminance = 0.179

// pickStyle returns the text style of the first type that has an accepted, legible colour other than the
// style's text colour. It returns the zero TextStyle if no type has one.
func pickStyle(
	s *chroma.Style, dark bool, least float64, accept func(chroma.Colour) bool, types []chroma.TokenType,
) TextStyle {
	text := s.Get(chroma.Text).Colour
	for _, tt := range types {
		e := s.Get(tt)
		if e.Colour.IsSet() && e.Colour != text && accept(e.Colour) && isLegible(e.Colour, dark, least) {
			return textStyleOf(e)
		}
	}
	return TextStyle{}
}

func anyColour(chroma.Colour) bool { return true }

// isColoured reports whether c is more than a shade of grey. Some styles write errors in black on a coloured
// background; without that background, black text does not stand out.
func isColoured(c chroma.Colour) bool {
	r, g, b := c.Red(), c.Green(), c.Blue()
	return max(r, g, b)-min(r, g, b) >= 0x20
}

// styleOr returns i, or other if i is the zero TextStyle.
func styleOr(i, other TextStyle) TextStyle {
	if i == (TextStyle{}) {
		return other
	}
	return i
}

// textStyleOf returns the text style of a chroma entry, without its background.
func textStyleOf(e chroma.StyleEntry) TextStyle {
	i := TextStyle{Bold: e.Bold == chroma.Yes, Italic: e.Italic == chroma.Yes, Underline: e.Underline == chroma.Yes}
	if e.Colour.IsSet() {
		i.FG = e.Colour.String()
	}
	return i
}

// Assumed terminal backgrounds. darkGround is the lightest dark background: text that is legible on it is
// legible on black too.
const (
	darkGround  = "#1e1e1e"
	lightGround = "#ffffff"
)

// Minimum contrasts for text in a theme made from a chroma style, and for the frame. Text outside of
// documents must be legible; a chroma style may dim some tokens.
const (
	roleContrast  = 4.5
	tokenContrast = 3.0
	frameContrast = 3.0
)

// luminanceOf returns the relative luminance of c, 0 to 1, as WCAG defines it:
// https://www.w3.org/TR/WCAG22/#dfn-relative-luminance
func luminanceOf(c chroma.Colour) float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.Red()) + 0.7152*linear(c.Green()) + 0.0722*linear(c.Blue())
}

// contrastRatio returns the contrast ratio of two colours, 1 to 21, as WCAG defines it.
func contrastRatio(a, b chroma.Colour) float64 {
	x, y := luminanceOf(a), luminanceOf(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Legible returns i with a text colour that has a contrast of at least 4.6:1 on the background of i, so that at least
// 4.5:1 remains after rounding. If necessary, it moves the colour towards white or black, whichever has more
// contrast.
func (i TextStyle) Legible() TextStyle {
	if i.FG == "" || i.BG == "" {
		return i
	}
	ground, text := chroma.ParseColour(i.BG), chroma.ParseColour(i.FG)
	end := uint8(255)
	if luminanceOf(ground) >= midLuminance {
		end = 0
	}
	mix := func(c uint8, by float64) uint8 { return uint8(float64(c) + (float64(end)-float64(c))*by) }
	for by := 0.05; contrastRatio(chroma.ParseColour(i.FG), ground) < roleContrast+0.1 && by <= 1; by += 0.05 {
		i.FG = chroma.NewColour(mix(text.Red(), by), mix(text.Green(), by), mix(text.Blue(), by)).String()
	}
	return i
}

// isLegible reports whether c has at least the given contrast on a terminal's background.
func isLegible(c chroma.Colour, dark bool, least float64) bool {
	ground := lightGround
	if dark {
		ground = darkGround
	}
	return contrastRatio(c, chroma.ParseColour(ground)) >= least
}

// Contrast returns the lowest contrast of text in the theme, on the background that the theme is for.
func (t Theme) Contrast() float64 {
	ground := lightGround
	if t.Dark {
		ground = darkGround
	}
	least := contrastRatio(chroma.ParseColour("#000000"), chroma.ParseColour("#ffffff"))
	for _, i := range []TextStyle{t.Live, t.Good, t.Caution, t.Bad, t.Muted, t.Accent, t.Key, t.String, t.Escape, t.Number, t.Literal, t.Punct, t.Junk, t.Tentative} {
		if i.FG != "" {
			least = min(least, contrastRatio(chroma.ParseColour(i.FG), chroma.ParseColour(ground)))
		}
	}
	return least
}
