package ui

import (
	"fmt"
	"runtime/debug"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/ui/screen"
)

// A Crash is a bug that showed: the program ends, with the terminal restored. It is a message too,
// for goroutines that recover outside of Update.
type Crash struct {
	What       string
	Stack      []byte
	RecentKeys []string // what the user had it do last: keys and what they do, never what was typed
}

func (c *Crash) Error() string { return "a bug in toolscope: " + c.What }

// CrashOf makes a Crash of what recover returned, nil of nil.
func CrashOf(p any) *Crash {
	if p == nil {
		return nil
	}
	return &Crash{What: fmt.Sprint(p), Stack: debug.Stack()}
}

// Crashed is the bug that ended the program, or nil.
func (m *Model) Crashed() *Crash { return m.crash }

// RecentKeys is what the user had the program do last.
func (m *Model) RecentKeys() []string { return m.recentKeys }

// maxRecentKeys is how much of that is kept.
const maxRecentKeys = 20

// runBinding does what a key does.
func (m *Model) runBinding(b *screen.Binding) {
	if len(m.recentKeys) == maxRecentKeys {
		m.recentKeys = append(m.recentKeys[:0], m.recentKeys[1:]...)
	}
	m.recentKeys = append(m.recentKeys, b.Keys[0]+"  "+b.Does.String())
	b.Do()
}

// recoverCmd makes a command's panic a Crash, because Bubble Tea would print the stack onto the screen.
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
