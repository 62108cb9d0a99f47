package cli

import (
	"fmt"
	"os"
	"strings"

	"toolscope/capture"
	"toolscope/ui"
	"toolscope/ui/settings"
)

// savedState is what toolscope itself remembers from one run to the next: what the user did on the screen,
// and never wrote down. Where it cannot be read it is as built in, and where it cannot be written
// nothing is remembered.
type savedState struct {
	theme  string
	layout ui.Layout
}

// savedStateFile is below toolscope's own folder. It is no configuration: it is written anew.
const savedStateFile = "screen.toml"

// maxScreenCells is more than any screen has.
const maxScreenCells = 10_000

// fieldPointers are what the file has: the texts and the numbers.
func (k *savedState) fieldPointers() (texts map[string]*string, numbers map[string]*int) {
	l := &k.layout
	return map[string]*string{"theme": &k.theme, "columns": (*string)(&l.Columns), "tabs": (*string)(&l.Tabs)},
		map[string]*int{"list": &l.List, "side": &l.Side, "above": &l.Above, "low": &l.Low}
}

// readSavedState reads it. What is odd in it is left out: nobody wrote it.
func readSavedState() (k savedState) {
	path, err := inStateFolder(savedStateFile)
	if err != nil {
		return k
	}
	data, _ := os.ReadFile(path) // there may be none
	found, err := settings.Read(data)
	if err != nil {
		return k
	}
	texts, numbers := k.fieldPointers()
	for _, s := range found {
		if text, is := s.Value.(string); is && texts[s.Name()] != nil {
			*texts[s.Name()] = text
		}
		if n, is := s.Value.(int64); is && numbers[s.Name()] != nil {
			*numbers[s.Name()] = int(min(max(n, 0), maxScreenCells))
		}
	}
	return k
}

// save writes it, and says where.
func (k *savedState) save() (path string, err error) {
	if path, err = inStateFolder(savedStateFile); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# How the screen was left. toolscope writes this file anew; settings belong into config.toml.\n")
	texts, numbers := k.fieldPointers()
	for _, name := range []string{"theme", "columns", "tabs"} {
		if *texts[name] != "" {
			fmt.Fprintf(&b, "%s = %s\n", name, tomlText(*texts[name]))
		}
	}
	for _, name := range []string{"list", "side", "above", "low"} {
		if *numbers[name] != 0 {
			fmt.Fprintf(&b, "%s = %d\n", name, *numbers[name])
		}
	}
	return path, capture.WithoutPath(writeOwn(path, []byte(b.String())))
}

// saveTheme keeps the name of a theme for the next time, and says where.
func saveTheme(name string) (path string, err error) {
	k := readSavedState()
	k.theme = name
	return k.save()
}

// saveLayout keeps how the screen is left, if that is another way than it was found in.
func saveLayout(found, left ui.Layout) {
	if found == left {
		return
	}
	k := readSavedState()
	k.layout = left
	_, _ = k.save() // what cannot be remembered is no reason to complain
}
