package redact

import (
	"iter"

	"toolscope/capture"
)

// Clean is a record that may reach a disk or a screen. Only a Redactor makes one: whoever takes a Clean cannot be handed
// a record that nobody searched for secrets.
type Clean struct{ r capture.Record }

// Record is the record without its secrets.
func (c Clean) Record() capture.Record { return c.r }

// KeepAll is a redactor that replaces nothing: the user wants the secrets.
func KeepAll() *Redactor { return &Redactor{keep: true} }

// Keeps tells whether secrets are passed on as they are.
func (r *Redactor) Keeps() bool { return r.keep }

// Source is src without its secrets.
func Source(src capture.Source, r *Redactor) iter.Seq2[Clean, error] {
	return func(yield func(Clean, error) bool) {
		for rec, err := range src {
			if err != nil {
				for _, c := range r.Flush() {
					if !yield(c, nil) {
						return
					}
				}
				yield(Clean{}, err)
				return
			}
			for _, c := range r.Take(rec) {
				if !yield(c, nil) {
					return
				}
			}
		}
		for _, c := range r.Flush() {
			if !yield(c, nil) {
				return
			}
		}
	}
}
