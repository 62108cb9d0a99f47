package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// machinesTick asks how machines are doing, also when nothing comes of them.
type machinesTick struct{}

// machinesInterval is how old what is known of machines may be.
const machinesInterval = time.Second

func tickMachines() tea.Cmd {
	return tea.Tick(machinesInterval, func(time.Time) tea.Msg { return machinesTick{} })
}

// updateMachines takes how machines are doing, and again later as long as more may come.
func (m *Model) updateMachines() tea.Cmd {
	if m.opt.Machines == nil {
		return nil
	}
	m.context.Machines = m.opt.Machines()
	m.refreshPanes()
	if m.ended {
		return nil
	}
	return tickMachines()
}
