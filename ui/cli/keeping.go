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

// keptFlags are those of a command that records without being asked to, into a folder of its own.
type keptFlags struct {
	none, verbose bool
	days          int
	size          string
}

func (a *app) keptFlags(cmd *cobra.Command, f *liveFlags) {
	k := new(keptFlags)
	f.kept = k
	to := cmd.Flags()
	to.Lookup("record").Usage = "record into this new `FILE`.tsc, or into a new one in this directory, in place of toolscope's own folder"
	to.BoolVar(&k.none, "no-record", false, "record nothing")
	to.IntVar(&k.days, "kept-days", 30, "delete recordings that are older from toolscope's own folder; 0 for none")
	to.StringVar(&k.size, "kept-size", "2GB", "delete the oldest ones there beyond this `SIZE`")
	to.BoolVarP(&k.verbose, "verbose", "v", false, "say what is deleted there")
	addFlagCheck(to, "kept-size", isSize("--kept-size"))
	markSettings(to, "", "no-record", "kept-days", "kept-size")
	cmd.MarkFlagsMutuallyExclusive("record", "no-record")
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if k.days < 0 {
			return usageErrorf("--kept-days %d: wanted is a number of days, or 0 for any", k.days)
		}
		return before(cmd, args)
	}
}

// startKeptCapture begins a recording that nobody asked for. That it cannot be made is said, and is no reason
// not to go on. What is there already is held to the limits first.
func (a *app) startKeptCapture(f *liveFlags, began time.Time, by string) *captureWriter {
	if f.kept.none {
		return nil
	}
	if f.keepSecrets {
		a.printNote("nothing is recorded, because of --keep-secrets: --record PLACE does so all the same")
		return nil
	}
	dir, err := captureFolder()
	var r *captureWriter
	if err == nil {
		r, err = a.startCapture(dir+string(filepath.Separator), began, by)
	}
	if err != nil {
		a.printNote("nothing is recorded: %s", err)
		return nil
	}
	a.pruneCaptures(dir, f.kept)
	return r
}

// pruneCaptures deletes what is beyond the limits.
func (a *app) pruneCaptures(dir string, k *keptFlags) {
	bytes, _ := sizeOf("--kept-size", k.size)
	for _, gone := range record.Prune(dir, record.Limits{Age: time.Duration(k.days) * 24 * time.Hour, Bytes: bytes}, time.Now()) {
		if k.verbose {
			a.printNote("deleted %s, %s of %s", gone.Path, sizeText(gone.Bytes), gone.Written.Format(time.DateOnly))
		}
	}
}

// captureFolder is the folder that is recorded into where nobody says where.
func captureFolder() (string, error) { return inStateFolder("recordings") }

// inStateFolder is where something of toolscope's own is kept: below XDG's folder for state, or what the
// system has in place of it.
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
		return "", fmt.Errorf("no folder for it: %w", err)
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", below), nil
	}
	return filepath.Join(home, ".local", "state", below), nil
}

// A recentCapture is a recording in that folder.
type recentCapture struct {
	record.StoredCapture
	Open bool // somebody records to it
}

// recentCaptures are the recordings there, the newest first.
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
