package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture/record"
)

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
