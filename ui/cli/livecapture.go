package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture/record"
	"toolscope/providers/price"
)

// captureWriter is a capture that is being written.
type captureWriter struct {
	*record.Recorder
	name, path string
}

// presentPath returns the path of the current file. It differs from path if the first file was damaged.
func (c *captureWriter) presentPath() string { return cmp.Or(c.State().Path, c.path) }

// liveFlags are the flags shared by all commands that read the network.
type liveFlags struct {
	record, format string
	keepSecrets    bool
	kept           *keptFlags    // for commands that record by default; else nil
	publish        *publishFlags // for commands that can publish; else nil
	traces         *traceFlags   // for commands that can send spans; else nil
}

func (lv *liveSession) liveFlags(cmd *cobra.Command, f *liveFlags) {
	to := cmd.Flags()
	to.StringVar(&f.record, "record", "", "")
	asPaths(to, "record")
	to.BoolVar(&f.keepSecrets, "keep-secrets", false, "")
	addFormatFlag(to, &f.format, "", "text", "jsonl")
	lv.app.pricesFlag(cmd)
	lv.app.flags.add(to)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		// An empty name may come from an unset variable. Without this error, the traffic would not be recorded.
		if to.Changed("record") && f.record == "" {
			return usageErrorf("--record: the name is empty\nuse the name of a new file, or of a directory for new files")
		}
		return nil
	}
}

// outputOptions returns the prices and the printer of a live command, and whether it has a screen.
func (lv *liveSession) outputOptions(f *liveFlags) (prices *price.Table, p printer, screen bool, err error) {
	if prices, err = lv.app.loadPrices(); err != nil {
		return nil, nil, false, err
	}
	return prices, lv.app.printerOf(lv.app.stdout.withBuffer(), f.format, prices), f.format == "" && lv.app.onScreen(), nil
}

// startCapture starts the capture that --record names, or returns nil if the flag is not set. If the name is a
// directory, it creates a new file in that directory. Otherwise it creates a file with this name, which must not
// exist yet.
func (lv *liveSession) startCapture(to string, began time.Time, by string) (*captureWriter, error) {
	if to == "" {
		return nil, nil
	}
	var r *record.Recorder
	var err error
	name := filepath.Base(to)
	if isFolder(to) {
		var warning string
		if r, name, warning, err = createIn(to, began, "", by); warning != "" {
			lv.app.printNote("--record: %s", warning)
		}
	} else {
		r, err = record.Create(to, began, by)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("--record: %w\nuse a new file, or a directory, e.g. --record captures/; toolscope never overwrites a file", err)
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

// isFolder reports whether a path is a directory. A path that does not exist counts as a directory if it ends
// with a slash or has no extension.
func isFolder(path string) bool {
	if info, err := os.Stat(path); err == nil {
		return info.IsDir()
	}
	return strings.HasSuffix(path, string(filepath.Separator)) || filepath.Ext(path) == ""
}

// createIn creates a file whose name is the date and time with a suffix. If there are several files from the same
// second, the later ones also have a number.
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

// pathsOf returns the paths of a complete capture: the file, and the folder next to it if that folder contains
// captures. These captures contain the traffic of MCP servers and the times of shell commands.
func pathsOf(path string) []string {
	if beside := record.CompanionDir(path); len(record.List(beside)) > 0 {
		return []string{path, beside}
	}
	return []string{path}
}

// keptFlags are the flags of commands that record to toolscope's own folder by default.
type keptFlags struct {
	none, verbose bool
	days          int
	size          string
}

func (lv *liveSession) keptFlags(cmd *cobra.Command, f *liveFlags) {
	k := new(keptFlags)
	f.kept = k
	to := cmd.Flags()
	to.BoolVar(&k.none, "no-record", false, "")
	to.IntVar(&k.days, "prune-days", 30, "")
	to.StringVar(&k.size, "prune-size", "2GB", "")
	to.BoolVarP(&k.verbose, "verbose", "v", false, "")
	cmd.MarkFlagsMutuallyExclusive("record", "no-record")
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if k.days < 0 {
			return usageErrorf("--prune-days %d: below zero\nuse a number of days, or 0 to keep all", k.days)
		}
		return before(cmd, args)
	}
}

// startKeptCapture starts a capture in toolscope's own folder, and prunes the folder. If it fails, it reports the
// error, and the command continues without a capture. It returns nil if nothing is recorded.
func (lv *liveSession) startKeptCapture(f *liveFlags, began time.Time, by string) *captureWriter {
	if f.kept.none {
		return nil
	}
	if f.keepSecrets {
		lv.app.printNote("not recording, because --keep-secrets is set; to record anyway, use --record FILE")
		return nil
	}
	dir, err := captureFolder()
	var r *captureWriter
	if err == nil {
		r, err = lv.startCapture(dir+string(filepath.Separator), began, by)
	}
	if err != nil {
		lv.app.printNote("not recording: %s", err)
		return nil
	}
	k := f.kept
	maxBytes, _ := sizeOf("--prune-size", k.size)
	for _, gone := range record.Prune(dir, record.Limits{Age: time.Duration(k.days) * 24 * time.Hour, Bytes: maxBytes}, time.Now()) {
		if rows, err := inStateFolder("stats"); err == nil {
			removeOwn((&statsIndex{rows: rows}).rowsPath(gone.Path))
		}
		if k.verbose {
			lv.app.printNote("deleted %s: %s, written %s", gone.Path, sizeText(gone.Bytes), gone.Written.Format(time.DateOnly))
		}
	}
	return r
}

// captureFolder returns the folder for captures that are recorded by default.
func captureFolder() (string, error) { return inStateFolder("recordings") }

// inStateFolder returns a path in toolscope's own state folder, which is in XDG_STATE_HOME or the system's
// equivalent.
func inStateFolder(name string) (string, error) {
	below := filepath.Join("toolscope", name)
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, below), nil
	}
	if runtime.GOOS == "windows" {
		dir, err := os.UserCacheDir() // %LocalAppData%
		return filepath.Join(dir, below), err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no home folder: %w", err)
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", below), nil
	}
	return filepath.Join(home, ".local", "state", below), nil
}

// recentCapture is a capture in captureFolder.
type recentCapture struct {
	record.StoredCapture
	Open bool // the capture is still being written
}

// recentCaptures lists the captures in captureFolder, newest first.
func recentCaptures() (list []recentCapture) {
	dir, err := captureFolder()
	if err != nil {
		return nil
	}
	for _, k := range record.List(dir) {
		list = append(list, recentCapture{k, record.IsOpen(k.Path)})
	}
	return list
}
