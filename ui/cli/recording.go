package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture/record"
)

// exitGaps is the exit code of a run whose recording lacks something.
const exitGaps = 3

// closeTime is how long what is recorded may take to be written when everything
// else is over.
const closeTime = 10 * time.Second

// A recording is a capture that is being written.
type recording struct {
	*record.Recorder
	name string
}

// checkRecord refuses a --record that names nothing: what was to be recorded, a
// variable that is not set perhaps, would be lost.
func checkRecord(cmd *cobra.Command) error {
	if f := cmd.Flags().Lookup("record"); f.Changed && f.Value.String() == "" {
		return usagef("--record: the name is empty\nwanted is the name of a new file, or of a directory for new files")
	}
	return nil
}

// record begins the recording that --record asks for: in a directory a new file,
// otherwise the file itself, which must be new.
func (a *app) record(to string, began time.Time, by string) (*recording, error) {
	if to == "" {
		return nil, nil
	}
	var r *record.Recorder
	var err error
	name := filepath.Base(to)
	if isFolder(to) {
		var warning string
		if r, name, warning, err = createIn(to, began, by); warning != "" {
			a.say("toolscope: --record: " + warning)
		}
	} else {
		r, err = record.Create(to, began, by)
	}
	if err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	return &recording{r, name}, nil
}

// isFolder reports whether a path is that of a directory. One that is not there
// yet is, when it has a slash at its end or no extension.
func isFolder(path string) bool {
	if info, err := os.Stat(path); err == nil {
		return info.IsDir()
	}
	return strings.HasSuffix(path, string(filepath.Separator)) || filepath.Ext(path) == ""
}

// createIn makes a file that is named by date and time; where several begin
// within a second, they are numbered.
func createIn(dir string, began time.Time, by string) (r *record.Recorder, name, warning string, err error) {
	stamp := began.Format("2006-01-02T15-04-05")
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
