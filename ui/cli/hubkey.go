package cli

import (
	"fmt"
	"path/filepath"

	"toolscope/capture/fleet"
)

// newKey makes a key for a hub: it writes the secret to a new file and prints the public half, which the
// hub's configuration gets.
func (a *app) newKey(file string) error {
	seed, public, err := fleet.NewKey()
	if err == nil {
		_, err = saveInto(filepath.Dir(file), filepath.Base(file), append(seed, '\n'))
	}
	if err != nil {
		return fmt.Errorf("--new-key: %w", err)
	}
	a.stdout.printLine("%s", public)
	return nil
}
