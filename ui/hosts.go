package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// machinesTick updates the states of machines, also without traffic.
type machinesTick struct{}

// machinesInterval is the maximum age of the states of machines.
const machinesInterval = time.Second

func tickMachines() tea.Cmd {
	return tea.Tick(machinesInterval, func(time.Time) tea.Msg { return machinesTick{} })
}

// updateMachines reads the states of machines, and schedules the next update while more may arrive.
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
