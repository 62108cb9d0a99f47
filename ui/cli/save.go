package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/capture/record"
	"toolscope/capture/redact"
	"toolscope/themes"
	"toolscope/ui"
	"toolscope/ui/display"
)

// maxSavedFiles is the maximum number of files whose names differ only in a number.
const maxSavedFiles = 1000

// saveNew writes a new file, with a line break at its end, to the working directory. Only the file's owner
// can read it. If the name is taken, the file's name gets the suffix -2, -3 and so on. No file is
// overwritten.
func saveNew(name string, data []byte) (path string, err error) {
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for n := 1; n <= maxSavedFiles; n++ {
		if path = name; n > 1 {
			path = fmt.Sprintf("%s-%d%s", stem, n, ext)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(append(data[:len(data):len(data)], '\n'))
		if err = errors.Join(err, f.Close()); err != nil {
			return "", errors.Join(err, os.Remove(path))
		}
		return path, nil
	}
	return "", fmt.Errorf("%d files named %s already exist", maxSavedFiles, name)
}

// saveHere is like saveNew, but returns the absolute path.
func saveHere(name string, data []byte) (path string, err error) {
	if path, err = saveNew(name, data); err != nil {
		return path, err
	}
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	return path, nil
}

// saveAs writes a file that only its owner can read. If replace is true, the file may replace an existing
// file, but only once the new file is complete. After an error, the new file is removed.
func saveAs(path string, replace bool, write func(io.Writer) error) error {
	f, err := openNew(path, replace)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, 64<<10)
	err = write(b)
	if err == nil {
		err = atFile(path, errors.Join(b.Flush(), f.Close()))
	} else {
		f.Close()
	}
	if err == nil && f.Name() != path {
		err = atFile(path, os.Rename(f.Name(), path))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// saveTree writes files into a directory. It replaces no file.
func saveTree(dir string, files fs.FS) error {
	if err := os.CopyFS(dir, files); err != nil {
		return fmt.Errorf("%s: %w\nuse a new directory", dir, err)
	}
	return nil
}

// openNew creates a file. If the file already exists and may be replaced, openNew creates a temporary file
// next to it.
func openNew(path string, replace bool) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if !errors.Is(err, fs.ErrExist) {
		return f, atFile(path, err)
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, atFile(path, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("-o %s: not a regular file\nleave out -o to write to standard output", path)
	case !replace:
		return nil, fmt.Errorf("-o %s: the file exists\nuse --force to overwrite it", path)
	}
	f, err = os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	return f, atFile(path, err)
}

// atFile adds the path to an error.
func atFile(path string, err error) error {
	if err != nil {
		err = fmt.Errorf("-o %s: %w", path, capture.WithoutPath(err))
	}
	return err
}

// writeOwn writes a file that belongs to toolscope. Readers never see the file incomplete.
func writeOwn(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temporary, err := writeTemporary(path, data)
	if err != nil {
		return err
	}
	if err = os.Rename(temporary, path); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return nil
}

// writeTemporary writes a temporary file next to a path. Only the file's owner can read it. After an error, the
// file is removed.
func writeTemporary(path string, data []byte) (temporary string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// writeCopy writes a new file that only its owner can read. The file appears only when it is complete. No file is
// overwritten.
func writeCopy(path string, text []byte) error {
	temporary, err := writeTemporary(path, text)
	if err == nil {
		defer os.Remove(temporary)
		err = os.Link(temporary, path) // unlike a rename, a link never overwrites a file
		if err != nil && !errors.Is(err, fs.ErrExist) {
			if err := checkNewFile(path); err != nil {
				return err
			}
			err = os.Rename(temporary, path)
		}
	}
	if err != nil {
		return fmt.Errorf("--write %s: %w", path, capture.WithoutPath(err))
	}
	return nil
}

// saveInto writes a new file to a folder, and creates the folder if necessary. If a file with that name exists and
// has the same content, it leaves the file as it is. If the content differs, it returns an error.
func saveInto(dir, name string, data []byte) (path string, err error) {
	path = filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return path, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if there, _ := os.ReadFile(path); bytes.Equal(there, data) {
			return path, nil
		}
		return path, fmt.Errorf("%s: another file has this name", path)
	}
	if err != nil {
		return path, err
	}
	_, err = f.Write(data)
	return path, errors.Join(err, f.Close())
}

// savedState is the state that toolscope keeps between runs: the user's choices on the screen. If the state can't
// be read, the defaults apply. If it can't be written, the choices are lost.
type savedState struct {
	theme  string
	layout ui.Layout
}

// savedStateFile is a file in toolscope's own folder. It is not configuration, because toolscope overwrites it.
const savedStateFile = "screen.toml"

// maxScreenCells is larger than the number of columns or rows of any screen.
const maxScreenCells = 10_000

// fieldPointers returns pointers to the fields of the file, by name: first the strings, then the numbers.
func (k *savedState) fieldPointers() (texts map[string]*string, numbers map[string]*int) {
	l := &k.layout
	return map[string]*string{"theme": &k.theme, "columns": (*string)(&l.Columns), "tabs": (*string)(&l.Tabs)},
		map[string]*int{"list": &l.List, "side": &l.Side, "above": &l.Above, "low": &l.Low}
}

// saveTheme saves the name of a theme and returns the path of the state.
func saveTheme(name string) (path string, err error) {
	k := readSavedState()
	k.theme = name
	return k.save()
}

// readSavedState reads the state. It ignores invalid values, because users don't write this file.
func readSavedState() (k savedState) {
	path, err := inStateFolder(savedStateFile)
	if err != nil {
		return k
	}
	data, _ := os.ReadFile(path) // the file may not exist
	found, err := themes.ReadTOML(data)
	if err != nil {
		return k
	}
	texts, numbers := k.fieldPointers()
	for _, s := range found {
		if text, is := s.Value.(string); is && texts[s.Name()] != nil {
			*texts[s.Name()] = text
		}
		if n, is := s.Value.(int64); is && numbers[s.Name()] != nil {
			*numbers[s.Name()] = int(min(max(n, 0), maxScreenCells))
		}
	}
	return k
}

// save writes the state and returns its path.
func (k *savedState) save() (path string, err error) {
	if path, err = inStateFolder(savedStateFile); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# The latest state of the screen. toolscope overwrites this file: put your settings into config.toml.\n")
	texts, numbers := k.fieldPointers()
	for _, name := range []string{"theme", "columns", "tabs"} {
		if *texts[name] != "" {
			fmt.Fprintf(&b, "%s = %s\n", name, tomlText(*texts[name]))
		}
	}
	for _, name := range []string{"list", "side", "above", "low"} {
		if *numbers[name] != 0 {
			fmt.Fprintf(&b, "%s = %d\n", name, *numbers[name])
		}
	}
	return path, capture.WithoutPath(writeOwn(path, []byte(b.String())))
}

// saveLayout saves the layout of the screen, if it has changed.
func saveLayout(found, left ui.Layout) {
	if found == left {
		return
	}
	k := readSavedState()
	k.layout = left
	_, _ = k.save() // a layout that can't be saved is not reported
}

// createHome creates a folder that replaces the home folder. It contains a new settings file, and links to the
// files next to the user's settings file.
func createHome(home, name, settings string) (folder string, err error) {
	if folder, err = os.MkdirTemp("", "toolscope-run-"); err != nil {
		return "", err
	}
	below := filepath.Dir(name)
	err = os.MkdirAll(filepath.Join(folder, below), 0o700)
	there, _ := os.ReadDir(filepath.Join(home, below)) // the folder may not exist
	for _, e := range there {
		if err == nil && e.Name() != filepath.Base(name) {
			err = os.Symlink(filepath.Join(home, below, e.Name()), filepath.Join(folder, below, e.Name()))
		}
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name), []byte(settings+"\n"), 0o600)
	}
	if err != nil {
		os.RemoveAll(folder)
		return "", err
	}
	return folder, nil
}

// createScratch creates a file in a new folder. Only the file's owner can read it. The function remove removes the
// file and the folder.
func createScratch(name string, data []byte) (path string, remove func(), err error) {
	folder, err := os.MkdirTemp("", "toolscope-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(folder) }
	path = filepath.Join(folder, name)
	if err = os.WriteFile(path, data, 0o600); err != nil {
		remove()
		return "", nil, err
	}
	return path, remove, nil
}

// createScript creates a shell script in a new folder. It runs the script as a test, because programs can't be run in
// some folders.
func createScript(name, text string) (path string, remove func(), err error) {
	path, remove, err = createScratch(name, []byte(text))
	if err == nil {
		err = os.Chmod(path, 0o700)
	}
	if err == nil {
		err = exec.Command(path, "").Run()
	}
	if err != nil && remove != nil {
		remove()
	}
	return path, remove, err
}

// removeFiles removes the run's temporary files.
func (o *clientLaunch) removeFiles() {
	for _, remove := range o.removes {
		remove()
	}
	if o.home != "" {
		os.RemoveAll(o.home) // removes links, not their targets
	}
}

// createOutput creates the file for the output of a client that runs while the screen is open. The file is next to
// the capture, or is a temporary file. Secrets in the output are not replaced.
func createOutput(l *liveInput) (*os.File, error) {
	if l.rec == nil {
		return os.CreateTemp("", "toolscope-run-*.txt")
	}
	return os.OpenFile(strings.TrimSuffix(l.rec.path, filepath.Ext(l.rec.path))+".txt", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// maxPanicText is the maximum number of bytes of a panic's message that are shown. The message may quote captured
// bytes.
const maxPanicText = 300

// reportCrash writes the stack, and other facts that help to find the bug, to a file and not to the terminal. The
// file contains no captured, typed or configured text. It contains only the kind of the panic, because the panic's
// message may quote such text.
func reportCrash(c *ui.Crash) error {
	c.What = display.Clean(newRedactor().Text(c.What)).String()
	if len(c.What) > maxPanicText {
		c.What = strings.ToValidUTF8(c.What[:maxPanicText], "") + "…"
	}
	f, err := newCrashReport()
	if err != nil {
		return c
	}
	defer f.Close()
	fmt.Fprintf(f, "%s\n\ntoolscope %s on %s/%s, TERM=%s\n\nlatest keys:\n", c.Kind, versionText(), runtime.GOOS, runtime.GOARCH, os.Getenv("TERM"))
	for _, did := range c.RecentKeys {
		fmt.Fprintf(f, "  %s\n", display.Clean(did))
	}
	fmt.Fprintf(f, "\n%s\nPlease send it: %s\n", c.Stack, bugURL())
	return fmt.Errorf("%w\na report is in %s; it contains none of the data that you viewed\nplease send it: %s", c, f.Name(), bugURL())
}

// newCrashReport creates a report file that only its owner can read. The file is in toolscope's own folder, or else
// in the folder for temporary files.
func newCrashReport() (*os.File, error) {
	const name = "toolscope-crash-*.txt"
	if dir, err := inStateFolder("crashes"); err == nil && os.MkdirAll(dir, 0o700) == nil {
		if f, err := os.CreateTemp(dir, name); err == nil {
			return f, nil
		}
	}
	return os.CreateTemp("", name)
}

// maxLogBytes is the size at which a log is renamed and a new one is started. One old log is kept.
const maxLogBytes = 1 << 20

// logFile is a file with the lines of the journal, without secrets. The lines are the program's notes and
// errors, which include error messages from providers.
type logFile struct {
	path     string
	redactor *redact.Redactor
}

// logIsOwn is the value of --log that selects a file in toolscope's own folder.
const logIsOwn = "auto"

// openLog starts writing the journal to a file, unless path is empty. The file also gets the journal's earlier lines.
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
	// The program continues if a line can't be written.
	a.journal.ForwardTo(func(at time.Time, text string) { _ = l.write(at, text) })
	return nil
}

// write appends a line. If the file is too large, it first starts a new file.
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

// runFolderPrefix begins the names of the folders with the certificates of runs. The machine's name and the process
// number follow.
const runFolderPrefix = "toolscope-tls-"

// tlsFolder is the folder with the certificates of one run. Only its owner can read it.
type tlsFolder string

// makeRunFolder creates the folder, and removes the folders of runs that ended without removing them.
func makeRunFolder() (tlsFolder, error) {
	parent := os.Getenv("XDG_RUNTIME_DIR")
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		parent = os.TempDir()
	}
	machine, _ := os.Hostname() // containers may share the folder, but not their process numbers
	prefix := runFolderPrefix + strings.Trim(filepath.Base(machine), "*?[]\\") + "-"
	list, _ := filepath.Glob(filepath.Join(parent, prefix+"*"))
	for _, path := range list {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), prefix), "-")
		if pid, err := strconv.Atoi(number); err == nil && !isRunning(pid) {
			_ = os.RemoveAll(path) // the folder of another user can't be removed
		}
	}
	folder, err := os.MkdirTemp(parent, fmt.Sprintf("%s%d-", prefix, os.Getpid()))
	return tlsFolder(folder), err
}

// writeFile creates a file in the folder and returns its path.
func (f tlsFolder) writeFile(name string, data []byte) (path string, err error) {
	path = filepath.Join(string(f), name)
	return path, os.WriteFile(path, data, 0o600)
}

// removeFolder removes the folder.
func (f tlsFolder) removeFolder() { os.RemoveAll(string(f)) }

// makeSceneFolders creates the folders and files of a client that is tested.
func makeSceneFolders(c *sceneClient) error {
	if err := errors.Join(os.MkdirAll(c.home, 0o700), os.MkdirAll(c.folder, 0o700)); err != nil {
		return capture.WithoutPath(err)
	}
	for name, text := range c.files {
		path := filepath.Join(c.home, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text+"\n"), 0o600)); err != nil {
			return capture.WithoutPath(err)
		}
	}
	return nil
}

// makeScratchFolder creates a folder. The function remove removes it with everything in it.
func makeScratchFolder() (folder string, remove func(), err error) {
	if folder, err = os.MkdirTemp("", "toolscope-torture-"); err != nil {
		return "", nil, err
	}
	return folder, func() { os.RemoveAll(folder) }, nil
}

// replaceSceneFiles removes the capture and the output of an earlier run of a scene, so that a new run can write
// them.
func replaceSceneFiles(capture string) {
	base := strings.TrimSuffix(capture, record.Extension)
	for _, path := range []string{capture, base + ".txt", record.CompanionDir(capture)} {
		os.RemoveAll(path)
	}
}

// removeOwn deletes one of toolscope's own files. A failure is not reported: an unused file does no harm.
func removeOwn(path string) { _ = os.Remove(path) }
