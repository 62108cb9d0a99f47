package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/providers/host"
	"toolscope/themes"
	"toolscope/ui"
	"toolscope/ui/settings"
)

// inConfigFolder returns the path of name in toolscope's configuration folder: below XDG_CONFIG_HOME, or
// below the system's folder for configuration.
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

// expandHome replaces ~ at the start of a path by the user's home. Shells do so only at the start of a word.
func expandHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if home, err := os.UserHomeDir(); ok && err == nil && (rest == "" || os.IsPathSeparator(rest[0])) {
		return home + rest
	}
	return path
}

// configVariable is the variable with the path of another configuration file. /dev/null means no settings.
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
	values map[string]settings.Setting
	keys   ui.UserKeys
	odd    []configProblem // unknown settings, which are ignored
	bad    []configProblem // errors
}

// configProblem is a problem with its position in the file.
type configProblem struct {
	settings.Position
	text string
}

// positionText formats a position as compilers do: path:line:column.
func (c *configuration) positionText(p settings.Position) string {
	return fmt.Sprintf("%s:%d:%d", c.path, p.Line, p.Column)
}

// readConfiguration reads the file, if there is one.
func readConfiguration(root *cobra.Command) (c configuration, err error) {
	if c.path, err = configPath(); err != nil {
		return c, nil // without a home folder there is no configuration
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

// loadSettings parses a file. It sorts the settings of the file into values, keys and problems.
func (c *configuration) loadSettings(known []configSetting, data []byte) {
	found, err := settings.Read(data)
	if wrong := (*settings.SyntaxError)(nil); errors.As(err, &wrong) {
		c.bad = append(c.bad, configProblem{wrong.Position, wrong.What})
	}
	c.values, c.keys = map[string]settings.Setting{}, ui.UserKeys{}
	for _, s := range found {
		if s.Table == keysTable {
			c.setKeys(s)
			continue
		}
		i := slices.IndexFunc(known, func(k configSetting) bool { return k.configKey() == s.Name() })
		switch here := i >= 0 && !known[i].isSecret(); {
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
	c.findClash(found)
}

// keysTable is the table of the file that sets the keys of the screen.
const keysTable = "keys"

// setKeys sets the keys of an action.
func (c *configuration) setKeys(s settings.Setting) {
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

// findClash adds an error if two actions have the same key.
func (c *configuration) findClash(found []settings.Setting) {
	text, names := c.keys.Clash()
	for _, s := range found {
		if s.Table == keysTable && text != "" && (s.Key == names[0] || s.Key == names[1]) {
			c.bad = append(c.bad, configProblem{s.Position, s.Name() + ": " + text})
			return
		}
	}
}

// namesSecret matches names of settings that hold a secret.
var namesSecret = regexp.MustCompile(`(?i)(^|[-_])(api[-_]?keys?|tokens?|secrets?|passwords?|authorization|bearer|credentials?)$`)

// holdsSecret reports whether a value looks like a secret.
func holdsSecret(value any) bool {
	text := fmt.Sprint(value)
	return newRedactor().Text(text) != text
}

// variableFor returns the environment variable for a secret.
func variableFor(s settings.Setting, known []configSetting) string {
	for _, k := range known {
		if k.isSecret() && k.configName() == s.Key {
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
	return host.All[0].Keys[0].Variable + " or similar, see 'toolscope help providers'"
}

// unknownKey returns the text for an unknown key. It suggests keys with the same name in other tables, or
// else keys with a similar name.
func unknownKey(s settings.Setting, known []configSetting) string {
	var names, near []string
	for _, k := range known {
		if k.isSecret() {
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
		return s.Name() + ": no such setting; 'toolscope config show' lists them"
	}
	return fmt.Sprintf("%s: no such setting: did you mean %s?", s.Name(), strings.Join(near, ", "))
}
