package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"toolscope/capture"
	"toolscope/capture/redact"
	"toolscope/ui/display"
)

// mostLogged is how big a log gets before it is begun anew. The one before stays beside it.
const mostLogged = 1 << 20

// A logFile has what the program itself said, a line each, without secrets: what was asked for, notes
// and errors, those of providers in their own words.
type logFile struct {
	mu       sync.Mutex
	path     string
	redactor *redact.Redactor
}

// openLog begins to write a log.
func (a *app) openLog(path string) error {
	if a.log != nil || path == "" {
		return nil
	}
	l := &logFile{path: path, redactor: newRedactor()}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("--log %s: %w", path, capture.Reason(err))
	}
	if err := l.write("toolscope " + version() + " begins"); err != nil {
		return fmt.Errorf("--log %s: %w", path, err)
	}
	a.log = l
	return nil
}

// add writes a line. One that cannot be written is no reason to stop.
func (l *logFile) add(text string) {
	if l != nil {
		_ = l.write(text)
	}
}

func (l *logFile) write(text string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if info, err := os.Stat(l.path); err == nil && info.Mode().IsRegular() && info.Size() > mostLogged {
		if err := os.Rename(l.path, l.path+".1"); err != nil {
			return capture.Reason(err)
		}
	}
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return capture.Reason(err)
	}
	line := display.Clean(l.redactor.Text(strings.ReplaceAll(text, "\n", "; "))).String()
	_, err = fmt.Fprintf(f, "%s %d %s\n", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), os.Getpid(), line)
	return errors.Join(err, f.Close())
}
