package cli

import (
	"os"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
	"github.com/spf13/pflag"

	"toolscope/themes"
	"toolscope/ui"
)

// lookFlags say how the screen looks.
type lookFlags struct {
	theme   string
	noColor bool
	ascii   bool
}

func (l *lookFlags) add(f *pflag.FlagSet) {
	f.StringVar(&l.theme, "theme", "auto", "colours: auto, or a name from 'toolscope help themes'")
	f.BoolVar(&l.noColor, "no-color", false, "no colours, as with NO_COLOR")
	f.BoolVar(&l.ascii, "ascii", false, "draw with ASCII only")
}

// check says whether the flags can be followed, screen or not.
func (l *lookFlags) check() error {
	if _, err := themes.Lookup(l.theme, true); err != nil {
		return &usageError{err}
	}
	return nil
}

// apply fills in how the screen is to look. It returns what was typed while the terminal was asked.
func (l *lookFlags) apply(o *ui.Options) (typed []tea.KeyMsg, err error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	dark := true
	if l.theme == "auto" || l.theme == "" {
		dark, typed = darkBackground()
	}
	o.Theme, _ = themes.Lookup(l.theme, dark)
	o.Themes = [2]themes.Theme{themes.Default(false), themes.Default(true)}
	o.Depth = l.depth()
	o.ASCII = l.ascii || asciiLocale()
	return typed, nil
}

// depth is how many colours the terminal has, by what the environment says. See no-color.org and
// bixense.com/clicolors.
func (l *lookFlags) depth() termenv.Profile {
	name := os.Getenv("TERM")
	forced := os.Getenv("CLICOLOR_FORCE") != "" && os.Getenv("CLICOLOR_FORCE") != "0"
	switch colour := os.Getenv("COLORTERM"); {
	case l.noColor, os.Getenv("NO_COLOR") != "":
		return termenv.Ascii
	case !forced && (os.Getenv("CLICOLOR") == "0" || name == "dumb"):
		return termenv.Ascii
	case colour == "truecolor" || colour == "24bit" || strings.Contains(name, "direct"):
		return termenv.TrueColor
	case strings.Contains(name, "256color"):
		return termenv.ANSI256
	}
	return termenv.ANSI
}

// asciiLocale reports whether the locale asks for ASCII. One that says nothing does not: terminals
// of today draw UTF-8.
func asciiLocale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToUpper(os.Getenv(name)); v != "" {
			return !strings.Contains(v, "UTF-8") && !strings.Contains(v, "UTF8")
		}
	}
	return false
}
