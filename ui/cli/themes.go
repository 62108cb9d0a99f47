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

// lookTheme is the theme of a name: what the user wrote under it, one of ours, or that of a style. A
// name with a slash or that ends in .toml is a file. What is said of a file that is odd goes to note.
func lookTheme(name string, dark bool, note func(string)) (themes.Theme, error) {
	path, err := name, error(nil)
	if !strings.ContainsAny(name, "/"+string(filepath.Separator)) && !strings.HasSuffix(name, ".toml") {
		if path, err = inConfigFolder(filepath.Join(themesFolder, strings.ToLower(name)+".toml")); err != nil || !isFile(path) {
			return namedTheme(name, dark)
		}
	}
	data, err := readFile(path)
	if err != nil {
		return themes.Theme{}, usageErrorf("theme %s: %w\n'toolscope config theme' prints one to begin with", path, capture.WithoutPath(err))
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

// themesFolder is where the user's own themes are, below what is configured.
const themesFolder = "themes"

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// namedTheme is a theme that no file holds.
func namedTheme(name string, dark bool) (themes.Theme, error) {
	t, err := themes.Lookup(name, dark)
	var unknown *themes.UnknownError
	if errors.As(err, &unknown) {
		unknown.Near = themes.Near(strings.ToLower(name), themeNames())
		return t, &usageError{err}
	}
	return t, err
}

// userThemes are the names of the user's own themes.
func userThemes() (names []string) {
	folder, err := inConfigFolder(themesFolder)
	if err != nil {
		return nil
	}
	files, _ := os.ReadDir(folder) // there may be none
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".toml"); ok && f.Type().IsRegular() {
			names = append(names, name)
		}
	}
	return names
}

// themeNames are those of all themes, each once, the user's own first.
func themeNames() []string {
	names := userThemes()
	for _, name := range themes.Names() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// ownThemes are the user's own themes that can be used.
func ownThemes(dark bool) (all []themes.Theme) {
	for _, name := range userThemes() {
		if t, err := lookTheme(name, dark, func(string) {}); err == nil {
			all = append(all, t)
		}
	}
	return all
}

// themeCommand prints a theme as a file of one's own has it.
func (a *app) themeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "theme [NAME|FILE]", Short: "A theme as a file, to begin one's own with; what is wrong with one",
		Long: `Prints a theme as a file has it, with the contrast of each of its colours: to
begin one of your own with, or to see what is wrong with it.

  toolscope config theme dracula > ~/.config/toolscope/themes/mine.toml
  toolscope config theme mine
  toolscope --theme mine

An ink is bold, faint, italic, underline, reverse, a colour #rrggbb and a
background bg:#rrggbb, or some of them. base = "NAME" stands for all that is
left out, and code = "NAME" for the style of code.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageErrorf("config theme: one NAME or FILE, got %d", len(args))
			}
			t, err := lookTheme(strings.Join(args, ""), true, func(text string) { a.printNote("%s", text) })
			if err != nil {
				return err
			}
			a.writeTheme(t)
			return nil
		},
	}
}

func (a *app) writeTheme(t themes.Theme) {
	a.stdout.printLine("# theme %s, with its contrasts: on its background, or on that of dark or light terminals", t.Name)
	a.stdout.printLine("dark = %t", t.Dark)
	for _, r := range t.Roles() {
		line := fmt.Sprintf("%s = %s", r.Name, tomlText(r.Style))
		switch {
		case r.Style == "":
			line = "# " + r.Name + " is the terminal's"
		case r.Contrast == 0:
		case r.Contrast < r.MinContrast:
			line = fmt.Sprintf("%-40s # %.1f, hard to read: %g is wanted", line, r.Contrast, r.MinContrast)
		default:
			line = fmt.Sprintf("%-40s # %.1f", line, r.Contrast)
		}
		a.stdout.printLine("%s", line)
	}
}
