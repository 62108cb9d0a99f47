package ui

func (m *Model) goOnward() {}
