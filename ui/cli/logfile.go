package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/capture/redact"
	"toolscope/ui/display"
)

// maxLogBytes is how big a log gets before it is begun anew. The one before stays beside it.
const maxLogBytes = 1 << 20

// A logFile has what the journal has, a line each, without secrets: what the program itself noted and
// said, and what failed, providers in their own words.
type logFile struct {
	path     string
	redactor *redact.Redactor
}

// logIsOwn is what --log takes for a file of toolscope's own.
const logIsOwn = "auto"

// openLog has the journal be written into a file too, from its beginning.
func (a *app) openLog(path string) error {
	if path == "" {
		return nil
	}
	said := path
	if path == logIsOwn {
		var err error
		if path, err = inStateFolder("toolscope.log"); err != nil {
			return fmt.Errorf("--log %s: %w", said, err)
		}
	}
	l := &logFile{path: path, redactor: newRedactor()}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("--log %s: %w", said, capture.WithoutPath(err))
	}
	if err := l.write(time.Now(), "toolscope "+versionText()+" begins"); err != nil {
		return fmt.Errorf("--log %s: %w", said, err)
	}
	// A line that cannot be written is no reason to stop.
	a.journal.ForwardTo(func(at time.Time, text string) { _ = l.write(at, text) })
	return nil
}

func (l *logFile) write(at time.Time, text string) error {
	if info, err := os.Stat(l.path); err == nil && info.Mode().IsRegular() && info.Size() > maxLogBytes {
		if err := os.Rename(l.path, l.path+".1"); err != nil {
			return capture.WithoutPath(err)
		}
	}
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return capture.WithoutPath(err)
	}
	line := display.Clean(l.redactor.Text(strings.ReplaceAll(text, "\n", "; "))).String()
	_, err = fmt.Fprintf(f, "%s %d %s\n", at.UTC().Format("2006-01-02T15:04:05.000Z"), os.Getpid(), line)
	return errors.Join(err, f.Close())
}
