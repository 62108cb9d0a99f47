package screen

import (
	"strings"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"toolscope/ui/display"
)

// Input is a line in which something is typed. The program gives it the keys that its mode does not
// bind.
type Input struct {
	Prompt display.Text // before it in the footer; empty where the mode draws the line itself
	Note   display.Text // behind it in the footer
	Lines  bool         // what is pasted keeps its line ends and tabs
	Edits  int          // keys taken so far: while they are as many, nothing has changed
	line   textinput.Model
}

// The line of a textinput holds no line ends and no tabs: these stand for them, and mean nothing
// else.
const (
	standsForLine = '\U0010fffd'
	standsForTab  = '\U0010fffc'
)

var (
	toLine   = strings.NewReplacer("\r\n", string(standsForLine), "\n", string(standsForLine), "\r", string(standsForLine), "\t", string(standsForTab))
	fromLine = strings.NewReplacer(string(standsForLine), "\n", string(standsForTab), "\t")
)

// NewInput begins with a value, the cursor behind it, for so many characters at most.
func NewInput(prompt display.Text, value string, most int) *Input {
	in := &Input{Prompt: prompt, line: textinput.New()}
	in.line.CharLimit = most
	in.line.SetValue(toLine.Replace(value))
	in.line.CursorEnd()
	in.line.Focus()
	return in
}

// Key takes a key.
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

// Insert puts text where the cursor is.
func (in *Input) Insert(text string) {
	in.applyKey(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(toLine.Replace(strings.ToValidUTF8(text, "")))})
}

// Value is what is typed.
func (in *Input) Value() string { return fromLine.Replace(in.line.Value()) }

// Cursor is the byte of the value that the cursor stands before.
func (in *Input) Cursor() int {
	return len(fromLine.Replace(string([]rune(in.line.Value())[:in.line.Position()])))
}

// Draw writes what is typed, and its cursor.
func (in *Input) Draw(p *Pen) {
	value, at := in.Value(), in.Cursor()
	p.Untrusted(Plain, Bare, value[:at])
	p.Text(Live, p.Glyph.Cursor)
	p.Untrusted(Plain, Bare, value[at:])
}
