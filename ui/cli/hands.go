package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream/count"
)

// newEditor is the user's editor with a text in a file of its own, for its owner alone, which goes when
// the editor ends: what is changed in it is kept where the editor saves it elsewhere.
func newEditor(name string, data []byte) (tea.ExecCommand, func(), error) {
	editing, err := editorOf("")
	if err != nil {
		return nil, nil, err
	}
	file, remove, err := createScratch(name, data)
	if err != nil {
		return nil, nil, err
	}
	editing.Args[len(editing.Args)-1] = file
	return editor{editing}, remove, nil
}

// editorOf is the user's editor with a file.
func editorOf(file string) (*exec.Cmd, error) {
	words := strings.Fields(cmp.Or(strings.TrimSpace(os.Getenv("VISUAL")), strings.TrimSpace(os.Getenv("EDITOR")), "vi"))
	path, err := exec.LookPath(words[0])
	if err != nil {
		return nil, fmt.Errorf("%s: no such program: $VISUAL or $EDITOR names the editor", words[0])
	}
	return exec.Command(path, append(words[1:], file)...), nil
}

// openEditor has the user edit a file, and waits until that is done.
func openEditor(file string, in io.Reader) error {
	editing, err := editorOf(file)
	if err != nil {
		return err
	}
	editing.Stdin, editing.Stdout, editing.Stderr = in, os.Stdout, os.Stderr
	if err := editing.Run(); err != nil {
		return fmt.Errorf("%s: %w", editing.Args[0], err)
	}
	return nil
}

// editor is a command that is given the terminal.
type editor struct{ *exec.Cmd }

func (e editor) SetStdin(r io.Reader)  { e.Stdin = r }
func (e editor) SetStdout(w io.Writer) { e.Stdout = fileBehind(w) }
func (e editor) SetStderr(w io.Writer) { e.Stderr = w }

// fileBehind is the file that what is written goes to: an editor wants the terminal, not a pipe to us.
func fileBehind(w io.Writer) io.Writer {
	switch w := w.(type) {
	case *cellDiffWriter:
		return fileBehind(w.stdStream)
	case *stdWriter:
		return w.File
	}
	return w
}

// Limits of a command that is piped to.
const (
	pipeTime      = 30 * time.Second
	maxPipeOutput = 1 << 20
)

// pipeTo gives a text to a command of the shell's, and returns what that prints, errors too.
func pipeTo(command string, data []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), pipeTime)
	defer cancel()
	shell, flag := cmp.Or(os.Getenv("SHELL"), "/bin/sh"), "-c"
	if runtime.GOOS == "windows" {
		shell, flag = cmp.Or(os.Getenv("COMSPEC"), "cmd.exe"), "/C"
	}
	run := exec.CommandContext(ctx, shell, flag, command)
	run.WaitDelay = time.Second // what it started may hold the pipe
	run.Stdin = bytes.NewReader(data)
	out := &limitedBuffer{maxBytes: maxPipeOutput}
	run.Stdout, run.Stderr = out, out
	err := run.Run()
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("it was stopped after %v, the limit", pipeTime)
	case out.dropped > 0:
		err = fmt.Errorf("more was printed than is shown: %s", count.Of(out.dropped, "byte"))
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil
	}
	return out.kept, err
}

// limitedBuffer keeps so many bytes, and counts the others.
type limitedBuffer struct {
	kept     []byte
	maxBytes int
	dropped  int
}

func (u *limitedBuffer) Write(p []byte) (int, error) {
	keep := min(len(p), u.maxBytes-len(u.kept))
	u.dropped += len(p) - keep
	u.kept = append(u.kept, p[:keep]...)
	return len(p), nil
}
