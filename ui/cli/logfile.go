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

// maxLogBytes is the size at which a log is renamed and a new one is started. One old log is kept.
const maxLogBytes = 1 << 20

// logFile is a file with the lines of the journal, without secrets: the program's notes and errors, including
// providers' error messages.
type logFile struct {
	path     string
	redactor *redact.Redactor
}

// logIsOwn is the value of --log that means a file in toolscope's own folder.
const logIsOwn = "auto"

// openLog writes the journal to a file as well, from its beginning.
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
	if err := l.write(time.Now(), "toolscope "+versionText()+" started"); err != nil {
		return fmt.Errorf("--log %s: %w", said, err)
	}
	// A line that can't be written doesn't stop the program.
	a.journal.ForwardTo(func(at time.Time, text string) { _ = l.write(at, text) })
	return nil
}

// write appends a line, and starts a new file first if this one is too large.
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
