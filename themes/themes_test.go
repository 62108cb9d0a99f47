package themes

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2"
	"github.com/charmbracelet/lipgloss"
)

// TestOwnContrast checks that all text in our themes is legible on all their backgrounds.
func TestOwnContrast(t *testing.T) {
	for _, th := range allOurs() {
		grounds := []string{lightGround}
		if th.Dark {
			grounds = []string{darkGround, "#000000"}
		}
		grounds = append(grounds, th.Page.BG, th.Selection.BG, th.Linked.BG)
		inks := inksOf(th)
		inks["text"] = TextStyle{FG: th.Page.FG}
		for _, tt := range th.Code.Types() {
			inks["code "+tt.String()] = th.TokenStyle(tt)
		}
		for name, ink := range inks {
			if ink.FG == "" && name != "code LineHighlight" {
				t.Errorf("%s: %s has no colour", th.Name, name)
				continue
			}
			for _, g := range grounds {
				least := 4.5
				if strings.HasPrefix(th.Name, contrastName) {
					least = 7
				}
				if c := contrastRatio(chroma.ParseColour(ink.FG), chroma.ParseColour(g)); ink.FG != "" && c < least {
					t.Errorf("%s: %s %s on %s has a contrast of %.2f", th.Name, name, ink.FG, g, c)
				}
			}
			if ink.Faint || ink.BG != "" || ink.Reverse {
				t.Errorf("%s: %s is drawn in another colour than %s", th.Name, name, ink.FG)
			}
		}
	}
}

// isWarm reports whether a colour is yellow, orange or red.
func isWarm(c chroma.Colour) bool {
	r, g, b := float64(c.Red()), float64(c.Green()), float64(c.Blue())
	most, least := max(r, g, b), min(r, g, b)
	if most-least <= 0.2*most || r != most && g > r { // grey, or nearer to green
		return false
	}
	return b == least || (b-g)/(most-least) < 1./3 && r == most
}

// TestOnlyTroubleIsWarm checks that no colours in our themes are warm except those for trouble. It also checks the
// colours of code.
func TestOnlyTroubleIsWarm(t *testing.T) {
	for _, th := range allOurs() {
		inks := inksOf(th)
		inks["frame"], inks["text"], inks["selection"], inks["linked"] = th.Frame, TextStyle{FG: th.Page.FG}, TextStyle{FG: th.Selection.BG}, TextStyle{FG: th.Linked.BG}
		for _, tt := range th.Code.Types() {
			inks["code "+tt.String()] = th.TokenStyle(tt)
		}
		for name, ink := range inks {
			trouble := name == "caution" || name == "bad" || name == "junk"
			if ink.FG != "" && isWarm(chroma.ParseColour(ink.FG)) != trouble {
				t.Errorf("%s: %s is %s", th.Name, name, ink.FG)
			}
		}
	}
	for c, warm := range map[string]bool{"#ffb08c": true, "#ffff00": true, "#ff0000": true, "#e59fc8": false, "#00ff00": false, "#808080": false} {
		if isWarm(chroma.ParseColour(c)) != warm {
			t.Errorf("%s: warm is not %t", c, warm)
		}
	}
}

// TestFrames checks that lines of the frame are visible in every theme, on the background that the theme is
// for and on the one that it paints.
func TestFrames(t *testing.T) {
	for _, name := range Names() {
		for _, dark := range []bool{true, false} {
			th, _ := Lookup(name, dark)
			page := contrastRatio(chroma.ParseColour(th.Frame.FG), chroma.ParseColour(th.Page.BG))
			if !isLegible(chroma.ParseColour(th.Frame.FG), th.Dark, frameContrast) || page < frameContrast {
				t.Errorf("%s: the frame %s has a contrast of %.2f on %s", th.Name, th.Frame.FG, page, th.Page.BG)
			}
		}
	}
}

// allOurs returns our own themes, for dark and light backgrounds.
func allOurs() (all []Theme) {
	for _, name := range ours {
		for _, dark := range []bool{true, false} {
			if t, _ := ownTheme(name, dark); t.Dark == dark {
				all = append(all, t)
			}
		}
	}
	return all
}

// inksOf returns the text styles of a theme that are for text.
func inksOf(th Theme) map[string]TextStyle {
	return map[string]TextStyle{
		"live": th.Live, "good": th.Good, "caution": th.Caution, "bad": th.Bad, "muted": th.Muted, "accent": th.Accent,
		"key": th.Key, "string": th.String, "escape": th.Escape, "number": th.Number, "literal": th.Literal,
		"punct": th.Punct, "junk": th.Junk, "tentative": th.Tentative,
	}
}

func TestContrast(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{{"#000000", "#ffffff", 21}, {"#777777", "#ffffff", 4.48}, {"#123456", "#123456", 1}} {
		got := contrastRatio(chroma.ParseColour(c.a), chroma.ParseColour(c.b))
		if got < c.want-0.01 || got > c.want+0.01 {
			t.Errorf("contrast(%s, %s) = %.3f, want %.2f", c.a, c.b, got, c.want)
		}
	}
}

// TestEveryTheme checks that each name is a complete theme with legible text.
func TestEveryTheme(t *testing.T) {
	roles := []string{"live", "good", "caution", "bad", "muted", "accent"}
	for _, name := range Names() {
		th, err := Lookup(name, true)
		if err != nil {
			t.Fatal(err)
		}
		if th.Code == nil || !strings.EqualFold(th.Name, name) || th.Selection.BG == "" || !th.Open.Underline {
			t.Errorf("%s: %+v", name, th)
		}
		for what, ink := range inksOf(th) {
			least := tokenContrast
			if slices.Contains(roles, what) {
				least = roleContrast
			}
			if ink.FG != "" && !isLegible(chroma.ParseColour(ink.FG), th.Dark, least) {
				t.Errorf("%s: %s cannot be read", name, what)
			}
			if ink.FG == "" && slices.Contains(roles, what) {
				t.Errorf("%s: %s has no colour", name, what)
			}
		}
		if th.Good.FG == th.Bad.FG {
			t.Errorf("%s: good is bad", name)
		}
		for _, tt := range th.Code.Types() {
			ink := th.TokenStyle(tt)
			if ink.BG != "" || ink.FG != "" && !isLegible(chroma.ParseColour(ink.FG), th.Dark, tokenContrast) {
				t.Errorf("%s: code %s is %+v", name, tt, ink)
			}
		}
	}
}

func TestFromStyle(t *testing.T) {
	for name, want := range map[string]struct {
		dark                bool
		key, string, number string
	}{
		"monokai":        {true, "#f92672", "#e6db74", "#ae81ff"},
		"github":         {false, "#0550ae", "#0a3069", "#0550ae"},
		"dracula":        {true, "#ff79c6", "#f1fa8c", "#bd93f9"},
		"Solarized-Dark": {true, "#268bd2", "#2aa198", "#2aa198"},
		"hrdark":         {true, "#58a1dd", "#a6be9d", "#a6be9d"},
		"swapoff":        {true, "#007f7f", "#00ffff", "#ffff00"},
	} {
		th, err := Lookup(name, false)
		if err != nil {
			t.Fatal(err)
		}
		if th.Dark != want.dark || th.Key.FG != want.key || th.String.FG != want.string || th.Number.FG != want.number {
			t.Errorf("%s: dark %t, key %s, string %s, number %s", name, th.Dark, th.Key.FG, th.String.FG, th.Number.FG)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, c := range []struct {
		name string
		dark bool
		want string
	}{
		{"", true, darkName}, {"", false, lightName}, {"auto", true, darkName}, {"toolscope-light", true, lightName},
		{"Toolscope-Dark", false, darkName}, {"monokai", false, "monokai"}, {"DRACULA", false, "dracula"},
	} {
		th, err := Lookup(c.name, c.dark)
		if err != nil || th.Name != c.want {
			t.Errorf("Lookup(%q, %t) = %s, %v", c.name, c.dark, th.Name, err)
		}
	}
	for name, want := range map[string]string{
		"monokia":    `unknown theme "monokia": did you mean monokai? (default: auto; all names: toolscope help themes)`,
		"solarized":  `unknown theme "solarized": did you mean solarized-dark, solarized-dark256, solarized-light? (default: auto; all names: toolscope help themes)`,
		"\x1b]0;x\a": `unknown theme "\x1b]0;x\a" (default: auto; all names: toolscope help themes)`,
	} {
		_, err := Lookup(name, true)
		var unknown *UnknownError
		if !errors.As(err, &unknown) || unknown.Name != name || err.Error() != want {
			t.Errorf("Lookup(%q): %v", name, err)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"ab", "", 2}, {"monokia", "monokai", 1}, {"opne", "open", 1}, {"nord", "nordic", 2}, {"vm", "vim", 1}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestInk(t *testing.T) {
	got := TextStyle{FG: "#111111", Bold: true}.With(TextStyle{BG: "#222222", Underline: true})
	if want := (TextStyle{FG: "#111111", BG: "#222222", Bold: true, Underline: true}); got != want {
		t.Errorf("With: %+v", got)
	}
	s := TextStyle{FG: "#111111", BG: "#222222", Faint: true, Italic: true, Reverse: true}.ToLipgloss()
	if s.GetForeground() != lipgloss.Color("#111111") || s.GetBackground() != lipgloss.Color("#222222") ||
		!s.GetFaint() || !s.GetItalic() || !s.GetReverse() || s.GetBold() || s.GetUnderline() {
		t.Errorf("Style: %+v", s)
	}
}
