package ui

import (
	"fmt"
	"runtime/debug"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/ui/screen"
)

// A Crash is a bug that ends the program after the terminal is restored. It is also the message with which
// goroutines outside of Update report it.
type Crash struct {
	What       string
	Stack      []byte
	RecentKeys []string // the latest keys and their actions, never typed text
}

// Error returns the text of the panic.
func (c *Crash) Error() string { return "a bug in toolscope: " + c.What }

// CrashOf makes a Crash from the result of recover. It returns nil for nil.
func CrashOf(p any) *Crash {
	if p == nil {
		return nil
	}
	return &Crash{What: fmt.Sprint(p), Stack: debug.Stack()}
}

// Crashed returns the bug that ended the program, or nil.
func (m *Model) Crashed() *Crash { return m.crash }

// RecentKeys returns the latest keys and their actions.
func (m *Model) RecentKeys() []string { return m.recentKeys }

// maxRecentKeys is the maximum number of recent keys in a Crash.
const maxRecentKeys = 20

// runBinding runs the action of a key.
func (m *Model) runBinding(b *screen.Binding) {
	if len(m.recentKeys) == maxRecentKeys {
		m.recentKeys = append(m.recentKeys[:0], m.recentKeys[1:]...)
	}
	m.recentKeys = append(m.recentKeys, b.Keys[0]+"  "+b.Does.String())
	b.Do()
}

// recoverCmd turns a command's panic into a Crash, because Bubble Tea would print the stack on the screen.
// Commands in a batch are guarded one by one.
func recoverCmd(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if c := CrashOf(recover()); c != nil {
				msg = *c
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = recoverCmd(batch[i])
			}
		}
		return msg
	}
}
