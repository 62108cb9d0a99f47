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

// clipboard puts text where other programs paste it from: by the terminal it runs in, which may be
// far away, and by the tool of the desktop, if there is one. What the terminal makes of it, it does
// not tell.
type clipboard struct {
	terminal io.Writer
	getenv   func(string) string
	find     func(tool string) (path string, err error)
	run      func(ctx context.Context, path string, args []string, text []byte) error
}

func newClipboard(terminal io.Writer) *clipboard {
	return &clipboard{terminal: terminal, getenv: os.Getenv, find: exec.LookPath, run: runTool}
}

// clipboardTools are programs that take a text for the clipboard, and the variable that says
// whether they have one to put it into.
var clipboardTools = []struct {
	env, name string
	args      []string
	encode    func(text []byte) []byte // nil when it takes UTF-8
}{
	{"WAYLAND_DISPLAY", "wl-copy", nil, nil},
	{"DISPLAY", "xclip", []string{"-selection", "clipboard"}, nil},
	{"DISPLAY", "xsel", []string{"--clipboard", "--input"}, nil},
	{"", "pbcopy", nil, nil},
	{"", "clip.exe", nil, toUTF16},
	{"TMUX", "tmux", []string{"load-buffer", "-w", "-"}, nil},
}

// toUTF16 is a text as programs of Windows take it whatever their code page is.
func toUTF16(text []byte) []byte {
	out := []byte{0xff, 0xfe} // the mark that says which byte comes first
	for _, unit := range utf16.Encode([]rune(string(text))) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return out
}

const (
	// maxOSC52 is how many bytes terminals take in one sequence of OSC 52: they end it at 100,000,
	// of which base64 leaves three quarters.
	maxOSC52 = 74_994
	toolTime = 3 * time.Second
)

// copy puts text into the clipboard and says by which ways.
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
		// One write: a frame that is written meanwhile comes before or after it.
		if _, err := sequence.WriteTo(c.terminal); err == nil {
			ways = append(ways, "the terminal (OSC 52)")
		} else {
			failure = errors.Join(failure, err)
		}
	}
	switch {
	case len(ways) > 0 && len(text) > maxOSC52:
		return ways[0] + " alone: OSC 52 takes 75 kB at most", nil
	case len(ways) > 0:
		return strings.Join(ways, " and "), nil
	case failure != nil:
		return "", failure
	}
	return "", errors.New("OSC 52 takes 75 kB: save it, or install wl-copy, xclip or xsel")
}

// useTool gives the text to the first tool there is; none is not an error.
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

// runTool runs a tool with text as its input. Those that stay to serve the text leave a child
// behind, which must not hold what they were given to write to.
func runTool(ctx context.Context, path string, args []string, text []byte) error {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = bytes.NewReader(text)
	return cmd.Run()
}
