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

// newEditor returns the user's editor with a text in a file of its own, which only its owner can read. The
// file is removed when the editor ends: changes are kept only if they are saved elsewhere.
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

// editorOf returns the command of the user's editor for a file.
func editorOf(file string) (*exec.Cmd, error) {
	words := strings.Fields(cmp.Or(strings.TrimSpace(os.Getenv("VISUAL")), strings.TrimSpace(os.Getenv("EDITOR")), "vi"))
	path, err := exec.LookPath(words[0])
	if err != nil {
		return nil, fmt.Errorf("%s: no such program: set $VISUAL or $EDITOR", words[0])
	}
	return exec.Command(path, append(words[1:], file)...), nil
}

// openEditor lets the user edit a file, and waits for the editor to end.
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

// editor is a command that gets the terminal.
type editor struct{ *exec.Cmd }

func (e editor) SetStdin(r io.Reader)  { e.Stdin = r }
func (e editor) SetStdout(w io.Writer) { e.Stdout = fileBehind(w) }
func (e editor) SetStderr(w io.Writer) { e.Stderr = w }

// fileBehind returns the file that w writes to: an editor needs the terminal, not a pipe to us.
func fileBehind(w io.Writer) io.Writer {
	switch w := w.(type) {
	case *cellDiffWriter:
		return fileBehind(w.stdStream)
	case *stdWriter:
		return w.File
	}
	return w
}

// Limits of a command that gets a text as its input.
const (
	pipeTime      = 30 * time.Second
	maxPipeOutput = 1 << 20
)

// pipeTo passes a text to a shell command, and returns its output and errors.
func pipeTo(command string, data []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), pipeTime)
	defer cancel()
	shell, flag := cmp.Or(os.Getenv("SHELL"), "/bin/sh"), "-c"
	if runtime.GOOS == "windows" {
		shell, flag = cmp.Or(os.Getenv("COMSPEC"), "cmd.exe"), "/C"
	}
	run := exec.CommandContext(ctx, shell, flag, command)
	run.WaitDelay = time.Second // a child process of the command may keep the pipe open
	run.Stdin = bytes.NewReader(data)
	out := &limitedBuffer{maxBytes: maxPipeOutput}
	run.Stdout, run.Stderr = out, out
	err := run.Run()
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("stopped after the time limit of %v", pipeTime)
	case out.dropped > 0:
		err = fmt.Errorf("%s of its output not shown", count.Of(out.dropped, "byte"))
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil
	}
	return out.kept, err
}

// limitedBuffer keeps the first maxBytes bytes, and counts the others.
type limitedBuffer struct {
	kept     []byte
	maxBytes int
	dropped  int
}

// Write keeps the bytes that fit and counts the others. It never fails.
func (u *limitedBuffer) Write(p []byte) (int, error) {
	keep := min(len(p), u.maxBytes-len(u.kept))
	u.dropped += len(p) - keep
	u.kept = append(u.kept, p[:keep]...)
	return len(p), nil
}
