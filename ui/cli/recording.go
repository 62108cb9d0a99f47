package cli

import (
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

// exitGaps is the exit code of a run whose recording lacks something.
const exitGaps = 3

// closeTime is how long what is recorded may take to be written when everything else is over.
const closeTime = 10 * time.Second

// A captureWriter is a capture that is being written.
type captureWriter struct {
	*record.Recorder
	name, path string
}

// liveFlags are those of every command that looks at the network.
type liveFlags struct {
	record, format string
	keepSecrets    bool
	kept           *keptFlags    // of a command that records without being asked to; may be nil
	publish        *publishFlags // of one that sends what it sees; may be nil
	traces         *traceFlags   // of one that tells a collector; may be nil
}

func (a *app) liveFlags(cmd *cobra.Command, f *liveFlags) {
	to := cmd.Flags()
	to.StringVar(&f.record, "record", "", "record into this new `FILE`.tsc, or into a new one in this directory")
	asPaths(to, "record")
	to.BoolVar(&f.keepSecrets, "keep-secrets", false, "show and record keys and other secrets as they are")
	addFormatFlag(to, &f.format, "", "print, screen or not: text, or jsonl", "text", "jsonl")
	a.pricesFlag(cmd)
	a.flags.add(to)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		// What was to be recorded, into a variable that is not set perhaps, would be lost.
		if to.Changed("record") && f.record == "" {
			return usageErrorf("--record: the name is empty\nwanted is the name of a new file, or of a directory for new files")
		}
		return nil
	}
}

// outputOptions is how a live command shows calls, as the flags say: the prices, and what prints them
// where there is no screen.
func (a *app) outputOptions(f *liveFlags) (prices *price.Table, p printer, screen bool, err error) {
	if prices, err = a.loadPrices(); err != nil {
		return nil, nil, false, err
	}
	return prices, a.printerOf(f.format, prices), f.format == "" && a.onScreen(), nil
}

// startCapture begins the recording that --record asks for: in a directory a new file, otherwise the file
// itself, which must be new.
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
		return nil, fmt.Errorf("--record: %w\nnothing is written over: name a new file, or a directory, as in --record captures/", err)
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

// isFolder reports whether a path is that of a directory. One that is not there yet is, when it has
// a slash at its end or no extension.
func isFolder(path string) bool {
	if info, err := os.Stat(path); err == nil {
		return info.IsDir()
	}
	return strings.HasSuffix(path, string(filepath.Separator)) || filepath.Ext(path) == ""
}

// createIn makes a file that is named by date and time, and what it is of; where several begin
// within a second, they are numbered.
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

// pathsOf are what is opened to see all of a recording: what its client asked MCP servers, and when its
// shell commands ran, stands beside it.
func pathsOf(path string) []string {
	if beside := record.CompanionDir(path); len(record.List(beside)) > 0 {
		return []string{path, beside}
	}
	return []string{path}
}
