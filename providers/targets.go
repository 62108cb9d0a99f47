package providers

import "toolscope/providers/protocol"

// Targets returns the targets of all protocols.
func Targets() (all []*protocol.Target) {
	for i := range All {
		for j := range All[i].Targets {
			all = append(all, &All[i].Targets[j])
		}
	}
	return all
}

// FindTarget returns the target with that name. The error lists the known names.
func FindTarget(name string) (*protocol.Target, error) {
	t, err := protocol.FindNamed("target", name, Targets(), func(t **protocol.Target) string { return (*t).Name })
	if err != nil {
		return nil, err
	}
	return *t, nil
}

// historyTargetOf returns the target that reads requests of the protocol with that name, nil if it has no
// requests.
func historyTargetOf(name string) *protocol.Target {
	if t := TargetOf(name); t != nil {
		return t
	}
	for i := range All {
		if All[i].Name == name {
			return All[i].HistoryTarget
		}
	}
	return nil
}

// TargetOf returns the target of the protocol with that name, nil if it has no requests.
func TargetOf(name string) *protocol.Target {
	for i := range All {
		for j := range All[i].Targets {
			if t := &All[i].Targets[j]; t.Protocol == name {
				return t
			}
		}
	}
	return nil
}
