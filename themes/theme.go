// Package themes holds how things look, as data.
//
// A [Theme] gives an [Ink] to each role of the chrome (live, good, caution, bad, muted, accent,
// selection) and to each kind of token of a JSON document, and a chroma style to code that is shown
// inside it. There are some of our own: a dark and a light one, one whose states stay apart for those
// who do not see red or green, and one of high contrast. Every style of chroma is a theme by its
// name, and so is what a user writes in TOML.
//
// Invariants:
//   - The inks of a theme are for the terminal's own background, which is taken to be near black or
//     white. Where the terminal's is the other, the screen is painted with Page, on which they can be
//     read as well.
//   - In our own themes every ink that writes text has a contrast of at least 4.5:1, on the
//     background, on Selection and on Linked.
//   - In a theme made of a chroma style the roles keep 4.5:1 and the tokens 3:1 on the background.
//     What does not is replaced by ours.
//   - Colour never carries a meaning alone: a glyph or a word says the same.
//   - A style is read when somebody asks for it, not before.
package themes

import (
	"github.com/alecthomas/chroma/v2"
	"github.com/charmbracelet/lipgloss"
)

// TextStyle is how one kind of thing is drawn. A colour is "#rrggbb", or "" for the terminal's own.
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
	// lipgloss keeps what was set apart from what was not: only the first can be inherited.
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

// With returns i with everything that over sets on top: a selected key is Key.With(Selection).
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

// Theme is how everything is drawn.
type Theme struct {
	Name string
	Dark bool      // it is for a dark background
	Page TextStyle // text and background, for a terminal whose own is another

	Replaced int // inks of a chroma style that could not be read: ours stand in for them

	// The roles: the only colours of the chrome.
	Live, Good, Caution, Bad, Muted, Accent TextStyle

	Selection TextStyle // added to what is selected
	Linked    TextStyle // added to what the selection points at

	// The tokens of a JSON document. Junk is what is not JSON.
	Key, String, Escape, Number, Literal, Punct, Junk TextStyle

	Tentative TextStyle // closers that have not arrived
	Open      TextStyle // added to the token that is still growing

	// Code highlights finished strings that hold code. Draw with [Theme.CodeInk]; the background
	// that the style itself names is for pages, as the HTML export makes them.
	Code *chroma.Style
}

// TokenStyle returns how a token of code is drawn. The background is the terminal's, and so is a
// colour that could not be read on it.
func (t Theme) TokenStyle(tt chroma.TokenType) TextStyle {
	e := t.Code.Get(tt)
	i := textStyleOf(e)
	if i.FG != "" && !isLegible(e.Colour, t.Dark, tokenContrast) {
		i.FG = ""
	}
	return i
}
