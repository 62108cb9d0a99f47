package themes

import "github.com/alecthomas/chroma/v2"

// Names of our own themes.
const (
	darkName  = "toolscope-dark"
	lightName = "toolscope-light"
)

// Default returns our own theme for a dark or light background.
func Default(dark bool) Theme {
	if dark {
		return darkTheme()
	}
	return lightTheme()
}

func darkTheme() Theme {
	t := Theme{
		Name: darkName, Dark: true,

		Live:    Ink{FG: "#56b4e9", Bold: true},
		Good:    Ink{FG: "#3ccf9e"},
		Caution: Ink{FG: "#e69f00"},
		Bad:     Ink{FG: "#ff8c5a", Bold: true},
		Muted:   Ink{FG: "#acacac"},
		Accent:  Ink{FG: "#e59fc8"},

		Selection: Ink{BG: "#2c3f57"},
		Linked:    Ink{BG: "#3f3a22"},

		Key:     Ink{FG: "#8cc8f0"},
		String:  Ink{FG: "#7fd6b4"},
		Escape:  Ink{FG: "#f0e442"},
		Number:  Ink{FG: "#f2b84b"},
		Literal: Ink{FG: "#e59fc8"},
		Punct:   Ink{FG: "#cfcfcf"},
		Junk:    Ink{FG: "#ff8c5a", Bold: true},

		Tentative: Ink{FG: "#ababab"},
		Open:      Ink{Underline: true},
	}
	t.Code = codeStyle(t, "#e4e4e4", darkGround)
	return t
}

func lightTheme() Theme {
	t := Theme{
		Name: lightName,

		Live:    Ink{FG: "#005f99", Bold: true},
		Good:    Ink{FG: "#006b4c"},
		Caution: Ink{FG: "#7a5000"},
		Bad:     Ink{FG: "#a83200", Bold: true},
		Muted:   Ink{FG: "#606060"},
		Accent:  Ink{FG: "#8a3f6c"},

		Selection: Ink{BG: "#cfe6f7"},
		Linked:    Ink{BG: "#fbe7b8"},

		Key:     Ink{FG: "#005f99"},
		String:  Ink{FG: "#006b4c"},
		Escape:  Ink{FG: "#6b5b00"},
		Number:  Ink{FG: "#7a5000"},
		Literal: Ink{FG: "#8a3f6c"},
		Punct:   Ink{FG: "#3c3c3c"},
		Junk:    Ink{FG: "#a83200", Bold: true},

		Tentative: Ink{FG: "#626262"},
		Open:      Ink{Underline: true},
	}
	t.Code = codeStyle(t, "#1f1f1f", lightGround)
	return t
}

// codeStyle is a chroma style of the same colours as t.
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
