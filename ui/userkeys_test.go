package ui

import (
	"errors"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/ui/screen"
)

// userKeys returns the keys of a user who changes actions. Each argument is an action and its keys.
func userKeys(t *testing.T, of ...[]string) UserKeys {
	t.Helper()
	u := UserKeys{}
	for _, a := range of {
		if err := u.Set(a[0], a[1:]); err != nil {
			t.Fatal(a, err)
		}
	}
	if text, _ := u.Clash(); text != "" {
		t.Fatal(text)
	}
	return u
}

// TestUserKeys checks that a user's key has the action of the built-in key, which then has none. The help,
// the hints and the palette name the user's key. No mode has a key twice.
func TestUserKeys(t *testing.T) {
	u := userKeys(t, []string{"zoom", "Z"}, []string{"raw", "z"}, []string{"replay", "ctrl+r", "ctrl+p"}, []string{"search", "f5"},
		[]string{"up", "up", "i"}, []string{"step", "e", ";"}, []string{"edit", "E"}, []string{"scope", "S"}, []string{"help", "f1"})
	s := newScreen(t, 220, 40, func(o *Options) { o.Keys = u }).feed(body("agent.sse")(t)...)
	noTwice(t, "browsing", s.keysOf(s.modeStack.activeMode().Mode))
	if s.press("Z"); !s.zoom {
		t.Error("Z does not zoom")
	}
	if s.press("Zz"); s.zoom || !s.context.Raw {
		t.Error("z is not raw")
	}
	s.press("z1").shows("f1 keys", "e ; step").hides("? keys", ", . step").press("2").shows("f5 find").hides("/ find")
	s.press("p").hides("Sent back?")
	s.send(tea.KeyMsg{Type: tea.KeyCtrlR})
	s.shows("Sent back?", "S scope").hides(" s scope")
	noTwice(t, "replay", s.keysOf(s.modeStack.activeMode().Mode))
	s.press("<esc>:zoom the").shows("zoom the pane", " Z")
	s.press("<enter>")
	if !s.zoom {
		t.Error("the palette does not zoom")
	}
	s.press("Z?").hides("Keys here")
	s.send(tea.KeyMsg{Type: tea.KeyF1})
	s.shows("Keys here").press("/zoom the").shows("Z  ")
}

// TestActions checks that each action has its own name and keys, and that each line of the key table is an
// action.
func TestActions(t *testing.T) {
	var names, does []string
	for _, a := range Actions() {
		if slices.Contains(names, a.Name) || len(a.Keys) == 0 {
			t.Errorf("%s %v", a.Name, a.Keys)
		}
		names, does = append(names, a.Name), append(does, a.Does)
	}
	for _, k := range Keys(nil) {
		if k.Group != "More" && k.Group != "Words" && !slices.Contains(does, k.Does) {
			t.Errorf("%q is no action", k.Does)
		}
	}
	if !slices.Contains(names, "next-finding") {
		t.Error(names)
	}
}

// TestWrongUserKeys checks that invalid keys are reported, with advice.
func TestWrongUserKeys(t *testing.T) {
	for _, c := range []struct{ action, keys, want string }{
		{"zom", "Z", "did you mean zoom?"},
		{"qqqqqqq", "Z", "config show"},
		{"zoom", "Z Y", "as many keys"},
		{"step", "Z", `[","`},
		{"zoom", "zz", "unknown key"},
		{"zoom", "ctrl+c", "unknown key"},
		{"zoom", "f21", "unknown key"},
		{"zoom", "\x1b", "unknown key"},
		{"interrupted", "Q", "always quits"},
	} {
		err := UserKeys{}.Set(c.action, strings.Fields(c.keys))
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrNoAction) != (strings.Contains(err.Error(), "unknown action")) {
			t.Errorf("%s = %s: %v", c.action, c.keys, err)
		}
	}
	u := UserKeys{}
	if err := u.Set("zoom", []string{"r"}); err != nil {
		t.Fatal(err)
	}
	if text, names := u.Clash(); names != [2]string{"zoom", "raw"} || !strings.Contains(text, `zoom and raw have the same key, "r"`) {
		t.Error(text, names)
	}
	if err := u.Set("raw", []string{"space"}); err != nil {
		t.Fatal(err)
	}
	if text, names := u.Clash(); names != [2]string{"raw", "pause"} {
		t.Error(text, names)
	}
}

// noTwice fails the test if a key occurs twice.
func noTwice(t *testing.T, where string, all []screen.Binding) {
	t.Helper()
	seen := map[string]bool{}
	for _, b := range all {
		for _, k := range b.Keys {
			if b.Do != nil && seen[k] {
				t.Errorf("%s: %q appears twice", where, k)
			}
			seen[k] = seen[k] || b.Do != nil
		}
	}
}
