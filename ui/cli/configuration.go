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

// inConfigFolder is where something is that the user configures: below XDG's folder, or what the system
// has in place of it.
func inConfigFolder(name string) (string, error) {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		var err error
		if dir, err = os.UserConfigDir(); err != nil {
			return "", fmt.Errorf("no folder for it: %w", err)
		}
	}
	return filepath.Join(dir, "toolscope", name), nil
}

// expandHome is a path whose ~ is the user's home: shells see to that only at the beginning of a word.
func expandHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if home, err := os.UserHomeDir(); ok && err == nil && (rest == "" || os.IsPathSeparator(rest[0])) {
		return home + rest
	}
	return path
}

// configVariable names another configuration file; an empty one, as /dev/null, is none.
const configVariable = "TOOLSCOPE_CONFIG"

func configPath() (string, error) {
	if path := os.Getenv(configVariable); path != "" {
		return path, nil
	}
	return inConfigFolder("config.toml")
}

// A configuration is what the file has.
type configuration struct {
	path   string
	there  bool
	values map[string]settings.Setting
	keys   ui.UserKeys
	odd    []configProblem // what is not known, and is left out
	bad    []configProblem // what cannot be followed
}

// An configProblem is something in the file, and what is to be said of it.
type configProblem struct {
	settings.Position
	text string
}

// positionText is a place as editors and compilers write it.
func (c *configuration) positionText(p settings.Position) string {
	return fmt.Sprintf("%s:%d:%d", c.path, p.Line, p.Column)
}

// readConfiguration reads the file, if there is one.
func readConfiguration(root *cobra.Command) (c configuration, err error) {
	if c.path, err = configPath(); err != nil {
		return c, nil // no home, no configuration
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

// loadSettings takes what a file holds.
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
			c.bad = append(c.bad, configProblem{s.Position, s.Name() + ": that looks like a secret\nkeys are read from the environment, never from a file: take it out"})
		case here:
			c.values[s.Name()] = s
		case i >= 0 || namesSecret.MatchString(s.Key):
			c.bad = append(c.bad, configProblem{s.Position, fmt.Sprintf("%s: secrets are not read from a file\nthe environment has them: %s", s.Name(), variableFor(s, known))})
		default:
			c.odd = append(c.odd, configProblem{s.Position, unknownKey(s, known)})
		}
	}
	c.findClash(found)
}

// keysTable is the part of the file that has the keys of the screen.
const keysTable = "keys"

// setKeys takes the keys of an action.
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
		c.bad = append(c.bad, configProblem{s.Position, s.Name() + ": wanted is a key in quotes, or a list of keys"})
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

// findClash finds two actions that have one key.
func (c *configuration) findClash(found []settings.Setting) {
	text, names := c.keys.Clash()
	for _, s := range found {
		if s.Table == keysTable && text != "" && (s.Key == names[0] || s.Key == names[1]) {
			c.bad = append(c.bad, configProblem{s.Position, s.Name() + ": " + text})
			return
		}
	}
}

// namesSecret fits the names of what is to be kept secret.
var namesSecret = regexp.MustCompile(`(?i)(^|[-_])(api[-_]?keys?|tokens?|secrets?|passwords?|authorization|bearer|credentials?)$`)

// holdsSecret reports whether a value is to be kept secret by its looks.
func holdsSecret(value any) bool {
	text := fmt.Sprint(value)
	return newRedactor().Text(text) != text
}

// variableFor is the variable of the environment that a secret belongs in.
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

// unknownKey says that there is no such key, and which may have been meant: one of that name in
// another table, or one that is written alike.
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
