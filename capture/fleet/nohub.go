//go:build nohub

package fleet

import (
	"context"
	"errors"
	"time"
)

// HasHub says that this program was built without the hub.
const HasHub = false

// A Hub cannot be.
type Hub struct{}

// StartHub says that there is none.
func StartHub(context.Context, HubOptions) (*Hub, error) {
	return nil, errors.New("this program was built without it (tag nohub)")
}

// URL is nowhere.
func (*Hub) URL() string { return "" }

// Watch is a view of nothing.
func (*Hub) Watch(context.Context, time.Time) (*View, error) {
	return nil, errors.New("there is no hub")
}

// Close does nothing.
func (*Hub) Close() {}
