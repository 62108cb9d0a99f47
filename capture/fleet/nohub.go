//go:build nohub

package fleet

import (
	"context"
	"errors"
	"time"
)

// A Hub can't be started, because this program was built without the hub.
type Hub struct{}

// StartHub returns an error.
func StartHub(context.Context, HubOptions) (*Hub, error) {
	return nil, errors.New("this program was built without the hub (tag nohub)")
}

// URL returns "".
func (*Hub) URL() string { return "" }

// Watch returns an error.
func (*Hub) Watch(context.Context, time.Time) (*View, error) {
	return nil, errors.New("there is no hub")
}

// Close does nothing.
func (*Hub) Close() {}
