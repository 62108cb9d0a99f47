package proxy

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"toolscope/capture"
)

// A bodyTap records a body that is being forwarded. Its reader forwards the bytes before it reads again.
// So the bytes of a read are recorded at the next read or at the end, with the time of the read.
type bodyTap struct {
	x    *exchange
	side capture.Side
	body io.Reader

	mu   sync.Mutex // the exchange may end while a request is still being read
	held []byte
	at   time.Duration
	note string // for the next record
	size int64  // bytes that arrived
	err  error  // how the body ended
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

// addNote adds a note to the next record.
func (t *bodyTap) addNote(words string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.note = joinWords(t.note, words)
}

// pendingNotes returns notes that no record has taken.
func (t *bodyTap) pendingNotes() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.note
}

func joinWords(words, more string) string {
	if words != "" && more != "" {
		words += "; "
	}
	return words + more
}

// bodyBytes returns how many bytes of the body arrived.
func (t *bodyTap) bodyBytes() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size
}

// endError returns the error that ended the body, nil if it was not read to its end. A tap may be nil:
// then there is no body.
func (t *bodyTap) endError() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// responseBody is a response's body with a tap.
type responseBody struct {
	*bodyTap
	io.Closer
}

// maxKeptBytes is how much of a request's body is kept to send it again, until the response begins. The
// longest contexts of models fit.
const maxKeptBytes = 4 << 20

var (
	errUploadOver = errors.New("the exchange is over")
	errUploadGone = errors.New("the request is too long to be sent again")
)

// An upload is a request's body that is being forwarded. It streams, but keeps its beginning: net/http
// sends a request again if the connection from its pool was dead.
type upload struct {
	*bodyTap
	over     atomic.Bool // the handler has returned: the body must not be read any more
	answered atomic.Bool // the response has begun: the body is not sent again

	mu     sync.Mutex // one reader at a time, also while an older one is still reading
	kept   []byte     // the bytes read so far, up to maxKeptBytes
	size   int        // number of bytes read so far
	latest *uploadReader
}

// newReader returns a reader of the body from its beginning.
func (u *upload) newReader() (io.ReadCloser, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.size > len(u.kept) {
		return nil, errUploadGone
	}
	u.latest = &uploadReader{upload: u}
	return u.latest, nil
}

// releaseKept frees the kept bytes once the response has begun. A reader that is reading frees them itself.
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

// Close leaves the client's body open: the server closes it.
func (r *uploadReader) Close() error {
	r.closed.Store(true)
	r.bodyTap.handOver()
	return nil
}
