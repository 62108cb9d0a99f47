package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolscope/capture"
	"toolscope/stream/count"
)

const extensionsField = "Sec-Websocket-Extensions"

// extensionNote returns a note about the WebSocket extensions that the proxy removes from a request, or "" if there
// are none. With extensions, messages could be compressed, and reading them would need the state that both ends
// share.
func extensionNote(r *http.Request) string {
	offered := strings.Join(r.Header.Values(extensionsField), ", ")
	if offered == "" || !capture.IsWebSocket(r) {
		return ""
	}
	return "toolscope removed the WebSocket extension " + offered + " from the request, so that the messages can be recorded"
}

// upgraded is the upstream's end of a WebSocket. ReverseProxy copies between this end and the client, in both
// directions.
type upgraded struct {
	x       *exchange
	conn    io.ReadWriteCloser
	faulted *faultedSocket // nil without faults

	mu       sync.Mutex // protects all fields below, because copying may still be ending when finish is called
	held     []byte     // bytes read from the upstream, which are recorded once they are forwarded: see bodyTap
	heldAt   time.Duration
	upstream direction
	client   direction
	closer   *direction    // the direction with the first Close; a Close in the other direction only confirms it
	closedAt time.Duration // the time of that Close
	left     bool          // the client closed its side
	readErr  error         // the error that ended reading from the upstream; nil if the client left before
}

// direction is one direction of a WebSocket.
type direction struct {
	capture.WebSocketReader
	side        capture.Side
	who         string
	party       capture.Party
	at          time.Duration // time when the latest bytes of the direction arrived
	passed      int64         // number of bytes of the direction so far
	recorded    time.Duration // time of the direction's latest record
	brokenNoted bool          // a record reports that the direction can't be read any more
	note        string        // note for the next record
}

func newUpgraded(x *exchange, conn io.ReadWriteCloser) *upgraded {
	u := &upgraded{
		x: x, conn: conn,
		upstream: direction{side: capture.Response, who: "the upstream", party: capture.Provider},
		client:   direction{side: capture.Request, who: "the client", party: capture.Client},
	}
	u.upstream.Control = u.recordPing
	if x.p.faults != nil {
		s := &faultedSocket{x: x, from: u.readUpstream, note: u.addNote, buffer: make([]byte, copyBytes)}
		s.says.Control = func(opcode byte, payload []byte) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.pending = append(s.pending, faultedFrame{data: capture.AppendWebSocketFrame(nil, opcode, payload)})
		}
		u.faulted = s
	}
	return u
}

func (u *upgraded) Read(p []byte) (int, error) {
	if u.faulted != nil {
		return u.faulted.Read(p)
	}
	return u.readUpstream(p)
}

// readUpstream reads and records the upstream's bytes.
func (u *upgraded) readUpstream(p []byte) (int, error) {
	u.handOver()
	n, err := u.conn.Read(p)
	u.mu.Lock()
	u.held, u.heldAt = append(u.held[:0], p[:n]...), u.x.noteActivity()
	if !u.left {
		u.readErr = err
	}
	u.mu.Unlock()
	return n, err
}

// addNote adds a note to the bytes that were read last.
func (u *upgraded) addNote(words string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.upstream.note = joinWords(u.upstream.note, words)
}

func (u *upgraded) handOver() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.recordMessages(&u.upstream, u.held, u.heldAt)
	u.held = u.held[:0]
}

func (u *upgraded) Write(p []byte) (int, error) {
	at := u.x.noteActivity()
	if u.faulted != nil {
		u.faulted.readClient(p)
	}
	n, err := u.conn.Write(p)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.recordMessages(&u.client, p[:n], at)
	return n, err
}

func (u *upgraded) Close() error { return u.conn.Close() }

// CloseWrite tells the upstream that the client has closed its side, if one end has sent a Close. Otherwise, the
// client has disappeared. The error that CloseWrite then returns ends the copying, and with it the upstream's
// connection.
func (u *upgraded) CloseWrite() error {
	u.mu.Lock()
	said := u.client.Closed || u.upstream.Closed
	u.left = true
	u.mu.Unlock()
	half, ok := u.conn.(interface{ CloseWrite() error })
	if !said || !ok {
		return errClientGone
	}
	return half.CloseWrite()
}

// recordMessages records the messages that are completed by the bytes in p.
func (u *upgraded) recordMessages(d *direction, p []byte, at time.Duration) {
	if len(p) == 0 {
		return
	}
	said := d.Closed
	d.at = at
	d.passed += int64(len(p))
	d.Write(p, func(message []byte, length uint64) {
		r := capture.Record{Side: d.side, At: at, Data: message, Note: d.note}
		d.note = ""
		if message == nil {
			r.Lost = int64(length)
			r.Note = capture.JoinNotes(fmt.Sprintf("gap: a WebSocket message of %d bytes was not recorded: it is too long", length), r.Note)
		}
		u.x.putRecord(r)
		d.recorded = at
	})
	if d.Closed && !said && (u.closer == nil || at < u.closedAt) { // the Close that confirms the first one may be recorded first
		u.closer, u.closedAt = d, at
	}
	if d.Broken != "" && !d.brokenNoted {
		d.brokenNoted = true
		u.x.putRecord(capture.Record{Side: d.side, At: at, Lost: d.takeUnread(), Note: "gap: from here on, the proxy forwards the bytes from " + d.who + ", but can't read them as WebSocket messages: " + d.Broken})
	}
}

// recordPing records that a Ping or a Pong of the upstream arrived.
func (u *upgraded) recordPing(opcode byte, _ []byte) {
	if d := &u.upstream; opcode != capture.OpClose && d.at-d.recorded >= capture.ArrivalInterval {
		d.recorded = d.at
		u.x.putRecord(capture.Record{Side: d.side, At: d.at})
	}
}

// takeUnread returns the number of unreadable bytes that arrived since the last call.
func (d *direction) takeUnread() int64 {
	n := d.Unread
	d.Unread = 0
	return n
}

// upstreamBytes returns the number of bytes that arrived from the upstream.
func (u *upgraded) upstreamBytes() int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.upstream.passed
}

// finish records the remaining messages, and returns a record about the end of the WebSocket. That record is the
// parameter last, unless a fault, a breakpoint or the WebSocket itself gives a better reason for the end.
func (u *upgraded) finish(last capture.Record) capture.Record {
	u.handOver()
	note, left := "", u.x.held.wasAborted()
	if u.faulted != nil {
		note = u.faulted.faultNote()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, d := range []*direction{&u.client, &u.upstream} {
		if d.Open && d.Broken == "" {
			u.x.putRecord(capture.Record{
				Side: d.side, At: d.at, Data: bytes.Clone(d.Message),
				Note: fmt.Sprintf("the WebSocket ended inside a message from %s, after %s of it", d.who, count.Of(d.Length, "byte")),
			})
		}
		if n := d.takeUnread(); n > 0 {
			u.x.putRecord(capture.Record{Side: d.side, At: d.at, Lost: n})
		}
	}
	switch {
	case left:
		last = capture.Record{End: capture.EndCut, Why: errLeft.Error(), By: capture.Toolscope}
	case u.faulted != nil && u.faulted.broke:
		last = capture.Record{End: capture.EndCut, Why: errBroken.Error(), By: capture.Toolscope}
	case u.closer != nil:
		last = capture.Record{End: capture.EndEOF, Why: u.closer.closeWords(), By: u.closer.party}
	case u.readErr == nil || errors.Is(u.readErr, net.ErrClosed): // the proxy closed the connection
	case u.readErr == io.EOF:
		last = capture.Record{End: capture.EndCut, Why: "the upstream ended the WebSocket without a Close", By: capture.Network}
	default:
		last.End, last.Why, last.By = capture.EndOf(u.readErr)
	}
	last.Note = note
	return last
}

// closeWords describes a Close. It returns "" for the codes of an ordinary end, 1000 and 1001 (going away), and for a
// Close without a code (RFC 6455 §7.4.1).
func (d *direction) closeWords() string {
	if d.Code == 1000 || d.Code == 1001 || d.Code == 1005 {
		return ""
	}
	return strings.TrimRight(fmt.Sprintf("%s closed the WebSocket: %d %s", d.who, d.Code, d.Reason), " ")
}

// A bodyTap records a body that is being forwarded. Its reader forwards bytes before it reads more. The bytes of each
// read are therefore recorded at the next read or at the end, with the time of their own read.
type bodyTap struct {
	x    *exchange
	side capture.Side
	body io.Reader

	mu   sync.Mutex // the exchange may end while its request is still being read
	held []byte
	at   time.Duration
	note string // note for the next record
	size int64  // number of bytes that arrived
	err  error  // the error with which the body ended
}

func (t *bodyTap) Read(p []byte) (int, error) {
	t.handOver()
	n, err := t.body.Read(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = t.x.noteActivity()
	t.held = bytes.Clone(p[:n])
	t.size += int64(n)
	if err != nil {
		t.err = err
	}
	return n, err
}

func (t *bodyTap) handOver() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.held) > 0 {
		t.x.putRecord(capture.Record{Side: t.side, At: t.at, Data: t.held, Note: t.note})
		t.note = ""
	}
	t.held = nil
}

func joinWords(words, more string) string {
	if words != "" && more != "" {
		words += "; "
	}
	return words + more
}

// bodyBytes returns the number of bytes of the body that arrived.
func (t *bodyTap) bodyBytes() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size
}

// endError returns the error that ended the body, or nil if the body was not read to its end. A nil bodyTap means
// that there is no body.
func (t *bodyTap) endError() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// responseBody is a response's body with a bodyTap.
type responseBody struct {
	*bodyTap
	io.Closer
}

// maxKeptBytes is the maximum number of bytes of a request's body that are kept until the response begins, so that
// the request can be sent again. Even the longest contexts of models fit.
const maxKeptBytes = 4 << 20

var (
	errUploadOver = errors.New("the exchange is over")
	errUploadGone = errors.New("the request is too long to be sent again")
)

// An upload is a request's body that is being forwarded. The body is streamed, but its beginning is kept, because
// net/http sends a request again if the connection that it reused was dead.
type upload struct {
	*bodyTap
	over     atomic.Bool // the handler has returned, so the body must not be read any more
	answered atomic.Bool // the response has begun, so the body is not sent again

	mu     sync.Mutex // allows one reader at a time, even while an older one is still reading
	kept   []byte     // the bytes read so far, up to maxKeptBytes
	size   int        // number of bytes read so far
	latest *uploadReader
}

// newReader returns a reader that starts at the beginning of the body.
func (u *upload) newReader() (io.ReadCloser, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.size > len(u.kept) {
		return nil, errUploadGone
	}
	u.latest = &uploadReader{upload: u}
	return u.latest, nil
}

// releaseKept frees the kept bytes once the response has begun and the latest reader has read all of them. A reader
// that is still reading frees them itself.
func (u *upload) releaseKept() {
	u.answered.Store(true)
	if u.mu.TryLock() {
		defer u.mu.Unlock()
		if u.latest.at == u.size {
			u.kept = nil
		}
	}
}

type uploadReader struct {
	*upload
	at     int
	closed atomic.Bool
}

func (r *uploadReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.over.Load() || r.closed.Load():
		return 0, errUploadOver
	case r.at < r.size && r.size > len(r.kept):
		return 0, errUploadGone
	case r.at < r.size:
		n := copy(p, r.kept[r.at:])
		r.at += n
		return n, nil
	}
	n, err := r.bodyTap.Read(p)
	if r.size+n <= maxKeptBytes && r.size == len(r.kept) && !r.answered.Load() {
		r.kept = append(r.kept, p[:n]...)
	} else {
		r.kept = nil
	}
	r.size += n
	r.at += n
	return n, err
}

// Close doesn't close the client's body, because the server closes it.
func (r *uploadReader) Close() error {
	r.closed.Store(true)
	r.bodyTap.handOver()
	return nil
}
