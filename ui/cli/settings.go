package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolscope/themes"
)

// settingTables lists the flags that can also be set in the configuration file or by an environment variable. A
// flag overrides its variable, the variable overrides the file, and the file overrides the default. Secrets are
// allowed in the environment, but not in the file.
var settingTables = []struct{ table, flags, secrets string }{
	// Settings that all commands with the flag share.
	{"", `theme color no-color ascii plain reduced-motion log large memory prices no-record prune-days prune-size break-timeout
		host spool spool-limit linger no-index creds nkey hub-ca`, "hub-token otlp-key"},
	// Settings for one command.
	{"check", "fail-on format baseline", ""},
	{"connect", "model tools system max-tokens timeout format", ""},
	{"demo", "speed", ""},
	{"diff", "format", ""},
	{"hub", "listen store max-age max-bytes sync auth tls-cert tls-key otlp otlp-content", ""},
	{"open", "speed", ""},
	{"print", "format otlp otlp-content", ""},
	{"proxy", "listen to headless print-env origin format publish agent otlp otlp-content", "token"},
	{"replay", "to policy format", ""},
	{"run", "to no-mcp otlp otlp-content", ""},
	{"serve", "listen speed", ""},
}

// oldSettingNames has the setting names, in the file and the environment, that differ from the flag's name.
// These names do not change when a flag is renamed.
var oldSettingNames = map[string]string{
	"memory": "keep", "prune-days": "kept-days", "prune-size": "kept-size", "break-timeout": "break-time",
	"hub-ca": "tls-ca", "max-age": "keep", "max-bytes": "keep-bytes",
}

// configSetting is a flag that is also a setting.
type configSetting struct {
	flag     *pflag.Flag
	table    string // table for one command; "" if all commands with the flag share the setting
	isSecret bool
}

// configName returns the setting's key within its table in the configuration file.
func (s configSetting) configName() string { return cmp.Or(oldSettingNames[s.flag.Name], s.flag.Name) }

// configKey returns the setting's table and key in the configuration file.
func (s configSetting) configKey() string { return themes.SettingName(s.table, s.configName()) }

// envVariable returns the name of the setting's environment variable.
func (s configSetting) envVariable() string {
	return "TOOLSCOPE_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(s.configKey()))
}

// settingsOf returns the settings of a command.
func settingsOf(cmd *cobra.Command) (all []configSetting) {
	name := cmd.Name()
	if !cmd.HasParent() {
		name = "open"
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		for _, of := range settingTables {
			if of.table != "" && of.table != name {
				continue
			}
			secret := slices.Contains(strings.Fields(of.secrets), f.Name)
			if secret || slices.Contains(strings.Fields(of.flags), f.Name) {
				all = append(all, configSetting{f, of.table, secret})
			}
		}
	})
	return all
}

// allSettings returns the settings of all commands. Each setting occurs only once. Settings without a table come
// first.
func allSettings(root *cobra.Command) (all []configSetting) {
	for _, cmd := range append([]*cobra.Command{root}, root.Commands()...) {
		for _, s := range settingsOf(cmd) {
			if !slices.ContainsFunc(all, func(o configSetting) bool { return o.configKey() == s.configKey() }) {
				all = append(all, s)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b configSetting) int { return strings.Compare(a.table, b.table) })
	return all
}

// addFlagCheck makes a flag reject values for which check returns an error. This includes values from the
// environment and the file.
func addFlagCheck(f *pflag.FlagSet, name string, check func(string) error) {
	flag := f.Lookup(name)
	flag.Value = checkedValue{flag.Value, check}
}

type checkedValue struct {
	pflag.Value
	check func(string) error
}

func (v checkedValue) Set(text string) error {
	if err := v.check(text); err != nil {
		return err
	}
	return v.Value.Set(text)
}

// asPaths makes flags expand ~ at the start of their values. This includes values from the environment and the
// file.
func asPaths(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		flag := f.Lookup(name)
		flag.Value = pathValue{flag.Value}
	}
}

type pathValue struct{ pflag.Value }

func (v pathValue) Set(path string) error { return v.Value.Set(expandHome(path)) }

// applyConfig sets the settings that the command line does not set. Values come from the environment, or else from
// the file.
func (se *settingSources) applyConfig(cmd *cobra.Command, _ []string) error {
	se.printOldNames(cmd)
	mine := settingsOf(cmd)
	if len(mine) == 0 {
		return nil
	}
	c, err := readConfiguration(cmd.Root())
	if err != nil {
		return err
	}
	for _, o := range c.odd {
		se.app.printNote("%s: %s", c.positionText(o.Position), o.text)
	}
	if len(c.bad) > 0 {
		return usageErrorf("%s: %s", c.positionText(c.bad[0].Position), c.bad[0].text)
	}
	for _, s := range mine {
		if s.flag.Changed || crowdedOut(cmd, s) {
			continue
		}
		if err := se.applySetting(s, &c); err != nil {
			return err
		}
	}
	se.keys = c.keys
	if err := se.app.openLog(se.app.flags.log); err != nil {
		return err
	}
	if se.app.flags.ascii && se.app.narrow != nil {
		se.app.narrow()
	}
	return nil
}

// valueOrigin is the origin of a setting's value: an environment variable or a place in the file. If both are empty,
// the value is the default. flag is the name of the setting's flag.
type valueOrigin struct{ variable, place, flag string }

func (o valueOrigin) String() string { return cmp.Or(o.variable, o.place, "default") }

// describeValue formats a value with its origin.
func (o valueOrigin) describeValue(key, value string) string {
	switch {
	case o.variable != "":
		return o.variable + "=" + value
	case o.place != "":
		return o.place + ": " + key + " " + value
	}
	return "--" + key + " " + value
}

// applySetting sets a setting from the environment, or else from the file. If neither has a value, it does nothing.
func (se *settingSources) applySetting(s configSetting, c *configuration) error {
	texts, from, ok := []string(nil), valueOrigin{variable: s.envVariable(), flag: s.flag.Name}, true
	list, isList := s.flag.Value.(pflag.SliceValue)
	v, inFile := c.values[s.configKey()]
	switch text := os.Getenv(from.variable); {
	case text != "" && isList:
		texts = strings.Fields(text)
	case text != "":
		texts = []string{text}
	case inFile:
		from = valueOrigin{place: c.positionText(v.Position), flag: s.flag.Name}
		texts, ok = textsOf(v.Value, s.flag.Value)
	default:
		return nil
	}
	if se.origin == nil {
		se.origin = map[string]valueOrigin{}
	}
	se.origin[s.configKey()] = from
	switch {
	case !ok:
		return usageErrorf("%s: %s: use %s", from, s.configKey(), wantedInFile(s.flag.Value))
	case isList:
		return list.Replace(texts)
	}
	// Add the value's origin and the valid values to the error.
	err := s.flag.Value.Set(texts[0])
	var usage *usageError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &usage):
		return usageErrorf("%s: %s", from, strings.Replace(strings.TrimPrefix(usage.Error(), "--"), s.flag.Name+" ", s.configName()+" ", 1))
	}
	if wanted := wantedOf[s.flag.Value.Type()]; wanted != "" {
		err = fmt.Errorf("use %s", wanted)
	}
	return usageErrorf("%s: %s: %w", from, s.configKey(), err)
}

// wantedInFile describes the valid values of a flag in the configuration file.
func wantedInFile(flag pflag.Value) string {
	if _, is := flag.(pflag.SliceValue); is {
		return `a list of strings, e.g. ["a", "b"]`
	}
	switch flag.Type() {
	case "bool", "int", "float64":
		return wantedOf[flag.Type()]
	case "duration":
		return `a time in quotes, e.g. "30s"`
	}
	return "a string in quotes"
}

// textsOf converts a value from the file to the strings that set the flag. The result ok is false if the types of the
// value and the flag differ.
func textsOf(value any, flag pflag.Value) (texts []string, ok bool) {
	_, isList := flag.(pflag.SliceValue)
	isText := !slices.Contains([]string{"bool", "int", "float64"}, flag.Type())
	switch v := value.(type) {
	case string:
		return []string{v}, isText
	case bool:
		return []string{fmt.Sprint(v)}, flag.Type() == "bool"
	case int64:
		return []string{fmt.Sprint(v)}, flag.Type() == "int" || flag.Type() == "float64"
	case float64:
		return []string{fmt.Sprint(v)}, flag.Type() == "float64"
	case []any:
		for _, one := range v {
			text, is := one.(string)
			isList = isList && is
			texts = append(texts, text)
		}
		return texts, isList
	}
	return nil, false
}

// crowdedOut reports whether s is in a group of mutually exclusive flags, and the command line sets another flag of
// that group. If so, s is not applied.
func crowdedOut(cmd *cobra.Command, s configSetting) (out bool) {
	for name := range flagsInGroups(s.flag, exclusiveFlags) {
		out = out || cmd.Flags().Changed(name)
	}
	return out
}

// withOrigin replaces the flag at the start of a usage error with the origin of the flag's value. It does so only
// if the value does not come from the command line.
func (se *settingSources) withOrigin(err error) error {
	var usage *usageError
	if !errors.As(err, &usage) {
		return err
	}
	for key, from := range se.origin {
		flag := "--" + from.flag
		if rest, ok := strings.CutPrefix(usage.Error(), flag); ok && strings.IndexAny(rest, " :=") == 0 {
			return usageErrorf("%s: %s%s", from, key, rest)
		}
	}
	return err
}

// mergeJSON merges JSON objects into one. If several objects have the same field, the last value wins. Values that
// are objects are merged recursively.
func mergeJSON(texts ...string) (string, error) {
	all := map[string]any{}
	for _, text := range texts {
		var one map[string]any
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		d.UseNumber()
		if err := d.Decode(&one); err != nil {
			return "", fmt.Errorf("not a JSON object: %w", err)
		}
		mergeObjects(all, one)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(all); err != nil {
		return "", err
	}
	return string(bytes.TrimSpace(b.Bytes())), nil
}

// mergeObjects merges the fields of the second object into the first.
func mergeObjects(into, from map[string]any) {
	for name, value := range maps.All(from) {
		below, isObject := value.(map[string]any)
		there, wasObject := into[name].(map[string]any)
		if isObject && wasObject {
			mergeObjects(there, below)
			continue
		}
		into[name] = value
	}
}
