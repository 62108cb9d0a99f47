package providers

import (
	"fmt"
	"strings"

	"toolscope/providers/dialect"
)

// Targets are the places that history can be replayed to, those of every dialect.
func Targets() (all []*dialect.Target) {
	for i := range All {
		for j := range All[i].Targets {
			all = append(all, &All[i].Targets[j])
		}
	}
	return all
}

// FindTarget is the target of that name; the error lists the names there are.
func FindTarget(name string) (*dialect.Target, error) {
	var names []string
	for _, t := range Targets() {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return nil, fmt.Errorf("no target %q; there are %s", name, strings.Join(names, ", "))
}

// TargetOf is where a dialect's own history goes, nil if it has no requests.
func TargetOf(name string) *dialect.Target {
	for i := range All {
		for j := range All[i].Targets {
			if t := &All[i].Targets[j]; t.Dialect == name {
				return t
			}
		}
	}
	return nil
}
