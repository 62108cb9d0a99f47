// Package lazyregexp delays the compilation of regular expressions until they are needed, so that the program starts
// faster.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles the expression when it is first called. It panics if the expression is
// invalid.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
