package screen

import (
	"strings"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"toolscope/ui/display"
)

// Input is a text input of one line. The program passes it the keys that its mode does not bind.
type Input struct {
	Prompt display.Text // before it in the footer; empty if the mode draws the input
	Note   display.Text // after it in the footer
	Lines  bool         // pasted text keeps its line ends and tabs
	Edits  int          // number of handled keys; the same number means no change
	line   textinput.Model
}

// A textinput can't contain line ends and tabs. These private characters replace them.
const (
	standsForLine = '\U0010fffd'
	standsForTab  = '\U0010fffc'
)

var (
	toLine   = strings.NewReplacer("\r\n", string(standsForLine), "\n", string(standsForLine), "\r", string(standsForLine), "\t", string(standsForTab))
	fromLine = strings.NewReplacer(string(standsForLine), "\n", string(standsForTab), "\t")
)

// NewInput returns an input with a value, for at most so many characters. The cursor is at the end.
func NewInput(prompt display.Text, value string, most int) *Input {
	in := &Input{Prompt: prompt, line: textinput.New()}
	in.line.CharLimit = most
	in.line.SetValue(toLine.Replace(value))
	in.line.CursorEnd()
	in.line.Focus()
	return in
}

// Key handles a key.
func (in *Input) Key(k tea.KeyMsg) {
	if in.Lines && k.Type == tea.KeyRunes && k.Paste {
		in.Insert(string(k.Runes))
		return
	}
	in.applyKey(k)
}

func (in *Input) applyKey(k tea.KeyMsg) {
	in.line, _ = in.line.Update(k)
	in.Edits++
}

// Insert inserts text at the cursor.
func (in *Input) Insert(text string) {
	in.applyKey(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(toLine.Replace(strings.ToValidUTF8(text, "")))})
}

// Value returns the typed text.
func (in *Input) Value() string { return fromLine.Replace(in.line.Value()) }

// Cursor returns the byte offset of the cursor in the value.
func (in *Input) Cursor() int {
	return len(fromLine.Replace(string([]rune(in.line.Value())[:in.line.Position()])))
}

// Draw draws the typed text and the cursor.
func (in *Input) Draw(p *Pen) {
	value, at := in.Value(), in.Cursor()
	p.Untrusted(Plain, Bare, value[:at])
	p.Text(Live, p.Glyph.Cursor)
	p.Untrusted(Plain, Bare, value[at:])
}
