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
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
	"github.com/charmbracelet/lipgloss"
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
