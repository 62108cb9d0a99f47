package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/aymanbagabas/go-osc52/v2"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"toolscope/ui"
)

// answerTime is the maximum time to wait for a terminal's report of its background. The screen ignores a later
// report.
const answerTime = 150 * time.Millisecond

// terminalGround returns the terminal's background. It uses COLORFGBG if that is set. Otherwise, it queries the
// terminal's background colour (OSC 11) and then its kind (DA1). Nearly all terminals report their kind, so a
// terminal that ignores only the first query causes no delay. The result typed has the keys that the user typed
// during the query.
func terminalGround(wait time.Duration) (g ui.Background, typed []tea.KeyMsg) {
	if dark, ok := darkFromEnv(os.Getenv("COLORFGBG")); ok {
		return ui.Background{Known: true, Dark: dark}, nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return g, nil
	}
	defer tty.Close()
	if tty.SetDeadline(time.Now().Add(wait)) != nil {
		return g, nil // without a deadline, a silent terminal would block the program
	}
	conn, err := tty.SyscallConn()
	if err != nil {
		return g, nil
	}
	var answer []byte
	_ = conn.Control(func(fd uintptr) { // Fd() would remove the read deadline
		if state, err := term.MakeRaw(fd); err == nil {
			defer term.Restore(fd, state) //nolint:errcheck // nothing to be done
			answer = askBackground(tty)
		}
	})
	return groundOf(answer), typedKeys(answer)
}

// askBackground sends the queries. It reads until the terminal reports its kind, or until the deadline.
func askBackground(tty io.ReadWriter) (answer []byte) {
	if _, err := io.WriteString(tty, "\x1b]11;?\x1b\\\x1b[c"); err != nil {
		return nil
	}
	buf := make([]byte, 256)
	for !kindAnswer.Match(answer) {
		n, err := tty.Read(buf)
		answer = append(answer, buf[:n]...)
		if err != nil || len(answer) > 4096 {
			break
		}
	}
	return answer
}

// kindAnswer matches a terminal's report of its kind. Keys that the user typed may follow it.
var kindAnswer = regexp.MustCompile(`\x1b\[\?[0-9;]*c`)

var colourAnswer = regexp.MustCompile(`\]11;rgba?:([[:xdigit:]]{1,4})/([[:xdigit:]]{1,4})/([[:xdigit:]]{1,4})`)

// groundOf returns the background colour in a terminal's report.
func groundOf(answer []byte) (g ui.Background) {
	parts := colourAnswer.FindSubmatch(answer)
	if parts == nil {
		return g
	}
	var sum float64
	for i, weight := range [...]float64{0.299, 0.587, 0.114} {
		digits := string(parts[i+1])
		n, _ := strconv.ParseUint(digits, 16, 16)
		sum += weight * float64(n) / float64(uint64(1)<<(4*len(digits))-1)
	}
	return ui.Background{Known: true, Dark: sum < 0.5}
}

// typedKeys extracts the keys that the user typed from the bytes that were read. Keys that are sent as sequences are
// lost, because they look like reports.
func typedKeys(answer []byte) (keys []tea.KeyMsg) {
	for state := byte(0); len(answer) > 0; {
		seq, _, n, next := ansi.DecodeSequence(answer, state, nil)
		answer, state = answer[n:], next
		switch c := seq[0]; {
		case c == ' ':
			keys = append(keys, tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}})
		case n == 1 && (c < ' ' || c == 0x7f):
			keys = append(keys, tea.KeyMsg{Type: tea.KeyType(c)})
		case c > ' ':
			keys = append(keys, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(string(seq))})
		}
	}
	return keys
}

// lateAnswer reports whether a key is really a report that arrived too late. Bubble Tea treats such bytes as
// typed text.
func lateAnswer(k tea.KeyMsg) bool {
	return !k.Paste && strings.HasPrefix(string(k.Runes), "11;rgb:")
}

// darkFromEnv parses COLORFGBG, which some terminals set. For example, "15;0" is white on black. The result ok
// is false if the value has another form.
func darkFromEnv(v string) (dark, ok bool) {
	i := strings.LastIndexByte(v, ';')
	n, err := strconv.Atoi(v[i+1:])
	if i < 0 || err != nil {
		return false, false
	}
	return n < 7 || n == 8, true
}

// asciiTo is a writer that writes only ASCII while on is set. In XML, other characters
// become character references. In a line of JSON, they become \uXXXX, which has the same meaning. Elsewhere,
// toolscope's own signs become ASCII signs, and other characters become \uXXXX.
type asciiTo struct {
	to   io.Writer
	on   bool
	json bool // the current line is JSON
	xml  bool // the output is XML
	mid  bool // the current line has begun
	any  bool // output has been written
	rest []byte
}

// inASCII maps toolscope's own signs to ASCII.
var inASCII = map[rune]string{
	'·': "-", '…': "...", '–': "-", '—': "--", '×': "x", '→': "->", '←': "<-", '↑': "^", '↓': "v", '⇧': "shift-", '≈': "~=", '≠': "!=", '∅': "{}", '“': `"`, '”': `"`,
}

// Write writes p, in ASCII if on is set. It keeps the bytes of an incomplete character for the next write.
func (a *asciiTo) Write(p []byte) (int, error) {
	if !a.on {
		return a.to.Write(p)
	}
	text := append(a.rest, p...)
	if !a.any {
		a.any, a.xml = len(p) > 0, bytes.HasPrefix(p, []byte("<?xml"))
	}
	out := make([]byte, 0, len(text))
	for len(text) > 0 && (utf8.FullRune(text) || len(text) >= utf8.UTFMax) {
		r, n := utf8.DecodeRune(text)
		if !a.mid {
			a.json, a.mid = r == '{', true
		}
		if r == '\n' {
			a.mid = false
		}
		out = a.appendRune(out, r)
		text = text[n:]
	}
	a.rest = bytes.Clone(text)
	_, err := a.to.Write(out)
	return len(p), err
}

// appendRune appends a character in ASCII.
func (a *asciiTo) appendRune(out []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		return append(out, byte(r))
	}
	if a.xml {
		return fmt.Appendf(out, "&#x%x;", r)
	}
	if sign := inASCII[r]; sign != "" && !a.json {
		return append(out, sign...)
	}
	if one, two := utf16.EncodeRune(r); r > 0xFFFF {
		return fmt.Appendf(out, `\u%04x\u%04x`, one, two)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}

// clipboard copies text to the clipboard. It uses the terminal, which may be on another machine, and a
// desktop tool if there is one. Terminals do not report whether they accepted the text.
type clipboard struct {
	terminal io.Writer
	getenv   func(string) string
	find     func(tool string) (path string, err error)
	run      func(ctx context.Context, path string, args []string, text []byte) error
}

// clipboardTools are programs that copy their input to the clipboard. A program with a variable is used only if the
// variable is set, because only then is there a clipboard.
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

// toUTF16 encodes text as UTF-16 with a byte order mark. Windows programs read this encoding with any code page.
func toUTF16(text []byte) []byte {
	out := []byte{0xff, 0xfe} // byte order mark
	for _, unit := range utf16.Encode([]rune(string(text))) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return out
}

const (
	// maxOSC52 is the maximum number of bytes of text in one OSC 52 sequence. Terminals end the sequence at
	// 100,000 bytes. Because of base64, only three quarters of these bytes are text.
	maxOSC52 = 74_994
	toolTime = 3 * time.Second
)

// copy copies text and returns the names of the methods that succeeded.
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
		// Use a single write, so that a frame can't split the sequence.
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
	return "", errors.New("OSC 52 copies at most 75 kB: save the text to a file, or install wl-copy, xclip or xsel")
}

// useTool passes the text to the first tool that it finds. Finding no tool is not an error.
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

// runTool runs a tool with text as its input. The tool's output is not a pipe. Some tools leave a child
// process in the background to provide the text, and that child would keep the pipe open.
func runTool(ctx context.Context, path string, args []string, text []byte) error {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = bytes.NewReader(text)
	return cmd.Run()
}
