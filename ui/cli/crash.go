package cli

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"toolscope/ui"
	"toolscope/ui/display"
)

// mostOfPanic is how much of what a panic says is told: what it is about may be what was received.
const mostOfPanic = 300

// reportCrash keeps the stack out of the terminal and in a file, with what else helps to find the
// bug. Of what was received, typed or configured nothing is in it.
func reportCrash(c *ui.Crash) error {
	c.What = display.Clean(newRedactor().Text(c.What)).String()
	if len(c.What) > mostOfPanic {
		c.What = strings.ToValidUTF8(c.What[:mostOfPanic], "") + "…"
	}
	f, err := os.CreateTemp("", "toolscope-crash-*.txt")
	if err != nil {
		return c
	}
	defer f.Close()
	fmt.Fprintf(f, "%s\n\ntoolscope %s on %s/%s, TERM=%s\n\nwhat was done last:\n", c.What, version(), runtime.GOOS, runtime.GOARCH, os.Getenv("TERM"))
	for _, did := range c.Did {
		fmt.Fprintf(f, "  %s\n", display.Clean(did))
	}
	fmt.Fprintf(f, "\n%s", c.Stack)
	return fmt.Errorf("%w\na report is in %s, without anything of what you looked at: please put it into a bug report", c, f.Name())
}
