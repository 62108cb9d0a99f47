package cli

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"toolscope/ui"
)

// answerTime limits the wait for a terminal's report of its background.
const answerTime = 150 * time.Millisecond

// terminalGround asks the terminal for its background colour (OSC 11) and then for its kind (DA1). Every
// terminal reports its kind, so a terminal that ignores the first question causes no wait. typed are the
// keys that the user typed while the function waited.
func terminalGround() (g ui.Background, typed []tea.KeyMsg) {
	if dark, ok := darkFromEnv(os.Getenv("COLORFGBG")); ok {
		return ui.Background{Known: true, Dark: dark}, nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return g, nil
	}
	defer tty.Close()
	if tty.SetDeadline(time.Now().Add(answerTime)) != nil {
		return g, nil // without a deadline, a silent terminal would block us
	}
	conn, err := tty.SyscallConn()
	if err != nil {
		return g, nil
	}
	var answer []byte
	_ = conn.Control(func(fd uintptr) { // Fd() would remove the deadline of reads
		if state, err := term.MakeRaw(fd); err == nil {
			defer term.Restore(fd, state) //nolint:errcheck // nothing to be done
			answer = askBackground(tty)
		}
	})
	return groundOf(answer), typedKeys(answer)
}

// askBackground sends the questions and reads up to the report of the kind, or the deadline.
func askBackground(tty *os.File) (answer []byte) {
	if _, err := tty.WriteString("\x1b]11;?\x1b\\\x1b[c"); err != nil {
		return nil
	}
	buf := make([]byte, 256)
	for !bytes.HasSuffix(answer, []byte("c")) || !bytes.Contains(answer, []byte("\x1b[?")) {
		n, err := tty.Read(buf)
		answer = append(answer, buf[:n]...)
		if err != nil || len(answer) > 4096 {
			break
		}
	}
	return answer
}

var colourAnswer = regexp.MustCompile(`\]11;rgba?:([[:xdigit:]]{1,4})/([[:xdigit:]]{1,4})/([[:xdigit:]]{1,4})`)

// groundOf reads the colour from a terminal's report.
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

// typedKeys returns the keys in the bytes that were read. Keys that are sent as sequences are lost: they look
// like reports.
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

// lateAnswer reports whether a key is a report that arrived after we stopped waiting. Bubble Tea treats such
// bytes as typed text.
func lateAnswer(k tea.KeyMsg) bool {
	return !k.Paste && strings.HasPrefix(string(k.Runes), "11;rgb:")
}

// darkFromEnv reads COLORFGBG, which some terminals set: "15;0" is white on black.
func darkFromEnv(v string) (dark, ok bool) {
	i := strings.LastIndexByte(v, ';')
	n, err := strconv.Atoi(v[i+1:])
	if i < 0 || err != nil {
		return false, false
	}
	return n < 7 || n == 8, true
}
