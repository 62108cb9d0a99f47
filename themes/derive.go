package themes

import (
	"math"

	"github.com/alecthomas/chroma/v2"

	"toolscope/stream/count"
)

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
