package redact

import "toolscope/capture"

// Clean is a record that may reach a disk or a screen. Only a Redactor makes one, so code that takes a
// Clean never gets an unredacted record.
type Clean struct{ r capture.Record }

// Unwrap returns the record without its secrets.
func (c Clean) Unwrap() capture.Record { return c.r }

// KeepAll returns a redactor that replaces nothing, for users who want the secrets.
func KeepAll() *Redactor { return &Redactor{keep: true} }

// KeepsSecrets reports whether secrets are passed on unchanged.
func (r *Redactor) KeepsSecrets() bool { return r.keep }
