package fleet

import "github.com/nats-io/nkeys"

// NewKey makes a key that identifies a machine or a viewer to a hub. seed is secret; the hub gets public.
func NewKey() (seed []byte, public string, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, "", err
	}
	if seed, err = pair.Seed(); err != nil {
		return nil, "", err
	}
	public, err = pair.PublicKey()
	return seed, public, err
}
