package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/aymanbagabas/go-osc52/v2"
)

// clipboard copies text to the clipboard: through the terminal, which may be on another machine, and with a
// tool of the desktop, if there is one. A terminal doesn't report whether it took the text.
type clipboard struct {
	terminal io.Writer
	getenv   func(string) string
	find     func(tool string) (path string, err error)
	run      func(ctx context.Context, path string, args []string, text []byte) error
}

// newClipboard returns a clipboard that writes to the terminal.
func newClipboard(terminal io.Writer) *clipboard {
	return &clipboard{terminal: terminal, getenv: os.Getenv, find: exec.LookPath, run: runTool}
}

// clipboardTools are programs that copy their input to the clipboard. A program is only used if its variable
// is set, which shows that there is a clipboard.
var clipboardTools = []struct {
	env, name string
	args      []string
	encode    func(text []byte) []byte // nil for UTF-8
}{
	{"WAYLAND_DISPLAY", "wl-copy", nil, nil},
	{"DISPLAY", "xclip", []string{"-selection", "clipboard"}, nil},
	{"DISPLAY", "xsel", []string{"--clipboard", "--input"}, nil},
	{"", "pbcopy", nil, nil},
	{"", "clip.exe", nil, toUTF16},
	{"TMUX", "tmux", []string{"load-buffer", "-w", "-"}, nil},
}

// toUTF16 encodes a text as UTF-16 with a byte order mark, which Windows programs read with any code page.
func toUTF16(text []byte) []byte {
	out := []byte{0xff, 0xfe} // byte order mark
	for _, unit := range utf16.Encode([]rune(string(text))) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return out
}

const (
	// maxOSC52 is how many bytes of text fit into one OSC 52 sequence: terminals end it at 100,000
	// bytes, and base64 leaves three quarters of them.
	maxOSC52 = 74_994
	toolTime = 3 * time.Second
)

// copy copies text and returns the names of the ways that worked.
func (c *clipboard) copy(text []byte) (string, error) {
	var ways []string
	tool, failure := c.useTool(text)
	if tool != "" && failure == nil {
		ways = append(ways, tool)
	}
	if len(text) <= maxOSC52 {
		sequence := osc52.New(string(text))
		if c.getenv("STY") != "" {
			sequence = sequence.Screen()
		}
		// One write, so that a frame can only be written before or after it.
		if _, err := sequence.WriteTo(c.terminal); err == nil {
			ways = append(ways, "the terminal (OSC 52)")
		} else {
			failure = errors.Join(failure, err)
		}
	}
	switch {
	case len(ways) > 0 && len(text) > maxOSC52:
		return ways[0] + " only: OSC 52 copies at most 75 kB", nil
	case len(ways) > 0:
		return strings.Join(ways, " and "), nil
	case failure != nil:
		return "", failure
	}
	return "", errors.New("OSC 52 copies at most 75 kB: save it, or install wl-copy, xclip or xsel")
}

// useTool passes the text to the first tool that is found. No tool is not an error.
func (c *clipboard) useTool(text []byte) (name string, err error) {
	for _, t := range clipboardTools {
		if t.env != "" && c.getenv(t.env) == "" {
			continue
		}
		path, err := c.find(t.name)
		if err != nil {
			continue
		}
		if t.encode != nil {
			text = t.encode(text)
		}
		ctx, cancel := context.WithTimeout(context.Background(), toolTime)
		defer cancel()
		if err := c.run(ctx, path, t.args, text); err != nil {
			return t.name, fmt.Errorf("%s: %w", t.name, err)
		}
		return t.name, nil
	}
	return "", nil
}

// runTool runs a tool with text as its input. Tools that stay in the background to serve the text leave a
// child process, so the tool gets no pipe for its output, which that child would hold open.
func runTool(ctx context.Context, path string, args []string, text []byte) error {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = bytes.NewReader(text)
	return cmd.Run()
}
