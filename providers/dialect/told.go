package dialect

import "toolscope/stream"

// Told are the findings that were made and are not to be made again. The zero
// value is ready.
type Told map[string]bool

// First reports whether the finding was not made before; from now on it was.
func (t *Told) First(d *stream.Diagnosis) bool {
	if (*t)[d.Code] {
		return false
	}
	if *t == nil {
		*t = Told{}
	}
	(*t)[d.Code] = true
	return true
}
