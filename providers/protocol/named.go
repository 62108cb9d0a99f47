package protocol

import (
	"fmt"
	"strings"
)

// FindNamed is the first of all with that name. If there is none, the error lists the names there are;
// kind is what it calls them.
func FindNamed[T any](kind, name string, all []T, nameOf func(*T) string) (*T, error) {
	var names []string
	for i := range all {
		if nameOf(&all[i]) == name {
			return &all[i], nil
		}
		names = append(names, nameOf(&all[i]))
	}
	return nil, fmt.Errorf("no %s %q; there are %s", kind, name, strings.Join(names, ", "))
}
