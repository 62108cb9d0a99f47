package cli

import (
	"io"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

func TestDarkAnswer(t *testing.T) {
	for _, c := range []struct {
		answer string
		dark   bool
		known  bool
	}{
		{"", true, false},
		{"\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?62;22c", true, true},
		{"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;22c", false, true},
		{"\x1b]11;rgb:ffff/ffff/ffff\a", false, true},
		{"\x1b]11;rgb:ff/ff/ff\a", false, true},
		{"\x1b]11;rgb:f/f/f\a", false, true},
		{"\x1b]11;rgb:fdf6/e3e3/d5d5\a", false, true},
		{"\x1b]11;rgb:1e1e/1e1e/2e2e\a", true, true},
		{"\x1b]11;rgb:0000/ffff/0000\a", false, true}, // green is bright
		{"\x1b]11;rgb:0000/0000/ffff\a", true, true},  // blue is dark
		{"\x1b]11;rgba:ffff/ffff/ffff/8080\a", false, true},
		{"j\x1b]11;rgb:ffff/ffff/ffff\akk\x1b[?1c", false, true}, // between typed keys
		{"\x1b]11;rgb:ffff/ffff", true, false},
		{"\x1b]11;rgb:ffff/ffff/\a\x1b[?62;22c", true, false},
		{"\x1b]11;rgb:no/such/colour\x1b\\\x1b[?62;22c", true, false},
		{"\x1b]10;rgb:ffff/ffff/ffff\a", true, false}, // the colour of the text, not of the background
		{"\x1b[?62;22c", true, false},
	} {
		got := groundOf([]byte(c.answer))
		if (got.Dark || !got.Known) != c.dark || got.Known != c.known {
			t.Errorf("%q: %+v", c.answer, got)
		}
	}
}

// reportingTerminal is a terminal that sends its reports in pieces.
type reportingTerminal struct{ pieces []string }

func (*reportingTerminal) Write(p []byte) (int, error) { return len(p), nil }

func (r *reportingTerminal) Read(p []byte) (int, error) {
	if len(r.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.pieces[0])
	r.pieces = r.pieces[1:]
	return n, nil
}

// TestAskBackground checks that the terminal's report of its kind ends the wait, even if keys follow the report.
func TestAskBackground(t *testing.T) {
	const colour = "\x1b]11;rgb:0000/0000/0000\a"
	for _, c := range []struct {
		pieces []string
		left   int
	}{
		{[]string{colour + "\x1b[?62;22c", "later"}, 1},
		{[]string{colour, "\x1b[?62;", "22c", "later"}, 1},
		{[]string{colour + "\x1b[?62;22cjj", "later"}, 1},
		{[]string{"c" + colour, "\x1b[A", "later"}, 0},
	} {
		terminal := &reportingTerminal{c.pieces}
		if answer := askBackground(terminal); len(terminal.pieces) != c.left {
			t.Errorf("%q: %d reads are left after %q", c.pieces, len(terminal.pieces), answer)
		}
	}
}

func TestFromEnvironment(t *testing.T) {
	for _, c := range []struct {
		value    string
		dark, ok bool
	}{
		{"15;0", true, true},
		{"0;15", false, true},
		{"0;default;15", false, true},
		{"7;8", true, true},
		{"0;7", false, true},
		{"0;6", true, true},
		{"", false, false},
		{"15", false, false},
		{"15;default", false, false},
		{"15;", false, false},
	} {
		if dark, ok := darkFromEnv(c.value); ok != c.ok || ok && dark != c.dark {
			t.Errorf("%q: dark %v, %v", c.value, dark, ok)
		}
	}
}

func TestTypedKeys(t *testing.T) {
	const answer = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\"
	for _, c := range []struct {
		read string
		want []string
	}{
		{answer + "\x1b[?62;22c", nil},
		{"2" + answer + "?\x1b[?62;22cj", []string{"2", "?", "j"}},
		{"\x03\r\t \x7f", []string{"ctrl+c", "enter", "tab", " ", "backspace"}},
		{"é\x1b[A", []string{"é"}},
		{"q\x1b]11;rgb:ffff", []string{"q"}}, // cut off
		{"q\xff", []string{"q", "\ufffd"}},
	} {
		var got []string
		for _, k := range typedKeys([]byte(c.read)) {
			got = append(got, k.String())
		}
		same(t, 0, c.read, got, c.want)
	}
}

func TestLateAnswerKey(t *testing.T) {
	runes := func(s string, paste bool) tea.KeyMsg {
		return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s), Paste: paste}
	}
	same(t, 0, "an answer", lateAnswer(runes("11;rgb:ffff/ffff/ffff", false)), true)
	same(t, 0, "pasted text", lateAnswer(runes("11;rgb:ffff/ffff/ffff", true)), false)
	same(t, 0, "keys", lateAnswer(runes("11", false)), false)
	same(t, 0, "enter", lateAnswer(tea.KeyMsg{Type: tea.KeyEnter}), false)
}
