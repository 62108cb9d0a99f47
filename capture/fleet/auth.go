package fleet

import (
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Credentials is who one is to a hub. All of it is read from files.
type Credentials struct {
	Creds string // a file of credentials, as NATS has them
	NKey  string // a file with the seed of a key
	Token string // the token itself
	CA    string // a file with who signs the hub's certificate

	inbox string // where answers come in, "" for anywhere; what a view reads comes in as answers do
}

// inboxOf is where answers to what a host asks come in. A hub can let it listen there alone.
func inboxOf(host string) string { return nats.InboxPrefix + subjectToken(host) }

// Check reads the files. An error names the flag and the file.
func (auth *Credentials) Check() error {
	_, err := auth.connectOptions()
	return err
}

// connectOptions are those of who one is. Files are read again for each connection; one that cannot be read
// now is an error at once.
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
			err = errors.New("no certificate is in it")
		}
		if err != nil {
			return nil, fmt.Errorf("--tls-ca %s: %w", auth.CA, plainReason(err))
		}
		o = append(o, nats.RootCAs(auth.CA))
	}
	if auth.inbox != "" {
		o = append(o, nats.CustomInboxPrefix(auth.inbox))
	}
	return o, nil
}
