package providers

import "toolscope/providers/protocol"

// Targets are all places that history can be replayed to, of all dialects.
func Targets() (all []*protocol.Target) {
	for i := range All {
		for j := range All[i].Targets {
			all = append(all, &All[i].Targets[j])
		}
	}
	return all
}

// FindTarget is the target of that name; the error lists the names there are.
func FindTarget(name string) (*protocol.Target, error) {
	t, err := protocol.FindNamed("target", name, Targets(), func(t **protocol.Target) string { return (*t).Name })
	if err != nil {
		return nil, err
	}
	return *t, nil
}

// historyTargetOf says how the history of a request of the dialect of that name is read, nil if that has no
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

// TargetOf is where history goes by the dialect of that name, nil if that has no requests.
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
