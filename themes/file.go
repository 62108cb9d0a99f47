package themes

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/chroma/v2"

	"toolscope/ui/settings"
)

// A role is a part of a theme with its own text style. minContrast is the contrast that it should have, or 0
// if it is not text.
type role struct {
	name        string
	style       func(*Theme) *TextStyle
	minContrast float64
}

// roles are all roles, with their names in theme files.
var roles = []role{
	{"page", func(t *Theme) *TextStyle { return &t.Page }, roleContrast},
	{"live", func(t *Theme) *TextStyle { return &t.Live }, roleContrast},
	{"good", func(t *Theme) *TextStyle { return &t.Good }, roleContrast},
	{"caution", func(t *Theme) *TextStyle { return &t.Caution }, roleContrast},
	{"bad", func(t *Theme) *TextStyle { return &t.Bad }, roleContrast},
	{"muted", func(t *Theme) *TextStyle { return &t.Muted }, roleContrast},
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

// The keys of a theme file that are not roles.
const (
	baseKey = "base" // the theme for all that the file does not set
	darkKey = "dark" // whether the theme is for a dark background
	codeKey = "code" // the theme whose chroma style is used for code in strings
)

// A Problem is an error at a place in a theme file. If it is not grave, the entry is ignored and the theme
// can be used.
type Problem struct {
	settings.Position
	Text  string
	Grave bool
}

// Parse reads a theme file, which has a text style for each role, e.g. "bold #56b4e9 bg:#101010".
func Parse(name string, data []byte) (t Theme, problems []Problem) {
	found, err := settings.Read(data)
	if wrong := (*settings.SyntaxError)(nil); errors.As(err, &wrong) {
		return Default(true), []Problem{{wrong.Position, wrong.What, true}}
	}
	f := themeFile{values: map[string]settings.Setting{}}
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

// themeFile is a theme file while it is read.
type themeFile struct {
	values   map[string]settings.Setting
	problems []Problem
}

func (f *themeFile) addProblem(s settings.Setting, format string, args ...any) {
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
func (f *themeFile) setRole(t *Theme, s settings.Setting) {
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

// setCode sets the chroma style for code: that of the named theme, or one with the colours of t.
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

// parseTextStyle parses a text style of a theme file, e.g. "bold #56b4e9 bg:#101010". ok is false if a word is
// unknown or the text is empty.
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

// RoleText is a role of a theme: its text style in the syntax of theme files, its contrast on the theme's
// background, and the contrast that it should have. Contrast is 0 without a text colour.
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
