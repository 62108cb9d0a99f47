package cli

import (
	"fmt"
	"os"
	"strings"

	"toolscope/capture"
	"toolscope/ui"
	"toolscope/ui/settings"
)

// savedState is the state that toolscope keeps between runs: choices that the user made on the screen. If it
// can't be read, the defaults apply; if it can't be written, the choices are lost.
type savedState struct {
	theme  string
	layout ui.Layout
}

// savedStateFile is in toolscope's own folder. It is not configuration: toolscope overwrites it.
const savedStateFile = "screen.toml"

// maxScreenCells is more columns or rows than any screen has.
const maxScreenCells = 10_000

// fieldPointers returns pointers to the fields of the file: texts and numbers by name.
func (k *savedState) fieldPointers() (texts map[string]*string, numbers map[string]*int) {
	l := &k.layout
	return map[string]*string{"theme": &k.theme, "columns": (*string)(&l.Columns), "tabs": (*string)(&l.Tabs)},
		map[string]*int{"list": &l.List, "side": &l.Side, "above": &l.Above, "low": &l.Low}
}

// readSavedState reads the state. Invalid values are ignored: no user wrote them.
func readSavedState() (k savedState) {
	path, err := inStateFolder(savedStateFile)
	if err != nil {
		return k
	}
	data, _ := os.ReadFile(path) // the file may not exist
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

// save writes the state and returns its path.
func (k *savedState) save() (path string, err error) {
	if path, err = inStateFolder(savedStateFile); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# The latest state of the screen. toolscope overwrites this file; settings belong in config.toml.\n")
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

// saveTheme saves the name of a theme and returns the path of the state.
func saveTheme(name string) (path string, err error) {
	k := readSavedState()
	k.theme = name
	return k.save()
}

// saveLayout saves the layout of the screen, if it has changed.
func saveLayout(found, left ui.Layout) {
	if found == left {
		return
	}
	k := readSavedState()
	k.layout = left
	_, _ = k.save() // a layout that can't be saved is not worth an error
}
