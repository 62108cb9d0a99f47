package cli

import (
	"crypto/rand"
	"net/http"

	"toolscope/capture/redact"
	"toolscope/providers/coding"
)

// newRedactor makes what takes the secrets out of everything live, before it is
// recorded or shown. Its tags mean nothing to another run.
func newRedactor() *redact.Redactor {
	salt := make([]byte, 32)
	_, _ = rand.Read(salt) // it never fails
	return redact.New(salt, redact.Options{Decode: func(h http.Header) (redact.Decoder, error) {
		chain, err := coding.New(h)
		if err != nil {
			return nil, err // not a chain that is nil and a Decoder that is not
		}
		return chain, nil
	}})
}
