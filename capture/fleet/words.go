package fleet

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/nats-io/nats.go"
)

// Errors of a server that is no hub, or not yet.
var (
	errNoStream    = errors.New("it has no stream " + StreamName + "\n" + addStream)
	errNoIndex     = errors.New("it has no stream " + IndexName + "\n" + addIndex)
	errIndexAway   = errors.New("nobody there takes lines of calls: it has no stream " + IndexName + ", or that has no leader just now")
	errNoLeader    = errors.New("its stream does not take that: it has no leader just now, or other subjects")
	errNoJetStream = errors.New("it is a NATS server without JetStream")
	errNotDirect   = errors.New("its stream " + StreamName + " does not allow direct access\n" + "nats stream edit " + StreamName + " --allow-direct")
)

// How streams are made on somebody else's server.
const (
	addStream = "nats stream add " + StreamName + " --subjects 'toolscope.*.b.>' --storage file --retention limits --discard old --allow-direct --max-age 24h --max-bytes 20GiB --defaults"
	addIndex  = "nats stream add " + IndexName + " --subjects 'toolscope.*.i.>' --storage file --retention limits --discard old --allow-direct --max-age 24h --max-bytes 1GiB --defaults"
)

// A deniedError is what the hub does not let us do.
type deniedError struct{ what string }

func (d *deniedError) Error() string { return "the hub does not let us " + d.what }

// errorTexts are errors of the library and what they mean for who uses a hub.
var errorTexts = []struct {
	err  error
	text string
}{
	{nats.ErrAuthorization, "the hub does not know who we are (--nkey, --creds or --hub-token say it)"},
	{nats.ErrAuthExpired, "who we are to the hub has expired: it wants a new key or new credentials"},
	{nats.ErrAuthRevoked, "the hub does not let us in any more: our credentials were revoked"},
	{nats.ErrAccountAuthExpired, "the account that we have at the hub has expired"},
	{nats.ErrPermissionViolation, "the hub does not let us do that"},
	{nats.ErrSecureConnRequired, "the hub wants TLS, as in tls://HOST:PORT"},
	{nats.ErrSecureConnWanted, "the hub has no TLS, as in nats://HOST:PORT"},
	{nats.ErrMaxPayload, "the hub takes no messages of that length"},
	{nats.ErrNoResponders, "nobody there takes it"},
	{nats.ErrNoServers, "nobody answers there"},
	{nats.ErrStaleConnection, "the hub does not answer any more"},
	{nats.ErrReconnectBufExceeded, "the connection broke"}, // none is kept for the next one
	{nats.ErrConnectionReconnecting, "the connection broke"},
	{nats.ErrConnectionClosed, "the connection broke"},
	{nats.ErrDisconnected, "the connection broke"},
	{nats.ErrTimeout, "the hub does not answer"},
	{context.DeadlineExceeded, "the hub does not answer"},
	{os.ErrDeadlineExceeded, "the hub does not answer"},
	{io.EOF, "the hub ended the connection"},
	{syscall.ECONNREFUSED, "nobody answers there"},
}

// plainReason is an error in words for who uses a hub, without paths and system calls.
func plainReason(err error) error {
	for _, s := range errorTexts {
		if errors.Is(err, s.err) {
			return errors.New(s.text)
		}
	}
	var path *os.PathError
	var name *net.DNSError
	var unknown x509.UnknownAuthorityError
	var late net.Error
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &name):
		return fmt.Errorf("%s: %s", name.Name, name.Err)
	case errors.As(err, &unknown):
		return errors.New("nobody whom we trust has signed its certificate (--tls-ca says who does)")
	case errors.As(err, &late) && late.Timeout():
		return errors.New("the hub does not answer")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "nats: "))
}

// inWords is what went wrong in one line, and in another one what would help, if that is known.
func inWords(err error) (what, remedy string) {
	what, remedy, _ = strings.Cut(plainReason(err).Error(), "\n")
	return what, remedy
}
