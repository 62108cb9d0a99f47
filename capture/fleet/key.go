package fleet

import "github.com/nats-io/nkeys"

// NewKey makes a key by which a hub knows who one is: the seed is its secret, and what the hub is
// told is public.
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
