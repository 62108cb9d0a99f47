package fleet

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// These constants control the delay before the next attempt to connect. The delay doubles with each attempt,
// up to a maximum. A random time of up to the same length is added, so that not all machines connect at once
// when their hub is back.
const (
	minRedialDelay     = 250 * time.Millisecond
	maxRedialDelay     = 10 * time.Second
	maxViewRedialDelay = 2 * time.Second // maximum for a view, because a user waits for it
	steady             = time.Second     // a connection that lasted this long resets the delay
)

// link is a connection to a hub. A broken connection is made again.
//
// While the library connects, it holds its locks, possibly for seconds. So link has its own flag that
// says whether it is connected, which can be read without waiting.
type link struct {
	*nats.Conn
	js        jetstream.JetStream
	up        atomic.Bool
	made      atomic.Int64 // number of connections so far
	tries     atomic.Int64 // number of attempts since the last steady connection
	since     atomic.Int64 // time of the last connection, in Unix nanoseconds
	maxRedial time.Duration
	renew     func() // called after each connection
	dialer    *dialer
	asked     pendingRequests
	inbox     string // prefix of the subjects for answers
	whose     string // a hint for the error, if we aren't allowed to receive answers
	conn      atomic.Pointer[nats.Conn]
	broke     func(error)   // called with errors of the connection
	now       chan struct{} // a value ends the wait for the next attempt
}

// dialHub begins to connect. If patient is set, dialHub doesn't wait for the connection and retries until it
// succeeds.
func dialHub(server string, auth Credentials, patient bool, renew func(), failed func(error), more ...nats.Option) (*link, error) {
	l := &link{renew: renew, dialer: &dialer{}, maxRedial: maxViewRedialDelay, now: make(chan struct{}, 1)}
	if patient {
		l.maxRedial = maxRedialDelay
	}
	l.dialer.ctx, l.dialer.stop = context.WithCancel(context.Background())
	l.dialer.later.Store(patient)
	l.inbox = cmp.Or(auth.inbox, strings.TrimSuffix(nats.InboxPrefix, "."))
	l.whose = textIf(auth.inbox == "", "is this a viewer's key?", "does the hub know this machine by this name?")
	l.broke = func(err error) {
		if !errors.Is(err, errLater) && !l.noteDenial(err) && l.dialer.ctx.Err() == nil { // closing the connection ourselves is not an error
			failed(err)
		}
	}
	o := []nats.Option{
		nats.Name("toolscope"), nats.MaxReconnects(-1), nats.CustomReconnectDelay(l.waitRetry), nats.Timeout(answerTimeout), nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2),
		nats.RetryOnFailedConnect(patient), nats.IgnoreAuthErrorAbort(), nats.SetCustomDialer(l.dialer), nats.SkipHostLookup(),
		nats.FlusherTimeout(answerTimeout), // a blocked write blocks all other writes
		nats.ReconnectBufSize(-1),          // no buffer: senders ask the hub and send again
		nats.ConnectHandler(func(*nats.Conn) { l.onConnect() }),
		nats.ReconnectHandler(func(*nats.Conn) { l.onConnect() }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { l.broke(err) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			l.up.Store(false)
			if time.Since(time.Unix(0, l.since.Load())) > steady {
				l.tries.Store(0)
			}
			l.broke(err)
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { l.broke(err) }),
	}
	who, err := auth.connectOptions()
	if err != nil {
		return nil, err
	}
	conn, err := nats.Connect(server, append(append(o, who...), more...)...)
	if err != nil {
		return nil, fmt.Errorf("hub %s: %w", server, plainReason(err))
	}
	l.dialer.later.Store(false)
	l.Conn = conn
	l.conn.Store(conn)
	if !patient {
		l.up.Store(true)
	}
	l.js, err = jetstream.New(conn)
	return l, err
}

func (l *link) onConnect() {
	l.asked.deaf.Store(nil)
	l.since.Store(time.Now().UnixNano())
	l.up.Store(true)
	l.made.Add(1)
	l.renew()
}

// retryDelay returns the wait before the next attempt.
func (l *link) retryDelay() time.Duration {
	d := min(minRedialDelay<<min(l.tries.Add(1)-1, 10), l.maxRedial)
	return d + rand.N(d)
}

// waitRetry waits before every attempt but the first. It doesn't use the library's own wait: once that wait is cut
// short, the library never waits again.
func (l *link) waitRetry(int) time.Duration {
	if !l.dialer.tried.Load() {
		return 0
	}
	if conn := l.conn.Load(); conn != nil && conn.LastError() != nil { // the library doesn't report it when the hub refuses us
		l.broke(conn.LastError())
	}
	timer := time.NewTimer(l.retryDelay())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.now:
	case <-l.dialer.ctx.Done():
		return l.maxRedial // the library's own wait ends when the connection is closed
	}
	return 0
}

// retryNow starts the next attempt at once, without waiting for its result.
func (l *link) retryNow() {
	select {
	case l.now <- struct{}{}:
	default: // already requested
	}
}

// IsConnected reports whether there is a connection.
func (l *link) IsConnected() bool { return l.up.Load() }

// Close ends the connection and any attempt to make one.
func (l *link) Close() {
	if !l.IsConnected() {
		l.dialer.stop()
	}
	l.Conn.Close()
	l.dialer.stop()
}

// errLater makes the library return without a connection and keep trying in the background.
var errLater = errors.New("the connection will be made later")

// dialer makes connections until it is stopped. Stopping it also ends connections that are being made.
type dialer struct {
	ctx   context.Context
	stop  context.CancelFunc
	later atomic.Bool // whether attempts fail at once
	tried atomic.Bool

	forget func() bool // cancels the callback that closes the last connection; the library makes one connection at a time
}

// Dial makes a connection.
func (r *dialer) Dial(network, address string) (net.Conn, error) {
	if r.later.Load() {
		return nil, errLater
	}
	r.tried.Store(true)
	d := net.Dialer{Timeout: answerTimeout}
	conn, err := d.DialContext(r.ctx, network, address)
	if err != nil {
		return nil, err
	}
	if r.forget != nil {
		r.forget()
	}
	r.forget = context.AfterFunc(r.ctx, func() { conn.Close() })
	return failFastConn{conn}, nil
}

// failFastConn closes the connection after a failed write. Otherwise the hub would take the next bytes for the rest
// of that write.
type failFastConn struct{ net.Conn }

func (w failFastConn) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	if err != nil {
		w.Close()
	}
	return n, err
}

// answerTimeout is the maximum time for an answer from a hub.
const answerTimeout = 5 * time.Second

// streamExtent is the state of a stream.
type streamExtent struct {
	first, last uint64
	created     time.Time
	firstAt     time.Time // time when its first message arrived
	at          time.Time // the hub's clock when it sent this answer
}

// askJetStream sends a request to JetStream's API and parses the answer.
func (l *link) askJetStream(ctx context.Context, subject string, body, answer any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	msg, err := l.request(ctx, &nats.Msg{Subject: subject, Data: data})
	if errors.Is(err, nats.ErrNoResponders) {
		return errNoJetStream
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(msg.Data, answer)
}

// apiError is an error of JetStream's API.
type apiError struct {
	Code        int    `json:"code"`
	ErrCode     int    `json:"err_code"`
	Description string `json:"description"`
}

const codeNoStream = 10059

// capturesExtent requests the state of the stream of captures.
func (l *link) capturesExtent(ctx context.Context) (e streamExtent, err error) {
	return l.extentOf(ctx, StreamName, errNoStream)
}

// extentOf requests the state of a stream. If the stream doesn't exist, it returns the error in the parameter none.
func (l *link) extentOf(ctx context.Context, stream string, none error) (e streamExtent, err error) {
	var answer struct {
		Error   *apiError `json:"error"`
		Created time.Time `json:"created"`
		At      time.Time `json:"ts"`
		State   struct {
			First   uint64    `json:"first_seq"`
			FirstAt time.Time `json:"first_ts"`
			Last    uint64    `json:"last_seq"`
		} `json:"state"`
	}
	if err := l.askJetStream(ctx, "$JS.API.STREAM.INFO."+stream, struct{}{}, &answer); err != nil {
		return e, err
	}
	switch {
	case answer.Error == nil:
	case answer.Error.ErrCode == codeNoStream:
		return e, none
	default:
		return e, errors.New(answer.Error.Description)
	}
	return streamExtent{answer.State.First, answer.State.Last, answer.Created, answer.State.FirstAt, answer.At}, nil
}

// lastMessage requests the number and the byte range of a subject's last message. If there is none, seq is 0.
func (l *link) lastMessage(ctx context.Context, subject string) (seq uint64, s byteRange, err error) {
	msg, err := l.request(ctx, &nats.Msg{Subject: "$JS.API.DIRECT.GET." + StreamName + "." + subject})
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		if _, err := l.capturesExtent(ctx); err != nil {
			return 0, s, err
		}
		return 0, s, errNotDirect
	case err != nil:
		return 0, s, err
	case msg.Header.Get("Status") == "404":
		return 0, s, nil
	case msg.Header.Get("Status") != "":
		return 0, s, errors.New(msg.Header.Get("Description"))
	}
	if s, err = parseSpan(msg.Header.Get(headSpan)); err != nil {
		return 0, s, err
	}
	_, err = fmt.Sscan(msg.Header.Get(jetstream.SequenceHeader), &seq)
	return seq, s, err
}

// publishError is the reason why a hub refused a message.
type publishError struct{ why string }

func (r *publishError) Error() string { return r.why }

// publish sends a message and waits until the hub has it. The message may state the number of the message that must
// precede it. If another one precedes it, the hub refuses the message.
func (l *link) publish(ctx context.Context, msg *nats.Msg) (seq uint64, err error) {
	back, err := l.request(ctx, msg)
	if errors.Is(err, nats.ErrNoResponders) {
		return 0, l.whyNoResponder(ctx, msg.Subject)
	}
	if err != nil {
		return 0, err
	}
	var ack struct {
		Error *apiError `json:"error"`
		Seq   uint64    `json:"seq"`
	}
	if err := json.Unmarshal(back.Data, &ack); err != nil {
		return 0, fmt.Errorf("the hub's response: %w", err)
	}
	if ack.Error != nil {
		return 0, &publishError{ack.Error.Description}
	}
	return ack.Seq, nil
}

// whyNoResponder returns the reason why the hub has no receiver for a subject.
func (l *link) whyNoResponder(ctx context.Context, subject string) error {
	if _, _, is := callOriginOf(subject); !is {
		if _, err := l.capturesExtent(ctx); err != nil {
			return err
		}
		return errNoLeader
	}
	_, err := l.extentOf(ctx, IndexName, errNoIndex)
	switch {
	case err == nil:
		return errNoLeader
	case isDenied(err): // a sender may lack the permission to ask this
		return errIndexAway
	}
	return err
}

// pendingRequests are the requests that wait for an answer. The hub doesn't answer a request that it denies. Instead,
// it reports the denial on the connection, which makes the waiting request fail.
type pendingRequests struct {
	deaf atomic.Pointer[deniedError] // set if the hub denies us its answers

	mu  sync.Mutex
	all map[*nats.Msg]context.CancelCauseFunc
}

// isDenied reports whether an error is a denied permission.
func isDenied(err error) bool {
	var d *deniedError
	return errors.As(err, &d)
}

// request sends a message and waits for the answer.
func (l *link) request(ctx context.Context, msg *nats.Msg) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	ctx, deny := context.WithCancelCause(ctx)
	defer deny(nil)
	l.asked.mu.Lock()
	if l.asked.all == nil {
		l.asked.all = map[*nats.Msg]context.CancelCauseFunc{}
	}
	l.asked.all[msg] = deny
	l.asked.mu.Unlock()
	defer func() {
		l.asked.mu.Lock()
		defer l.asked.mu.Unlock()
		delete(l.asked.all, msg)
	}()
	if d := l.asked.deaf.Load(); d != nil {
		return nil, d
	}
	back, err := l.RequestMsgWithContext(ctx, msg)
	if err != nil && isDenied(context.Cause(ctx)) {
		err = context.Cause(ctx)
	}
	return back, err
}

// noteDenial reports whether an error of the connection is a denied permission. If so, it makes the denied requests
// fail. The connection itself continues.
func (l *link) noteDenial(err error) bool {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return false
	}
	_, rest, _ := strings.Cut(err.Error(), `"`)
	subject, _, _ := strings.Cut(rest, `"`)
	l.asked.mu.Lock()
	defer l.asked.mu.Unlock()
	if strings.HasPrefix(subject, l.inbox) {
		d := &deniedError{"receive its answers at " + l.inbox + ": " + l.whose}
		l.asked.deaf.Store(d)
		for _, deny := range l.asked.all {
			deny(d)
		}
		return true
	}
	for msg, deny := range l.asked.all {
		if msg.Subject == subject {
			deny(&deniedError{whatOf(subject)})
		}
	}
	return true
}

// whatOf describes what a message to a subject does.
func whatOf(subject string) string {
	if o, is := originOf(subject); is {
		return "publish as " + o.host
	}
	if o, _, is := callOriginOf(subject); is {
		return "index calls as " + o.host
	}
	return "send the request " + subject
}

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
