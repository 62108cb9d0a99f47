package themes

import "github.com/alecthomas/chroma/v2"

// The names of our own themes. The last two have a variant for dark and one for light backgrounds.
const (
	darkName     = "toolscope-dark"
	lightName    = "toolscope-light"
	blindName    = "toolscope-colour-blind"
	contrastName = "toolscope-high-contrast"
)

// ours are the names of our own themes, in the order of display.
var ours = []string{darkName, lightName, blindName, contrastName}

// palette has the colours of one of our own themes, each for a dark and for a light background.
type palette struct {
	live, good, caution, bad, muted, accent  [2]string
	selection, linked, text, ground          [2]string
	key, str, escape, number, literal, punct [2]string
	tentative                                [2]string
}

// standardPalette uses the colours of Okabe and Ito.
var standardPalette = palette{
	live: [2]string{"#56b4e9", "#005f99"}, good: [2]string{"#3ccf9e", "#006b4c"}, caution: [2]string{"#e69f00", "#7a5000"},
	bad: [2]string{"#ff8c5a", "#a83200"}, muted: [2]string{"#acacac", "#606060"}, accent: [2]string{"#e59fc8", "#8a3f6c"},
	selection: [2]string{"#2c3f57", "#cfe6f7"}, linked: [2]string{"#3f3a22", "#fbe7b8"},
	text: [2]string{"#e4e4e4", "#1f1f1f"}, ground: [2]string{darkGround, lightGround},
	key: [2]string{"#8cc8f0", "#005f99"}, str: [2]string{"#7fd6b4", "#006b4c"}, escape: [2]string{"#f0e442", "#6b5b00"},
	number: [2]string{"#f2b84b", "#7a5000"}, literal: [2]string{"#e59fc8", "#8a3f6c"}, punct: [2]string{"#cfcfcf", "#3c3c3c"},
	tentative: [2]string{"#ababab", "#626262"},
}

// colourBlind distinguishes states without the difference of red and green: by lightness, and by the
// difference of blue and yellow.
var colourBlind = palette{
	live: [2]string{"#85bcf8", "#0315ad"}, good: [2]string{"#e5fffc", "#163c7b"}, caution: [2]string{"#f9e849", "#6c6509"},
	bad: [2]string{"#f3b06d", "#4b0302"}, muted: standardPalette.muted, accent: [2]string{"#a9c7ff", "#1d3fa8"},
	selection: standardPalette.selection, linked: standardPalette.linked, text: standardPalette.text, ground: standardPalette.ground,
	key: [2]string{"#8cc8f0", "#004f96"}, str: [2]string{"#d7eefc", "#163c7b"}, escape: [2]string{"#f9e849", "#6c6509"},
	number: [2]string{"#f3b06d", "#6b3a00"}, literal: [2]string{"#f7d98a", "#5c4a00"}, punct: standardPalette.punct,
	tentative: standardPalette.tentative,
}

// highContrast has a contrast of at least 7:1.
var highContrast = palette{
	live: [2]string{"#8fd0ff", "#00337a"}, good: [2]string{"#6df5b8", "#00472e"}, caution: [2]string{"#ffd84a", "#4f3400"},
	bad: [2]string{"#ffb08c", "#8a1500"}, muted: [2]string{"#d6d6d6", "#404040"}, accent: [2]string{"#ffc4e6", "#6b1f50"},
	selection: [2]string{"#16324f", "#d9ecfb"}, linked: [2]string{"#3a3410", "#fdeec8"},
	text: [2]string{"#ffffff", "#000000"}, ground: [2]string{"#000000", lightGround},
	key: [2]string{"#a9dbff", "#00337a"}, str: [2]string{"#9af5cf", "#00472e"}, escape: [2]string{"#fff27a", "#463b00"},
	number: [2]string{"#ffd07a", "#4f3400"}, literal: [2]string{"#ffc4e6", "#6b1f50"}, punct: [2]string{"#f0f0f0", "#1a1a1a"},
	tentative: [2]string{"#d2d2d2", "#444444"},
}

// Default returns our own theme for a dark or light background.
func Default(dark bool) Theme {
	if dark {
		return standardPalette.newTheme(darkName, dark)
	}
	return standardPalette.newTheme(lightName, dark)
}

// ownTheme returns our own theme with a name. If the theme has two variants, dark selects one.
func ownTheme(name string, dark bool) (t Theme, ok bool) {
	switch name {
	case "", "auto":
		return Default(dark), true
	case darkName, lightName:
		return Default(name == darkName), true
	case blindName:
		return colourBlind.newTheme(name, dark), true
	case contrastName:
		return highContrast.newTheme(name, dark), true
	}
	return Theme{}, false
}

// newTheme returns the theme of a palette.
func (p palette) newTheme(name string, dark bool) Theme {
	of := func(c [2]string) string {
		if dark {
			return c[0]
		}
		return c[1]
	}
	ink := func(c [2]string) TextStyle { return TextStyle{FG: of(c)} }
	bold := func(c [2]string) TextStyle { return TextStyle{FG: of(c), Bold: true} }
	t := Theme{
		Name: name, Dark: dark,

		Live:    bold(p.live),
		Good:    ink(p.good),
		Caution: ink(p.caution),
		Bad:     bold(p.bad),
		Muted:   ink(p.muted),
		Accent:  ink(p.accent),

		Selection: TextStyle{BG: of(p.selection)},
		Linked:    TextStyle{BG: of(p.linked)},

		Key:     ink(p.key),
		String:  ink(p.str),
		Escape:  ink(p.escape),
		Number:  ink(p.number),
		Literal: ink(p.literal),
		Punct:   ink(p.punct),
		Junk:    bold(p.bad),

		Tentative: ink(p.tentative),
		Open:      TextStyle{Underline: true},
	}
	t.Page = TextStyle{FG: of(p.text), BG: of(p.ground)}
	t.Code = codeStyle(t, t.Page.FG, t.Page.BG)
	return t
}

// codeStyle returns a chroma style with the colours of t.
func codeStyle(t Theme, text, ground string) *chroma.Style {
	return chroma.MustNewStyle(t.Name, chroma.StyleEntries{
		chroma.Background:            text + " bg:" + ground,
		chroma.LineHighlight:         "bg:" + t.Selection.BG,
		chroma.LineNumbers:           t.Muted.FG,
		chroma.Comment:               "italic " + t.Muted.FG,
		chroma.CommentPreproc:        "noitalic " + t.Accent.FG,
		chroma.Keyword:               t.Accent.FG,
		chroma.KeywordConstant:       t.Literal.FG,
		chroma.KeywordType:           t.Live.FG,
		chroma.NameAttribute:         t.Key.FG,
		chroma.NameBuiltin:           t.Live.FG,
		chroma.NameClass:             "bold " + t.Key.FG,
		chroma.NameDecorator:         t.Escape.FG,
		chroma.NameException:         t.Bad.FG,
		chroma.NameFunction:          t.Key.FG,
		chroma.NameTag:               t.Key.FG,
		chroma.LiteralDate:           t.Number.FG,
		chroma.LiteralNumber:         t.Number.FG,
		chroma.LiteralString:         t.String.FG,
		chroma.LiteralStringEscape:   t.Escape.FG,
		chroma.LiteralStringInterpol: t.Escape.FG,
		chroma.LiteralStringRegex:    t.Escape.FG,
		chroma.LiteralStringSymbol:   t.Literal.FG,
		chroma.Operator:              t.Punct.FG,
		chroma.OperatorWord:          t.Accent.FG,
		chroma.Punctuation:           t.Punct.FG,
		chroma.Error:                 t.Junk.FG,
		chroma.GenericDeleted:        t.Bad.FG,
		chroma.GenericEmph:           "italic",
		chroma.GenericError:          t.Bad.FG,
		chroma.GenericHeading:        "bold " + t.Accent.FG,
		chroma.GenericInserted:       t.Good.FG,
		chroma.GenericOutput:         t.Muted.FG,
		chroma.GenericPrompt:         t.Live.FG,
		chroma.GenericStrong:         "bold",
		chroma.GenericSubheading:     t.Accent.FG,
		chroma.GenericTraceback:      t.Bad.FG,
	})
}
