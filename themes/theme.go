// Package themes defines the colours and text styles of the screen, as data.
//
// A [Theme] has a [TextStyle] for each role on the screen (live, good, caution, bad, muted, accent,
// selection) and for each kind of token in a JSON document. It also has a chroma style for code inside a
// document. Four themes are our own: a dark one, a light one, one without red against green, and one with
// high contrast. Each style of chroma is also a theme, under its own name, and users can write themes in
// TOML.
//
// Invariants:
//   - The text styles of a theme are for the terminal's own background, which is assumed to be near
//     black or white. On a terminal with the opposite background, the screen is painted with Page, on
//     which they are legible too.
//   - In our own themes, all text has a contrast of at least 4.5:1 on the background, on Selection and
//     on Linked.
//   - In a theme made of a chroma style, roles have at least 4.5:1 and tokens 3:1 on the background.
//     Our own styles replace those with less.
//   - Colour is never the only sign: a glyph or a word has the same meaning.
//   - A chroma style is read when it is first needed.
package themes

import (
	"github.com/alecthomas/chroma/v2"
	"github.com/charmbracelet/lipgloss"
)

// TextStyle is the style of one kind of text. A colour is "#rrggbb", or "" for the terminal's own.
type TextStyle struct {
	FG, BG                                  string
	Bold, Faint, Italic, Underline, Reverse bool
}

// ToLipgloss returns the lipgloss style that draws with i.
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

// With returns i with all that over sets: a selected key is Key.With(Selection).
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

	Replaced int // number of illegible styles of a chroma style that ours replace

	// The roles: the only text colours outside of documents.
	Live, Good, Caution, Bad, Muted, Accent TextStyle

	Selection TextStyle // added to selected text
	Linked    TextStyle // added to the target of the selection

	// The tokens of a JSON document. Junk is for bytes that are not JSON.
	Key, String, Escape, Number, Literal, Punct, Junk TextStyle

	Tentative TextStyle // closing brackets and quotes that have not arrived
	Open      TextStyle // added to the token that may still grow

	// Code is the chroma style for finished strings that contain code. To draw it, use
	// [Theme.TokenStyle], which ignores its background.
	Code *chroma.Style
}

// TokenStyle returns the text style of a token of code. It has no background, and no colour that is illegible
// on the terminal's background.
func (t Theme) TokenStyle(tt chroma.TokenType) TextStyle {
	e := t.Code.Get(tt)
	i := textStyleOf(e)
	if i.FG != "" && !isLegible(e.Colour, t.Dark, tokenContrast) {
		i.FG = ""
	}
	return i
}
