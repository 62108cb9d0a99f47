package ui

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/bubbles/key"

	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/screen"
)

// UserKeys maps built-in keys to the user's keys.
type UserKeys map[string]string

// Action is a line of the key table. The user can change its keys.
type Action struct {
	Name, Does string
	Keys       []string
}

// Actions returns all lines of the key table, named after its fields.
func Actions() (all []Action) {
	table := reflect.ValueOf(newKeyMap())
	for i := range table.NumField() {
		b := table.Field(i).Interface().(key.Binding)
		all = append(all, Action{actionName(table.Type().Field(i).Name), b.Help().Desc, b.Keys()})
	}
	return all
}

// actionName returns the name of a field in the configuration: NextFinding is next-finding.
func actionName(field string) string {
	var name strings.Builder
	for i, r := range field {
		if i > 0 && unicode.IsUpper(r) {
			name.WriteByte('-')
		}
		name.WriteRune(unicode.ToLower(r))
	}
	return name.String()
}

// ErrNoAction says that an action is unknown.
var ErrNoAction = errors.New("unknown action")

// Set replaces the keys of an action by the same number of others. It does not check for conflicts. Call
// Clash after all actions are set.
func (u UserKeys) Set(action string, keys []string) error {
	all := Actions()
	at := slices.IndexFunc(all, func(a Action) bool { return a.Name == action })
	if at < 0 {
		names := make([]string, len(all))
		for i := range all {
			names[i] = all[i].Name
		}
		if near := themes.Near(action, names); len(near) > 0 {
			return fmt.Errorf("%w: did you mean %s?", ErrNoAction, strings.Join(near, ", "))
		}
		return fmt.Errorf("%w; 'toolscope config show' lists them", ErrNoAction)
	}
	of := all[at]
	switch {
	case slices.Contains(of.Keys, "ctrl+c"):
		return errors.New("^C always quits")
	case len(keys) != len(of.Keys):
		return fmt.Errorf("give a list of as many keys as the default, %q", of.Keys)
	}
	for i, k := range keys {
		if k == "space" {
			k = " "
		}
		if !isKey(k) {
			return fmt.Errorf("unknown key %q: use a key such as %s", k, `"z", "ctrl+t", "alt+x", "f5", "space", "enter" or "pgup"`)
		}
		if k != of.Keys[i] {
			u[of.Keys[i]] = k
		}
	}
	return nil
}

// Clash returns two actions with the same key, or "".
func (u UserKeys) Clash() (text string, actions [2]string) {
	whose := map[string]string{}
	for _, a := range Actions() {
		for _, k := range a.Keys {
			k = u.replacementFor(k)
			if other, taken := whose[k]; taken {
				return fmt.Sprintf("%s and %s have the same key, %q", other, a.Name, k), [2]string{other, a.Name}
			}
			whose[k] = a.Name
		}
	}
	return "", actions
}

// replacementFor returns the user's key for a built-in one.
func (u UserKeys) replacementFor(built string) string {
	if k, ok := u[built]; ok {
		return k
	}
	return built
}

// keyLabel returns the label of an action's keys; built-in keys have their own label.
func (u UserKeys) keyLabel(b key.Binding) string {
	keys, mine := slices.Clone(b.Keys()), false
	for i, k := range keys {
		_, moved := u[k]
		mine = mine || moved
		if keys[i] = u.replacementFor(k); keys[i] == " " {
			keys[i] = "space"
		}
	}
	if !mine {
		return b.Help().Key
	}
	return strings.Join(keys, " ")
}

// named has the names of special keys.
var named = strings.Fields("up down left right enter esc tab shift+tab pgup pgdown home end backspace delete insert")

// isKey reports whether name is a key.
func isKey(name string) bool {
	if rest, ok := strings.CutPrefix(name, "alt+"); ok {
		name = rest
	}
	if letter, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return len(letter) == 1 && 'a' <= letter[0] && letter[0] <= 'z' && letter != "c" && letter != "i" && letter != "m"
	}
	var n int
	if _, err := fmt.Sscanf(name, "f%d", &n); err == nil && name == fmt.Sprintf("f%d", n) {
		return 1 <= n && n <= 20
	}
	r, size := utf8.DecodeRuneInString(name)
	return slices.Contains(named, name) || size == len(name) && unicode.IsPrint(r) && r != utf8.RuneError
}

// keysOf returns the keys of a mode, with the user's keys. While an input is active, and for letters of a
// menu, they are the built-in ones.
func (m *Model) keysOf(mode modes.Mode) []screen.Binding {
	all := mode.Keys()
	if activeInput(mode) != nil {
		return all
	}
	menu := isMenu(mode)
	if help := (screen.Binding{Keys: []string{"?"}, Hint: display.Lit("? help")}); !menu && !slices.ContainsFunc(all, help.SharesKey) {
		all = append([]screen.Binding{help}, all...)
	}
	return m.asUser(all, menu)
}

// isMenu reports whether a mode is a menu: most of the screen stays visible, and only its keys are shown.
func isMenu(mode modes.Mode) bool {
	switch mode.(type) {
	case *quitDialog, modes.OverlayMode:
		return true
	}
	return false
}

// userGlobalKeys returns the keys that work in every mode, with the user's keys.
func (m *Model) userGlobalKeys() []screen.Binding { return m.asUser(m.globalKeys(), false) }

// asUser returns bindings with the user's keys. In a menu it replaces only named keys. If a replacement
// conflicts with another binding's own key, the other binding keeps its key, and the replaced one keeps
// its built-in key.
func (m *Model) asUser(all []screen.Binding, menu bool) []screen.Binding {
	if len(m.opt.Keys) == 0 {
		return all
	}
	stays := map[string]bool{}
	for _, b := range all {
		for _, k := range b.Keys {
			if _, moved := m.opt.Keys[k]; !moved {
				stays[k] = true
			}
		}
	}
	to := func(k string) string {
		user := m.opt.Keys.replacementFor(k)
		if stays[user] || menu && utf8.RuneCountInString(k) == 1 {
			return k
		}
		return user
	}
	out := slices.Clone(all)
	for i := range out {
		out[i] = out[i].Remap(to, m.draw)
	}
	return out
}
