package ui

import (
	"toolscope/ui/modes"
	"toolscope/ui/panes"
)

type entry = modes.Entry

// inDocument proves a claim by the document as it is.
func inDocument(*Model) {}

// withFindings opens what was found.
func withFindings(m *Model) { m.openEvidence(m.findings) }

// withRuns opens when code would have run the call.
func withRuns(m *Model) { m.openEvidence(m.runs) }

// openEvidence opens a tab, where that leaves the document enough room.
func (m *Model) openEvidence(tab panes.Tab) {
	if m.bodyHeight() >= tabFrom && !m.large {
		m.openTab(tab)
	}
}

// tabFrom is from how many rows on a claim is proved by a tab beside the document.
const tabFrom = 12

// inList shows the list alone.
func inList(m *Model) {
	m.turnTo(m.list)
	m.zoom = true
}

// inMode opens a mode for the call.
func inMode(of func(*Model) entry) func(*Model) {
	return func(m *Model) { m.openEntry(of(m)) }
}
