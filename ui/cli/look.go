package cli

import (
	"math"
	"os"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
	"github.com/spf13/pflag"

	"toolscope/themes"
	"toolscope/ui"
)

// lookFlags are the flags for the appearance of the screen.
type lookFlags struct {
	theme   string
	noColor bool
	ascii   bool
	plain   bool
	calm    bool
	log     string
	large   bool
	keep    string
}

func (l *lookFlags) add(f *pflag.FlagSet) {
	f.StringVar(&l.theme, "theme", "auto", "")
	f.BoolVar(&l.noColor, "no-color", false, "")
	f.BoolVar(&l.ascii, "ascii", false, "")
	f.BoolVar(&l.plain, "plain", false, "")
	f.BoolVar(&l.calm, "reduced-motion", false, "")
	f.StringVar(&l.log, "log", "", "")
	f.BoolVar(&l.large, "large", false, "")
	addFlagCheck(f, "theme", func(name string) error {
		_, err := lookTheme(name, true, func(string) {})
		return err
	})
	asPaths(f, "theme", "log")
	markSettings(f, "", "theme", "no-color", "ascii", "plain", "reduced-motion", "log", "large")
}

// addKeep adds --memory, for commands whose screen may show very many turns.
func (l *lookFlags) addKeep(f *pflag.FlagSet) {
	f.StringVar(&l.keep, "memory", "1GB", "")
	addFlagCheck(f, "memory", isSize("--memory"))
	markSettings(f, "", "memory")
}

// isSize returns a check for a flag whose value is a size.
func isSize(flag string) func(string) error {
	return func(text string) error {
		_, err := sizeOf(flag, text)
		return err
	}
}

// sizeOf parses a size, such as 500MB, 1.5 GB, 64k or 20GiB, into bytes.
func sizeOf(flag, text string) (bytes int64, err error) {
	number := strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(text)), "B")
	base := 1000.0
	if before, is := strings.CutSuffix(number, "I"); is {
		number, base = before, 1024
	}
	unit := 1.0
	if n := len(number); n > 0 {
		if i := strings.IndexByte("KMGT", number[n-1]); i >= 0 {
			unit, number = math.Pow(base, float64(i+1)), number[:n-1]
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	wrong := ""
	switch {
	case err != nil || base == 1024 && unit == 1:
		wrong = "not a size"
	case !(n*unit >= minMemory):
		wrong = "too small"
	case !(n*unit < 1<<50):
		wrong = "too large"
	}
	if wrong != "" {
		return 0, usageErrorf("%s %q: %s\nuse at least %dMB, in kB, MB, GB or TB, or in KiB, MiB, GiB or TiB, e.g. 500MB or 20GiB", flag, text, wrong, minMemory/1_000_000)
	}
	return int64(n * unit), nil
}

// minMemory is the smallest size that a flag accepts. --memory must have space for the selected turn and the
// turns shortly before it.
const minMemory = 1_000_000

// isThemeSet reports whether the user chose a theme.
func (l *lookFlags) isThemeSet() bool { return l.theme != "auto" && l.theme != "" }

// applyTo fills in the options for the appearance of the screen. note gets problems of the theme's file.
// applyTo returns the keys that were typed while it queried the terminal.
func (l *lookFlags) applyTo(o *ui.Options, note func(string)) (typed []tea.KeyMsg) {
	kept := readSavedState()
	if _, err := lookTheme(kept.theme, true, func(string) {}); !l.isThemeSet() && err == nil && kept.theme != "" {
		l.theme = kept.theme
	}
	o.Layout, o.Calm = kept.layout, l.calm
	o.Depth, o.Asked = l.colourDepth(), l.isThemeSet()
	if !o.Asked || o.Depth <= termenv.ANSI256 { // otherwise the background is not needed
		o.Terminal, typed = terminalGround()
	}
	dark := o.Terminal.Dark || !o.Terminal.Known
	var err error
	if o.Theme, err = lookTheme(l.theme, dark, note); err != nil { // the file has changed since the check
		o.Theme = themes.Default(dark)
	}
	o.Themes = ownThemes(dark)
	o.Keep, _ = sizeOf("--memory", l.keep)
	o.ASCII, o.Large = l.ascii || asciiLocale(), l.large
	return typed
}

// colourDepth returns how many colours the terminal supports, according to the flags and the environment. See
// no-color.org and bixense.com/clicolors.
func (l *lookFlags) colourDepth() termenv.Profile {
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

// asciiLocale reports whether the locale asks for ASCII. Without a locale it returns false, because today's
// terminals draw UTF-8.
func asciiLocale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToUpper(os.Getenv(name)); v != "" {
			return !strings.Contains(v, "UTF-8") && !strings.Contains(v, "UTF8")
		}
	}
	return false
}
