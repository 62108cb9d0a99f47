package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// createHome creates a folder that replaces the home folder: it has one settings file of its own, and links
// to the files next to it.
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

// createScratch creates a file, which only its owner can read, in a folder of its own. remove removes both.
func createScratch(name string, data []byte) (path string, remove func(), err error) {
	folder, err := os.MkdirTemp("", "toolscope-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(folder) }
	path = filepath.Join(folder, name)
	if err = os.WriteFile(path, append(data[:len(data):len(data)], '\n'), 0o600); err != nil {
		remove()
		return "", nil, err
	}
	return path, remove, nil
}

// createScript creates a shell script in a folder of its own. It starts the script as a test: some folders
// don't allow that.
func createScript(name, text string) (path string, remove func(), err error) {
	path, remove, err = createScratch(name, []byte(strings.TrimSuffix(text, "\n")))
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

// removeFiles removes the files of the run.
func (o *clientLaunch) removeFiles() {
	for _, remove := range o.removes {
		remove()
	}
	if o.home != "" {
		os.RemoveAll(o.home) // removes links, not their targets
	}
}

// createOutput creates the file for the output of a client behind the screen: next to the capture, or a
// temporary file. It is not searched for secrets.
func createOutput(l *liveInput) (*os.File, error) {
	if l.rec == nil {
		return os.CreateTemp("", "toolscope-run-*.txt")
	}
	return os.OpenFile(strings.TrimSuffix(l.rec.path, filepath.Ext(l.rec.path))+".txt", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}
