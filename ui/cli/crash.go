package cli

import (
	"fmt"
	"os"

	"toolscope/ui"
)

// reportCrash keeps the stack out of the terminal and in a file.
func reportCrash(c *ui.Crash) error {
	f, err := os.CreateTemp("", "toolscope-crash-*.txt")
	if err != nil {
		return c
	}
	defer f.Close()
	fmt.Fprintf(f, "%s\n\n%s", c.What, c.Stack)
	return fmt.Errorf("%w\nthe stack is in %s: please report it", c, f.Name())
}
