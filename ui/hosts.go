package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// hostsTick asks how machines are doing, also when nothing comes of them.
type hostsTick struct{}

// hostsEvery is how old what is known of machines may be.
const hostsEvery = time.Second

func tickHosts() tea.Cmd {
	return tea.Tick(hostsEvery, func(time.Time) tea.Msg { return hostsTick{} })
}

// lookAtHosts takes how machines are doing, and again later as long as more may come.
func (m *Model) lookAtHosts() tea.Cmd {
	if m.opt.Hosts == nil {
		return nil
	}
	m.scene.Machines = m.opt.Hosts()
	m.refresh()
	if m.ended {
		return nil
	}
	return tickHosts()
}
