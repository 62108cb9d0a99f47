package cli

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"toolscope/ui"
	"toolscope/ui/display"
)

// maxPanicText is how many bytes of a panic's message are shown: the message may quote captured bytes.
const maxPanicText = 300

// reportCrash writes the stack, and other facts that help to find the bug, to a file instead of the terminal.
// The file contains no captured, typed or configured text.
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
	fmt.Fprintf(f, "%s\n\ntoolscope %s on %s/%s, TERM=%s\n\nlatest keys:\n", c.What, versionText(), runtime.GOOS, runtime.GOARCH, os.Getenv("TERM"))
	for _, did := range c.RecentKeys {
		fmt.Fprintf(f, "  %s\n", display.Clean(did))
	}
	fmt.Fprintf(f, "\n%s\nPlease send it: %s\n", c.Stack, bugURL())
	return fmt.Errorf("%w\na report is in %s, without any of the data that you looked at\nplease send it: %s", c, f.Name(), bugURL())
}

// newCrashReport creates a report file that only its owner can read: in toolscope's own folder, else in the
// folder for temporary files.
func newCrashReport() (*os.File, error) {
	const name = "toolscope-crash-*.txt"
	if dir, err := inStateFolder("crashes"); err == nil && os.MkdirAll(dir, 0o700) == nil {
		if f, err := os.CreateTemp(dir, name); err == nil {
			return f, nil
		}
	}
	return os.CreateTemp("", name)
}
