package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolscope/capture"
	"toolscope/ui"
)

func (a *app) configCommand() *cobra.Command {
	origins := false
	show := &cobra.Command{
		Use: "show", Short: "List every setting with its value", Args: noArgs,
		Example: "toolscope config show --show-origin > config.toml", Long: "The output is a configuration file with every setting.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.showConfig(cmd, origins) },
	}
	show.Flags().BoolVar(&origins, "show-origin", false, "")
	edit := &cobra.Command{
		Use: "edit", Short: "Open the configuration file in $EDITOR, then check it", Args: noArgs,
		Example: "toolscope config edit", Long: "A new file begins with every setting, commented out.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.editConfig(cmd.Root()) },
	}
	check := &cobra.Command{
		Use: "check", Short: "Check the configuration file", Args: noArgs,
		Example: "toolscope config check", Long: "Errors are listed with their line and column.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.checkConfig(cmd.Root()) },
	}
	path := &cobra.Command{
		Use: "path", Short: "Print the path of the configuration file", Args: noArgs,
		Example: "cat \"$(toolscope config path)\"", Long: "TOOLSCOPE_CONFIG names another file.",
		RunE: func(*cobra.Command, []string) error {
			path, err := configPath()
			if err == nil {
				a.stdout.printLine("%s", path)
			}
			return err
		},
	}
	all := &cobra.Command{
		Use: "config", Short: "Show, check and edit the configuration",
		Example: "toolscope config edit\ntoolscope config show --show-origin",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageErrorf("config: no command %q\nthere are show, edit, check, path and theme", args[0])
			}
			return cmd.Help()
		},

		// Its subcommands report errors in the file themselves.
		PersistentPreRunE: func(*cobra.Command, []string) error {
			a.printOldNames()
			return nil
		},
	}
	all.AddCommand(show, edit, check, path, a.themeCommand())
	return all
}

// shareFlags gives 'config show' the flags of the settings that all commands share, so that one can see
// what becomes of them.
func shareFlags(root *cobra.Command) {
	show, _, _ := root.Find([]string{"config", "show"})
	for _, s := range allSettings(root) {
		if s.table == "" {
			show.Flags().AddFlag(s.flag)
		}
	}
}

// showConfig writes every setting as the file would have it. A value that cannot be followed is
// told of behind them.
func (a *app) showConfig(cmd *cobra.Command, origins bool) error {
	c, err := readConfiguration(cmd.Root())
	if err != nil {
		return err
	}
	a.stdout.printLine("# %s%s", c.path, textIf(!c.there, ", which is not there"))
	var wrong []error
	table := ""
	for _, s := range allSettings(cmd.Root()) {
		if s.table != table {
			table = s.table
			a.stdout.printLine("")
			a.stdout.printLine("[%s]", table)
		}
		if s.isSecret() {
			a.stdout.printLine("# %s: only as %s, which is %s", s.configName(), s.envVariable(), ifElse(os.Getenv(s.envVariable()) == "", "not set", "set"))
			continue
		}
		value, from := s.flag.DefValue, "default"
		if s.flag.Changed {
			value, from = tomlValue(s.flag, s.flag.Value.String()), "flag"
		} else if err := a.applySetting(s, &c); err != nil {
			wrong = append(wrong, err)
			value = tomlValue(s.flag, value)
		} else if o, set := a.origin[s.configKey()]; set {
			value, from = tomlValue(s.flag, s.flag.Value.String()), o.String()
		} else {
			value = tomlValue(s.flag, value)
		}
		line := s.configName() + " = " + value
		if origins {
			line = fmt.Sprintf("%-36s # %s", line, from)
		}
		a.stdout.printLine("%s", line)
	}
	a.showKeys(&c, origins)
	return a.reportConfig(&c, wrong)
}

// showKeys writes the keys of the screen.
func (a *app) showKeys(c *configuration, origins bool) {
	a.stdout.printLine("")
	a.stdout.printLine("[%s]", keysTable)
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
		a.stdout.printLine("%s", line)
	}
}

// reportConfig tells what is wrong with the file, and has the run fail if something cannot be followed.
func (a *app) reportConfig(c *configuration, wrong []error) error {
	for _, o := range c.odd {
		a.printNote("%s: %s", c.positionText(o.Position), o.text)
	}
	for _, o := range c.bad {
		wrong = append(wrong, usageErrorf("%s: %s", c.positionText(o.Position), o.text))
	}
	for _, err := range wrong {
		a.failWith(err)
	}
	return nil
}

// tomlValue is a value as TOML has it.
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
	line, _ := toml.Marshal(map[string]string{"k": text}) // it cannot fail
	return strings.TrimSuffix(strings.TrimPrefix(string(line), "k = "), "\n")
}

// checkConfig says what is wrong with the file.
func (a *app) checkConfig(root *cobra.Command) error {
	c, err := readConfiguration(root)
	if err != nil {
		return err
	}
	if !c.there {
		a.stdout.printLine("%s is not there: all is as it is built in", c.path)
		return nil
	}
	wrong := a.wrongIn(root, &c)
	if len(c.odd)+len(wrong) == 0 {
		a.stdout.printLine("%s: nothing is wrong with it", c.path)
	}
	return a.reportConfig(&c, wrong)
}

// wrongIn are the values of the file that cannot be followed.
func (a *app) wrongIn(root *cobra.Command, c *configuration) (wrong []error) {
	for _, s := range allSettings(root) {
		if err := a.applySetting(s, c); err != nil && a.origin[s.configKey()].place != "" {
			wrong = append(wrong, err)
		}
	}
	return wrong
}

// editConfig opens the file in the user's editor, until nothing is wrong with it or the user has had
// enough. A file that is not there begins with all settings as they are built in, as remarks.
func (a *app) editConfig(root *cobra.Command) error {
	path, err := configPath()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := writeOwn(path, []byte(blankConfig(root))); err != nil {
			return fmt.Errorf("%s: %w", path, capture.WithoutPath(err))
		}
	}
	answers := bufio.NewScanner(a.stdin)
	for {
		if err := openEditor(path, a.stdin); err != nil {
			return err
		}
		a.code = 0
		if err := a.checkConfig(root); err != nil {
			a.failWith(err)
		}
		if a.code == 0 || !isTerminal(a.stdin) {
			return nil
		}
		a.stderr.printLine("enter edits it again, q leaves it as it is")
		if !answers.Scan() || strings.HasPrefix(strings.TrimSpace(answers.Text()), "q") {
			return nil
		}
	}
}

// blankConfig is a file that changes nothing.
func blankConfig(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Settings of toolscope, as they are built in: take the # away from what is to be different.\n# 'toolscope config --help' says how they are read.\n\n")
	table := ""
	for _, s := range allSettings(root) {
		if s.isSecret() {
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
