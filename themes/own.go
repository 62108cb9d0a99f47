package themes

import "github.com/alecthomas/chroma/v2"

// Names of our own themes.
const (
	darkName  = "toolscope-dark"
	lightName = "toolscope-light"
)

// Default returns our own theme for a dark or light background.
func Default(dark bool) Theme {
	of := func(onDark, onLight string) string {
		if dark {
			return onDark
		}
		return onLight
	}
	ink := func(onDark, onLight string) Ink { return Ink{FG: of(onDark, onLight)} }
	bold := func(onDark, onLight string) Ink { return Ink{FG: of(onDark, onLight), Bold: true} }
	ground := func(onDark, onLight string) Ink { return Ink{BG: of(onDark, onLight)} }
	t := Theme{
		Name: of(darkName, lightName), Dark: dark,

		Live:    bold("#56b4e9", "#005f99"),
		Good:    ink("#3ccf9e", "#006b4c"),
		Caution: ink("#e69f00", "#7a5000"),
		Bad:     bold("#ff8c5a", "#a83200"),
		Muted:   ink("#acacac", "#606060"),
		Accent:  ink("#e59fc8", "#8a3f6c"),

		Selection: ground("#2c3f57", "#cfe6f7"),
		Linked:    ground("#3f3a22", "#fbe7b8"),

		Key:     ink("#8cc8f0", "#005f99"),
		String:  ink("#7fd6b4", "#006b4c"),
		Escape:  ink("#f0e442", "#6b5b00"),
		Number:  ink("#f2b84b", "#7a5000"),
		Literal: ink("#e59fc8", "#8a3f6c"),
		Punct:   ink("#cfcfcf", "#3c3c3c"),
		Junk:    bold("#ff8c5a", "#a83200"),

		Tentative: ink("#ababab", "#626262"),
		Open:      Ink{Underline: true},
	}
	t.Page = Ink{FG: of("#e4e4e4", "#1f1f1f"), BG: of(darkGround, lightGround)}
	t.Code = codeStyle(t, t.Page.FG, t.Page.BG)
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
