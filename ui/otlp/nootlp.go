//go:build nootlp

package otlp

import (
	"context"
	"errors"

	"toolscope/ui/report"
)

// A Sender cannot be.
type Sender struct{}

// New says that this program was built without it.
func New(Options) (*Sender, error) {
	return nil, errors.New("this program was built without it (tag nootlp)")
}

// Put does nothing.
func (*Sender) Put([]report.Span) {}

// Await does nothing.
func (*Sender) Await(<-chan struct{}) {}

// State is that of nothing.
func (*Sender) State() State { return State{} }

// Close does nothing.
func (*Sender) Close(context.Context) {}

// Finish does nothing.
func (*Sender) Finish() {}
