package ui

import (
	"toolscope/ui/modes"
	"toolscope/ui/panes"
)

type entry = modes.Entry

// inDocument shows the evidence of a scene in the document.
func inDocument(*Model) {}

// withFindings opens the findings.
func withFindings(m *Model) { m.openEvidence(m.findings) }

// withRuns opens the run rules.
func withRuns(m *Model) { m.openEvidence(m.runs) }

// openEvidence opens a tab, if the document keeps enough room.
func (m *Model) openEvidence(tab panes.Tab) {
	if m.bodyHeight() >= tabFrom && !m.large {
		m.openTab(tab)
	}
}

// tabFrom is the minimum height for a tab as evidence of a scene.
const tabFrom = 12

// inList shows only the list.
func inList(m *Model) {
	m.turnTo(m.list)
	m.zoom = true
}

// inMode opens a mode for the call.
func inMode(of func(*Model) entry) func(*Model) {
	return func(m *Model) { m.openEntry(of(m)) }
}
