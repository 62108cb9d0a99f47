package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"toolscope/capture"
)

// exitGaps is the exit code of a run whose recording lacks something.
const exitGaps = 3

// closeTime is how long what is recorded may take to be written when everything
// else is over.
const closeTime = 10 * time.Second

// A recording is a capture that is being written. It may be nil: then nothing
// is recorded.
type recording struct {
	*capture.Recorder
	name    string
	reading chan struct{} // holds one while a source is recorded
	over    chan struct{} // closed when no more is
}

// record begins the recording that --record asks for: in a directory a new file,
// otherwise the file itself, which must be new.
func (a *app) record(to string, began time.Time, by string) (*recording, error) {
	if to == "" {
		return nil, nil
	}
	var w *capture.Writer
	var err error
	name := filepath.Base(to)
	if isFolder(to) {
		var warning string
		if w, name, warning, err = createIn(to, began, by); warning != "" {
			a.say("toolscope: --record: " + warning)
		}
	} else {
		w, err = capture.Create(to, began, by)
	}
	if err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	return newRecording(w, name), nil
}

// isFolder reports whether a path is that of a directory. One that is not there
// yet is, when it has a slash at its end or no extension.
func isFolder(path string) bool {
	if info, err := os.Stat(path); err == nil {
		return info.IsDir()
	}
	return strings.HasSuffix(path, string(filepath.Separator)) || filepath.Ext(path) == ""
}

func newRecording(w *capture.Writer, name string) *recording {
	return &recording{capture.NewRecorder(w), name, make(chan struct{}, 1), make(chan struct{})}
}

// createIn makes a file that is named by date and time; where several begin
// within a second, they are numbered.
func createIn(dir string, began time.Time, by string) (w *capture.Writer, name, warning string, err error) {
	stamp := began.Format("2006-01-02T15-04-05")
	for n := 1; ; n++ {
		name = stamp + ".tsc"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.tsc", stamp, n)
		}
		w, warning, err = capture.CreateIn(dir, name, began, by)
		if !errors.Is(err, os.ErrExist) || n == 100 {
			return w, name, warning, err
		}
	}
}

// source records what passes.
func (r *recording) source(src capture.Source) capture.Source {
	if r == nil {
		return src
	}
	return func(yield func(capture.Record, error) bool) {
		select {
		case r.reading <- struct{}{}:
			defer func() { <-r.reading }()
		case <-r.over:
			return
		}
		for rec, err := range src {
			if err == nil {
				r.Record(rec)
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// endRecording waits for what is being recorded, which has to be cancelled
// before, and until it is written. A recording that lacks something has an exit
// code of its own.
func (a *app) endRecording(r *recording) {
	if r == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	select {
	case r.reading <- struct{}{}:
	case <-ctx.Done():
	}
	close(r.over)
	if err := r.Close(ctx); err != nil {
		a.complain(fmt.Errorf("--record: %w", err))
		a.code = exitGaps // whatever else ended it
	}
}
