package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolscope/capture"
	"toolscope/providers/host"
	"toolscope/themes"
	"toolscope/ui"
)

func (se *settingSources) configCommand() *cobra.Command {
	origins := false
	show := &cobra.Command{
		Use: "show", Short: "List every setting with its value", Args: noArgs,
		Example: "toolscope config show --show-origin > config.toml", Long: "The output is a configuration file with every setting.",
		RunE: func(cmd *cobra.Command, _ []string) error { return se.showConfig(cmd, origins) },
	}
	show.Flags().BoolVar(&origins, "show-origin", false, "")
	edit := &cobra.Command{
		Use: "edit", Short: "Edit the configuration file in $EDITOR, then check it", Args: noArgs,
		Example: "toolscope config edit", Long: "If the file doesn't exist, toolscope creates it with every setting commented out.",
		RunE: func(cmd *cobra.Command, _ []string) error { return se.editConfig(cmd.Root()) },
	}
	check := &cobra.Command{
		Use: "check", Short: "Check the configuration file", Args: noArgs,
		Example: "toolscope config check", Long: "The command lists each error with its line and column.",
		RunE: func(cmd *cobra.Command, _ []string) error { return se.checkConfig(cmd.Root()) },
	}
	path := &cobra.Command{
		Use: "path", Short: "Print the path of the configuration file", Args: noArgs,
		Example: "cat \"$(toolscope config path)\"", Long: "The variable TOOLSCOPE_CONFIG sets another path.",
		RunE: func(*cobra.Command, []string) error {
			path, err := configPath()
			if err == nil {
				se.app.stdout.printLine("%s", path)
			}
			return err
		},
	}
	all := &cobra.Command{
		Use: "config", Short: "Show, check and edit the configuration",
		Example: "toolscope config edit\ntoolscope config show --show-origin",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageErrorf("config: unknown command %q\nuse show, edit, check, path or theme", args[0])
			}
			return cmd.Help()
		},

		// The subcommands read the configuration file themselves and report its errors.
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			se.printOldNames(cmd)
			return nil
		},
	}
	all.AddCommand(show, edit, check, path, se.app.themeCommand())
	return all
}

// showConfig writes every setting in the syntax of the configuration file. After the settings, it reports
// invalid values.
func (se *settingSources) showConfig(cmd *cobra.Command, origins bool) error {
	c, err := readConfiguration(cmd.Root())
	if err != nil {
		return err
	}
	se.app.stdout.printLine("# %s%s", c.path, textIf(!c.there, ", which doesn't exist"))
	var wrong []error
	table := ""
	for _, s := range allSettings(cmd.Root()) {
		if s.table != table {
			table = s.table
			se.app.stdout.printLine("")
			se.app.stdout.printLine("[%s]", table)
		}
		if s.isSecret {
			se.app.stdout.printLine("# %s: can only be set in the variable %s, which is %s", s.configName(), s.envVariable(), ifElse(os.Getenv(s.envVariable()) == "", "not set", "set"))
			continue
		}
		value, from := s.flag.DefValue, "default"
		if s.flag.Changed {
			value, from = tomlValue(s.flag, s.flag.Value.String()), "flag"
		} else if err := se.applySetting(s, &c); err != nil {
			wrong = append(wrong, err)
			value = tomlValue(s.flag, value)
		} else if o, set := se.origin[s.configKey()]; set {
			value, from = tomlValue(s.flag, s.flag.Value.String()), o.String()
		} else {
			value = tomlValue(s.flag, value)
		}
		line := s.configName() + " = " + value
		if origins {
			line = fmt.Sprintf("%-36s # %s", line, from)
		}
		se.app.stdout.printLine("%s", line)
	}
	se.showKeys(&c, origins)
	return se.reportConfig(&c, wrong)
}

// showKeys writes the keys for the screen's actions.
func (se *settingSources) showKeys(c *configuration, origins bool) {
	se.app.stdout.printLine("")
	se.app.stdout.printLine("[%s]", keysTable)
	for _, of := range ui.Actions() {
		keys, from := []string(nil), "default"
		for _, k := range of.Keys {
			if user, set := c.keys[k]; set {
				k, from = user, c.path
			}
			keys = append(keys, tomlText(k))
		}
		value := strings.Join(keys, ", ")
		if len(keys) > 1 {
			value = "[" + value + "]"
		}
		line := fmt.Sprintf("%-36s # %s", of.Name+" = "+value, of.Does)
		if origins {
			line += "; " + from
		}
		if slices.Contains(of.Keys, "ctrl+c") {
			line = "# " + line
		}
		se.app.stdout.printLine("%s", line)
	}
}

// reportConfig prints the problems in the file. It sets the exit code if a value is invalid.
func (se *settingSources) reportConfig(c *configuration, wrong []error) error {
	for _, o := range c.odd {
		se.app.printNote("%s: %s", c.positionText(o.Position), o.text)
	}
	for _, o := range c.bad {
		wrong = append(wrong, usageErrorf("%s: %s", c.positionText(o.Position), o.text))
	}
	for _, err := range wrong {
		se.app.failWith(err)
	}
	return nil
}

// tomlValue returns a flag's value as TOML.
func tomlValue(f *pflag.Flag, text string) string {
	if list, is := f.Value.(pflag.SliceValue); is {
		all := list.GetSlice()
		for i := range all {
			all[i] = tomlText(all[i])
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	switch f.Value.Type() {
	case "bool", "int", "float64":
		return text
	}
	return tomlText(text)
}

func tomlText(text string) string {
	if q := strconv.Quote(text); q == `"`+text+`"` {
		return q
	}
	line, _ := toml.Marshal(map[string]string{"k": text}) // text always encodes
	return strings.TrimSuffix(strings.TrimPrefix(string(line), "k = "), "\n")
}

// checkConfig prints the problems in the file. If there are none, it says so.
func (se *settingSources) checkConfig(root *cobra.Command) error {
	c, err := readConfiguration(root)
	if err != nil {
		return err
	}
	if !c.there {
		se.app.stdout.printLine("%s doesn't exist: all settings have their default values", c.path)
		return nil
	}
	var wrong []error
	for _, s := range allSettings(root) {
		if err := se.applySetting(s, &c); err != nil && se.origin[s.configKey()].place != "" {
			wrong = append(wrong, err)
		}
	}
	if len(c.odd)+len(wrong) == 0 {
		se.app.stdout.printLine("%s: no errors", c.path)
	}
	return se.reportConfig(&c, wrong)
}

// editConfig opens the file in the user's editor until the file has no errors or the user quits. If standard
// input is not a terminal, it opens the file only once. A new file has all settings with their defaults,
// commented out.
func (se *settingSources) editConfig(root *cobra.Command) error {
	path, err := configPath()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := writeOwn(path, []byte(blankConfig(root))); err != nil {
			return fmt.Errorf("%s: %w", path, capture.WithoutPath(err))
		}
	}
	answers := bufio.NewScanner(se.app.stdin)
	for {
		if err := openEditor(path, se.app.stdin); err != nil {
			return err
		}
		se.app.code = 0
		if err := se.checkConfig(root); err != nil {
			se.app.failWith(err)
		}
		if se.app.code == 0 || !isTerminal(se.app.stdin) {
			return nil
		}
		se.app.stderr.printLine("press enter to edit the file again, or q and enter to stop editing")
		if !answers.Scan() || strings.HasPrefix(strings.TrimSpace(answers.Text()), "q") {
			return nil
		}
	}
}

// blankConfig returns a file in which every setting is commented out.
func blankConfig(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# toolscope's settings, with their default values. To change a setting, remove the # in front of its name.\n# 'toolscope config --help' explains this file.\n\n")
	table := ""
	for _, s := range allSettings(root) {
		if s.isSecret {
			continue
		}
		if s.table != table {
			table = s.table
			fmt.Fprintf(&b, "\n[%s]\n", table)
		}
		fmt.Fprintf(&b, "# %s\n# %s = %s\n", s.flag.Usage, s.configName(), tomlValue(s.flag, s.flag.DefValue))
	}
	return b.String()
}

// inConfigFolder returns the path of name in toolscope's configuration folder. The folder is inside XDG_CONFIG_HOME,
// or else inside the system's configuration folder.
func inConfigFolder(name string) (string, error) {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		var err error
		if dir, err = os.UserConfigDir(); err != nil {
			return "", fmt.Errorf("no configuration folder: %w", err)
		}
	}
	return filepath.Join(dir, "toolscope", name), nil
}

// expandHome replaces ~ at the start of a path with the user's home folder. Shells do this only at the start of a
// word, so not in --log=~/a.
func expandHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if home, err := os.UserHomeDir(); ok && err == nil && (rest == "" || os.IsPathSeparator(rest[0])) {
		return home + rest
	}
	return path
}

// configVariable is the variable with the path of another configuration file. With /dev/null, there are no
// settings.
const configVariable = "TOOLSCOPE_CONFIG"

func configPath() (string, error) {
	if path := os.Getenv(configVariable); path != "" {
		return path, nil
	}
	return inConfigFolder("config.toml")
}

// configuration is the parsed configuration file.
type configuration struct {
	path   string
	there  bool
	values map[string]themes.Setting
	keys   ui.UserKeys
	odd    []configProblem // unknown settings, which are ignored
	bad    []configProblem // errors
}

// configProblem is a problem with its position in the file.
type configProblem struct {
	themes.Position
	text string
}

// positionText formats a position as compilers do: path:line:column.
func (c *configuration) positionText(p themes.Position) string {
	return fmt.Sprintf("%s:%d:%d", c.path, p.Line, p.Column)
}

// readConfiguration reads the file, if there is one.
func readConfiguration(root *cobra.Command) (c configuration, err error) {
	if c.path, err = configPath(); err != nil {
		return c, nil // without a home folder, there is no configuration
	}
	data, err := readFile(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return c, usageErrorf("%s: %w", c.path, capture.WithoutPath(err))
	}
	c.there = true
	c.loadSettings(allSettings(root), data)
	return c, nil
}

// loadSettings parses a file. It sorts the file's settings into values, keys and problems.
func (c *configuration) loadSettings(known []configSetting, data []byte) {
	found, err := themes.ReadTOML(data)
	if wrong := (*themes.SyntaxError)(nil); errors.As(err, &wrong) {
		c.bad = append(c.bad, configProblem{wrong.Position, wrong.What})
	}
	c.values, c.keys = map[string]themes.Setting{}, ui.UserKeys{}
	for _, s := range found {
		if s.Table == keysTable {
			c.setKeys(s)
			continue
		}
		i := slices.IndexFunc(known, func(k configSetting) bool { return k.configKey() == s.Name() })
		switch here := i >= 0 && !known[i].isSecret; {
		case (here || i < 0) && holdsSecret(s.Value) && !namesSecret.MatchString(s.Key):
			c.bad = append(c.bad, configProblem{s.Position, s.Name() + ": the value looks like a secret\nremove it: toolscope reads keys from the environment, never from a file"})
		case here:
			c.values[s.Name()] = s
		case i >= 0 || namesSecret.MatchString(s.Key):
			c.bad = append(c.bad, configProblem{s.Position, fmt.Sprintf("%s: toolscope reads no secrets from a file\nuse the environment variable %s", s.Name(), variableFor(s, known))})
		default:
			c.odd = append(c.odd, configProblem{s.Position, unknownKey(s, known)})
		}
	}
	// Add an error if two actions have the same key.
	text, names := c.keys.Clash()
	for _, s := range found {
		if s.Table == keysTable && text != "" && (s.Key == names[0] || s.Key == names[1]) {
			c.bad = append(c.bad, configProblem{s.Position, s.Name() + ": " + text})
			return
		}
	}
}

// keysTable is the table for the screen's keys in the file.
const keysTable = "keys"

// setKeys sets the keys for an action.
func (c *configuration) setKeys(s themes.Setting) {
	keys, ok := []string(nil), true
	switch v := s.Value.(type) {
	case string:
		keys = []string{v}
	case []any:
		for _, one := range v {
			text, is := one.(string)
			keys, ok = append(keys, text), ok && is
		}
	default:
		ok = false
	}
	if !ok {
		c.bad = append(c.bad, configProblem{s.Position, s.Name() + ": use a key in quotes, or a list of keys"})
		return
	}
	err := c.keys.Set(s.Key, keys)
	if err == nil {
		return
	}
	odd := configProblem{s.Position, s.Name() + ": " + err.Error()}
	if errors.Is(err, ui.ErrNoAction) {
		c.odd = append(c.odd, odd)
	} else {
		c.bad = append(c.bad, odd)
	}
}

// namesSecret matches names of settings whose values are secrets.
var namesSecret = regexp.MustCompile(`(?i)(^|[-_])(api[-_]?keys?|tokens?|secrets?|passwords?|authorization|bearer|credentials?)$`)

// holdsSecret reports whether a value looks like a secret.
func holdsSecret(value any) bool {
	text := fmt.Sprint(value)
	return newRedactor().Text(text) != text
}

// variableFor returns the environment variable for a secret. If none fits, it returns an example of such a variable,
// with a hint.
func variableFor(s themes.Setting, known []configSetting) string {
	for _, k := range known {
		if k.isSecret && k.configName() == s.Key {
			return k.envVariable()
		}
	}
	name := strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(s.Name()))
	for i := range host.All {
		h := &host.All[i]
		for _, k := range h.Keys {
			if name == k.Variable || strings.Contains(name, strings.ToUpper(h.Name)) {
				return k.Variable
			}
		}
	}
	return host.All[0].Keys[0].Variable + " or similar; see 'toolscope help providers'"
}

// unknownKey returns the message about an unknown key. It suggests keys with the same name in other tables. If there
// are none, it suggests keys with a similar name.
func unknownKey(s themes.Setting, known []configSetting) string {
	var names, near []string
	for _, k := range known {
		if k.isSecret {
			continue
		}
		names = append(names, k.configKey())
		if k.configName() == s.Key {
			near = append(near, k.configKey())
		}
	}
	if len(near) == 0 {
		near = themes.Near(s.Name(), names)
	}
	if len(near) == 0 {
		near = themes.Near(s.Key, names)
	}
	if len(near) == 0 {
		return s.Name() + ": no such setting; 'toolscope config show' lists all settings"
	}
	return fmt.Sprintf("%s: no such setting: did you mean %s?", s.Name(), strings.Join(near, ", "))
}
