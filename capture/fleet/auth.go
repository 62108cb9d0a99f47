package fleet

import (
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Credentials identify this program to a hub. All except Token are names of files.
type Credentials struct {
	Creds string // a NATS credentials file
	NKey  string // a file with an nkey seed
	Token string // the token itself
	CA    string // a file with the certificate authority for the hub's certificate

	inbox string // subject prefix of answers and of a view's messages; "" for the default
}

// inboxOf returns the inbox prefix of a host. A hub can permit the host to listen only there.
func inboxOf(host string) string { return nats.InboxPrefix + subjectToken(host) }

// Check reads the files. An error names the flag and the file.
func (auth *Credentials) Check() error {
	_, err := auth.connectOptions()
	return err
}

// connectOptions returns the NATS options of the credentials. The files are read again for each
// connection; an unreadable file is an error at once.
func (auth *Credentials) connectOptions() (o []nats.Option, err error) {
	if auth.Creds != "" {
		text, err := os.ReadFile(auth.Creds)
		if err == nil {
			_, err = nkeys.ParseDecoratedJWT(text)
		}
		if err == nil {
			_, err = nkeys.ParseDecoratedUserNKey(text)
		}
		if err != nil {
			return nil, fmt.Errorf("--creds %s: %w", auth.Creds, plainReason(err))
		}
		o = append(o, nats.UserCredentials(auth.Creds))
	}
	if auth.NKey != "" {
		key, err := nats.NkeyOptionFromSeed(auth.NKey)
		if err != nil {
			return nil, fmt.Errorf("--nkey %s: %w", auth.NKey, plainReason(err))
		}
		o = append(o, key)
	}
	if auth.Token != "" {
		o = append(o, nats.Token(auth.Token))
	}
	if auth.CA != "" {
		text, err := os.ReadFile(auth.CA)
		if err == nil && !x509.NewCertPool().AppendCertsFromPEM(text) {
			err = errors.New("it has no certificate")
		}
		if err != nil {
			return nil, fmt.Errorf("--hub-ca %s: %w", auth.CA, plainReason(err))
		}
		o = append(o, nats.RootCAs(auth.CA))
	}
	if auth.inbox != "" {
		o = append(o, nats.CustomInboxPrefix(auth.inbox))
	}
	return o, nil
}

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
