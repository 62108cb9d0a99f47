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

// These are the errors for a server that is not a hub, or not yet one.
var (
	errNoStream    = errors.New("the hub has no stream " + StreamName + "\n" + addStream)
	errNoIndex     = errors.New("the hub has no stream " + IndexName + "\n" + addIndex)
	errIndexAway   = errors.New("the hub can't store calls: it has no stream " + IndexName + ", or that stream currently has no leader")
	errNoLeader    = errors.New("the hub's stream refuses the message: the stream currently has no leader, or accepts only other subjects")
	errNoJetStream = errors.New("the hub is a NATS server without JetStream")
	errNotDirect   = errors.New("the hub's stream " + StreamName + " does not allow direct access\n" + "nats stream edit " + StreamName + " --allow-direct")
)

// These are the commands that create the streams on another server.
const (
	addStream = "nats stream add " + StreamName + " --subjects 'toolscope.*.b.>' --storage file --retention limits --discard old --allow-direct --max-age 24h --max-bytes 20GiB --defaults"
	addIndex  = "nats stream add " + IndexName + " --subjects 'toolscope.*.i.>' --storage file --retention limits --discard old --allow-direct --max-age 24h --max-bytes 1GiB --defaults"
)

// A deniedError means that the hub denies us an action.
type deniedError struct{ what string }

func (d *deniedError) Error() string { return "the hub doesn't allow you to " + d.what }

// errorTexts explains the library's errors to a user of a hub.
var errorTexts = []struct {
	err  error
	text string
}{
	{nats.ErrAuthorization, "the hub doesn't accept your credentials (see --nkey, --creds and --hub-token)"},
	{nats.ErrAuthExpired, "your credentials for the hub have expired: get a new key or new credentials"},
	{nats.ErrAuthRevoked, "your credentials for the hub were revoked"},
	{nats.ErrAccountAuthExpired, "your account on the hub has expired"},
	{nats.ErrPermissionViolation, "the hub doesn't allow this action"},
	{nats.ErrSecureConnRequired, "the hub needs TLS: use tls://HOST:PORT"},
	{nats.ErrSecureConnWanted, "the hub has no TLS: use nats://HOST:PORT"},
	{nats.ErrMaxPayload, "the message is too long for the hub"},
	{nats.ErrNoResponders, "the hub has no receiver for the message"},
	{nats.ErrNoServers, "no server answers at this address"},
	{nats.ErrStaleConnection, "the hub no longer answers"},
	{nats.ErrReconnectBufExceeded, "the connection broke"}, // messages are not kept for the next connection
	{nats.ErrConnectionReconnecting, "the connection broke"},
	{nats.ErrConnectionClosed, "the connection broke"},
	{nats.ErrDisconnected, "the connection broke"},
	{nats.ErrTimeout, "the hub does not answer"},
	{context.DeadlineExceeded, "the hub does not answer"},
	{os.ErrDeadlineExceeded, "the hub does not answer"},
	{io.EOF, "the hub ended the connection"},
	{syscall.ECONNREFUSED, "no server answers at this address"},
}

// plainReason rewrites an error for a user of a hub. It removes paths and system calls.
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
		return errors.New("the hub's certificate is not from a trusted authority (see --hub-ca)")
	case errors.As(err, &late) && late.Timeout():
		return errors.New("the hub does not answer")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "nats: "))
}

// inWords splits an error into a line that says what is wrong and a line with the remedy. The second line is "" if no
// remedy is known.
func inWords(err error) (what, remedy string) {
	what, remedy, _ = strings.Cut(plainReason(err).Error(), "\n")
	return what, remedy
}
