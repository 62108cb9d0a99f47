package cli

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"toolscope/ui"
	"toolscope/ui/display"
)

// maxPanicText is how much of what a panic says is told: what it is about may be what was received.
const maxPanicText = 300

// reportCrash keeps the stack out of the terminal and in a file, with what else helps to find the
// bug. Of what was received, typed or configured nothing is in it.
func reportCrash(c *ui.Crash) error {
	c.What = display.Clean(newRedactor().Text(c.What)).String()
	if len(c.What) > maxPanicText {
		c.What = strings.ToValidUTF8(c.What[:maxPanicText], "") + "…"
	}
	f, err := newCrashReport()
	if err != nil {
		return c
	}
	defer f.Close()
	fmt.Fprintf(f, "%s\n\ntoolscope %s on %s/%s, TERM=%s\n\nwhat was done last:\n", c.What, versionText(), runtime.GOOS, runtime.GOARCH, os.Getenv("TERM"))
	for _, did := range c.RecentKeys {
		fmt.Fprintf(f, "  %s\n", display.Clean(did))
	}
	fmt.Fprintf(f, "\n%s\nPlease send it: %s\n", c.Stack, bugURL())
	return fmt.Errorf("%w\na report is in %s, without anything of what you looked at\nplease send it: %s", c, f.Name(), bugURL())
}

// newCrashReport is a new file for a report, for its owner alone: in toolscope's own folder, or where that
// cannot be, among temporary files.
func newCrashReport() (*os.File, error) {
	const name = "toolscope-crash-*.txt"
	if dir, err := inStateFolder("crashes"); err == nil && os.MkdirAll(dir, 0o700) == nil {
		if f, err := os.CreateTemp(dir, name); err == nil {
			return f, nil
		}
	}
	return os.CreateTemp("", name)
}
