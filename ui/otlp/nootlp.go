//go:build nootlp

package otlp

import (
	"context"
	"errors"

	"toolscope/ui/report"
)

// A Sender does nothing in this build, because the build has no OTLP.
type Sender struct{}

// New returns an error, because this build has no OTLP.
func New(Options) (*Sender, error) {
	return nil, errors.New("not in this build of toolscope (tag nootlp)")
}

// Put does nothing.
func (*Sender) Put([]report.Span) {}

// Await does nothing.
func (*Sender) Await(<-chan struct{}) {}

// State returns the zero State.
func (*Sender) State() State { return State{} }

// Close does nothing.
func (*Sender) Close(context.Context) {}

// Finish does nothing.
func (*Sender) Finish() {}
