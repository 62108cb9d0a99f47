package protocol

import (
	"fmt"
	"strings"
)

// FindNamed returns the first element of all with that name. If there is none, the error lists the
// names; kind is what it calls an element.
func FindNamed[T any](kind, name string, all []T, nameOf func(*T) string) (*T, error) {
	var names []string
	for i := range all {
		if nameOf(&all[i]) == name {
			return &all[i], nil
		}
		names = append(names, nameOf(&all[i]))
	}
	return nil, fmt.Errorf("unknown %s %q\nuse one of %s", kind, name, strings.Join(names, ", "))
}
