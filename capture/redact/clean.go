package redact

import "toolscope/capture"

// Clean is a record that may reach a disk or a screen. Only a Redactor makes one: whoever takes a
// Clean cannot be handed a record that nobody searched for secrets.
type Clean struct{ r capture.Record }

// Unwrap is the record without its secrets.
func (c Clean) Unwrap() capture.Record { return c.r }

// KeepAll is a redactor that replaces nothing: the user wants the secrets.
func KeepAll() *Redactor { return &Redactor{keep: true} }

// KeepsSecrets reports whether secrets are passed on as they are.
func (r *Redactor) KeepsSecrets() bool { return r.keep }
