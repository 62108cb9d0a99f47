package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture/record"
	"toolscope/providers/price"
)

// exitGaps is the exit code of a run whose capture has gaps.
const exitGaps = 3

// closeTime limits the writing of a capture after everything else has ended.
const closeTime = 10 * time.Second

// captureWriter is a capture that is being written.
type captureWriter struct {
	*record.Recorder
	name, path string
}

// presentPath returns the path of the present file: another one if the first was damaged.
func (c *captureWriter) presentPath() string { return cmp.Or(c.State().Path, c.path) }

// liveFlags are the flags of all commands that read the network.
type liveFlags struct {
	record, format string
	keepSecrets    bool
	kept           *keptFlags    // for commands that record by default, else nil
	publish        *publishFlags // for commands that can publish, else nil
	traces         *traceFlags   // for commands that can send spans, else nil
}

func (a *app) liveFlags(cmd *cobra.Command, f *liveFlags) {
	to := cmd.Flags()
	to.StringVar(&f.record, "record", "", "")
	asPaths(to, "record")
	to.BoolVar(&f.keepSecrets, "keep-secrets", false, "")
	addFormatFlag(to, &f.format, "", "text", "jsonl")
	a.pricesFlag(cmd)
	a.flags.add(to)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		// An empty name may come from an unset variable; the traffic would be lost.
		if to.Changed("record") && f.record == "" {
			return usageErrorf("--record: the name is empty\nuse the name of a new file, or of a directory for new files")
		}
		return nil
	}
}

// outputOptions returns the output of a live command: the prices, the printer, and whether there is a
// screen.
func (a *app) outputOptions(f *liveFlags) (prices *price.Table, p printer, screen bool, err error) {
	if prices, err = a.loadPrices(); err != nil {
		return nil, nil, false, err
	}
	return prices, a.printerOf(f.format, prices), f.format == "" && a.onScreen(), nil
}

// startCapture starts the capture of --record: a new file in a directory, or the file itself, which must be
// new.
func (a *app) startCapture(to string, began time.Time, by string) (*captureWriter, error) {
	if to == "" {
		return nil, nil
	}
	var r *record.Recorder
	var err error
	name := filepath.Base(to)
	if isFolder(to) {
		var warning string
		if r, name, warning, err = createIn(to, began, "", by); warning != "" {
			a.printNote("--record: %s", warning)
		}
	} else {
		r, err = record.Create(to, began, by)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("--record: %w\nno file is overwritten: use a new file, or a directory, e.g. --record captures/", err)
	}
	if err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	path := to
	if isFolder(to) {
		path = filepath.Join(to, name)
	}
	return &captureWriter{r, name, path}, nil
}

// isFolder reports whether a path is that of a directory. A path that doesn't exist is one if it ends with a
// slash or has no extension.
func isFolder(path string) bool {
	if info, err := os.Stat(path); err == nil {
		return info.IsDir()
	}
	return strings.HasSuffix(path, string(filepath.Separator)) || filepath.Ext(path) == ""
}

// createIn creates a file that is named by date, time and of. Files of the same second are numbered.
func createIn(dir string, began time.Time, of, by string) (r *record.Recorder, name, warning string, err error) {
	stamp := began.Format("2006-01-02T15-04-05") + of
	for n := 1; ; n++ {
		name = stamp + ".tsc"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.tsc", stamp, n)
		}
		r, warning, err = record.CreateIn(dir, name, began, by)
		if !errors.Is(err, os.ErrExist) || n == 100 {
			return r, name, warning, err
		}
	}
}

// pathsOf returns the paths of a complete recording: the capture, and the folder next to it with the traffic
// of MCP servers and the times of shell commands.
func pathsOf(path string) []string {
	if beside := record.CompanionDir(path); len(record.List(beside)) > 0 {
		return []string{path, beside}
	}
	return []string{path}
}
