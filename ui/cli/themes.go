package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/themes"
)

// lookTheme returns the theme with a name. It can be the user's own theme, a built-in theme, or the theme for a
// chroma style. A name that contains a slash or ends with .toml is the path of a file. The function note receives the
// problems in a file that don't prevent its use.
func lookTheme(name string, dark bool, note func(string)) (themes.Theme, error) {
	path, err := name, error(nil)
	if !strings.ContainsAny(name, "/"+string(filepath.Separator)) && !strings.HasSuffix(name, ".toml") {
		if path, err = inConfigFolder(filepath.Join(themesFolder, strings.ToLower(name)+".toml")); err != nil || !isFile(path) {
			t, err := themes.Lookup(name, dark)
			var unknown *themes.UnknownError
			if errors.As(err, &unknown) {
				unknown.Near = themes.Near(strings.ToLower(name), themeNames())
				return t, &usageError{err}
			}
			return t, err
		}
	}
	data, err := readFile(path)
	if err != nil {
		return themes.Theme{}, usageErrorf("theme %s: %w\n'toolscope config theme' prints a theme to start from", path, capture.WithoutPath(err))
	}
	t, problems := themes.Parse(strings.TrimSuffix(filepath.Base(path), ".toml"), data)
	for _, p := range problems {
		text := fmt.Sprintf("%s:%d:%d: %s", path, p.Line, p.Column, p.Text)
		if p.Grave {
			return t, usageErrorf("%s", text)
		}
		note(text)
	}
	return t, nil
}

// themesFolder is the folder for the user's own themes, inside the configuration folder.
const themesFolder = "themes"

// isFile reports whether a path is a regular file.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// userThemes returns the names of the user's own themes.
func userThemes() (names []string) {
	folder, err := inConfigFolder(themesFolder)
	if err != nil {
		return nil
	}
	files, _ := os.ReadDir(folder) // the folder may not exist
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".toml"); ok && f.Type().IsRegular() {
			names = append(names, name)
		}
	}
	return names
}

// themeNames returns the names of all themes. Each name occurs once, and the user's own themes come first.
func themeNames() []string {
	names := userThemes()
	for _, name := range themes.Names() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// ownThemes returns the user's own themes, without invalid ones.
func ownThemes(dark bool) (all []themes.Theme) {
	for _, name := range userThemes() {
		if t, err := lookTheme(name, dark, func(string) {}); err == nil {
			all = append(all, t)
		}
	}
	return all
}

// themeCommand returns the command that prints a theme as a file.
func (a *app) themeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "theme [NAME|FILE]", Short: "Print a theme as a file, or check a theme",
		Example: "toolscope config theme dracula > ~/.config/toolscope/themes/mine.toml\ntoolscope config theme mine\ntoolscope --theme mine",
		Long: `The output is a theme file that also lists the contrast of each colour. Use the output
to start your own theme, or to check a theme.

A style is bold, faint, italic, underline, reverse, a colour #rrggbb, a background
bg:#rrggbb, or a combination of these. base = "NAME" names a theme for the styles that the file
leaves out, and code = "NAME" names a theme for the colours of code.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageErrorf("config theme: takes one NAME or FILE, got %d", len(args))
			}
			t, err := lookTheme(strings.Join(args, ""), true, func(text string) { a.printNote("%s", text) })
			if err != nil {
				return err
			}
			to := a.stdout
			to.printLine("# theme %s, with the contrast of each colour against the background of the theme or the terminal", t.Name)
			to.printLine("dark = %t", t.Dark)
			for _, r := range t.Roles() {
				line := fmt.Sprintf("%s = %s", r.Name, tomlText(r.Style))
				switch {
				case r.Style == "":
					line = "# " + r.Name + " is the terminal's"
				case r.Contrast == 0:
				case r.Contrast < r.MinContrast:
					line = fmt.Sprintf("%-40s # %.1f, hard to read: use %g or more", line, r.Contrast, r.MinContrast)
				default:
					line = fmt.Sprintf("%-40s # %.1f", line, r.Contrast)
				}
				to.printLine("%s", line)
			}
			return nil
		},
	}
}
