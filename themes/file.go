package themes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// role is a part of a theme with its own text style. minContrast is the contrast that the part should have, or 0 for a
// style that is added to others.
type role struct {
	name        string
	style       func(*Theme) *TextStyle
	minContrast float64
}

// roles lists all roles in display order, with their names in theme files.
var roles = []role{
	{"page", func(t *Theme) *TextStyle { return &t.Page }, roleContrast},
	{"live", func(t *Theme) *TextStyle { return &t.Live }, roleContrast},
	{"good", func(t *Theme) *TextStyle { return &t.Good }, roleContrast},
	{"caution", func(t *Theme) *TextStyle { return &t.Caution }, roleContrast},
	{"bad", func(t *Theme) *TextStyle { return &t.Bad }, roleContrast},
	{"muted", func(t *Theme) *TextStyle { return &t.Muted }, roleContrast},
	{"frame", func(t *Theme) *TextStyle { return &t.Frame }, frameContrast},
	{"accent", func(t *Theme) *TextStyle { return &t.Accent }, roleContrast},
	{"selection", func(t *Theme) *TextStyle { return &t.Selection }, 0},
	{"linked", func(t *Theme) *TextStyle { return &t.Linked }, 0},
	{"key", func(t *Theme) *TextStyle { return &t.Key }, tokenContrast},
	{"string", func(t *Theme) *TextStyle { return &t.String }, tokenContrast},
	{"escape", func(t *Theme) *TextStyle { return &t.Escape }, tokenContrast},
	{"number", func(t *Theme) *TextStyle { return &t.Number }, tokenContrast},
	{"literal", func(t *Theme) *TextStyle { return &t.Literal }, tokenContrast},
	{"punct", func(t *Theme) *TextStyle { return &t.Punct }, tokenContrast},
	{"junk", func(t *Theme) *TextStyle { return &t.Junk }, tokenContrast},
	{"tentative", func(t *Theme) *TextStyle { return &t.Tentative }, tokenContrast},
	{"open", func(t *Theme) *TextStyle { return &t.Open }, 0},
}

// Keys in a theme file that are not roles.
const (
	baseKey = "base" // the theme for everything that the file does not set
	darkKey = "dark" // whether the theme is for a dark background
	codeKey = "code" // the theme whose chroma style is used for code in strings
)

// Problem is an error at a position in a theme file. If it is not grave, the entry is ignored and the theme
// can be used.
type Problem struct {
	Position
	Text  string
	Grave bool
}

// Parse reads a theme file, which has text styles for roles, such as "bold #56b4e9 bg:#101010". If the syntax is
// wrong, it returns the default dark theme and one problem.
func Parse(name string, data []byte) (t Theme, problems []Problem) {
	found, err := ReadTOML(data)
	if wrong := (*SyntaxError)(nil); errors.As(err, &wrong) {
		return Default(true), []Problem{{wrong.Position, wrong.What, true}}
	}
	f := themeFile{values: map[string]Setting{}}
	for _, s := range found {
		f.values[s.Name()] = s
	}
	t = f.baseTheme()
	t.Name = name
	for _, s := range found {
		f.setRole(&t, s)
	}
	f.setCode(&t)
	return t, f.problems
}

// themeFile is a theme file that is being read.
type themeFile struct {
	values   map[string]Setting
	problems []Problem
}

func (f *themeFile) addProblem(s Setting, format string, args ...any) {
	f.problems = append(f.problems, Problem{s.Position, s.Name() + ": " + fmt.Sprintf(format, args...), true})
}

// baseTheme returns the theme on which the file is based.
func (f *themeFile) baseTheme() Theme {
	dark, saysDark := true, false
	if s, ok := f.values[darkKey]; ok {
		if dark, saysDark = s.Value.(bool); !saysDark {
			f.addProblem(s, "use true or false")
		}
	}
	t := Default(dark)
	if s, ok := f.values[baseKey]; ok {
		name, _ := s.Value.(string)
		base, err := Lookup(name, dark)
		if err != nil {
			f.addProblem(s, "%s", err)
		} else {
			t = base
		}
	}
	if saysDark {
		t.Dark = dark
	}
	return t
}

// setRole sets the text style of a role. It reports a setting that is neither a role nor another known key.
func (f *themeFile) setRole(t *Theme, s Setting) {
	names := []string{baseKey, darkKey, codeKey}
	for _, r := range roles {
		names = append(names, r.name)
		if r.name != s.Name() {
			continue
		}
		text, _ := s.Value.(string)
		ink, ok := parseTextStyle(text)
		if !ok {
			f.addProblem(s, `not a style: use e.g. "bold #56b4e9" or "bg:#2c3f57"`)
			return
		}
		*r.style(t) = ink
		return
	}
	for _, name := range names[:3] {
		if name == s.Name() {
			return
		}
	}
	text := s.Name() + ": unknown role; use " + strings.Join(names[3:], ", ")
	if near := Near(s.Name(), names); len(near) > 0 {
		text = fmt.Sprintf("%s: unknown role: did you mean %s?", s.Name(), strings.Join(near, ", "))
	}
	f.problems = append(f.problems, Problem{s.Position, text, false})
}

// setCode sets the chroma style for code: either the style of the named theme, or a style with the colours of t.
func (f *themeFile) setCode(t *Theme) {
	s, ok := f.values[codeKey]
	if !ok {
		t.Code = codeStyle(*t, t.Page.FG, t.Page.BG)
		return
	}
	name, _ := s.Value.(string)
	of, err := Lookup(name, t.Dark)
	if err != nil {
		f.addProblem(s, "%s", err)
		return
	}
	t.Code = of.Code
}

// parseTextStyle parses a text style in a theme file, such as "bold #56b4e9 bg:#101010". The result ok is
// false if a word is unknown or the text is empty.
func parseTextStyle(text string) (i TextStyle, ok bool) {
	for word := range strings.FieldsSeq(text) {
		switch word {
		case "bold":
			i.Bold = true
		case "faint":
			i.Faint = true
		case "italic":
			i.Italic = true
		case "underline":
			i.Underline = true
		case "reverse":
			i.Reverse = true
		default:
			ground, isGround := strings.CutPrefix(word, "bg:")
			c := chroma.ParseColour(ground)
			if !c.IsSet() || ground[0] != '#' || len(ground) != len("#rgb") && len(ground) != len("#rrggbb") {
				return TextStyle{}, false
			}
			if isGround {
				i.BG = c.String()
			} else {
				i.FG = c.String()
			}
		}
	}
	return i, i != TextStyle{}
}

// Text returns the text style in the syntax of theme files.
func (i TextStyle) Text() string {
	var words []string
	for _, a := range []struct {
		on   bool
		word string
	}{
		{i.Bold, "bold"}, {i.Faint, "faint"}, {i.Italic, "italic"}, {i.Underline, "underline"}, {i.Reverse, "reverse"},
		{i.FG != "", i.FG}, {i.BG != "", "bg:" + i.BG},
	} {
		if a.on {
			words = append(words, a.word)
		}
	}
	return strings.Join(words, " ")
}

// RoleText is a role in a theme: its text style in the syntax of theme files, its contrast on its own background or
// else the theme's, and the contrast that it should have. Contrast is 0 if the role has no text colour, or if
// MinContrast is 0.
type RoleText struct {
	Name, Style           string
	Contrast, MinContrast float64
}

// Roles returns all roles of a theme.
func (t Theme) Roles() (all []RoleText) {
	ground := chroma.ParseColour(lightGround)
	if t.Dark {
		ground = chroma.ParseColour(darkGround)
	}
	for _, r := range roles {
		ink := *r.style(&t)
		text := RoleText{Name: r.name, Style: ink.Text(), MinContrast: r.minContrast}
		on := ground
		if ink.BG != "" {
			on = chroma.ParseColour(ink.BG)
		}
		if ink.FG != "" && r.minContrast > 0 {
			text.Contrast = contrastRatio(chroma.ParseColour(ink.FG), on)
		}
		all = append(all, text)
	}
	return all
}

// Names of toolscope's own themes. The last two each have one variant for dark and one for light backgrounds.
const (
	darkName     = "toolscope-dark"
	lightName    = "toolscope-light"
	blindName    = "toolscope-colour-blind"
	contrastName = "toolscope-high-contrast"
)

// ours are the names of toolscope's own themes, in display order.
var ours = []string{darkName, lightName, blindName, contrastName}

// palette has the colours of one of toolscope's own themes, each in one variant for dark backgrounds and one for
// light backgrounds.
type palette struct {
	live, good, caution, bad, muted, accent  [2]string
	frame                                    [2]string
	selection, linked, text, ground          [2]string
	key, str, escape, number, literal, punct [2]string
	tentative                                [2]string
}

// standardPalette has the colours of the themes toolscope-dark and toolscope-light. In all palettes of toolscope's
// own themes, only caution and bad are warm, because yellow, orange and red mean trouble. Blue is for moving data,
// and pink is for the user's position.
var standardPalette = palette{
	live: [2]string{"#56b4e9", "#005f99"}, good: [2]string{"#5ce6b4", "#006b4c"}, caution: [2]string{"#f2c14e", "#7a5000"},
	bad: [2]string{"#ff8873", "#b3261e"}, muted: [2]string{"#acacac", "#606060"}, accent: [2]string{"#e59fc8", "#8a3f6c"},
	frame: [2]string{"#767676", "#8c8c8c"}, selection: [2]string{"#2c3f57", "#cfe6f7"}, linked: [2]string{"#1f4038", "#d8f0e4"},
	text: [2]string{"#e4e4e4", "#1f1f1f"}, ground: [2]string{darkGround, lightGround},
	key: [2]string{"#8cc8f0", "#005f99"}, str: [2]string{"#7fd6b4", "#006b4c"}, escape: [2]string{"#b8ecd8", "#00523a"},
	number: [2]string{"#c5b3f8", "#5b3fa6"}, literal: [2]string{"#c5b3f8", "#5b3fa6"}, punct: [2]string{"#cfcfcf", "#3c3c3c"},
	tentative: [2]string{"#ababab", "#626262"},
}

// colourBlind distinguishes states by lightness and by the difference between blue and yellow. It does not
// depend on the difference between red and green.
var colourBlind = palette{
	live: [2]string{"#85bcf8", "#0315ad"}, good: [2]string{"#e5fffc", "#163c7b"}, caution: [2]string{"#f9e849", "#6c6509"},
	bad: [2]string{"#f3b06d", "#4b0302"}, muted: standardPalette.muted, accent: [2]string{"#a9c7ff", "#1d3fa8"},
	frame: standardPalette.frame, selection: standardPalette.selection, linked: standardPalette.linked,
	text: standardPalette.text, ground: standardPalette.ground,
	key: [2]string{"#8cc8f0", "#004f96"}, str: [2]string{"#d7eefc", "#163c7b"}, escape: [2]string{"#b9e6f5", "#00506b"},
	number: [2]string{"#c9c2ff", "#4a3aa0"}, literal: [2]string{"#c9c2ff", "#4a3aa0"}, punct: standardPalette.punct,
	tentative: standardPalette.tentative,
}

// highContrast has a contrast of at least 7:1 for text.
var highContrast = palette{
	live: [2]string{"#8fd0ff", "#00337a"}, good: [2]string{"#6df5b8", "#00472e"}, caution: [2]string{"#ffd84a", "#4f3400"},
	bad: [2]string{"#ffb08c", "#8a1500"}, muted: [2]string{"#d6d6d6", "#404040"}, accent: [2]string{"#ffc4e6", "#6b1f50"},
	frame: [2]string{"#9a9a9a", "#6b6b6b"}, selection: [2]string{"#16324f", "#d9ecfb"}, linked: [2]string{"#0f382e", "#d8f3e6"},
	text: [2]string{"#ffffff", "#000000"}, ground: [2]string{"#000000", lightGround},
	key: [2]string{"#a9dbff", "#00337a"}, str: [2]string{"#9af5cf", "#00472e"}, escape: [2]string{"#c9fbe6", "#003d2b"},
	number: [2]string{"#d9ccff", "#3d2290"}, literal: [2]string{"#d9ccff", "#3d2290"}, punct: [2]string{"#f0f0f0", "#1a1a1a"},
	tentative: [2]string{"#d2d2d2", "#444444"},
}

// Default returns toolscope's default theme for a dark or light background.
func Default(dark bool) Theme {
	if dark {
		return standardPalette.newTheme(darkName, dark)
	}
	return standardPalette.newTheme(lightName, dark)
}

// ownTheme returns toolscope's own theme with that name. If the theme has two variants, dark selects one. The
// result ok is false if there is no such theme.
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

// newTheme returns a theme with the colours of the palette.
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
		Accent:  bold(p.accent),
		Frame:   ink(p.frame),

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

// codeStyle returns a chroma style with the colours of t. It uses neither of the warm colours, because code in
// a string is not trouble, even if the highlighter reports errors in it.
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
		chroma.NameException:         "bold " + t.Key.FG,
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
		chroma.Error:                 t.Punct.FG,
		chroma.GenericDeleted:        t.Muted.FG,
		chroma.GenericEmph:           "italic",
		chroma.GenericError:          t.Muted.FG,
		chroma.GenericHeading:        "bold " + t.Accent.FG,
		chroma.GenericInserted:       t.Good.FG,
		chroma.GenericOutput:         t.Muted.FG,
		chroma.GenericPrompt:         t.Live.FG,
		chroma.GenericStrong:         "bold",
		chroma.GenericSubheading:     t.Accent.FG,
		chroma.GenericTraceback:      t.Muted.FG,
	})
}

// ReadTOML reads TOML files into a list of values with their positions, so that an error can name its line
// and column.
//
// Invariants:
//   - The values are complete, and in the order of the file.
//   - Lines and columns count from 1; a column is a character, as in editors.

// Position is a line and column in a file.
type Position struct{ Line, Column int }

// Setting is one value: a string, bool, int64, float64, []any, or another TOML type.
type Setting struct {
	Table string // the table that contains the key; "" at the top level
	Key   string
	Value any
	Position
}

// Name returns the key with its table.
func (s Setting) Name() string { return SettingName(s.Table, s.Key) }

// SettingName returns a key with its table.
func SettingName(table, key string) string {
	if table == "" {
		return key
	}
	return table + "." + key
}

// SyntaxError is an error in TOML syntax.
type SyntaxError struct {
	Position
	What string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.What) }

// ReadTOML reads a file. The error is a [*SyntaxError].
func ReadTOML(data []byte) ([]Setting, error) {
	if at := findInvalid(data); at >= 0 {
		return nil, &SyntaxError{positionOf(data, at), "a byte that is not UTF-8"}
	}
	values := map[string]any{}
	if err := toml.Unmarshal(data, &values); err != nil {
		var wrong *toml.DecodeError
		if !errors.As(err, &wrong) {
			return nil, &SyntaxError{Position{1, 1}, strings.TrimPrefix(err.Error(), "toml: ")}
		}
		line, column := wrong.Position()
		return nil, &SyntaxError{Position{line, column}, strings.TrimPrefix(wrong.Error(), "toml: ")}
	}
	r := reader{data: data}
	r.p.Reset(data)
	for r.p.NextExpression() {
		switch n := r.p.Expression(); n.Kind {
		case unstable.Table, unstable.ArrayTable:
			r.table, _ = r.keyPath(n)
		case unstable.KeyValue:
			r.addKeyValue(n, r.table, values)
		}
	}
	return r.settings, nil
}

// reader reads the settings in a file that is known to be valid.
type reader struct {
	data     []byte
	p        unstable.Parser
	table    []string
	settings []Setting
}

// keyPath returns the names in a node's key, and the position of the first name.
func (r *reader) keyPath(n *unstable.Node) (names []string, at Position) {
	for i := n.Key(); i.Next(); {
		if key := i.Node(); len(names) == 0 {
			at = positionOf(r.data, int(key.Raw.Offset))
		}
		names = append(names, string(i.Node().Data))
	}
	return names, at
}

// addKeyValue adds a value or, for an inline table, each of its values.
func (r *reader) addKeyValue(n *unstable.Node, table []string, values map[string]any) {
	names, at := r.keyPath(n)
	all := slices.Concat(table, names)
	if of := n.Value(); of.Kind == unstable.InlineTable {
		for i := of.Children(); i.Next(); {
			r.addKeyValue(i.Node(), all, values)
		}
		return
	}
	last := len(all) - 1
	r.settings = append(r.settings, Setting{strings.Join(all[:last], "."), all[last], valueAt(values, all), at})
}

// valueAt returns the value for a path of names. Inside a list of tables, it returns nil.
func valueAt(values map[string]any, names []string) any {
	for _, name := range names[:len(names)-1] {
		inner, ok := values[name].(map[string]any)
		if !ok {
			return nil
		}
		values = inner
	}
	return values[names[len(names)-1]]
}

// positionOf returns the position of a byte.
func positionOf(data []byte, offset int) Position {
	before := string(data[:offset])
	return Position{1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])}
}

// findInvalid returns the offset of the first byte that is not UTF-8, or -1.
func findInvalid(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}
