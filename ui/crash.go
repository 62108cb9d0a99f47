package ui

import (
	"fmt"
	"runtime/debug"

	tea "github.com/charmbracelet/bubbletea"
)

// A Crash is a bug that showed: the program ends, with the terminal restored. It is a message too,
// for goroutines that recover outside of Update.
type Crash struct {
	What  string
	Stack []byte
}

func (c *Crash) Error() string { return "a bug in toolscope: " + c.What }

// Recovered makes a Crash of what recover returned, nil of nil.
func Recovered(p any) *Crash {
	if p == nil {
		return nil
	}
	return &Crash{fmt.Sprint(p), debug.Stack()}
}

// Crashed is the bug that ended the program, or nil.
func (m *Model) Crashed() *Crash { return m.crash }

// guard makes a command's panic a Crash, because Bubble Tea would print the stack onto the screen.
// Commands in a batch are guarded one by one.
func guard(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if c := Recovered(recover()); c != nil {
				msg = *c
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = guard(batch[i])
			}
		}
		return msg
	}
}
